//! The command: the matrix goes to standard output, the plan into a file.

use super::changes;
use super::find::{Found, find};
use crate::app::command::{Ending, places};
use crate::cli;
use crate::message::some;
use crate::plan::Plan;
use crate::runner;
use crate::workspace::{FILE_CAP, Workspace};

/// Plans what the arguments name.
///
/// # Errors
/// It could not; the reason and the remedy. Nothing was written then.
pub(in crate::app) fn run(arguments: &cli::Plan) -> Result<Ending, String> {
    let (here, everywhere) = places()?;
    let workspace =
        Workspace::new(&here).map_err(|error| format!("the current folder cannot be read: {error}"))?;
    let changed = match (&arguments.changed_since, &arguments.changed_files) {
        (Some(reference), _) => Some(changes::since(reference, &here)?),
        (None, Some(file)) => {
            let bytes = everywhere.read(&here.join(file));
            let bytes = bytes.map_err(|refusal| format!("{} cannot be read: {refusal}", file.display()))?;
            Some(changes::listed(&bytes)?)
        }
        (None, None) => None,
    };
    let found = find(&workspace, &arguments.folders, changed.as_deref())?;
    if let Some((name, reason)) = found.absent.first_key_value() {
        return Err(format!(
            "{name} cannot be planned: {reason}; name a deployment folder in the current one"
        ));
    }
    for note in notes(&found) {
        runner::complain(&format!("note: {note}"));
    }
    let plan = Plan::of(found.folders, arguments.shards.map(usize::from));
    if let Some(output) = &arguments.output {
        let written = document(&plan).and_then(|text| {
            runner::write_file(output, &text).map_err(|error| format!("it cannot be written: {error}"))
        });
        written.map_err(|reason| format!("{}: {reason}", output.display()))?;
    }
    runner::complain(&told(&plan));
    runner::print(&format!("{}\n", plan.matrix()));
    Ok(Ending::Verified)
}

/// The plan, if it can be read again.
///
/// # Errors
/// It is too large.
pub(super) fn document(plan: &Plan) -> Result<String, String> {
    let text = plan.document();
    if text.len() as u64 > FILE_CAP {
        let cap = FILE_CAP >> 20;
        return Err(format!(
            "the plan is larger than {cap} MiB; make several, each of a part of the folders"
        ));
    }
    Ok(text)
}

/// How many folders there are.
pub(super) fn told(plan: &Plan) -> String {
    let count = |number: usize, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    format!("{} in {}", count(plan.folders(), "folder"), count(plan.shards(), "shard"))
}

/// What is not planned, and why.
pub(super) fn notes(found: &Found) -> Vec<String> {
    let all = [
        (&found.deleted, "deleted since then, and not planned: {}"),
        (&found.passed_over, "no deployments in this repository, and not planned: {}"),
    ];
    let said = all.into_iter().filter(|(names, _)| !names.is_empty()).map(|(names, text)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        some(text, &names).to_string()
    });
    said.collect()
}
