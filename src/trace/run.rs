//! Which events of a file are judged: those of its last run, and of the folder's own deployment.
//!
//! Which run is the last one is known at the end only. So a file is read once with [`Pick::First`], and where
//! [`RunFilter::last`] then names another run, a second time with [`Pick::Run`]. Nothing but ids is kept.

use std::collections::HashSet;

use super::{Event, Place};

/// Which run's events are let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pick {
    /// The first run of the file.
    First,
    /// The run with this id.
    Run(String),
}

/// Whether an event is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It belongs to the run that is judged.
    Judged,
    /// It belongs to another run of this deployment.
    OtherRun,
    /// It names another deployment: set aside, covers nothing.
    Foreign,
}

/// Sorts events into the run that is judged and the rest.
#[derive(Debug)]
pub struct RunFilter {
    deployment: Option<String>,
    pick: Pick,
    current: Option<String>,
    first: Option<String>,
    /// The current run is the one that is judged. Kept, since nearly all events are of the run of the event before.
    judged: bool,
    /// Hashes of ids, which may be long.
    seen: HashSet<u64>,
    foreign: u64,
    first_foreign: Option<(Place, String)>,
}

/// Distinct runs that are counted; a file with more says "more than".
const RUNS_COUNTED: usize = 1_000;

impl RunFilter {
    /// A filter for one reading of a file. `deployment` is the folder's, where it is known.
    #[must_use]
    pub fn new(deployment: Option<String>, pick: Pick) -> Self {
        Self {
            deployment,
            // A second reading is for a run that is not the first, so leading events are not its own.
            judged: pick == Pick::First,
            pick,
            current: None,
            first: None,
            seen: HashSet::new(),
            foreign: 0,
            first_foreign: None,
        }
    }

    /// Looks at the next event of the file.
    pub fn admit(&mut self, event: &Event<'_>) -> Admission {
        if let (Some(own), Some(named)) = (&self.deployment, &event.deployment)
            && own != named
        {
            self.foreign += 1;
            self.first_foreign.get_or_insert_with(|| (event.place, named.to_string()));
            return Admission::Foreign;
        }
        if let Some(run) = event.run.as_deref()
            && self.current.as_deref() != Some(run)
        {
            if self.seen.len() <= RUNS_COUNTED {
                self.seen.insert(hash(run));
            }
            let first = self.first.get_or_insert_with(|| run.to_owned());
            self.judged = match &self.pick {
                Pick::First => run == first,
                Pick::Run(id) => run == id,
            };
            // In the same memory: hostile runs can take turns.
            let current = self.current.get_or_insert_default();
            current.clear();
            current.push_str(run);
        }
        // An event without a run id belongs to the run before it, leading ones to the first run.
        if self.judged { Admission::Judged } else { Admission::OtherRun }
    }

    /// The run that must be judged instead, where the last run is not the first one.
    #[must_use]
    pub fn last(&self) -> Option<&str> {
        self.current.as_deref().filter(|last| self.first.as_deref() != Some(last))
    }

    /// How many runs the file holds, and whether there may be more than that.
    #[must_use]
    pub fn runs(&self) -> (usize, bool) {
        (self.seen.len().min(RUNS_COUNTED), self.seen.len() > RUNS_COUNTED)
    }

    /// How many events named another deployment, and where the first of them stands and what it names.
    #[must_use]
    pub fn foreign(&self) -> (u64, Option<&(Place, String)>) {
        (self.foreign, self.first_foreign.as_ref())
    }
}

fn hash(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Status;
    use proptest::prelude::*;

    fn judged(ids: &[Option<&str>], pick: Pick) -> (Vec<usize>, Option<String>, usize) {
        let mut filter = RunFilter::new(None, pick);
        let mut judged = Vec::new();
        for (at, id) in ids.iter().enumerate() {
            let mut event = Event::new("a", Status::Completed, Place::default());
            event.run = id.map(Into::into);
            if filter.admit(&event) == Admission::Judged {
                judged.push(at);
            }
        }
        (judged, filter.last().map(str::to_owned), filter.runs().0)
    }

    #[test]
    fn an_event_without_a_run_belongs_to_the_run_before_it() {
        let ids = [None, Some("1"), None, Some("2"), None, Some("1"), Some("2")];
        let (first, last, runs) = judged(&ids, Pick::First);
        assert_eq!((first, last.as_deref(), runs), (vec![0, 1, 2, 5], Some("2"), 2));
        assert_eq!(judged(&ids, Pick::Run("2".to_owned())).0, [3, 4, 6]);
        assert_eq!(judged(&[None, None], Pick::First), (vec![0, 1], None, 0));
        assert_eq!(judged(&[Some("1"), Some("2"), Some("1")], Pick::First), (vec![0, 2], None, 2));
    }

    #[test]
    fn a_foreign_event_is_set_aside_and_starts_no_run() {
        let mut filter = RunFilter::new(Some("mine".to_owned()), Pick::First);
        let mut event = Event::new("a", Status::Completed, Place::default());
        event.deployment = Some("other".into());
        event.run = Some("9".into());
        assert_eq!(filter.admit(&event), Admission::Foreign);
        event.deployment = None;
        event.run = Some("1".into());
        assert_eq!(filter.admit(&event), Admission::Judged);
        assert_eq!(filter.last(), None);
        assert_eq!(filter.foreign().0, 1);
    }

    proptest! {
        // The rule, with the whole file at hand and nothing kept from event to event.
        #[test]
        fn an_event_is_judged_by_the_last_run_that_was_named(
            ids in proptest::collection::vec(proptest::option::of(proptest::sample::select(vec!["1", "2", "3"])), 0..12),
            pick in proptest::sample::select(vec![Pick::First, Pick::Run("2".to_owned())]),
        ) {
            let first = ids.iter().flatten().next();
            let is_judged = |at: &usize| {
                let run = ids[..=*at].iter().flatten().next_back();
                match &pick {
                    Pick::First => run.is_none_or(|run| Some(run) == first),
                    Pick::Run(id) => run.is_some_and(|run| run == id),
                }
            };
            let expected: Vec<usize> = (0..ids.len()).filter(is_judged).collect();
            prop_assert_eq!(judged(&ids, pick.clone()).0, expected);
        }
    }
}
