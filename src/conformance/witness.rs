//! What a harness saw of the states of a model: a log that lies beside the trace that is judged, and is compared with it.

use crate::model::Model;
use crate::trace::{Event, Place, Reading, Status, Time, TraceFormat, Watch};

/// What is known of one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sighting {
    /// The last attempt; where there was none, the last start.
    pub place: Place,
    /// What became of it.
    pub status: Status,
    /// It completed at some time.
    pub completed: bool,
}

/// The states of a model that a log shows.
#[derive(Debug, Clone)]
pub struct Witness<'m> {
    model: &'m Model,
    seen: Vec<Option<Sighting>>,
    events: u64,
}

impl<'m> Witness<'m> {
    /// Nothing was seen yet.
    #[must_use]
    pub fn new(model: &'m Model) -> Self {
        Self { model, seen: vec![None; model.states()], events: 0 }
    }

    /// What it saw of a state, by its number.
    #[must_use]
    pub fn of(&self, state: usize) -> Option<Sighting> {
        self.seen.get(state).copied().flatten()
    }

    /// How many events it saw, of any state.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// It saw some state of the model.
    #[must_use]
    pub fn saw_any(&self) -> bool {
        self.seen.iter().any(Option::is_some)
    }
}

impl Watch for Witness<'_> {
    fn event(&mut self, event: &Event<'_>) {
        self.events += 1;
        let Some(own) = self.model.find(&event.state).and_then(|state| self.seen.get_mut(state)) else {
            return;
        };
        // A start says less than the end before it.
        if event.status == Status::Started && own.is_some() {
            return;
        }
        let completed = event.status == Status::Completed || own.is_some_and(|seen| seen.completed);
        let status = event.status;
        *own = Some(Sighting { place: event.place, status, completed });
    }
    fn tick(&mut self, _: Time, _: Place) {}
}

/// A log of a harness that was compared with the trace that is judged.
#[derive(Debug, Clone)]
pub struct Testimony<'m> {
    /// Its file.
    pub file: String,
    /// Its format.
    pub format: TraceFormat,
    /// Its digest, `sha256:…`.
    pub digest: String,
    /// What could not be read in it.
    pub reading: Reading,
    /// What it saw.
    pub witness: Witness<'m>,
    /// For each state of the model: had it happened, the log would show it.
    pub would_show: Vec<bool>,
}

/// What the logs say against a state that the trace has completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objection<'t> {
    /// It would be in this log, and is in none.
    NeverSeen(&'t str),
    /// Its last attempt in this log did not succeed, and none of them has it completed.
    Failed(&'t str, Place),
}

/// What several logs together say against a completed state.
#[must_use]
pub fn objection<'t>(testimonies: &'t [Testimony<'_>], state: usize) -> Option<Objection<'t>> {
    let seen = || testimonies.iter().filter_map(|one| Some((one, one.witness.of(state)?)));
    if seen().any(|(_, sighting)| sighting.completed && !sighting.status.is_failure()) {
        return None;
    }
    if let Some((one, sighting)) = seen().rfind(|(_, sighting)| sighting.status.is_failure()) {
        return Some(Objection::Failed(&one.file, sighting.place));
    }
    if seen().next().is_some() {
        return None;
    }
    let one = testimonies.iter().find(|one| one.would_show.get(state).copied().unwrap_or(false))?;
    Some(Objection::NeverSeen(&one.file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::built_in;

    fn testimony<'m>(model: &'m Model, file: &str, words: &[(&str, Status)]) -> Testimony<'m> {
        let mut witness = Witness::new(model);
        for (at, (state, status)) in words.iter().enumerate() {
            witness.event(&Event::new(*state, *status, Place { line: at as u64 + 1, offset: 0 }));
        }
        Testimony {
            file: file.to_owned(),
            format: TraceFormat::CopilotEvents,
            digest: String::new(),
            reading: Reading::default(),
            would_show: vec![true; model.states()],
            witness,
        }
    }

    #[test]
    fn what_no_log_shows_and_what_failed_in_the_end_is_objected_to() {
        let model = built_in::checklist().unwrap();
        let (gate, deployed) = ("security_gate_evaluated", "deployment_executed");
        let (of_gate, of_deployed) = (model.find(gate).unwrap(), model.find(deployed).unwrap());
        let one = testimony(&model, "a", &[(gate, Status::Failed), (deployed, Status::Completed)]);
        assert_eq!(
            objection(std::slice::from_ref(&one), of_gate),
            Some(Objection::Failed("a", Place { line: 1, offset: 0 }))
        );
        assert_eq!(objection(std::slice::from_ref(&one), of_deployed), None);
        assert_eq!(objection(std::slice::from_ref(&one), 0), Some(Objection::NeverSeen("a")));
        let other = testimony(&model, "b", &[(gate, Status::Completed), (gate, Status::Started)]);
        let both = [one, other];
        assert_eq!(objection(&both, of_gate), None, "one of them saw it complete");
        let started = testimony(&model, "c", &[(gate, Status::Started)]);
        assert_eq!(objection(&[started], of_gate), None, "its end may be lost");
        let again = testimony(&model, "d", &[(gate, Status::Completed), (gate, Status::Failed)]);
        assert!(matches!(objection(&[again], of_gate), Some(Objection::Failed("d", _))));
        assert_eq!(objection(&[], of_gate), None);
    }
}
