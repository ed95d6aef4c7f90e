//! Golden runs that are no good examples, apart from what a check by the learned model finds: that model asks for nothing
//! that one of its examples lacks.

use super::{Golden, Wishes};
use crate::message::Message;
use crate::model::{Model, built_in};
use crate::trace::Place;

/// Why a run is no good example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// It stops at a state after which all others go on.
    EndedEarly(Message),
    /// A state failed in the end, or began and never ended, and should have completed.
    Failed {
        /// The state.
        state: String,
        /// The attempt.
        place: Place,
        /// In words.
        message: Message,
    },
}

/// The flaws of one of several runs.
#[must_use]
pub fn flaws(goldens: &[&Golden], at: usize, base: Option<&Model>, wishes: &Wishes) -> Vec<Flaw> {
    let Some(golden) = goldens.get(at) else { return Vec::new() };
    let others: Vec<&Golden> =
        goldens.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, golden)| *golden).collect();
    let mut found: Vec<Flaw> = match early_end(golden, &others, base, wishes) {
        // Two runs alone do not tell an end from an optional last step, but a known end is one.
        Some(early) if others.len() > 1 || is_known_end(early.next) => {
            let text = "the run ends with {}, and every other golden trace goes on to {}";
            vec![Flaw::EndedEarly(Message::new(text, &[early.last, early.next]))]
        }
        Some(_) | None => Vec::new(),
    };
    for (state, place, status) in golden.unfinished() {
        let all = others.iter().all(|other| other.standing(state).completed().is_some());
        let why = match (is_known(state), all, others.is_empty()) {
            (true, _, _) => "and the built-in model asks for it",
            (false, true, false) => "and every other golden trace completed it",
            (false, true, true) if status.is_failure() => "and nothing came of it",
            (false, _, _) => continue,
        };
        let what = if status.is_failure() {
            format!("the last attempt of {{}} {}", status.word())
        } else {
            "{} began, and nothing tells how it ended".to_owned()
        };
        let message = Message::new(&format!("{what} (line {}), {why}", place.line), &[state]);
        found.push(Flaw::Failed { state: state.to_owned(), place, message });
    }
    found
}

/// Where a run ends, and a state to which all others go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlyEnd<'g> {
    /// The last state that completed, of those that the others have as well.
    pub last: &'g str,
    /// The latest of the states to which all others go on.
    pub next: &'g str,
}

/// A run that lacks its end has not shown that what it lacks is optional.
#[must_use]
pub fn early_end<'g>(
    golden: &'g Golden,
    others: &[&'g Golden],
    base: Option<&Model>,
    wishes: &Wishes,
) -> Option<EarlyEnd<'g>> {
    // With a terminal that is known the check by the learned model finds out.
    let known = wishes.terminal.is_some() || base.is_some_and(|model| model.terminal().is_some());
    let ended = ends().any(|end| golden.standing(end).completed().is_some());
    let last = golden.last_of(|state| others.iter().all(|other| other.span(state).is_some()))?;
    if known || ended {
        return None;
    }
    let goes_on = |other: &&Golden, to: &str| match (other.span(last), other.span(to)) {
        (Some((_, last)), Some((_, end))) => end > last,
        _ => false,
    };
    let first = others.first()?;
    let lacks = |state: &&str| golden.standing(state).completed().is_none();
    let next =
        first.completed().filter(lacks).filter(|state| others.iter().all(|other| goes_on(other, state)));
    Some(EarlyEnd { last, next: next.max_by_key(|state| first.span(state))? })
}

/// The states with which the processes end that come with the product.
fn ends() -> impl Iterator<Item = &'static str> {
    built_in::models().iter().filter_map(|model| Some(model.name(model.terminal()?)))
}

fn is_known_end(state: &str) -> bool {
    ends().any(|end| end == state)
}

/// A model that comes with the product asks for the state.
#[must_use]
pub fn is_known(state: &str) -> bool {
    built_in::models().iter().any(|model| model.find(state).is_some_and(|state| model.is_essential(state)))
}
