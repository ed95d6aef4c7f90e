//! The published schemas of our own input formats agree with the readers, on all fixtures.

use std::path::{Path, PathBuf};

use process_integrity::health::{HealthStatus, results};
use process_integrity::model::{built_in, dominator};
use process_integrity::plan::{Folder, Plan};
use process_integrity::trace::jsonl;
use process_integrity::trace::state_map::StateMap;
use serde_json::Value;

use crate::support::fixtures;

fn validator(name: &str) -> jsonschema::Validator {
    let path = fixtures().join("../docs/schemas").join(name);
    jsonschema::validator_for(&serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()).unwrap()
}

/// All files of the fixtures whose names are wanted.
fn files(wanted: impl Fn(&str) -> bool + Copy) -> Vec<PathBuf> {
    fn walk(folder: &Path, wanted: impl Fn(&str) -> bool + Copy, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, wanted, found);
            } else if wanted(&path.file_name().unwrap().to_string_lossy()) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&fixtures(), wanted, &mut found);
    found.sort();
    found
}

#[test]
fn a_line_of_a_trace_is_valid_where_the_reader_takes_it_whole() {
    let schema = validator("trace-line.v1.schema.json");
    let (mut valid, mut invalid) = (0, 0);
    let files = files(|name| name.ends_with(".jsonl") && name.starts_with("trace"));
    let read = |path: &PathBuf| {
        (path.display().to_string(), String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned())
    };
    let written = [
        r#"{"status":"completed"}"#,
        r#"{"state":""}"#,
        r#"{"state":5,"node":"a"}"#,
        r#"{"state":null,"node":"a"}"#,
        r#"["state"]"#,
        r#"{"state":"a","success":"yes","status":5,"timestamp":[],"stage":{}}"#,
    ];
    let written = written.map(|line| ("written here".to_owned(), line.to_owned()));
    for (name, text) in files.iter().map(read).chain(written) {
        for line in text
            .lines()
            .map(|line| line.trim_start_matches('\u{feff}'))
            .filter(|line| !line.trim().is_empty())
        {
            // What is no JSON, or has a duplicate key, is nothing that a schema sees.
            let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
            let mut events = 0;
            let reading = jsonl::read(line.as_bytes(), &mut |_| events += 1);
            let damage = reading.damage.kept();
            if damage
                .iter()
                .any(|damage| damage.reason.contains("duplicate key") || damage.reason.contains("recursion"))
            {
                continue;
            }
            let taken = events == 1 && damage.is_empty();
            assert_eq!(schema.is_valid(&record), taken, "{name}: {line}");
            *(if taken { &mut valid } else { &mut invalid }) += 1;
        }
    }
    assert!(valid > 500, "{valid}");
    assert!(invalid >= 4, "{invalid}");
}

#[test]
fn every_model_that_is_read_is_valid() {
    let schema = validator("dominator-model.v1.schema.json");
    let mut count = 0;
    let mut check = |name: &str, bytes: &[u8]| {
        let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return };
        if value.get("essential_states").is_none() && value.get("essential_states_fallback").is_none() {
            return;
        }
        if dominator::parse(bytes).is_ok() {
            let wrong: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
            assert!(wrong.is_empty(), "{name}: {wrong:?}");
            count += 1;
        }
    };
    for path in files(|name| name.ends_with(".json")) {
        check(&path.display().to_string(), &std::fs::read(&path).unwrap());
    }
    check("the checklist", built_in::CHECKLIST.as_bytes());
    assert!(count >= 8, "{count}");
    for bad in [
        r#"{"essential_states":[]}"#,
        r#"{"essential_states":[{"id":""}]}"#,
        r#"{"essential_states":["a"],"coverage_threshold":0}"#,
    ] {
        assert!(!schema.is_valid(&serde_json::from_str(bad).unwrap()), "{bad}");
    }
}

#[test]
fn a_state_map_is_valid_where_the_reader_takes_it() {
    let schema = validator("state-map.v1.schema.json");
    let maps = files(|name| name.starts_with("state-map") && name.ends_with(".json"));
    assert!(!maps.is_empty());
    let read = maps.iter().map(|path| std::fs::read_to_string(path).unwrap());
    let written = ["{}", r#"{"a":"b"}"#, r#"{"a":5}"#, r#"{"a":""}"#, r#"{"a":["b"]}"#, "[]", r#""a""#, "5"];
    for text in read.chain(written.map(str::to_owned)) {
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(schema.is_valid(&value), StateMap::parse(text.as_bytes()).is_ok(), "{text}");
    }
}

#[test]
fn results_are_valid_where_they_can_be_read() {
    let schema = validator("results.v1.schema.json");
    let results = files(|name| name == "tests.json");
    let read = results.iter().filter_map(|path| String::from_utf8(std::fs::read(path).unwrap()).ok());
    let written = [
        "5",
        "true",
        r#""a""#,
        "null",
        "[]",
        "[5]",
        "{}",
        r#"{"resources":5}"#,
        r#"{"resources":[5]}"#,
        r#"{"resources":null,"tests":[{}]}"#,
        r#"{"tests":[[]]}"#,
        r#"{"endpoints":5}"#,
        r#"{"endpoints":["a"]}"#,
        r#"{"endpoints":[5]}"#,
        r#"{"tests":[],"summary":5}"#,
        r#"[{"resources":[{"resource":"a","status":"pass"}]},{"summary":{}}]"#,
    ];
    let mut unreadable = 0;
    for text in read.chain(written.map(str::to_owned)) {
        let Ok(value) = serde_json::from_str::<Value>(&text) else { continue };
        let health = results::read(text.as_bytes());
        let readable = health.status != HealthStatus::Unreadable;
        assert_eq!(schema.is_valid(&value), readable, "{text}: {health:?}");
        unreadable += usize::from(!readable);
    }
    assert!(unreadable >= 8, "{unreadable}");
}

#[test]
fn a_plan_is_valid_where_it_was_written_and_where_it_is_read() {
    let schema = validator("process-integrity-plan.v1.schema.json");
    let folder = |at: u64| Folder { path: format!("a \u{202e}\n{at}"), bytes: at * at };
    let written = [0, 1, 40].map(|count| Plan::of((0..count).map(folder).collect(), Some(7)).document());
    let plan =
        |shards: &str| format!(r#"{{"schema":"process-integrity-plan/v1","folders":1,"shards":{shards}}}"#);
    let one = |folder: &str| plan(&format!(r#"[{{"shard":1,"folders":[{folder}]}}]"#));
    let by_hand = [
        one(r#"{"path":"a","bytes":0}"#),
        one(r#"{"path":"a","bytes":0,"later":[]}"#),
        one(r#"{"path":"","bytes":0}"#),
        one(r#"{"path":"a","bytes":-1}"#),
        one(r#"{"path":"a","bytes":"1"}"#),
        one(r#"{"path":5,"bytes":1}"#),
        one(r#"{"path":"a"}"#),
        one(""),
        plan(r#"[{"folders":[{"path":"a","bytes":0}]}]"#),
        plan("5"),
        "[]".to_owned(),
        "{}".to_owned(),
        r#"{"schema":"process-integrity-plan/v2","folders":0,"shards":[]}"#.to_owned(),
    ];
    let mut refused = 0;
    for text in written.iter().chain(&by_hand) {
        let read = Plan::parse(text.as_bytes());
        assert_eq!(schema.is_valid(&serde_json::from_str(text).unwrap()), read.is_ok(), "{text}: {read:?}");
        refused += usize::from(read.is_err());
    }
    assert_eq!(refused, by_hand.len() - 2);
}
