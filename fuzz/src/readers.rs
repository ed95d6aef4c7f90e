//! The readers of traces.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};

use process_integrity::trace::git_ape::{self as v1, Kind};
use process_integrity::trace::state_map::StateMap;
use process_integrity::trace::{self, Event, Place, Reading, TraceFormat};

const MARK: &[u8] = b"\xef\xbb\xbf";

/// What a reader gave: each event with its place and all that is known of it, and what could not be read.
#[derive(Debug, PartialEq)]
struct Read {
    events: Vec<(Place, String)>,
    reading: Reading,
}

fn all(read: impl FnOnce(&mut dyn FnMut(Event<'_>)) -> Reading) -> Read {
    let mut events = Vec::new();
    let reading = read(&mut |event| {
        assert!(!event.state.is_empty(), "an event without a state");
        // All but the place, which moves with what stands before it.
        let content = format!("{:?}", Event { place: Place::default(), ..event.clone() });
        events.push((event.place, content));
    });
    Read { events, reading }
}

/// A reader that takes the file in pieces of a few bytes.
fn pieces(data: &[u8]) -> impl BufRead + '_ {
    BufReader::with_capacity(1 + data.len() % 7, data)
}

/// Lines and offsets that are told are those of the file.
fn assert_places(data: &[u8], read: &Read) {
    let lines = 1 + data.iter().filter(|byte| **byte == b'\n').count() as u64;
    let damaged = read.reading.damage.kept().iter().map(|damage| damage.place);
    for place in read.events.iter().map(|(place, _)| *place).chain(damaged) {
        assert!(place.line >= 1 && place.line <= lines, "{place:?} of {lines} lines");
        assert!(place.offset <= data.len() as u64, "{place:?} of {} bytes", data.len());
    }
}

/// The numbers of the lines on which something was written. Blank lines are not among them, nor are NUL bytes at the very
/// end of the file, which the file system put there and nobody wrote.
pub fn written(data: &[u8]) -> BTreeSet<u64> {
    let count = data.split(|byte| *byte == b'\n').count();
    let mut found = BTreeSet::new();
    for (at, line) in data.split(|byte| *byte == b'\n').enumerate() {
        let line = if at == 0 { line.strip_prefix(MARK).unwrap_or(line) } else { line };
        let end = line.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let line = if at + 1 == count { line.get(..end).unwrap_or_default() } else { line };
        if line.iter().any(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
            found.insert(at as u64 + 1);
        }
    }
    found
}

/// Nothing is lost in silence: every line on which something was written is an event, is reported as damage, or is counted
/// as passed over. Nothing is made up either: no event and no damage on a line on which nothing was written.
fn assert_accounts(data: &[u8], read: &Read) {
    let damage = &read.reading.damage;
    let written = written(data);
    let mut known: BTreeSet<u64> = read.events.iter().map(|(place, _)| place.line).collect();
    known.extend(damage.kept().iter().map(|damage| damage.place.line));
    let made_up: Vec<&u64> = known.difference(&written).collect();
    assert!(made_up.is_empty(), "lines {made_up:?} hold nothing");
    let silent: Vec<&u64> = written.difference(&known).collect();
    let counted = read.reading.passed_over + damage.more();
    assert!(silent.len() as u64 <= counted, "lines {silent:?} are lost, {counted} are counted");
}

/// `trace.jsonl`.
pub fn jsonl(data: &[u8]) {
    let read = all(|sink| trace::jsonl::read(data, sink));
    assert_eq!(all(|sink| trace::jsonl::read(pieces(data), sink)), read, "the size of the buffer matters");
    assert_places(data, &read);
    assert_accounts(data, &read);
    let lines: BTreeSet<u64> = read.reading.damage.kept().iter().map(|damage| damage.place.line).collect();
    assert_eq!(lines.len(), read.reading.damage.kept().len(), "more than one report on a line");
    for (place, _) in &read.events {
        let at = usize::try_from(place.offset).unwrap_or(usize::MAX);
        let rest = data.get(at..).unwrap_or_default();
        let first = rest.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
        assert_eq!(first, Some(&b'{'), "no record begins at {place:?}");
    }
    halves(data, &read);
}

/// What stands in one half of a file changes nothing in the other.
fn halves(data: &[u8], read: &Read) {
    let middle = data.len() / 2;
    let Some(end) = data.iter().skip(middle).position(|byte| *byte == b'\n') else { return };
    let (first, second) = data.split_at(middle + end + 1);
    if second.starts_with(MARK) {
        return;
    }
    let (first, second) =
        (all(|sink| trace::jsonl::read(first, sink)), all(|sink| trace::jsonl::read(second, sink)));
    let joined: Vec<&String> = first.events.iter().chain(&second.events).map(|(_, event)| event).collect();
    let whole: Vec<&String> = read.events.iter().map(|(_, event)| event).collect();
    assert_eq!(joined, whole);
    let damage = first.reading.damage.count() + second.reading.damage.count();
    assert_eq!(damage, read.reading.damage.count());
}

/// `events.jsonl` of Copilot.
pub fn copilot(data: &[u8]) {
    harness(TraceFormat::CopilotEvents, data);
}

/// Sessions of Claude Code.
pub fn claude(data: &[u8]) {
    harness(TraceFormat::ClaudeCode, data);
}

/// Rollouts of Codex.
pub fn codex(data: &[u8]) {
    harness(TraceFormat::Codex, data);
}

fn harness(format: TraceFormat, data: &[u8]) {
    let states = StateMap::default();
    let read = all(|sink| format.read(data, &states, sink));
    let again = all(|sink| format.read(pieces(data), &states, sink));
    assert_eq!(again, read, "the size of the buffer matters");
    assert_places(data, &read);
    assert_accounts(data, &read);
}

/// OTLP in JSON.
pub fn otlp(data: &[u8]) {
    let states = StateMap::default();
    let read = all(|sink| trace::otlp::read(data, &states, sink));
    assert_eq!(all(|sink| trace::otlp::read(data, &states, sink)), read);
    assert_places(data, &read);
    if !data.iter().all(u8::is_ascii_whitespace) && serde_json::from_slice::<serde_json::Value>(data).is_err()
    {
        // No document. What is said on a line of its own is an event or is told; exports without spans are events of none.
        let lines = data.split(|byte| *byte == b'\n');
        let bad = lines.map(|line| line.strip_prefix(MARK).unwrap_or(line)).filter(|line| {
            !line.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0)
                && serde_json::from_slice::<serde_json::Value>(line).is_err()
        });
        let bad = bad.count();
        assert!(bad == 0 || read.reading.damage.count() > 0, "{bad} lines are lost in silence");
    }
}

/// `git-ape-execution-trace/v1`.
pub fn git_ape(data: &[u8]) {
    let read = v1::read(data);
    assert_eq!(v1::read(pieces(data)), read, "the size of the buffer matters");
    let damage = read.reading.damage.count();
    assert!(read.whole || damage > 0, "a torn document without a word");
    for entry in &read.entries {
        let at = usize::try_from(entry.place.offset).unwrap_or(usize::MAX);
        let begins = data.get(at) == Some(&b'{');
        assert!(begins || entry.kind == Kind::Other, "no event begins at {:?}", entry.place);
        let is_event = entry.event().is_some();
        assert!(damage > 0 || is_event == (entry.kind == Kind::Node), "{entry:?} is lost in silence");
    }
    let text = data.strip_prefix(MARK).unwrap_or(data).trim_ascii();
    if read.whole && !text.is_empty() {
        torn(data, &read);
    }
}

/// Of a document that ends too early everything before the tear is there, and the tear is told.
fn torn(data: &[u8], whole: &v1::Execution) {
    let end = data.trim_ascii_end().len();
    for cut in [end / 3, end / 2, end - 1] {
        let part = data.get(..cut).unwrap_or_default();
        if part.strip_prefix(MARK).unwrap_or(part).trim_ascii().is_empty() {
            continue;
        }
        let torn = v1::read(part);
        assert!(!torn.whole && torn.reading.damage.count() > 0, "cut at {cut} and nothing is told");
        assert_eq!(whole.entries.get(..torn.entries.len()), Some(torn.entries.as_slice()));
    }
}
