//! The part of the action that checks: which folders, by which options, several at once.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use super::check::check;
use super::folders::{FOLDERS_CAP, folders, name};
use super::job::{Commit, Job, Materials, Named, Options};
use super::parallel::{in_order, workers};
use super::plan;
use super::troubles::Troubles;
use crate::report::Report;
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::trace::state_map::StateMap;
use crate::workspace::Workspace;

/// The reports, and the workspace they are of.
#[derive(Default)]
pub(super) struct Classified {
    pub(super) workspace: Option<Workspace>,
    pub(super) all: Vec<Report>,
    /// Of each, its folder in the repository.
    pub(super) folders: Vec<Option<String>>,
    /// They are a shard of a plan, be it of one folder: other shards have reports as well.
    pub(super) by_plan: bool,
}

/// Checks the folders that the step asks for. None is begun after `until`.
pub(super) fn classify(
    settings: &Settings,
    secrets: &Secrets,
    changed: Option<&[String]>,
    until: Instant,
    troubles: &mut Troubles,
) -> Classified {
    let inputs = &settings.inputs;
    let given = Path::new(&settings.runner.workspace);
    let here = if settings.runner.workspace.is_empty() { Path::new(".") } else { given };
    let workspace = match Workspace::new(here) {
        Ok(workspace) => workspace,
        Err(error) => {
            troubles
                .add(&format!("the workspace cannot be read ({error}); check out the repository first"), &[]);
            // Nothing to read is a verdict as well.
            Workspace::nothing()
        }
    };
    let named = |path: &Option<String>| path.as_deref().map(|path| name(&workspace, Path::new(path)));
    let options = Options {
        evidence: inputs.evidence,
        min_events: inputs.min_events,
        threshold: inputs.coverage_threshold,
        deployment_state: inputs.deployment_state.clone(),
        terminal_state: inputs.terminal_state.clone(),
        state_map: state_map(&workspace, named(&inputs.state_map), troubles),
        secrets: secrets.clone(),
        trace_head: inputs.trace_head.clone(),
        commit: Commit { named: inputs.commit.clone(), of_run: settings.commit_of_run() },
        materials: if inputs.attestation_path.is_some() { Materials::All } else { Materials::Judged },
    };
    let planned = match (&inputs.plan_path, inputs.shard) {
        (None, None) => None,
        (Some(path), Some(shard)) => match of_plan(&workspace, path, shard) {
            Ok(folders) => Some(folders),
            // Nothing is checked in its place: that the shard is not validated has to be seen.
            Err(reason) => {
                troubles.add("the plan {} cannot be used: {}; nothing is checked", &[path, &reason]);
                return Classified { workspace: Some(workspace), ..Classified::default() };
            }
        },
        (plan, _) => {
            let lacks = if plan.is_none() { "plan-path" } else { "shard" };
            troubles.add(
                &format!(
                    "a shard is checked by plan-path and shard, but {lacks} is not set; nothing is checked"
                ),
                &[],
            );
            return Classified { workspace: Some(workspace), ..Classified::default() };
        }
    };
    let by_plan = planned.is_some();
    let mut folders =
        planned.unwrap_or_else(|| folders(&workspace, &inputs.deployment_dir, changed, troubles));
    if folders.len() > FOLDERS_CAP {
        troubles.add(
            &format!(
                "{} folders are too many for one step; the first {FOLDERS_CAP} are checked",
                folders.len()
            ),
            &[],
        );
        folders.truncate(FOLDERS_CAP);
    }
    let folders: Vec<Option<Named>> =
        if folders.is_empty() { vec![None] } else { folders.into_iter().map(Some).collect() };
    let shown = |at: usize| folders.get(at).and_then(Option::as_ref).map_or("", |folder| &folder.shown);
    let work = |at: usize| {
        let folder = folders.get(at).cloned().flatten();
        let place = folder.as_ref().and_then(|folder| workspace.relative(&folder.path));
        tracing::debug!(folder = %shown(at), "checking");
        let job = Job {
            workspace: workspace.clone(),
            named: workspace.clone(),
            folder,
            trace: named(&inputs.trace_path),
            model: named(&inputs.model_path),
            tests: named(&inputs.tests_path),
        };
        check(&job, &options).map(|checked| (checked, place))
    };
    let (mut all, mut places) = (Vec::new(), Vec::new());
    in_order(folders.len(), workers(), work, |at, outcome| {
        match outcome {
            Ok(Ok((checked, place))) => {
                for warning in checked.warnings {
                    if !troubles.0.contains(&warning) {
                        troubles.0.push(warning);
                    }
                }
                all.push(checked.report);
                places.push(place);
            }
            Ok(Err(error)) => troubles.add("{}: {}", &[shown(at), &error.to_string()]),
            Err(interruption) => troubles.add(&format!("{{}}: {}", interruption.reason()), &[shown(at)]),
        }
        let left = folders.len() - at - 1;
        if left > 0 && Instant::now() >= until {
            let remedy = "check them in shards, as docs/fleet.md tells";
            troubles.add(&format!("{left} folders were not checked, since time was up; {remedy}"), &[]);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    Classified { workspace: Some(workspace), all, folders: places, by_plan }
}

/// The folders of a shard. The file may come from anywhere; a folder out of the workspace counts as absent, as anywhere.
fn of_plan(workspace: &Workspace, path: &str, shard: u16) -> Result<Vec<Named>, String> {
    let plan = plan::read(workspace, &name(workspace, Path::new(path)))?;
    let folders = plan.shard(usize::from(shard)).ok_or_else(|| {
        format!("it has no shard {shard}; its shards are counted from 1 to {}", plan.shards())
    })?;
    Ok(folders.iter().map(|folder| name(workspace, Path::new(&folder.path))).collect())
}

/// The state map that is named, else the built-in one.
pub(super) fn state_map(workspace: &Workspace, given: Option<Named>, troubles: &mut Troubles) -> StateMap {
    let Some(given) = given else { return StateMap::default() };
    let read = workspace.read(&given.path).map_err(|refusal| refusal.to_string());
    match read.and_then(|bytes| StateMap::of_file(&given.shown, &bytes).map_err(|error| error.to_string())) {
        Ok(map) => map,
        Err(reason) => {
            troubles.add(
                "the state map {} cannot be used: {}; the built-in one is used",
                &[&given.shown, &reason],
            );
            StateMap::default()
        }
    }
}
