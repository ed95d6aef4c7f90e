//! A run, seen event by event. What is kept grows with the model, never with the run.

use fixedbitset::FixedBitSet;

use crate::model::Model;
use crate::secrets::Secrets;
use crate::trace::{Capped, Event, Place, Status, Time, Watch};

use super::clock::Clock;
use super::record::{Again, Record};
use super::{Disorder, Judgement, Reversal, Seen};

/// Characters of a message or a status word that are kept.
const TEXT_KEPT: usize = 300;
/// Moments of the timeline that are kept.
const MOMENTS_KEPT: usize = 400;

/// What a guard was like at the deployments; the first time for each kind.
#[derive(Debug, Clone, Copy, Default)]
struct Guard {
    /// No attempt before this deployment.
    absent: Option<Seen>,
    failed: Option<Judgement>,
    stale: Option<Judgement>,
    /// At the last deployment.
    representative: Option<Seen>,
}

/// An event worth showing in the picture of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Where.
    pub seen: Seen,
    /// The model's state; `None` for an error event of another.
    pub state: Option<usize>,
    /// What became of it.
    pub status: Status,
    /// The error's text.
    pub message: Option<String>,
}

/// A status word outside of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord {
    /// Where.
    pub seen: Seen,
    /// Of which state.
    pub state: String,
    /// The word.
    pub word: String,
}

/// Everything that the rules need to know of the run that is judged.
#[derive(Debug)]
pub struct Observation<'m> {
    model: &'m Model,
    secrets: &'m Secrets,
    events: u64,
    records: Vec<Record>,
    guards: Vec<Guard>,
    guard_disorders: Vec<Option<Disorder>>,
    /// Guards with an event since the last deployment; at first all of them.
    changed: FixedBitSet,
    guard_set: FixedBitSet,
    last_deployment: Option<Seen>,
    last_checkpoint: Option<(usize, Seen)>,
    /// An error with no checkpoint since.
    pending_error: Option<Seen>,
    /// Error, deployment, and the first guard that had not completed.
    jump: Option<(Seen, Seen, usize)>,
    errors: Capped<Moment>,
    unknown_words: Capped<UnknownWord>,
    moments: Vec<Moment>,
    /// The timestamps. Formats with records that are no events feed it themselves.
    pub clock: Clock,
}

impl<'m> Observation<'m> {
    /// Nothing was seen yet. Texts that are kept are free of secrets before they are cut.
    #[must_use]
    pub fn new(model: &'m Model, secrets: &'m Secrets) -> Self {
        let guards = (0..model.essential()).filter(|state| model.is_guard(*state));
        let mut guard_set = FixedBitSet::with_capacity(model.states());
        guard_set.extend(guards);
        Self {
            events: 0,
            records: vec![Record::default(); model.states()],
            guards: vec![Guard::default(); model.essential()],
            guard_disorders: vec![None; model.essential()],
            changed: guard_set.clone(),
            guard_set,
            last_deployment: None,
            last_checkpoint: None,
            pending_error: None,
            jump: None,
            errors: Capped::default(),
            unknown_words: Capped::default(),
            moments: Vec::new(),
            clock: Clock::default(),
            model,
            secrets,
        }
    }

    /// Takes the next event of the run.
    pub fn observe(&mut self, event: &Event<'_>) {
        let seen = Seen { index: self.events, place: event.place };
        self.events += 1;
        let state = self.model.find(&event.state);
        let secrets = self.secrets;
        let short = |text: &str| short(&secrets.blank(text));
        if event.unknown_word.is_some() {
            self.unknown_words.push_with(|| UnknownWord {
                seen,
                state: short(&event.state),
                word: short(event.unknown_word.as_deref().unwrap_or_default()),
            });
        }
        if state.is_some() || event.is_error() {
            // A run may have very many errors, and blanking is dear: only what is kept is blanked.
            let moment = || {
                let message = event.is_error().then(|| event.message.as_deref().map(&short)).flatten();
                Moment { seen, state, status: event.status, message }
            };
            if event.is_error() {
                self.errors.push_with(moment);
            }
            if self.moments.len() < MOMENTS_KEPT {
                self.moments.push(moment());
            }
        }
        if let Some(state) = state {
            self.take(state, seen, event);
        }
        if event.is_error() {
            self.pending_error.get_or_insert(seen);
        }
    }

    fn take(&mut self, state: usize, seen: Seen, event: &Event<'_>) {
        let status = event.status;
        let attempted = status != Status::Started;
        if Some(state) == self.model.deployment() && (status == Status::Completed || status.is_failure()) {
            self.deploy(seen);
        }
        if attempted {
            self.repeat(state, seen, status);
        }
        if status == Status::Completed
            && (self.model.is_essential(state) || Some(state) == self.model.terminal())
        {
            self.checkpoint(state, seen);
        }
        let Some(record) = self.records.get_mut(state) else { return };
        record.take(seen, event);
        if self.guard_set.contains(state) {
            self.changed.insert(state);
        }
    }

    /// Judges the guards on what lies before a deployment attempt.
    fn deploy(&mut self, deployment: Seen) {
        self.last_deployment = Some(deployment);
        let mut changed = FixedBitSet::with_capacity(self.model.states());
        std::mem::swap(&mut changed, &mut self.changed);
        for state in changed.ones() {
            let (Some(guard), Some(record)) = (self.guards.get_mut(state), self.records.get(state)) else {
                continue;
            };
            match record.current() {
                None => {
                    guard.absent.get_or_insert(deployment);
                }
                Some((attempt, status)) if status != Status::Completed => {
                    let failed = Judgement::Failed { attempt, status, deployment: Some(deployment) };
                    guard.failed.get_or_insert(failed);
                }
                Some(_) => {}
            }
            guard.representative = record.representative();
        }
        // Only a pair with a guard that changed can have come into another order.
        let model = self.model;
        for b in self.guard_set.clone().ones() {
            for a in model.before(b) {
                if self.guard_set.contains(a) && (changed.contains(a) || changed.contains(b)) {
                    self.compare(a, b, deployment);
                }
            }
        }
    }

    fn compare(&mut self, a: usize, b: usize, deployment: Seen) {
        let seen = |state: usize| self.guards.get(state).and_then(|guard| guard.representative);
        let (Some(before_seen), Some(after_seen)) = (seen(a), seen(b)) else { return };
        let deployment = Some(deployment);
        match self.reversal(a, before_seen, after_seen) {
            None => {}
            Some(Reversal::Stale) => {
                let stale =
                    Judgement::Stale { completed: after_seen, other: a, redone: before_seen, deployment };
                if let Some(guard) = self.guards.get_mut(b) {
                    guard.stale.get_or_insert(stale);
                }
            }
            Some(Reversal::OutOfOrder) => {
                let pair = Disorder { before: a, before_seen, after: b, after_seen, deployment };
                if let Some(first) = self.guard_disorders.get_mut(b) {
                    first.get_or_insert(pair);
                }
            }
        }
    }

    /// Is this attempt a repetition of a failed one, and if so, of which kind?
    fn repeat(&mut self, state: usize, seen: Seen, status: Status) {
        let model = self.model;
        let Some(record) = self.records.get(state) else { return };
        let Some(failed) = record.last_failed() else { return };
        if !model.is_essential(state) || (model.is_repeatable(state) && model.is_artifact(state)) {
            return;
        }
        let redone = model.before(state).filter(|a| model.is_artifact(*a)).any(|a| {
            self.records.get(a).and_then(Record::completed).is_some_and(|done| done.index > failed.index)
        });
        let allowed = model.is_repeatable(state) && redone && status == Status::Completed;
        let Some(record) = self.records.get_mut(state) else { return };
        let kind = if allowed { &mut record.fix_loop } else { &mut record.retry };
        kind.get_or_insert(Again { failed, again: seen, count: 0 }).count += 1;
    }

    fn checkpoint(&mut self, state: usize, seen: Seen) {
        self.last_checkpoint = Some((state, seen));
        let Some(error) = self.pending_error.take() else { return };
        if Some(state) == self.model.deployment() && self.jump.is_none() {
            let skipped = (0..self.model.essential())
                .filter(|guard| self.model.is_guard(*guard))
                .find(|guard| !self.records.get(*guard).is_some_and(Record::is_completed));
            self.jump = skipped.map(|guard| (error, seen, guard));
        }
    }

    /// How to read a pair a ≺ b with these representatives; `None` where they are in order.
    pub(super) fn reversal(&self, a: usize, a_seen: Seen, b_seen: Seen) -> Option<Reversal> {
        if a_seen.index <= b_seen.index {
            return None;
        }
        let first = self.records.get(a).and_then(Record::first_completed);
        let redone = first.is_some_and(|first| first.index < b_seen.index);
        Some(if redone || self.model.is_artifact(a) { Reversal::Stale } else { Reversal::OutOfOrder })
    }

    /// What is held against an essential state, order apart from what was seen at the deployments, and its representative.
    pub(super) fn state(&self, state: usize) -> (Option<Judgement>, Option<Seen>) {
        let Some(record) = self.records.get(state).filter(|record| record.events > 0) else {
            return (Some(Judgement::Missing), None);
        };
        let guard = self
            .guards
            .get(state)
            .filter(|_| self.last_deployment.is_some() && self.guard_set.contains(state));
        let Some(guard) = guard else {
            let failed = match record.current() {
                Some((attempt, status)) if status != Status::Completed => {
                    Some(Judgement::Failed { attempt, status, deployment: None })
                }
                Some(_) | None => None,
            };
            return (failed, record.representative());
        };
        let never = guard.absent.map(|deployment| match (record.completed(), record.current()) {
            (Some(completed), _) => Judgement::Late { deployment, completed },
            (None, Some((attempt, status))) => {
                Judgement::Failed { attempt, status, deployment: Some(deployment) }
            }
            (None, None) => Judgement::Missing,
        });
        let failed = guard.failed.or(never.filter(|judgement| matches!(judgement, Judgement::Failed { .. })));
        (failed.or(never).or(guard.stale), guard.representative)
    }

    pub(super) fn guard_disorders(&self) -> &[Option<Disorder>] {
        &self.guard_disorders
    }

    /// The model it was seen with.
    #[must_use]
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// How many events the run has.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// What is known of a state of the model, by its number.
    #[must_use]
    pub fn record(&self, state: usize) -> Option<&Record> {
        self.records.get(state)
    }

    /// The last deployment attempt.
    #[must_use]
    pub fn last_deployment(&self) -> Option<Seen> {
        self.last_deployment
    }

    /// The last completed event of an essential state or of the terminal.
    #[must_use]
    pub fn last_checkpoint(&self) -> Option<(usize, Seen)> {
        self.last_checkpoint
    }

    /// Error, deployment, and the first guard that had not completed then.
    #[must_use]
    pub fn jump(&self) -> Option<(Seen, Seen, usize)> {
        self.jump
    }

    /// The error events.
    #[must_use]
    pub fn errors(&self) -> &Capped<Moment> {
        &self.errors
    }

    /// The status words outside of the table.
    #[must_use]
    pub fn unknown_words(&self) -> &Capped<UnknownWord> {
        &self.unknown_words
    }

    /// The events of the model's states and the errors, in order; of a long run the first few hundred.
    #[must_use]
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }
}

impl Watch for Observation<'_> {
    fn event(&mut self, event: &Event<'_>) {
        self.observe(event);
    }
    fn tick(&mut self, time: Time, place: Place) {
        self.clock.tick_at(time, place);
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(TEXT_KEPT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
