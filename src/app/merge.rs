//! `merge`: the reports of many shards as one picture.

use super::job::Named;
use super::plan;
use crate::report::fleet::Fleet;
use crate::report::fleet::plan::Expected;
use crate::report::fleet::read::Gathering;
use crate::workspace::Workspace;

pub(super) mod command;
pub(super) mod step;

/// Reads the files of reports; what cannot be read of them is a part of the picture.
fn gather(workspace: &Workspace, reports: &[Named]) -> Gathering {
    let mut gathering = Gathering::default();
    for report in reports {
        match workspace.stream_again(&report.path) {
            Ok(input) => gathering.read(&report.shown, input),
            Err(refusal) => gathering.refused(&report.shown, &refusal.to_string()),
        }
    }
    gathering
}

/// What could not be read, in sentences.
fn complaints(gathering: &Gathering) -> Vec<String> {
    let mut told = Vec::new();
    for file in gathering.files() {
        for place in &file.damage {
            let line = place.line.map_or(String::new(), |line| format!(":{line}"));
            told.push(format!("{}{line} cannot be read: {}", file.name, place.reason));
        }
        let rest = file.unreadable - file.damage.len() as u64;
        if rest > 0 {
            told.push(format!("{} has {rest} more such places", file.name));
        }
    }
    told
}

/// The reports that a plan expects.
fn expected(workspace: &Workspace, file: &Named) -> Result<Expected, String> {
    plan::read(workspace, file).and_then(|plan| Expected::of(&plan)).map_err(|reason| {
        format!("the plan {} cannot be used: {reason}; name the one that the shards were made by", file.shown)
    })
}

/// Puts it together.
///
/// # Errors
/// There is neither a report nor a plan: nothing is known.
fn fleet(gathering: Gathering, plan: Option<&Expected>) -> Result<Fleet, String> {
    if gathering.is_empty() && plan.is_none() {
        let remedy = "name files that `check --format json` wrote, or a plan";
        return Err(format!("there is no report in the files; {remedy}"));
    }
    Ok(Fleet::new(gathering, plan))
}
