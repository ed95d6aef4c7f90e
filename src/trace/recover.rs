//! Whole records on a line that as a whole is no record.
//!
//! Two writers on one file, or one that was killed, leave lines such as `{"state":"a"}{"state":"b"}` and
//! `{"state":"a","mess{"state":"b"}`. The records that are whole on them are recovered, but only where no doubt is
//! left that they are records: they run to the line's end or to the next record, and they begin at a `{` that the
//! failed parse took for text or stumbled over. An object inside a record is never one: its text may be a
//! quotation of a gate that never ran.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::de::IgnoredAny;

/// Parses of one line in vain, after which no further record is looked for on it. A line that needs more is an attack; so is
/// one of which more than [`PASSES`] times its bytes were read in vain.
const TRIES: usize = 256;
const PASSES: usize = 4;

/// Where the whole records of a damaged line stand in it, in order.
///
/// Such a record is whole JSON syntax; whether it is acceptable (no duplicate key, say) is for the caller to see.
pub(crate) fn records(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut candidates = BTreeSet::new();
    if let Some(start) = record_at(line, 0) {
        candidates.insert(start);
    }
    let (mut tries, mut wasted) = (0, 0);
    while tries < TRIES && wasted <= PASSES * line.len() {
        let Some(start) = candidates.pop_first() else { break };
        let Some(rest) = line.get(start..) else { break };
        match extent(rest) {
            Ok(length) => {
                let end = start + length;
                if skip_blanks(line, end) == line.len() {
                    found.push(start..end);
                    break;
                }
                if let Some(next) = record_at(line, end) {
                    found.push(start..end);
                    candidates.clear();
                    candidates.insert(next);
                } else {
                    tries += 1;
                    wasted += length;
                }
            }
            Err(stumble) => {
                tries += 1;
                wasted += stumble;
                candidates.extend(braces(rest, stumble).map(|brace| start + brace));
            }
        }
    }
    found
}

fn skip_blanks(line: &str, from: usize) -> usize {
    let rest = line.get(from..).unwrap_or_default();
    from + rest.bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count()
}

fn record_at(line: &str, from: usize) -> Option<usize> {
    let start = skip_blanks(line, from);
    (line.as_bytes().get(start) == Some(&b'{')).then_some(start)
}

/// The length of the object that a text begins with, or the offset at which its parse stumbled.
fn extent(text: &str) -> Result<usize, usize> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => Ok(values.byte_offset()),
        // A line holds no LF, so the column is the number of bytes that were read.
        Some(Err(error)) => Err(error.column().saturating_sub(1)),
        None => Err(0),
    }
}

/// The `{`, but the first byte, that a parse which stumbled at `stumble` took for text or stumbled over.
fn braces(text: &str, stumble: usize) -> impl Iterator<Item = usize> {
    let mut found = Vec::new();
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        // An escape is read four digits at a time, so a stumble inside one is told up to four bytes early.
        if at > stumble && !(in_string && at <= stumble + 4) {
            break;
        }
        if byte == b'{' && (in_string || at == stumble) {
            found.push(at);
            if found.len() == TRIES {
                break;
            }
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' if at < stumble => in_string = !in_string,
            _ => {}
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<&str> {
        records(line).into_iter().map(|range| &line[range]).collect()
    }

    #[test]
    fn whole_records_are_found() {
        assert_eq!(found(r#"{"s":"a"}{"s":"b"}"#), [r#"{"s":"a"}"#, r#"{"s":"b"}"#]);
        assert_eq!(found(r#"{"s":"a"} {"s":"b"}  "#), [r#"{"s":"a"}"#, r#"{"s":"b"}"#]);
        for torn in [
            r#"{"t":"2026","st"#,
            r#"{"t":"2026","#,
            r#"{"t":12"#,
            r#"{"t":tr"#,
            r#"{"t":"x\"#,
            r#"{"t":"x\u00"#,
            r#"{"t":"é\u1"#,
            r#"{"t":[1,2"#,
            r#"{"t":"y","u"#,
            r#"{"#,
            r#"{"a":"x{"b":"y"#,
        ] {
            let line = format!("{torn}{}", r#"{"s":"b","n":{"m":1}}"#);
            assert_eq!(found(&line), [r#"{"s":"b","n":{"m":1}}"#], "{line}");
        }
    }

    #[test]
    fn a_record_that_may_be_a_quotation_is_not() {
        for line in [
            r#"{"s":"note","data":{"s":"gate"}"#,
            r#"{"s":"note","data":[{"s":"gate"}"#,
            r#"{"s":"note","data":{"s":"gate"},"#,
            r#"{"s":"note","text":"he said {"s":"gate"}"}"#,
            r#"{"s":"note","text":"{\"s\":\"gate\"}"#,
            r#"{"s":"a"} and more"#,
            r#"says {"s":"gate"}"#,
            r#"[{"s":"gate"}"#,
            r#"{"a":1,,"":{"s":"g"}"#,
            "{",
            "",
        ] {
            assert_eq!(found(line), Vec::<&str>::new(), "{line}");
        }
    }

    #[test]
    fn a_line_made_to_be_slow_is_given_up() {
        let line = format!("{}{}", r#"{"{":"#.repeat(100_000), r#"{"s":"b"}"#);
        assert!(found(&line).len() <= 1);
        let line = "{\"a\":\"".repeat(200_000);
        assert!(found(&line).is_empty());
    }
}
