//! One JSON record of `trace.jsonl` as an event: key aliases, and a full check of everything else in it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::status::Said;
use super::value::{Checked, Scalar, Skimmed};
use super::{Event, Place, Proof, chain};
use crate::json::{self, Key, Keys};

/// The keys that name a state.
pub(crate) const STATE_NAMES: [&str; 5] = ["state", "node", "checkpoint", "event.name", "name"];

/// The value of a meaning: of the keys that bear it the first that is present wins, wherever it stands in the record.
#[derive(Debug, Default)]
struct Field<'a> {
    value: Scalar<'a>,
    /// The place of the value's key among the keys of this meaning.
    rank: u8,
    /// The keys of this meaning that were seen, a bit each.
    seen: u8,
}

impl<'a> Field<'a> {
    /// Notes a key. False if it was there already.
    fn note(&mut self, rank: u8) -> bool {
        let bit = 1 << rank;
        let fresh = self.seen & bit == 0;
        self.seen |= bit;
        fresh
    }

    fn offer(&mut self, rank: u8, value: Scalar<'a>) {
        if value.is_present() && (!self.value.is_present() || rank < self.rank) {
            self.rank = rank;
            self.value = value;
        }
    }
}

/// What a record says, by meaning.
#[derive(Debug, Default)]
struct Fields<'a> {
    state: Field<'a>,
    status: Field<'a>,
    outcome: Field<'a>,
    result: Field<'a>,
    success: Field<'a>,
    level: Field<'a>,
    time: Field<'a>,
    action: Field<'a>,
    deployment: Field<'a>,
    run: Field<'a>,
    actor: Field<'a>,
    message: Field<'a>,
    stage: Field<'a>,
    error: Field<'a>,
    details: Field<'a>,
    link: Field<'a>,
}

impl<'a> Fields<'a> {
    /// The field of a key that means something, and the key's rank among those that mean the same.
    fn of(&mut self, key: &str) -> Option<(&mut Field<'a>, u8)> {
        Some(match key {
            "state" => (&mut self.state, 0),
            "node" => (&mut self.state, 1),
            "checkpoint" => (&mut self.state, 2),
            "event.name" => (&mut self.state, 3),
            "name" => (&mut self.state, 4),
            "status" => (&mut self.status, 0),
            "outcome" => (&mut self.outcome, 0),
            "result" => (&mut self.result, 0),
            "success" => (&mut self.success, 0),
            "level" => (&mut self.level, 0),
            "timestamp" => (&mut self.time, 0),
            "ts" => (&mut self.time, 1),
            "time" => (&mut self.time, 2),
            "recordedAt" => (&mut self.time, 3),
            "recorded_at" => (&mut self.time, 4),
            "at" => (&mut self.time, 5),
            "action" => (&mut self.action, 0),
            "phase" => (&mut self.action, 1),
            "deployment_id" => (&mut self.deployment, 0),
            "deploymentId" => (&mut self.deployment, 1),
            "run_id" => (&mut self.run, 0),
            "runId" => (&mut self.run, 1),
            "invocationId" => (&mut self.run, 2),
            "agent" => (&mut self.actor, 0),
            "skill" => (&mut self.actor, 1),
            "actor" => (&mut self.actor, 2),
            "producer" => (&mut self.actor, 3),
            "message" => (&mut self.message, 0),
            "stage" => (&mut self.stage, 0),
            "error" => (&mut self.error, 0),
            "details" => (&mut self.details, 0),
            chain::KEY => (&mut self.link, 0),
            _ => return None,
        })
    }

    fn names_a_state(&self) -> bool {
        matches!(&self.state.value, Scalar::Text(state) if !state.is_empty())
    }

    /// The event, and its link to the line before; `None` where no state is named.
    fn event(self, place: Place) -> Option<(Event<'a>, Option<Cow<'a, str>>)> {
        let link = self.link.value.into_text();
        let state = self.state.value.into_text()?;
        let level_error =
            matches!(&self.level.value, Scalar::Text(level) if level.trim().eq_ignore_ascii_case("error"));
        let said = Said {
            words: [self.status.value.into_word(), self.outcome.value.into_word()],
            result: self.result.value.into_word(),
            success: self.success.value.into_word(),
            level_error,
            action: self.action.value.into_word(),
            error_text: self.error.value.says_something(),
        };
        let resolved = said.resolve();
        let texts = [self.message.value, self.error.value, self.details.value];
        let event = Event {
            state,
            status: resolved.status,
            unknown_word: resolved.unknown_word,
            time: self.time.value.into_time(),
            stage: self.stage.value.into_stage(),
            run: self.run.value.into_id(),
            deployment: self.deployment.value.into_id(),
            actor: self.actor.value.into_id(),
            message: texts.into_iter().find_map(Scalar::into_text),
            proof: if resolved.invoked { Proof::Invoked } else { Proof::Ended },
            overridden: resolved.overridden,
            place,
        };
        Some((event, link))
    }
}

/// Reads one record that fills `text`.
///
/// # Errors
/// As [`read_linked`].
pub(crate) fn read(text: &str, place: Place) -> Result<Event<'_>, serde_json::Error> {
    read_linked(text, place).map(|(event, _)| event)
}

/// Reads one record that fills `text`, and what it says of the line before it.
///
/// # Errors
/// `serde_json`'s, also for a duplicate key at any depth; a record without a state says so.
pub(crate) fn read_linked(
    text: &str,
    place: Place,
) -> Result<(Event<'_>, Option<Cow<'_, str>>), serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let mut fields = Fields::default();
    Record(&mut fields).deserialize(&mut json)?;
    json.end()?;
    fields.event(place).ok_or_else(no_state)
}

fn no_state<E: de::Error>() -> E {
    E::custom("no state in the record")
}

/// Fills the fields where they are: a record is large, and moving it out of each layer of the parser is dear.
struct Record<'f, 'de>(&'f mut Fields<'de>);

impl<'de> DeserializeSeed<'de> for Record<'_, 'de> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Record<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut others = Keys::default();
        while let Some(Key(key)) = entries.next_key()? {
            match self.0.of(&key) {
                Some((field, rank)) => {
                    if !field.note(rank) {
                        return Err(json::duplicate(&key));
                    }
                    field.offer(rank, entries.next_value_seed(Checked)?);
                }
                None => {
                    others.insert(key)?;
                    entries.next_value_seed(Skimmed)?;
                }
            }
        }
        // Told here, since the parser then still knows the place.
        if self.0.names_a_state() { Ok(()) } else { Err(no_state()) }
    }
}

/// Whether a text is whole JSON of any kind; tells a damaged line from one that holds no object.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Status, Time};
    use proptest::prelude::*;

    fn of(text: &str) -> Event<'_> {
        read(text, Place::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn of_the_keys_of_a_meaning_the_first_present_one_wins() {
        for key in STATE_NAMES {
            assert_eq!(of(&format!(r#"{{"{key}":"gate"}}"#)).state, "gate");
        }
        assert_eq!(of(r#"{"name":"b","state":"a"}"#).state, "a");
        assert_eq!(of(r#"{"state":null,"node":"b"}"#).state, "b");
        for key in ["timestamp", "ts", "time", "recordedAt", "recorded_at", "at"] {
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

    #[test]
    fn every_key_that_means_something_refuses_its_duplicate() {
        let keys = "node checkpoint event.name name status outcome result success level timestamp ts time recordedAt \
                    recorded_at at action phase deployment_id deploymentId run_id runId invocationId agent skill actor \
                    producer message stage error details prev other";
        for key in keys.split_whitespace() {
            let text = format!(r#"{{"state":"a","{key}":"b","{key}":"b"}}"#);
            let error = read(&text, Place::default()).unwrap_err();
            assert_eq!(json::reason(&error), format!("duplicate key `{key}`"));
            assert!(Fields::default().of(key).is_some() || key == "other", "{key}");
        }
    }

    const KEYS: [&str; 8] = ["status", "st\\u0061tus", "ts", "runId", "x", "\\u0078", "y", "z"];
    const VALUES: [&str; 12] = [
        "null",
        "-0",
        "18446744073709551616",
        "1e999",
        r#""a\n""#,
        r#""\ud83d""#,
        r#""\ud83d\ude00""#,
        "[{}, 1.5]",
        "[1,]",
        r#"[{"b":1,"c":{"b":2}}]"#,
        r#"{"a":[{"b":1,"b":2}]}"#,
        r#"{"a":1,"\u0061":2}"#,
    ];

    proptest! {
        // The strict reader keeps a map of all keys and every value.
        #[test]
        fn a_record_is_refused_when_the_strict_reader_refuses_it(
            pairs in proptest::collection::vec((0..KEYS.len(), 0..VALUES.len()), 0..6),
            more in 0..40,
        ) {
            let own = pairs.iter().map(|(key, value)| format!("\"{}\":{}", KEYS[*key], VALUES[*value]));
            let many = (0..more).map(|n| format!("\"k{}\":{n}", n % 38));
            let text = format!("{{\"state\":\"n\"{}}}", own.chain(many).map(|p| format!(",{p}")).collect::<String>());
            prop_assert_eq!(read(&text, Place::default()).is_ok(), json::parse(text.as_bytes()).is_ok(), "{}", text);
        }
    }
}
