//! The action's step as the runner prepares it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::fake::Fake;
use crate::support::{fixtures, program, stderr, stdout};

/// A fixture in which the gate was skipped.
pub(crate) const SKIPPED: &str = "process-violation__gate-skipped-fallback";
/// A fixture of a verified success.
pub(crate) const VERIFIED: &str = "verified-success__fallback";
/// The token of the steps that have one.
pub(crate) const TOKEN: &str = "the-very-token";

/// A workspace with deployment folders, and the runner's command files.
pub(crate) struct Step {
    pub(crate) root: tempfile::TempDir,
    environment: BTreeMap<String, String>,
}

impl Step {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let mut step = Self { root, environment: BTreeMap::new() };
        std::fs::create_dir(step.workspace()).unwrap();
        for (name, file) in [("GITHUB_OUTPUT", "output"), ("GITHUB_STEP_SUMMARY", "summary")] {
            std::fs::write(step.root.path().join(file), "").unwrap();
            let path = step.root.path().join(file).display().to_string();
            step.environment.insert(name.to_owned(), path);
        }
        let workspace = step.workspace().display().to_string();
        for (name, value) in [
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_WORKSPACE", &workspace),
            ("GITHUB_SERVER_URL", "https://github.example"),
            ("GITHUB_REPOSITORY", "octo/orders"),
            ("GITHUB_RUN_ID", "42"),
            ("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567"),
        ] {
            step.environment.insert(name.to_owned(), value.to_owned());
        }
        step
    }

    /// With the folders of these fixtures.
    pub(crate) fn with(cases: &[&str]) -> Self {
        let step = Self::new();
        for case in cases {
            copy(&fixtures().join(case), &step.workspace().join(".azure/deployments").join(case));
        }
        step
    }

    /// With a GitHub, a token, and the first attempt of a run.
    pub(crate) fn github(self, fake: &Fake, run: u64) -> Self {
        self.variable("GITHUB_API_URL", &fake.api_url())
            .variable("GITHUB_GRAPHQL_URL", &fake.graphql_url())
            .variable("GITHUB_RUN_ATTEMPT", "1")
            .input("github-token", TOKEN)
            .numbered(run)
    }

    /// With a pull request that an input names.
    pub(crate) fn on(fake: &Fake, run: u64, case: &str) -> Self {
        Self::with(&[case]).github(fake, run).input("pr-number", "7")
    }

    /// As another run.
    pub(crate) fn numbered(self, run: u64) -> Self {
        self.variable("GITHUB_RUN_ID", &run.to_string())
    }

    /// Started by an event.
    pub(crate) fn event(self, name: &str, event: &Value) -> Self {
        let file = self.root.path().join("event.json");
        std::fs::write(&file, event.to_string()).unwrap();
        self.variable("GITHUB_EVENT_NAME", name).variable("GITHUB_EVENT_PATH", &file.display().to_string())
    }

    /// With another deployment in the only folder.
    pub(crate) fn now(self, case: &str) -> Self {
        let folder = self.workspace().join(".azure/deployments");
        std::fs::remove_dir_all(&folder).unwrap();
        copy(&fixtures().join(case), &folder.join(case));
        self
    }

    /// One output.
    pub(crate) fn output(&self, name: &str) -> String {
        self.outputs().remove(name).unwrap_or_default()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.root.path().join("workspace")
    }

    pub(crate) fn input(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(format!("INPUT_{}", name.to_uppercase()), value.to_owned());
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = program();
        command.envs(&self.environment).current_dir(self.workspace());
        command
    }

    /// Runs it; it must end with 0.
    pub(crate) fn run(&self) -> Output {
        let output = self.command().output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        output
    }

    pub(crate) fn summary(&self) -> String {
        std::fs::read_to_string(self.root.path().join("summary")).unwrap()
    }

    /// The outputs as the runner reads them: the last one of a name counts.
    pub(crate) fn outputs(&self) -> BTreeMap<String, String> {
        let text = std::fs::read_to_string(self.root.path().join("output")).unwrap();
        let mut lines = text.lines();
        let mut outputs = BTreeMap::new();
        while let Some(line) = lines.next() {
            let (name, delimiter) = line.split_once("<<").unwrap();
            let value: Vec<&str> = lines.by_ref().take_while(|line| *line != delimiter).collect();
            outputs.insert(name.to_owned(), value.join("\n"));
        }
        outputs
    }
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

/// The annotations but the one that says that there is no token for a comment.
pub(crate) fn annotations(output: &Output) -> Vec<String> {
    let commands = stdout(output);
    let own =
        commands.lines().filter(|line| line.starts_with("::") && !line.contains("there is no usable token"));
    own.map(str::to_owned).collect()
}

/// Does several things at once: most of a test with GitHub is waiting.
pub(crate) fn together<T: Send>(all: Vec<T>, run: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        let threads: Vec<_> = all.into_iter().map(|one| scope.spawn(|| run(one))).collect();
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}
