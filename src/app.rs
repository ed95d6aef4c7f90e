//! The order of steps; the only orchestration.

use std::ffi::OsString;

pub mod check;
pub mod command;
mod discover;
pub mod job;

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
    let surroundings = command::Surroundings {
        no_color: std::env::var("NO_COLOR").ok(),
        term: std::env::var("TERM").ok(),
    };
    Start::Command(command::run(arguments, &surroundings))
}
