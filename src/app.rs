//! The order of steps; the only orchestration.

use std::ffi::OsString;

pub mod action;
mod attestation;
pub mod check;
mod choose;
mod classify;
pub mod command;
mod discover;
mod explain;
mod files;
mod folders;
pub mod guard;
pub mod job;
mod learn;
mod many;
mod merge;
mod parallel;
mod patterns;
mod plan;
mod publish;
mod record;
mod source;
mod step;
mod time;
mod troubles;

use crate::settings;

/// What was run, and how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The action, which never fails its step.
    Action,
    /// The local command.
    Command(command::Ending),
}

/// Runs as the action or as the command, as arguments and environment say.
pub fn start(arguments: &[OsString]) -> Start {
    guard::quiet_panics();
    let environment = settings::environment(std::env::vars_os());
    let bare = arguments.len() < 2;
    if bare && settings::in_actions(&environment) {
        let _ = guard::isolated(|| action::run(&environment));
        return Start::Action;
    }
    if bare {
        return Start::Command(command::usage());
    }
    let ending = guard::isolated(|| command::run(arguments, &environment));
    Start::Command(ending.unwrap_or(command::Ending::CouldNotRun))
}
