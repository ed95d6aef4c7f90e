//! The table of deployments: what the page is about.

use std::fmt::Write as _;

use super::{ROWS, look, number, part};
use crate::conformance::StateStatus;
use crate::escape::{cut, html};
use crate::report::fleet::row::Row;
use crate::report::fleet::{Fleet, Planned};
use crate::verdict::{Class, Verdict};

/// Cells of a strip, and states of a list, that are shown of one deployment.
const STATES_SHOWN: usize = 24;

/// Rows that the script shows at a time: see `page.js`.
const PAGE: usize = 200;

/// Headings of the columns.
const COLUMNS: [&str; 7] =
    ["Verdict", "Deployment", "Coverage", "Not covered", "Health", "Claim", "Findings"];

pub(super) fn deployments(fleet: &Fleet, out: &mut String) {
    out.push_str("<section aria-labelledby=\"deployments\">\n<h2 id=\"deployments\" tabindex=\"-1\">Deployments</h2>\n");
    if fleet.rows.is_empty() {
        out.push_str("<p>There is no report.</p>\n</section>\n");
        return;
    }
    controls(fleet, out);
    out.push_str("<table class=\"rows\" id=\"rows\">\n<caption>Worst first.");
    if fleet.rows.len() > ROWS {
        let (shown, all) = (number(ROWS), number(fleet.rows.len()));
        let _ = write!(out, " These are the worst {shown} of {all}; <code>--json FILE</code> lists all.");
    }
    out.push_str(" Checkpoints in the order of the model: ");
    let legend = StateStatus::ALL.map(|status| {
        let (class, sign, word) = part(status);
        format!(
            "<span class=\"key\"><i class=\"{class}\" aria-hidden=\"true\">{sign}</i> {}</span>",
            word.to_lowercase()
        )
    });
    let _ = writeln!(out, "{}</caption>\n<thead><tr>", legend.join(" "));
    for column in COLUMNS {
        let _ = writeln!(out, "<th scope=\"col\">{column}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (at, row) in fleet.rows.iter().take(ROWS).enumerate() {
        if at == PAGE {
            out.push_str("</tbody>\n<tbody class=\"rest\">\n");
        }
        one(fleet, row, out);
    }
    out.push_str("</tbody>\n</table>\n");
    out.push_str("<p class=\"more\" id=\"more\" hidden><button type=\"button\" id=\"next\">Show 200 more</button> <button type=\"button\" id=\"all\">Show all</button></p>\n</section>\n");
}

/// What the script needs; hidden until it runs.
fn controls(fleet: &Fleet, out: &mut String) {
    out.push_str("<form id=\"filter\" role=\"search\" aria-label=\"Deployments\" hidden>\n");
    out.push_str("<p><label for=\"words\">Search</label> <input id=\"words\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\" placeholder=\"name, state or rule\"></p>\n");
    out.push_str(
        "<p><label for=\"verdict\">Verdict</label> <select id=\"verdict\"><option value=\"\">All</option>",
    );
    for verdict in Verdict::ALL.into_iter().rev() {
        let (class, title) = (look(verdict).0, verdict.title());
        let _ = write!(out, "<option value=\"{class}\">{title} ({})</option>", number(fleet.count(verdict)));
    }
    out.push_str("</select></p>\n<p class=\"check\"><input id=\"false\" type=\"checkbox\"> <label for=\"false\">False successes only</label></p>\n</form>\n");
    out.push_str("<p id=\"count\" role=\"status\" aria-live=\"polite\"></p>\n");
}

fn one(fleet: &Fleet, row: &Row, out: &mut String) {
    let (class, sign) = look(row.verdict);
    let _ = write!(out, "<tr class=\"{class}\"><td><span class=\"b\">{sign} {}</span>", row.verdict.title());
    if row.false_success() {
        out.push_str("<span class=\"b x\">FALSE SUCCESS</span>");
    }
    out.push_str("</td><th scope=\"row\">");
    name(row, out);
    if let Some(id) = row.other_id() {
        let _ = write!(out, "<small>{}</small>", html(id));
    }
    if row.planned == Planned::Unplanned {
        out.push_str("<small>not in the plan</small>");
    }
    if !row.others.is_empty() {
        let _ = write!(out, "<small>the worst of {} reports that differ</small>", row.others.len() + 1);
    }
    out.push_str("</th><td>");
    strip(fleet, row, out);
    let _ = write!(out, "<span>{}/{} ({}%)</span></td><td>", row.covered(), row.states.len(), row.percent());
    let mut shown = 0;
    for (state, status) in fleet.not_covered(row).take(STATES_SHOWN) {
        let _ = write!(out, "<span class=\"o\">{} <em>{}</em></span>", html(state), status.id());
        shown += 1;
    }
    let rest = row.states.len() - row.covered() - shown;
    if rest > 0 {
        let _ = write!(out, "<span class=\"o\">and {rest} more</span>");
    }
    let _ = write!(out, "</td><td>{}</td><td>{}</td><td>", row.health.id(), row.claim.id());
    let grave = row.findings.iter().filter(|(id, _)| id.class() != Class::Notice);
    for (id, count) in grave {
        let times = if *count > 1 { format!(" ×{count}") } else { String::new() };
        let _ = write!(out, "<span class=\"o\">{}{times}</span>", id.id());
    }
    out.push_str("</td></tr>\n");
}

/// The folder, of which the last part is what people look for.
fn name(row: &Row, out: &mut String) {
    let name = cut(row.name(), 300);
    match name.trim_end_matches('/').rfind('/').map(|slash| name.split_at(slash + 1)) {
        Some((folder, last)) => {
            let _ = write!(out, "<span class=\"d\">{}</span>{}", html(folder), html(last));
        }
        None => out.push_str(&html(&name)),
    }
}

/// The checkpoints as cells, and the same in words: runs of covered ones are counted, the others are named.
fn strip(fleet: &Fleet, row: &Row, out: &mut String) {
    let shown = row.states.get(..STATES_SHOWN).unwrap_or(&row.states);
    let mut words: Vec<String> = Vec::new();
    let mut run = 0;
    let end = |run: &mut usize, words: &mut Vec<String>| {
        if *run > 0 {
            words.push(format!("{run} covered"));
        }
        *run = 0;
    };
    let mut cells = String::new();
    for (state, status) in shown {
        let (class, sign, _) = part(*status);
        if *status == StateStatus::Covered {
            run += 1;
            let _ = write!(cells, "<i>{sign}</i>");
            continue;
        }
        end(&mut run, &mut words);
        let name = html(&cut(fleet.name(*state), 100));
        let _ = write!(cells, "<i class=\"{class}\" title=\"{name}: {}\">{sign}</i>", status.id());
        words.push(format!("{name} {}", status.id()));
    }
    end(&mut run, &mut words);
    let rest = row.states.len() - shown.len();
    if rest > 0 {
        cells.push('…');
        words.push(format!("{rest} more"));
    }
    let _ = write!(
        out,
        "<span class=\"s\" role=\"img\" aria-label=\"Checkpoints: {}\">{cells}</span> ",
        words.join(", ")
    );
}
