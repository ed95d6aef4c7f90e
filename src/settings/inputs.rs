//! The inputs of the step: `action.yml`'s, their defaults, and what is done with a value that makes no sense.

use serde::Deserialize;

use crate::evidence;
use crate::findings::MIN_EVENTS;
use crate::github::Number;
use crate::github::comment::Mode;
use crate::github::tracking_issue::Fields;
use crate::message::Message;
use crate::model::Threshold;
use crate::secrets::Token;

/// What a step does: the input `mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Checks deployments.
    Check,
    /// Learns a model.
    Learn,
    /// Records an event.
    Record,
    /// Plans shards.
    Plan,
    /// Merges the reports of shards.
    Merge,
}

impl Task {
    fn of_name(name: &str) -> Option<Self> {
        match name {
            "check" => Some(Self::Check),
            "learn" => Some(Self::Learn),
            "record" => Some(Self::Record),
            "plan" => Some(Self::Plan),
            "merge" => Some(Self::Merge),
            _ => None,
        }
    }
}

/// The inputs of `action.yml`, as they arrive: one that was not set is an empty string.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct Raw {
    mode: String,
    golden_traces: String,
    golden_accept: String,
    state: String,
    status: String,
    message: String,
    evidence_files: String,
    new_state: String,
    deployment_dir: String,
    plan_path: String,
    shard: String,
    shards: String,
    changed_files_path: String,
    reports_path: String,
    fleet_path: String,
    trace_path: String,
    model_path: String,
    tests_path: String,
    state_map: String,
    deployment_state: String,
    terminal_state: String,
    coverage_threshold: String,
    min_events: String,
    evidence: String,
    commit: String,
    trace_head: String,
    attestation_path: String,
    comment: String,
    comment_key: String,
    pr_number: String,
    create_issue: String,
    issue_labels: String,
    issue_assignees: String,
    summary: String,
    report_path: String,
    sarif_path: String,
    mask: String,
    github_token: String,
}

/// What the step asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs {
    /// What the step does.
    pub task: Task,
    /// Golden traces to learn from: files, folders or globs, one a line.
    pub golden_traces: Vec<String>,
    /// Those of them that are used in spite of their problems.
    pub golden_accept: Vec<String>,
    /// State to record.
    pub state: Option<String>,
    /// How it ended.
    pub status: Option<String>,
    /// Text for people.
    pub message: Option<String>,
    /// Artifacts of the step, files of the folder.
    pub evidence_files: Vec<String>,
    /// Record a state that the model does not have.
    pub new_state: bool,
    /// Folders or globs, one a line. Empty: found.
    pub deployment_dir: Vec<String>,
    /// Where the plan is: the folders of its shard are checked in place of the ones above. In mode `plan`: where it is written.
    pub plan_path: Option<String>,
    /// The shard of the plan that is checked, from 1.
    pub shard: Option<u16>,
    /// So many shards are planned; else as many as the folders are worth.
    pub shards: Option<u16>,
    /// Only folders are planned that one of the files lies in that this file lists.
    pub changed_files_path: Option<String>,
    /// Files of reports to merge, or globs, one a line.
    pub reports_path: Vec<String>,
    /// The folder that the picture of a fleet is written into.
    pub fleet_path: Option<String>,
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
    /// The commit that was deployed.
    pub commit: Option<String>,
    /// The digest of the trace's last line.
    pub trace_head: Option<String>,
    /// Also write an attestation there.
    pub attestation_path: Option<String>,
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
    /// Also write a SARIF log there.
    pub sarif_path: Option<String>,
    /// Secrets to blank out.
    pub mask: Vec<String>,
    /// The token, if it can be one.
    pub github_token: Option<Token>,
    /// There is something in its place that cannot be one.
    pub token_is_odd: bool,
}

/// Shards that a plan may have.
const SHARDS: u16 = crate::plan::SHARDS_CAP as u16;
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
    pub(super) fn read(raw: Raw, warnings: &mut Vec<Message>) -> Self {
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
        let mut number = |name: &str, value: String| {
            text(value).and_then(|value| {
                let number = value.parse().ok().filter(|number| (1..=SHARDS).contains(number));
                if number.is_none() {
                    warn(name, &value, "a whole number from 1 to 256");
                }
                number
            })
        };
        let (shard, shards) = (number("shard", raw.shard), number("shards", raw.shards));
        let create_issue = flag("create-issue", raw.create_issue, false, &mut warn);
        let new_state = flag("new-state", raw.new_state, false, &mut warn);
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
        let task = text(raw.mode).map_or(Task::Check, |value| {
            Task::of_name(&value).unwrap_or_else(|| {
                warn("mode", &value, "check, plan, merge, learn or record");
                Task::Check
            })
        });
        Self {
            task,
            golden_traces: lines(&raw.golden_traces),
            golden_accept: lines(&raw.golden_accept),
            state: text(raw.state),
            status: text(raw.status),
            message: text(raw.message),
            evidence_files: lines(&raw.evidence_files),
            new_state,
            deployment_dir: lines(&raw.deployment_dir),
            plan_path: text(raw.plan_path),
            shard,
            shards,
            changed_files_path: text(raw.changed_files_path),
            reports_path: lines(&raw.reports_path),
            fleet_path: text(raw.fleet_path),
            trace_path: text(raw.trace_path),
            model_path: text(raw.model_path),
            tests_path: text(raw.tests_path),
            state_map: text(raw.state_map),
            deployment_state: text(raw.deployment_state),
            terminal_state: text(raw.terminal_state),
            coverage_threshold,
            min_events,
            evidence,
            commit: text(raw.commit),
            trace_head: text(raw.trace_head),
            attestation_path: text(raw.attestation_path),
            comment,
            comment_key: text(raw.comment_key),
            pr_number,
            create_issue,
            issue_fields,
            summary,
            report_path: text(raw.report_path),
            sarif_path: text(raw.sarif_path),
            mask: lines(&raw.mask),
            token_is_odd: !raw.github_token.trim().is_empty() && Token::of(&raw.github_token).is_none(),
            github_token: Token::of(&raw.github_token),
        }
    }
}
