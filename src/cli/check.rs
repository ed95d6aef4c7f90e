//! `check`: what it can be told.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::percent;

/// Check deployments.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  process-integrity check .azure/deployments/deploy-20261005-120000
  process-integrity check --model dominator-model.json --format markdown DIR
  process-integrity check --format json DIR DIR DIR        one report a line
  process-integrity check --format brief '.azure/deployments/*'
  process-integrity check --format sarif DIR DIR > integrity.sarif

Exit codes: 0 all are verified successes, 1 at least one has another verdict, 2 at least one could not be checked, which is \
told on standard error; the others are checked all the same.")]
pub struct Check {
    /// Folders of deployments, such as .azure/deployments/deploy-20261005-120000, or globs of them in quotes. Trace, results,
    /// model and evidence are found in them
    #[arg(value_name = "DIR", required_unless_present_any = ["trace", "plan"])]
    pub folders: Vec<PathBuf>,

    /// Check the folders of one shard of this plan, which `process-integrity plan` wrote. They lie in the current folder
    #[arg(long, value_name = "FILE", requires = "shard", conflicts_with_all = ["folders", "trace"])]
    pub plan: Option<PathBuf>,

    /// The shard of the plan, from 1
    #[arg(long, value_name = "K", requires = "plan")]
    pub shard: Option<usize>,

    /// So many folders are checked at once, 1 to 256. Reports come in the order of the folders all the same. Else as many as
    /// there are processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,

    /// Stop at the first deployment that is not verified
    #[arg(long)]
    pub fail_fast: bool,

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

    /// Digest of the trace's last line, as `record` printed it: a trace with another end was tampered with
    #[arg(long, value_name = "DIGEST")]
    pub trace_head: Option<String>,

    /// Commit that was deployed, to compare with the one that artifacts name. Else the one that state.json or metadata.json
    /// names
    #[arg(long, value_name = "SHA")]
    pub commit: Option<String>,

    /// Also write an attestation of the verdict: an in-toto statement with a SLSA verification summary; beside it the
    /// predicate alone (.predicate.json) and its subjects (.subjects.txt), to be signed
    #[arg(long, value_name = "FILE")]
    pub attestation: Option<PathBuf>,

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
    /// For a terminal, one line a deployment: verdict, folder, coverage, what is missing
    Brief,
    /// One SARIF 2.1.0 log on all deployments, for GitHub code scanning
    Sarif,
    /// One JUnit XML document on all deployments, for dashboards of tests
    Junit,
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
