//! What happened: events, free of the format they were written in.
//!
//! A reader of [`TraceFormat`] turns bytes into a stream of [`Event`]s, in the order that counts, and a
//! [`Reading`] that says what could not be read. Events borrow from the input, so memory does not grow with
//! the file. What could not be read is never an error of the reader: it becomes findings.

use std::borrow::Cow;
use std::io::BufRead;

pub mod chain;
pub mod claude;
pub mod codex;
pub mod copilot;
pub mod git_ape;
mod harness;
pub mod jsonl;
pub(crate) mod lines;
pub mod otlp;
mod record;
mod recover;
pub mod replay;
pub mod run;
pub mod sniff;
pub mod state_map;
pub mod status;
pub mod time;
mod value;
pub mod write;

pub(crate) use lines::LINE_CAP;
use state_map::StateMap;
pub use status::Status;
pub use time::Time;

/// The state name of an error event.
pub const ERROR_STATE: &str = "error";

/// Where in its file something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// Line, from 1. In a format that is no line format: the number of the record, from 1.
    pub line: u64,
    /// Bytes before it in the file.
    pub offset: u64,
}

/// How a state that counts as completed is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// The trace says how it ended.
    Ended,
    /// Only that it was invoked: a skill of the Copilot harness has no end event.
    Invoked,
}

/// The label of a state's stage. It is never sorted by.
#[derive(Debug, Clone, PartialEq)]
pub enum Stage<'a> {
    /// A number, such as 2.5.
    Number(f64),
    /// A name.
    Name(Cow<'a, str>),
}

impl Stage<'_> {
    /// The same, kept beyond the input.
    #[must_use]
    pub fn into_owned(self) -> Stage<'static> {
        match self {
            Self::Number(number) => Stage::Number(number),
            Self::Name(name) => Stage::Name(Cow::Owned(name.into_owned())),
        }
    }
}

/// One event of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Event<'a> {
    /// The state's name; never empty.
    pub state: Cow<'a, str>,
    /// What became of it: the worst of all that the record says.
    pub status: Status,
    /// A status word outside of the table, where that is why the status is [`Status::Unknown`].
    pub unknown_word: Option<Cow<'a, str>>,
    /// When it was recorded.
    pub time: Time,
    /// The stage of the process that it is labelled with.
    pub stage: Option<Stage<'a>>,
    /// The run it belongs to, where it says.
    pub run: Option<Cow<'a, str>>,
    /// The deployment it belongs to, where it says.
    pub deployment: Option<Cow<'a, str>>,
    /// Who wrote it: agent, skill or producer.
    pub actor: Option<Cow<'a, str>>,
    /// What it says of itself in words.
    pub message: Option<Cow<'a, str>>,
    /// The status is known from an end or only from an invocation.
    pub proof: Proof,
    /// A person overrode the gate: the record uses the word `overridden`.
    pub overridden: bool,
    /// Where it stands.
    pub place: Place,
}

impl<'a> Event<'a> {
    /// An event of a state, with nothing else known.
    #[must_use]
    pub fn new(state: impl Into<Cow<'a, str>>, status: Status, place: Place) -> Self {
        Self {
            state: state.into(),
            status,
            unknown_word: None,
            time: Time::Absent,
            stage: None,
            run: None,
            deployment: None,
            actor: None,
            message: None,
            proof: Proof::Ended,
            overridden: false,
            place,
        }
    }

    /// An error event: by its state's name, whatever its status, or by its status.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.state == ERROR_STATE || self.status == Status::Error
    }
}

/// A run that is watched: it takes events, and timestamps of records that are no events.
pub trait Watch {
    /// Takes the next event of the run.
    fn event(&mut self, event: &Event<'_>);
    /// Takes the next timestamp of the run.
    fn tick(&mut self, time: Time, place: Place);
}

impl<A: Watch, B: Watch> Watch for (A, B) {
    fn event(&mut self, event: &Event<'_>) {
        self.0.event(event);
        self.1.event(event);
    }
    fn tick(&mut self, time: Time, place: Place) {
        self.0.tick(time, place);
        self.1.tick(time, place);
    }
}

impl<W: Watch> Watch for Vec<W> {
    fn event(&mut self, event: &Event<'_>) {
        self.iter_mut().for_each(|watch| watch.event(event));
    }
    fn tick(&mut self, time: Time, place: Place) {
        self.iter_mut().for_each(|watch| watch.tick(time, place));
    }
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Where.
    pub place: Place,
    /// Why, in a few words; may quote the file.
    pub reason: String,
}

/// A list that keeps the first few and counts the rest, so that memory does not grow with a hostile file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capped<T> {
    kept: Vec<T>,
    count: u64,
}

impl<T> Default for Capped<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), count: 0 }
    }
}

impl<T> Capped<T> {
    /// How many are kept with all their detail.
    pub const KEPT: usize = 100;

    /// Takes one more.
    pub fn push(&mut self, item: T) {
        self.push_with(|| item);
    }

    /// Takes one more that is built only if it is kept.
    pub fn push_with(&mut self, item: impl FnOnce() -> T) {
        self.count += 1;
        if self.kept.len() < Self::KEPT {
            self.kept.push(item());
        }
    }

    /// The first ones, at most [`Capped::KEPT`].
    #[must_use]
    pub fn kept(&self) -> &[T] {
        &self.kept
    }

    /// How many there were in all.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many were counted only.
    #[must_use]
    pub fn more(&self) -> u64 {
        self.count - self.kept.len() as u64
    }
}

/// What a reader says of a file as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// Lines or records that could not be read, wholly or in part.
    pub damage: Capped<Damage>,
    /// Records whose type says nothing of states (a chat turn, say): passed over, never an error.
    pub passed_over: u64,
    /// The chain of digests through the lines, where they carry one.
    pub chain: chain::Chain,
}

/// The formats that are read. A closed set: a new one is a file under `trace/` and a row here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFormat {
    /// `trace.jsonl`, one event a line.
    GitApeJsonl,
    /// `git-ape-execution-trace/v1`, one document.
    GitApeV1,
    /// OpenTelemetry's OTLP in its JSON encoding.
    Otlp,
    /// `events.jsonl` of the Copilot CLI and SDK.
    CopilotEvents,
    /// Session lines of Claude Code.
    ClaudeCode,
    /// Rollouts of Codex.
    Codex,
}

impl TraceFormat {
    /// The id in reports.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::GitApeJsonl => "git-ape-jsonl",
            Self::GitApeV1 => "git-ape-v1",
            Self::Otlp => "otlp",
            Self::CopilotEvents => "copilot-events",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// The name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::GitApeJsonl => "git-ape trace (JSON lines)",
            Self::GitApeV1 => "git-ape execution trace v1",
            Self::Otlp => "OpenTelemetry (OTLP JSON)",
            Self::CopilotEvents => "Copilot events (JSON lines)",
            Self::ClaudeCode => "Claude Code session (JSON lines)",
            Self::Codex => "Codex rollout (JSON lines)",
        }
    }

    /// Reads a file of this format to its end, whatever is in it, and hands each event on.
    pub fn read(self, input: impl BufRead, states: &StateMap, sink: &mut dyn FnMut(Event<'_>)) -> Reading {
        match self {
            Self::GitApeJsonl => jsonl::read(input, sink),
            Self::GitApeV1 => {
                let execution = git_ape::read(input);
                execution.entries.iter().filter_map(git_ape::Entry::event).for_each(sink);
                execution.reading
            }
            Self::Otlp => otlp::read(input, states, sink),
            Self::CopilotEvents => copilot::read(input, states, sink),
            Self::ClaudeCode => claude::read(input, states, sink),
            Self::Codex => codex::read(input, states, sink),
        }
    }

    /// Its names are those of skills, agents and tools, which the state map turns into states. Spans name states themselves.
    #[must_use]
    pub fn has_map(self) -> bool {
        match self {
            Self::CopilotEvents | Self::ClaudeCode | Self::Codex => true,
            Self::GitApeJsonl | Self::GitApeV1 | Self::Otlp => false,
        }
    }

    /// What tells the format by the content of a file.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::GitApeJsonl => "a record that names a state",
            Self::GitApeV1 => "its schemaVersion",
            Self::Otlp => "its resourceSpans",
            Self::CopilotEvents => "a record with a type and data",
            Self::ClaudeCode => "a record with a type, a sessionId and a message",
            Self::Codex => "a record with a type of Codex's and a payload",
        }
    }

    /// Who writes files of this format, unless the file itself says something else.
    #[must_use]
    pub fn producer(self) -> Producer {
        match self {
            Self::GitApeJsonl | Self::GitApeV1 => Producer::Agent,
            Self::Otlp | Self::CopilotEvents | Self::ClaudeCode | Self::Codex => Producer::Harness,
        }
    }
}

/// Who wrote a trace. What a harness writes is better evidence than what an agent writes of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Producer {
    /// The agent itself.
    Agent,
    /// The workflow that runs the agent.
    Workflow,
    /// The program in which the agent runs, or its telemetry.
    Harness,
}

impl Producer {
    /// The id in reports.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Workflow => "workflow",
            Self::Harness => "harness",
        }
    }
}

/// How the format of a file was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recognition {
    /// By what stands in it.
    Content,
    /// By the folder in which it lies.
    Folder,
    /// By its name.
    Name,
    /// Nothing tells, so it is taken for `trace.jsonl`.
    Assumed,
}

impl Recognition {
    /// The id in reports.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Folder => "folder",
            Self::Name => "name",
            Self::Assumed => "assumed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capped_list_keeps_the_first_and_counts_all() {
        let mut list = Capped::default();
        (0..250).for_each(|n| list.push(n));
        assert_eq!((list.kept().len(), list.count(), list.more()), (100, 250, 150));
        assert_eq!(list.kept().last(), Some(&99));
    }
}
