//! What lies beside the trace: results, evidence, the model.

use super::{Facts, at};
use crate::conformance::StateStatus;
use crate::conformance::witness::{self, Objection};
use crate::evidence::about::{Artifact, Tied};
use crate::evidence::{
    AUTHORIZATION_FILE, AUTHORIZED_STATE, Document, GATE_FILE, GATE_STATES, GateWord, METADATA_FILE, Mode,
    STATE_FILE, TEMPLATE_FILE, usual,
};
use crate::health::{CheckStatus, HealthStatus};
use crate::message::Message;
use crate::trace::Capped;
use crate::verdict::{Finding, FindingId};

pub(super) fn health(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let health = facts.health;
    let file = health.file.as_deref();
    let mut failing = Capped::default();
    health
        .checks
        .iter()
        .filter(|check| check.status == CheckStatus::Fail)
        .for_each(|check| failing.push(check));
    for check in failing.kept() {
        let message = Message::new("{} is unhealthy: {}", &[&check.resource, &check.check]);
        let hint = "Look at the resource; the deployment is not usable as it is.";
        found.push(Finding::new(FindingId::ResourceUnhealthy, message, hint).file(file));
    }
    if failing.more() > 0 {
        let message = Message::new(&format!("{} more checks failed", failing.more()), &[]);
        found.push(Finding::new(FindingId::ResourceUnhealthy, message, "Look at the results.").file(file));
    }
    if let Some(how) = &health.failed {
        let hint = "Read the results; mend what failed, and deploy again.";
        found.push(Finding::new(FindingId::TestsFailed, Message::new("{}", &[how]), hint).file(file));
    }
    if health.contradiction {
        let message = Message::new("the results say passed, but a check in them failed", &[]);
        let hint = "The tests report a false success themselves: make them fail when a check fails.";
        found.push(Finding::new(FindingId::HealthContradiction, message, hint).file(file));
    }
    let reason = health.reason.as_deref().unwrap_or_default();
    match health.status {
        HealthStatus::Healthy | HealthStatus::Unhealthy => {}
        HealthStatus::NotTested => {
            let message = Message::new("nothing proves that the resources work: {}", &[reason]);
            let hint =
                "Run the integration tests and keep their results as tests.json in the deployment folder.";
            found.push(Finding::new(FindingId::HealthUnknown, message, hint).file(file));
        }
        HealthStatus::Unreadable => {
            let message = Message::new("the results cannot be read: {}", &[reason]);
            let hint = "Write the results in one of the shapes of docs/results-format.md.";
            found.push(Finding::new(FindingId::ResultsInvalid, message, hint).file(file));
        }
    }
}

pub(super) fn model(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(problem) = facts.model_problem else { return };
    let reason = problem.error.to_string();
    let message = Message::new(
        "the model {} cannot be used: {}; the built-in one was used in its place",
        &[&problem.file, &reason],
    );
    let hint = "Mend the model (docs/model-format.md); until then nothing of what it demands is checked.";
    found.push(Finding::new(FindingId::ModelInvalid, message, hint).file(Some(&problem.file)));
}

pub(super) fn evidence(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    unreadable(facts, found);
    if let Some(state) = facts.evidence.state.read().filter(|state| state.failed()) {
        let word = state.status.as_deref().unwrap_or_default();
        let message = Message::new("{} says that the deployment is {}", &[STATE_FILE, word]);
        let hint =
            "Read the deployment's own error, mend its cause, and deploy again from the first gate on.";
        found.push(
            Finding::new(FindingId::DeploymentFailed, message, hint).file(Some(&facts.beside(STATE_FILE))),
        );
    }
    if facts.evidence.mode != Mode::Off {
        gate(facts, found);
        contradictions(facts, found);
        ties(facts, found);
        harness(facts, found);
        absent(facts, found);
    }
}

fn unreadable(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let evidence = facts.evidence;
    let mut report = |file: &str, reason: Option<&String>| {
        let Some(reason) = reason else { return };
        let message = Message::new("{} is there, but cannot be read: {}", &[file, reason]);
        let hint = "Write it as one JSON object, in one go.";
        found
            .push(Finding::new(FindingId::EvidenceUnreadable, message, hint).file(Some(&facts.beside(file))));
    };
    fn reason<T>(document: &Document<T>) -> Option<&String> {
        match document {
            Document::Unreadable(reason) => Some(reason),
            Document::Absent | Document::Read(_) => None,
        }
    }
    report(STATE_FILE, reason(&evidence.state));
    report(METADATA_FILE, reason(&evidence.metadata));
    if evidence.mode != Mode::Off {
        report(GATE_FILE, reason(&evidence.gate));
        report(AUTHORIZATION_FILE, reason(&evidence.authorization));
        report(TEMPLATE_FILE, evidence.template_refused.as_ref());
    }
}

/// The state of the model with one of these names, if the trace has it completed: at the end, or where it was judged, since
/// what a guard does after the last deployment does not touch that one.
fn completed<'a>(facts: &Facts<'_>, names: &[&'a str]) -> Option<&'a str> {
    names.iter().copied().find(|name| {
        let Some(state) = facts.observation.model().find(name) else { return false };
        let judged =
            facts.conformance.judgements.get(state).is_some_and(|judgement| match judgement.status() {
                StateStatus::Covered | StateStatus::OutOfOrder | StateStatus::Stale | StateStatus::Late => {
                    true
                }
                StateStatus::Failed | StateStatus::Missing => false,
            });
        judged || facts.observation.record(state).is_some_and(|record| record.is_completed())
    })
}

fn gate(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(gate) = facts.evidence.gate.read() else { return };
    let in_model = GATE_STATES.into_iter().find(|name| facts.observation.model().find(name).is_some());
    let Some(state) = in_model else { return };
    if gate.word == GateWord::Overridden {
        let reason = gate.reason.as_deref().unwrap_or("no reason is given");
        let message =
            Message::new("{} says that a person overrode the security gate: {}", &[GATE_FILE, reason]);
        let hint = "Make sure that the person was allowed to, and that the reason is written down.";
        found.push(
            Finding::new(FindingId::GateOverridden, message, hint)
                .state(state)
                .file(Some(&facts.beside(GATE_FILE))),
        );
    }
    let Some(state) = completed(facts, &GATE_STATES) else { return };
    // A person may have overridden the gate in the trace only.
    let model = facts.observation.model();
    let record = model.find(state).and_then(|state| facts.observation.record(state));
    let overridden = record.is_some_and(|record| record.overridden.is_some());
    let unmet = gate.unmet.filter(|_| !overridden);
    let says = match gate.word {
        GateWord::Blocked => "the gate is BLOCKED",
        GateWord::Passed | GateWord::Overridden => match (gate.word, unmet, gate.blocking) {
            (GateWord::Overridden, _, _) | (_, None, false) => return,
            (_, Some(_), _) => "a level of the gate did not pass",
            (_, None, true) => "the gate passed with blocking findings left",
        },
    };
    let unmet = unmet.map_or(String::new(), |key| format!(" ({key} is false)"));
    let text = format!("{{}} says that {says}{unmet}, but the trace has {{}} completed");
    let hint = "One of the two is wrong. Do not rely on this deployment before it is known which.";
    let finding =
        Finding::new(FindingId::EvidenceContradiction, Message::new(&text, &[GATE_FILE, state]), hint);
    found.push(finding.state(state).file(Some(&facts.beside(GATE_FILE))));
}

fn contradictions(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let hint = "One of the two is wrong. Do not rely on this deployment before it is known which.";
    let mut report = |file: &str, word: &str, state: &str| {
        let message = Message::new("{} says {}, but the trace has {} completed", &[file, word, state]);
        let finding = Finding::new(FindingId::EvidenceContradiction, message, hint);
        found.push(finding.state(state).file(Some(&facts.beside(file))));
    };
    if let Some(record) = facts.evidence.authorization.read().filter(|record| record.failed())
        && let Some(state) = completed(facts, &[AUTHORIZED_STATE])
    {
        report(AUTHORIZATION_FILE, record.status.as_deref().unwrap_or_default(), state);
    }
    if let Some(record) = facts.evidence.state.read().filter(|record| record.failed()) {
        let model = facts.observation.model();
        let deployment = model.deployment().map(|state| model.name(state));
        if let Some(state) = deployment.and_then(|name| completed(facts, &[name])) {
            report(STATE_FILE, record.status.as_deref().unwrap_or_default(), state);
        }
    }
}

/// What was checked or allowed, and is not what was deployed.
fn ties(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let model = facts.observation.model();
    let deployment = model.deployment().map(|state| model.name(state));
    for tie in facts.evidence.ties().iter().filter(|tie| tie.tied == Tied::Other) {
        let file = tie.artifact.file();
        let state = match tie.artifact {
            Artifact::Gate => completed(facts, &GATE_STATES),
            Artifact::Authorization => completed(facts, &[AUTHORIZED_STATE]),
            Artifact::State => deployment.and_then(|name| completed(facts, &[name])),
        };
        let Some(state) = state else { continue };
        let thing = tie.thing.id();
        let text = format!("{{}} is about the {thing} {{}}, but this deployment's {thing} is {{}}");
        let named = tie.named.as_deref().unwrap_or_default();
        let message = Message::new(&text, &[file, named, tie.deployed.as_deref().unwrap_or_default()]);
        let hint = "What was looked at is not what was deployed. Do the step again on what is deployed, and deploy again.";
        let finding = Finding::new(FindingId::EvidenceContradiction, message, hint);
        found.push(finding.state(state).file(Some(&facts.beside(file))));
    }
}

/// What the trace has completed, and a harness that would have seen it did not see.
fn harness(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let model = facts.observation.model();
    for state in 0..model.states() {
        let completed = facts.observation.record(state).and_then(|record| record.completed());
        let Some(claimed) = completed else { continue };
        let Some(objection) = witness::objection(facts.testimonies, state) else { continue };
        let name = model.name(state);
        let (text, file, place) = match objection {
            Objection::NeverSeen(file) => (
                format!("the trace has {{}} completed ({}), but the harness never saw it: {{}}", at(claimed)),
                file,
                None,
            ),
            Objection::Failed(file, place) => (
                format!("the trace has {{}} completed ({}), but the harness saw it fail: {{}}", at(claimed)),
                file,
                Some(place),
            ),
        };
        let hint =
            "The harness's log is the better evidence. Find out who wrote the trace, and do the step again.";
        let finding =
            Finding::new(FindingId::EvidenceContradiction, Message::new(&text, &[name, file]), hint);
        found.push(finding.state(name).file(Some(file)).at(place));
    }
}

/// Artifacts that should lie beside a state that happened.
fn absent(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let model = facts.observation.model();
    for state in 0..model.states() {
        let happened = facts.observation.record(state).is_some_and(|record| record.completed().is_some());
        if !happened {
            continue;
        }
        let name = model.name(state);
        let demanded = model.demanded(state).iter().map(|file| (file.as_str(), true));
        let usual = usual(name).filter(|file| !model.demanded(state).iter().any(|own| own == file));
        let usual = usual.map(|file| (file, facts.evidence.mode == Mode::Require));
        for (file, required) in
            demanded.chain(usual).filter(|(file, _)| !facts.evidence.present.contains(*file))
        {
            let (id, hint) = if required {
                (FindingId::EvidenceRequired, "Make the step keep its artifact in the deployment folder.")
            } else {
                (
                    FindingId::EvidenceMissing,
                    "It usually lies beside the trace; without it the event is all there is.",
                )
            };
            let mut message = Message::new("{} completed, but its artifact {} is absent", &[name, file]);
            if let Some(reason) = facts.evidence.refused.get(file) {
                message = message.and(Message::new(": {}", &[reason]));
            }
            found.push(Finding::new(id, message, hint).state(name).file(Some(&facts.beside(file))));
        }
    }
}
