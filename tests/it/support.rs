//! Runs the binary in a scrubbed environment, and builds deployment folders.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// The repository's fixtures.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// The folders of the cases, sorted.
pub(crate) fn cases() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("case.json").is_file());
    folders.sort();
    folders
}

/// What a case asks for on the command line beside its folder.
pub(crate) fn arguments_of(case: &Path) -> Vec<String> {
    let text = std::fs::read(case.join("case.json")).unwrap();
    let json: Value = serde_json::from_slice(&text).unwrap();
    let model = json["model"].as_str().map(|model| case.join(model).display().to_string());
    model.map_or(vec![], |model| vec!["--model".to_owned(), model])
}

/// The program, with nothing of the environment of the tests.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_process-integrity"));
    command.env_clear().current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

/// Standard output as text.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Standard error as text.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// `check FOLDER --format json …` as JSON, and the exit code.
pub(crate) fn check(folder: &Path, arguments: &[&str]) -> (Value, i32) {
    let output =
        program().arg("check").arg(folder).args(["--format", "json"]).args(arguments).output().unwrap();
    let text = stdout(&output);
    let report = serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{}: {error}: {text}{}", folder.display(), stderr(&output)));
    (report, output.status.code().unwrap())
}

/// The ids of a report's findings.
pub(crate) fn ids(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().map(|finding| finding["id"].as_str().unwrap()).collect()
}

/// The states of the fallback checklist, in order.
pub(crate) const CHECKLIST: [&str; 6] = [
    "requirements_gathered",
    "template_generated",
    "security_gate_evaluated",
    "preflight_validated",
    "deployment_executed",
    "integration_tests_passed",
];

/// A deployment folder that is made for one test. Without a change it is a verified success.
pub(crate) struct Deployment {
    folder: tempfile::TempDir,
}

pub(crate) const ID: &str = "deploy-20261005-120000";

impl Deployment {
    /// A verified success by the fallback checklist.
    pub(crate) fn verified() -> Self {
        let deployment = Self { folder: tempfile::tempdir().unwrap() };
        deployment.write("state.json", &json!({"deploymentId": ID, "status": "succeeded"}).to_string());
        deployment.write(
            "tests.json",
            &json!({"status": "passed", "resources": [{"name": "func", "provisioningState": "Succeeded"}],
                    "endpoints": "\n- func: https://func.example \u{2192} HTTP 200"})
            .to_string(),
        );
        deployment.trace(&events(&CHECKLIST));
        deployment
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, and the folders on the way to it.
    pub(crate) fn write(&self, name: &str, text: &str) -> &Self {
        self.bytes(name, text.as_bytes())
    }

    pub(crate) fn bytes(&self, name: &str, bytes: &[u8]) -> &Self {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        self
    }

    pub(crate) fn remove(&self, name: &str) -> &Self {
        std::fs::remove_file(self.path().join(name)).unwrap();
        self
    }

    /// Writes the trace, one event a line.
    pub(crate) fn trace(&self, events: &[Value]) -> &Self {
        self.write("trace.jsonl", &lines(events))
    }

    pub(crate) fn check(&self, arguments: &[&str]) -> (Value, i32) {
        check(self.path(), arguments)
    }
}

/// Events as a `trace.jsonl`.
pub(crate) fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

/// One event of a word each: `state` or `state:status`, seven seconds apart.
pub(crate) fn events(words: &[&str]) -> Vec<Value> {
    let event = |(at, word): (usize, &&str)| {
        let (state, status) = word.split_once(':').unwrap_or((word, "completed"));
        let seconds = at * 7;
        let time =
            format!("2026-10-05T{:02}:{:02}:{:02}Z", 12 + seconds / 3600, seconds / 60 % 60, seconds % 60);
        json!({"state": state, "status": status, "timestamp": time})
    };
    words.iter().enumerate().map(event).collect()
}
