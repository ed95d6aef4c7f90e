//! What was learned, as Markdown: for the job summary and for a pull request that brings the model.

use std::fmt::Write as _;

use super::{Learning, demotion, headline};
use crate::escape::{cut, markdown_cell_code, markdown_code};
use crate::model::diff::{Change, Effect};
use crate::report::diagram;
use crate::report::markdown::{folded, message, more};

/// Rows of each table.
const SHOWN: usize = 100;
/// Problems of one trace: of a hundred traces they must fit into a job summary.
const PROBLEMS_SHOWN: usize = 10;

/// The whole report.
#[must_use]
pub fn render(learning: &Learning) -> String {
    let sign = if learning.is_refused() { "❌" } else { "🎓" };
    let mut out = format!("## 🧪 Process model\n\n{sign} **{}**\n\n", headline(learning));
    for warning in &learning.warnings {
        let sign = if warning.grave { "❌" } else { "⚠️" };
        let _ = writeln!(out, "> {sign} {}\n", message(&warning.message, false));
    }
    if let Some((name, changes)) = &learning.changes {
        let _ = writeln!(out, "### Compared with {}\n", markdown_code(&cut(name, 200)));
        out.push_str(&render_changes(changes));
        out.push('\n');
    }
    goldens(learning, &mut out);
    model(learning, &mut out);
    optional(learning, &mut out);
    let lost: Vec<String> =
        learning.lost_by_dominators().take(SHOWN).map(|state| markdown_code(&cut(state, 100))).collect();
    if !lost.is_empty() {
        let _ = writeln!(out, "Plain dominators of the merged traces would have lost {}.", lost.join(", "));
    }
    out
}

/// The difference of two models.
#[must_use]
pub fn render_changes(changes: &[Change]) -> String {
    if changes.is_empty() {
        return "Nothing changes.\n".to_owned();
    }
    let line = |change: &Change| {
        let sign = match change.effect {
            Effect::Weaker => "⚠️ weaker: ",
            Effect::Other => "",
        };
        format!("- {sign}{}\n", message(&change.message, false))
    };
    changes.iter().map(line).collect()
}

fn goldens(learning: &Learning, out: &mut String) {
    out.push_str(
        "### Golden traces\n\n| | Trace | Format | Events | Health | By the model of the others |\n",
    );
    out.push_str("|:-:|---|---|---:|---|---|\n");
    for golden in learning.goldens.iter().take(SHOWN) {
        let alarmed = matches!(&golden.left_out, Some(Ok(alarms)) if !alarms.is_empty());
        let sign = match (golden.problems.is_empty(), golden.accepted) {
            (true, _) if alarmed => "⚠️",
            (true, _) => "✅",
            (false, true) => "⚠️",
            (false, false) => "❌",
        };
        let others = match (&golden.left_out, golden.verdict_of_others()) {
            (Some(Ok(alarms)), Some(verdict)) if alarms.is_empty() => verdict.id().to_owned(),
            (Some(Ok(alarms)), Some(verdict)) => {
                let alarms: Vec<String> = alarms
                    .iter()
                    .take(5)
                    .map(|alarm| format!("{}: {}", alarm.id.id(), message(&alarm.message, true)))
                    .collect();
                format!("false alarm, {}: {}", verdict.id(), alarms.join("; "))
            }
            (Some(Err(reason)), _) => message(reason, true),
            (Some(Ok(_)) | None, _) => "–".to_owned(),
        };
        let _ = writeln!(
            out,
            "| {sign} | {} | {} | {} | {} | {others} |",
            markdown_cell_code(&cut(&golden.name, 120)),
            golden.format.map_or("–", |format| format.title()),
            golden.events,
            golden.health.map_or("–", |health| health.id()),
        );
    }
    more(learning.goldens.len(), SHOWN, 6, out);
    out.push('\n');
    for golden in learning.goldens.iter().filter(|golden| !golden.notices.is_empty()).take(SHOWN) {
        let _ = writeln!(out, "Of {}:\n", markdown_code(&cut(&golden.name, 120)));
        for notice in golden.notices.iter().take(PROBLEMS_SHOWN) {
            let _ = writeln!(out, "- {}: {}", notice.id.id(), message(&notice.message, false));
        }
        out.push('\n');
    }
    for golden in learning.goldens.iter().filter(|golden| !golden.problems.is_empty()).take(SHOWN) {
        let word = if golden.accepted { "was accepted in spite of this" } else { "is no good example" };
        let _ = writeln!(out, "{} {word}:\n", markdown_code(&cut(&golden.name, 120)));
        for problem in golden.problems.iter().take(PROBLEMS_SHOWN) {
            let _ = writeln!(out, "- {}: {}", problem.id.id(), message(&problem.message, false));
        }
        out.push('\n');
    }
}

fn model(learning: &Learning, out: &mut String) {
    let all = if learning.is_refused() { ", if all of these were good examples" } else { "" };
    let _ = writeln!(
        out,
        "### Essential states{all} ({}; {}% must be covered)\n\n```mermaid\n{}```\n",
        learning.essential.len(),
        learning.threshold,
        diagram::model(learning)
    );
    for (what, states) in [
        ("May fail and be repeated in a fix loop", &learning.repeatable),
        ("Produce what later states are about", &learning.artifacts),
    ] {
        if !states.is_empty() {
            let names: Vec<String> =
                states.iter().take(SHOWN).map(|state| markdown_code(&cut(state, 100))).collect();
            let _ = writeln!(out, "- {what}: {}", names.join(", "));
        }
    }
    for (what, state) in [("The deployment", &learning.deployment), ("The end", &learning.terminal)] {
        if let Some(state) = state {
            let _ = writeln!(out, "- {what}: {}", markdown_code(&cut(state, 100)));
        }
    }
    if learning.open_ended {
        out.push_str("- A run may end with any state.\n");
    }
    out.push('\n');
    folded("Essential states as a table", out, |out| {
        out.push_str(
            "| State | Comes after | Guards the deployment | Plain dominators keep it |\n|---|---|:-:|:-:|\n",
        );
        for state in learning.essential.iter().take(SHOWN) {
            let after: Vec<String> = state
                .after
                .iter()
                .take(10)
                .map(|before| markdown_cell_code(&cut(learning.name(*before), 100)))
                .collect();
            let yes = |is: bool| if is { "yes" } else { "no" };
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                markdown_cell_code(&cut(&state.id, 100)),
                after.join(", "),
                yes(state.guard),
                yes(state.dominator)
            );
        }
        more(learning.essential.len(), SHOWN, 4, out);
    });
}

fn optional(learning: &Learning, out: &mut String) {
    if learning.optional.is_empty() {
        return;
    }
    folded(&format!("Optional states ({})", learning.optional.len()), out, |out| {
        out.push_str("| State | Not completed in |\n|---|---|\n");
        for row in learning.optional.iter().take(SHOWN) {
            let name = markdown_cell_code(&cut(&row.id, 100));
            let _ = writeln!(out, "| {name} | {} |", message(&demotion(learning, row), true));
        }
        more(learning.optional.len(), SHOWN, 2, out);
    });
}
