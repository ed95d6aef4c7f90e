//! `check` of many folders: the same bytes however many workers there are, and one bad folder stops nothing.

use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::step::{Step, copy};
use crate::support::{fixtures, program, stderr, stdout};

const CASES: [&str; 4] = [
    "agent-issue__deployment-retried",
    "deployment-failure__http-503",
    "process-violation__gate-skipped-fallback",
    "verified-success__fallback",
];

/// A repository with so many deployments, the cases in turn.
fn repository(count: usize) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for at in 0..count {
        let name = format!("deploy-{at:04}");
        copy(&fixtures().join(CASES[at % CASES.len()]), &root.path().join(".azure/deployments").join(name));
    }
    root
}

fn check(root: &Path, arguments: &[&str]) -> Output {
    program().current_dir(root).arg("check").args(arguments).output().unwrap()
}

const ALL: &str = ".azure/deployments/*";

#[test]
fn reports_come_in_the_order_of_the_folders_with_any_number_of_workers() {
    let root = repository(60);
    for format in ["json", "brief", "text", "markdown", "annotations"] {
        let one = check(root.path(), &["--jobs", "1", "--format", format, ALL]);
        let eight = check(root.path(), &["--jobs", "8", "--format", format, ALL]);
        assert_eq!(one.status.code(), Some(1), "{}", stderr(&one));
        assert!(one.stdout == eight.stdout, "{format}");
        assert_eq!((stderr(&one), stderr(&eight)), (String::new(), String::new()), "{format}");
    }
    let lines = stdout(&check(root.path(), &["--format", "json", ALL]));
    let folders: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["folder"].as_str().unwrap().to_owned())
        .collect();
    let expected: Vec<String> = (0..60).map(|at| format!(".azure/deployments/deploy-{at:04}")).collect();
    assert_eq!(folders, expected);
}

#[test]
fn a_glob_is_sorted_and_what_was_given_keeps_its_order() {
    let root = repository(4);
    let given = [
        ".azure/deployments/deploy-0003",
        ".azure/deployments/deploy-000[0-2]",
        ".azure/deployments/deploy-0003",
    ];
    let output = check(root.path(), &[&["--format", "brief"], &given[..]].concat());
    let text = stdout(&output);
    let names: Vec<&str> = text.lines().take(5).map(|line| line.split_once("/deploy-").unwrap().1).collect();
    let names: Vec<&str> = names.iter().map(|name| &name[..4]).collect();
    assert_eq!(names, ["0003", "0000", "0001", "0002", "0003"], "{text}");
    // A glob gives a line a report, however many folders match it today.
    let one = stdout(&check(root.path(), &["--format", "json", ".azure/deployments/deploy-0000*"]));
    assert_eq!(one.lines().count(), 1);
    let absolute = format!("{}/.azure/*/deploy-0001*", root.path().display());
    let report: Value =
        serde_json::from_str(&stdout(&check(root.path(), &["--format", "json", &absolute]))).unwrap();
    assert_eq!(report["folder"], format!("{}/.azure/deployments/deploy-0001", root.path().display()));
}

#[test]
fn brief_is_one_line_a_deployment_and_a_tally() {
    let root = repository(4);
    let text = stdout(&check(root.path(), &["--format", "brief", ALL]));
    let expected = "\
⚠️ agent-issue         6/6  .azure/deployments/deploy-0000  false success
❌ deployment-failure  5/6  .azure/deployments/deploy-0001  missing integration_tests_passed  false success
⚠️ process-violation   5/6  .azure/deployments/deploy-0002  missing security_gate_evaluated  false success
✅ verified-success    6/6  .azure/deployments/deploy-0003
4 deployments: 1 deployment-failure, 1 process-violation, 1 agent-issue, 1 verified-success
";
    assert_eq!(text, expected);
}

#[test]
fn what_cannot_be_checked_is_told_and_the_others_go_on() {
    let root = repository(4);
    std::fs::write(root.path().join("file"), "").unwrap();
    let given = [
        ".azure/deployments/deploy-0000",
        "gone",
        "file",
        "nothing/*",
        "a***",
        ".azure/deployments/deploy-0003",
    ];
    let output = check(root.path(), &[&["--format", "json"], &given[..]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stdout(&output).lines().count(), 2);
    let told = stderr(&output);
    for part in [
        "error: gone is no folder; name a deployment folder",
        "error: file is no folder",
        "error: nothing/*: no folder matches it",
        "error: a***: it is no pattern: ",
        "error: 4 could not be checked",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let verified = check(root.path(), &[".azure/deployments/deploy-0003", "gone"]);
    assert_eq!(verified.status.code(), Some(2));
}

#[test]
fn fail_fast_stops_at_the_first_that_is_not_verified() {
    let root = repository(40);
    let from_the_last = [".azure/deployments/deploy-0003", ".azure/deployments/deploy-0007", ALL];
    for jobs in ["1", "8"] {
        let arguments = [&["--fail-fast", "--jobs", jobs, "--format", "json"], &from_the_last[..]].concat();
        let output = check(root.path(), &arguments);
        assert_eq!((output.status.code(), stdout(&output).lines().count()), (Some(1), 3), "{jobs}");
    }
    let gone = check(
        root.path(),
        &["--fail-fast", "--format", "json", ".azure/deployments/deploy-0003", "gone", ALL],
    );
    assert_eq!((gone.status.code(), stdout(&gone).lines().count()), (Some(2), 1));
}

#[test]
fn a_folder_that_goes_away_while_others_are_checked_is_told() {
    let root = repository(400);
    let mut child = program()
        .current_dir(root.path())
        .args(["check", "--jobs", "2", "--format", "json", ALL])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Nobody reads yet, so the pipe is full long before the last folder.
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    std::io::BufRead::read_line(&mut out, &mut first).unwrap();
    std::fs::remove_dir_all(root.path().join(".azure/deployments/deploy-0399")).unwrap();
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut out, &mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(rest.lines().count(), 398);
    assert!(stderr(&output).contains("deploy-0399 is no folder"), "{}", stderr(&output));
}

#[test]
fn reports_that_nobody_takes_are_told_and_end_with_2() {
    let root = repository(200);
    let mut child = program()
        .current_dir(root.path())
        .args(["check", "--format", "json", ALL])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: the reports cannot be written: "), "{}", stderr(&output));
}

#[test]
fn the_action_checks_hundreds_of_folders_and_its_log_stays_short() {
    let step = Step::new();
    let root = repository(300);
    copy(root.path(), &step.workspace());
    let step = step.input("deployment-dir", ALL).input("report-path", "report.jsonl");
    let output = step.run();
    let outputs = step.outputs();
    assert_eq!((outputs["status"].as_str(), outputs["verdict"].as_str()), ("ok", "deployment-failure"));
    let report = std::fs::read_to_string(step.workspace().join("report.jsonl")).unwrap();
    let folders: Vec<String> = report
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["folder"].as_str().unwrap().to_owned())
        .collect();
    let expected: Vec<String> = (0..300).map(|at| format!(".azure/deployments/deploy-{at:04}")).collect();
    assert_eq!(folders, expected);
    let log = stdout(&output);
    let tally =
        "300 deployments: 75 deployment-failure, 75 process-violation, 75 agent-issue, 75 verified-success\n";
    assert!(log.contains(tally));
    // Worst first: all failures in full, and a line for what is fine.
    assert_eq!(log.matches("\nHealth: ").count(), 100);
    assert_eq!(log.matches("✅ verified-success    6/6  .azure/deployments/deploy-").count(), 75);
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_printed_is_told_in_every_format() {
    for format in ["text", "json", "sarif", "junit"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let folder = fixtures().join("verified-success__fallback");
        let output =
            program().arg("check").arg(folder).args(["--format", format]).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{format}");
        assert!(stderr(&output).contains("the reports cannot be written"), "{format}: {}", stderr(&output));
    }
}
