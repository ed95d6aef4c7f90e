//! A golden run, seen event by event: what a model is learned from. What is kept grows with the states and the
//! deployments of the run, not with its events.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::trace::{ERROR_STATE, Event, Place, Stage, Status, Time, Watch};

/// Different states of one run that are kept. A trace with more names things, not states.
const STATES_KEPT: usize = 1 << 16;
/// Deployment attempts of one run at which its guards are looked at.
const DEPLOYMENTS_KEPT: usize = 64;
/// Fix loops of one state that are kept.
const LOOPS_KEPT: usize = 16;

/// An attempt that failed, and the next one, which completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// The states that completed in between, the earliest first.
    pub redone: Vec<usize>,
}

/// Spreads the bits of a way: the factor of Fibonacci hashing, 2^64 over the golden ratio.
const WAY_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// How a state stands when it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// No event of it.
    Absent,
    /// Its last attempt did not complete.
    NotCompleted(Place, Status),
    /// Its last attempt completed; the number of its last completed event in the run.
    Completed(u64),
}

impl Standing {
    /// The number of the completed event.
    #[must_use]
    pub fn completed(self) -> Option<u64> {
        match self {
            Self::Completed(index) => Some(index),
            Self::Absent | Self::NotCompleted(..) => None,
        }
    }
}

/// The label of a state's stage over all its events.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Label {
    /// No event has one.
    #[default]
    Absent,
    /// All that have one agree.
    Agreed(Stage<'static>),
    /// They do not.
    Disputed,
}

impl Label {
    /// Takes another label for the same state.
    pub fn take(&mut self, other: Self) {
        *self = match (std::mem::take(self), other) {
            (own, Self::Absent) => own,
            (Self::Absent, other) => other,
            (Self::Agreed(own), Self::Agreed(other)) if own == other => Self::Agreed(own),
            (Self::Agreed(_) | Self::Disputed, _) => Self::Disputed,
        };
    }
}

/// What is known of one state of the run.
#[derive(Debug, Clone)]
struct Track {
    name: String,
    name_hash: u64,
    first_completed: Option<u64>,
    last_completed: Option<u64>,
    standing: Standing,
    /// The last attempt that is known to have ended, where it failed.
    failed: Option<u64>,
    /// Its standing at deployment attempts, by their number, where it changed since the one before.
    at: Vec<(usize, Standing)>,
    loops: Vec<Loop>,
    label: Label,
    /// It has an event since the last deployment attempt.
    changed: bool,
}

/// One golden run.
#[derive(Debug, Clone)]
pub struct Golden {
    deployment: String,
    index: HashMap<String, usize>,
    tracks: Vec<Track>,
    changed: Vec<usize>,
    deployments: usize,
    events: u64,
    /// The last state that completed.
    last: Option<usize>,
    first: Option<usize>,
    /// Which completed state came directly after which.
    steps: HashSet<(usize, usize)>,
    last_step: Option<(usize, usize)>,
    /// The same for runs of the same states and statuses in the same order.
    way: u64,
    crowded: bool,
}

impl Golden {
    /// Nothing was seen yet. The guards of the deployment state are looked at whenever it is attempted.
    #[must_use]
    pub fn new(deployment: &str) -> Self {
        Self {
            deployment: deployment.to_owned(),
            index: HashMap::new(),
            tracks: Vec::new(),
            changed: Vec::new(),
            deployments: 0,
            events: 0,
            last: None,
            first: None,
            steps: HashSet::new(),
            last_step: None,
            way: 0,
            crowded: false,
        }
    }

    /// Takes the next event of the run.
    pub fn observe(&mut self, event: &Event<'_>) {
        let number = self.events;
        self.events += 1;
        if event.state == ERROR_STATE {
            return;
        }
        if event.state == self.deployment.as_str()
            && (event.status == Status::Completed || event.status.is_failure())
        {
            self.deploy();
        }
        let Some(state) = self.number_of(&event.state) else {
            self.crowded = true;
            return;
        };
        let track = self.tracks.get(state).map_or(0, |track| track.name_hash);
        // Order matters, so that every event moves what came before it.
        self.way = self.way.rotate_left(5).wrapping_mul(WAY_FACTOR) ^ track.wrapping_add(event.status as u64);
        if event.status == Status::Completed {
            self.step(state);
        }
        let repeated = self.tracks.get(state).and_then(|track| track.failed);
        if let (Some(failed), Status::Completed) = (repeated, event.status) {
            self.close_loop(state, failed);
        }
        let Some(track) = self.tracks.get_mut(state) else { return };
        if !track.changed {
            track.changed = true;
            self.changed.push(state);
        }
        if let Some(stage) = &event.stage {
            track.label.take(Label::Agreed(stage.clone().into_owned()));
        }
        match event.status {
            Status::Completed => {
                track.first_completed.get_or_insert(number);
                track.last_completed = Some(number);
                track.standing = Standing::Completed(number);
                track.failed = None;
            }
            Status::Started => track.standing = Standing::NotCompleted(event.place, event.status),
            Status::Skipped | Status::Unknown | Status::Failed | Status::Error => {
                track.standing = Standing::NotCompleted(event.place, event.status);
                track.failed = event.status.is_failure().then_some(number);
            }
        }
    }

    fn number_of(&mut self, name: &str) -> Option<usize> {
        if let Some(state) = self.index.get(name) {
            return Some(*state);
        }
        let state = self.tracks.len();
        if state >= STATES_KEPT {
            return None;
        }
        self.index.insert(name.to_owned(), state);
        self.tracks.push(Track {
            name: name.to_owned(),
            name_hash: hash(name),
            first_completed: None,
            last_completed: None,
            standing: Standing::Absent,
            failed: None,
            at: Vec::new(),
            loops: Vec::new(),
            label: Label::Absent,
            changed: false,
        });
        Some(state)
    }

    fn step(&mut self, state: usize) {
        self.first.get_or_insert(state);
        if let Some(last) = self.last {
            let step = (last, state);
            // Long runs repeat the same step very often.
            if self.last_step != Some(step) {
                self.steps.insert(step);
                self.last_step = Some(step);
            }
        }
        self.last = Some(state);
    }

    fn close_loop(&mut self, state: usize, failed: u64) {
        let mut redone: Vec<(u64, usize)> = Vec::new();
        if self.tracks.get(state).is_some_and(|track| track.loops.len() < LOOPS_KEPT) {
            let after = |(at, track): (usize, &Track)| {
                Some((track.last_completed.filter(|index| *index > failed)?, at))
            };
            redone.extend(self.tracks.iter().enumerate().filter_map(after));
        }
        redone.sort_unstable();
        if let Some(track) = self.tracks.get_mut(state).filter(|_| !redone.is_empty()) {
            track.loops.push(Loop { redone: redone.into_iter().map(|(_, state)| state).collect() });
        }
    }

    fn deploy(&mut self) {
        if self.deployments < DEPLOYMENTS_KEPT {
            for state in std::mem::take(&mut self.changed) {
                if let Some(track) = self.tracks.get_mut(state) {
                    track.changed = false;
                    track.at.push((self.deployments, track.standing));
                }
            }
            self.deployments += 1;
        }
    }

    /// How many events it has.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// It has more different states than are kept: it names things, not states.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// The same for two runs that went the same way, event by event.
    #[must_use]
    pub fn way(&self) -> (u64, u64) {
        (self.events, self.way)
    }

    /// The names of the states that completed at some time.
    pub fn completed(&self) -> impl Iterator<Item = &str> {
        self.tracks.iter().filter(|track| track.last_completed.is_some()).map(|track| track.name.as_str())
    }

    /// The name of the last state that completed, of those that are asked for.
    #[must_use]
    pub fn last_of(&self, wanted: impl Fn(&str) -> bool) -> Option<&str> {
        let candidates = self.tracks.iter().filter(|track| wanted(&track.name));
        let last = candidates.max_by_key(|track| track.last_completed)?;
        last.last_completed.map(|_| last.name.as_str())
    }

    /// The label of a state's stage.
    #[must_use]
    pub fn label(&self, state: &str) -> Label {
        self.find(state).map_or(Label::Absent, |track| track.label.clone())
    }

    /// How a state stands at the end of the run.
    #[must_use]
    pub fn standing(&self, state: &str) -> Standing {
        self.find(state).map_or(Standing::Absent, |track| track.standing)
    }

    /// The states whose last attempt failed, or began and has no known end, and where. A skipped one is neither.
    pub fn unfinished(&self) -> impl Iterator<Item = (&str, Place, Status)> {
        self.tracks.iter().filter_map(|track| match track.standing {
            Standing::NotCompleted(place, status) if status != Status::Skipped => {
                Some((track.name.as_str(), place, status))
            }
            Standing::NotCompleted(..) | Standing::Absent | Standing::Completed(_) => None,
        })
    }

    /// When a state completed first and last.
    #[must_use]
    pub fn span(&self, state: &str) -> Option<(u64, u64)> {
        let track = self.find(state)?;
        track.first_completed.zip(track.last_completed)
    }

    /// How many deployment attempts it has, as far as they are looked at.
    #[must_use]
    pub fn deployments(&self) -> usize {
        self.deployments
    }

    /// How a state stood at each deployment attempt.
    pub fn at_deployments(&self, state: &str) -> impl Iterator<Item = Standing> + '_ {
        let changes = self.find(state).map_or(&[][..], |track| track.at.as_slice());
        let mut next = 0;
        let mut standing = Standing::Absent;
        (0..self.deployments).map(move |deployment| {
            if let Some((_, changed)) = changes.get(next).filter(|(at, _)| *at == deployment) {
                standing = *changed;
                next += 1;
            }
            standing
        })
    }

    /// The fix loops of a state: the names of what completed between a failed attempt and the next one, which completed.
    pub fn loops(&self, state: &str) -> impl Iterator<Item = Vec<&str>> {
        let loops = self.find(state).map_or(&[][..], |track| track.loops.as_slice());
        loops.iter().map(|one| one.redone.iter().map(|state| self.name(*state)).collect())
    }

    /// The steps of the run: which state completed directly after which. `None` stands for its beginning and its end.
    pub fn steps(&self) -> impl Iterator<Item = (Option<&str>, Option<&str>)> {
        let inner = self.steps.iter().map(|(a, b)| (Some(self.name(*a)), Some(self.name(*b))));
        let ends = self
            .first
            .zip(self.last)
            .map(|(first, last)| [(None, Some(self.name(first))), (Some(self.name(last)), None)]);
        inner.chain(ends.into_iter().flatten())
    }

    fn find(&self, state: &str) -> Option<&Track> {
        self.tracks.get(*self.index.get(state)?)
    }

    fn name(&self, state: usize) -> &str {
        self.tracks.get(state).map_or("", |track| track.name.as_str())
    }
}

impl Watch for Golden {
    fn event(&mut self, event: &Event<'_>) {
        self.observe(event);
    }
    fn tick(&mut self, _: Time, _: Place) {}
}

/// The stage labels over several runs, by state.
#[must_use]
pub fn labels<'a>(
    goldens: &[&Golden],
    states: impl Iterator<Item = &'a str>,
) -> BTreeMap<String, Stage<'static>> {
    let agreed = |state: &str| {
        let mut label = Label::Absent;
        goldens.iter().for_each(|golden| label.take(golden.label(state)));
        match label {
            Label::Agreed(stage) => Some((state.to_owned(), stage)),
            Label::Absent | Label::Disputed => None,
        }
    };
    states.filter_map(agreed).collect()
}
