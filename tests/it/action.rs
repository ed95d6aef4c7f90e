//! The action as the runner starts it: no arguments, inputs and files in the environment, exit code 0 whatever happens.

use std::process::{Command, Stdio};

use crate::step::{SKIPPED, Step, annotations};
use crate::support::{Deployment, ID, program, stderr, stdout};

#[test]
fn outputs_annotations_and_summary_are_written() {
    let step = Step::with(&[SKIPPED]).input("report-path", "out/report.json");
    let output = step.run();
    let outputs = step.outputs();
    let expected = [
        ("verdict", "process-violation"),
        ("false-success", "true"),
        ("coverage", "5/6"),
        ("coverage-percent", "83"),
        ("missing-states", "security_gate_evaluated"),
        ("findings-count", "1"),
        ("health", "healthy"),
        ("claim", "succeeded"),
        ("status", "ok"),
        ("report-path", "out/report.json"),
    ];
    for (name, value) in expected {
        assert_eq!(outputs.get(name).map(String::as_str), Some(value), "{name}");
    }
    let found = annotations(&output);
    assert_eq!(
        found[0],
        "::warning title=Process Integrity%3A PROCESS VIOLATION::deploy-20261005-120000: Resources are healthy, but the \
         deployment process was incomplete.%0ACoverage 5/6 essential states (83%25).%0AMissing: security_gate_evaluated."
    );
    let file = format!("file=.azure/deployments/{SKIPPED}/trace.jsonl");
    assert!(
        found[1].starts_with(&format!("::warning title=Process Integrity%3A state-missing,{file}::")),
        "{}",
        found[1]
    );
    assert_eq!(found.len(), 2);
    let summary = step.summary();
    for part in [
        "| Coverage | 5/6 essential states (83%) |",
        "- Commit: `0123456789abcdef",
        "[42](https://github.example/octo/orders/actions/runs/42)",
    ] {
        assert!(summary.contains(part), "{part}");
    }
    let report = std::fs::read_to_string(step.workspace().join("out/report.json")).unwrap();
    assert!(report.contains("\"schema\": \"process-integrity-report/v1\""));
}

#[test]
fn a_verified_success_raises_no_warning() {
    let step = Step::with(&["verified-success__fallback"]);
    let found = annotations(&step.run());
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("::notice title=Process Integrity%3A VERIFIED SUCCESS::"));
    let step = Step::with(&["verified-success__gate-overridden"]);
    let found = annotations(&step.run());
    assert!(
        found.iter().any(|line| line.starts_with("::notice title=Process Integrity%3A gate-overridden")),
        "{found:?}"
    );
}

#[test]
fn a_failure_is_an_error_and_the_exit_code_stays_0() {
    let step = Step::with(&["deployment-failure__http-503"]);
    assert!(
        annotations(&step.run())[0].starts_with("::error title=Process Integrity%3A DEPLOYMENT FAILURE::")
    );
    assert_eq!(step.outputs()["verdict"], "deployment-failure");
}

#[test]
fn nothing_at_all_is_a_verdict() {
    let step = Step::new();
    let output = step.run();
    assert_eq!(step.outputs()["verdict"], "process-violation");
    assert!(stdout(&output).contains("trace-missing"));
    let bare = program().env("GITHUB_ACTIONS", "true").current_dir(step.workspace()).output().unwrap();
    assert_eq!(bare.status.code(), Some(0), "{}", stderr(&bare));
}

#[test]
fn bad_inputs_are_warnings_and_defaults() {
    let step = Step::with(&["verified-success__fallback"])
        .input("min-events", "many")
        .input("evidence", "all")
        .input("summary", "perhaps")
        .input("coverage-threshold", "1000")
        .input("state-map", "nowhere.json");
    let output = step.run();
    assert_eq!(step.outputs()["verdict"], "verified-success");
    let found = annotations(&output);
    assert_eq!(found.iter().filter(|line| line.starts_with("::warning")).count(), 3, "{found:?}");
    assert!(stderr(&output).contains("warning: "));
    assert!(step.outputs()["status"].contains("coverage-threshold"));
    assert!(!step.summary().is_empty());
}

#[test]
fn files_that_cannot_be_written_stop_nothing() {
    let step = Step::with(&[SKIPPED])
        .variable("GITHUB_OUTPUT", "/nowhere/output")
        .variable("GITHUB_STEP_SUMMARY", "/nowhere/summary")
        .input("report-path", "../outside.json");
    let output = step.run();
    let found = annotations(&output);
    for part in ["outputs cannot be written", "summary cannot be written", "report cannot be written"] {
        assert!(found.iter().any(|line| line.contains(part)), "{part}: {found:?}");
    }
    assert!(!step.root.path().join("outside.json").exists());
    let no_workspace = Step::new().variable("GITHUB_WORKSPACE", "/nowhere/at/all");
    no_workspace.run();
    assert!(no_workspace.outputs()["status"].contains("workspace cannot be read"));
}

#[test]
fn at_most_ten_annotations_of_a_type_are_raised() {
    let step = Step::new();
    let folder = step.workspace().join(".azure/deployments").join(ID);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("trace.jsonl"), "x\n".repeat(500)).unwrap();
    let step = step.input("min-events", "many");
    let found = annotations(&step.run());
    // Room is left for what is still to come of the comment and the issue.
    assert_eq!(found.len(), 8, "{found:?}");
    assert!(found[7].contains("::and "), "{}", found[7]);
    assert!(found.iter().all(|line| line.starts_with("::warning ")));
    assert!(found[2].contains("line") || found[2].contains("state-missing"), "{}", found[2]);
}

#[test]
fn of_several_folders_the_newest_is_judged_and_of_several_named_ones_the_worst_counts() {
    let step = Step::with(&["verified-success__fallback", SKIPPED]);
    let newest = step.workspace().join(".azure/deployments/verified-success__fallback/state.json");
    let text =
        std::fs::read_to_string(&newest).unwrap().replace("2026-10-05T12:08:00Z", "2026-10-06T12:08:00Z");
    std::fs::write(&newest, text).unwrap();
    step.run();
    assert_eq!(step.outputs()["verdict"], "verified-success");
    for folders in [
        ".azure/deployments/*",
        ".azure/deployments/verified-success__fallback\n.azure/deployments/process-violation__gate-skipped-fallback\n",
    ] {
        let step = Step::with(&["verified-success__fallback", SKIPPED]).input("deployment-dir", folders);
        let output = step.run();
        assert_eq!(step.outputs()["verdict"], "process-violation");
        assert_eq!(step.outputs()["coverage"], "5/6");
        assert!(stdout(&output).contains("2 deployments: 0 deployment-failure, 1 process-violation"));
        let summary = step.summary();
        assert!(summary.contains("**1 of 2 deployments verified"), "{summary}");
        // One over the table of all, and one over each report.
        assert_eq!(summary.matches("## 🧪 Post-Deployment Validation").count(), 3);
    }
}

#[test]
fn a_folder_outside_of_the_workspace_counts_as_absent() {
    let outside = Deployment::verified();
    let step = Step::with(&["verified-success__fallback"])
        .input("deployment-dir", &outside.path().display().to_string());
    step.run();
    assert_eq!(step.outputs()["verdict"], "process-violation");
    assert_eq!(step.outputs()["missing-states"].split(',').count(), 6);
}

#[test]
fn the_summary_stays_under_its_limit() {
    let step = Step::new();
    for n in 0..40 {
        let folder = step.workspace().join(format!(".azure/deployments/d{n}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("trace.jsonl"), format!("{}\n", "y".repeat(150)).repeat(300)).unwrap();
    }
    let step = step.input("deployment-dir", ".azure/deployments/*");
    let output = step.run();
    let size = step.summary().len();
    assert!(size <= 900_200, "{size}");
    assert!(step.summary().contains("more deployments do not fit into this summary"), "{size}");
    assert!(annotations(&output).len() <= 10);
    let off = Step::with(&[SKIPPED]).input("summary", "false");
    off.run();
    assert_eq!(off.summary(), "");
}

#[test]
fn secrets_and_masked_values_are_blanked_everywhere() {
    let token = format!("ghs{}", "_0123456789abcdefghijABCDEFGHIJ0123");
    let step = Step::new()
        .input("mask", "hunter2\nopen sesame")
        .input("github-token", "the-very-token")
        .input("report-path", "r.json");
    let folder = step.workspace().join(".azure/deployments").join(ID);
    std::fs::create_dir_all(&folder).unwrap();
    let line =
        format!("{{\"state\":\"error\",\"message\":\"{token} hunter2 open sesame the-very-token\"}}\n");
    std::fs::write(folder.join("trace.jsonl"), line.repeat(4)).unwrap();
    let output = step.run();
    let report = std::fs::read_to_string(step.workspace().join("r.json")).unwrap();
    for (sink, text) in [
        ("stdout", stdout(&output)),
        ("stderr", stderr(&output)),
        ("summary", step.summary()),
        ("report", report),
    ] {
        for secret in [token.as_str(), "hunter2", "open sesame", "the-very-token"] {
            assert!(!text.contains(secret), "{sink} shows {secret}");
        }
    }
    assert!(step.summary().contains("`*** *** *** ***`"));
}

#[test]
fn debug_logging_is_quiet_unless_it_is_asked_for() {
    let step = Step::with(&[SKIPPED]);
    assert_eq!(stderr(&step.run()), "");
    let step = step.variable("RUNNER_DEBUG", "1");
    assert!(stderr(&step.run()).contains("checking"));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_at_once_with_0() {
    for signal in ["TERM", "INT"] {
        let step = Step::with(&[SKIPPED]);
        // A pipe that nobody reads holds the writing of outputs until the signal comes.
        let pipe = step.root.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let step = step.variable("GITHUB_OUTPUT", &pipe.display().to_string());
        let child = step.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(2_000));
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success(), "it had ended before the signal");
        let started = std::time::Instant::now();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{signal}: {}", stderr(&output));
        assert!(started.elapsed() < std::time::Duration::from_secs(3));
        assert!(stdout(&output).contains("cancelled"), "{signal}: {}", stdout(&output));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let step = Step::with(&[SKIPPED]);
    let mut child = step.command().stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(step.outputs()["verdict"], "process-violation");
}
