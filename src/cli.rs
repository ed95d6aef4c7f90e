//! The local command line.

use clap::{Parser, Subcommand};

mod check;
mod explain;
mod learn;
mod merge;
mod plan;
mod record;

pub use check::{Check, Evidence, Format};
pub use explain::Explain;
pub use learn::{Learn, LearnFormat};
pub use merge::{Merge, MergeFormat};
pub use plan::Plan;
pub use record::Record;

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
    /// Plan shards of many deployments, for the jobs of a workflow
    Plan(Plan),
    /// Learn a model from golden traces: runs that a team calls good
    Learn(Learn),
    /// Record one event in a deployment's trace, chained to the one before
    Record(Record),
    /// Tell what a finding means and what to do about it
    Explain(Explain),
    /// Merge the reports of many shards into one picture of a fleet
    Merge(Merge),
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').parse::<f64>().map_err(|_| "not a number".to_owned())?;
    let known = crate::model::Threshold::of_percent(percent);
    known.map(|_| percent).ok_or_else(|| "not from 1 to 100".to_owned())
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
