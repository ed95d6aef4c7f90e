//! `learn`: what it can be told.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::percent;

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

fn time(text: &str) -> Result<String, String> {
    let known = chrono::DateTime::parse_from_rfc3339(text);
    known.map(|_| text.to_owned()).map_err(|_| "not RFC 3339, such as 2026-10-01T09:00:00Z".to_owned())
}
