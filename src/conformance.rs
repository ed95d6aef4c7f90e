//! Does the trace conform to the model? Every essential state gets one [`Judgement`]; together they give [`Coverage`].
//!
//! The guards of the deployment are judged at every deployment attempt, on what lies before it, and the worst counts.
//! Every other state is judged on the whole run. Among the states that nothing is held against, the covered ones are a
//! largest set whose representatives stand in the allowed order: the topological subsequence matching of
//! arXiv:2605.03159. Events of other states in between never matter.

use fixedbitset::FixedBitSet;

use crate::model::{Model, Threshold};
use crate::trace::{Place, Status};

pub mod clock;
pub mod observe;
mod order;
pub mod record;
pub mod sequence;
pub mod witness;

pub use observe::Observation;

/// An event of the run that is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// How many events of the run come before it.
    pub index: u64,
    /// Where it stands in its file.
    pub place: Place,
}

/// What became of an essential state, as in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateStatus {
    /// It happened, in order.
    Covered,
    /// It happened in an order that the model does not allow.
    OutOfOrder,
    /// It happened, but on something that was redone afterwards or did not exist yet.
    Stale,
    /// It happened after the deployment that it guards.
    Late,
    /// Its last attempt that counts did not complete.
    Failed,
    /// There is no event of it.
    Missing,
}

impl StateStatus {
    /// All six, best first.
    pub const ALL: [Self; 6] =
        [Self::Covered, Self::OutOfOrder, Self::Stale, Self::Late, Self::Failed, Self::Missing];

    /// The id in reports.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Covered => "covered",
            Self::OutOfOrder => "out-of-order",
            Self::Stale => "stale",
            Self::Late => "late",
            Self::Failed => "failed",
            Self::Missing => "missing",
        }
    }

    /// The state counts as not done: it stands in the report's `missing`.
    #[must_use]
    pub fn is_missing(self) -> bool {
        match self {
            Self::Covered | Self::OutOfOrder => false,
            Self::Stale | Self::Late | Self::Failed | Self::Missing => true,
        }
    }
}

/// What became of an essential state, and what proves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// Its representative.
    Covered(Seen),
    /// There is no event of it.
    Missing,
    /// Its last attempt did not complete.
    Failed {
        /// That attempt.
        attempt: Seen,
        /// What became of it.
        status: Status,
        /// Of a guard: the deployment that followed.
        deployment: Option<Seen>,
    },
    /// A guard with no attempt before a deployment.
    Late {
        /// That deployment.
        deployment: Seen,
        /// Its last completed event.
        completed: Seen,
    },
    /// It completed before what it is about.
    Stale {
        /// Its representative.
        completed: Seen,
        /// The state that came, or came again, afterwards.
        other: usize,
        /// When that was.
        redone: Seen,
        /// Of a guard: the deployment that followed.
        deployment: Option<Seen>,
    },
    /// It is not in the largest set that is in order.
    OutOfOrder {
        /// Its representative.
        completed: Seen,
        /// A covered state whose place in the order contradicts its own.
        other: usize,
        /// Where that one stands.
        conflict: Seen,
    },
}

impl Judgement {
    /// The status in one word.
    #[must_use]
    pub fn status(&self) -> StateStatus {
        match self {
            Self::Covered(_) => StateStatus::Covered,
            Self::Missing => StateStatus::Missing,
            Self::Failed { .. } => StateStatus::Failed,
            Self::Late { .. } => StateStatus::Late,
            Self::Stale { .. } => StateStatus::Stale,
            Self::OutOfOrder { .. } => StateStatus::OutOfOrder,
        }
    }

    /// The event that decides, if there is one.
    #[must_use]
    pub fn seen(&self) -> Option<Seen> {
        match self {
            Self::Missing => None,
            Self::Covered(seen) | Self::Failed { attempt: seen, .. } => Some(*seen),
            Self::Late { completed, .. }
            | Self::Stale { completed, .. }
            | Self::OutOfOrder { completed, .. } => Some(*completed),
        }
    }
}

/// Two states that completed in an order that the model does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disorder {
    /// Must come first, and came second.
    pub before: usize,
    /// When it completed.
    pub before_seen: Seen,
    /// Must come second, and came first.
    pub after: usize,
    /// When it completed.
    pub after_seen: Seen,
    /// Of two guards: the deployment at which it was so.
    pub deployment: Option<Seen>,
}

/// How many of the essential states are covered. Kept as whole numbers; percent are for showing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coverage {
    /// States that are covered.
    pub covered: usize,
    /// Essential states.
    pub essential: usize,
    /// What is demanded.
    pub threshold: Threshold,
}

impl Coverage {
    /// Rounded down: 99.6 % is not 100 %.
    #[must_use]
    pub fn percent(&self) -> usize {
        (self.covered * 100).checked_div(self.essential).unwrap_or(0)
    }

    /// The threshold is met.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.threshold.is_met(self.covered, self.essential)
    }
}

/// The answer: a judgement for every essential state, in the model's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conformance {
    /// By state number.
    pub judgements: Vec<Judgement>,
    /// Pairs in a wrong order, the first one for each state that came too early; by that state's number.
    pub disorders: Vec<Disorder>,
    /// Covered of essential.
    pub coverage: Coverage,
}

/// How a pair a ≺ b whose representatives stand the other way round is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reversal {
    /// b is about an a that was redone or did not exist yet.
    Stale,
    /// b simply came first.
    OutOfOrder,
}

/// Weighs an observed run.
#[must_use]
pub fn judge(observation: &Observation<'_>) -> Conformance {
    let model = observation.model();
    let essential = model.essential();
    let mut judgements = Vec::with_capacity(essential);
    let mut representatives = Vec::with_capacity(essential);
    for state in 0..essential {
        let (held_against, representative) = observation.state(state);
        judgements.push(held_against);
        representatives.push(representative);
    }
    let mut disorders: Vec<Option<Disorder>> = observation.guard_disorders().to_vec();
    for b in 0..essential {
        let Some(b_seen) = representatives.get(b).copied().flatten() else { continue };
        for a in model.before(b) {
            let Some(a_seen) = representatives.get(a).copied().flatten() else { continue };
            match observation.reversal(a, a_seen, b_seen) {
                None => {}
                Some(Reversal::Stale) => {
                    if let Some(judgement @ None) = judgements.get_mut(b) {
                        let deployment = observation.last_deployment().filter(|_| model.is_guard(b));
                        *judgement = Some(Judgement::Stale {
                            completed: b_seen,
                            other: a,
                            redone: a_seen,
                            deployment,
                        });
                    }
                }
                Some(Reversal::OutOfOrder) => {
                    let pair = Disorder {
                        before: a,
                        before_seen: a_seen,
                        after: b,
                        after_seen: b_seen,
                        deployment: None,
                    };
                    if let Some(first @ None) = disorders.get_mut(b) {
                        *first = Some(pair);
                    }
                }
            }
        }
    }
    let eligible: Vec<usize> = (0..essential).filter(|s| matches!(judgements.get(*s), Some(None))).collect();
    let seen = |state: usize| representatives.get(state).copied().flatten();
    let conflict = |a: usize, b: usize| match (model.precedes(a, b), seen(a), seen(b)) {
        (true, Some(a), Some(b)) => b.index < a.index,
        _ => false,
    };
    let covered = order::largest_in_order(&eligible, conflict);
    let judgements = settle(model, judgements, &covered, &seen, &conflict);
    let coverage = Coverage { covered: covered.count_ones(..), essential, threshold: model.threshold() };
    Conformance { judgements, disorders: disorders.into_iter().flatten().collect(), coverage }
}

/// Fills in what nothing was held against: covered, or out of order with a covered state as the reason.
fn settle(
    model: &Model,
    judgements: Vec<Option<Judgement>>,
    covered: &FixedBitSet,
    seen: &impl Fn(usize) -> Option<Seen>,
    conflict: &impl Fn(usize, usize) -> bool,
) -> Vec<Judgement> {
    let decide = |(state, held): (usize, Option<Judgement>)| {
        if let Some(held) = held {
            return held;
        }
        let Some(completed) = seen(state) else { return Judgement::Missing };
        if covered.contains(state) {
            return Judgement::Covered(completed);
        }
        let other = (0..model.essential())
            .filter(|other| covered.contains(*other))
            .find(|other| conflict(*other, state) || conflict(state, *other));
        let other = other.unwrap_or(state);
        Judgement::OutOfOrder { completed, other, conflict: seen(other).unwrap_or(completed) }
    };
    judgements.into_iter().enumerate().map(decide).collect()
}
