//! The picture of a fleet as one page for a browser: nothing is loaded, and it can be read without its script, which only
//! sorts and filters. Its policy lets no other style or script run, whatever a report may hold.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::{Fleet, StateTally, percent};
use crate::conformance::StateStatus;
use crate::escape::{cut, html};
use crate::verdict::{Class, Verdict};

mod rows;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// Rows of each part that are listed; a browser gets slow of many more. The worst come first, and what is left out is told.
const ROWS: usize = 10_000;

/// How often a rule, a state or a verdict was seen, and of how many.
struct Share {
    count: usize,
    of: usize,
}

/// The whole page.
#[must_use]
pub fn render(fleet: &Fleet) -> String {
    let style = style();
    let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    let _ = writeln!(
        out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; script-src '{}'; \
         base-uri 'none'; form-action 'none'\">",
        hash(&style),
        hash(SCRIPT)
    );
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n");
    out.push_str("<meta name=\"referrer\" content=\"no-referrer\">\n");
    let _ = writeln!(out, "<title>{} – Process Integrity</title>", fleet.headline().trim_end_matches('.'));
    let _ = writeln!(out, "<style>{style}</style>\n<script>{SCRIPT}</script>\n</head>\n<body>");
    head(fleet, &mut out);
    out.push_str("<main>\n");
    tally(fleet, &mut out);
    states(fleet, &mut out);
    rows::deployments(fleet, &mut out);
    lost(fleet, &mut out);
    findings(fleet, &mut out);
    damage(fleet, &mut out);
    out.push_str("</main>\n<footer><p>");
    out.push_str(if fleet.is_verified() {
        "Process Integrity found nothing to hold against these deployments."
    } else {
        "Process Integrity detects; it blocks nothing."
    });
    out.push_str("</p></footer>\n</body>\n</html>\n");
    out
}

/// The style, with a class for every width: an attribute could not be told from one that a report brought in.
fn style() -> String {
    let mut style = STYLE.to_owned();
    for width in 0..=100 {
        let _ = writeln!(style, ".w{width}{{width:{width}%}}");
    }
    style
}

/// The source expression that lets exactly this text run (Content Security Policy Level 3, section 2.3.1).
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

fn head(fleet: &Fleet, out: &mut String) {
    let _ = writeln!(
        out,
        "<header>\n<p class=\"brand\">Process Integrity</p>\n<h1>{}</h1>",
        html(&fleet.headline())
    );
    if let Some((shards, folders)) = fleet.plan {
        let shards = counted(shards, "shard", "shards");
        let folders = counted(folders, "folder", "folders");
        let _ = writeln!(out, "<p>The plan has {folders} in {shards}.</p>");
    }
    let doubts = fleet.doubts();
    if !doubts.is_empty() {
        out.push_str("<ul class=\"doubts\">\n");
        for doubt in doubts {
            let _ = writeln!(out, "<li>{}</li>", html(&doubt));
        }
        out.push_str("</ul>\n");
    }
    contents(fleet, out);
    out.push_str("</header>\n");
}

/// Where things are on the page.
fn contents(fleet: &Fleet, out: &mut String) {
    out.push_str("<nav aria-label=\"On this page\"><ul>\n");
    let unreadable = usize::try_from(fleet.unreadable()).unwrap_or(usize::MAX);
    for (id, title, count) in [
        ("deployments", "Deployments", Some(fleet.rows.len())),
        ("states", "Coverage by state", (!fleet.states.is_empty()).then_some(fleet.states.len())),
        ("lost", "Not validated", Some(fleet.lost.len()).filter(|count| *count > 0)),
        ("findings", "Findings by rule", Some(fleet.findings.len()).filter(|count| *count > 0)),
        ("damage", "Could not be read", Some(unreadable).filter(|count| *count > 0)),
    ] {
        if let Some(count) = count {
            let _ = writeln!(out, "<li><a href=\"#{id}\">{title} ({})</a></li>", number(count));
        }
    }
    out.push_str("</ul></nav>\n");
}

/// A number and what it counts.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

/// A number with commas between thousands.
fn number(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The class of what has a verdict, and a sign that a font without colours has.
fn look(verdict: Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::DeploymentFailure => ("f", "✘"),
        Verdict::ProcessViolation => ("p", "!"),
        Verdict::AgentIssue => ("a", "!"),
        Verdict::VerifiedSuccess => ("v", "✔"),
    }
}

/// A piece of a bar. What is there at all can be seen; what is good takes the room that is left.
fn piece(class: &str, share: &Share, out: &mut String) {
    if share.count > 0 {
        let width = match class {
            "v" | "ok" => "grow".to_owned(),
            _ => format!("w{}", percent(share.count as u64, share.of as u64).max(1)),
        };
        let _ = write!(out, "<i class=\"{class} {width}\"></i>");
    }
}

fn tally(fleet: &Fleet, out: &mut String) {
    let of = fleet.deployments();
    let mut parts: Vec<(&str, &str, &str, usize)> = Vec::new();
    for verdict in Verdict::ALL.into_iter().rev() {
        let (class, sign) = look(verdict);
        parts.push((class, sign, verdict.title(), fleet.count(verdict)));
    }
    if fleet.plan.is_some() {
        parts.insert(3, ("n", "?", "NOT VALIDATED", fleet.lost.len()));
    }
    out.push_str("<section aria-labelledby=\"verdicts\">\n<h2 id=\"verdicts\">Verdicts</h2>\n<div class=\"bar large\" aria-hidden=\"true\">");
    for (class, _, _, count) in &parts {
        piece(class, &Share { count: *count, of }, out);
    }
    out.push_str("</div>\n<ul class=\"tiles\">\n");
    for (class, sign, title, count) in &parts {
        let share = percent(*count as u64, of as u64);
        let none = if *count == 0 { " none" } else { "" };
        let _ = writeln!(
            out,
            "<li class=\"{class}{none}\"><strong>{}</strong> <small>{share}%</small> <span class=\"b\">{sign} {title}</span></li>",
            number(*count)
        );
    }
    let false_successes = fleet.false_successes();
    let none = if false_successes == 0 { " none" } else { "" };
    let _ = writeln!(
        out,
        "<li class=\"x{none}\"><strong>{}</strong> <span class=\"b\">FALSE SUCCESSES</span> <small>claimed to have \
         succeeded, and are not verified</small></li>\n</ul>\n</section>",
        number(false_successes)
    );
}

/// The statuses of a state as its bar shows them: class, sign, heading.
fn part(status: StateStatus) -> (&'static str, &'static str, &'static str) {
    match status {
        StateStatus::Covered => ("ok", "✔", "Covered"),
        StateStatus::OutOfOrder => ("oo", "⇅", "Out of order"),
        StateStatus::Stale => ("st", "↻", "Stale"),
        StateStatus::Late => ("la", "›", "Late"),
        StateStatus::Failed => ("fa", "!", "Failed"),
        StateStatus::Missing => ("mi", "✘", "Missing"),
    }
}

/// The statuses that are not covered, gravest first.
const OPEN: [StateStatus; 5] = [
    StateStatus::Missing,
    StateStatus::Failed,
    StateStatus::Late,
    StateStatus::Stale,
    StateStatus::OutOfOrder,
];

fn states(fleet: &Fleet, out: &mut String) {
    if fleet.states.is_empty() {
        return;
    }
    out.push_str("<section aria-labelledby=\"states\">\n<h2 id=\"states\">Coverage by state</h2>\n<table class=\"states\">\n");
    out.push_str("<caption>The state that is not covered most often comes first.</caption>\n<thead><tr><th scope=\"col\">State</th><th scope=\"col\">Covered</th>");
    for status in OPEN {
        let _ = write!(out, "<th scope=\"col\">{}</th>", part(status).2);
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for state in fleet.states.iter().take(ROWS) {
        one_state(state, out);
    }
    out.push_str("</tbody>\n</table>\n");
    left_out(fleet.states.len(), out);
    out.push_str("</section>\n");
}

fn one_state(state: &StateTally, out: &mut String) {
    let of = usize::try_from(state.deployments()).unwrap_or(usize::MAX);
    let count = |status| usize::try_from(state.count(status)).unwrap_or(usize::MAX);
    let _ = write!(
        out,
        "<tr><th scope=\"row\">{}</th><td><span class=\"bar\" aria-hidden=\"true\">",
        html(&state.id)
    );
    piece("ok", &Share { count: count(StateStatus::Covered), of }, out);
    for status in OPEN.into_iter().rev() {
        piece(part(status).0, &Share { count: count(status), of }, out);
    }
    let covered = number(count(StateStatus::Covered));
    let _ = write!(out, "</span> {covered}/{} ({}%)</td>", number(of), state.percent());
    for status in OPEN {
        match count(status) {
            0 => out.push_str("<td class=\"z\">0</td>"),
            many => {
                let _ = write!(out, "<td>{}</td>", number(many));
            }
        }
    }
    out.push_str("</tr>\n");
}

/// What is said where a list was cut.
fn left_out(count: usize, out: &mut String) {
    if count > ROWS {
        let _ = writeln!(
            out,
            "<p>These are the first {} of {}; <code>--json FILE</code> lists all.</p>",
            number(ROWS),
            number(count)
        );
    }
}

fn lost(fleet: &Fleet, out: &mut String) {
    if fleet.lost.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<section aria-labelledby=\"lost\">\n<h2 id=\"lost\">Not validated ({})</h2>\n<table class=\"lost\">\n<caption>Planned, but \
         there is no report: the shard was lost, or it did not come to its end.</caption>\n<thead><tr><th \
         scope=\"col\">Shard</th><th scope=\"col\">Folder</th></tr></thead>\n<tbody>",
        number(fleet.lost.len())
    );
    for lost in fleet.lost.iter().take(ROWS) {
        let folder = html(&cut(&lost.folder, 300));
        let _ = writeln!(out, "<tr><td>{}</td><th scope=\"row\">{folder}</th></tr>", lost.shard);
    }
    out.push_str("</tbody>\n</table>\n");
    left_out(fleet.lost.len(), out);
    out.push_str("</section>\n");
}

fn findings(fleet: &Fleet, out: &mut String) {
    if fleet.findings.is_empty() {
        return;
    }
    out.push_str("<section aria-labelledby=\"findings\">\n<h2 id=\"findings\">Findings by rule</h2>\n<table class=\"findings\">\n");
    out.push_str("<caption>Worst class first. A notice never changes a verdict.</caption>\n<thead><tr><th scope=\"col\">Class</th><th scope=\"col\">Rule</th>");
    out.push_str("<th scope=\"col\">Deployments</th><th scope=\"col\">Findings</th></tr></thead>\n<tbody>\n");
    for tally in &fleet.findings {
        let class = match tally.id.class() {
            Class::Failure => "f",
            Class::Violation => "p",
            Class::Agent => "a",
            Class::Notice => "n",
        };
        let (word, id) = (tally.id.class().id(), tally.id.id());
        let _ = writeln!(
            out,
            "<tr class=\"{class}\"><td><span class=\"b\">{word}</span></td><th scope=\"row\">{id}</th><td>{}</td><td>{}</td></tr>",
            tally.deployments, tally.findings
        );
    }
    out.push_str("</tbody>\n</table>\n</section>\n");
}

fn damage(fleet: &Fleet, out: &mut String) {
    let count = usize::try_from(fleet.unreadable()).unwrap_or(usize::MAX);
    if count == 0 {
        return;
    }
    let _ = writeln!(
        out,
        "<section aria-labelledby=\"damage\">\n<h2 id=\"damage\">Could not be read ({})</h2>\n<table \
         class=\"damage\">\n<caption>Each of these places may hide deployments.</caption>\n<thead><tr><th scope=\"col\">File</th><th \
         scope=\"col\">Line</th><th scope=\"col\">Reason</th></tr></thead>\n<tbody>",
        number(count)
    );
    let places = fleet.files.iter().flat_map(|file| file.damage.iter().map(move |place| (file, place)));
    let mut shown = 0;
    for (file, place) in places.take(ROWS) {
        let line = place.line.map_or("–".to_owned(), |line| line.to_string());
        let (name, reason) = (html(&cut(&file.name, 300)), html(&place.reason));
        let _ = writeln!(out, "<tr><th scope=\"row\">{name}</th><td>{line}</td><td>{reason}</td></tr>");
        shown += 1;
    }
    out.push_str("</tbody>\n</table>\n");
    if count > shown {
        let _ = writeln!(out, "<p>These are the first {} of {}.</p>", number(shown), number(count));
    }
    out.push_str("</section>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_can_be_read() {
        for (count, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(number(count), text);
        }
    }

    #[test]
    fn the_hash_is_the_one_of_the_policy() {
        // The example of Content Security Policy Level 3.
        assert_eq!(hash("alert('Hello, world.');"), "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
    }

    #[test]
    fn nothing_ends_the_style_or_the_script() {
        assert!(!STYLE.contains('<') && !SCRIPT.contains("</"));
        assert!(!STYLE.contains('\r') && !SCRIPT.contains('\r'));
    }
}
