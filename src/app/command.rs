//! The local command: which one it is, where it stands, and how it ended.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser;

use super::{explain, learn, many, merge, plan, record};
use crate::cli::{Cli, Command};
use crate::runner;
use crate::settings::{Recorder, Terminal};
use crate::trace::state_map::StateMap;
use crate::workspace::Workspace;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every deployment is verified, or help or an explanation was asked for.
    Verified,
    /// At least one is not.
    NotVerified,
    /// It could not run.
    CouldNotRun,
}

/// Runs the command with its arguments, the program's name first.
pub fn run(arguments: &[OsString], environment: &[(String, String)]) -> Ending {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let wanted = !error.use_stderr();
            if wanted {
                runner::help(&error.to_string(), false);
                return Ending::Verified;
            }
            // The message quotes the arguments.
            runner::complain(&error.to_string());
            return Ending::CouldNotRun;
        }
    };
    let terminal = &Terminal::read(environment);
    let result = match cli.command {
        Command::Check(arguments) => many::run(&arguments, terminal),
        Command::Plan(arguments) => plan::command::run(&arguments),
        Command::Learn(arguments) => learn::command::run(&arguments, terminal),
        Command::Record(arguments) => record::command::run(&arguments, terminal, Recorder::read(environment)),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Merge(arguments) => merge::command::run(&arguments, terminal),
    };
    result.unwrap_or_else(|reason| {
        runner::complain(&format!("error: {reason}"));
        Ending::CouldNotRun
    })
}

/// Where the command was started, and the workspace in which everything lies: a person may name any file.
pub(super) fn places() -> Result<(PathBuf, Workspace), String> {
    let here =
        std::env::current_dir().map_err(|error| format!("the current folder cannot be told: {error}"))?;
    let everywhere =
        Workspace::new(Path::new("/")).map_err(|error| format!("the root cannot be read: {error}"))?;
    Ok((here, everywhere))
}

/// The state map that is named, else the built-in one.
pub(super) fn state_map(
    given: Option<&Path>,
    here: &Path,
    everywhere: &Workspace,
) -> Result<StateMap, String> {
    let Some(given) = given else { return Ok(StateMap::default()) };
    let wrong = |reason: String| format!("the state map {} cannot be used: {reason}", given.display());
    let bytes = everywhere.read(&here.join(given)).map_err(|refusal| wrong(refusal.to_string()))?;
    StateMap::of_file(&given.to_string_lossy(), &bytes)
        .map_err(|error| wrong(format!("{error}; write {{\"name\": \"state\"}}")))
}

/// Beyond what nothing of a folder is read: the repository that holds its `.azure`, else the current folder if it lies in
/// it, else the folder itself.
pub(super) fn workspace_of(folder: &Path, here: &Path) -> std::io::Result<Workspace> {
    let real = folder.canonicalize()?;
    let repository = real.ancestors().find(|part| part.file_name().is_some_and(|name| name == ".azure"));
    if let Some(root) = repository.and_then(Path::parent) {
        return Workspace::new(root);
    }
    let here = here.canonicalize()?;
    // The root of the file system is no workspace: everything lies in it.
    if real.starts_with(&here) && here.parent().is_some() {
        Workspace::new(&here)
    } else {
        Workspace::new(&real)
    }
}

/// What is said where the program is started without arguments outside of Actions.
pub fn usage() -> Ending {
    runner::complain(
        "error: nothing to do\n\nUsage: process-integrity check DIR...\n\nFor more information, try '--help'.",
    );
    Ending::CouldNotRun
}
