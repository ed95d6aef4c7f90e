//! `plan`: what it can be told.

use std::path::PathBuf;

use clap::Args;

/// Plan shards.
#[derive(Debug, Args)]
#[command(after_help = "\
Standard output is the matrix of a workflow on one line; the folders themselves are in the plan. Without a folder the matrix \
is empty, and a workflow can skip the rest.

Examples:
  process-integrity plan --output plan.json
  process-integrity plan --shards 8 --output plan.json '.azure/deployments/*' 'teams/*/.azure/deployments/*'
  process-integrity plan --changed-since origin/main --output plan.json
  process-integrity check --plan plan.json --shard 1 --format json > report-1.jsonl

Exit codes: 0 planned, 2 could not run.")]
pub struct Plan {
    /// Folders of deployments in the current folder, or globs of them in quotes. Of a glob those count that hold a trace, a
    /// state or results
    #[arg(value_name = "DIR", default_value = crate::plan::FOLDERS)]
    pub folders: Vec<String>,

    /// So many shards, 1 to 256; never more than folders. Else one for every 5,000 folders of the usual size
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub shards: Option<u16>,

    /// Only what was changed on this branch since it left the commit, as `git diff REF...HEAD` tells. What is not committed
    /// does not count
    #[arg(long, value_name = "REF", conflicts_with = "changed_files")]
    pub changed_since: Option<String>,

    /// Only where one of these files lies: paths from the current folder with a NUL after each, as `git diff --name-only -z`
    /// writes them
    #[arg(long, value_name = "FILE")]
    pub changed_files: Option<PathBuf>,

    /// Where the plan is written
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
