//! A run that was read, kept in memory for as long as it is short: to watch it again takes a tenth of reading it again.

use std::collections::HashMap;

use super::{Event, Place, Proof, Status, Time, Watch};

/// What is kept of an event. Run, deployment, actor and stage are of no use to whoever watches a run again.
#[derive(Debug, Clone, Copy)]
struct Kept {
    state: u32,
    status: Status,
    proof: Proof,
    overridden: bool,
    time: Time,
    place: Place,
}

/// The texts of an event: its message and its unknown word.
type Texts = (Option<String>, Option<String>);

/// The events of a run, up to a number of them.
#[derive(Debug, Clone)]
pub struct Replay {
    room: usize,
    names: Vec<String>,
    index: HashMap<String, u32>,
    events: Vec<Kept>,
    /// By the event's number. Only errors and unknown words have texts that anybody reads.
    texts: HashMap<usize, Texts>,
    whole: bool,
}

impl Replay {
    /// Room for so many events. What has more is not kept at all.
    #[must_use]
    pub fn new(room: usize) -> Self {
        Self {
            room,
            names: Vec::new(),
            index: HashMap::new(),
            events: Vec::new(),
            texts: HashMap::new(),
            whole: true,
        }
    }

    /// The run, if it was short enough.
    #[must_use]
    pub fn whole(self) -> Option<Self> {
        Some(self).filter(|replay| replay.whole)
    }

    /// How many events it has.
    #[must_use]
    pub fn events(&self) -> usize {
        self.events.len()
    }

    /// Hands every event on, as reading did.
    pub fn watch(&self, watch: &mut impl Watch) {
        for (at, kept) in self.events.iter().enumerate() {
            watch.tick(kept.time, kept.place);
            let name = self.names.get(kept.state as usize).map_or("", String::as_str);
            let mut event = Event::new(name, kept.status, kept.place);
            event.time = kept.time;
            event.proof = kept.proof;
            event.overridden = kept.overridden;
            if let Some((message, word)) = self.texts.get(&at) {
                event.message = message.as_deref().map(Into::into);
                event.unknown_word = word.as_deref().map(Into::into);
            }
            watch.event(&event);
        }
    }

    fn number_of(&mut self, name: &str) -> Option<u32> {
        if let Some(state) = self.index.get(name) {
            return Some(*state);
        }
        let state = u32::try_from(self.names.len()).ok()?;
        self.index.insert(name.to_owned(), state);
        self.names.push(name.to_owned());
        Some(state)
    }
}

impl Watch for Replay {
    fn event(&mut self, event: &Event<'_>) {
        if !self.whole {
            return;
        }
        let state = if self.events.len() < self.room { self.number_of(&event.state) } else { None };
        let Some(state) = state else {
            *self = Self { whole: false, ..Self::new(0) };
            return;
        };
        if event.is_error() || event.unknown_word.is_some() {
            let texts = (
                event.message.as_deref().map(str::to_owned),
                event.unknown_word.as_deref().map(str::to_owned),
            );
            self.texts.insert(self.events.len(), texts);
        }
        self.events.push(Kept {
            state,
            status: event.status,
            proof: event.proof,
            overridden: event.overridden,
            time: event.time,
            place: event.place,
        });
    }
    fn tick(&mut self, _: Time, _: Place) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::jsonl;

    #[derive(Debug, Default, PartialEq)]
    struct Seen(Vec<String>);

    impl Watch for Seen {
        fn event(&mut self, event: &Event<'_>) {
            // All that a judgement reads; a message is read of errors only.
            let message = event.message.as_deref().filter(|_| event.is_error());
            let word = event.unknown_word.as_deref();
            let (state, status, proof) = (&event.state, event.status, event.proof);
            let place = event.place;
            self.0.push(format!(
                "{state} {status:?} {word:?} {proof:?} {message:?} {} {place:?}",
                event.overridden
            ));
        }
        fn tick(&mut self, time: Time, place: Place) {
            self.0.push(format!("{time:?} {place:?}"));
        }
    }

    const RUN: &str = r#"{"state":"a","timestamp":"2026-10-05T12:00:00Z","message":"fine"}
{"state":"b","status":"odd"}
{"state":"error","message":"boom","ts":5}
{"state":"a","status":"overridden"}
{"state":"c","action":"skill_invoke","time":"never"}
"#;

    #[test]
    fn a_run_is_watched_again_as_it_was_read() {
        let (mut read, mut replay) = (Seen::default(), Replay::new(5));
        jsonl::read(RUN.as_bytes(), &mut |event| {
            read.tick(event.time, event.place);
            read.event(&event);
            replay.event(&event);
        });
        let replay = replay.whole().unwrap();
        let mut again = Seen::default();
        replay.watch(&mut again);
        assert_eq!(again, read);
        assert_eq!(replay.events(), 5);
    }

    #[test]
    fn a_run_with_more_events_than_there_is_room_for_is_not_kept() {
        let mut replay = Replay::new(4);
        jsonl::read(RUN.as_bytes(), &mut |event| replay.event(&event));
        assert!(replay.whole().is_none());
    }
}
