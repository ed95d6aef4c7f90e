//! Essential states: missing, failed, late, stale, out of order, and what a threshold forgives.

use super::{Facts, at, listing};
use crate::conformance::sequence::{Code, Irregularity};
use crate::conformance::{Judgement, StateStatus};
use crate::message::Message;
use crate::verdict::{Finding, FindingId};

pub(super) fn states(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let forgiven = facts.conformance.coverage.passes();
    let mut allowed = Vec::new();
    for (state, judgement) in facts.conformance.judgements.iter().enumerate() {
        let code = code(facts, facts.name(state), Code::MissingRequiredNode);
        let finding = match judgement {
            Judgement::Covered(_) => continue,
            Judgement::Missing if forgiven => {
                allowed.push(facts.name(state));
                continue;
            }
            Judgement::Missing => missing(facts, state),
            Judgement::Failed { .. } => failed(facts, state, judgement),
            Judgement::Late { .. } => late(facts, state, judgement),
            Judgement::Stale { .. } => stale(facts, state, judgement),
            Judgement::OutOfOrder { .. } => out_of_order(facts, state, judgement),
        };
        found.push(Finding { code, ..finding });
    }
    if !allowed.is_empty() {
        let message = listing("{} has no event, which the coverage threshold allows", &allowed);
        let hint = "Raise the threshold to 100 if every essential state is mandatory.";
        let code = allowed.iter().find_map(|state| code(facts, state, Code::MissingRequiredNode));
        found.push(Finding {
            code,
            ..Finding::new(FindingId::BelowFullCoverage, message, hint).file(facts.trace_file())
        });
    }
    disorders(facts, found);
    codes_without_a_state(facts, &allowed, found);
}

fn irregularity<'a>(facts: &'a Facts<'_>, state: &str, code: Code) -> Option<&'a Irregularity> {
    let kept = facts.sequence.map_or(&[][..], |sequence| sequence.kept());
    kept.iter().find(|found| found.code == code && found.node.as_deref() == Some(state))
}

fn code(facts: &Facts<'_>, state: &str, code: Code) -> Option<Code> {
    irregularity(facts, state, code).map(|found| found.code)
}

/// What must come before a state and what must come after it, in words.
fn neighbours(facts: &Facts<'_>, state: usize) -> Message {
    let model = facts.observation.model();
    let names = |states: Vec<usize>| states.into_iter().map(|state| facts.name(state)).collect::<Vec<_>>();
    match (names(model.directly_before(state)), names(model.directly_after(state))) {
        (before, after) if before.is_empty() && after.is_empty() => Message::default(),
        (before, after) if after.is_empty() => listing("; it must come after {}", &before),
        (before, after) if before.is_empty() => listing("; it must come before {}", &after),
        (before, after) => listing("; it must come after {}", &before).and(listing(" and before {}", &after)),
    }
}

fn missing(facts: &Facts<'_>, state: usize) -> Finding {
    let name = facts.name(state);
    let message = Message::new("the trace has no event of {}", &[name]).and(neighbours(facts, state));
    let hint = match (
        facts.observation.model().is_guard(state),
        facts.observation.model().deployment() == Some(state),
    ) {
        (true, _) => {
            "Run it, then deploy again; or, if it did run, let its step write the event, from the next run on."
        }
        (false, true) => "If the deployment did run, let its step write the event, from the next run on.",
        (false, false) => {
            "Run it now; or, if it did run, let its step write the event, from the next run on."
        }
    };
    Finding::new(FindingId::StateMissing, message, hint).state(name).file(facts.trace_file())
}

fn failed(facts: &Facts<'_>, state: usize, judgement: &Judgement) -> Finding {
    let Judgement::Failed { attempt, status, deployment } = judgement else { return missing(facts, state) };
    let name = facts.name(state);
    let (there, word) = (at(*attempt), status.word());
    let message = match deployment {
        Some(deployment) if attempt.index < deployment.index => {
            let text = format!(
                "{{}} did not complete ({word}, {there}), and the deployment went on ({})",
                at(*deployment)
            );
            Message::new(&text, &[name])
        }
        Some(deployment) => {
            let text = format!(
                "{{}} was not attempted before the deployment ({}) and did not complete afterwards ({word}, {there})",
                at(*deployment)
            );
            Message::new(&text, &[name])
        }
        None => {
            Message::new(&format!("the last attempt of {{}} did not complete ({word}, {there})"), &[name])
        }
    };
    let hint = match deployment {
        Some(_) => "Find out why it did not pass, mend that, and deploy again once it passes.",
        None => "Find out why it did not pass, mend that, and repeat it.",
    };
    let finding = Finding::new(FindingId::StateFailed, message.and(neighbours(facts, state)), hint);
    finding.state(name).file(facts.trace_file()).at(Some(attempt.place))
}

fn late(facts: &Facts<'_>, state: usize, judgement: &Judgement) -> Finding {
    let Judgement::Late { deployment, completed } = judgement else { return missing(facts, state) };
    let name = facts.name(state);
    let text = format!(
        "{{}} completed only after a deployment that it guards ({}; the deployment is {})",
        at(*completed),
        at(*deployment)
    );
    let message = Message::new(&text, &[name]).and(neighbours(facts, state));
    let hint = "It could not stop that deployment. Review what was deployed, and make the gate a condition of deploying.";
    Finding::new(FindingId::StateLate, message, hint)
        .state(name)
        .file(facts.trace_file())
        .at(Some(completed.place))
}

fn stale(facts: &Facts<'_>, state: usize, judgement: &Judgement) -> Finding {
    let Judgement::Stale { completed, other, redone, deployment } = judgement else {
        return missing(facts, state);
    };
    let (name, other) = (facts.name(state), facts.name(*other));
    let then =
        deployment.map_or(String::new(), |deployment| format!(" before the deployment ({})", at(deployment)));
    let text = format!(
        "{{}} ({}) is about {{}}, which completed after it ({}), and was not repeated{then}",
        at(*completed),
        at(*redone)
    );
    let hint = "It proves nothing of what was deployed. Repeat it whenever what it is about has changed.";
    let finding = Finding::new(FindingId::StateStale, Message::new(&text, &[name, other]), hint);
    finding.state(name).file(facts.trace_file()).at(Some(completed.place))
}

fn out_of_order(facts: &Facts<'_>, state: usize, judgement: &Judgement) -> Finding {
    let Judgement::OutOfOrder { completed, other, conflict } = judgement else {
        return missing(facts, state);
    };
    let (name, other_name) = (facts.name(state), facts.name(*other));
    let (must, came) = if facts.observation.model().precedes(*other, state) {
        ("after", "before")
    } else {
        ("before", "after")
    };
    let text =
        format!("{{}} ({}) must come {must} {{}} ({}) but came {came} it", at(*completed), at(*conflict));
    let finding = Finding::new(FindingId::OutOfOrder, Message::new(&text, &[name, other_name]), ORDER_HINT);
    finding.state(name).file(facts.trace_file()).at(Some(completed.place))
}

const ORDER_HINT: &str = "If either order is fine, take the pair out of the model's `dominates`; else make the agent keep the order.";

/// Pairs in a wrong order that no state out of order stands for: at an earlier deployment, or beside a state that is
/// counted otherwise.
fn disorders(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let status = |state: usize| facts.conformance.judgements.get(state).map(Judgement::status);
    for pair in &facts.conformance.disorders {
        if [pair.before, pair.after].into_iter().any(|state| status(state) == Some(StateStatus::OutOfOrder)) {
            continue;
        }
        let then = pair
            .deployment
            .map_or(String::new(), |deployment| format!(", at the deployment {}", at(deployment)));
        let text = format!(
            "{{}} ({}) must come after {{}} ({}) but came before it{then}",
            at(pair.after_seen),
            at(pair.before_seen)
        );
        let (before, after) = (facts.name(pair.before), facts.name(pair.after));
        let finding = Finding::new(FindingId::OutOfOrder, Message::new(&text, &[after, before]), ORDER_HINT);
        found.push(finding.state(after).file(facts.trace_file()).at(Some(pair.after_seen.place)));
    }
}

/// git-ape's codes for the terminal, and for required nodes that the model does not have.
fn codes_without_a_state(facts: &Facts<'_>, allowed: &[&str], found: &mut Vec<Finding>) {
    let kept = facts.sequence.map_or(&[][..], |sequence| sequence.kept());
    for irregularity in kept {
        let node = irregularity.node.as_deref().unwrap_or_default();
        let state = facts.observation.model().find(node);
        let judgement = state.and_then(|state| facts.conformance.judgements.get(state));
        let hint = "Make the producer record every required node, or do not claim success.";
        match irregularity.code {
            Code::MissingSuccessTerminal => {}
            Code::MissingRequiredNode if judgement.is_none() => {}
            Code::MissingRequiredNode
            | Code::InvalidTraceSchema
            | Code::GraphDigestMismatch
            | Code::UndeclaredNode
            | Code::UndeclaredTransition
            | Code::MissingRequiredEvidence
            | Code::InvalidEntryNode
            | Code::InvalidEventSequence
            | Code::TransitionNodeMismatch
            | Code::InvalidSuccessTerminal
            | Code::MissingFailedTerminal => continue,
        }
        let attempted =
            state.and_then(|state| facts.observation.record(state)).is_some_and(|record| record.events > 0);
        let id = if allowed.contains(&node) {
            FindingId::BelowFullCoverage
        } else if attempted {
            FindingId::StateFailed
        } else {
            FindingId::StateMissing
        };
        let finding = Finding::new(id, irregularity.detail.clone(), hint);
        found.push(finding.state(node).file(facts.trace_file()).code(irregularity.code));
    }
}
