//! The report as GitHub shows it: in the job summary and in a pull-request comment.

use std::fmt::Write as _;

use super::{MomentRow, QUOTE_SHOWN, Report, diagram, words};
use crate::conformance::StateStatus;
use crate::escape::{cut, markdown, markdown_cell_code, markdown_code, percent};
use crate::health::{CheckStatus, HealthStatus};
use crate::message::{Message, Part};
use crate::verdict::{Class, FindingId, Verdict};

/// Rows of a table that are shown; a summary of a megabyte is dropped by the runner.
const ROWS_SHOWN: usize = 100;
/// Rows that are left of a table where room is short.
const ROWS_SHORT: usize = 10;

/// How a report begins.
const HEADING: &str = "## 🧪 Post-Deployment Validation\n\n";

/// What is known of the run that wrote the report. All texts may be hostile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// The commit that was deployed.
    pub commit: Option<String>,
    /// The run of the workflow, and where to see it.
    pub run: Option<(String, String)>,
    /// The verdict before this one, in Markdown.
    pub before: Option<String>,
    /// The last verdicts, a table row each, in Markdown; newest first.
    pub history: Vec<String>,
}

/// The whole report.
#[must_use]
pub fn render(report: &Report, context: &Context) -> String {
    render_within(report, context, usize::MAX)
}

/// The parts of the report.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Health,
    Verdict,
    Quote,
    Findings,
    Checkpoints,
    Provenance,
    History,
}

/// As they are read.
const SECTIONS: [Section; 7] = [
    Section::Health,
    Section::Verdict,
    Section::Quote,
    Section::Findings,
    Section::Checkpoints,
    Section::Provenance,
    Section::History,
];

/// What is shortened where room is short, worth least first. One that is named once more than it has forms is left out.
const SHORTENED: [Section; 11] = [
    Section::Checkpoints,
    Section::Checkpoints,
    Section::Findings,
    Section::Checkpoints,
    Section::Health,
    Section::Findings,
    Section::History,
    Section::Provenance,
    Section::Health,
    Section::Quote,
    Section::Verdict,
];

impl Section {
    /// Its text after it was shortened so many times; in the end nothing at all.
    fn render(self, shortened: usize, report: &Report, context: &Context) -> String {
        let mut out = String::new();
        let rows = [ROWS_SHOWN, ROWS_SHORT].get(shortened).copied();
        match (self, rows) {
            (Self::Health, Some(rows)) => health(report, rows, &mut out),
            (Self::Verdict, Some(rows)) => verdict(report, context, rows, &mut out),
            (Self::Findings, Some(rows)) => findings(report, rows, &mut out),
            (Self::Checkpoints, _) => match shortened {
                0 => checkpoints(report, true, ROWS_SHOWN, &mut out),
                1 => checkpoints(report, false, ROWS_SHOWN, &mut out),
                2 => checkpoints(report, false, ROWS_SHORT, &mut out),
                _ => {}
            },
            (Self::Quote, _) if shortened == 0 => quote(report, &mut out),
            (Self::Provenance, _) if shortened == 0 => provenance(report, context, &mut out),
            (Self::History, _) if shortened == 0 => history(context, "Coverage", &mut out),
            (Self::Health | Self::Verdict | Self::Findings, None)
            | (Self::Quote | Self::Provenance | Self::History, _) => {}
        }
        out
    }
}

/// The report in at most so many bytes, and so in at most as many UTF-16 units. What is worth least is shortened first;
/// verdict, coverage, missing states and the link to the run stay whatever happens.
#[must_use]
pub fn render_within(report: &Report, context: &Context, bytes: usize) -> String {
    let mut texts = SECTIONS.map(|section| (section, 0, section.render(0, report, context)));
    let mut steps = SHORTENED.into_iter();
    let mut cut = false;
    loop {
        let mut out = String::from(HEADING);
        texts.iter().for_each(|(_, _, text)| out.push_str(text));
        if cut {
            let _ = writeln!(out, "This was cut to fit; {}.\n", where_all_is(context));
        }
        out.push_str(match report.verdict {
            Verdict::VerifiedSuccess => "Process Integrity found nothing to hold against this deployment.\n",
            Verdict::AgentIssue | Verdict::ProcessViolation | Verdict::DeploymentFailure => {
                "Process Integrity detects; it blocks nothing.\n"
            }
        });
        if out.len() <= bytes {
            return out;
        }
        let Some(next) = steps.next() else { return out };
        for (section, shortened, text) in texts.iter_mut().filter(|(section, ..)| *section == next) {
            *shortened += 1;
            *text = section.render(*shortened, report, context);
        }
        cut = true;
    }
}

/// Where nothing is cut.
pub(super) fn where_all_is(context: &Context) -> String {
    match &context.run {
        Some((run, url)) => format!("run [{}]({}) has all of it", markdown(run), link(url)),
        None => "the job summary has all of it".to_owned(),
    }
}

/// The report as a part of something else: without its heading, and what is known of the run.
pub(super) fn body_within(report: &Report, bytes: usize) -> String {
    let text = render_within(report, &Context::default(), bytes + HEADING.len());
    text.strip_prefix(HEADING).map(str::to_owned).unwrap_or(text)
}

/// A message in Markdown, its quotations as code spans. `cell` escapes pipes as well.
pub(super) fn message(message: &Message, cell: bool) -> String {
    let parts = message.parts().iter().map(|part| match part {
        Part::Say(text) => text.clone(),
        Part::Quote(text) if cell => markdown_cell_code(&cut(text, QUOTE_SHOWN)),
        Part::Quote(text) => markdown_code(&cut(text, QUOTE_SHOWN)),
    });
    parts.collect()
}

fn health(report: &Report, rows: usize, out: &mut String) {
    out.push_str("### Resource Health\n| Resource | Status | Check |\n|----------|:------:|-------|\n");
    let mut checks: Vec<_> = report.checks.iter().collect();
    // What is wrong comes first, so that a cut never hides it. The sort is stable.
    checks.sort_by_key(|check| check.status);
    for check in checks.iter().take(rows) {
        let sign = match check.status {
            CheckStatus::Pass => "✅",
            CheckStatus::Warn => "⚠️",
            CheckStatus::Fail => "❌",
            CheckStatus::Skip => "⏭️",
            CheckStatus::Unknown => "❔",
        };
        let (resource, seen) =
            (markdown(&cut(&check.resource, 100)), markdown(&cut(&check.check, QUOTE_SHOWN)));
        let _ = writeln!(out, "| {resource} | {sign} | {seen} |");
    }
    if checks.is_empty() {
        let nothing = match report.health {
            HealthStatus::Unreadable => "the results cannot be read",
            HealthStatus::Unhealthy => "the tests failed",
            HealthStatus::Healthy | HealthStatus::NotTested => "nothing was tested",
        };
        let _ = writeln!(out, "| – | ❔ | {nothing} |");
    }
    more(checks.len(), rows, 3, out);
    out.push('\n');
}

/// The row that says how many were not shown.
pub(super) fn more(count: usize, rows: usize, columns: usize, out: &mut String) {
    if count > rows {
        let _ = writeln!(out, "| … and {} more |{}", count - rows, " |".repeat(columns - 1));
    }
}

fn verdict(report: &Report, context: &Context, rows: usize, out: &mut String) {
    let (title, coverage) = (report.verdict.title(), &report.coverage);
    let _ = writeln!(out, "### Process Integrity\n| Verdict | {} {title} |", report.verdict.sign());
    out.push_str("|---------|---------------------|\n");
    let _ = writeln!(
        out,
        "| Coverage | {}/{} essential states ({}%) |",
        coverage.covered,
        coverage.essential,
        coverage.percent()
    );
    let missing: Vec<&str> = report.missing().collect();
    if !missing.is_empty() {
        let shown: Vec<String> =
            missing.iter().take(rows).map(|state| markdown_cell_code(&cut(state, 100))).collect();
        let rest = match missing.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let _ = writeln!(out, "| Missing | {}{rest} |", shown.join(", "));
    }
    out.push('\n');
    if let Some(before) = &context.before {
        let _ = writeln!(out, "Before: {before}\n");
    }
}

fn quote(report: &Report, out: &mut String) {
    let _ = writeln!(out, "> {} **{}**", report.verdict.sign(), words::headline(report));
    if report.false_success() {
        out.push_str("> The deployment claims to have succeeded: this is a **false success**.\n");
    }
    for sentence in words::consequences(report) {
        let _ = writeln!(out, "> {}", message(&sentence, false));
    }
    for finding in report.findings.iter().filter(|finding| finding.id == FindingId::GateOverridden) {
        let _ = writeln!(out, "> 🔓 {}.", message(&finding.message, false));
    }
    if let Some(action) = words::action(report) {
        let _ = writeln!(out, ">\n> **Action required:** {}", message(&action, false));
    }
    out.push('\n');
}

/// A part that is folded away.
pub(super) fn folded(title: &str, out: &mut String, body: impl FnOnce(&mut String)) {
    let _ = writeln!(out, "<details>\n<summary>{title}</summary>\n");
    body(out);
    out.push_str("\n</details>\n\n");
}

fn findings(report: &Report, rows: usize, out: &mut String) {
    if report.findings.is_empty() {
        return;
    }
    folded(&format!("Findings ({})", report.findings.len()), out, |out| {
        out.push_str("| Class | Finding | Where | What | What to do |\n|---|---|---|---|---|\n");
        for finding in report.findings.iter().take(rows) {
            let class = match finding.id.class() {
                Class::Failure => "❌ failure",
                Class::Violation => "⚠️ violation",
                Class::Agent => "⚠️ agent",
                Class::Notice => "ℹ️ notice",
            };
            let file = finding.file.as_deref().map(|file| markdown_cell_code(&cut(file, 120)));
            let place = match (file, finding.place) {
                (Some(file), Some(place)) => format!("{file} line {}", place.line),
                (Some(file), None) => file,
                (None, _) => String::new(),
            };
            let code = finding.code.map_or(String::new(), |code| format!(" ({})", code.id()));
            let what = message(&finding.message, true);
            let _ = writeln!(
                out,
                "| {class} | {}{code} | {place} | {what} | {} |",
                finding.id.id(),
                finding.hint
            );
        }
        more(report.findings.len(), rows, 5, out);
    });
}

fn checkpoints(report: &Report, with_diagram: bool, rows: usize, out: &mut String) {
    folded("Checkpoints", out, |out| {
        out.push_str("| | Checkpoint | Status | Line | In between |\n|:-:|---|---|---:|---|\n");
        for (at, state) in report.states.iter().take(rows).enumerate() {
            let sign = match state.status {
                StateStatus::Covered => "✔",
                StateStatus::OutOfOrder => "⇅",
                StateStatus::Missing | StateStatus::Failed | StateStatus::Late | StateStatus::Stale => "✘",
            };
            let line = state.seen.map_or("–".to_owned(), |seen| seen.place.line.to_string());
            let between: Vec<String> = super::terminal::between(report, at).take(5).map(moment).collect();
            let name = markdown_cell_code(&cut(&state.id, 100));
            let _ = writeln!(
                out,
                "| {sign} | {name} | {} | {line} | {} |",
                state.status.id(),
                between.join(", ")
            );
        }
        more(report.states.len(), rows, 5, out);
        if with_diagram {
            let _ = write!(out, "\n```mermaid\n{}```\n", diagram::mermaid(report));
        }
    });
}

fn moment(moment: &MomentRow) -> String {
    let name =
        moment.state.as_deref().map_or("error".to_owned(), |state| markdown_cell_code(&cut(state, 60)));
    format!("{name} {} (line {})", moment.status.word(), moment.seen.place.line)
}

fn provenance(report: &Report, context: &Context, out: &mut String) {
    folded("What was judged, and by which model", out, |out| {
        let _ = writeln!(out, "- Deployment: {}", markdown_code(&cut(&report.deployment, 120)));
        let claim = report.claim.id();
        let _ = writeln!(out, "- Claim of the deployment: {claim}; health: {}", report.health.id());
        let path = |path: &Option<String>| {
            path.as_deref().map_or(String::new(), |p| format!(" {}", markdown_code(&cut(p, 200))))
        };
        let model = &report.model;
        let _ = writeln!(out, "- Model: {}{}, `{}`", model.source.id(), path(&model.path), model.digest);
        let digest = report.trace_digest.as_deref().map_or(String::new(), |digest| format!(", `{digest}`"));
        let format = report.format.map_or("none", crate::trace::TraceFormat::title);
        let _ = writeln!(
            out,
            "- Trace: {format}{}{digest}; {} events judged, {} lines unreadable, {} other records passed over",
            path(&report.trace),
            report.events,
            report.unreadable,
            report.passed_over
        );
        let how = super::provenance(report);
        if !how.is_empty() {
            let _ = writeln!(out, "- Format {how}");
        }
        for binding in super::words::bindings(report) {
            let _ = writeln!(out, "- Evidence: {}", message(&binding, false));
        }
        for log in report.compared.iter().take(ROWS_SHORT) {
            let file = markdown_code(&cut(&log.file, 200));
            let _ = writeln!(out, "- Compared with: {} {file}, `{}`", log.format.title(), log.digest);
        }
        run_rows(context, out);
    });
}

/// The commit and the run, by themselves.
pub(super) fn run(context: &Context, out: &mut String) {
    let before = out.len();
    run_rows(context, out);
    if out.len() > before {
        out.push('\n');
    }
}

fn run_rows(context: &Context, out: &mut String) {
    if let Some(commit) = &context.commit {
        let _ = writeln!(out, "- Commit: {}", markdown_code(&cut(commit, 64)));
    }
    if let Some((run, url)) = &context.run {
        let _ = writeln!(out, "- Run: [{}]({})", markdown(&cut(run, 40)), link(url));
    }
}

/// The last verdicts, where the sink keeps them; `share` is what their numbers count.
pub(super) fn history(context: &Context, share: &str, out: &mut String) {
    if context.history.is_empty() {
        return;
    }
    folded(&format!("Last verdicts ({})", context.history.len()), out, |out| {
        let _ = writeln!(out, "| Verdict | {share} | Run | Time |\n|---|---:|---|---|");
        context.history.iter().for_each(|row| out.push_str(row));
    });
}

/// The target of a link. The URL is made of the environment's parts; what has no place in one is percent-encoded.
pub(crate) fn link(url: &str) -> String {
    percent(url, |byte| byte.is_ascii_alphanumeric() || b"-._~:/?#@!$&'*+,;=%".contains(&byte))
}
