//! The picture of a fleet for a terminal: the tally, the worst deployments, the states.

use super::{Fleet, deployments};
use crate::conformance::StateStatus;
use crate::escape::{self, cut};
use crate::report::terminal::{BOLD, Colour, DIM, GREEN, Paper, RED, YELLOW, style};
use crate::verdict::Verdict;

/// Rows of each part that are shown.
const SHOWN: usize = 20;

/// The whole picture.
#[must_use]
pub fn render(fleet: &Fleet, colour: Colour) -> String {
    let mut paper = Paper::new(colour);
    let title = if fleet.is_verified() { GREEN } else { YELLOW };
    let line = paper.paint(title, &paper.paint(BOLD, &fleet.headline()));
    paper.line(&line);
    for doubt in fleet.doubts() {
        let line = paper.paint(YELLOW, &doubt);
        paper.line(&line);
    }
    paper.line("");
    tally(fleet, &mut paper);
    worst(fleet, &mut paper);
    lost(fleet, &mut paper);
    states(fleet, &mut paper);
    findings(fleet, &mut paper);
    damage(fleet, &mut paper);
    paper.finish()
}

/// The verdicts, worst first, and how often each was given.
fn tally(fleet: &Fleet, paper: &mut Paper) {
    paper.line(&format!("{}:", deployments(fleet.deployments())));
    for verdict in Verdict::ALL.iter().rev() {
        let count = fleet.count(*verdict);
        let text = format!("{count:>7}  {} {}", verdict.sign(), verdict.title());
        let text = if count == 0 { paper.paint(DIM, &text) } else { paper.paint(style(*verdict), &text) };
        paper.line(&text);
    }
    if fleet.plan.is_some() {
        let text = format!("{:>7}  ❔ NOT VALIDATED", fleet.lost.len());
        let text = paper.paint(if fleet.lost.is_empty() { DIM } else { RED }, &text);
        paper.line(&text);
    }
    paper.line("");
}

fn more(count: usize, what: &str, paper: &mut Paper) {
    if count > SHOWN {
        paper.line(&format!("  … and {} more {what}; --json FILE lists all", count - SHOWN));
    }
}

fn worst(fleet: &Fleet, paper: &mut Paper) {
    let count = fleet.troubled().count();
    if count == 0 {
        return;
    }
    paper.line("Worst first:");
    for row in fleet.troubled().take(SHOWN) {
        let verdict = paper.paint(style(row.verdict), &format!("{:<18}", row.verdict.id()));
        let coverage = format!("{}/{}", row.covered(), row.states.len());
        let name = escape::line(&cut(row.name(), 120));
        let claim = if row.false_success() { "  false success" } else { "" };
        paper.line(&format!("  {verdict}  {coverage:>7}  {name}{claim}"));
        let open: Vec<String> = fleet
            .not_covered(row)
            .take(5)
            .map(|(state, status)| format!("{} {}", escape::line(&cut(state, 60)), status.id()))
            .collect();
        let rest = row.states.len() - row.covered() - open.len();
        let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        if !open.is_empty() {
            let line = paper.paint(DIM, &format!("{}{rest}", open.join(", ")));
            paper.line(&format!("  {:29}{line}", ""));
        }
    }
    more(count, "deployments", paper);
    paper.line("");
}

fn lost(fleet: &Fleet, paper: &mut Paper) {
    if fleet.lost.is_empty() {
        return;
    }
    paper.line("Not validated: planned, but there is no report");
    for lost in fleet.lost.iter().take(SHOWN) {
        paper.line(&format!("  shard {}  {}", lost.shard, escape::line(&cut(&lost.folder, 120))));
    }
    more(fleet.lost.len(), "folders", paper);
    paper.line("");
}

fn states(fleet: &Fleet, paper: &mut Paper) {
    if fleet.states.is_empty() {
        return;
    }
    let shown = || fleet.states.iter().take(SHOWN);
    let name = |id: &str| escape::line(&cut(id, 60));
    let width = shown().map(|state| name(&state.id).chars().count()).max().unwrap_or(0).max(5);
    paper.line("States, the one that is not covered most often first:");
    let head = format!(
        "  {:<width$}  {:>8}  {:>7}  {:>6}  {:>4}  {:>5}  {:>12}  of",
        "state", "covered", "missing", "failed", "late", "stale", "out of order"
    );
    let head = paper.paint(DIM, &head);
    paper.line(&head);
    for state in shown() {
        let count = |status| state.count(status);
        paper.line(&format!(
            "  {:<width$}  {:>7}%  {:>7}  {:>6}  {:>4}  {:>5}  {:>12}  {}",
            name(&state.id),
            state.percent(),
            count(StateStatus::Missing),
            count(StateStatus::Failed),
            count(StateStatus::Late),
            count(StateStatus::Stale),
            count(StateStatus::OutOfOrder),
            state.deployments()
        ));
    }
    more(fleet.states.len(), "states", paper);
    paper.line("");
}

fn findings(fleet: &Fleet, paper: &mut Paper) {
    if fleet.findings.is_empty() {
        return;
    }
    paper.line("Findings, by rule:");
    for tally in &fleet.findings {
        let of = deployments(usize::try_from(tally.deployments).unwrap_or(usize::MAX));
        let class = tally.id.class().id();
        paper.line(&format!("  {class:<9}  {:<24}  {:>6} in {of}", tally.id.id(), tally.findings));
    }
    paper.line("");
}

fn damage(fleet: &Fleet, paper: &mut Paper) {
    let places = fleet.files.iter().flat_map(|file| file.damage.iter().map(move |place| (file, place)));
    let count = usize::try_from(fleet.unreadable()).unwrap_or(usize::MAX);
    if count == 0 {
        return;
    }
    paper.line("Could not be read:");
    for (file, place) in places.take(SHOWN) {
        let line = place.line.map_or(String::new(), |line| format!(":{line}"));
        let name = escape::line(&cut(&file.name, 200));
        paper.line(&format!("  {name}{line}: {}", escape::line(&place.reason)));
    }
    more(count, "places", paper);
}
