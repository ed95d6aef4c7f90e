//! What a report says in whole sentences: the same in every output.

use super::Report;
use crate::conformance::StateStatus;
use crate::evidence::about::{Thing, Tied};
use crate::health::HealthStatus;
use crate::message::{Message, list};
use crate::verdict::{FindingId, Verdict};

/// The one sentence under the verdict.
#[must_use]
pub fn headline(report: &Report) -> &'static str {
    match report.verdict {
        Verdict::VerifiedSuccess if report.has(FindingId::BelowFullCoverage) => {
            "Resources are healthy, and as many mandatory checkpoints are proven as the threshold asks for."
        }
        Verdict::VerifiedSuccess => "Resources are healthy, and every mandatory checkpoint is proven.",
        Verdict::AgentIssue => {
            "Resources are healthy and the process is complete, but the flow was abnormal."
        }
        Verdict::ProcessViolation => match (report.health, report.missing().next()) {
            (HealthStatus::Healthy, Some(_)) => {
                "Resources are healthy, but the deployment process was incomplete."
            }
            (HealthStatus::Healthy, None) => {
                "Resources are healthy, but the deployment process cannot be proven."
            }
            (_, Some(_)) => {
                "Nothing proves that the resources work, and the deployment process was incomplete."
            }
            (_, None) => "The deployment process is complete, but nothing proves that the resources work.",
        },
        Verdict::DeploymentFailure => {
            if report.health == HealthStatus::Unhealthy {
                "Resources are not healthy."
            } else if report.has(FindingId::StoppedBeforeDeployment) && !report.deployment_attempted {
                "The process stopped before the deployment: the gate did its job."
            } else {
                "The deployment failed."
            }
        }
    }
}

/// What the absence of a state may mean, for states that are known.
fn risk(state: &str) -> Option<&'static str> {
    Some(match state {
        "requirements_gathered" | "intent_captured" => "what was deployed may not be what was asked for",
        "security_gate_evaluated" | "security_gate" => {
            "the template may hold security problems that nobody looked for"
        }
        "preflight_validated" | "template_validated" => "the template may not do what its author expects",
        "policy_assessed" | "governance_preflight" => "the deployment may break the organisation's policies",
        "user_confirmation" | "deployment_authorized" => "nobody may have agreed to this deployment",
        "integration_tests_passed" | "integration_tests" => "nobody may have looked whether it works",
        _ => return None,
    })
}

/// What was not done, and what that may mean. Empty where everything was done.
#[must_use]
pub fn consequences(report: &Report) -> Vec<Message> {
    let mut sentences = Vec::new();
    for (status, text) in [
        (StateStatus::Missing, "Not done: "),
        (StateStatus::Failed, "Did not pass: "),
        (StateStatus::Late, "Done only after the deployment: "),
        (StateStatus::Stale, "Not repeated after what it is about had changed: "),
        (StateStatus::OutOfOrder, "Out of order: "),
    ] {
        let names: Vec<&str> = report
            .states
            .iter()
            .filter(|state| state.status == status)
            .map(|state| state.id.as_str())
            .collect();
        if !names.is_empty() {
            let shown = &names[..names.len().min(20)];
            let more = match names.len() - shown.len() {
                0 => ".".to_owned(),
                more => format!(" and {more} more."),
            };
            sentences.push(Message::new(&format!("{text}{}{more}", list(shown.len())), shown));
        }
    }
    let mut risks: Vec<&str> = report.missing().filter_map(risk).collect();
    risks.dedup();
    if !risks.is_empty() && report.verdict != Verdict::VerifiedSuccess {
        risks.truncate(3);
        sentences.push(Message::new(&format!("So {}.", risks.join("; ")), &[]));
    }
    sentences
}

/// The smallest thing that puts it right: what the worst findings of one kind ask for, and for which states. `None` for a
/// verified success.
#[must_use]
pub fn action(report: &Report) -> Option<Message> {
    match report.verdict {
        Verdict::VerifiedSuccess => return None,
        Verdict::AgentIssue | Verdict::ProcessViolation | Verdict::DeploymentFailure => {}
    }
    let first = report.findings.first()?;
    let alike = report.findings.iter().filter(|finding| finding.id == first.id && finding.hint == first.hint);
    let mut states: Vec<&str> = alike.filter_map(|finding| finding.state.as_deref()).collect();
    states.dedup();
    states.truncate(20);
    let whom = if states.is_empty() { String::new() } else { format!("{}: ", list(states.len())) };
    Some(Message::new(&format!("{whom}{}", first.hint), &states))
}

/// What the artifacts say that they are about: a sentence for each file.
#[must_use]
pub fn bindings(report: &Report) -> Vec<Message> {
    let mut sentences: Vec<Message> = Vec::new();
    for ties in report.bindings.chunk_by(|a, b| a.artifact == b.artifact) {
        let phrases: Vec<&str> = match ties {
            [template, commit] if [template.tied, commit.tied] == [Tied::Unnamed; 2] => {
                vec!["it names neither a template nor a commit, so nothing ties it to what was deployed"]
            }
            ties => ties.iter().map(|tie| phrase(tie.thing, tie.tied)).collect(),
        };
        let text = format!("{{}}: {}", phrases.join("; "));
        sentences.extend(ties.first().map(|tie| Message::new(&text, &[tie.artifact.file()])));
    }
    sentences
}

fn phrase(thing: Thing, tied: Tied) -> &'static str {
    match (thing, tied) {
        (Thing::Template, Tied::Same) => "it is about the deployed template",
        (Thing::Template, Tied::Other) => "it is about another template than the deployed one",
        (Thing::Template, Tied::Unnamed) => "it names no template",
        (Thing::Template, Tied::Unknown) => {
            "it names a template, but there is no template.json to compare it with"
        }
        (Thing::Commit, Tied::Same) => "it is about the deployed commit",
        (Thing::Commit, Tied::Other) => "it is about another commit than the deployed one",
        (Thing::Commit, Tied::Unnamed) => "it names no commit",
        (Thing::Commit, Tied::Unknown) => "it names a commit, but which one was deployed is not known",
    }
}
