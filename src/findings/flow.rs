//! How the run flowed: errors, jumps, retries and loops, its end, its length, its clock.

use super::{Facts, and_more, at, line, listing};
use crate::conformance::clock::Anomaly;
use crate::conformance::sequence::Code;
use crate::evidence::{GATE_STATES, GateWord, Mode};
use crate::message::Message;
use crate::trace::Status;
use crate::verdict::{Finding, FindingId};

pub(super) fn flow(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    errors(facts, found);
    deployment(facts, found);
    repetitions(facts, found);
    end(facts, found);
    clock(facts, found);
    words(facts, found);
}

fn errors(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let hint = "Find out what broke and how the agent went on from there.";
    let errors = facts.observation.errors();
    for error in errors.kept() {
        let there = at(error.seen);
        let message = match (error.state.map(|state| facts.name(state)), error.message.as_deref()) {
            (Some(state), Some(text)) => {
                Message::new(&format!("an error in {{}} ({there}): {{}}"), &[state, text])
            }
            (Some(state), None) => Message::new(&format!("an error in {{}} ({there})"), &[state]),
            (None, Some(text)) => Message::new(&format!("an error ({there}): {{}}"), &[text]),
            (None, None) => Message::new(&format!("an error ({there})"), &[]),
        };
        let mut finding = Finding::new(FindingId::ErrorEvent, message, hint)
            .file(facts.trace_file())
            .at(Some(error.seen.place));
        finding.state = error.state.map(|state| facts.name(state).to_owned());
        found.push(finding);
    }
    if errors.more() > 0 {
        let message = Message::new(&format!("{} more errors in the run", errors.more()), &[]);
        found.push(Finding::new(FindingId::ErrorEvent, message, hint).file(facts.trace_file()));
    }
    if let Some((error, deployment, guard)) = facts.observation.jump() {
        let name = facts.name(guard);
        let text = format!(
            "after the error ({}) the agent went straight to the deployment ({}), though {{}} had not completed",
            at(error),
            at(deployment)
        );
        let hint = "Recovery must go on where it broke off. Do the steps that were jumped, and deploy again.";
        let finding = Finding::new(FindingId::ErrorThenJump, Message::new(&text, &[name]), hint);
        found.push(finding.state(name).file(facts.trace_file()).at(Some(deployment.place)));
    }
}

fn deployment(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let model = facts.observation.model();
    let Some(state) = model.deployment() else { return };
    let name = facts.name(state);
    let record = facts.observation.record(state);
    if let Some((attempt, status)) =
        record.and_then(|record| record.current()).filter(|(_, s)| s.is_failure())
    {
        let text = format!("the last attempt of {{}} failed ({}, {})", status.word(), at(attempt));
        let hint =
            "Read the deployment's own error, mend its cause, and deploy again from the first gate on.";
        let finding = Finding::new(FindingId::DeploymentFailed, Message::new(&text, &[name]), hint);
        found.push(finding.state(name).file(facts.trace_file()).at(Some(attempt.place)));
    }
    if record.is_some_and(|record| record.completed().is_some()) {
        return;
    }
    let guards = (0..model.essential()).filter(|guard| model.is_guard(*guard));
    for guard in guards {
        let current = facts.observation.record(guard).and_then(|record| record.current());
        let Some((attempt, status)) = current.filter(|(_, status)| status.is_failure()) else { continue };
        let text = match facts.observation.last_deployment() {
            None => format!(
                "{{}} did not pass ({}, {}) and nothing was deployed: the gate did its job",
                status.word(),
                at(attempt)
            ),
            Some(last) => format!(
                "{{}} did not pass ({}, {}) and no deployment completed (the last attempt is {})",
                status.word(),
                at(attempt),
                at(last)
            ),
        };
        let hint = match facts.observation.last_deployment() {
            None => "Nothing is broken by this. Mend what the gate found, and start again.",
            Some(_) => {
                "Find out why a deployment was attempted all the same, mend what the gate found, and start again."
            }
        };
        let finding =
            Finding::new(FindingId::StoppedBeforeDeployment, Message::new(&text, &[facts.name(guard)]), hint);
        found.push(finding.state(facts.name(guard)).file(facts.trace_file()).at(Some(attempt.place)));
    }
}

fn repetitions(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let model = facts.observation.model();
    let states: Vec<usize> = (0..model.states()).collect();
    for state in &states {
        let name = facts.name(*state);
        let Some(record) = facts.observation.record(*state) else { continue };
        let times = |count: u64| if count > 1 { format!(", {count} times in all") } else { String::new() };
        let free = model.is_repeatable(*state) && model.is_artifact(*state);
        let reopened = record.reopened().filter(|_| model.is_essential(*state) && !free);
        if let Some(again) = record.retry.or(reopened) {
            let text = format!(
                "{{}} failed ({}) and was attempted again ({}){}",
                at(again.failed),
                at(again.again),
                times(again.count)
            );
            let hint = if model.is_repeatable(*state) {
                "A gate that is simply asked again until it says yes is no gate. Mend what it found before asking again."
            } else {
                "Find out why the first attempt failed; a second one that succeeds may hide it."
            };
            let finding = Finding::new(FindingId::Retry, Message::new(&text, &[name]), hint);
            found.push(finding.state(name).file(facts.trace_file()).at(Some(again.again.place)));
        }
        if let Some(again) = record.fix_loop {
            let text = format!(
                "{{}} did not pass ({}), what it is about was redone, and it passed ({}){}",
                at(again.failed),
                at(again.again),
                times(again.count)
            );
            let finding = Finding::new(
                FindingId::GateLoop,
                Message::new(&text, &[name]),
                "This is the documented loop.",
            );
            found.push(finding.state(name).file(facts.trace_file()).at(Some(again.again.place)));
        }
        // Where the gate's file says the same, it says the reason as well.
        let told = GATE_STATES.contains(&name)
            && facts.evidence.mode != Mode::Off
            && facts.evidence.gate.read().is_some_and(|gate| gate.word == GateWord::Overridden);
        if let Some(seen) = record.overridden.filter(|_| !told) {
            let text = format!("{{}} was overridden by a person ({})", at(seen));
            let hint = "Make sure that the person was allowed to, and that the reason is written down.";
            let finding = Finding::new(FindingId::GateOverridden, Message::new(&text, &[name]), hint);
            found.push(finding.state(name).file(facts.trace_file()).at(Some(seen.place)));
        }
    }
    let invoked: Vec<&str> = states
        .iter()
        .filter(|state| facts.observation.record(**state).is_some_and(|record| record.is_invoked_only()))
        .map(|state| facts.name(*state))
        .collect();
    if !invoked.is_empty() {
        let message =
            listing("that {} happened is known only from its invocation, not from its end", &invoked);
        let hint = "Its absence would be proof; its presence is weaker. Look at what it left behind.";
        found.push(Finding::new(FindingId::InvokedOnly, message, hint).file(facts.trace_file()));
    }
}

fn end(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let events = facts.observation.events();
    if events == 0 {
        return;
    }
    if events < facts.min_events {
        let count = if events == 1 { "one event".to_owned() } else { format!("{events} events") };
        let text = format!("the run has {count}, fewer than {}", facts.min_events);
        let hint =
            "The agent may have crashed or restarted. If so short a run is normal, lower `min-events`.";
        found.push(
            Finding::new(FindingId::ShortTrace, Message::new(&text, &[]), hint).file(facts.trace_file()),
        );
    }
    // Where the execution graph says the same, its code goes with the one finding.
    let kept = facts.sequence.map_or(&[][..], |sequence| sequence.kept());
    let irregular = kept.iter().find(|found| found.code == Code::InvalidSuccessTerminal);
    let model = facts.observation.model();
    let terminal = model.terminal();
    let last = facts.observation.last_checkpoint();
    let early = terminal.filter(|terminal| last.is_none_or(|(state, _)| state != *terminal));
    let hint = "Find out why the agent did not finish, or went on after the end.";
    let message = match (early, last) {
        (Some(terminal), Some((state, seen))) => Message::new(
            &format!("the last checkpoint is {{}} ({}), not {{}}", at(seen)),
            &[facts.name(state), facts.name(terminal)],
        ),
        (Some(terminal), None) => {
            Message::new("the run has no checkpoint; it should end with {}", &[facts.name(terminal)])
        }
        (None, _) => match irregular {
            Some(irregular) => irregular.detail.clone(),
            None => return,
        },
    };
    let mut finding = Finding::new(FindingId::IncompleteWorkflow, message, hint).file(facts.trace_file());
    finding.place = last.map(|(_, seen)| seen.place);
    finding.state = terminal.map(|terminal| facts.name(terminal).to_owned());
    finding.code = irregular.map(|irregular| irregular.code);
    found.push(finding);
}

fn clock(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let clock = &facts.observation.clock;
    let hint = "Take times from one clock, in RFC 3339 with a zone, and write events in the order in which they happen.";
    let anomalies = clock.anomalies();
    for (place, anomaly) in anomalies.kept() {
        let there = line(*place);
        let text = match anomaly {
            Anomaly::Unreadable => format!("the timestamp of {there} cannot be read"),
            Anomaly::Backwards(back) => {
                format!("the clock runs back by {}.{} s at {there}", back / 1_000_000, back / 100_000 % 10)
            }
            Anomaly::Mixed => format!("times with and without a zone are mixed, first at {there}"),
        };
        let finding = Finding::new(FindingId::ClockAnomaly, Message::new(&text, &[]), hint);
        found.push(finding.file(facts.trace_file()).at(Some(*place)));
    }
    if anomalies.more() > 0 {
        let text = format!("{} more timestamps are wrong", anomalies.more());
        found.push(
            Finding::new(FindingId::ClockAnomaly, Message::new(&text, &[]), hint).file(facts.trace_file()),
        );
    }
    if clock.proves_nothing() {
        let message =
            Message::new("all timestamps are equal or absent: only the order in the file speaks", &[]);
        let hint = "Write the time at which each event happened.";
        found.push(Finding::new(FindingId::OrderUnproven, message, hint).file(facts.trace_file()));
    }
}

fn words(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let unknown = facts.observation.unknown_words();
    let Some(first) = unknown.kept().first() else { return };
    let text = format!(
        "{{}} of {{}} ({}) is no known status; it counts as not {}",
        at(first.seen),
        Status::Completed.word()
    );
    let message = and_more(Message::new(&text, &[&first.word, &first.state]), unknown.count() - 1);
    let hint = "Use a word of the status table in docs/trace-format.md.";
    let finding = Finding::new(FindingId::UnknownStatus, message, hint);
    found.push(finding.state(&first.state).file(facts.trace_file()).at(Some(first.seen.place)));
}
