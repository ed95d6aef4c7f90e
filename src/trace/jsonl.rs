//! `trace.jsonl`: one JSON object a line, appended while the agent works. Format and damage: `docs/trace-format.md`.

use std::io::BufRead;

use serde_json::error::Category;

use super::chain::Follower;
use super::lines::{self, Line, Stopped};
use super::{Damage, Event, Place, Reading, record, recover};
use crate::json;

/// Reads a file to its end, whatever is in it, and hands each event on.
pub fn read(input: impl BufRead, sink: &mut dyn FnMut(Event<'_>)) -> Reading {
    let mut reading = Reading::default();
    let mut follower = Follower::default();
    let end = lines::each(input, &mut |line| {
        let mut followed = false;
        let mut each =
            |text: &str, place: Place, reading: &mut Reading| match record::read_linked(text, place) {
                Ok((event, link)) => {
                    follower.follow(line, link.as_deref(), place);
                    followed = true;
                    sink(event);
                }
                Err(error) => recover(text, place, &error, reading, sink),
            };
        read_line(line, &mut each, &mut reading);
        if !followed {
            follower.follow(line, None, Place::default());
        }
    });
    told(end, &mut reading);
    reading.chain = follower.end();
    reading
}

/// Takes the whole records out of a damaged line, and tells the damage.
fn recover(
    text: &str,
    place: Place,
    error: &serde_json::Error,
    reading: &mut Reading,
    sink: &mut dyn FnMut(Event<'_>),
) {
    let mut recovered = 0;
    for range in recover::records(text) {
        let at = Place { offset: place.offset + range.start as u64, ..place };
        if let Some(Ok(event)) = text.get(range).map(|text| record::read(text, at)) {
            recovered += 1;
            sink(event);
        }
    }
    reading.damage.push_with(|| {
        let at = match error.classify() {
            // The record as a whole is what is wrong: no object, or no state in it.
            Category::Data if record::is_json(text) => 0,
            Category::Eof => error.column(),
            Category::Data | Category::Syntax | Category::Io => error.column().saturating_sub(1),
        };
        let reason = match (json::reason(error), recovered) {
            (reason, 0) => reason,
            (reason, 1) => format!("{reason}; one whole record on the line was recovered"),
            (reason, n) => format!("{reason}; {n} whole records on the line were recovered"),
        };
        Damage { place: Place { offset: place.offset + at as u64, ..place }, reason }
    });
}

/// Splits a file into lines of text and hands on those that hold anything. What a line cannot be read for, other than
/// its JSON, is reported here.
pub(super) fn each_line(input: impl BufRead, each: &mut dyn FnMut(&str, Place, &mut Reading)) -> Reading {
    let mut reading = Reading::default();
    let end = lines::each(input, &mut |line| read_line(line, each, &mut reading));
    told(end, &mut reading);
    reading
}

/// Tells where a file could not be read any further.
fn told(end: Result<(), Stopped>, reading: &mut Reading) {
    if let Err(Stopped { line, offset, error }) = end {
        let reason = format!("the file could not be read any further: {}", error.kind());
        reading.damage.push(Damage { place: Place { line, offset }, reason });
    }
}

fn read_line(line: &Line<'_>, each: &mut dyn FnMut(&str, Place, &mut Reading), reading: &mut Reading) {
    let mut place = Place { line: line.number, offset: line.text_offset() };
    let mut bytes = line.text;
    if line.number == 1
        && line.leading_nuls == 0
        && let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf")
    {
        bytes = rest;
        place.offset += 3;
    }
    let nuls = if bytes.is_empty() {
        // Behind a byte order mark they are trailing ones.
        let nuls = line.leading_nuls + line.trailing_nuls;
        (nuls > 0 && !line.last).then_some(place.offset - line.leading_nuls)
    } else if line.leading_nuls > 0 {
        Some(line.offset)
    } else {
        (line.trailing_nuls > 0 && !line.last).then_some(place.offset + bytes.len() as u64)
    };
    let refuse = |reading: &mut Reading, offset: u64, reason: &str| {
        let place = Place { line: line.number, offset };
        reading.damage.push_with(|| Damage { place, reason: reason.to_owned() });
    };
    if line.too_long {
        return refuse(reading, line.offset, "the line is longer than 16 MiB");
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let before = reading.damage.count();
            if text.bytes().any(|b| !matches!(b, b' ' | b'\t' | b'\r')) {
                each(text, place, reading);
            }
            // One finding a line: what the parse said of it is the better reason.
            if let (Some(offset), true) = (nuls, reading.damage.count() == before) {
                refuse(reading, offset, "NUL bytes; a write was lost here");
            }
        }
        Err(error) => {
            refuse(reading, place.offset + error.valid_up_to() as u64, "bytes that are not UTF-8");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8]) -> (Vec<String>, Vec<(u64, u64, String)>) {
        let mut states = Vec::new();
        let reading = read(bytes, &mut |event| states.push(event.state.into_owned()));
        let damage = reading.damage.kept();
        (states, damage.iter().map(|d| (d.place.line, d.place.offset, d.reason.clone())).collect())
    }

    #[test]
    fn harmless_bytes_change_nothing() {
        let clean = read_all(b"{\"state\":\"a\"}\n{\"state\":\"b\"}\n");
        for bytes in [
            &b"\xef\xbb\xbf{\"state\":\"a\"}\r\n\r\n \t\n{\"state\":\"b\"}"[..],
            b"{\"state\":\"a\"}\n{\"state\":\"b\"}\n\0\0\0",
            b"{\"state\":\"a\"}\n{\"state\":\"b\"}\0\0\0",
            b"\n\n{\"x\":[{}],\"state\":\"a\"}\n {\"state\":\"b\"} \n",
        ] {
            assert_eq!(read_all(bytes), clean);
        }
        assert_eq!(clean.0, ["a", "b"]);
        assert_eq!(read_all("{\"state\":\"a\u{2028}b\u{2029}\"}".as_bytes()).0, ["a\u{2028}b\u{2029}"]);
    }

    #[test]
    fn damage_is_told_with_line_and_offset_and_the_rest_is_read() {
        let ok = "{\"state\":\"z\"}\n";
        let deep = format!("{{\"state\":\"a\",\"d\":{}{}}}", "[".repeat(128), "]".repeat(128));
        for (line, offset, recovered) in [
            (&b"{\"state\":\"a"[..], 11, &[][..]),
            (b"{\"state\":\"a\"}{\"state\":\"b\"}", 13, &["a", "b"]),
            (b"{\"t\":\"x{\"state\":\"b\"}", 9, &["b"]),
            (b"\0\0{\"state\":\"a\"}", 0, &["a"]),
            (b"{\"state\":\"a\"}\0", 13, &["a"]),
            (b"{\"state\":\"a\0\"}", 11, &[]),
            (b"\0\0", 0, &[]),
            (b"{\"state\":\"\xff\"}", 10, &[]),
            (b"[{\"state\":\"a\"}]", 0, &[]),
            (b"\"state\"", 0, &[]),
            (b"{\"status\":\"completed\"}", 0, &[]),
            (b"{\"state\":\"a\",\"n\":NaN}", 17, &[]),
            (b"{\"state\":\"a\",\"n\":1e999}", 21, &[]),
            (b"{\"state\":\"a\",\"n\":\"\\ud83d\"}", 24, &[]),
            (b"{\"state\":\"a\",\"st\\u0061te\":\"b\"}", 0, &[]),
            (b"{\"state\":\"a\",\"state\":\"b\"}{\"state\":\"c\"}", 0, &["c"]),
            (deep.as_bytes(), 0, &[]),
        ] {
            let bytes = [ok.as_bytes(), line, b"\n", ok.as_bytes()].concat();
            let (states, damage) = read_all(&bytes);
            let shown = String::from_utf8_lossy(line);
            let expected: Vec<&str> = ["z"].iter().chain(recovered).chain(&["z"]).copied().collect();
            assert_eq!(states, expected, "{shown}");
            assert_eq!(damage.len(), 1, "{shown}: {damage:?}");
            assert_eq!(damage[0].0, 2, "{shown}");
            if offset > 0 {
                assert_eq!(damage[0].1, ok.len() as u64 + offset, "{shown}: {damage:?}");
            }
        }
    }

    #[test]
    fn nuls_behind_a_byte_order_mark_are_told_where_they_begin() {
        let (states, damage) = read_all(b"\xef\xbb\xbf\0\0\n{\"state\":\"a\"}\n");
        assert_eq!((states.len(), damage.len()), (1, 1));
        assert_eq!((damage[0].0, damage[0].1), (1, 3));
        assert_eq!(read_all(b"\xef\xbb\xbf\0\0").1, []);
    }
}
