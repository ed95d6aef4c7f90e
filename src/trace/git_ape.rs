//! `git-ape-execution-trace/v1`: what git-ape's record producer writes. One document; nodes and transitions in turn.
//!
//! Fields after `command_trace` of `.github/skills/git-ape-records/scripts/git-ape-records.sh` in Azure/git-ape.

use std::cell::Cell;
use std::io::{BufRead, Read};

use serde::de::DeserializeSeed;
use serde_json::error::Category;
use serde_json::{Map, Value};

mod document;
mod position;

use super::{Damage, Event, Place, Reading, Status, Time, lines};
use crate::json;
use document::Document;
use position::{Borrowed, Broken, Counting};

/// How the `schemaVersion` of every version begins.
pub const SCHEMA_FAMILY: &str = "git-ape-execution-trace/";
/// The version that is read.
pub const SCHEMA: &str = "git-ape-execution-trace/v1";

/// The entries of a document are held, so it is capped: 64 MiB, which is some hundred thousand events.
const DOCUMENT_CAP: u64 = 64 << 20;

/// What an entry of `events` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A node was visited.
    Node,
    /// The graph was followed from one node to the next.
    Transition,
    /// Neither.
    Other,
}

/// One entry of `events`.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Node or transition.
    pub kind: Kind,
    /// Of a node: its name.
    pub node: Option<String>,
    /// Of a node: what the trace says became of it.
    pub status: Option<String>,
    /// Of a node: a word or a free text on how it ended.
    pub result: Option<String>,
    /// Of a transition.
    pub from: Option<String>,
    /// Of a transition.
    pub to: Option<String>,
    /// Names of receipts.
    pub evidence: Vec<String>,
    /// `recordedAt`.
    pub time: Time,
    /// Where it begins.
    pub place: Place,
}

impl Entry {
    /// An entry that says nothing.
    fn new() -> Self {
        Self {
            kind: Kind::Other,
            node: None,
            status: None,
            result: None,
            from: None,
            to: None,
            evidence: Vec::new(),
            time: Time::Absent,
            place: Place::default(),
        }
    }

    /// The name of a node, if it has one.
    fn name(&self) -> Option<&str> {
        self.node.as_deref().filter(|node| !node.is_empty() && self.kind == Kind::Node)
    }

    /// The event that a node is. `None` for a transition, and for a node without a name.
    #[must_use]
    pub fn event(&self) -> Option<Event<'_>> {
        let node = self.name()?;
        // Only the exact word completes: it is what git-ape's own validator looks for.
        let said = match self.status.as_deref() {
            Some("completed") => Status::Completed,
            Some(other) => match Status::of_word(other) {
                Some(Status::Completed) | None => Status::Unknown,
                Some(status) => status,
            },
            None => Status::Unknown,
        };
        let result = self.result.as_deref();
        let status = result.and_then(Status::of_first_word).map_or(said, |worse| worse.max(said));
        let mut event = Event::new(node, status, self.place);
        if status == Status::Unknown {
            event.unknown_word = self.status.as_deref().map(Into::into);
        }
        event.time = self.time;
        event.message = result.map(Into::into);
        event.overridden = result.is_some_and(Status::is_override);
        Some(event)
    }
}

/// A whole trace of this format.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Execution {
    /// `schemaVersion`.
    pub schema_version: Option<String>,
    /// `producer.type`: `workflow` or `agent-observed`.
    pub producer: Option<String>,
    /// `graph.path`.
    pub graph_path: Option<String>,
    /// `graph.digest`.
    pub graph_digest: Option<String>,
    /// `startedAt`, as it is written.
    pub started_at: Option<Value>,
    /// `outcome`: the agent's claim.
    pub outcome: Option<String>,
    /// `events`.
    pub entries: Vec<Entry>,
    /// What could not be read.
    pub reading: Reading,
    /// The document was read to its end, so that what it lacks is really absent.
    pub whole: bool,
}

/// Reads a document. A torn one keeps the entries before the tear; a duplicate key refuses all of it.
pub fn read(mut input: impl BufRead) -> Execution {
    let (mark, begin) = lines::skip_mark(&mut input);
    let mut bytes = Vec::new();
    let end = begin.chain(input).take(DOCUMENT_CAP).read_to_end(&mut bytes);
    if end.is_ok()
        && let Ok(text) = std::str::from_utf8(&bytes)
        && let Some(execution) = read_text(text, mark)
    {
        return execution;
    }
    read_bytes(bytes.as_slice().chain(Broken(end.err())), mark)
}

/// Reads a document that is as it should be. `None` for any other, and for one whose entries do not tell their places.
fn read_text(text: &str, mark: u64) -> Option<Execution> {
    let mut execution = Execution::default();
    let mut fields = Map::new();
    let mut json = serde_json::Deserializer::from_str(text);
    let document = Document {
        entries: &mut execution.entries,
        position: Borrowed::new(text, Place { line: 1, offset: mark }),
        damage: &mut execution.reading,
        fields: &mut fields,
    };
    document.deserialize(&mut json).ok()?;
    json.end().ok()?;
    execution.whole = true;
    execution.take(fields);
    Some(execution)
}

/// Reads any document byte by byte, which is slow. It knows how far it came, so it tells where the damage is, and keeps what
/// lies before that.
fn read_bytes(input: impl Read, mark: u64) -> Execution {
    let mut execution = Execution::default();
    let position = Cell::new(Place { line: 1, offset: mark });
    let blank = Cell::new(true);
    let input = Counting { input, position: &position, blank: &blank };
    let mut json = serde_json::Deserializer::from_reader(input);
    let mut fields = Map::new();
    let document = Document {
        entries: &mut execution.entries,
        position: &position,
        damage: &mut execution.reading,
        fields: &mut fields,
    };
    match document.deserialize(&mut json).and_then(|()| json.end()) {
        Ok(()) => execution.whole = true,
        // Blank to its end: an empty trace, which is not a damaged one.
        Err(error) if error.is_eof() && blank.get() => execution.whole = true,
        Err(_) if position.get().offset >= DOCUMENT_CAP => {
            let reason = "a document of more than 64 MiB; only its beginning was read".to_owned();
            execution.reading.damage.push(Damage { place: position.get(), reason });
        }
        Err(error) => {
            let reason = match error.classify() {
                // A duplicate key, say: nothing in the document can be relied on.
                Category::Data => {
                    execution.entries.clear();
                    fields.clear();
                    json::reason(&error)
                }
                Category::Io => "the file could not be read any further".to_owned(),
                Category::Eof | Category::Syntax => json::reason(&error),
            };
            execution.reading.damage.push(Damage { place: position.get(), reason });
        }
    }
    execution.take(fields);
    execution
}

impl Execution {
    /// Takes what the document says beside its events.
    fn take(&mut self, fields: Map<String, Value>) {
        let fields = Value::Object(fields);
        let string = |key| json::text(&fields, key).map(str::to_owned);
        let graph = fields.get("graph").unwrap_or(&Value::Null);
        self.schema_version = string("schemaVersion");
        let producer = fields.get("producer").unwrap_or(&Value::Null);
        self.producer = json::text(producer, "type").map(str::to_owned);
        self.graph_path = json::text(graph, "path").map(str::to_owned);
        self.graph_digest = json::text(graph, "digest").map(str::to_owned);
        self.started_at = fields.get("startedAt").cloned();
        self.outcome = string("outcome");
    }
}

#[cfg(test)]
mod equal;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_know_where_they_stand() {
        let text = "{\n \"outcome\":\"succeeded\",\"events\":[\n  {\"type\":\"node\",\"node\":\"a\",\"status\":\"completed\"},\n\
                    {\"type\":\"transition\",\"from\":\"a\",\"to\":\"b\",\"evidence\":[\"r\"]}]}";
        let read = read(text.as_bytes());
        assert_eq!(
            read.entries[0].place,
            Place { line: 3, offset: text.find("{\"type\":\"node").unwrap() as u64 }
        );
        assert_eq!(read.entries[1].place.line, 4);
        assert_eq!(
            (read.entries[1].evidence.as_slice(), read.outcome.as_deref()),
            (&["r".to_owned()][..], Some("succeeded"))
        );
        assert!(read.whole);
        let marked = format!("\u{feff}{text}");
        let marked = super::read(std::io::BufReader::with_capacity(1, marked.as_bytes()));
        assert_eq!(marked.entries[0].place.offset, read.entries[0].place.offset + 3);
        assert!(!super::read(&b"\xef\xbb{}"[..]).whole);
    }

    #[test]
    fn a_torn_document_keeps_what_was_whole_and_a_duplicate_key_refuses_all() {
        let torn =
            read(&b"{\"events\":[{\"type\":\"node\",\"node\":\"a\",\"status\":\"completed\"},{\"ty"[..]);
        assert_eq!((torn.entries.len(), torn.reading.damage.count(), torn.whole), (1, 1, false));
        let twice = read(&b"{\"events\":[{\"type\":\"node\",\"node\":\"a\",\"node\":\"b\"}]}"[..]);
        assert_eq!((twice.entries.len(), twice.reading.damage.count()), (0, 1));
        let both = read(&b"{\"events\":[],\"events\":[]}"[..]);
        assert_eq!((both.entries.len(), both.reading.damage.count()), (0, 1));
        assert_eq!(read(&b"[]"[..]).reading.damage.count(), 1);
        let empty = read(&b"\xef\xbb\xbf \n"[..]);
        assert_eq!((empty.whole, empty.reading.damage.count()), (true, 0));
    }

    #[test]
    fn only_the_exact_word_completes_a_node_and_its_result_can_undo_it() {
        let status = |status: &str, result: Option<&str>| {
            let entry = Entry {
                kind: Kind::Node,
                node: Some("a".to_owned()),
                status: Some(status.to_owned()),
                result: result.map(str::to_owned),
                ..Entry::new()
            };
            entry.event().map(|event| event.status)
        };
        assert_eq!(status("completed", None), Some(Status::Completed));
        assert_eq!(status("completed", Some("authenticated")), Some(Status::Completed));
        assert_eq!(status("Completed", None), Some(Status::Unknown));
        assert_eq!(status("passed", None), Some(Status::Unknown));
        assert_eq!(status("failed", None), Some(Status::Failed));
        assert_eq!(status("completed", Some("skipped")), Some(Status::Skipped));
        assert_eq!(status("completed", Some("error: no quota")), Some(Status::Error));
        assert_eq!(status("completed", Some("rejected-no-pull-request")), Some(Status::Failed));
    }
}
