//! Nothing stops the action: panics are caught, signals end it at once, and it has one deadline.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::runner;

/// Why work was left unfinished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// It took too long.
    Deadline,
    /// SIGINT or SIGTERM: the run was cancelled.
    Cancelled,
    /// It panicked.
    Panicked,
}

impl Interruption {
    /// In words, for the `status` output.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Deadline => "timeout: the check took too long and was given up",
            Self::Cancelled => "cancelled: the run was cancelled before the check was done",
            Self::Panicked => "internal error: the check ended early; please report it",
        }
    }
}

/// Makes a panic one line on standard error, in place of a report over many that quotes hostile text.
pub fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or(String::new(), |at| format!(" at {}:{}", at.file(), at.line()));
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic");
        let text = crate::escape::cut(text, 300).replace(['\n', '\r'], " ");
        runner::complain(&format!("internal error{place}: {text}"));
    }));
}

/// Runs one step for itself: its panic does not touch the next one.
///
/// # Errors
/// It panicked.
pub fn isolated<T>(step: impl FnOnce() -> T) -> Result<T, Interruption> {
    catch_unwind(AssertUnwindSafe(step)).map_err(|_| Interruption::Panicked)
}

/// The signals by which the runner ends a run. As PID 1 of a container the process has no handlers but its own, so it
/// listens from the beginning to the end: a signal between two steps is not lost.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    streams: Option<(tokio::signal::unix::Signal, tokio::signal::unix::Signal)>,
}

impl Signals {
    /// Starts to listen. Must be called inside of a tokio runtime.
    #[cfg(unix)]
    #[must_use]
    pub fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self { streams: signal(SignalKind::interrupt()).ok().zip(signal(SignalKind::terminate()).ok()) }
    }

    /// Starts to listen.
    #[cfg(not(unix))]
    #[must_use]
    pub fn listen() -> Self {
        Self {}
    }

    /// Returns when the process is told to end.
    #[cfg(unix)]
    async fn told(&mut self) {
        let Some((interrupt, terminate)) = &mut self.streams else { return std::future::pending().await };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    async fn told(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}

/// Waits for a task until it is done, a signal comes, or the deadline passes. What is left unfinished goes on in its thread
/// until the process ends.
///
/// # Errors
/// It was not finished.
pub async fn bounded<T>(
    signals: &mut Signals,
    work: JoinHandle<T>,
    deadline: Duration,
) -> Result<T, Interruption> {
    tokio::select! {
        result = work => result.map_err(|_| Interruption::Panicked),
        () = signals.told() => Err(Interruption::Cancelled),
        () = tokio::time::sleep(deadline) => Err(Interruption::Deadline),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::task::spawn_blocking;

    #[test]
    fn a_step_that_panics_is_told_and_the_next_one_runs() {
        assert_eq!(isolated(|| -> u8 { panic!("boom") }), Err(Interruption::Panicked));
        assert_eq!(isolated(|| 1), Ok(1));
    }

    #[test]
    fn work_is_bounded() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let long = Duration::from_secs(3600);
        let wait_for = |work: JoinHandle<u8>, deadline| async move {
            bounded(&mut Signals::listen(), work, deadline).await
        };
        let done = runtime.block_on(async { wait_for(spawn_blocking(|| 7), long).await });
        assert_eq!(done, Ok(7));
        let panicked = runtime.block_on(async { wait_for(spawn_blocking(|| panic!("boom")), long).await });
        assert_eq!(panicked, Err(Interruption::Panicked));
        let (release, wait) = std::sync::mpsc::channel::<u8>();
        let stuck = runtime.block_on(async {
            wait_for(spawn_blocking(move || wait.recv().unwrap_or(0)), Duration::from_millis(1)).await
        });
        assert_eq!(stuck, Err(Interruption::Deadline));
        drop(release);
    }
}
