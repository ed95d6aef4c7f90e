//! The picture of a fleet as GitHub shows it: in the job summary, or in an issue.

use std::fmt::Write as _;

use super::row::Row;
use super::{Fleet, Planned, deployments};
use crate::conformance::StateStatus;
use crate::escape::{cut, markdown, markdown_cell_code};
use crate::report::markdown::{folded, more};
use crate::verdict::{Class, Verdict};

/// How many rows of each part are shown.
struct Rows {
    worst: usize,
    lost: usize,
    states: usize,
    findings: usize,
    damage: usize,
}

/// From all that anybody reads down to the tally alone.
const STEPS: [Rows; 7] = [
    Rows { worst: 2000, lost: 1000, states: 200, findings: 100, damage: 200 },
    Rows { worst: 500, lost: 500, states: 100, findings: 100, damage: 50 },
    Rows { worst: 150, lost: 100, states: 50, findings: 100, damage: 20 },
    Rows { worst: 50, lost: 50, states: 30, findings: 20, damage: 10 },
    Rows { worst: 20, lost: 20, states: 15, findings: 10, damage: 5 },
    Rows { worst: 5, lost: 5, states: 5, findings: 0, damage: 1 },
    Rows { worst: 0, lost: 0, states: 0, findings: 0, damage: 0 },
];

/// The picture in at most so many bytes, and so in at most as many UTF-16 units. Rows are left out where room is short, the
/// worst stay longest; the tally stays whatever happens.
#[must_use]
pub fn render_within(fleet: &Fleet, bytes: usize) -> String {
    let mut out = String::new();
    for rows in &STEPS {
        out = render(fleet, rows);
        if out.len() <= bytes {
            break;
        }
    }
    out
}

fn render(fleet: &Fleet, rows: &Rows) -> String {
    let mut out = String::from("## 🧪 Post-Deployment Validation of a Fleet\n\n");
    tally(fleet, &mut out);
    worst(fleet, rows.worst, &mut out);
    lost(fleet, rows.lost, &mut out);
    states(fleet, rows.states, &mut out);
    findings(fleet, rows.findings, &mut out);
    damage(fleet, rows.damage, &mut out);
    out.push_str(if fleet.is_verified() {
        "Process Integrity found nothing to hold against these deployments.\n"
    } else {
        "Process Integrity detects; it blocks nothing.\n"
    });
    out
}

fn tally(fleet: &Fleet, out: &mut String) {
    let sign = if fleet.is_verified() { "✅" } else { "⚠️" };
    let _ = writeln!(out, "> {sign} **{}**", fleet.headline());
    for doubt in fleet.doubts() {
        let _ = writeln!(out, "> {doubt}");
    }
    out.push_str("\n| Verdict | Deployments |\n|---|---:|\n");
    for verdict in Verdict::ALL.iter().rev() {
        let _ = writeln!(out, "| {} {} | {} |", verdict.sign(), verdict.title(), fleet.count(*verdict));
    }
    if fleet.plan.is_some() {
        let _ = writeln!(out, "| ❔ NOT VALIDATED | {} |", fleet.lost.len());
    }
    let _ = writeln!(out, "| **All** | **{}** |\n", fleet.deployments());
}

fn worst(fleet: &Fleet, rows: usize, out: &mut String) {
    let count = fleet.troubled().count();
    if count == 0 {
        return;
    }
    out.push_str("### Worst first\n");
    if rows == 0 {
        let _ = writeln!(out, "There is no room for {}.\n", deployments(count));
        return;
    }
    out.push_str(
        "| Verdict | Deployment | Coverage | Not covered | Health | Findings |\n|---|---|---:|---|---|---|\n",
    );
    for row in fleet.troubled().take(rows) {
        let (sign, title) = (row.verdict.sign(), row.verdict.title());
        let claim = if row.false_success() { "<br>**false success**" } else { "" };
        let coverage = format!("{}/{} ({}%)", row.covered(), row.states.len(), row.percent());
        let _ = writeln!(
            out,
            "| {sign} {title}{claim} | {} | {coverage} | {} | {} | {} |",
            name(row),
            open(fleet, row),
            row.health.id(),
            found(row)
        );
    }
    more(count, rows, 6, out);
    out.push('\n');
}

/// The deployment, and what is to be known of its report.
fn name(row: &Row) -> String {
    let mut text = markdown_cell_code(&cut(row.name(), 200));
    if let Some(id) = row.other_id() {
        let _ = write!(text, "<br>{}", markdown_cell_code(&cut(id, 120)));
    }
    if row.planned == Planned::Unplanned {
        text.push_str("<br>not in the plan");
    }
    if !row.others.is_empty() {
        let _ = write!(text, "<br>the worst of {} reports that differ", row.others.len() + 1);
    }
    text
}

fn open(fleet: &Fleet, row: &Row) -> String {
    let shown: Vec<String> = fleet
        .not_covered(row)
        .take(10)
        .map(|(state, status)| format!("{} {}", markdown_cell_code(&cut(state, 60)), status.id()))
        .collect();
    let rest = row.states.len() - row.covered() - shown.len();
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}

/// The rules that found more than a notice.
fn found(row: &Row) -> String {
    let grave = row.findings.iter().filter(|(id, _)| id.class() != Class::Notice);
    let ids: Vec<String> = grave
        .map(|(id, count)| match count {
            1 => id.id().to_owned(),
            many => format!("{} ×{many}", id.id()),
        })
        .collect();
    ids.join(", ")
}

fn lost(fleet: &Fleet, rows: usize, out: &mut String) {
    if fleet.lost.is_empty() || rows == 0 {
        return;
    }
    out.push_str("### Not validated\nPlanned, but there is no report: the shard was lost, or it did not come to its end.\n\n");
    out.push_str("| Shard | Folder |\n|---:|---|\n");
    for lost in fleet.lost.iter().take(rows) {
        let _ = writeln!(out, "| {} | {} |", lost.shard, markdown_cell_code(&cut(&lost.folder, 200)));
    }
    more(fleet.lost.len(), rows, 2, out);
    out.push('\n');
}

fn states(fleet: &Fleet, rows: usize, out: &mut String) {
    if fleet.states.is_empty() || rows == 0 {
        return;
    }
    out.push_str(
        "### Coverage by state\n| State | Covered | Missing | Failed | Late | Stale | Out of order |\n",
    );
    out.push_str("|---|---:|---:|---:|---:|---:|---:|\n");
    for state in fleet.states.iter().take(rows) {
        let name = markdown_cell_code(&cut(&state.id, 100));
        let (covered, all) = (state.count(StateStatus::Covered), state.deployments());
        let _ = write!(out, "| {name} | {covered}/{all} ({}%)", state.percent());
        for status in [
            StateStatus::Missing,
            StateStatus::Failed,
            StateStatus::Late,
            StateStatus::Stale,
            StateStatus::OutOfOrder,
        ] {
            let _ = write!(out, " | {}", state.count(status));
        }
        out.push_str(" |\n");
    }
    more(fleet.states.len(), rows, 7, out);
    out.push('\n');
}

fn findings(fleet: &Fleet, rows: usize, out: &mut String) {
    if fleet.findings.is_empty() || rows == 0 {
        return;
    }
    folded(&format!("Findings by rule ({})", fleet.findings.len()), out, |out| {
        out.push_str("| Class | Rule | Deployments | Findings |\n|---|---|---:|---:|\n");
        for tally in fleet.findings.iter().take(rows) {
            let class = tally.id.class().id();
            let _ =
                writeln!(out, "| {class} | {} | {} | {} |", tally.id.id(), tally.deployments, tally.findings);
        }
        more(fleet.findings.len(), rows, 4, out);
    });
}

fn damage(fleet: &Fleet, rows: usize, out: &mut String) {
    let count = usize::try_from(fleet.unreadable()).unwrap_or(usize::MAX);
    if count == 0 || rows == 0 {
        return;
    }
    folded(&format!("Could not be read ({count})"), out, |out| {
        out.push_str("| File | Line | Reason |\n|---|---:|---|\n");
        let places = fleet.files.iter().flat_map(|file| file.damage.iter().map(move |place| (file, place)));
        let mut shown = 0;
        for (file, place) in places.take(rows) {
            let name = markdown_cell_code(&cut(&file.name, 200));
            let line = place.line.map_or("–".to_owned(), |line| line.to_string());
            let _ = writeln!(out, "| {name} | {line} | {} |", markdown(&cut(&place.reason, 200)));
            shown += 1;
        }
        more(count, shown, 3, out);
    });
}
