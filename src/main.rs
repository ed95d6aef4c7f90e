//! Arguments or environment → run → exit code.

use std::process::ExitCode;

use process_integrity::app::command::Ending;
use process_integrity::app::{self, Start};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    match app::start(&arguments) {
        // As an action it detects and never blocks: 0 whatever happened.
        Start::Action => ExitCode::SUCCESS,
        Start::Command(Ending::Verified) => ExitCode::SUCCESS,
        Start::Command(Ending::NotVerified) => ExitCode::from(1),
        Start::Command(Ending::CouldNotRun) => ExitCode::from(2),
    }
}
