//! What a step tells GitHub: the report on its deployment, or those on several deployments as one.

use std::cmp::Reverse;
use std::fmt::Write as _;

use super::Report;
use super::markdown::{self, Context, folded, more};
use crate::escape::{cut, html, markdown_cell_code};
use crate::evidence::Claim;
use crate::verdict::{Class, Verdict};

/// Deployments in the table, from all that is read down to what is left where room is short.
const ROWS: [usize; 6] = [1000, 300, 100, 30, 10, 3];
/// Missing states that a row names.
const MISSING_SHOWN: usize = 3;
/// A report that is folded away gets so many bytes at most, so that the worst one leaves room for others.
const FOLDED: usize = 16_000;
/// Room for the sentence that says what was left out.
const NOTE: usize = 400;

/// What is told.
#[derive(Debug, Clone)]
pub enum Told<'a> {
    /// The report on one deployment.
    One(&'a Report),
    /// Those on several, worst first; of equal ones in their order.
    Several(Vec<&'a Report>),
}

impl<'a> Told<'a> {
    /// Of the reports of a step. `None` where there are none.
    #[must_use]
    pub fn of(reports: &'a [Report]) -> Option<Self> {
        match reports {
            [] => None,
            [one] => Some(Self::One(one)),
            several => {
                let mut sorted: Vec<&Report> = several.iter().collect();
                sorted.sort_by_key(|report| Reverse(report.verdict));
                Some(Self::Several(sorted))
            }
        }
    }

    /// The verdict; of several the worst.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::One(report) => report.verdict,
            Self::Several(sorted) => sorted.first().map_or(Verdict::VerifiedSuccess, |report| report.verdict),
        }
    }

    /// How much of it is as it should be: covered states, or verified deployments.
    #[must_use]
    pub fn share(&self) -> (usize, usize) {
        match self {
            Self::One(report) => (report.coverage.covered, report.coverage.essential),
            Self::Several(sorted) => (verified(sorted), sorted.len()),
        }
    }

    /// What is not as it should be, a line each, in an order that does not depend on that of the reports: when this is the same,
    /// nothing worth telling has changed.
    #[must_use]
    pub fn troubles(&self) -> Vec<String> {
        let of = |report: &Report| -> Vec<String> {
            let serious = report.findings.iter().filter(|finding| finding.id.class() != Class::Notice);
            let mut words: Vec<String> = serious
                .map(|finding| {
                    format!("{} {}", finding.id.id(), finding.state.as_deref().unwrap_or_default())
                })
                .collect();
            words.sort();
            words.dedup();
            words
        };
        match self {
            Self::One(report) => of(report),
            Self::Several(sorted) => {
                let mut lines: Vec<String> = sorted
                    .iter()
                    .filter(|report| report.verdict != Verdict::VerifiedSuccess)
                    .map(|report| {
                        let name = report.folder.as_deref().unwrap_or(&report.deployment);
                        format!("{name:?} {} {}", report.verdict.id(), of(report).join(", "))
                    })
                    .collect();
                lines.sort();
                lines
            }
        }
    }

    /// The comment in at most so many bytes, and so in at most as many UTF-16 units.
    #[must_use]
    pub fn render_within(&self, context: &Context, bytes: usize) -> String {
        match self {
            Self::One(report) => markdown::render_within(report, context, bytes),
            Self::Several(sorted) => several(sorted, context, bytes),
        }
    }
}

fn verified(reports: &[&Report]) -> usize {
    reports.iter().filter(|report| report.verdict == Verdict::VerifiedSuccess).count()
}

/// The tally and the table stay; reports that are folded away go first, the least bad of them before the others.
fn several(sorted: &[&Report], context: &Context, bytes: usize) -> String {
    let foot = foot(sorted, context);
    let heads = ROWS.iter().map(|rows| overview(sorted, context.before.as_deref(), *rows));
    let fits = |head: &String| head.len() + foot.len() + NOTE <= bytes;
    let mut last = None;
    let mut out = heads.inspect(|head| last = Some(head.clone())).find(fits).or(last).unwrap_or_default();
    let mut left = bytes.saturating_sub(out.len() + foot.len() + NOTE);
    let troubled = sorted.iter().filter(|report| report.verdict != Verdict::VerifiedSuccess);
    let mut hidden = 0;
    for report in troubled {
        let one = whole(report, left.min(FOLDED));
        // Once one does not fit, those that are less bad do not go before it.
        if hidden > 0 || one.len() > left {
            hidden += 1;
            continue;
        }
        left -= one.len();
        out.push_str(&one);
    }
    if hidden > 0 {
        let were = if hidden == 1 { "1 report is".to_owned() } else { format!("{hidden} reports are") };
        let _ = writeln!(out, "{were} not shown here; {}.\n", markdown::where_all_is(context));
    }
    out.push_str(&foot);
    out
}

/// The tally, and a row for each deployment, worst first.
#[must_use]
pub fn overview(sorted: &[&Report], before: Option<&str>, rows: usize) -> String {
    let mut out = String::from("## 🧪 Post-Deployment Validation\n\n");
    let verdict = sorted.first().map_or(Verdict::VerifiedSuccess, |report| report.verdict);
    let _ = write!(out, "{} **{} of {} deployments verified", verdict.sign(), verified(sorted), sorted.len());
    match sorted.iter().filter(|report| report.false_success()).count() {
        0 => out.push_str(".**\n\n"),
        1 => out.push_str("; 1 is a false success.**\n\n"),
        many => {
            let _ = writeln!(out, "; {many} are false successes.**\n");
        }
    }
    if let Some(before) = before {
        let _ = writeln!(out, "Before: {before}\n");
    }
    out.push_str(
        "| Deployment | Verdict | Coverage | Missing | Health | Claim |\n|---|---|---:|---|---|---|\n",
    );
    for report in sorted.iter().take(rows) {
        let missing: Vec<&str> = report.missing().collect();
        let shown = missing.iter().take(MISSING_SHOWN);
        let mut states: Vec<String> = shown.map(|state| markdown_cell_code(&cut(state, 60))).collect();
        if missing.len() > states.len() {
            states.push(format!("… and {} more", missing.len() - states.len()));
        }
        let claim = match report.claim {
            Claim::Succeeded if report.false_success() => "**false success**",
            Claim::Succeeded | Claim::Failed | Claim::Unknown => report.claim.id(),
        };
        let _ = writeln!(
            out,
            "| {} | {} {} | {}/{} | {} | {} | {claim} |",
            markdown_cell_code(&cut(name(report), 80)),
            report.verdict.sign(),
            report.verdict.title(),
            report.coverage.covered,
            report.coverage.essential,
            states.join(", "),
            report.health.id(),
        );
    }
    more(sorted.len(), rows, 6, &mut out);
    out.push('\n');
    out
}

/// A deployment is known by its id; where ids need not differ, such as of copies, its folder says more.
fn name(report: &Report) -> &str {
    let folder = report.folder.as_deref().map(|folder| folder.trim_end_matches('/'));
    match folder {
        Some(folder) if folder.rsplit('/').next() != Some(report.deployment.as_str()) => folder,
        Some(_) | None => &report.deployment,
    }
}

/// The whole report on one deployment, folded away.
fn whole(report: &Report, bytes: usize) -> String {
    let mut out = String::new();
    let title = format!(
        "{} {} <code>{}</code>",
        report.verdict.sign(),
        report.verdict.title(),
        html(&cut(name(report), 80))
    );
    // What surrounds the report.
    let room = bytes.saturating_sub(title.len() + 100);
    folded(&title, &mut out, |out| out.push_str(&markdown::body_within(report, room)));
    out
}

fn foot(sorted: &[&Report], context: &Context) -> String {
    let mut out = String::new();
    markdown::history(context, "Verified", &mut out);
    markdown::run(context, &mut out);
    out.push_str(if verified(sorted) == sorted.len() {
        "Process Integrity found nothing to hold against these deployments.\n"
    } else {
        "Process Integrity detects; it blocks nothing.\n"
    });
    out
}
