//! The report for a terminal: the verdict, the checkpoints as a picture, the findings.

use super::{MomentRow, Report, plain, words};
use crate::conformance::StateStatus;
use crate::escape::{self, cut};
use crate::health::CheckStatus;
use crate::trace::Status;
use crate::verdict::{Class, Verdict};

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// On a terminal.
    On,
    /// Everywhere else.
    Off,
}

/// Characters of the longest id of a verdict.
const LONGEST_ID: usize = 18;
/// Findings and checks that are shown in full.
const SHOWN: usize = 30;

pub(super) const GREEN: &str = "\u{1b}[32m";
pub(super) const YELLOW: &str = "\u{1b}[33m";
pub(super) const RED: &str = "\u{1b}[31m";
pub(super) const DIM: &str = "\u{1b}[2m";
pub(super) const BOLD: &str = "\u{1b}[1m";

/// What is printed, line by line.
pub(super) struct Paper {
    out: String,
    colour: Colour,
}

impl Paper {
    pub(super) fn new(colour: Colour) -> Self {
        Self { out: String::new(), colour }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    pub(super) fn paint(&self, style: &str, text: &str) -> String {
        match self.colour {
            Colour::On => format!("{style}{text}\u{1b}[0m"),
            Colour::Off => text.to_owned(),
        }
    }

    pub(super) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }
}

/// The whole report.
#[must_use]
pub fn render(report: &Report, colour: Colour) -> String {
    let mut paper = Paper::new(colour);
    head(report, &mut paper);
    health(report, &mut paper);
    picture(report, &mut paper);
    findings(report, &mut paper);
    foot(report, &mut paper);
    paper.finish()
}

/// How good or bad a verdict is, as a colour.
pub(super) fn style(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::VerifiedSuccess => GREEN,
        Verdict::AgentIssue | Verdict::ProcessViolation => YELLOW,
        Verdict::DeploymentFailure => RED,
    }
}

fn head(report: &Report, paper: &mut Paper) {
    let title = format!("{} {}", report.verdict.sign(), report.verdict.title());
    let title = paper.paint(style(report.verdict), &paper.paint(BOLD, &title));
    paper.line(&format!("{title}  {}", escape::line(&cut(&report.deployment, 120))));
    paper.line(&format!("   {}", words::headline(report)));
    if report.false_success() {
        paper.line("   This is a false success: the deployment claims to have succeeded.");
    }
    paper.line("");
}

fn health(report: &Report, paper: &mut Paper) {
    paper.line(&format!("Health: {}", report.health.id()));
    let mut checks: Vec<_> = report.checks.iter().collect();
    checks.sort_by_key(|check| check.status);
    for check in checks.iter().take(SHOWN) {
        let sign = match check.status {
            CheckStatus::Pass => paper.paint(GREEN, "✔"),
            CheckStatus::Warn => paper.paint(YELLOW, "!"),
            CheckStatus::Fail => paper.paint(RED, "✘"),
            CheckStatus::Skip => "-".to_owned(),
            CheckStatus::Unknown => paper.paint(YELLOW, "?"),
        };
        let (resource, seen) =
            (escape::line(&cut(&check.resource, 80)), escape::line(&cut(&check.check, 120)));
        paper.line(&format!("  {sign} {resource}  {seen}"));
    }
    if checks.len() > SHOWN {
        paper.line(&format!("  … and {} more checks", checks.len() - SHOWN));
    }
    paper.line("");
}

/// What happened between a checkpoint's own event and the next checkpoint's: other attempts and errors.
pub(super) fn between(report: &Report, state: usize) -> impl Iterator<Item = &MomentRow> {
    let own: Vec<u64> = report.states.iter().filter_map(|state| state.seen).map(|seen| seen.index).collect();
    let here = report.states.get(state).and_then(|state| state.seen).map(|seen| seen.index);
    let end = own.iter().copied().filter(|index| Some(*index) > here).min().unwrap_or(u64::MAX);
    let inside = move |moment: &&MomentRow| {
        let index = moment.seen.index;
        // A start says nothing that the end does not say.
        here.is_some_and(|here| index > here && index < end) && moment.status != Status::Started
    };
    report.moments.iter().filter(inside)
}

fn picture(report: &Report, paper: &mut Paper) {
    let coverage = &report.coverage;
    paper.line(&format!(
        "Checkpoints: {}/{} essential states ({}%)",
        coverage.covered,
        coverage.essential,
        coverage.percent()
    ));
    let width = report.states.iter().map(|state| state.id.chars().count()).max().unwrap_or(0).clamp(10, 40);
    for (at, state) in report.states.iter().enumerate() {
        let (sign, colour) = match state.status {
            StateStatus::Covered => ("✔", GREEN),
            StateStatus::OutOfOrder => ("⇅", YELLOW),
            StateStatus::Missing | StateStatus::Failed | StateStatus::Late | StateStatus::Stale => ("✘", RED),
        };
        let place = state.seen.map_or(String::new(), |seen| format!("line {}", seen.place.line));
        let covered = state.status == StateStatus::Covered;
        let word = if covered { String::new() } else { paper.paint(colour, state.status.id()) };
        let name = escape::line(&cut(&state.id, 80));
        let pad = " ".repeat(width.saturating_sub(state.id.chars().count()));
        paper.line(&format!("  {} {name}{pad}  {place:<9} {word}", paper.paint(colour, sign)));
        let inside: Vec<&MomentRow> = between(report, at).collect();
        for moment in inside.iter().take(5) {
            let text = moment_line(moment);
            let text = paper.paint(DIM, &text);
            paper.line(&format!("  │   {text}"));
        }
        if inside.len() > 5 {
            paper.line(&format!("  │   … and {} more", inside.len() - 5));
        }
    }
    paper.line("");
}

fn moment_line(moment: &MomentRow) -> String {
    let name = moment.state.as_deref().unwrap_or("error");
    let message = moment.message.as_deref().map_or(String::new(), |text| format!(": {}", cut(text, 100)));
    let sign = match moment.status {
        Status::Completed => "·",
        Status::Started | Status::Skipped | Status::Unknown => "○",
        Status::Failed | Status::Error => "✘",
    };
    let text =
        format!("{} {} (line {}){message}", cut(name, 60), moment.status.word(), moment.seen.place.line);
    format!("{sign} {}", escape::line(&text))
}

fn findings(report: &Report, paper: &mut Paper) {
    if report.findings.is_empty() {
        return;
    }
    paper.line(&format!("Findings: {}", report.findings.len()));
    for finding in report.findings.iter().take(SHOWN) {
        let class = match finding.id.class() {
            Class::Failure => paper.paint(RED, "failure"),
            Class::Violation => paper.paint(YELLOW, "violation"),
            Class::Agent => paper.paint(YELLOW, "agent"),
            Class::Notice => paper.paint(DIM, "notice"),
        };
        let code = finding.code.map_or(String::new(), |code| format!(" [{}]", code.id()));
        let what = plain(&finding.message, escape::line);
        paper.line(&format!("  {class} {}{code}: {what}", finding.id.id()));
        let file = finding.file.as_deref().map(|file| escape::line(&cut(file, 200)));
        if let Some(file) = file {
            let line = finding.place.map_or(String::new(), |place| format!(":{}", place.line));
            paper.line(&format!("    in {file}{line}"));
        }
        if finding.id.class() != Class::Notice {
            paper.line(&format!("    → {}", finding.hint));
        }
    }
    if report.findings.len() > SHOWN {
        paper.line(&format!("  … and {} more; --format json lists all", report.findings.len() - SHOWN));
    }
    paper.line("");
}

fn foot(report: &Report, paper: &mut Paper) {
    let path = |path: &Option<String>| {
        path.as_deref().map_or(String::new(), |p| format!(" {}", escape::line(&cut(p, 200))))
    };
    let model = format!("Model: {}{}", report.model.source.id(), path(&report.model.path));
    paper.line(&paper.paint(DIM, &model));
    let format = report.format.map_or("none", crate::trace::TraceFormat::title);
    let over = match report.passed_over {
        0 => String::new(),
        records => format!(", {records} other records passed over"),
    };
    let trace = format!("Trace: {format}{}; {} events judged{over}", path(&report.trace), report.events);
    paper.line(&paper.paint(DIM, &trace));
    let provenance = super::provenance(report);
    if !provenance.is_empty() {
        paper.line(&paper.paint(DIM, &format!("       {provenance}")));
    }
    for binding in super::words::bindings(report) {
        paper.line(&paper.paint(DIM, &format!("Evidence: {}", super::plain(&binding, escape::line))));
    }
    for log in report.compared.iter().take(SHOWN) {
        let file = escape::line(&cut(&log.file, 200));
        paper.line(&paper.paint(DIM, &format!("Compared with: {} {file}", log.format.title())));
    }
}

/// One line on a deployment, for where there are many.
#[must_use]
pub fn brief(report: &Report, colour: Colour) -> String {
    let mut paper = Paper::new(colour);
    let verdict = format!("{} {}", report.verdict.sign(), report.verdict.id());
    let pad = " ".repeat(LONGEST_ID.saturating_sub(report.verdict.id().len()));
    let verdict = paper.paint(style(report.verdict), &verdict);
    let name = report.folder.as_deref().unwrap_or(&report.deployment);
    let coverage = format!("{}/{}", report.coverage.covered, report.coverage.essential);
    let missing: Vec<String> = report.missing().map(|state| escape::line(&cut(state, 80))).collect();
    let missing = match missing.len() {
        0 => String::new(),
        count if count > SHOWN => format!("  missing {count} states"),
        _ => format!("  missing {}", missing.join(", ")),
    };
    let lie = if report.false_success() { "  false success" } else { "" };
    paper.line(&format!("{verdict}{pad}  {coverage}  {}{missing}{lie}", escape::line(&cut(name, 200))));
    paper.finish()
}

/// The closing line over several deployments.
#[must_use]
pub fn tally(verdicts: &[Verdict]) -> String {
    let counts = Verdict::ALL.iter().rev().map(|verdict| {
        let count = verdicts.iter().filter(|other| *other == verdict).count();
        format!("{count} {}", verdict.id())
    });
    let counts: Vec<String> = counts.collect();
    format!("{} deployments: {}\n", verdicts.len(), counts.join(", "))
}
