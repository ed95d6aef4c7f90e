//! `plan`: which deployment folders there are, or which of them were changed, and how they are spread over shards.

use std::io::Read;

use super::job::Named;
use crate::plan::Plan;
use crate::workspace::{Refusal, Workspace};

mod changes;
pub(super) mod command;
mod find;
pub(super) mod step;

/// A plan is held whole, but it may name a hundred thousand folders with long names: 64 MiB.
const PLAN_CAP: u64 = 64 << 20;

/// Reads a plan, which may come from anywhere.
///
/// # Errors
/// The reason.
pub(super) fn read(workspace: &Workspace, file: &Named) -> Result<Plan, String> {
    let input = workspace.open(&file.path, PLAN_CAP).map_err(|refusal| refusal.to_string())?;
    let mut bytes = Vec::new();
    input
        .take(PLAN_CAP)
        .read_to_end(&mut bytes)
        .map_err(|error| Refusal::Failed(error.kind()).to_string())?;
    Plan::parse(&bytes)
}
