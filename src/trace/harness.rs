//! Logs that an agent's harness writes: one JSON record a line, each with a `type`. The harness writes them, not the agent, so
//! that a skill is absent from one is proof that the skill never ran.
//!
//! A format says what a record tells ([`Happening`]); all else is the same for all of them: damage, the state map, and calls
//! whose end gives only the id of their start.

use std::collections::HashMap;
use std::io::BufRead;

use serde_json::Value;

use super::state_map::StateMap;
use super::{Damage, ERROR_STATE, Event, Place, Proof, Reading, Status, Time, jsonl};
use crate::json;

/// Calls without an end that are remembered; the ends of further ones are passed over.
const CALLS_KEPT: usize = 10_000;

/// What a record tells.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Happening<'r> {
    /// Of what.
    pub(super) subject: Subject<'r>,
    /// The id of the call that it belongs to.
    pub(super) call: Option<&'r str>,
    /// What became of it.
    pub(super) status: Status,
    /// How that is known.
    pub(super) proof: Proof,
    /// In words.
    pub(super) message: Option<String>,
}

/// What something happened to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Subject<'r> {
    /// A skill, agent or tool, which is a state of its own where the state map does not have it.
    Named(&'r str),
    /// A tool or skill that is a state only where the state map has it.
    Mapped(&'r str),
    /// A call of which only the id is given.
    Call(&'r str),
    /// The session itself.
    Session,
}

impl<'r> Happening<'r> {
    pub(super) fn new(subject: Subject<'r>, status: Status) -> Self {
        Self { subject, call: None, status, proof: Proof::Ended, message: None }
    }
}

/// A harness log of one format.
pub(super) struct Log {
    /// Who wrote it.
    pub(super) actor: &'static str,
    /// What a record tells: none, one or several things.
    pub(super) tell: for<'r> fn(&'r Value, &mut Vec<Happening<'r>>) -> Result<(), String>,
}

/// Reads a file to its end, whatever is in it, and hands each event on.
pub(super) fn read(
    log: &Log,
    input: impl BufRead,
    states: &StateMap,
    sink: &mut dyn FnMut(Event<'_>),
) -> Reading {
    let mut passed_over = 0;
    let mut calls = HashMap::new();
    let mut reading = each_record(input, &mut |record, place, reading| {
        if json::text(record, "type").is_none() {
            // An event of another writer in the same file: what it says is not known, so it is not passed over.
            reading.damage.push_with(|| Damage { place, reason: "a record without a type".to_owned() });
            return;
        }
        let mut told = Vec::new();
        if let Err(reason) = (log.tell)(record, &mut told) {
            reading.damage.push_with(|| Damage { place, reason });
            return;
        }
        let mut any = false;
        for happening in told {
            let own = happening.proof;
            let known = match happening.subject {
                Subject::Named(name) => Some((states.state(name).to_owned(), own)),
                Subject::Mapped(name) => mapped(states, name).map(|state| (state.to_owned(), own)),
                Subject::Call(id) => calls.get(id).cloned().map(|(state, proof)| (state, weaker(proof, own))),
                Subject::Session => Some((ERROR_STATE.to_owned(), own)),
            };
            let Some((state, proof)) = known else { continue };
            if let Some(id) = happening.call {
                if happening.status != Status::Started {
                    calls.remove(id);
                } else if calls.len() < CALLS_KEPT {
                    calls.insert(id.to_owned(), (state.clone(), proof));
                }
            }
            any = true;
            let mut event = Event::new(state, happening.status, place);
            event.proof = proof;
            event.time = Time::of_value(record.get("timestamp"));
            event.message = happening.message.map(Into::into);
            event.actor = Some(log.actor.into());
            sink(event);
        }
        passed_over += u64::from(!any);
    });
    reading.passed_over = passed_over;
    reading
}

/// The state of a name; of a plugin's skill or agent, which has the plugin's name before it, that of its own name.
fn mapped<'s>(states: &'s StateMap, name: &str) -> Option<&'s str> {
    states.mapped(name).or_else(|| states.mapped(name.rsplit_once(':')?.1))
}

/// What is known of a call is no more than what its start and its end tell.
fn weaker(start: Proof, end: Proof) -> Proof {
    match (start, end) {
        (Proof::Ended, Proof::Ended) => Proof::Ended,
        (Proof::Invoked, _) | (_, Proof::Invoked) => Proof::Invoked,
    }
}

/// Hands on each line that is a JSON object; reports every other one.
pub(super) fn each_record(input: impl BufRead, each: &mut dyn FnMut(&Value, Place, &mut Reading)) -> Reading {
    jsonl::each_line(input, &mut |text, place, reading| match json::parse(text.as_bytes()) {
        Ok(record @ Value::Object(_)) => each(&record, place, reading),
        Ok(_) => reading.damage.push_with(|| Damage { place, reason: "the line holds no object".to_owned() }),
        Err(error) => reading.damage.push_with(|| {
            let offset = place.offset + error.column.saturating_sub(1) as u64;
            Damage { place: Place { offset, ..place }, reason: error.reason }
        }),
    })
}

/// The first of several texts that is there.
pub(super) fn first_text<'v>(texts: impl IntoIterator<Item = Option<&'v str>>) -> Option<String> {
    texts.into_iter().flatten().find(|text| !text.is_empty()).map(str::to_owned)
}
