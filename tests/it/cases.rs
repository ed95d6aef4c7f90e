//! Every folder in `fixtures/` that holds a `case.json` is a test. Adding a case is adding a folder.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::support::{cases, check, fixtures, ids};

fn run(folder: &Path) -> (Value, Value, i32) {
    let case: Value = serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
    let model = case["model"].as_str().map(|model| folder.join(model).display().to_string());
    let arguments: Vec<&str> = model.iter().flat_map(|model| ["--model", model]).collect();
    let (report, code) = check(folder, &arguments);
    (case["expect"].clone(), report, code)
}

fn compare(expected: &Value, report: &Value, code: i32) -> Vec<String> {
    fn same(wrong: &mut Vec<String>, key: &str, expected: &Value, got: Value) {
        if *expected != got {
            wrong.push(format!("{key}: expected {expected}, got {got}"));
        }
    }
    let found = ids(report);
    let mut wrong = Vec::new();
    for (key, value) in expected.as_object().unwrap() {
        match key.as_str() {
            "verdict" => {
                same(&mut wrong, key, value, report["verdict"].clone());
                same(&mut wrong, "exit code", &i32::from(value != "verified-success").into(), code.into());
            }
            "claim" | "false_success" | "missing" => same(&mut wrong, key, value, report[key].clone()),
            "health" => same(&mut wrong, key, value, report["health"]["status"].clone()),
            "covered" | "essential" => same(&mut wrong, key, value, report["coverage"][key].clone()),
            "unreadable" | "events" | "format" => same(&mut wrong, key, value, report["trace"][key].clone()),
            "source" => same(&mut wrong, key, value, report["model"]["source"].clone()),
            "states" => {
                for (state, status) in value.as_object().unwrap() {
                    let row =
                        report["states"].as_array().unwrap().iter().find(|row| row["id"] == state.as_str());
                    same(&mut wrong, state, status, row.map(|row| row["status"].clone()).unwrap_or_default());
                }
            }
            "codes" => {
                let codes: BTreeSet<&str> = report["findings"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter_map(|f| f["code"].as_str())
                    .collect();
                let expected: BTreeSet<&str> =
                    value.as_array().unwrap().iter().filter_map(Value::as_str).collect();
                if codes != expected {
                    wrong.push(format!("codes: expected {expected:?}, got {codes:?}"));
                }
            }
            "findings_include" => {
                let absent =
                    value.as_array().unwrap().iter().filter(|id| !found.contains(&id.as_str().unwrap()));
                wrong.extend(absent.map(|id| format!("no finding {id} among {found:?}")));
            }
            "findings_exclude" => {
                let present =
                    value.as_array().unwrap().iter().filter(|id| found.contains(&id.as_str().unwrap()));
                wrong.extend(present.map(|id| format!("finding {id}")));
            }
            other => wrong.push(format!("case.json has an unknown expectation {other}")),
        }
    }
    wrong
}

#[test]
fn every_case_has_its_verdict() {
    let folders = cases();
    assert!(folders.len() >= 89, "{} cases", folders.len());
    let mut wrong = Vec::new();
    for folder in &folders {
        let (expected, report, code) = run(folder);
        assert!(expected["verdict"].is_string(), "{} expects no verdict", folder.display());
        let name = folder.file_name().unwrap().to_string_lossy();
        assert!(
            name.starts_with(expected["verdict"].as_str().unwrap()),
            "{name} is not named after its verdict"
        );
        wrong.extend(compare(&expected, &report, code).into_iter().map(|text| format!("{name}: {text}")));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_report_has_the_published_schema() {
    let schema = fixtures().join("../docs/schemas/process-integrity-report.v1.schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for folder in cases() {
        let (_, report, _) = run(&folder);
        let wrong: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{}: {wrong:?}", folder.display());
    }
    assert!(!validator.is_valid(&serde_json::json!({"schema": "process-integrity-report/v1"})));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for folder in cases().iter().step_by(9) {
        for format in ["json", "markdown", "text", "annotations"] {
            let run = || {
                let mut program = crate::support::program();
                program.arg("check").arg(folder).args(["--format", format]).output().unwrap().stdout
            };
            assert_eq!(run(), run(), "{} {format}", folder.display());
        }
    }
}
