//! `explain`: what it can be told.

use clap::Args;

/// Explain a finding.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  process-integrity explain                            all findings
  process-integrity explain state-missing
  process-integrity explain GRAPH_DIGEST_MISMATCH      one of git-ape's codes

Exit codes: 0 explained, 2 there is no such finding.")]
pub struct Explain {
    /// Id of a finding, or one of git-ape's codes. Without one all findings are listed
    #[arg(value_name = "FINDING")]
    pub finding: Option<String>,
}
