//! Which files were changed since a commit: git is asked, or somebody who asked it.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::escape::cut;

/// Files that were changed, from paths with a NUL after each. What is no UTF-8 is no path of a plan, and told as such.
///
/// # Errors
/// A path is no UTF-8.
pub(super) fn listed(bytes: &[u8]) -> Result<Vec<String>, String> {
    let paths = bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    let text = |path: &[u8]| String::from_utf8(path.to_vec());
    paths.map(text).collect::<Result<_, _>>().map_err(|error| {
        let path = String::from_utf8_lossy(error.as_bytes()).into_owned();
        format!("the path {path} is no UTF-8, so it cannot be planned; rename it")
    })
}

/// The files in a folder that were changed on this branch since it left a commit.
///
/// # Errors
/// Git is missing, the folder is in no repository, or the commit is unknown; with the remedy.
pub(super) fn since(reference: &str, here: &Path) -> Result<Vec<String>, String> {
    // It could be an option. No reference begins so (git-check-ref-format).
    if reference.is_empty() || reference.starts_with('-') || reference.contains('\0') {
        return Err(format!("{reference} is no commit; name one, such as origin/main"));
    }
    let inside = git(here, &["rev-parse", "--is-inside-work-tree"])?;
    if !inside.status.success() {
        let remedy = "run it in a checked out repository, or name the files with --changed-files";
        return Err(format!("git knows no repository here ({}); {remedy}", said(&inside)));
    }
    let commit = format!("{reference}^{{commit}}");
    let known = git(here, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])?;
    let hash = String::from_utf8_lossy(&known.stdout).trim().to_owned();
    if !known.status.success() || hash.is_empty() {
        return Err(format!("git knows no commit {reference}; {}", fetch(here)?));
    }
    let range = format!("{hash}...HEAD");
    // Nothing that a repository configures is run for it.
    let options = ["--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--relative"];
    let arguments = [&["diff"], &options[..], &["--end-of-options", &range, "--"]].concat();
    let changed = git(here, &arguments)?;
    if !changed.status.success() {
        return Err(format!(
            "git cannot compare {reference} with HEAD ({}); {}",
            said(&changed),
            fetch(here)?
        ));
    }
    listed(&changed.stdout)
}

/// What to do where a commit is not there.
fn fetch(here: &Path) -> Result<&'static str, String> {
    let shallow = git(here, &["rev-parse", "--is-shallow-repository"])?;
    Ok(if shallow.stdout.starts_with(b"true") {
        "this is a shallow clone: fetch the history, with fetch-depth: 0 of actions/checkout or git fetch --unshallow"
    } else {
        "fetch it, or name another one"
    })
}

/// Runs git without a shell, and without anything to type into.
fn git(here: &Path, arguments: &[&str]) -> Result<Output, String> {
    let quiet = ["--no-pager", "-c", "core.quotePath=false", "-c", "core.fsmonitor=false"];
    let mut command = Command::new("git");
    command.args(quiet).args(arguments).current_dir(here).stdin(Stdio::null());
    command.output().map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            "there is no git program; install it, or name the files with --changed-files".to_owned()
        } else {
            format!("git cannot be started: {error}")
        }
    })
}

/// The first line of what git said.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().next().unwrap_or("it does not say why");
    cut(line, 300)
}
