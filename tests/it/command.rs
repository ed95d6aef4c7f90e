//! The local command as a person uses it.

use serde_json::Value;

use crate::support::{Deployment, events, fixtures, program, stderr, stdout};

#[test]
fn help_and_version_are_given() {
    let help = program().arg("--help").output().unwrap();
    assert_eq!(help.status.code(), Some(0));
    assert!(stdout(&help).contains("Exit codes: 0 verified success, 1 any other verdict, 2 could not run."));
    let check = program().args(["check", "--help"]).output().unwrap();
    for word in ["--trace", "--model", "--tests", "--format", "--evidence", "Examples:"] {
        assert!(stdout(&check).contains(word), "{word}");
    }
    assert_eq!(program().arg("--version").output().unwrap().status.code(), Some(0));
}

#[test]
fn what_cannot_run_says_why_and_what_to_do() {
    for (arguments, words) in [
        (&[][..], &["nothing to do", "--help"][..]),
        (&["check"], &["required", "--help"]),
        (&["check", "/nowhere/at/all"], &["is no folder", "name a deployment folder"]),
        (
            &["check", "--format", "yaml", "."],
            &["invalid value", "text, markdown, json, annotations, brief, sarif, junit"],
        ),
        (&["check", "--coverage-threshold", "0", "."], &["not from 1 to 100"]),
        (&["check", "--state-map", "Cargo.toml", "."], &["state map", "name"]),
        (&["chekc"], &["unrecognized subcommand", "check"]),
    ] {
        let output = program().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
        for word in words {
            assert!(stderr(&output).contains(word), "{arguments:?}: {}", stderr(&output));
        }
    }
}

#[test]
fn several_folders_are_one_json_object_a_line_and_a_tally_in_text() {
    let folders =
        ["verified-success__fallback", "process-violation__no-trace", "deployment-failure__http-503"];
    let folders: Vec<_> = folders.iter().map(|name| fixtures().join(name)).collect();
    let json = program().arg("check").args(&folders).args(["--format", "json"]).output().unwrap();
    assert_eq!(json.status.code(), Some(1));
    let lines = stdout(&json);
    let verdicts: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["verdict"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(verdicts, ["verified-success", "process-violation", "deployment-failure"]);
    let text = program().arg("check").args(&folders).output().unwrap();
    let tally =
        "3 deployments: 1 deployment-failure, 1 process-violation, 0 agent-issue, 1 verified-success\n";
    assert!(stdout(&text).ends_with(tally), "{}", stdout(&text));
    let good = program().arg("check").arg(&folders[0]).arg(&folders[0]).output().unwrap();
    assert_eq!(good.status.code(), Some(0));
}

#[test]
fn text_has_no_colour_where_there_is_no_terminal() {
    let output = program().args(["check", "fixtures/verified-success__fallback"]).output().unwrap();
    assert!(!stdout(&output).contains('\u{1b}'));
    assert!(stdout(&output).starts_with("✅ VERIFIED SUCCESS  deploy-20261005-120000\n"));
}

#[test]
fn the_picture_shows_the_checkpoints_in_order_and_what_happened_in_between() {
    let output =
        program().args(["check", "fixtures/verified-success__documented-gate-loop"]).output().unwrap();
    let text = stdout(&output);
    let picture: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("Checkpoints")).take(8).collect();
    assert_eq!(
        picture,
        [
            "Checkpoints: 6/6 essential states (100%)",
            "  ✔ requirements_gathered     line 1",
            "  │   · template_generated completed (line 2)",
            "  │   ✘ security_gate_evaluated failed (line 3)",
            "  ✔ template_generated        line 4",
            "  ✔ security_gate_evaluated   line 5",
            "  ✔ preflight_validated       line 6",
            "  ✔ deployment_executed       line 7",
        ]
    );
}

#[test]
fn the_markdown_of_the_documented_example_has_exactly_its_rows() {
    let case = "fixtures/process-violation__gate-and-preflight-skipped";
    let model = format!("{case}/dominator-model.json");
    let output = program().args(["check", case, "--model", &model, "--format", "markdown"]).output().unwrap();
    let text = stdout(&output);
    let rows: Vec<&str> = text
        .lines()
        .skip_while(|line| *line != "### Process Integrity")
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert_eq!(
        rows,
        [
            "| Verdict | ⚠️ PROCESS VIOLATION |",
            "|---------|---------------------|",
            "| Coverage | 5/7 essential states (71%) |",
            "| Missing | `security_gate_evaluated`, `preflight_validated` |",
        ]
    );
    for part in [
        "## 🧪 Post-Deployment Validation\n",
        "### Resource Health\n| Resource | Status | Check |\n",
        "> ⚠️ **Resources are healthy, but the deployment process was incomplete.**",
        "> **Action required:** ",
        "```mermaid\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn explicit_files_replace_those_of_the_folder() {
    let deployment = Deployment::verified();
    deployment.write("elsewhere/t.jsonl", &crate::support::lines(&events(&["requirements_gathered"])));
    deployment.write("elsewhere/r.json", r#"{"status":"failed"}"#);
    deployment.write("elsewhere/m.json", r#"{"essential_states":["requirements_gathered"]}"#);
    let path = |name: &str| deployment.path().join("elsewhere").join(name).display().to_string();
    let (report, _) = deployment.check(&["--trace", &path("t.jsonl")]);
    assert_eq!(report["coverage"]["covered"], 1);
    assert!(crate::support::ids(&report).contains(&"other-traces"));
    let (report, _) = deployment.check(&["--tests", &path("r.json")]);
    assert_eq!(report["verdict"], "deployment-failure");
    let (report, _) = deployment.check(&["--model", &path("m.json")]);
    assert_eq!(
        (report["coverage"]["essential"].clone(), report["model"]["source"].clone()),
        (1.into(), "explicit".into())
    );
    for flag in ["--trace", "--model", "--tests"] {
        let (report, code) = deployment.check(&[flag, "/nowhere/at/all"]);
        assert_eq!((report["verdict"].as_str(), code), (Some("process-violation"), 1), "{flag}");
    }
}

#[test]
fn the_overrides_of_the_model_are_honoured() {
    let deployment = Deployment::verified();
    deployment.trace(&events(&[
        "requirements_gathered",
        "template_generated",
        "deployment_executed",
        "integration_tests_passed",
    ]));
    let (report, code) = deployment.check(&["--coverage-threshold", "66"]);
    assert_eq!((report["verdict"].as_str(), code), (Some("verified-success"), 0));
    assert!(crate::support::ids(&report).contains(&"below-full-coverage"));
    let (report, _) = deployment.check(&["--terminal-state", "deployment_executed", "--min-events", "9"]);
    assert!(crate::support::ids(&report).contains(&"incomplete-workflow"));
    assert!(crate::support::ids(&report).contains(&"short-trace"));
    let unknown = program()
        .arg("check")
        .arg(deployment.path())
        .args(["--deployment-state", "nobody", "--format", "json"])
        .output()
        .unwrap();
    assert!(stderr(&unknown).contains("warning: the deployment state `nobody` is no state of the model"));
}
