//! A fleet with known verdicts: planned, checked shard by shard by processes of their own, and counted. `.ci/fleet.py` does the
//! same with thousands.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;

use process_integrity::plan::Plan;
use serde_json::Value;

use crate::step::copy;
use crate::support::{cases, program, stderr, stdout};

const FOLDERS: usize = 200;

/// Verdict by folder.
type Verdicts = BTreeMap<String, String>;

/// Cases that say in a file which deployment they are of, so that the name of their folder does not matter, and that are
/// checked without a model of their own.
fn templates() -> Vec<(std::path::PathBuf, String)> {
    let mut found = Vec::new();
    for folder in cases() {
        let read = |name: &str| -> Value {
            let text = std::fs::read(folder.join(name)).unwrap_or_default();
            serde_json::from_slice(&text).unwrap_or_default()
        };
        let (case, state) = (read("case.json"), read("state.json"));
        if state["deploymentId"].is_string() && case["model"].is_null() {
            found.push((folder, case["expect"]["verdict"].as_str().unwrap().to_owned()));
        }
    }
    let verdicts: BTreeSet<&str> = found.iter().map(|(_, verdict)| verdict.as_str()).collect();
    assert_eq!(verdicts.len(), 4, "{verdicts:?}");
    found
}

fn fleet() -> (tempfile::TempDir, Verdicts) {
    let root = tempfile::tempdir().unwrap();
    let templates = templates();
    let mut expected = Verdicts::new();
    for at in 0..FOLDERS {
        let (template, verdict) = &templates[at % templates.len()];
        let path = format!(".azure/deployments/deploy-{at:05}");
        copy(template, &root.path().join(&path));
        expected.insert(path, verdict.clone());
    }
    (root, expected)
}

/// The verdict and the folder of a line.
fn told(line: &str) -> Option<(String, String)> {
    let report: Value = serde_json::from_str(line).ok()?;
    Some((report["folder"].as_str()?.to_owned(), report["verdict"].as_str()?.to_owned()))
}

fn plan(root: &Path, shards: &str) -> Plan {
    let plan =
        program().current_dir(root).args(["plan", "--shards", shards, "--output", "plan.json"]).output();
    assert_eq!(plan.unwrap().status.code(), Some(0));
    Plan::parse(&std::fs::read(root.join("plan.json")).unwrap()).unwrap()
}

#[test]
fn the_shards_of_a_fleet_find_what_is_known_of_it() {
    let (root, expected) = fleet();
    let planned = plan(root.path(), "7");
    assert_eq!((planned.shards(), planned.folders()), (7, FOLDERS));
    let mut found = Verdicts::new();
    for shard in 1..=7 {
        let arguments = ["check", "--format", "json", "--plan", "plan.json", "--shard", &shard.to_string()];
        let output = program().current_dir(root.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        std::fs::write(root.path().join(format!("{shard}.jsonl")), &output.stdout).unwrap();
        for (folder, verdict) in stdout(&output).lines().map(|line| told(line).unwrap()) {
            assert!(found.insert(folder, verdict).is_none(), "no folder is in two shards");
        }
    }
    assert_eq!(found, expected);
    let all = ["check", "--format", "brief", ".azure/deployments/*"];
    let all = stdout(&program().current_dir(root.path()).args(all).output().unwrap());
    let count = |verdict: &str| expected.values().filter(|other| *other == verdict).count();
    let tally = format!(
        "{FOLDERS} deployments: {} deployment-failure, {} process-violation, {} agent-issue, {} verified-success\n",
        count("deployment-failure"),
        count("process-violation"),
        count("agent-issue"),
        count("verified-success")
    );
    assert!(all.ends_with(&tally), "{all}");
    // One shard is lost: what it had to check is not validated, and the rest is as it was.
    let lost = planned.shard(3).unwrap();
    std::fs::remove_file(root.path().join("3.jsonl")).unwrap();
    let verdict = |folder: &String, verdict: &String| match lost.iter().any(|other| other.path == *folder) {
        true => "not-validated".to_owned(),
        false => verdict.clone(),
    };
    let mut left = BTreeMap::<String, u64>::new();
    for (folder, known) in &expected {
        *left.entry(verdict(folder, known)).or_default() += 1;
    }
    let files = [1, 2, 4, 5, 6, 7].map(|shard| format!("{shard}.jsonl"));
    let mut merge = program();
    merge.current_dir(root.path()).args(["merge", "--plan", "plan.json", "--format", "json"]).args(files);
    let output = merge.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let merged: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(merged["tally"], serde_json::to_value(left).unwrap());
}

#[test]
fn a_shard_that_is_killed_has_torn_its_last_line_at_most() {
    let (root, expected) = fleet();
    plan(root.path(), "1");
    let mut child = program()
        .current_dir(root.path())
        .args(["check", "--format", "json", "--plan", "plan.json", "--shard", "1"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // It waits as long as nobody reads on, and is killed in the middle.
    let mut reports = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    for _ in 0..40 {
        reports.read_line(&mut text).unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut rest = Vec::new();
    reports.read_to_end(&mut rest).unwrap();
    text.push_str(&String::from_utf8_lossy(&rest));
    let lines: Vec<&str> = text.lines().collect();
    assert!((40..FOLDERS).contains(&lines.len()), "{}", lines.len());
    let whole = if text.ends_with('\n') { &lines[..] } else { &lines[..lines.len() - 1] };
    for line in whole {
        let (folder, verdict) = told(line).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(expected[&folder], verdict);
    }
}
