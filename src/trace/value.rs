//! The value of a key, as far as a record needs it. Every value is checked to its end, whether it is needed or not.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::status::Word;
use super::{Stage, Time};
use crate::json::{Key, Keys};

/// A value. Null is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Scalar<'a> {
    #[default]
    Absent,
    Bool(bool),
    Integer(i64),
    /// An integer that is larger than an `i64`.
    Large(u64),
    Float(f64),
    Text(Cow<'a, str>),
    /// An array or object, and whether it holds anything.
    Compound {
        empty: bool,
    },
}

impl<'a> Scalar<'a> {
    pub(crate) fn is_present(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    pub(crate) fn into_word(self) -> Option<Word<'a>> {
        match self {
            Self::Absent => None,
            Self::Bool(value) => Some(Word::Bool(value)),
            Self::Text(text) => Some(Word::Text(text)),
            Self::Integer(_) | Self::Large(_) | Self::Float(_) | Self::Compound { .. } => Some(Word::Other),
        }
    }

    /// A name or an id: a number is as good as its digits.
    pub(crate) fn into_id(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(text),
            Self::Integer(number) => Some(Cow::Owned(number.to_string())),
            Self::Large(number) => Some(Cow::Owned(number.to_string())),
            Self::Text(_) | Self::Absent | Self::Bool(_) | Self::Float(_) | Self::Compound { .. } => None,
        }
    }

    pub(crate) fn into_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent
            | Self::Bool(_)
            | Self::Integer(_)
            | Self::Large(_)
            | Self::Float(_)
            | Self::Compound { .. } => None,
        }
    }

    pub(crate) fn into_time(self) -> Time {
        match self {
            Self::Absent => Time::Absent,
            Self::Text(text) => Time::of_text(&text),
            Self::Integer(number) => Time::of_integer(number.into()),
            Self::Large(number) => Time::of_integer(number.into()),
            Self::Float(number) => Time::of_float(number),
            Self::Bool(_) | Self::Compound { .. } => Time::Unreadable,
        }
    }

    pub(crate) fn into_stage(self) -> Option<Stage<'a>> {
        match self {
            #[allow(clippy::cast_precision_loss)]
            Self::Integer(number) => Some(Stage::Number(number as f64)),
            #[allow(clippy::cast_precision_loss)]
            Self::Large(number) => Some(Stage::Number(number as f64)),
            Self::Float(number) => Some(Stage::Number(number)),
            Self::Text(text) if !text.is_empty() => Some(Stage::Name(text)),
            Self::Text(_) | Self::Absent | Self::Bool(_) | Self::Compound { .. } => None,
        }
    }

    pub(crate) fn says_something(&self) -> bool {
        match self {
            Self::Absent => false,
            Self::Bool(value) => *value,
            Self::Integer(number) => *number != 0,
            Self::Large(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::Compound { empty } => !empty,
        }
    }
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
        Ok(Scalar::Integer(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(value).map_or(Scalar::Large(value), Scalar::Integer))
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
    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        Ok(Scalar::Compound { empty: Skimmed.visit_seq(items)? })
    }
    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        Ok(Scalar::Compound { empty: Skimmed.visit_map(entries)? })
    }
}

/// Reads any value that nobody needs: refuses what [`Checked`] refuses, but keeps nothing, so that a text with escapes is
/// not copied. Says of an array or object whether it is empty.
pub(crate) struct Skimmed;

impl<'de> DeserializeSeed<'de> for Skimmed {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        // Not `deserialize_ignored_any`, which lets lone surrogates and numbers out of range pass.
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Skimmed {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<bool, A::Error> {
        let mut empty = true;
        while items.next_element_seed(Skimmed)?.is_some() {
            empty = false;
        }
        Ok(empty)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<bool, A::Error> {
        let mut keys = Keys::default();
        let mut empty = true;
        while let Some(Key(key)) = entries.next_key()? {
            keys.insert(key)?;
            entries.next_value_seed(Skimmed)?;
            empty = false;
        }
        Ok(empty)
    }
}
