//! The trace's file: absent, damaged, foreign, with earlier runs or other traces beside it.

use super::{Facts, line};
use crate::message::{Message, some};
use crate::trace::Reading;
use crate::verdict::{Finding, FindingId};

pub(super) fn trace(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    missing(facts, found);
    damage(facts, found);
    chain(facts, found);
    head(facts, found);
    foreign(facts, found);
    others(facts, found);
}

fn missing(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let trace = facts.trace;
    let message = match (&trace.file, &trace.absent) {
        (_, Some(reason)) => Message::new("there is no trace: {}", &[reason]),
        (None, None) => Message::new("there is no trace", &[]),
        (Some(_), None) if trace.all_events == 0 && trace.reading.damage.count() == 0 => {
            match trace.reading.passed_over {
                0 => Message::new("the trace is empty", &[]),
                1 => Message::new("the trace has one record, and it says nothing of a state", &[]),
                n => Message::new(
                    &format!("the trace has {n} records, and none of them says anything of a state"),
                    &[],
                ),
            }
        }
        (Some(_), None) => return,
    };
    let hint = match trace.reading.passed_over {
        0 => "Make the agent write trace.jsonl into the deployment folder (docs/trace-format.md).",
        _ => {
            "Map the names of its tools, skills or agents to states with a state map (docs/trace-format.md)."
        }
    };
    found.push(Finding::new(FindingId::TraceMissing, message, hint).file(facts.trace_file()));
}

const DAMAGE_HINT: &str = "Append whole lines of UTF-8 JSON, each with one write, from one writer at a time.";

fn damage(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    damage_of(&facts.trace.reading, facts.trace_file(), found);
    for testimony in facts.testimonies {
        damage_of(&testimony.reading, Some(&testimony.file), found);
    }
    let hint = DAMAGE_HINT;
    for (file, reason) in &facts.trace.unreadable_others {
        let message = Message::new("the trace {} beside it cannot be read: {}", &[file, reason]);
        found.push(Finding::new(FindingId::TraceCorrupt, message, hint).file(Some(file)));
    }
}

fn damage_of(reading: &Reading, file: Option<&str>, found: &mut Vec<Finding>) {
    for one in reading.damage.kept() {
        let text = format!("{}, byte {} cannot be read: {{}}", line(one.place), one.place.offset);
        let finding = Finding::new(FindingId::TraceCorrupt, Message::new(&text, &[&one.reason]), DAMAGE_HINT);
        found.push(finding.file(file).at(Some(one.place)));
    }
    if reading.damage.more() > 0 {
        let text = format!("{} more lines cannot be read", reading.damage.more());
        found.push(Finding::new(FindingId::TraceCorrupt, Message::new(&text, &[]), DAMAGE_HINT).file(file));
    }
}

fn chain(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let broken = &facts.trace.reading.chain.broken;
    let hint = "A line was changed, removed, inserted or moved after it was written. Take nothing in this trace for proven, and find out who could write to it.";
    for one in broken.kept() {
        let before = match one.before {
            Some(before) => format!("`prev` is not the digest of line {before}"),
            None => "`prev` is the digest of a line that is not there any more".to_owned(),
        };
        let text = format!("the chain is broken at {}: its {before}", line(one.place));
        let finding = Finding::new(FindingId::TraceTampered, Message::new(&text, &[]), hint);
        found.push(finding.file(facts.trace_file()).at(Some(one.place)));
    }
    if broken.more() > 0 {
        let text = format!("the chain is broken at {} more lines", broken.more());
        let finding = Finding::new(FindingId::TraceTampered, Message::new(&text, &[]), hint);
        found.push(finding.file(facts.trace_file()));
    }
}

/// The end of a trace, which no chain can hold, against what somebody kept of it.
fn head(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let (Some(expected), Some(_)) = (facts.head, facts.trace_file()) else { return };
    let is = facts.trace.reading.chain.head.as_deref();
    if is.is_some_and(|is| is.eq_ignore_ascii_case(expected.trim())) {
        return;
    }
    let text = "the trace does not end with the line whose digest was kept: {} was expected, but it is {}";
    let message = Message::new(text, &[expected, is.unwrap_or("of no line")]);
    let hint = "Its end was cut off, changed or added to after that line was written. Take nothing in this trace for proven.";
    found.push(Finding::new(FindingId::TraceTampered, message, hint).file(facts.trace_file()));
}

fn foreign(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let (count, Some((place, named))) = &facts.trace.foreign else { return };
    let own = facts.trace.deployment.as_deref().unwrap_or_default();
    let events = if *count == 1 { "one event names".to_owned() } else { format!("{count} events name") };
    let text = format!(
        "{events} another deployment: {{}} ({}), but this folder is {{}}; they cover nothing",
        line(*place)
    );
    let hint = "Write each deployment's trace into its own folder, with its own deployment_id.";
    let finding = Finding::new(FindingId::TraceForeign, Message::new(&text, &[named, own]), hint);
    found.push(finding.file(facts.trace_file()).at(Some(*place)));
}

fn others(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let (runs, more) = facts.trace.runs;
    if runs > 1 {
        let more = if more { "more than " } else { "" };
        let text = format!("the file holds {more}{runs} runs; the last one was judged");
        let hint = "Nothing to do; a file for each run is easier to read.";
        found.push(
            Finding::new(FindingId::EarlierRuns, Message::new(&text, &[]), hint).file(facts.trace_file()),
        );
    }
    if !facts.trace.others.is_empty() {
        let others: Vec<&str> = facts.trace.others.iter().map(String::as_str).collect();
        let message = some("further traces lie in the folder and were not judged: {}", &others);
        let hint = "Name the trace that counts with `--trace` or `trace-path`, or remove the others.";
        found.push(Finding::new(FindingId::OtherTraces, message, hint));
    }
}
