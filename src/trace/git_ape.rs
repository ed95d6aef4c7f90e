//! `git-ape-execution-trace/v1`: what git-ape's record producer writes. One document; nodes and transitions in turn.
//!
//! Fields after `command_trace` of `.github/skills/git-ape-records/scripts/git-ape-records.sh` in Azure/git-ape.

use std::cell::Cell;
use std::fmt;
use std::io::{BufRead, Read};
use std::rc::Rc;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Value};

use super::value::Skimmed;
use super::{Damage, Event, Place, Reading, Status, Time, lines};
use crate::json::{self, Key, Strict};

/// How the `schemaVersion` of every version begins.
pub const SCHEMA_FAMILY: &str = "git-ape-execution-trace/";
/// The version that is read.
pub const SCHEMA: &str = "git-ape-execution-trace/v1";

/// The entries of a document are held, so it is capped: 64 MiB, which is some hundred thousand events.
const DOCUMENT_CAP: u64 = 64 << 20;

/// Events that are held.
const ENTRIES_CAP: usize = 200_000;
/// The fields of the document that are used. All others are checked and left.
const FIELDS: [&str; 5] = ["schemaVersion", "producer", "graph", "startedAt", "outcome"];

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
    /// The event that a node is. `None` for a transition, and for a node without a name.
    #[must_use]
    pub fn event(&self) -> Option<Event<'_>> {
        let node = self.node.as_deref().filter(|node| !node.is_empty() && self.kind == Kind::Node)?;
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
    let mut execution = Execution::default();
    let (offset, begin) = lines::skip_mark(&mut input);
    let position = Rc::new(Cell::new(Place { line: 1, offset }));
    let blank = Rc::new(Cell::new(true));
    let input = begin.chain(input).take(DOCUMENT_CAP);
    let mut json = serde_json::Deserializer::from_reader(Counting {
        input,
        position: Rc::clone(&position),
        blank: Rc::clone(&blank),
    });
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
    let fields = Value::Object(fields);
    let string = |key| json::text(&fields, key).map(str::to_owned);
    let graph = fields.get("graph").unwrap_or(&Value::Null);
    execution.schema_version = string("schemaVersion");
    let producer = fields.get("producer").unwrap_or(&Value::Null);
    execution.producer = json::text(producer, "type").map(str::to_owned);
    execution.graph_path = json::text(graph, "path").map(str::to_owned);
    execution.graph_digest = json::text(graph, "digest").map(str::to_owned);
    execution.started_at = fields.get("startedAt").cloned();
    execution.outcome = string("outcome");
    execution
}

/// Counts lines and bytes as the parser takes them, so that an entry knows where it stands.
struct Counting<R> {
    input: R,
    position: Rc<Cell<Place>>,
    /// Nothing but white space so far.
    blank: Rc<Cell<bool>>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.input.read(buffer)?;
        let mut place = self.position.get();
        place.offset += count as u64;
        place.line += buffer.iter().take(count).filter(|b| **b == b'\n').count() as u64;
        self.position.set(place);
        if self.blank.get() && !buffer.iter().take(count).all(u8::is_ascii_whitespace) {
            self.blank.set(false);
        }
        Ok(count)
    }
}

struct Document<'a> {
    entries: &'a mut Vec<Entry>,
    position: &'a Cell<Place>,
    damage: &'a mut Reading,
    /// All but the events; also those before a tear.
    fields: &'a mut Map<String, Value>,
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an execution trace object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let Self { entries, position, damage, fields: known } = self;
        while let Some(Key(key)) = fields.next_key()? {
            let value = if key == "events" {
                fields.next_value_seed(Entries { entries: &mut *entries, position, damage: &mut *damage })?;
                Value::Null
            } else if FIELDS.contains(&&*key) {
                fields.next_value_seed(Strict)?
            } else {
                fields.next_value_seed(Skimmed)?;
                Value::Null
            };
            if known.insert(key.to_string(), value).is_some() {
                return Err(json::duplicate(&key));
            }
        }
        Ok(())
    }
}

struct Entries<'a> {
    entries: &'a mut Vec<Entry>,
    position: &'a Cell<Place>,
    damage: &'a mut Reading,
}

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of events")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some((value, place)) = items.next_element_seed(Placed(self.position))? {
            let entry = entry(&value, place);
            if entry.kind == Kind::Other || (entry.kind == Kind::Node && entry.event().is_none()) {
                let reason = "an event that is neither a node with its name nor a transition";
                self.damage.damage.push_with(|| Damage { place, reason: reason.to_owned() });
            }
            if self.entries.len() == ENTRIES_CAP {
                self.damage
                    .damage
                    .push_with(|| Damage { place, reason: "more events than are read".to_owned() });
                continue;
            }
            self.entries.push(entry);
        }
        Ok(())
    }
}

/// A value and where it begins.
struct Placed<'a>(&'a Cell<Place>);

impl<'de> DeserializeSeed<'de> for Placed<'_> {
    type Value = (Value, Place);
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Placed<'_> {
    type Value = (Value, Place);
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }
    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        // The parser has just taken the `{`.
        let here = self.0.get();
        let place = Place { line: here.line, offset: here.offset.saturating_sub(1) };
        Ok((Strict.visit_map(fields)?, place))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        let place = self.0.get();
        Ok((Strict.visit_seq(items)?, place))
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok((Value::Null, self.0.get()))
    }
    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok((value.into(), self.0.get()))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok((value.into(), self.0.get()))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok((value.into(), self.0.get()))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok((value.into(), self.0.get()))
    }
    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok((value.into(), self.0.get()))
    }
}

fn entry(value: &Value, place: Place) -> Entry {
    let string = |key| json::text(value, key).map(str::to_owned);
    let kind = match json::text(value, "type") {
        Some("node") => Kind::Node,
        Some("transition") => Kind::Transition,
        _ => Kind::Other,
    };
    let evidence = value.get("evidence").and_then(Value::as_array);
    Entry {
        kind,
        node: string("node"),
        status: string("status"),
        result: match value.get("result") {
            Some(Value::Bool(said)) => Some(said.to_string()),
            _ => string("result"),
        },
        from: string("from"),
        to: string("to"),
        evidence: evidence.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        time: Time::of_value(value.get("recordedAt")),
        place,
    }
}

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
            let value = serde_json::json!({"type":"node","node":"a","status":status,"result":result});
            entry(&value, Place::default()).event().map(|event| event.status)
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
