//! The local command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Finds false successes: proves from a deployment's trace that the mandatory checkpoints really happened, and from its
/// test results that the resources really work.
#[derive(Debug, Parser)]
#[command(
    name = "process-integrity",
    version,
    max_term_width = 100,
    after_help = "\
Exit codes: 0 verified success, 1 any other verdict, 2 could not run.

Without arguments, inside of GitHub Actions, it runs as the action and takes its inputs from the step."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the program can be asked to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check deployments and show a report on each
    Check(Check),
    /// Learn a model from golden traces: runs that a team calls good
    Learn(Learn),
}

/// Check deployments.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  process-integrity check .azure/deployments/deploy-20261005-120000
  process-integrity check --model dominator-model.json --format markdown DIR
  process-integrity check --format json DIR DIR DIR        one report a line")]
pub struct Check {
    /// Folders of deployments, such as .azure/deployments/deploy-20261005-120000. Trace, results, model and evidence are
    /// found in them
    #[arg(value_name = "DIR", required_unless_present = "trace")]
    pub folders: Vec<PathBuf>,

    /// Trace to judge, in place of the folder's
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Model of the mandatory checkpoints: a dominator-model.json or an execution graph, in place of the one that is found
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,

    /// Results of the integration tests, in place of the folder's
    #[arg(long, value_name = "FILE")]
    pub tests: Option<PathBuf>,

    /// How to show the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    /// What is asked of artifacts beside the trace (security-gate.json and others): note absent ones, demand them, or do
    /// not look, neither at them nor at a log of the harness
    #[arg(long, value_enum, default_value_t = Evidence::Report)]
    pub evidence: Evidence,

    /// Share of the essential states that must be covered, 1 to 100 percent, in place of the model's
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub coverage_threshold: Option<f64>,

    /// Runs with fewer events than this are suspicious
    #[arg(long, value_name = "N", default_value_t = crate::findings::MIN_EVENTS)]
    pub min_events: u64,

    /// State that is the deployment, in place of the model's
    #[arg(long, value_name = "STATE")]
    pub deployment_state: Option<String>,

    /// State with which a complete run ends, in place of the model's
    #[arg(long, value_name = "STATE")]
    pub terminal_state: Option<String>,

    /// JSON file that maps tool, skill or span names to states, in place of the built-in map for git-ape
    #[arg(long, value_name = "FILE")]
    pub state_map: Option<PathBuf>,
}

/// Learn a model from golden traces.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --output the model goes to standard output and the report to standard error.

Examples:
  process-integrity learn --output dominator-model.json good-1.jsonl good-2.jsonl good-3.jsonl
  process-integrity learn --output dominator-model.json .azure/deployments/deploy-2026100*
  process-integrity learn --update dominator-model.json --output dominator-model.json good-4.jsonl
  process-integrity learn --diff old-model.json new-model.json

Exit codes: 0 learned (of --diff: no difference), 1 a golden trace is no good example and nothing was written (of --diff: \
there are differences), 2 could not run.")]
pub struct Learn {
    /// Traces of good runs, or folders of good deployments: two to ten of them
    #[arg(value_name = "TRACE", required_unless_present = "diff")]
    pub traces: Vec<PathBuf>,

    /// Where the model is written
    #[arg(long, value_name = "FILE", conflicts_with = "diff")]
    pub output: Option<PathBuf>,

    /// Share of the essential states that a check by the model will demand, 1 to 100 percent
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub threshold: Option<f64>,

    /// Refine this model: what the traces do not show is no longer asked for. Nothing becomes essential that was not
    #[arg(long, value_name = "MODEL", conflicts_with = "diff")]
    pub update: Option<PathBuf>,

    /// Compare two models, and learn nothing
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], conflicts_with = "traces")]
    pub diff: Option<Vec<PathBuf>>,

    /// Use a golden trace in spite of its problems: its path, its file name, or the name of its folder
    #[arg(long, value_name = "NAME")]
    pub accept: Vec<String>,

    /// How to show the report
    #[arg(long, value_enum, default_value_t = LearnFormat::Text)]
    pub format: LearnFormat,

    /// State that is the deployment
    #[arg(long, value_name = "STATE")]
    pub deployment_state: Option<String>,

    /// State with which a complete run ends; else the one that all golden traces end with
    #[arg(long, value_name = "STATE")]
    pub terminal_state: Option<String>,

    /// A golden trace with fewer events than this is suspicious
    #[arg(long, value_name = "N", default_value_t = crate::findings::MIN_EVENTS)]
    pub min_events: u64,

    /// JSON file that maps tool, skill or span names to states, in place of the built-in map for git-ape
    #[arg(long, value_name = "FILE")]
    pub state_map: Option<PathBuf>,

    /// Time that the model says it was made, in RFC 3339. Else that of SOURCE_DATE_EPOCH, else now
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub generated_at: Option<String>,
}

/// How a report on what was learned is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LearnFormat {
    /// For a terminal
    Text,
    /// As in the job summary
    Markdown,
    /// For machines
    Json,
}

/// How a report is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a terminal
    Text,
    /// As in the job summary and the pull-request comment
    Markdown,
    /// For machines; several reports are one line each
    Json,
    /// Workflow commands of GitHub Actions
    Annotations,
}

/// What is asked of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Evidence {
    /// Absent evidence is a notice
    Report,
    /// Absent evidence is a violation
    Require,
    /// Do not read the files as evidence
    Off,
}

impl From<Evidence> for crate::evidence::Mode {
    fn from(evidence: Evidence) -> Self {
        match evidence {
            Evidence::Report => Self::Report,
            Evidence::Require => Self::Require,
            Evidence::Off => Self::Off,
        }
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').parse::<f64>().map_err(|_| "not a number".to_owned())?;
    let known = crate::model::Threshold::of_percent(percent);
    known.map(|_| percent).ok_or_else(|| "not from 1 to 100".to_owned())
}

fn time(text: &str) -> Result<String, String> {
    let known = chrono::DateTime::parse_from_rfc3339(text);
    known.map(|_| text.to_owned()).map_err(|_| "not RFC 3339, such as 2026-10-01T09:00:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
