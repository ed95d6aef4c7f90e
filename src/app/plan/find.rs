//! The folders that are to be validated.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::app::discover;
use crate::app::folders::name;
use crate::app::job::Named;
use crate::app::patterns::{is_pattern, matching};
use crate::plan::Folder;
use crate::workspace::Workspace;

/// What there is.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// To be planned.
    pub(super) folders: Vec<Folder>,
    /// Were there at the commit that changes are counted from, and are no more.
    pub(super) deleted: BTreeSet<String>,
    /// Match a glob, but hold nothing of a deployment, or lead out of the workspace.
    pub(super) passed_over: BTreeSet<String>,
    /// Are named, but cannot be planned: the name, and why.
    pub(super) absent: BTreeMap<String, &'static str>,
}

/// One line of what is asked for.
enum Asked<'a> {
    Folder(Named),
    Glob(&'a str, glob::Pattern),
}

/// `*` ends at a slash, as it does where files are matched.
const AS_FILES: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// The folders of a workspace that are asked for; of `changed` only those that one of these files lies in.
///
/// # Errors
/// A pattern is none; which, and the reason.
pub(super) fn find(
    workspace: &Workspace,
    asked: &[String],
    changed: Option<&[String]>,
) -> Result<Found, String> {
    let asked: Result<Vec<Asked<'_>>, String> = asked.iter().map(|line| read(workspace, line)).collect();
    let asked = asked?;
    let touched: Option<BTreeSet<&str>> =
        changed.map(|files| files.iter().flat_map(|file| above(file)).collect());
    let mut found = Found::default();
    let mut seen = BTreeSet::new();
    for asked in &asked {
        match asked {
            Asked::Folder(folder) => {
                look(workspace, folder.clone(), Wanted::ByName, touched.as_ref(), &mut seen, &mut found)
            }
            Asked::Glob(text, _) => {
                let paths = matching(workspace.root(), text).map_err(|reason| no_pattern(text, &reason))?;
                for path in paths.filter(|path| path.is_dir()) {
                    look(
                        workspace,
                        name(workspace, &path),
                        Wanted::IfDeployment,
                        touched.as_ref(),
                        &mut seen,
                        &mut found,
                    );
                }
            }
        }
    }
    for folder in touched.into_iter().flatten().filter(|folder| !seen.contains(*folder)) {
        let is_asked = asked.iter().any(|asked| match asked {
            Asked::Folder(named) => named.shown == folder,
            Asked::Glob(_, pattern) => pattern.matches_with(folder, AS_FILES),
        });
        if is_asked && !workspace.has(Path::new(folder)) {
            found.deleted.insert(folder.to_owned());
            found.absent.remove(folder);
        }
    }
    Ok(found)
}

fn no_pattern(text: &str, reason: &str) -> String {
    format!("{text} is no pattern: {reason}")
}

fn read<'a>(workspace: &Workspace, line: &'a str) -> Result<Asked<'a>, String> {
    let inside = Path::new(line).strip_prefix(workspace.root()).ok().and_then(Path::to_str).unwrap_or(line);
    let inside = inside.strip_prefix("./").unwrap_or(inside);
    let inside = match inside.trim_end_matches('/') {
        // The workspace itself, or the root of everything.
        "" if inside.is_empty() => ".",
        "" => inside,
        inside => inside,
    };
    if is_pattern(workspace.root(), inside) {
        let pattern = glob::Pattern::new(inside).map_err(|error| no_pattern(inside, error.msg))?;
        return Ok(Asked::Glob(inside, pattern));
    }
    Ok(Asked::Folder(name(workspace, Path::new(inside))))
}

/// The folders that a file lies in.
fn above(file: &str) -> impl Iterator<Item = &str> {
    file.match_indices('/').filter_map(|(at, _)| file.get(..at))
}

/// What is expected of a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Somebody named it: nothing in it has a verdict as well.
    ByName,
    /// Not everything that a glob matches is a deployment.
    IfDeployment,
}

fn look(
    workspace: &Workspace,
    folder: Named,
    wanted: Wanted,
    touched: Option<&BTreeSet<&str>>,
    seen: &mut BTreeSet<String>,
    found: &mut Found,
) {
    if !seen.insert(folder.shown.clone()) {
        return;
    }
    let refused = match workspace.resolve(&folder.path) {
        Ok(real) if real.is_dir() => None,
        Ok(_) => Some("it is no folder"),
        Err(refusal) if refusal.is_absence() && workspace.has(&folder.path) => {
            Some("it leads out of the repository")
        }
        Err(_) => Some("there is no such folder"),
    };
    if let Some(reason) = refused {
        match wanted {
            // Whether it was deleted is seen later.
            Wanted::ByName => {
                seen.remove(&folder.shown);
                found.absent.insert(folder.shown, reason);
            }
            Wanted::IfDeployment => drop(found.passed_over.insert(folder.shown)),
        }
    } else if touched.is_none_or(|touched| touched.contains(folder.shown.as_str())) {
        if wanted == Wanted::IfDeployment && !discover::is_worth_a_check(workspace, &folder) {
            found.passed_over.insert(folder.shown);
        } else {
            found.folders.push(Folder { bytes: workspace.size(&folder.path), path: folder.shown });
        }
    }
}
