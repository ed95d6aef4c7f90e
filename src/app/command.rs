//! The local command: check folders, print reports, end with a code.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser;

use super::check::{Checked, check};
use super::job::{Job, Named, Options};
use super::{learn, record};
use crate::cli::{Check, Cli, Command, Format};
use crate::model::Threshold;
use crate::report::markdown::Context;
use crate::report::{annotations, json, markdown, terminal as text};
use crate::runner;
use crate::secrets::Secrets;
use crate::settings::{Recorder, Terminal};
use crate::trace::state_map::StateMap;
use crate::verdict::Verdict;
use crate::workspace::Workspace;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every deployment is verified, or help was asked for.
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
        Command::Check(arguments) => run_check(&arguments, terminal),
        Command::Learn(arguments) => learn::command::run(&arguments, terminal),
        Command::Record(arguments) => record::command::run(&arguments, terminal, Recorder::read(environment)),
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

fn run_check(arguments: &Check, terminal: &Terminal) -> Result<Ending, String> {
    let (here, everywhere) = places()?;
    let options = Options {
        evidence: arguments.evidence.into(),
        min_events: arguments.min_events,
        threshold: arguments.coverage_threshold.and_then(Threshold::of_percent),
        deployment_state: arguments.deployment_state.clone(),
        terminal_state: arguments.terminal_state.clone(),
        state_map: state_map(arguments.state_map.as_deref(), &here, &everywhere)?,
        secrets: Secrets::default(),
    };
    let named = |path: &Option<PathBuf>| path.as_deref().map(|path| Named::new(path, &here));
    let job = |folder: Option<Named>, workspace: Workspace| Job {
        workspace,
        named: everywhere.clone(),
        folder,
        trace: named(&arguments.trace),
        model: named(&arguments.model),
        tests: named(&arguments.tests),
    };
    let mut jobs = Vec::new();
    for given in &arguments.folders {
        let folder = Named::new(given, &here);
        if !folder.path.is_dir() {
            let remedy = "name a deployment folder, such as .azure/deployments/deploy-20261005-120000";
            return Err(format!("{} is no folder; {remedy}", given.display()));
        }
        let workspace = workspace_of(&folder.path, &here)
            .map_err(|error| format!("{} cannot be read: {error}; check its permissions", given.display()))?;
        jobs.push(job(Some(folder), workspace));
    }
    if jobs.is_empty() {
        jobs.push(job(None, everywhere.clone()));
    }
    let mut verdicts = Vec::new();
    let mut warned = BTreeMap::new();
    for job in &jobs {
        let Checked { report, warnings } = check(job, &options).map_err(|error| error.to_string())?;
        for warning in warnings {
            let text = warning.to_string();
            if warned.insert(text.clone(), ()).is_none() {
                runner::complain(&format!("warning: {text}"));
            }
        }
        let several = jobs.len() > 1;
        let rendered = match arguments.format {
            Format::Text => {
                let colour = runner::colour(terminal.no_color.as_deref(), terminal.term.as_deref());
                let rule = if several && !verdicts.is_empty() { "\n" } else { "" };
                format!("{rule}{}", text::render(&report, colour))
            }
            Format::Markdown => markdown::render(&report, &Context::default()),
            Format::Json if several => json::render(&report, json::Layout::Line),
            Format::Json => json::render(&report, json::Layout::Pretty),
            Format::Annotations => annotations::render(&report),
        };
        runner::print(&rendered);
        verdicts.push(report.verdict);
    }
    if verdicts.len() > 1 && arguments.format == Format::Text {
        runner::print(&format!("\n{}", text::tally(&verdicts)));
    }
    let verified = verdicts.iter().all(|verdict| *verdict == Verdict::VerifiedSuccess);
    Ok(if verified { Ending::Verified } else { Ending::NotVerified })
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
    StateMap::parse(&bytes).map_err(|error| wrong(format!("{error}; write {{\"name\": \"state\"}}")))
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
