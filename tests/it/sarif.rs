//! The SARIF log: valid by the published schema, and what GitHub code scanning makes alerts of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::hostile::{ATTACKS, deployment};
use crate::step::{SKIPPED, Step, VERIFIED, annotations};
use crate::support::{
    CHECKLIST, Deployment, ID, arguments_of, cases, check, events, fixtures, lines, program, stderr, stdout,
};
use process_integrity::report::sarif::RESULTS_CAP;
use process_integrity::verdict::FindingId;

fn schema() -> jsonschema::Validator {
    let text = std::fs::read(fixtures().join("../tests/schemas/sarif-2.1.0.schema.json")).unwrap();
    let mut schema: Value = serde_json::from_slice(&text).unwrap();
    // As published, the pattern of a language is no regular expression in Unicode mode. No language is written here.
    for object in ["run", "toolComponent"] {
        let language = schema["definitions"][object]["properties"]["language"].as_object_mut().unwrap();
        assert_eq!(language.remove("pattern").unwrap(), "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$");
    }
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
}

fn assert_valid(schema: &jsonschema::Validator, log: &Value, name: &str) {
    let wrong: Vec<String> =
        schema.iter_errors(log).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{name}: {wrong:?}");
}

/// The log on some folders as the program prints it, started in a folder.
fn text_in(here: &Path, folders: &[&Path], arguments: &[String]) -> String {
    let mut command = program();
    command.current_dir(here).arg("check").args(folders).args(["--format", "sarif"]).args(arguments);
    let output = command.output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
    stdout(&output)
}

fn log_in(here: &Path, folders: &[&Path]) -> Value {
    serde_json::from_str(&text_in(here, folders, &[])).unwrap()
}

fn results(log: &Value) -> &[Value] {
    log["runs"][0]["results"].as_array().unwrap()
}

fn uri(result: &Value) -> &str {
    result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap()
}

fn line(result: &Value) -> Option<u64> {
    result["locations"][0]["physicalLocation"]["region"]["startLine"].as_u64()
}

fn fingerprint(result: &Value) -> String {
    result["partialFingerprints"]["processIntegrity/v1"].as_str().unwrap().to_owned()
}

#[test]
fn every_fixture_gives_a_valid_log_with_its_findings() {
    let schema = schema();
    let mut lines_told = 0;
    for case in cases() {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let shown = Path::new("fixtures").join(&name);
        let arguments = arguments_of(&case);
        let text = text_in(&fixtures().join(".."), &[&shown], &arguments);
        let log: Value = serde_json::from_str(&text).unwrap();
        assert_valid(&schema, &log, &name);
        let options: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (report, _) = check(&shown, &options);
        let findings = report["findings"].as_array().unwrap();
        let results = results(&log);
        assert_eq!(results.len(), findings.len(), "{name}");
        for (result, finding) in results.iter().zip(findings) {
            let level = match finding["class"].as_str().unwrap() {
                "failure" | "violation" => "error",
                "agent" => "warning",
                _ => "note",
            };
            assert_eq!((&result["ruleId"], &result["level"]), (&finding["id"], &level.into()), "{name}");
            let rule =
                &log["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
            assert_eq!(
                (&rule["id"], &rule["defaultConfiguration"]["level"]),
                (&finding["id"], &level.into())
            );
            let there = fixtures().join("..").join(uri(result));
            assert!(there.exists() && uri(result).starts_with("fixtures/"), "{name}: {}", uri(result));
            if uri(result) == finding["file"] {
                assert_eq!(line(result), finding["line"].as_u64(), "{name}: {finding}");
                lines_told += usize::from(line(result).is_some());
            }
            assert_eq!(result["properties"]["code"], finding["code"], "{name}");
            let about = (&result["properties"]["deployment"], &result["properties"]["verdict"]);
            assert_eq!(about, (&report["deployment_id"], &report["verdict"]), "{name}");
        }
        let above = results.iter().any(|result| result["level"] != "note");
        assert_eq!(above, report["verdict"] != "verified-success", "{name}");
        assert_eq!(text, text_in(&fixtures().join(".."), &[&shown], &arguments), "{name}: other bytes");
    }
    assert!(lines_told > 30, "{lines_told}");
}

#[test]
fn the_rules_are_all_findings_within_the_limits_of_code_scanning() {
    let log = log_in(&fixtures().join(".."), &[Path::new("fixtures/verified-success__fallback")]);
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), FindingId::ALL.len());
    let mut names = BTreeSet::new();
    for (rule, id) in rules.iter().zip(FindingId::ALL) {
        assert_eq!(rule["id"], id.id());
        let name = rule["name"].as_str().unwrap();
        assert!(name.chars().all(char::is_alphanumeric) && name.starts_with(char::is_uppercase), "{name}");
        assert!(names.insert(name), "{name} twice");
        for text in ["shortDescription", "fullDescription"] {
            let text = rule[text]["text"].as_str().unwrap();
            // Both are cut at 1,024 characters, and a brace or a link would mean something.
            assert!(text.len() <= 1_024 && !text.contains(['{', '}']) && !text.contains("]("), "{text}");
        }
        let help = rule["help"]["text"].as_str().unwrap();
        assert!(
            help.contains("What to do: ") && !help.contains(['{', '}']) && !help.contains("]("),
            "{help}"
        );
        assert!(rule["help"]["markdown"].as_str().unwrap().contains("**What to do:** "));
        assert!(rule["helpUri"].as_str().unwrap().ends_with(&format!("/docs/findings.md#{}", id.id())));
        assert!(rule["properties"]["tags"].as_array().unwrap().len() <= 10);
    }
}

#[test]
fn hostile_text_is_no_link_no_placeholder_and_no_command_and_the_log_stays_valid() {
    let schema = schema();
    for text in ATTACKS {
        let deployment = deployment(text);
        let model = deployment.path().join("m.json").display().to_string();
        let printed = text_in(deployment.path(), &[Path::new(".")], &["--model".to_owned(), model]);
        let log: Value = serde_json::from_str(&printed).unwrap();
        assert_valid(&schema, &log, text);
        assert!(!results(&log).is_empty());
        for result in results(&log) {
            let message = result["message"]["text"].as_str().unwrap();
            for part in ["](", "://", "##[", "\n"] {
                assert!(!message.contains(part), "{text:?}: {message}");
            }
            for brace in ['{', '}'] {
                let doubled =
                    message.matches(brace).count() == 2 * message.matches(&format!("{brace}{brace}")).count();
                assert!(doubled, "{text:?}: {message}");
            }
            assert!(!message.chars().any(char::is_control), "{text:?}: {message:?}");
        }
        assert!(
            !printed.chars().any(|c| c.is_control() && c != '\n') && !printed.contains("##["),
            "{text:?}"
        );
        assert!(!printed.lines().any(|line| line.trim_start().starts_with("::")), "{text:?}");
    }
}

#[test]
fn fingerprints_stay_the_same_where_lines_times_and_runs_change() {
    let deployment = Deployment::verified();
    let words = [
        "requirements_gathered",
        "error",
        "template_generated",
        "security_gate_evaluated:blocked",
        "security_gate_evaluated",
        "error",
        "deployment_executed",
    ];
    deployment.trace(&events(&words));
    let log = log_in(deployment.path(), &[Path::new(".")]);
    let all: BTreeSet<String> = results(&log).iter().map(fingerprint).collect();
    assert_eq!(all.len(), results(&log).len(), "two results have one fingerprint");
    assert!(all.len() >= 6, "{}", all.len());
    let mut later = vec![json!({"state": "something_else", "status": "completed", "run_id": "r9"}); 3];
    later.extend(events(&words).into_iter().map(|mut event| {
        event["timestamp"] = event["timestamp"].as_str().unwrap().replace("2026-10-05", "2026-11-06").into();
        event["run_id"] = "r9".into();
        event
    }));
    deployment.trace(&later);
    let again = log_in(deployment.path(), &[Path::new(".")]);
    let by_print = |log: &Value| -> BTreeMap<String, Option<u64>> {
        results(log).iter().map(|result| (fingerprint(result), line(result))).collect()
    };
    let (before, after) = (by_print(&log), by_print(&again));
    let moved =
        before.iter().filter(|(print, line)| after.get(*print).is_some_and(|now| now != *line)).count();
    assert!(moved >= 4, "{before:?} {after:?}");
    assert!(before.keys().all(|print| after.contains_key(print)), "{before:?} {after:?}");
    for result in results(&again) {
        let prints = &result["partialFingerprints"];
        assert_eq!(prints["primaryLocationLineHash"], format!("{}:1", fingerprint(result)));
    }
}

#[test]
fn another_deployment_state_or_rule_has_another_fingerprint() {
    let deployment = Deployment::verified();
    deployment.trace(&events(&CHECKLIST[..2]));
    let log = log_in(deployment.path(), &[Path::new(".")]);
    let missing = |log: &Value| -> BTreeSet<String> {
        results(log).iter().filter(|result| result["ruleId"] == "state-missing").map(fingerprint).collect()
    };
    let first = missing(&log);
    assert_eq!(first.len(), 4);
    deployment.write("state.json", &json!({"deploymentId": "another", "status": "succeeded"}).to_string());
    assert!(missing(&log_in(deployment.path(), &[Path::new(".")])).is_disjoint(&first));
}

#[test]
fn several_folders_are_one_run_with_the_worst_results_first() {
    let folders = [
        "verified-success__fallback",
        "process-violation__gate-after-deployment",
        "deployment-failure__http-503",
    ];
    let folders = folders.map(|name| Path::new("fixtures").join(name));
    let folders: Vec<&Path> = folders.iter().map(|folder| folder.as_path()).collect();
    let log = log_in(&fixtures().join(".."), &folders);
    assert_valid(&schema(), &log, "several");
    assert_eq!(log["runs"].as_array().unwrap().len(), 1);
    assert_eq!(log["runs"][0]["automationDetails"]["id"], "process-integrity/");
    let told = log["runs"][0]["properties"]["deployments"].as_array().unwrap();
    let told: Vec<&str> = told.iter().map(|one| one["verdict"].as_str().unwrap()).collect();
    assert_eq!(told, ["verified-success", "process-violation", "deployment-failure"]);
    let classes: Vec<&str> =
        results(&log).iter().map(|result| result["properties"]["class"].as_str().unwrap()).collect();
    let mut sorted = classes.clone();
    sorted.sort_by_key(|class| {
        ["failure", "violation", "agent", "notice"].iter().position(|known| known == class)
    });
    assert_eq!(classes, sorted);
    let single: usize =
        folders.iter().map(|one| results(&log_in(&fixtures().join(".."), &[one])).len()).sum();
    assert_eq!(results(&log).len(), single);
    let prints: BTreeSet<String> = results(&log).iter().map(fingerprint).collect();
    assert_eq!(prints.len(), single);
}

#[test]
fn paths_are_those_of_the_repository_wherever_the_program_is_started() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join(".git")).unwrap();
    let folder = root.path().join(".azure/deployments/deploy #1 ä");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("trace.jsonl"), lines(&events(&CHECKLIST[..3]))).unwrap();
    let log = log_in(&root.path().join(".azure"), &[Path::new("deployments/deploy #1 ä")]);
    let uris: BTreeSet<&str> = results(&log).iter().map(uri).collect();
    assert_eq!(uris, BTreeSet::from([".azure/deployments/deploy%20%231%20%C3%A4/trace.jsonl"]));
    std::fs::remove_file(folder.join("trace.jsonl")).unwrap();
    let log = log_in(root.path(), &[&folder]);
    let uris: BTreeSet<&str> = results(&log).iter().map(uri).collect();
    assert_eq!(uris, BTreeSet::from([".azure/deployments/deploy%20%231%20%C3%A4"]));
    assert_valid(&schema(), &log, "without a trace");
}

#[test]
fn what_lies_outside_of_the_repository_is_told_without_its_place() {
    let deployment = Deployment::verified();
    deployment.trace(&events(&CHECKLIST[..3]));
    let elsewhere = tempfile::tempdir().unwrap();
    let log = log_in(elsewhere.path(), &[deployment.path()]);
    assert_valid(&schema(), &log, "outside");
    assert!(results(&log).len() >= 3);
    for result in results(&log) {
        assert_eq!((uri(result), line(result)), (".azure/deployments", None));
    }
}

#[test]
fn more_results_than_code_scanning_takes_are_cut_and_that_is_told() {
    let deployment = Deployment::verified();
    let words = ["error", "requirements_gathered"].repeat(120);
    let mut trace = events(&words);
    trace.iter_mut().for_each(|event| event["timestamp"] = "never".into());
    deployment.trace(&trace);
    let one = log_in(deployment.path(), &[Path::new(".")]);
    let times = RESULTS_CAP / results(&one).len() + 1;
    let log = log_in(deployment.path(), &vec![Path::new("."); times]);
    assert_eq!(results(&log).len(), RESULTS_CAP);
    let count = |level: &str| results(&log).iter().filter(|result| result["level"] == level).count();
    let errors = results(&one).iter().filter(|result| result["level"] == "error").count();
    assert_eq!(count("error"), errors * times);
    let told = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(told.as_array().unwrap().len(), 1);
    let left = times * results(&one).len() - RESULTS_CAP;
    assert!(
        told[0]["message"]["text"].as_str().unwrap().starts_with(&format!("{left} results are left out"))
    );
    assert_valid(&schema(), &log, "cut");
    assert_eq!(one["runs"][0]["invocations"][0]["toolExecutionNotifications"], json!([]));
}

#[test]
fn the_action_writes_the_log_of_all_folders_where_it_is_asked_to() {
    let step = Step::with(&[SKIPPED, VERIFIED])
        .input("deployment-dir", ".azure/deployments/*")
        .input("sarif-path", "out/integrity.sarif");
    step.run();
    assert_eq!(step.output("sarif-path"), "out/integrity.sarif");
    assert_eq!(step.output("status"), "ok");
    let text = std::fs::read(step.workspace().join("out/integrity.sarif")).unwrap();
    let log: Value = serde_json::from_slice(&text).unwrap();
    assert_valid(&schema(), &log, "action");
    assert_eq!(log["runs"][0]["properties"]["deployments"].as_array().unwrap().len(), 2);
    let gate = results(&log).iter().find(|result| result["ruleId"] == "state-missing").unwrap();
    assert_eq!(uri(gate), format!(".azure/deployments/{SKIPPED}/trace.jsonl"));
    let none = Step::with(&[VERIFIED]);
    none.run();
    assert_eq!(none.output("sarif-path"), "");
}

#[test]
fn a_log_that_cannot_be_written_is_a_warning_and_no_output() {
    for (path, report, words) in [
        ("../outside.sarif", "", "the SARIF log cannot be written"),
        (
            "same.json",
            "same.json",
            "the SARIF log is not written to `same.json`: another output is the same file",
        ),
    ] {
        let step = Step::with(&[SKIPPED]).input("sarif-path", path).input("report-path", report);
        let output = step.run();
        assert_eq!((step.output("sarif-path").as_str(), step.output("report-path").as_str()), ("", report));
        assert!(annotations(&output).iter().any(|line| line.contains(words)), "{path}");
        assert!(step.output("status").contains(words), "{path}");
        assert!(!step.root.path().join("outside.sarif").exists());
        assert_eq!(step.output("verdict"), "process-violation");
    }
}

#[test]
fn the_name_of_a_deployment_is_in_each_result() {
    let folder = Path::new("fixtures/process-violation__gate-after-deployment");
    let log = log_in(&fixtures().join(".."), &[folder]);
    assert!(results(&log).iter().all(|result| result["properties"]["deployment"] == ID));
}
