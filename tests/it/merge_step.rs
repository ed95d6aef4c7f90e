//! The action in mode `merge`: the last job of a fleet, which never fails and never shows a lost shard as fine.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::merge::{lines, plan, report, valid};
use crate::support::{program, stdout};

struct Step {
    root: tempfile::TempDir,
}

impl Step {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    fn workspace(&self) -> std::path::PathBuf {
        self.root.path().join("w")
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.workspace().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn run(&self, inputs: &[(&str, &str)]) -> Output {
        std::fs::create_dir_all(self.workspace()).unwrap();
        let mut command = program();
        command
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_WORKSPACE", self.workspace())
            .env("INPUT_MODE", "merge");
        for name in ["output", "step_summary"] {
            let file = self.root.path().join(name);
            let _ = std::fs::remove_file(&file);
            command.env(format!("GITHUB_{}", name.to_uppercase()), file);
        }
        for (name, value) in inputs {
            command.env(format!("INPUT_{}", name.to_uppercase()), value);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        output
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.root.path().join(name)).unwrap_or_default()
    }

    /// An output of the step.
    fn output(&self, name: &str) -> String {
        let text = self.read("output");
        let mut lines = text.lines().skip_while(|line| !line.starts_with(&format!("{name}<<")));
        lines.nth(1).unwrap_or_else(|| panic!("{name} is not in {text}")).to_owned()
    }
}

const ALL: [(&str, &str); 3] =
    [("plan-path", "plan.json"), ("reports-path", "shards/*/report.jsonl"), ("fleet-path", "out/fleet")];

#[test]
fn a_fleet_is_told_in_every_way_and_a_lost_shard_is_not_validated() {
    let step = Step::new();
    step.write("plan.json", &plan(&[&["d/a", "d/b"], &["d/c"]]));
    step.write("shards/1/report.jsonl", &lines(&[report("d/a", None), report("d/b", Some("state-missing"))]));
    let output = step.run(&ALL);
    for (name, value) in [
        ("folders-count", "3"),
        ("verified-count", "1"),
        ("not-validated-count", "1"),
        ("false-success", "true"),
        ("fleet-path", "out/fleet"),
        ("status", "ok"),
    ] {
        assert_eq!(step.output(name), value, "{name}");
    }
    let warning = "::warning title=Process Integrity%3A fleet::1 of 3 deployments verified; 1 is a false success; 1 was not validated.";
    assert!(stdout(&output).lines().any(|line| line == warning), "{}", stdout(&output));
    let fleet = step.workspace().join("out/fleet");
    let document: Value = serde_json::from_slice(&std::fs::read(fleet.join("fleet.json")).unwrap()).unwrap();
    valid(&document);
    assert_eq!(document["not_validated"][0]["folder"], "d/c");
    assert!(std::fs::read_to_string(fleet.join("fleet.html")).unwrap().contains("d/c"));
    assert_eq!(std::fs::read_to_string(fleet.join("fleet.md")).unwrap(), step.read("step_summary"));
    assert!(step.read("step_summary").contains("NOT VALIDATED"));
    assert!(std::fs::read_to_string(fleet.join("issue.md")).unwrap().len() <= 60_000);
}

#[test]
fn without_a_single_report_everything_is_not_validated() {
    let step = Step::new();
    step.write("plan.json", &plan(&[&["d/a"], &["d/b"]]));
    step.run(&ALL);
    assert_eq!((step.output("not-validated-count"), step.output("verified-count")), ("2".into(), "0".into()));
    assert!(step.output("status").starts_with("no report matches"), "{}", step.output("status"));
}

#[test]
fn a_verified_fleet_raises_no_warning() {
    let step = Step::new();
    step.write("shards/1/report.jsonl", &lines(&[report("d/a", None)]));
    let output = step.run(&[("reports-path", "shards/1/report.jsonl"), ("summary", "false")]);
    assert!(
        !stdout(&output).contains("::warning") && !stdout(&output).contains("::error"),
        "{}",
        stdout(&output)
    );
    assert_eq!((step.output("verified-count"), step.output("fleet-path")), ("1".into(), String::new()));
    assert_eq!(step.read("step_summary"), "");
}

#[test]
fn what_cannot_be_merged_is_told_and_shows_nothing_as_fine() {
    for (write, inputs, words) in [
        (
            "",
            &[("plan-path", "plan.json"), ("reports-path", "r.jsonl")][..],
            "the plan plan.json cannot be used: no such file",
        ),
        ("{}", &[("plan-path", "plan.json"), ("reports-path", "r.jsonl")], "its schema is not"),
        ("", &[], "there is no report in the files"),
        ("", &[("reports-path", "r.jsonl"), ("fleet-path", "../out")], "leads out of the workspace"),
        ("", &[("reports-path", "../secret.jsonl")], "there is no report in the files"),
    ] {
        let step = Step::new();
        step.write("r.jsonl", &lines(&[report("d/a", None)]));
        std::fs::write(step.root.path().join("secret.jsonl"), lines(&[report("d/secret", None)])).unwrap();
        if !write.is_empty() {
            step.write("plan.json", write);
        }
        let output = step.run(inputs);
        assert!(stdout(&output).contains(words), "{words}: {}", stdout(&output));
        assert!(step.output("status") != "ok" && step.output("fleet-path").is_empty());
        assert!(!stdout(&output).contains("d/secret") && !Path::new(&step.root.path().join("out")).exists());
    }
}
