//! `merge`: what it can be told.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Merge reports on many deployments.
#[derive(Debug, Args)]
#[command(after_help = "\
The picture goes to standard output; --json, --markdown and --html write it to files as well.

Examples:
  process-integrity merge reports/*.jsonl
  process-integrity merge --plan plan.json --json fleet.json --html fleet.html reports/*.jsonl
  process-integrity merge --format markdown --markdown-limit 60000 reports/*.jsonl

Exit codes: 0 every deployment is verified and nothing was lost, 1 otherwise, 2 could not run: the plan cannot be read, or \
there is no plan and no report.")]
pub struct Merge {
    /// Reports as `check --format json` or the input `report-path` writes them: one a file, or one a line
    #[arg(value_name = "REPORT", required = true)]
    pub reports: Vec<PathBuf>,

    /// Plan of the shards; each of its folders without a report is shown as not validated
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,

    /// How to show the picture
    #[arg(long, value_enum, default_value_t = MergeFormat::Text)]
    pub format: MergeFormat,

    /// Also write it as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Also write it as Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,

    /// Also write it as a page for a browser
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Bytes that the Markdown may have: a job summary holds 1 MiB, an issue 65,536 characters
    #[arg(long, value_name = "BYTES", default_value_t = crate::runner::SUMMARY_CAP)]
    pub markdown_limit: usize,
}

/// How the picture of a fleet is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MergeFormat {
    /// For a terminal
    Text,
    /// As in the job summary
    Markdown,
    /// For machines
    Json,
    /// A page for a browser
    Html,
}
