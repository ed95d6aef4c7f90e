//! Every folder in `fixtures/damaged/` is a deployment that would be verified, but for what happened to its trace. Its
//! `expect.json` tells where that was seen, what is recovered, and what is reported.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::fuzz_bodies::readers::{self, written};
use crate::support::{CHECKLIST, check, fixtures, ids};
use process_integrity::trace::state_map::StateMap;
use process_integrity::trace::{Event, Reading, TraceFormat, sniff};
use process_integrity::verdict::{Class, FindingId};

/// The nodes of git-ape's deploy graph, which an execution trace is judged against.
const NODES: [&str; 9] = [
    "intent_captured",
    "governance_preflight",
    "azure_login",
    "template_validated",
    "security_gate",
    "deployment_authorized",
    "deployment_executed",
    "integration_tests",
    "state_recorded",
];

/// One damaged deployment.
pub(crate) struct Damaged {
    pub(crate) name: String,
    pub(crate) expect: Value,
    folder: PathBuf,
    /// Where a trace is too large to be kept in the repository, it is made here.
    _made: Option<tempfile::TempDir>,
    bytes: Vec<u8>,
}

/// What the reader of its format gives.
struct Read {
    format: TraceFormat,
    states: Vec<String>,
    lines: Vec<u64>,
    reading: Reading,
}

/// A trace from its recipe: texts, some of them many times.
fn cook(recipe: &[Value]) -> Vec<u8> {
    let piece = |step: &Value| match step["repeat"].as_str() {
        Some(text) => text.repeat(step["times"].as_u64().unwrap().try_into().unwrap()),
        None => step["text"].as_str().unwrap().to_owned(),
    };
    recipe.iter().map(piece).collect::<String>().into_bytes()
}

pub(crate) fn corpus() -> Vec<Damaged> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(fixtures().join("damaged")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders.iter().map(|folder| Damaged::open(folder)).collect()
}

impl Damaged {
    fn open(folder: &Path) -> Self {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let expect: Value =
            serde_json::from_slice(&std::fs::read(folder.join("expect.json")).unwrap()).unwrap();
        let trace = expect["trace"].as_str().unwrap();
        let Some(recipe) = expect["recipe"].as_array() else {
            let bytes = std::fs::read(folder.join(trace)).unwrap();
            return Self { name, expect, folder: folder.to_owned(), _made: None, bytes };
        };
        let made = tempfile::tempdir().unwrap();
        for file in ["state.json", "tests.json"] {
            std::fs::copy(folder.join(file), made.path().join(file)).unwrap();
        }
        let bytes = cook(recipe);
        std::fs::write(made.path().join(trace), &bytes).unwrap();
        Self { name, expect, folder: made.path().to_owned(), _made: Some(made), bytes }
    }

    fn read(&self) -> Read {
        let (mut states, mut lines) = (Vec::new(), Vec::new());
        let mut sink = |event: Event<'_>| {
            states.push(event.state.to_string());
            lines.push(event.place.line);
        };
        let named = match self.expect["trace"].as_str().unwrap() {
            "trace.jsonl" => TraceFormat::GitApeJsonl,
            "events.jsonl" => TraceFormat::CopilotEvents,
            name if name.ends_with(".otlp.jsonl") => TraceFormat::Otlp,
            _ => TraceFormat::GitApeV1,
        };
        let head = &self.bytes[..self.bytes.len().min(sniff::HEAD)];
        let format = sniff::sniff(head).unwrap_or(named);
        let (input, map) = (Cursor::new(&self.bytes), StateMap::default());
        let reading = format.read(input, &map, &mut sink);
        Read { format, states, lines, reading }
    }

    /// The states of the events of the trace as it was before.
    fn whole(&self) -> Vec<&str> {
        if self.expect["trace"].as_str().unwrap().starts_with("traces/") {
            NODES.to_vec()
        } else {
            CHECKLIST.to_vec()
        }
    }

    fn texts(&self, key: &str) -> Vec<&str> {
        self.expect[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
    }
}

/// What the program says of the folder, in the words of `expect.json`.
fn said(report: &Value) -> Value {
    let corrupt = report["findings"].as_array().unwrap().iter().filter(|f| f["id"] == "trace-corrupt");
    let damage: Vec<Value> = corrupt
        .map(|finding| {
            let message = finding["message"].as_str().unwrap();
            let reason = message.split_once(" cannot be read: `").unwrap().1.strip_suffix('`').unwrap();
            json!({"line": finding["line"], "offset": finding["offset"], "reason": reason})
        })
        .collect();
    json!({
        "events": report["trace"]["events"],
        "unreadable": report["trace"]["unreadable"],
        "damage": damage,
        "verdict": report["verdict"],
    })
}

#[test]
fn of_every_damaged_trace_is_recovered_and_reported_what_is_written_down() {
    let corpus = corpus();
    assert!(corpus.len() >= 50, "{} damaged traces", corpus.len());
    let mut wrong = Vec::new();
    for damaged in &corpus {
        let (report, code) = check(&damaged.folder, &[]);
        let (mut said, expect) = (said(&report), &damaged.expect);
        said["recovered"] = damaged.read().states.into();
        for (key, got) in said.as_object().unwrap() {
            if expect[key] != *got {
                wrong.push(format!("{} {key} {got}", damaged.name));
            }
        }
        assert_eq!(code == 0, report["verdict"] == "verified-success", "{}", damaged.name);
        let found = ids(&report);
        for id in damaged.texts("findings_include") {
            assert!(found.contains(&id), "{}: no {id} among {found:?}", damaged.name);
        }
        // What is left of a verdict that is not good has a reason that the file names.
        let grave = |id: &&FindingId| id.class() != Class::Notice && found.contains(&id.id());
        let grave: Vec<&str> = FindingId::ALL.iter().filter(grave).map(|id| id.id()).collect();
        if !grave.iter().all(|id| damaged.texts("findings_include").contains(id)) {
            wrong.push(format!("{} findings_include {}", damaged.name, json!(grave)));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn nothing_is_lost_in_silence_and_damage_never_verifies() {
    for damaged in corpus() {
        let (name, expect) = (&damaged.name, &damaged.expect);
        let unreadable = expect["unreadable"].as_u64().unwrap();
        assert!(unreadable > 0 || damaged.texts("recovered") == damaged.whole(), "{name}");
        assert!(unreadable == 0 || expect["verdict"] != "verified-success", "{name}");
        assert_eq!(unreadable, expect["damage"].as_array().unwrap().len() as u64, "{name}");
    }
}

#[test]
fn every_line_of_a_damaged_trace_is_an_event_or_reported_or_counted() {
    for damaged in corpus() {
        let read = damaged.read();
        let written = written(&damaged.bytes);
        let damage = read.reading.damage.kept();
        let is_damaged = |line: &u64| damage.iter().any(|damage| damage.place.line == *line);
        let clean = read.lines.iter().filter(|line| !is_damaged(line)).count() as u64;
        let sum = clean + read.reading.damage.count() + read.reading.passed_over;
        match read.format {
            TraceFormat::GitApeJsonl => {
                assert_eq!(sum, written.len() as u64, "{}", damaged.name);
                readers::jsonl(&damaged.bytes);
            }
            TraceFormat::CopilotEvents => {
                assert_eq!(sum, written.len() as u64, "{}", damaged.name);
                readers::copilot(&damaged.bytes);
            }
            // An export has any number of spans, and a document any number of lines.
            TraceFormat::Otlp => readers::otlp(&damaged.bytes),
            TraceFormat::GitApeV1 => readers::git_ape(&damaged.bytes),
            TraceFormat::ClaudeCode => readers::claude(&damaged.bytes),
            TraceFormat::Codex => readers::codex(&damaged.bytes),
        }
    }
}

#[test]
fn the_corpus_says_what_it_is_and_is_small() {
    let mut kept = 0;
    for damaged in corpus() {
        let name = &damaged.name;
        for key in ["damage_kind", "about"] {
            assert!(damaged.expect[key].as_str().is_some_and(|text| text.len() > 5), "{name}: {key}");
        }
        for reference in damaged.texts("reported") {
            let (repository, number) = reference.split_once('#').unwrap();
            assert!(repository.split('/').count() == 2 && number.parse::<u32>().is_ok(), "{reference}");
        }
        kept += if damaged._made.is_none() { damaged.bytes.len() } else { 0 };
    }
    assert!(kept < 200_000, "{kept} bytes of traces");
}

/// One row of the table in `docs/damage.md`, from what the tests above compare with the program.
fn row(damaged: &Damaged) -> String {
    let expect = &damaged.expect;
    let (recovered, whole) = (damaged.texts("recovered"), damaged.whole());
    let lost: Vec<String> =
        whole.iter().filter(|state| !recovered.contains(state)).map(|state| format!("`{state}`")).collect();
    let recovered = match (recovered.len(), lost.len()) {
        (_, 0) => format!("all {} events", whole.len()),
        (0, _) => "nothing".to_owned(),
        (_, lost_count) => {
            format!("{} of {} events; not {}", whole.len() - lost_count, whole.len(), lost.join(", "))
        }
    };
    let damage = expect["damage"].as_array().unwrap();
    let first = damage.first().map(|one| {
        let lines = match damage.len() {
            1 => format!("line {}", one["line"]),
            more => format!("{more} lines from line {}", one["line"]),
        };
        format!("{lines}: {}; ", one["reason"].as_str().unwrap().replace('|', "\\|"))
    });
    let findings = damaged.texts("findings_include");
    let findings: Vec<String> = findings.iter().map(|id| format!("`{id}`")).collect();
    let findings = if findings.is_empty() { "nothing".to_owned() } else { findings.join(", ") };
    let reported = damaged.texts("reported").into_iter().map(|reference| {
        let (repository, number) = reference.split_once('#').unwrap();
        format!("[{reference}](https://github.com/{repository}/issues/{number})")
    });
    let reported: Vec<String> = reported.collect();
    format!(
        "| [{}](../fixtures/damaged/{}) | {recovered} | {}{findings} | `{}` | {} |\n",
        expect["damage_kind"].as_str().unwrap(),
        damaged.name,
        first.unwrap_or_default(),
        expect["verdict"].as_str().unwrap(),
        reported.join(", ")
    )
}

/// The rows of the table in `docs/damage.md`, for the tests of the documentation.
pub(crate) fn rows() -> String {
    corpus().iter().map(row).collect()
}
