//! What was learned, for machines: versioned, stable keys, the same bytes for the same input. Schema:
//! `docs/schemas/process-integrity-learning.v1.schema.json`.

use serde::Serialize;

use super::Learning;
use crate::escape;
use crate::model::diff::{Change, Effect};
use crate::model::learn::{Standing, doubts};
use crate::model::write::number;
use crate::verdict::Finding;

/// The schema of the report.
pub const SCHEMA: &str = "process-integrity-learning/v1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    refused: bool,
    goldens: Vec<GoldenPart<'a>>,
    essential: Vec<EssentialPart<'a>>,
    optional: Vec<OptionalPart<'a>>,
    coverage_threshold: serde_json::Number,
    terminal_state: Option<&'a str>,
    deployment_state: Option<&'a str>,
    open_ended: bool,
    artifact_states: Vec<&'a str>,
    repeatable_states: Vec<&'a str>,
    lost_by_dominators: Vec<&'a str>,
    warnings: Vec<WarningPart>,
    compared_with: Option<&'a str>,
    changes: Option<Vec<ChangePart>>,
}

#[derive(Serialize)]
struct GoldenPart<'a> {
    name: &'a str,
    digest: Option<&'a str>,
    format: Option<&'static str>,
    events: u64,
    health: Option<&'static str>,
    accepted: bool,
    problems: Vec<FindingPart<'a>>,
    notices: Vec<FindingPart<'a>>,
    leave_one_out: Option<LeftOutPart<'a>>,
}

#[derive(Serialize)]
struct LeftOutPart<'a> {
    verdict: Option<&'static str>,
    reason: Option<String>,
    false_alarms: Vec<FindingPart<'a>>,
}

#[derive(Serialize)]
struct FindingPart<'a> {
    id: &'static str,
    state: Option<&'a str>,
    line: Option<u64>,
    message: String,
}

#[derive(Serialize)]
struct EssentialPart<'a> {
    id: &'a str,
    after: Vec<&'a str>,
    guard: bool,
    dominator: bool,
    repeatable: bool,
}

#[derive(Serialize)]
struct OptionalPart<'a> {
    id: &'a str,
    demoted_by: Vec<DemotionPart<'a>>,
}

#[derive(Serialize)]
struct DemotionPart<'a> {
    golden: &'a str,
    reason: String,
    line: Option<u64>,
}

#[derive(Serialize)]
struct WarningPart {
    grave: bool,
    message: String,
}

#[derive(Serialize)]
struct ChangePart {
    change: &'static str,
    weaker: bool,
    message: String,
}

fn finding(finding: &Finding) -> FindingPart<'_> {
    FindingPart {
        id: finding.id.id(),
        state: finding.state.as_deref(),
        line: finding.place.map(|place| place.line),
        message: finding.message.to_string(),
    }
}

fn change(change: &Change) -> ChangePart {
    ChangePart {
        change: change.kind.id(),
        weaker: change.effect == Effect::Weaker,
        message: change.message.to_string(),
    }
}

/// The whole report.
#[must_use]
pub fn render(learning: &Learning) -> String {
    let goldens = learning.goldens.iter().map(|golden| GoldenPart {
        name: &golden.name,
        digest: golden.digest.as_deref(),
        format: golden.format.map(|format| format.id()),
        events: golden.events,
        health: golden.health.map(|health| health.id()),
        accepted: golden.accepted,
        problems: golden.problems.iter().map(finding).collect(),
        notices: golden.notices.iter().map(finding).collect(),
        leave_one_out: golden.left_out.as_ref().map(|left_out| match left_out {
            Ok(alarms) => LeftOutPart {
                verdict: golden.verdict_of_others().map(|verdict| verdict.id()),
                reason: None,
                false_alarms: alarms.iter().map(finding).collect(),
            },
            Err(reason) => {
                LeftOutPart { verdict: None, reason: Some(reason.to_string()), false_alarms: Vec::new() }
            }
        }),
    });
    let essential = learning.essential.iter().map(|state| EssentialPart {
        id: &state.id,
        after: state.after.iter().map(|before| learning.name(*before)).collect(),
        guard: state.guard,
        dominator: state.dominator,
        repeatable: state.repeatable,
    });
    let optional = learning.optional.iter().map(|row| OptionalPart {
        id: &row.id,
        demoted_by: row
            .by
            .iter()
            .map(|(golden, standing)| DemotionPart {
                golden: learning.golden(*golden),
                reason: doubts::reason(*standing),
                line: match standing {
                    Standing::NotCompleted(place, _) => Some(place.line),
                    Standing::Absent | Standing::Completed(_) => None,
                },
            })
            .collect(),
    });
    let warnings = learning.warnings.iter();
    let document = Document {
        schema: SCHEMA,
        refused: learning.is_refused(),
        goldens: goldens.collect(),
        essential: essential.collect(),
        optional: optional.collect(),
        coverage_threshold: number(learning.threshold),
        terminal_state: learning.terminal.as_deref(),
        deployment_state: learning.deployment.as_deref(),
        open_ended: learning.open_ended,
        artifact_states: learning.artifacts.iter().map(String::as_str).collect(),
        repeatable_states: learning.repeatable.iter().map(String::as_str).collect(),
        lost_by_dominators: learning.lost_by_dominators().collect(),
        warnings: warnings
            .map(|warning| WarningPart { grave: warning.grave, message: warning.message.to_string() })
            .collect(),
        compared_with: learning.changes.as_ref().map(|(name, _)| name.as_str()),
        changes: learning.changes.as_ref().map(|(_, changes)| changes.iter().map(change).collect()),
    };
    pretty(&document)
}

/// The difference of two models.
#[must_use]
pub fn render_changes(changes: &[Change]) -> String {
    #[derive(Serialize)]
    struct Difference {
        schema: &'static str,
        changes: Vec<ChangePart>,
    }
    pretty(&Difference {
        schema: "process-integrity-model-diff/v1",
        changes: changes.iter().map(change).collect(),
    })
}

fn pretty(document: &impl Serialize) -> String {
    format!("{}\n", escape::json(&serde_json::to_string_pretty(document).unwrap_or_default()))
}
