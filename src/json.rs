//! Strict JSON for every file that is read whole.
//!
//! `serde_json` keeps the last of two equal keys. In a file that decides whether a gate was passed that is
//! a way to hide one behind the other, so a duplicate key at any depth, after unescaping, refuses the file.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Why a JSON text could not be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// Line, from 1.
    pub line: usize,
    /// Byte in that line, from 1; 0 where the text ended on the line break before it.
    pub column: usize,
    /// The reason in a few words. May quote a key of the file, so it is hostile text.
    pub reason: String,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {}, byte {})", self.reason, self.line, self.column)
    }
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        Self { line: error.line(), column: error.column(), reason: reason(&error) }
    }
}

/// The message of a `serde_json` error without the position that it appends.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
        None => text,
    }
}

/// Reads one JSON document. A leading byte order mark is harmless.
///
/// # Errors
/// Anything that is not exactly one JSON value: also a duplicate key at any depth, 128 levels of nesting or more,
/// a lone surrogate, a number that no double holds, bytes that are not UTF-8.
pub fn parse(bytes: &[u8]) -> Result<Value, JsonError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = Strict.deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

/// A key, borrowed from the input where it holds no escape.
pub(crate) struct Key<'de>(pub(crate) Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// The error for a key that is there twice. A long one is not quoted: it would have to be cut, perhaps within a secret.
pub(crate) fn duplicate<E: de::Error>(key: &str) -> E {
    if key.len() <= 200 {
        E::custom(format_args!("duplicate key `{key}`"))
    } else {
        E::custom(format_args!("duplicate key of {} bytes", key.len()))
    }
}

/// The keys of one object so far.
#[derive(Default)]
pub(crate) struct Keys<'de> {
    few: Vec<Cow<'de, str>>,
    /// Made when it is needed: most objects have few keys.
    many: Option<HashSet<Cow<'de, str>>>,
}

impl<'de> Keys<'de> {
    /// Below this a linear search is quicker than hashing; above it, it would be quadratic.
    const FEW: usize = 16;

    /// Takes a key.
    ///
    /// # Errors
    /// The object has it already.
    pub(crate) fn insert<E: de::Error>(&mut self, key: Cow<'de, str>) -> Result<(), E> {
        let many = self.many.as_ref();
        if self.few.contains(&key) || many.is_some_and(|many| many.contains(&key)) {
            return Err(duplicate(&key));
        }
        if self.few.len() < Self::FEW {
            self.few.push(key);
        } else {
            self.many.get_or_insert_default().insert(key);
        }
        Ok(())
    }
}

/// Builds a [`Value`], refusing duplicate keys.
pub(crate) struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(Strict)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(Key(key)) = entries.next_key()? {
            let value = entries.next_value_seed(Strict)?;
            if object.insert(key.to_string(), value).is_some() {
                return Err(duplicate(&key));
            }
        }
        Ok(Value::Object(object))
    }
}

/// The value of a key that is there and not null. Null is absent everywhere in this product.
pub(crate) fn present<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    object.get(key).filter(|value| !value.is_null())
}

/// The string under a key, if there is one.
pub(crate) fn text<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    present(object, key).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_key_is_refused_at_any_depth_and_after_unescaping() {
        for text in [r#"{"a":1,"a":2}"#, r#"[{"b":{"a":1,"a":1}}]"#, r#"{"a":1,"\u0061":2}"#] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.reason, "duplicate key `a`", "{text}");
        }
        let mut keys: Vec<String> = (0..40).map(|n| format!("\"k{n}\":0")).collect();
        assert!(parse(format!("{{{}}}", keys.join(",")).as_bytes()).is_ok());
        keys.push("\"k30\":0".to_owned());
        assert!(parse(format!("{{{}}}", keys.join(",")).as_bytes()).is_err());
    }

    #[test]
    fn what_json_does_not_allow_is_refused() {
        let deep = format!("{}{}", "[".repeat(128), "]".repeat(128));
        for text in ["", "{", "NaN", "1e999", r#""\ud83d""#, "{} {}", &deep] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(parse(b"\"\xff\"").is_err());
        let shallow = format!("{}{}", "[".repeat(127), "]".repeat(127));
        assert!(parse(shallow.as_bytes()).is_ok());
        assert!(parse(b"\xef\xbb\xbf{}").is_ok());
    }

    #[test]
    fn the_place_of_an_error_is_told() {
        let error = parse(b"{\n  \"a\": ,\n}").unwrap_err();
        assert_eq!((error.line, error.column), (2, 8));
        assert_eq!(error.to_string(), "expected value (line 2, byte 8)");
    }
}
