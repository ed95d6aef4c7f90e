//! The document as a visitor of its parser, which takes from each entry what is used and only checks the rest.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::position::Position;
use super::{Entry, Kind};
use crate::json::{self, Key, Keys, Strict};
use crate::trace::value::{Checked, Scalar, Skimmed};
use crate::trace::{Damage, Reading};

/// Events that are held.
const ENTRIES_CAP: usize = 200_000;
/// The fields of the document that are used. All others are checked and left.
const FIELDS: [&str; 5] = ["schemaVersion", "producer", "graph", "startedAt", "outcome"];

pub(super) struct Document<'a, P> {
    pub(super) entries: &'a mut Vec<Entry>,
    pub(super) position: P,
    pub(super) damage: &'a mut Reading,
    /// All but the events; also those before a tear.
    pub(super) fields: &'a mut Map<String, Value>,
}

impl<'de, P: Position> DeserializeSeed<'de> for Document<'_, P> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, P: Position> Visitor<'de> for Document<'_, P> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an execution trace object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let Self { entries, mut position, damage, fields: known } = self;
        while let Some(Key(key)) = fields.next_key()? {
            let value = if key == "events" {
                let position = &mut position;
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

struct Entries<'a, P> {
    entries: &'a mut Vec<Entry>,
    position: &'a mut P,
    damage: &'a mut Reading,
}

impl<'de, P: Position> DeserializeSeed<'de> for Entries<'_, P> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, P: Position> Visitor<'de> for Entries<'_, P> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of events")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { entries, position, damage } = self;
        let damage = &mut damage.damage;
        loop {
            let mut entry = Entry::new();
            let one = OneEntry { entry: &mut entry, position: &mut *position };
            if items.next_element_seed(one)?.is_none() {
                return Ok(());
            }
            let place = entry.place;
            if entry.kind == Kind::Other || (entry.kind == Kind::Node && entry.name().is_none()) {
                let reason = "an event that is neither a node with its name nor a transition";
                damage.push_with(|| Damage { place, reason: reason.to_owned() });
            }
            if entries.len() == ENTRIES_CAP {
                damage.push_with(|| Damage { place, reason: "more events than are read".to_owned() });
                continue;
            }
            entries.push(entry);
        }
    }
}

/// Fills an entry where it is: moving it out of each layer of the parser is dear.
struct OneEntry<'a, P> {
    entry: &'a mut Entry,
    position: &'a mut P,
}

impl<P: Position> OneEntry<'_, P> {
    /// Something else than an object is an entry of which only the place is known.
    fn other<E: de::Error>(self) -> Result<(), E> {
        self.entry.place = self.position.now().ok_or_else(lost)?;
        Ok(())
    }
}

fn lost<E: de::Error>() -> E {
    E::custom("an event whose place is not known")
}

impl<'de, P: Position> DeserializeSeed<'de> for OneEntry<'_, P> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, P: Position> Visitor<'de> for OneEntry<'_, P> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let Self { entry, position } = self;
        let mut place = position.of_opened();
        let mut seen = 0_u16;
        let mut others = Keys::default();
        while let Some(key) = fields.next_key::<Key<'_>>()? {
            if place.is_none() {
                place = Some(position.of_first_key(&key).ok_or_else(lost)?);
            }
            let mut value = || fields.next_value_seed(OneValue { texts: None });
            let bit = match &*key.0 {
                "type" => {
                    entry.kind = kind(value()?);
                    1
                }
                "node" => {
                    entry.node = text(value()?);
                    1 << 1
                }
                "status" => {
                    entry.status = text(value()?);
                    1 << 2
                }
                "result" => {
                    let said = value()?;
                    entry.result =
                        if let Scalar::Bool(said) = said { Some(said.to_string()) } else { text(said) };
                    1 << 3
                }
                "from" => {
                    entry.from = text(value()?);
                    1 << 4
                }
                "to" => {
                    entry.to = text(value()?);
                    1 << 5
                }
                "recordedAt" => {
                    entry.time = value()?.into_time();
                    1 << 6
                }
                "evidence" => {
                    fields.next_value_seed(OneValue { texts: Some(&mut entry.evidence) })?;
                    1 << 7
                }
                // Of no use, but every entry has it: the keys of most need no list of the others.
                "id" => {
                    value()?;
                    1 << 8
                }
                _ => {
                    value()?;
                    others.insert(key.0)?;
                    continue;
                }
            };
            if seen & bit != 0 {
                return Err(json::duplicate(&key.0));
            }
            seen |= bit;
        }
        entry.place = place.ok_or_else(lost)?;
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<(), A::Error> {
        self.other()?;
        OneValue { texts: None }.visit_seq(items)?;
        Ok(())
    }
    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.other()
    }
    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        self.other()
    }
    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        self.other()
    }
    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        self.other()
    }
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        self.other()
    }
    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        self.other()
    }
}

fn kind(value: Scalar<'_>) -> Kind {
    match value.into_text().as_deref() {
        Some("node") => Kind::Node,
        Some("transition") => Kind::Transition,
        _ => Kind::Other,
    }
}

fn text(value: Scalar<'_>) -> Option<String> {
    value.into_text().map(Cow::into_owned)
}

/// Reads any value of an entry. Not `Checked`, which tells a duplicate key before its value: here a document that is torn
/// within that value is torn, and keeps the entries before it.
struct OneValue<'a> {
    /// Takes the texts of an array.
    texts: Option<&'a mut Vec<String>>,
}

impl<'de> DeserializeSeed<'de> for OneValue<'_> {
    type Value = Scalar<'de>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Scalar<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneValue<'_> {
    type Value = Scalar<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Checked.visit_unit()
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
        Checked.visit_bool(value)
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Checked.visit_i64(value)
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        Checked.visit_u64(value)
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        Checked.visit_f64(value)
    }
    fn visit_borrowed_str<E: de::Error>(self, value: &'de str) -> Result<Self::Value, E> {
        Checked.visit_borrowed_str(value)
    }
    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        Checked.visit_str(value)
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut empty = true;
        while let Some(item) = items.next_element_seed(OneValue { texts: None })? {
            empty = false;
            if let Some(texts) = &mut self.texts {
                texts.extend(text(item));
            }
        }
        Ok(Scalar::Compound { empty })
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut keys = Keys::default();
        let mut empty = true;
        while let Some(Key(key)) = entries.next_key()? {
            empty = false;
            entries.next_value_seed(OneValue { texts: None })?;
            keys.insert(key)?;
        }
        Ok(Scalar::Compound { empty })
    }
}
