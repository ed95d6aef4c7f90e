//! One JSON record of `trace.jsonl` as an event: key aliases, and a full check of everything else in it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::status::{Said, Word};
use super::{Event, Place, Proof, Stage, Time};
use crate::json::{Key, Keys};

/// The keys that mean something, in groups; within a group the first that is present wins.
const NAMES: [&str; 29] = [
    "state",
    "node",
    "checkpoint",
    "event.name",
    "name", // which state
    "status",
    "outcome",
    "result",
    "success",
    "level", // what became of it
    "timestamp",
    "ts",
    "time",
    "recordedAt",
    "recorded_at",
    "at", // when
    "action",
    "phase", // what was done
    "deployment_id",
    "deploymentId", // of which deployment
    "run_id",
    "runId",
    "invocationId", // of which run
    "agent",
    "skill",
    "actor",
    "producer", // by whom
    "message",  // in words
    "stage",    // a label
];
/// The keys that name a state.
pub(crate) const STATE_NAMES: [&str; 5] = ["state", "node", "checkpoint", "event.name", "name"];
const STATE: std::ops::Range<usize> = 0..STATE_NAMES.len();
const STATUS: usize = 5;
const OUTCOME: usize = 6;
const RESULT: usize = 7;
const SUCCESS: usize = 8;
const LEVEL: usize = 9;
const TIME: std::ops::Range<usize> = 10..16;
const ACTION: std::ops::Range<usize> = 16..18;
const DEPLOYMENT: std::ops::Range<usize> = 18..20;
const RUN: std::ops::Range<usize> = 20..23;
const ACTOR: std::ops::Range<usize> = 23..27;
const MESSAGE: usize = 27;
const STAGE: usize = 28;

/// A value, as far as a record needs it. Null is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Scalar<'a> {
    #[default]
    Absent,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(Cow<'a, str>),
    /// An array or object, and whether it holds anything.
    Compound {
        empty: bool,
    },
}

impl<'a> Scalar<'a> {
    fn is_present(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    fn into_word(self) -> Option<Word<'a>> {
        match self {
            Self::Absent => None,
            Self::Bool(value) => Some(Word::Bool(value)),
            Self::Text(text) => Some(Word::Text(text)),
            Self::Integer(_) | Self::Float(_) | Self::Compound { .. } => Some(Word::Other),
        }
    }

    /// A name or an id: a number is as good as its digits.
    fn into_id(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(text),
            Self::Integer(number) => Some(Cow::Owned(number.to_string())),
            Self::Text(_) | Self::Absent | Self::Bool(_) | Self::Float(_) | Self::Compound { .. } => None,
        }
    }

    fn into_time(self) -> Time {
        match self {
            Self::Absent => Time::Absent,
            Self::Text(text) => Time::of_text(&text),
            Self::Integer(number) => Time::of_integer(number),
            Self::Float(number) => Time::of_float(number),
            Self::Bool(_) | Self::Compound { .. } => Time::Unreadable,
        }
    }

    fn into_stage(self) -> Option<Stage<'a>> {
        match self {
            #[allow(clippy::cast_precision_loss)]
            Self::Integer(number) => Some(Stage::Number(number as f64)),
            Self::Float(number) => Some(Stage::Number(number)),
            Self::Text(text) if !text.is_empty() => Some(Stage::Name(text)),
            Self::Text(_) | Self::Absent | Self::Bool(_) | Self::Compound { .. } => None,
        }
    }

    fn says_something(&self) -> bool {
        match self {
            Self::Absent => false,
            Self::Bool(value) => *value,
            Self::Integer(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::Compound { empty } => !empty,
        }
    }
}

/// Reads one record that fills `text`.
///
/// # Errors
/// `serde_json`'s, also for a duplicate key at any depth; a record without a state says so.
pub(crate) fn read(text: &str, place: Place) -> Result<Event<'_>, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let event = Record { place }.deserialize(&mut json)?;
    json.end()?;
    Ok(event)
}

struct Record {
    place: Place,
}

impl<'de> DeserializeSeed<'de> for Record {
    type Value = Event<'de>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Event<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Record {
    type Value = Event<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Event<'de>, A::Error> {
        let mut fields: [Scalar<'de>; NAMES.len()] = Default::default();
        let (mut error, mut details) = (Scalar::Absent, Scalar::Absent);
        let mut keys = Keys::default();
        while let Some(Key(key)) = entries.next_key()? {
            let slot = match &*key {
                "error" => Some(&mut error),
                "details" => Some(&mut details),
                name => NAMES.iter().position(|known| *known == name).and_then(|at| fields.get_mut(at)),
            };
            keys.insert(key)?;
            let value = entries.next_value_seed(Checked)?;
            if let Some(slot) = slot {
                *slot = value;
            }
        }
        event(fields, error, details, self.place).ok_or_else(|| de::Error::custom("no state in the record"))
    }
}

fn event<'a>(
    mut fields: [Scalar<'a>; NAMES.len()],
    error: Scalar<'a>,
    details: Scalar<'a>,
    place: Place,
) -> Option<Event<'a>> {
    let mut first = |range: std::ops::Range<usize>| {
        let group = fields.get_mut(range)?;
        group.iter_mut().find(|value| value.is_present()).map(std::mem::take)
    };
    let mut one = |at: usize| first(at..at + 1);
    let words = [one(STATUS), one(OUTCOME)];
    let result = one(RESULT).and_then(Scalar::into_word);
    let success = one(SUCCESS).and_then(Scalar::into_word);
    let level_error =
        matches!(one(LEVEL), Some(Scalar::Text(level)) if level.trim().eq_ignore_ascii_case("error"));
    let message = one(MESSAGE);
    let stage = one(STAGE).and_then(Scalar::into_stage);
    let Some(Scalar::Text(state)) = first(STATE) else { return None };
    if state.is_empty() {
        return None;
    }
    let said = Said {
        words: words.into_iter().flatten().filter_map(Scalar::into_word).collect(),
        result,
        success,
        level_error,
        action: first(ACTION).and_then(Scalar::into_word),
        error_text: error.says_something(),
    };
    let resolved = said.resolve();
    let words = [message.unwrap_or_default(), error, details];
    Some(Event {
        status: resolved.status,
        unknown_word: resolved.unknown_word,
        time: first(TIME).unwrap_or_default().into_time(),
        stage,
        run: first(RUN).and_then(Scalar::into_id),
        deployment: first(DEPLOYMENT).and_then(Scalar::into_id),
        actor: first(ACTOR).and_then(Scalar::into_id),
        message: words.into_iter().find_map(|text| match text {
            Scalar::Text(text) => Some(text),
            Scalar::Absent
            | Scalar::Bool(_)
            | Scalar::Integer(_)
            | Scalar::Float(_)
            | Scalar::Compound { .. } => None,
        }),
        proof: if resolved.invoked { Proof::Invoked } else { Proof::Ended },
        overridden: resolved.overridden,
        ..Event::new(state, resolved.status, place)
    })
}

/// Reads any value, keeps it if it is a scalar, and refuses duplicate keys below it.
pub(crate) struct Checked;

impl<'de> DeserializeSeed<'de> for Checked {
    type Value = Scalar<'de>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Scalar<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Scalar<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Absent)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Integer(value.into()))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Integer(value.into()))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Float(value))
    }
    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(value)))
    }
    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(value.to_owned())))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut empty = true;
        while items.next_element_seed(Checked)?.is_some() {
            empty = false;
        }
        Ok(Scalar::Compound { empty })
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut keys = Keys::default();
        let mut empty = true;
        while let Some(Key(key)) = entries.next_key()? {
            keys.insert(key)?;
            entries.next_value_seed(Checked)?;
            empty = false;
        }
        Ok(Scalar::Compound { empty })
    }
}

/// Whether a text is whole JSON of any kind; tells a damaged line from one that holds no object.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Status;

    fn of(text: &str) -> Event<'_> {
        read(text, Place::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn of_the_keys_of_a_meaning_the_first_present_one_wins() {
        for key in NAMES.get(STATE).unwrap() {
            assert_eq!(of(&format!(r#"{{"{key}":"gate"}}"#)).state, "gate");
        }
        assert_eq!(of(r#"{"name":"b","state":"a"}"#).state, "a");
        assert_eq!(of(r#"{"state":null,"node":"b"}"#).state, "b");
        for key in NAMES.get(TIME).unwrap() {
            assert_eq!(of(&format!(r#"{{"state":"a","{key}":5}}"#)).time, Time::Zoned(5_000_000), "{key}");
        }
        let event =
            of(r#"{"state":"a","run_id":7,"deploymentId":"d","skill":"s","error":"e","details":"x"}"#);
        assert_eq!(event.run.as_deref(), Some("7"));
        assert_eq!(event.deployment.as_deref(), Some("d"));
        assert_eq!(event.actor.as_deref(), Some("s"));
        assert_eq!(event.message.as_deref(), Some("e"));
    }

    #[test]
    fn a_record_without_a_state_is_refused() {
        for text in [r#"{"state":""}"#, r#"{"state":5,"node":"a"}"#, "{}", r#"{"state":["a"]}"#, "[]", "5"] {
            assert!(read(text, Place::default()).is_err(), "{text}");
        }
    }

    #[test]
    fn the_worst_of_all_statuses_counts() {
        for (rest, status) in [
            (r"", Status::Completed),
            (r#""action":"complete""#, Status::Completed),
            (r#""action":"delegate""#, Status::Started),
            (r#""action":"begin""#, Status::Started),
            (r#""action":"skill_invoke","result":"passed""#, Status::Completed),
            (r#""action":"skill_invoke","result":"failed""#, Status::Failed),
            (r#""action":"start","status":"completed""#, Status::Completed),
            (r#""action":"start","result":"passed""#, Status::Completed),
            (r#""action":"complete","result":"draft""#, Status::Completed),
            (r#""action":"complete","result":"rejected-no-owner""#, Status::Failed),
            (r#""action":"blocked","status":"completed""#, Status::Failed),
            (r#""phase":"crashed","status":"completed""#, Status::Error),
            (r#""status":"completed","outcome":"skipped""#, Status::Skipped),
            (r#""status":"completed","success":false"#, Status::Failed),
            (r#""status":"completed","success":"yes""#, Status::Unknown),
            (r#""success":true"#, Status::Completed),
            (r#""status":"completed","level":"ERROR""#, Status::Error),
            (r#""status":"completed","level":"info""#, Status::Completed),
            (r#""level":"warning""#, Status::Completed),
            (r#""result":"draft""#, Status::Unknown),
            (r#""status":"completed","result":"draft""#, Status::Completed),
            (r#""status":"completed","result":"running""#, Status::Started),
            (r#""status":"completed","result":"none blocking""#, Status::Completed),
            (r#""status":"completed","result":{"a":1}"#, Status::Completed),
            (r#""status":"completed","result":false"#, Status::Failed),
            (r#""action":"crashed","error":"boom""#, Status::Error),
            (r#""status":"Canceled""#, Status::Failed),
            (r#""status":"weird""#, Status::Unknown),
            (r#""status":5"#, Status::Unknown),
            (r#""error":"boom""#, Status::Failed),
            (r#""error":"boom","action":"complete""#, Status::Failed),
            (r#""error":"""#, Status::Completed),
            (r#""error":{"code":1}"#, Status::Failed),
            (r#""error":"boom","status":"completed""#, Status::Completed),
        ] {
            let text = format!(r#"{{"state":"a"{}{rest}}}"#, if rest.is_empty() { "" } else { "," });
            assert_eq!(of(&text).status, status, "{text}");
        }
        assert_eq!(of(r#"{"state":"a","status":"weird"}"#).unknown_word.as_deref(), Some("weird"));
        assert!(of(r#"{"state":"a","status":"completed","result":"overridden"}"#).overridden);
        assert!(of(r#"{"state":"error","status":"completed"}"#).is_error());
    }
}
