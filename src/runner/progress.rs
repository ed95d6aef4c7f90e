//! How far a command with much to do is: on standard error, and never mixed into what it prints.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is done before anybody wonders needs no progress.
const WORTH_TELLING: usize = 50;
/// Where there is no bar a line is written this often at most.
const EVERY: Duration = Duration::from_secs(5);

/// What is shown.
#[derive(Debug)]
enum Shown {
    /// A bar on a terminal.
    Bar(ProgressBar),
    /// A line now and then.
    Lines {
        since: Instant,
    },
    Nothing,
}

/// The progress of a command, through which it prints while the progress is shown.
#[derive(Debug)]
pub struct Progress {
    shown: Shown,
    done: usize,
    total: usize,
}

impl Progress {
    /// Nothing is done so far. A dumb terminal and a log of a CI system (`CI` is set) get lines in place of a bar.
    #[must_use]
    pub fn new(total: usize, term: Option<&str>, ci: Option<&str>) -> Self {
        let plain = term.is_none_or(|term| term.is_empty() || term == "dumb")
            || ci.is_some_and(|ci| !ci.is_empty() && ci != "false");
        let shown = if total < WORTH_TELLING {
            Shown::Nothing
        } else if plain || !io::stderr().is_terminal() {
            Shown::Lines { since: Instant::now() }
        } else {
            let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:40} {pos} of {len} checked, {eta} left");
            Shown::Bar(style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style)))
        };
        Self { shown, done: 0, total }
    }

    /// Writes what was rendered to standard output, whole and at once, so that a run that is killed leaves one torn piece
    /// at most. The bar makes room where both are terminals: they may be the same one.
    ///
    /// # Errors
    /// The system's: nobody reads it any more, or the disk is full.
    pub fn deliver(&self, rendered: &str) -> io::Result<()> {
        let write = || {
            let mut out = io::stdout().lock();
            out.write_all(rendered.as_bytes())?;
            out.flush()
        };
        match &self.shown {
            Shown::Bar(bar) if io::stdout().is_terminal() => bar.suspend(write),
            Shown::Bar(_) | Shown::Lines { .. } | Shown::Nothing => write(),
        }
    }

    /// Writes a line to standard error.
    pub fn complain(&self, text: &str) {
        match &self.shown {
            Shown::Bar(bar) => bar.suspend(|| super::complain(text)),
            Shown::Lines { .. } | Shown::Nothing => super::complain(text),
        }
    }

    /// One more is done.
    pub fn step(&mut self) {
        self.done += 1;
        match &mut self.shown {
            Shown::Bar(bar) => bar.inc(1),
            Shown::Lines { since } if since.elapsed() >= EVERY && self.done < self.total => {
                *since = Instant::now();
                super::complain(&format!("{} of {} checked", self.done, self.total));
            }
            Shown::Lines { .. } | Shown::Nothing => {}
        }
    }
}

impl Drop for Progress {
    /// The bar is gone when the work is over.
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}
