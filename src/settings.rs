//! The only place that knows the names of inputs (`INPUT_*`) and of the runner's variables (`GITHUB_*`), and their defaults.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::Deserialize;

use crate::github::comment::Run;
use crate::github::{Access, Repository};
use crate::message::Message;
use crate::secrets::Secrets;

mod inputs;

use inputs::Raw;
pub use inputs::{Inputs, Task};

/// The runner's variables that are used.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub struct Runner {
    /// The server's address, for links.
    pub server_url: String,
    /// The API's address.
    pub api_url: String,
    /// GraphQL's address.
    pub graphql_url: String,
    /// What started the run.
    pub event_name: String,
    /// The file with the event.
    pub event_path: String,
    /// The branch or tag of the run.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The attempt of the run.
    pub run_attempt: String,
    /// Who started it.
    pub actor: String,
    /// `owner/name`.
    pub repository: String,
    /// The commit of the run.
    pub sha: String,
    /// The run's number.
    pub run_id: String,
    /// Where the repository is checked out.
    pub workspace: String,
    /// File of outputs.
    pub output: String,
    /// File of the job summary.
    pub step_summary: String,
}

/// What the command needs to know of its terminal.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Terminal {
    /// `NO_COLOR`.
    pub no_color: Option<String>,
    /// `TERM`.
    pub term: Option<String>,
    /// `CI`, which CI systems set.
    pub ci: Option<String>,
    /// `SOURCE_DATE_EPOCH` (reproducible-builds.org): seconds since 1970 that stand for now in what is written.
    pub source_date: Option<i64>,
}

impl Terminal {
    /// Reads the environment.
    #[must_use]
    pub fn read(environment: &[(String, String)]) -> Self {
        let value = |wanted: &str| {
            environment.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone())
        };
        Self {
            no_color: value("NO_COLOR"),
            term: value("TERM"),
            ci: value("CI"),
            source_date: source_date(environment),
        }
    }
}

/// Who records an event, as the environment of a workflow tells it. Outside of Actions nothing is known.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Recorder {
    /// The run. Not its attempt: what was done before one job was run again belongs to the same run.
    pub run: Option<String>,
    /// The person or app that started it.
    pub actor: Option<String>,
    /// The workflow's file at its commit or branch, and the job.
    pub producer: Option<String>,
}

impl Recorder {
    /// Reads the environment.
    #[must_use]
    pub fn read(environment: &[(String, String)]) -> Self {
        if !in_actions(environment) {
            return Self::default();
        }
        let value = |wanted: &str| {
            let found = environment.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let workflow = value("GITHUB_WORKFLOW_REF").or_else(|| value("GITHUB_WORKFLOW"));
        let producer = match (workflow, value("GITHUB_JOB")) {
            (Some(workflow), Some(job)) => Some(format!("{workflow}#{job}")),
            (workflow, job) => workflow.or(job),
        };
        Self { run: value("GITHUB_RUN_ID"), actor: value("GITHUB_ACTOR"), producer }
    }
}

/// The time of `SOURCE_DATE_EPOCH`, if it is set to one.
fn source_date(environment: &[(String, String)]) -> Option<i64> {
    environment
        .iter()
        .find(|(name, _)| name == "SOURCE_DATE_EPOCH")
        .and_then(|(_, value)| value.trim().parse().ok())
}

/// Everything that the environment says.
#[derive(Debug)]
pub struct Settings {
    /// The step's inputs.
    pub inputs: Inputs,
    /// The runner.
    pub runner: Runner,
    /// Who records, where the step does.
    pub recorder: Recorder,
    /// Seconds since 1970 that stand for now in what is written.
    pub source_date: Option<i64>,
    /// Debug logging is on: `RUNNER_DEBUG=1`.
    pub debug: bool,
    /// Inputs that could not be understood; their defaults are used.
    pub warnings: Vec<Message>,
}

/// The program runs inside of GitHub Actions.
#[must_use]
pub fn in_actions(environment: &[(String, String)]) -> bool {
    environment.iter().any(|(name, value)| name == "GITHUB_ACTIONS" && value == "true")
}

/// The environment, without what is no text.
#[must_use]
pub fn environment(all: impl Iterator<Item = (OsString, OsString)>) -> Vec<(String, String)> {
    all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
}

impl Settings {
    /// What is blanked out of everything that leaves: the values of `mask`, the token, and the usual shapes.
    #[must_use]
    pub fn secrets(&self) -> Secrets {
        let token = self.inputs.github_token.as_ref().map(|token| token.reveal().to_owned());
        Secrets::new(self.inputs.mask.iter().cloned().chain(token))
    }

    /// Reads the environment. What cannot be understood becomes a warning and the default.
    #[must_use]
    pub fn read(environment: &[(String, String)]) -> Self {
        let mut warnings = Vec::new();
        let pairs = || environment.iter().cloned();
        // All fields are strings with a default, so nothing can be refused.
        let raw: Raw = envy::prefixed("INPUT_").from_iter(pairs()).unwrap_or_default();
        let runner: Runner = envy::prefixed("GITHUB_").from_iter(pairs()).unwrap_or_default();
        let inputs = Inputs::read(raw, &mut warnings);
        let debug = environment.iter().any(|(name, value)| name == "RUNNER_DEBUG" && value == "1");
        Self {
            inputs,
            runner,
            recorder: Recorder::read(environment),
            source_date: source_date(environment),
            debug,
            warnings,
        }
    }

    /// The run and its commit, where that is what a deployment of this run deploys: on other events than a push the commit may
    /// be that of the default branch.
    #[must_use]
    pub fn commit_of_run(&self) -> Option<(String, String)> {
        let Runner { event_name, run_id, sha, .. } = &self.runner;
        let known = event_name == "push" && !run_id.is_empty() && !sha.is_empty();
        known.then(|| (run_id.clone(), sha.clone()))
    }

    /// Where the run can be seen, as name and address.
    #[must_use]
    pub fn run(&self) -> Option<(String, String)> {
        let run_id = &self.runner.run_id;
        let runs = self.runs_url().filter(|_| !run_id.is_empty());
        runs.map(|runs| (run_id.clone(), format!("{runs}/{run_id}")))
    }

    /// What stands before the path of a file of the repository to make it a URI, at the commit of the run.
    #[must_use]
    pub fn source_base(&self) -> String {
        let Runner { server_url, repository, sha, .. } = &self.runner;
        let known = Repository::of(repository).is_some() && !server_url.is_empty() && !sha.is_empty();
        if known { format!("git+{server_url}/{repository}@{sha}#") } else { String::new() }
    }

    /// How GitHub is reached. `None` without a token or a repository.
    #[must_use]
    pub fn access(&self) -> Option<Access> {
        let text = |value: &String| Some(value.clone()).filter(|value| !value.is_empty());
        Some(Access {
            api_url: text(&self.runner.api_url)?,
            graphql_url: text(&self.runner.graphql_url),
            repository: Repository::of(&self.runner.repository)?,
            token: self.inputs.github_token.clone()?,
        })
    }

    /// The run and its attempt. What is no number counts as the oldest.
    #[must_use]
    pub fn this_run(&self) -> Run {
        let number = |text: &str| text.trim().parse().unwrap_or(0);
        Run { id: number(&self.runner.run_id), attempt: number(&self.runner.run_attempt) }
    }

    /// Where the runs of this repository can be seen; `/<id>` is appended.
    #[must_use]
    pub fn runs_url(&self) -> Option<String> {
        let Runner { server_url, repository, .. } = &self.runner;
        Repository::of(repository)?;
        (!server_url.is_empty()).then(|| format!("{server_url}/{repository}/actions/runs"))
    }

    /// The file of outputs, if there is one.
    #[must_use]
    pub fn output_file(&self) -> Option<PathBuf> {
        path(&self.runner.output)
    }

    /// The file of the job summary, if there is one.
    #[must_use]
    pub fn summary_file(&self) -> Option<PathBuf> {
        path(&self.runner.step_summary)
    }
}

fn path(text: &str) -> Option<PathBuf> {
    (!text.is_empty()).then(|| PathBuf::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence;
    use crate::model::Threshold;

    fn read(pairs: &[(&str, &str)]) -> Settings {
        let pairs: Vec<(String, String)> =
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Settings::read(&pairs)
    }

    #[test]
    fn inputs_arrive_under_their_hyphenated_names() {
        let settings = read(&[
            ("INPUT_DEPLOYMENT-DIR", " a \n\n b/* \n"),
            ("INPUT_TRACE-PATH", "t"),
            ("INPUT_COVERAGE-THRESHOLD", "66.5"),
            ("INPUT_MIN-EVENTS", "7"),
            ("INPUT_EVIDENCE", "require"),
            ("INPUT_SUMMARY", "false"),
            ("GITHUB_SHA", "abc"),
            ("GITHUB_SERVER_URL", "https://github.example"),
            ("GITHUB_REPOSITORY", "o/r"),
            ("GITHUB_RUN_ID", "5"),
            ("RUNNER_DEBUG", "1"),
        ]);
        assert_eq!(settings.warnings, []);
        assert_eq!(settings.inputs.deployment_dir, ["a", "b/*"]);
        assert_eq!(settings.inputs.trace_path.as_deref(), Some("t"));
        assert_eq!(settings.inputs.coverage_threshold, Threshold::of_percent(66.5));
        assert_eq!((settings.inputs.min_events, settings.inputs.evidence), (7, evidence::Mode::Require));
        assert!(!settings.inputs.summary && settings.debug);
        assert_eq!(settings.run().unwrap().1, "https://github.example/o/r/actions/runs/5");
    }

    #[test]
    fn an_empty_input_is_the_default_and_a_bad_one_is_told() {
        let settings = read(&[("INPUT_MIN-EVENTS", ""), ("INPUT_SUMMARY", " ")]);
        assert_eq!((settings.warnings.len(), settings.inputs.min_events), (0, 3));
        assert!(settings.inputs.summary);
        let bad = read(&[
            ("INPUT_MIN-EVENTS", "-1"),
            ("INPUT_SUMMARY", "maybe"),
            ("INPUT_EVIDENCE", "all"),
            ("INPUT_COVERAGE-THRESHOLD", "0"),
        ]);
        assert_eq!(bad.warnings.len(), 4);
        assert_eq!(
            (bad.inputs.min_events, bad.inputs.evidence, bad.inputs.summary),
            (3, evidence::Mode::Report, true)
        );
        assert_eq!(bad.inputs.coverage_threshold, None);
    }
}
