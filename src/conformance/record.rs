//! What is known of one state of the model.

use super::Seen;
use crate::trace::{Event, Proof, Status};

/// A failed attempt and the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Again {
    /// The attempt that failed.
    pub failed: Seen,
    /// The next one.
    pub again: Seen,
    /// How often this happened; the places are the first time's.
    pub count: u64,
}

/// What is known of one state.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// Events of any status.
    pub events: u64,
    first_completed: Option<Seen>,
    last_completed: Option<Seen>,
    last_attempt: Option<(Seen, Status)>,
    /// Started, and no event of the state since.
    open: Option<Seen>,
    /// An end is known, not only an invocation.
    ended: bool,
    /// Attempted again after a failure, outside the allowed loops.
    pub retry: Option<Again>,
    /// Blocked, its template redone, passed.
    pub fix_loop: Option<Again>,
    /// Where a person overrode it.
    pub overridden: Option<Seen>,
}

impl Record {
    /// The last attempt, in the part of the run that was seen so far. An open start is one.
    #[must_use]
    pub fn current(&self) -> Option<(Seen, Status)> {
        self.open.map(|seen| (seen, Status::Started)).or(self.last_attempt)
    }

    /// The last attempt completed.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.current().is_some_and(|(_, status)| status == Status::Completed)
    }

    /// It completed at some time.
    #[must_use]
    pub fn completed(&self) -> Option<Seen> {
        self.last_completed
    }

    /// All that is known of its completion is that it was invoked.
    #[must_use]
    pub fn is_invoked_only(&self) -> bool {
        self.last_completed.is_some() && !self.ended
    }

    /// It failed, was started again, and nothing is known of how that ended: an attempt as well.
    #[must_use]
    pub fn reopened(&self) -> Option<Again> {
        Some(Again { failed: self.last_failed()?, again: self.open?, count: 1 })
    }

    /// The last attempt that is known to have ended, where it failed.
    pub(super) fn last_failed(&self) -> Option<Seen> {
        self.last_attempt.filter(|(_, status)| status.is_failure()).map(|(seen, _)| seen)
    }

    pub(super) fn first_completed(&self) -> Option<Seen> {
        self.first_completed
    }

    /// Takes the state's next event.
    pub(super) fn take(&mut self, seen: Seen, event: &Event<'_>) {
        self.events += 1;
        if event.status == Status::Started {
            self.open = Some(seen);
        } else {
            self.last_attempt = Some((seen, event.status));
            self.open = None;
        }
        if event.status == Status::Completed {
            self.first_completed.get_or_insert(seen);
            self.last_completed = Some(seen);
            self.ended |= event.proof == Proof::Ended;
            if event.overridden {
                self.overridden.get_or_insert(seen);
            }
        }
    }

    pub(super) fn representative(&self) -> Option<Seen> {
        self.last_completed.filter(|_| self.is_completed())
    }
}
