//! What was learned, for a terminal.

use super::{GoldenRow, Learning, demotion, headline};
use crate::escape::{self, cut};
use crate::model::diff::{Change, Effect};
use crate::report::plain;
use crate::report::terminal::{BOLD, Colour, DIM, GREEN, Paper, RED, YELLOW};
use crate::verdict::{Finding, Verdict};

/// Rows of each part that are shown.
const SHOWN: usize = 30;

/// The whole report.
#[must_use]
pub fn render(learning: &Learning, colour: Colour) -> String {
    let mut paper = Paper::new(colour);
    let title = if learning.is_refused() { RED } else { GREEN };
    let line = paper.paint(title, &paper.paint(BOLD, &headline(learning)));
    paper.line(&line);
    paper.line("");
    goldens(learning, &mut paper);
    warnings(learning, &mut paper);
    picture(learning, &mut paper);
    optional(learning, &mut paper);
    leave_one_out(learning, &mut paper);
    dominators(learning, &mut paper);
    if let Some((name, changes)) = &learning.changes {
        paper.line(&format!("Compared with {}", escape::line(&cut(name, 200))));
        list_changes(changes, &mut paper);
        paper.line("");
    }
    paper.finish()
}

/// The difference of two models.
#[must_use]
pub fn render_changes(changes: &[Change], colour: Colour) -> String {
    let mut paper = Paper::new(colour);
    list_changes(changes, &mut paper);
    paper.finish()
}

fn goldens(learning: &Learning, paper: &mut Paper) {
    paper.line("Golden traces:");
    for golden in learning.goldens.iter().take(SHOWN) {
        let (sign, style) = match (golden.problems.is_empty(), golden.accepted) {
            (true, _) => ("✔", GREEN),
            (false, true) => ("!", YELLOW),
            (false, false) => ("✘", RED),
        };
        let format = golden.format.map_or("no trace", |format| format.title());
        let health = golden.health.map_or(String::new(), |health| format!("; {}", health.id()));
        let name = escape::line(&cut(&golden.name, 120));
        let text =
            format!("  {} {name}  {format}, {} events{health}", paper.paint(style, sign), golden.events);
        paper.line(&text);
        for problem in golden.problems.iter().take(SHOWN) {
            finding(problem, paper);
        }
        if golden.problems.len() > SHOWN {
            paper.line(&format!("      … and {} more", golden.problems.len() - SHOWN));
        }
        for notice in golden.notices.iter().take(SHOWN) {
            finding(notice, paper);
        }
        if golden.is_refused() {
            let remedy = format!(
                "      → Leave it out; or, if it is a good run all the same, --accept {name} (in a step: golden-accept)"
            );
            paper.line(&remedy);
        }
    }
    if learning.goldens.len() > SHOWN {
        paper.line(&format!("  … and {} more", learning.goldens.len() - SHOWN));
    }
    paper.line("");
}

fn finding(finding: &Finding, paper: &mut Paper) {
    paper.line(&format!("      {}: {}", finding.id.id(), plain(&finding.message, escape::line)));
}

fn warnings(learning: &Learning, paper: &mut Paper) {
    if learning.warnings.is_empty() {
        return;
    }
    for warning in &learning.warnings {
        let word = if warning.grave { paper.paint(RED, "WARNING") } else { paper.paint(YELLOW, "warning") };
        paper.line(&format!("{word}: {}", plain(&warning.message, escape::line)));
    }
    paper.line("");
}

/// Layer by layer; a state names its predecessors where they are not simply the layer above.
fn picture(learning: &Learning, paper: &mut Paper) {
    let all = if learning.is_refused() { ", if all of these were good examples" } else { "" };
    paper.line(&format!(
        "Essential states{all}: {}; {}% must be covered",
        learning.essential.len(),
        learning.threshold
    ));
    let layers = learning.layers();
    for (depth, layer) in layers.iter().enumerate() {
        if depth > 0 {
            paper.line("    ↓");
        }
        let above = depth.checked_sub(1).and_then(|above| layers.get(above));
        for (at, number) in layer.iter().enumerate() {
            let Some(state) = learning.essential.get(*number) else { continue };
            let branch = match (layer.len(), at) {
                (1, _) => "─",
                (_, 0) => "┌",
                (many, at) if at + 1 == many => "└",
                _ => "├",
            };
            let mut notes = Vec::new();
            if Some(&state.after) != above && depth > 0 {
                let names: Vec<String> =
                    state.after.iter().map(|before| escape::line(&cut(learning.name(*before), 60))).collect();
                notes.push(format!("after {}", names.join(", ")));
            }
            if state.guard {
                notes.push("guard".to_owned());
            }
            if Some(&state.id) == learning.deployment.as_ref() {
                notes.push("the deployment".to_owned());
            }
            if Some(&state.id) == learning.terminal.as_ref() {
                notes.push("the end".to_owned());
            }
            let notes = match notes.is_empty() {
                true => String::new(),
                false => paper.paint(DIM, &format!("  ({})", notes.join("; "))),
            };
            paper.line(&format!("  {branch} {}{notes}", escape::line(&cut(&state.id, 80))));
        }
    }
    for (what, states) in [
        ("May fail and be repeated in a fix loop", &learning.repeatable),
        ("Produce what later states are about", &learning.artifacts),
    ] {
        if !states.is_empty() {
            let names: Vec<String> =
                states.iter().take(SHOWN).map(|state| escape::line(&cut(state, 60))).collect();
            paper.line(&format!("  {what}: {}", names.join(", ")));
        }
    }
    if learning.open_ended {
        paper.line("  A run may end with any state.");
    }
    paper.line("");
}

fn optional(learning: &Learning, paper: &mut Paper) {
    if learning.optional.is_empty() {
        return;
    }
    paper.line(&format!("Optional states: {}", learning.optional.len()));
    for row in learning.optional.iter().take(SHOWN) {
        let name = escape::line(&cut(&row.id, 80));
        paper.line(&format!("  ○ {name}  not in {}", plain(&demotion(learning, row), escape::line)));
    }
    if learning.optional.len() > SHOWN {
        paper.line(&format!("  … and {} more; --format json lists all", learning.optional.len() - SHOWN));
    }
    paper.line("");
}

fn leave_one_out(learning: &Learning, paper: &mut Paper) {
    if learning.goldens.iter().all(|golden| golden.left_out.is_none()) {
        return;
    }
    paper.line("Each golden trace by the model of the others:");
    for golden in learning.goldens.iter().take(SHOWN) {
        left_out(golden, paper);
    }
    let alarmed = |golden: &GoldenRow| matches!(&golden.left_out, Some(Ok(alarms)) if !alarms.is_empty());
    if learning.goldens.iter().any(alarmed) {
        paper.line("    → A rule that only one trace breaks is learned from all others. Another good run like it cures that.");
    }
    paper.line("");
}

fn left_out(golden: &GoldenRow, paper: &mut Paper) {
    let name = escape::line(&cut(&golden.name, 120));
    match &golden.left_out {
        None => {}
        Some(Err(reason)) => paper.line(&format!("  ? {name}  {}", plain(reason, escape::line))),
        Some(Ok(alarms)) => {
            let verdict = golden.verdict_of_others().unwrap_or(Verdict::VerifiedSuccess);
            let (sign, style) = if alarms.is_empty() { ("✔", GREEN) } else { ("✘", YELLOW) };
            let word = if alarms.is_empty() {
                verdict.id().to_owned()
            } else {
                format!("false alarm: {}", verdict.id())
            };
            let text = format!("  {} {name}  {word}", paper.paint(style, sign));
            paper.line(&text);
            alarms.iter().take(SHOWN).for_each(|alarm| finding(alarm, paper));
        }
    }
}

fn dominators(learning: &Learning, paper: &mut Paper) {
    let lost: Vec<String> = learning.lost_by_dominators().map(|name| escape::line(&cut(name, 80))).collect();
    if !lost.is_empty() {
        paper.line(&format!("Plain dominators of the merged traces would have lost: {}", lost.join(", ")));
        paper.line("");
    }
}

fn list_changes(changes: &[Change], paper: &mut Paper) {
    if changes.is_empty() {
        paper.line("Nothing changes.");
    }
    for change in changes {
        let (sign, style) = match change.effect {
            Effect::Weaker => ("-", RED),
            Effect::Other => ("+", GREEN),
        };
        let weaker = if change.effect == Effect::Weaker { "  (weaker)" } else { "" };
        let text = format!("  {} {}{weaker}", paper.paint(style, sign), plain(&change.message, escape::line));
        paper.line(&text);
    }
}
