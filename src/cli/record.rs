//! `record`: what it can be told.

use std::path::PathBuf;

use clap::Args;

/// Record one event.
#[derive(Debug, Args)]
#[command(after_help = "\
The event is appended to trace.jsonl in the deployment folder as one line, written at once under a lock, with the time, the \
deployment, and inside of GitHub Actions the run, who started it and the workflow. It carries the digest of the line before \
it: who changes, removes, inserts or moves a line afterwards, and not all that follows, breaks the chain, and `check` tells \
where. With the head of the chain, which is printed, `check --trace-head` sees every other end as well.

Examples:
  process-integrity record --dir DIR --state template_generated --evidence template.json
  process-integrity record --dir DIR --state security_gate_evaluated --status blocked --message \"2 high findings\"

Exit codes: 0 recorded, 2 not recorded.")]
pub struct Record {
    /// Folder of the deployment, such as .azure/deployments/deploy-20261005-120000. It is made if it is not there
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,

    /// State that was reached, a state of the model
    #[arg(long, value_name = "STATE")]
    pub state: String,

    /// How it ended: completed, failed, blocked, skipped, started, error, or any other word that a trace may use. The outcome
    /// of a step of GitHub Actions is one
    #[arg(long, value_name = "WORD", default_value = "completed")]
    pub status: String,

    /// Artifact of the step, a file in the folder. It has to be there
    #[arg(long, value_name = "FILE")]
    pub evidence: Vec<String>,

    /// Text for people
    #[arg(long, value_name = "TEXT")]
    pub message: Option<String>,

    /// Stage that the state belongs to, a label
    #[arg(long, value_name = "STAGE")]
    pub stage: Option<String>,

    /// Record a state that the model does not have
    #[arg(long)]
    pub new_state: bool,

    /// Model whose states are known, in place of the one that a check would find
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,

    /// Run that the event belongs to, in place of that of GitHub Actions. A new attempt at the whole process is a new run
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,

    /// Who did it, in place of who started the run
    #[arg(long, value_name = "NAME")]
    pub actor: Option<String>,

    /// Deployment, in place of the one that state.json or metadata.json names, or the name of the folder
    #[arg(long, value_name = "ID")]
    pub deployment_id: Option<String>,
}
