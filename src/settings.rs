//! The only place that knows the names of inputs (`INPUT_*`) and of the runner's variables (`GITHUB_*`), and their defaults.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::Deserialize;

use crate::evidence;
use crate::findings::MIN_EVENTS;
use crate::github::comment::{Mode, Run};
use crate::github::tracking_issue::Fields;
use crate::github::{Access, Number, Repository};
use crate::message::Message;
use crate::model::Threshold;
use crate::secrets::{Secrets, Token};

/// The inputs of `action.yml`, as they arrive: one that was not set is an empty string.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Raw {
    deployment_dir: String,
    trace_path: String,
    model_path: String,
    tests_path: String,
    state_map: String,
    deployment_state: String,
    terminal_state: String,
    coverage_threshold: String,
    min_events: String,
    evidence: String,
    comment: String,
    comment_key: String,
    pr_number: String,
    create_issue: String,
    issue_labels: String,
    issue_assignees: String,
    summary: String,
    report_path: String,
    mask: String,
    github_token: String,
}

/// What the step asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs {
    /// Folders or globs, one a line. Empty: found.
    pub deployment_dir: Vec<String>,
    /// In place of the folder's.
    pub trace_path: Option<String>,
    /// In place of the one that is found.
    pub model_path: Option<String>,
    /// In place of the folder's.
    pub tests_path: Option<String>,
    /// In place of the built-in map.
    pub state_map: Option<String>,
    /// In place of the model's.
    pub deployment_state: Option<String>,
    /// In place of the model's.
    pub terminal_state: Option<String>,
    /// In place of the model's.
    pub coverage_threshold: Option<Threshold>,
    /// Fewer events are suspicious.
    pub min_events: u64,
    /// What is asked of evidence.
    pub evidence: evidence::Mode,
    /// When a comment is written.
    pub comment: Mode,
    /// One comment a key; in place of the deployment's id.
    pub comment_key: Option<String>,
    /// In place of the one that is found.
    pub pr_number: Option<Number>,
    /// Open a tracking issue for what is not verified.
    pub create_issue: bool,
    /// Its labels and assignees.
    pub issue_fields: Fields,
    /// Write the job summary.
    pub summary: bool,
    /// Also write the report there.
    pub report_path: Option<String>,
    /// Secrets to blank out.
    pub mask: Vec<String>,
    /// The token, if it can be one.
    pub github_token: Option<Token>,
    /// There is something in its place that cannot be one.
    pub token_is_odd: bool,
}

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
}

impl Terminal {
    /// Reads the environment.
    #[must_use]
    pub fn read(environment: &[(String, String)]) -> Self {
        let value = |wanted: &str| {
            environment.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone())
        };
        Self { no_color: value("NO_COLOR"), term: value("TERM") }
    }
}

/// Everything that the environment says.
#[derive(Debug)]
pub struct Settings {
    /// The step's inputs.
    pub inputs: Inputs,
    /// The runner.
    pub runner: Runner,
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
        Self { inputs, runner, debug, warnings }
    }

    /// Where the run can be seen, as name and address.
    #[must_use]
    pub fn run(&self) -> Option<(String, String)> {
        let run_id = &self.runner.run_id;
        let runs = self.runs_url().filter(|_| !run_id.is_empty());
        runs.map(|runs| (run_id.clone(), format!("{runs}/{run_id}")))
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

/// The label of a tracking issue, where no other is asked for.
const DEFAULT_LABEL: &str = "process-integrity";

/// A switch, in the words of YAML 1.2, as actions/toolkit takes them.
fn flag(name: &str, value: String, default: bool, warn: &mut impl FnMut(&str, &str, &str)) -> bool {
    match value.trim() {
        "" => default,
        "true" | "True" | "TRUE" => true,
        "false" | "False" | "FALSE" => false,
        other => {
            warn(name, other, "true or false");
            default
        }
    }
}

impl Inputs {
    fn read(raw: Raw, warnings: &mut Vec<Message>) -> Self {
        let mut warn = |name: &str, value: &str, expected: &str| {
            let text = format!("the input {name} is {{}}, but should be {expected}; the default is used");
            warnings.push(Message::new(&text, &[value]));
        };
        let text = |value: String| Some(value.trim().to_owned()).filter(|value| !value.is_empty());
        let lines = |value: &str| {
            value.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
        };
        let coverage_threshold = text(raw.coverage_threshold).and_then(|value| {
            let threshold = value.trim_end_matches('%').parse().ok().and_then(Threshold::of_percent);
            if threshold.is_none() {
                warn("coverage-threshold", &value, "a number from 1 to 100");
            }
            threshold
        });
        let min_events = text(raw.min_events).map_or(MIN_EVENTS, |value| {
            value.parse().unwrap_or_else(|_| {
                warn("min-events", &value, "a whole number");
                MIN_EVENTS
            })
        });
        let evidence = text(raw.evidence).map_or(evidence::Mode::Report, |value| {
            evidence::Mode::of_name(&value).unwrap_or_else(|| {
                warn("evidence", &value, "report, require or off");
                evidence::Mode::Report
            })
        });
        let comment = text(raw.comment).map_or(Mode::Always, |value| {
            Mode::of_name(&value).unwrap_or_else(|| {
                warn("comment", &value, "always, on-problem or never");
                Mode::Always
            })
        });
        let pr_number = text(raw.pr_number).and_then(|value| {
            let number = value.trim_start_matches('#').parse().ok().filter(|number| *number > 0).map(Number);
            if number.is_none() {
                warn("pr-number", &value, "the number of a pull request");
            }
            number
        });
        let create_issue = flag("create-issue", raw.create_issue, false, &mut warn);
        let summary = flag("summary", raw.summary, true, &mut warn);
        let list = |value: &str| -> Vec<String> {
            value
                .split([',', '\n'])
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let labels = list(&raw.issue_labels);
        let issue_fields = Fields {
            labels: if labels.is_empty() { vec![DEFAULT_LABEL.to_owned()] } else { labels },
            assignees: list(&raw.issue_assignees),
        };
        Self {
            deployment_dir: lines(&raw.deployment_dir),
            trace_path: text(raw.trace_path),
            model_path: text(raw.model_path),
            tests_path: text(raw.tests_path),
            state_map: text(raw.state_map),
            deployment_state: text(raw.deployment_state),
            terminal_state: text(raw.terminal_state),
            coverage_threshold,
            min_events,
            evidence,
            comment,
            comment_key: text(raw.comment_key),
            pr_number,
            create_issue,
            issue_fields,
            summary,
            report_path: text(raw.report_path),
            mask: lines(&raw.mask),
            token_is_odd: !raw.github_token.trim().is_empty() && Token::of(&raw.github_token).is_none(),
            github_token: Token::of(&raw.github_token),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
