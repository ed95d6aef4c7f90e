//! The Actions runner, and the terminal: the only place that prints or writes. No failure to do so stops anything.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use crate::escape;
use crate::report::annotations::Annotation;
use crate::report::terminal::Colour;
use crate::workspace::{Refusal, Workspace};

pub mod append;
mod progress;

pub use progress::Progress;

/// The runner drops a summary of more than 1 MiB without a word; this is well below.
pub const SUMMARY_CAP: usize = 900_000;

/// Writes to standard output what was rendered for it. A reader that went away is no error.
pub fn print(rendered: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(rendered.as_bytes()).and_then(|()| out.flush());
}

/// Writes one line to standard error.
pub fn complain(text: &str) {
    let mut lines = String::new();
    for part in text.lines() {
        lines.push_str(&escape::line(part));
        lines.push('\n');
    }
    let mut out = io::stderr().lock();
    let _ = out.write_all(lines.as_bytes()).and_then(|()| out.flush());
}

/// Writes one line to standard output.
pub fn say(text: &str) {
    print(&format!("{}\n", escape::line(text)));
}

/// Writes text of our own, such as the help, to standard output or error as it is.
pub fn help(text: &str, to_stderr: bool) {
    if to_stderr {
        let mut out = io::stderr().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    } else {
        print(text);
    }
}

/// Writes a rendered report to standard error, where standard output is for something else.
pub fn report_aside(rendered: &str) {
    help(rendered, true);
}

/// Writes a file that a person named, and the folders on the way to it.
///
/// # Errors
/// The system's.
pub fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

/// Writes a file that a person named, or removes what is there where there is nothing to write.
///
/// # Errors
/// The system's.
pub fn write_or_remove(path: &Path, text: Option<&str>) -> io::Result<()> {
    match text {
        Some(text) => write_file(path, text),
        None => gone(fs::remove_file(path)),
    }
}

/// Removes a regular file of the workspace, if there is one.
///
/// # Errors
/// The path leads out of the workspace, or the system's.
pub fn remove_inside(workspace: &Workspace, path: &Path) -> io::Result<()> {
    match workspace.resolve(path) {
        Ok(real) => gone(fs::remove_file(real)),
        Err(Refusal::Absent) => Ok(()),
        Err(refusal) => Err(io::Error::other(refusal.to_string())),
    }
}

/// That there is nothing to remove is what was wanted.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Writes an annotation.
pub fn annotate(annotation: &Annotation) {
    print(&annotation.command());
}

/// Colours on a terminal, unless `NO_COLOR` is set to anything (no-color.org) or the terminal is a dumb one.
#[must_use]
pub fn colour(no_color: Option<&str>, term: Option<&str>) -> Colour {
    let wanted = no_color.is_none_or(str::is_empty) && term != Some("dumb");
    if wanted && io::stdout().is_terminal() { Colour::On } else { Colour::Off }
}

/// Appends outputs to the file of `GITHUB_OUTPUT`.
///
/// # Errors
/// The system's.
pub fn outputs(file: &Path, values: &[(&str, String)]) -> io::Result<()> {
    let mut text = String::new();
    for (name, value) in values {
        let value = escape::output(value);
        let delimiter = delimiter(&value)?;
        text.push_str(&format!("{name}<<{delimiter}\n{value}\n{delimiter}\n"));
    }
    append(file, &text)
}

/// A random line that is not in the value, so that no value can end itself and begin another output.
fn delimiter(value: &str) -> io::Result<String> {
    loop {
        let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
        let delimiter = format!("ghadelimiter_{random:016x}");
        if !value.contains(&delimiter) {
            return Ok(delimiter);
        }
    }
}

/// Appends Markdown to the file of `GITHUB_STEP_SUMMARY`, if it still fits.
///
/// # Errors
/// The system's.
pub fn summary(file: &Path, markdown: &str) -> io::Result<()> {
    append(file, markdown)
}

fn append(file: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    file.write_all(text.as_bytes())
}

/// Writes a file into the workspace, owned as the workspace is: a root-owned file breaks later steps of a self-hosted
/// runner.
///
/// # Errors
/// The path leads out of the workspace or is no regular file, or the system's.
pub fn write_inside(workspace: &Workspace, path: &Path, text: &str) -> io::Result<PathBuf> {
    let target = target_inside(workspace, path)?;
    let mut file = File::create(&target)?;
    file.write_all(text.as_bytes())?;
    own(&target, workspace);
    Ok(target)
}

/// Where a file of the workspace is to be written: the folders on the way to it are made, and what is there is a file.
fn target_inside(workspace: &Workspace, path: &Path) -> io::Result<PathBuf> {
    let path = workspace.root().join(path);
    let name = path.file_name().ok_or_else(|| io::Error::other("the path has no file name"))?;
    let folder = path.parent().ok_or_else(|| io::Error::other("the path has no folder"))?;
    // Where the folder does not exist yet, its nearest ancestor that does must lie inside.
    let existing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(workspace.root());
    let outside = || io::Error::other("the path leads out of the workspace");
    let real = workspace.resolve(existing).map_err(|_| outside())?;
    let rest = folder.strip_prefix(existing).map_err(|_| outside())?;
    if rest.components().any(|part| !matches!(part, std::path::Component::Normal(_))) {
        return Err(outside());
    }
    let mut folder = real;
    for part in rest.components() {
        folder.push(part);
        match fs::create_dir(&folder) {
            Ok(()) => own(&folder, workspace),
            // Another process made it in this moment.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            Err(error) => return Err(error),
        }
    }
    let target = folder.join(name);
    match fs::symlink_metadata(&target) {
        Ok(found) if !found.is_file() => {
            return Err(io::Error::other("the path is there, but is no regular file"));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(target)
}

/// Gives a file the owner of the workspace; only root can, and only root has to.
#[cfg(unix)]
fn own(path: &Path, workspace: &Workspace) {
    use std::os::unix::fs::{MetadataExt, chown};
    if let Ok(owner) = fs::metadata(workspace.root()) {
        let _ = chown(path, Some(owner.uid()), Some(owner.gid()));
    }
}

#[cfg(not(unix))]
fn own(_: &Path, _: &Workspace) {}

/// A log to standard error, each event one line that no runner takes for a command.
#[derive(Debug, Clone, Copy)]
struct LogLines;

impl Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        complain(String::from_utf8_lossy(bytes).trim_end());
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Warnings.
    Normal,
    /// What is done, step by step.
    Debug,
}

/// Starts logging to standard error.
pub fn log(verbosity: Verbosity) {
    let level = match verbosity {
        Verbosity::Normal => tracing::Level::WARN,
        Verbosity::Debug => tracing::Level::DEBUG,
    };
    // A second call, as tests make it, changes nothing.
    let _ = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .with_writer(|| LogLines)
        .try_init();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_output_whatever_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out");
        outputs(&file, &[("a", "x\nb=c\r\n".to_owned()), ("d", "e<<F".to_owned())]).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 6);
        assert_eq!((lines[1], lines[4]), ("x\\nb=c\\r\\n", "e<<F"));
        assert!(lines[0].starts_with("a<<") && lines[0].ends_with(lines[2]));
    }

    #[cfg(unix)]
    #[test]
    fn a_report_is_written_inside_the_workspace_only() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        fs::create_dir(&root).unwrap();
        std::os::unix::fs::symlink(outer.path(), root.join("out")).unwrap();
        std::os::unix::fs::symlink(outer.path().join("x"), root.join("link")).unwrap();
        let workspace = Workspace::new(&root).unwrap();
        let write = |path: &str| write_inside(&workspace, Path::new(path), "x").is_ok();
        assert!(write("a/b/report.json") && write("report.json") && write("report.json"));
        for path in ["../x", "out/x", "link", "a", "a/../../x", "/tmp/x-report", "", "new/../../x"] {
            assert!(!write(path), "{path}");
        }
        assert!(!outer.path().join("x").exists());
    }
}
