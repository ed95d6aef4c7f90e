//! Which deployment folders the action checks.

use std::path::{Path, PathBuf};

use super::job::Named;
use super::patterns::{is_pattern, matching};
use super::troubles::Troubles;
use crate::evidence::{Document, Record, STATE_FILE};
use crate::settings::Settings;
use crate::trace::Time;
use crate::workspace::Workspace;

/// Where git-ape keeps its deployments.
const DEPLOYMENTS: &str = ".azure/deployments";
/// Folders that are checked in one step. They take seconds of the minute that there is (docs/performance.md), and their
/// reports fit into memory.
pub(super) const FOLDERS_CAP: usize = 10_000;

/// A path that an input gives, shown relative to the workspace where it lies in it.
pub(super) fn name(workspace: &Workspace, given: &Path) -> Named {
    let shown = given.strip_prefix(workspace.root()).unwrap_or(given);
    Named { path: workspace.root().join(given), ..Named::new(shown, workspace.root()) }
}

/// The folders that are asked for; else the newest one that there is.
pub(super) fn folders(
    workspace: &Workspace,
    asked: &[String],
    changed: Option<&[String]>,
    troubles: &mut Troubles,
) -> Vec<Named> {
    let mut found: Vec<Named> = Vec::new();
    for line in asked {
        if !is_glob(workspace, line) {
            found.push(name(workspace, Path::new(line)));
            continue;
        }
        let matches = globbed(workspace, line, Path::is_dir);
        if matches.is_empty() {
            troubles.add("no folder matches {}", &[line]);
        }
        found.extend(matches);
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|folder| seen.insert(folder.path.clone()));
    if !asked.is_empty() {
        return found;
    }
    let folders = deployments(workspace);
    let touched = |folder: &&Named| {
        let inside = format!("{}/", folder.shown);
        changed.unwrap_or_default().iter().any(|file| file.starts_with(&inside))
    };
    let mut of_commit = folders.iter().filter(touched);
    if let (Some(only), None) = (of_commit.next(), of_commit.next()) {
        return vec![only.clone()];
    }
    let newest = folders.into_iter().max_by_key(|folder| (recorded(workspace, folder), folder.shown.clone()));
    newest.into_iter().collect()
}

/// All deployment folders.
fn deployments(workspace: &Workspace) -> Vec<Named> {
    let names = workspace.list(Path::new(DEPLOYMENTS), |_| true);
    let folders = names.iter().map(|folder| name(workspace, &Path::new(DEPLOYMENTS).join(folder)));
    folders.filter(|folder| workspace.resolve(&folder.path).is_ok_and(|real| real.is_dir())).collect()
}

/// Several folders exist and none is named, so that the commit has to tell which one it changed.
pub(super) fn needs_commit(settings: &Settings) -> bool {
    let inputs = &settings.inputs;
    let asked = !inputs.deployment_dir.is_empty() || inputs.plan_path.is_some() || inputs.shard.is_some();
    let known = !settings.runner.sha.is_empty() && settings.access().is_some();
    let workspace = Workspace::new(Path::new(&settings.runner.workspace));
    !asked && known && workspace.is_ok_and(|workspace| deployments(&workspace).len() > 1)
}

/// A line is a pattern, and not the name of something that is there.
pub(super) fn is_glob(workspace: &Workspace, line: &str) -> bool {
    is_pattern(workspace.root(), line)
}

/// What in the workspace matches a pattern and is wanted, sorted.
pub(super) fn globbed(workspace: &Workspace, pattern: &str, wanted: impl Fn(&Path) -> bool) -> Vec<Named> {
    let pattern = pattern.strip_prefix(&*workspace.root().to_string_lossy()).unwrap_or(pattern);
    let Ok(paths) = matching(workspace.root(), pattern.trim_start_matches('/')) else { return Vec::new() };
    let inside = paths.filter(|path| workspace.resolve(path).is_ok_and(|real| wanted(&real)));
    let mut found: Vec<PathBuf> = inside.take(FOLDERS_CAP + 1).collect();
    found.sort();
    found.iter().map(|path| name(workspace, path)).collect()
}

/// When a deployment was recorded: the time in its `state.json`.
fn recorded(workspace: &Workspace, folder: &Named) -> Option<i64> {
    let bytes = workspace.read(&folder.join(STATE_FILE).path).ok()?;
    let record = Document::of_bytes(&bytes, Record::read);
    record.read().and_then(|record| Time::of_text(record.timestamp.as_deref()?).micros())
}
