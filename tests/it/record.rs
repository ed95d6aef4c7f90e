//! `record`, as a command and as a step, and the chain that it writes.

use std::path::Path;
use std::process::{Command, Output};

use proptest::prelude::*;
use serde_json::Value;

use crate::support::{CHECKLIST, Deployment, ID, check, ids, program, stderr, stdout};

fn record(folder: &Path, arguments: &[&str]) -> Output {
    program().args(["record", "--dir"]).arg(folder).args(arguments).output().unwrap()
}

fn trace(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("trace.jsonl")).unwrap()
}

fn events(folder: &Path) -> Vec<Value> {
    trace(folder).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A verified deployment whose trace was recorded.
fn recorded() -> Deployment {
    let deployment = Deployment::verified();
    deployment.remove("trace.jsonl");
    for state in CHECKLIST {
        let output = record(deployment.path(), &["--state", state]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    deployment
}

#[test]
fn what_is_recorded_step_by_step_is_verified() {
    let deployment = recorded();
    let (report, code) = deployment.check(&["--evidence", "off"]);
    assert_eq!((report["verdict"].as_str(), code), (Some("verified-success"), 0), "{report}");
    assert_eq!(report["trace"]["chained"], 6);
    for event in events(deployment.path()) {
        assert_eq!(event["deployment_id"], ID);
        assert!(event["timestamp"].as_str().unwrap().ends_with('Z'));
        assert!(event.get("run_id").is_none() && event.get("producer").is_none());
    }
}

#[test]
fn a_workflow_tells_its_run_its_actor_and_its_job() {
    let deployment = Deployment::verified();
    let mut command = program();
    command.args(["record", "--state", "cost_estimated", "--status", "success", "--stage", "2.5"]);
    command.arg("--dir").arg(deployment.path());
    for (name, value) in [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_RUN_ID", "18234"),
        ("GITHUB_RUN_ATTEMPT", "2"),
        ("GITHUB_ACTOR", "octocat"),
        ("GITHUB_WORKFLOW_REF", "o/r/.github/workflows/deploy.yml@refs/heads/main"),
        ("GITHUB_JOB", "deploy"),
        ("GITHUB_TOKEN", "ghp_0123456789abcdef0123456789abcdef0123"),
    ] {
        command.env(name, value);
    }
    assert_eq!(command.output().unwrap().status.code(), Some(0));
    let event = events(deployment.path()).pop().unwrap();
    assert_eq!((&event["run_id"], &event["actor"]), (&"18234".into(), &"octocat".into()));
    assert_eq!(event["producer"], "o/r/.github/workflows/deploy.yml@refs/heads/main#deploy");
    assert_eq!((&event["status"], &event["stage"]), (&"success".into(), &"2.5".into()));
    assert!(!trace(deployment.path()).contains("ghp_"));
}

#[test]
fn a_state_that_the_model_does_not_have_is_refused_unless_it_is_new() {
    let deployment = Deployment::verified();
    let before = trace(deployment.path());
    let refused = record(deployment.path(), &["--state", "security_gate_evalated"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("did you mean `security_gate_evaluated`"), "{}", stderr(&refused));
    for arguments in [
        &["--state", ""][..],
        &["--state", "preflight_validated", "--status", "splendid"],
        &["--state", "preflight_validated", "--evidence", "nothing.json"],
        &["--state", "preflight_validated", "--evidence", "../../../etc/passwd"],
        &["--state", "preflight_validated", "--model", "nothing.json"],
    ] {
        assert_eq!(record(deployment.path(), arguments).status.code(), Some(2), "{arguments:?}");
    }
    let outside = tempfile::NamedTempFile::new().unwrap();
    for name in [
        outside.path().to_str().unwrap(),
        "../../../../../../../../etc/passwd",
        "./state.json",
        "sub/../state.json",
        "",
    ] {
        let refused = record(deployment.path(), &["--state", "preflight_validated", "--evidence", name]);
        assert_eq!(refused.status.code(), Some(2), "{name}");
        assert!(
            stderr(&refused).contains("it is no file of the deployment folder"),
            "{name}: {}",
            stderr(&refused)
        );
    }
    assert_eq!(trace(deployment.path()), before);
    for arguments in
        [&["--state", "scan_of_ours", "--new-state"][..], &["--state", "error", "--status", "error"]]
    {
        assert_eq!(record(deployment.path(), arguments).status.code(), Some(0), "{arguments:?}");
    }
    deployment.write("model.json", r#"{"version":"1.0","essential_states":["built","shipped"]}"#);
    let model = deployment.path().join("model.json");
    let with_model =
        |state| record(deployment.path(), &["--state", state, "--model", model.to_str().unwrap()]);
    assert_eq!(with_model("built").status.code(), Some(0));
    assert_eq!(with_model("preflight_validated").status.code(), Some(2));
}

#[test]
fn hostile_text_is_one_line_and_names_nothing_else() {
    let deployment = Deployment::verified();
    let text = "a\n::error::x\r\u{2028}\u{0}\"}\n{\"state\":\"security_gate_evaluated\"}";
    let output = record(
        deployment.path(),
        &["--state", "a\n::b", "--new-state", "--stage", text.split('\0').next().unwrap()],
    );
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output).lines().count(), 1);
    assert!(!stdout(&output).contains("\n::"), "{}", stdout(&output));
    assert_eq!(events(deployment.path()).len(), 7);
}

#[test]
fn writers_at_the_same_time_leave_whole_lines_and_an_unbroken_chain() {
    let deployment = Deployment::verified();
    deployment.remove("trace.jsonl");
    let folder = deployment.path();
    std::thread::scope(|scope| {
        for writer in 0..6 {
            scope.spawn(move || {
                for event in 0..15 {
                    let text = format!("{writer}/{event} {}", "x".repeat(event * 700));
                    let output = record(folder, &["--state", "cost_estimated", "--message", &text]);
                    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
                }
            });
        }
    });
    let (report, _) = check(folder, &["--evidence", "off"]);
    assert_eq!(
        (report["trace"]["events"].as_u64(), report["trace"]["chained"].as_u64()),
        (Some(90), Some(90))
    );
    assert_eq!(report["trace"]["unreadable"], 0);
    assert!(!ids(&report).contains(&"trace-tampered"));
    assert!(!ids(&report).contains(&"clock-anomaly"), "times are taken under the lock");
}

#[test]
fn a_line_that_was_never_finished_stays_the_only_damage() {
    let deployment = recorded();
    let whole = trace(deployment.path());
    deployment.write("trace.jsonl", &whole[..whole.len() - 20]);
    record(deployment.path(), &["--state", "integration_tests_passed"]);
    let (report, _) = deployment.check(&["--evidence", "off"]);
    assert_eq!(ids(&report), ["trace-corrupt"], "{report}");
    assert_eq!(report["coverage"]["covered"], 6);
}

#[test]
fn lines_of_others_may_stand_between_and_are_covered_by_the_next_link() {
    let deployment = Deployment::verified();
    record(deployment.path(), &["--state", "cost_estimated"]);
    let (report, _) = deployment.check(&["--evidence", "off"]);
    assert_eq!(
        (report["verdict"].as_str(), report["trace"]["chained"].as_u64()),
        (Some("verified-success"), Some(1))
    );
    let text = trace(deployment.path());
    assert_eq!(broken(&text), [0_u64; 0]);
    assert_eq!(broken(&text.replace("\"integration_tests_passed\"", "\"integration_tests\"")), [7]);
}

/// The links of a trace that are said to be broken, by line.
fn broken(text: &str) -> Vec<u64> {
    let deployment = Deployment::verified();
    deployment.write("trace.jsonl", text);
    let (report, _) = deployment.check(&["--evidence", "off"]);
    let findings = report["findings"].as_array().unwrap();
    let tampered = findings.iter().filter(|finding| finding["id"] == "trace-tampered");
    tampered.map(|finding| finding["line"].as_u64().unwrap()).collect()
}

#[test]
fn harmless_bytes_do_not_break_a_chain() {
    let text = trace(recorded().path());
    let blank = text.replace('\n', "\n\n  \n");
    // Two marks are damage, and the second one is a part of the line.
    let marked = Deployment::verified();
    marked.write("trace.jsonl", "\u{feff}\u{feff}{\"state\":\"a\"}\n");
    record(marked.path(), &["--state", "template_generated"]);
    assert_eq!(broken(&trace(marked.path())), [0_u64; 0]);
    let (head, last) = text.trim_end().rsplit_once("sha256:").unwrap();
    assert_eq!(broken(&format!("{head}sha256:{}\n", last.to_uppercase())), [0_u64; 0]);
    for same in [text.replace('\n', "\r\n"), format!("\u{feff}{text}"), blank, format!("{text}\0\0")] {
        assert_eq!(broken(&same), [0_u64; 0], "{same}");
    }
}

#[test]
fn a_line_cannot_be_made_unreadable_without_breaking_the_chain() {
    let text = trace(recorded().path());
    let lines: Vec<&str> = text.lines().collect();
    for (before, after) in [("\u{feff}", ""), ("\u{c}", ""), ("", "\u{c}"), ("", "\u{b}"), ("x", "")] {
        let spoiled: String = lines
            .iter()
            .enumerate()
            .map(|(at, line)| if at == 2 { format!("{before}{line}{after}\n") } else { format!("{line}\n") })
            .collect();
        assert_eq!(broken(&spoiled), [4], "{before:?} {after:?}");
    }
}

#[test]
fn a_last_line_that_no_reader_keeps_is_not_chained_to() {
    let deployment = Deployment::verified();
    for (size, code) in [(16 << 20, Some(0)), ((16 << 20) + 1, Some(2)), (17 << 20, Some(2))] {
        let frame = "{\"state\":\"x\",\"message\":\"\"}".len();
        let long = format!("{{\"state\":\"x\",\"message\":\"{}\"}}\n", "a".repeat(size - frame));
        deployment.write("trace.jsonl", &long);
        let output = record(deployment.path(), &["--state", "template_generated"]);
        assert_eq!(output.status.code(), code, "{size}: {}", stderr(&output));
        assert_eq!(trace(deployment.path()).len() > long.len(), code == Some(0));
    }
}

#[test]
fn what_looks_like_a_secret_is_not_written() {
    const TOKEN: &str = "ghp_0123456789abcdef0123456789abcdef0123";
    let deployment = Deployment::verified();
    record(
        deployment.path(),
        &["--state", "template_generated", "--message", TOKEN, "--actor", TOKEN, "--stage", TOKEN],
    );
    assert_eq!(events(deployment.path()).len(), 7);
    assert!(!trace(deployment.path()).contains(TOKEN));
    let refused = record(deployment.path(), &["--state", TOKEN, "--new-state"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(!stderr(&refused).contains(TOKEN));
    // An empty option is as good as none.
    record(
        deployment.path(),
        &["--state", "template_generated", "--run-id", "", "--actor", "", "--deployment-id", ""],
    );
    let event = events(deployment.path()).pop().unwrap();
    assert!(event.get("run_id").is_none() && event.get("actor").is_none() && event["deployment_id"] == ID);
}

#[test]
fn an_end_that_was_cut_off_is_not_seen_by_the_chain() {
    // No chain can tell that; the documentation says so, and the missing states are told.
    let text = trace(recorded().path());
    let cut: String = text.lines().take(4).map(|line| format!("{line}\n")).collect();
    assert_eq!(broken(&cut), [0_u64; 0]);
}

#[test]
fn a_link_of_somebody_else_means_nothing() {
    let text = "{\"state\":\"requirements_gathered\",\"prev\":\"template\"}\n{\"state\":\"x\",\"prev\":5}\n";
    assert_eq!(broken(text), [0_u64; 0]);
    assert_eq!(broken("{\"state\":\"requirements_gathered\",\"prev\":\"sha256:0\"}\n"), [1]);
}

#[test]
fn a_chain_of_another_writer_is_followed_as_well() {
    use process_integrity::digest::digest;
    let states = ["requirements_gathered", "template_generated", "security_gate_evaluated"];
    let written = |first: &str, bare: bool, with_break: bool| {
        let (mut text, mut prev) = (String::new(), first.to_owned());
        for state in states {
            let line = format!("{{\"state\":\"{state}\",\"prev\":\"{prev}\"}}");
            let end = if with_break { "\n" } else { "" };
            prev = digest(format!("{line}{end}").as_bytes());
            prev = if bare { prev.trim_start_matches("sha256:").to_owned() } else { prev };
            text.push_str(&format!("{line}\n"));
        }
        text
    };
    for first in ["", "genesis", &"0".repeat(64), &digest(b"")] {
        for (bare, with_break) in [(false, false), (false, true), (true, false), (true, true)] {
            let text = written(first, bare, with_break);
            assert_eq!(broken(&text), [0_u64; 0], "{text}");
            assert_eq!(broken(&text.replace("template_", "Template_")), [3], "{text}");
            // Zeros stand for no line only where there is none.
            let second = text.split_once('\n').unwrap().1;
            assert!(broken(second).contains(&1), "{second}");
        }
    }
    let zeros = "{\"state\":\"a\"}\n".to_owned() + &written(&"0".repeat(64), false, false);
    assert!(broken(&zeros).contains(&2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    // Whatever is done to a line that another one follows, the link behind it is broken.
    #[test]
    fn what_is_changed_before_the_last_line_is_named(line in 0_usize..5, kind in 0..5, at in 0_usize..400) {
        let text = CHAINED.with(Clone::clone);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let next = match kind {
            0 => {
                let at = at % lines[line].len();
                let other = if &lines[line][at..=at] == "0" { "1" } else { "0" };
                lines[line].replace_range(at..=at, other);
                line + 2
            }
            1 => { lines.remove(line); line + 1 }
            2 => { lines.insert(line, "{\"state\":\"security_gate_evaluated\"}".to_owned()); line + 2 }
            3 => { lines.swap(line, line + 1); line + 1 }
            _ => { let copy = lines[line].clone(); lines.insert(line, copy); line + 2 }
        };
        let changed: String = lines.iter().map(|line| format!("{line}\n")).collect();
        prop_assert!(broken(&changed).contains(&(next as u64)), "{kind} {line} {at}: {:?}", broken(&changed));
    }
}

thread_local! {
    static CHAINED: String = trace(recorded().path());
}

fn step(workspace: &Path, inputs: &[(&str, &str)]) -> (Output, String) {
    let outputs = workspace.join("outputs.txt");
    let mut command: Command = program();
    command.env("GITHUB_ACTIONS", "true").env("GITHUB_WORKSPACE", workspace).env("GITHUB_OUTPUT", &outputs);
    command.env("GITHUB_RUN_ID", "7").env("INPUT_MODE", "record");
    for (name, value) in inputs {
        command.env(format!("INPUT_{name}"), value);
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    (output, std::fs::read_to_string(outputs).unwrap_or_default())
}

#[test]
fn a_step_records_and_never_fails() {
    let outer = tempfile::tempdir().unwrap();
    let workspace = outer.path().join("w");
    std::fs::create_dir(&workspace).unwrap();
    let folder = ".azure/deployments/deploy-1";
    let (output, outputs) = step(
        &workspace,
        &[
            ("DEPLOYMENT-DIR", folder),
            ("STATE", "template_generated"),
            ("STATUS", "failure"),
            ("MESSAGE", "ghp_0123456789abcdef0123456789abcdef0123"),
        ],
    );
    let event = events(&workspace.join(folder)).pop().unwrap();
    assert_eq!(
        (&event["status"], &event["run_id"], &event["deployment_id"]),
        (&"failure".into(), &"7".into(), &"deploy-1".into())
    );
    assert!(!event["message"].as_str().unwrap().contains("0123456789"), "{event}");
    assert!(outputs.contains("trace-path") && outputs.contains(".azure/deployments/deploy-1/trace.jsonl"));
    assert!(
        outputs.contains("trace-head") && outputs.contains("sha256:") && outputs.contains("\nok\n"),
        "{outputs}"
    );
    assert!(stdout(&output).starts_with("recorded template_generated (failure)"));
    for (inputs, said) in [
        (&[("STATE", "template_generated")][..], "name the one deployment folder"),
        (&[("STATE", "templat_generated"), ("DEPLOYMENT-DIR", folder)], "did you mean"),
        (&[("STATE", "template_generated"), ("DEPLOYMENT-DIR", "../out")], "out of the workspace"),
        (&[("DEPLOYMENT-DIR", folder)], "the state is empty"),
        (&[("STATE", "template_generated"), ("DEPLOYMENT-DIR", ".azure/deployments/*")], "is a pattern"),
    ] {
        let (output, outputs) = step(&workspace, inputs);
        assert!(
            stdout(&output).contains("::warning") && stdout(&output).contains(said),
            "{}",
            stdout(&output)
        );
        assert!(outputs.contains(said.split('`').next().unwrap()), "{outputs}");
    }
    assert!(!outer.path().join("out").exists());
    assert_eq!(events(&workspace.join(folder)).len(), 1);
}
