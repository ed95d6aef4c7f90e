//! The picture of a fleet for machines: versioned, stable keys, the same bytes for the same input. Schema:
//! `docs/schemas/process-integrity-fleet.v1.schema.json`.
//!
//! It is one document, laid out so that each deployment has a line: a hundred thousand of them can be searched.

use serde::Serialize;

use super::read::FileRead;
use super::row::Row;
use super::{FindingTally, Fleet, Lost, Planned, StateTally};
use crate::conformance::StateStatus;
use crate::escape;
use crate::verdict::Verdict;

/// The schema of the picture.
pub const SCHEMA: &str = "process-integrity-fleet/v1";

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct TallyPart {
    deployment_failure: usize,
    process_violation: usize,
    agent_issue: usize,
    verified_success: usize,
    not_validated: usize,
}

#[derive(Serialize)]
struct PlanPart {
    shards: usize,
    folders: usize,
}

#[derive(Serialize)]
struct StatePart<'a> {
    id: &'a str,
    deployments: u64,
    percent: u64,
    covered: u64,
    missing: u64,
    failed: u64,
    late: u64,
    stale: u64,
    #[serde(rename = "out-of-order")]
    out_of_order: u64,
}

#[derive(Serialize)]
struct FindingPart {
    id: &'static str,
    class: &'static str,
    deployments: u64,
    findings: u64,
}

#[derive(Serialize)]
struct RowPart<'a> {
    deployment_id: &'a str,
    folder: Option<&'a str>,
    verdict: &'static str,
    false_success: bool,
    claim: &'static str,
    health: &'static str,
    coverage: CoveragePart,
    not_covered: Vec<OpenPart<'a>>,
    findings: Vec<CountPart>,
    planned: Option<bool>,
    shard: Option<u64>,
    differing_reports: usize,
    file: &'a str,
    line: u64,
}

#[derive(Serialize)]
struct CoveragePart {
    covered: usize,
    essential: usize,
    percent: u64,
}

#[derive(Serialize)]
struct OpenPart<'a> {
    id: &'a str,
    status: &'static str,
}

#[derive(Serialize)]
struct CountPart {
    id: &'static str,
    count: u32,
}

#[derive(Serialize)]
struct LostPart<'a> {
    folder: &'a str,
    shard: u64,
}

#[derive(Serialize)]
struct FilePart<'a> {
    path: &'a str,
    reports: u64,
    unreadable: u64,
    damage: Vec<DamagePart<'a>>,
}

#[derive(Serialize)]
struct DamagePart<'a> {
    line: Option<u64>,
    reason: &'a str,
}

fn state(state: &StateTally) -> StatePart<'_> {
    StatePart {
        id: &state.id,
        deployments: state.deployments(),
        percent: state.percent(),
        covered: state.count(StateStatus::Covered),
        missing: state.count(StateStatus::Missing),
        failed: state.count(StateStatus::Failed),
        late: state.count(StateStatus::Late),
        stale: state.count(StateStatus::Stale),
        out_of_order: state.count(StateStatus::OutOfOrder),
    }
}

fn finding(tally: &FindingTally) -> FindingPart {
    FindingPart {
        id: tally.id.id(),
        class: tally.id.class().id(),
        deployments: tally.deployments,
        findings: tally.findings,
    }
}

fn row<'a>(fleet: &'a Fleet, row: &'a Row) -> RowPart<'a> {
    let open = fleet.not_covered(row).map(|(id, status)| OpenPart { id, status: status.id() });
    RowPart {
        deployment_id: &row.deployment,
        folder: row.folder.as_deref(),
        verdict: row.verdict.id(),
        false_success: row.false_success(),
        claim: row.claim.id(),
        health: row.health.id(),
        coverage: CoveragePart {
            covered: row.covered(),
            essential: row.states.len(),
            percent: row.percent(),
        },
        not_covered: open.collect(),
        findings: row.findings.iter().map(|(id, count)| CountPart { id: id.id(), count: *count }).collect(),
        planned: match row.planned {
            Planned::NoPlan => None,
            Planned::Shard(_) => Some(true),
            Planned::Unplanned => Some(false),
        },
        shard: row.planned.shard(),
        differing_reports: row.others.len(),
        file: fleet.file(row),
        line: row.line,
    }
}

fn file(file: &FileRead) -> FilePart<'_> {
    let damage = file.damage.iter().map(|place| DamagePart { line: place.line, reason: &place.reason });
    FilePart {
        path: &file.name,
        reports: file.reports,
        unreadable: file.unreadable,
        damage: damage.collect(),
    }
}

fn lost(lost: &Lost) -> LostPart<'_> {
    LostPart { folder: &lost.folder, shard: lost.shard }
}

/// Writes keys of an object, each on a line.
struct Object {
    out: String,
}

impl Object {
    fn key(&mut self, name: &str) {
        self.out.push_str(if self.out.is_empty() { "{\n  " } else { ",\n  " });
        self.out.push_str(&text(&name));
        self.out.push_str(": ");
    }

    fn value(&mut self, name: &str, value: &impl Serialize) {
        self.key(name);
        self.out.push_str(&text(value));
    }

    /// A list with a line for each item.
    fn list(&mut self, name: &str, items: impl Iterator<Item = impl Serialize>) {
        self.key(name);
        self.out.push('[');
        let before = self.out.len();
        for item in items {
            self.out.push_str(if self.out.len() == before { "\n    " } else { ",\n    " });
            self.out.push_str(&text(&item));
        }
        self.out.push_str(if self.out.len() == before { "]" } else { "\n  ]" });
    }
}

/// A value as JSON. It holds texts and numbers only, which always serialize.
fn text(value: &impl Serialize) -> String {
    escape::json(&serde_json::to_string(value).unwrap_or_default())
}

/// The whole picture, ending with a line break.
#[must_use]
pub fn render(fleet: &Fleet) -> String {
    let mut object = Object { out: String::new() };
    object.value("schema", &SCHEMA);
    object.value("verified", &fleet.is_verified());
    object.value("deployments", &fleet.deployments());
    let tally = TallyPart {
        deployment_failure: fleet.count(Verdict::DeploymentFailure),
        process_violation: fleet.count(Verdict::ProcessViolation),
        agent_issue: fleet.count(Verdict::AgentIssue),
        verified_success: fleet.count(Verdict::VerifiedSuccess),
        not_validated: fleet.lost.len(),
    };
    object.value("tally", &tally);
    object.value("false_successes", &fleet.false_successes());
    object.value("unreadable", &fleet.unreadable());
    object.value("plan", &fleet.plan.map(|(shards, folders)| PlanPart { shards, folders }));
    object.list("states", fleet.states.iter().map(state));
    object.list("findings", fleet.findings.iter().map(finding));
    object.list("not_validated", fleet.lost.iter().map(lost));
    object.list("files", fleet.files.iter().map(file));
    object.list("reports", fleet.rows.iter().map(|one| row(fleet, one)));
    object.out.push_str("\n}\n");
    object.out
}
