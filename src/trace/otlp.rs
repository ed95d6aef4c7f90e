//! OpenTelemetry traces in OTLP's JSON encoding: one export a line (the collector's file exporter), or one document.
//! Encoding: opentelemetry-proto, "OTLP/JSON".

use std::io::{BufRead, Read};

use serde_json::Value;

use super::state_map::StateMap;
use super::{Capped, Damage, Event, Place, Reading, Status, Time, jsonl};
use crate::json;

/// A document over many lines is held whole, so it is capped: 64 MiB.
const DOCUMENT_CAP: u64 = 64 << 20;

/// A span, as far as it is an event.
struct Span {
    end: Option<i128>,
    state: String,
    status: Status,
    message: Option<String>,
    place: Place,
}

/// Reads a file to its end and hands each span on as an event, by the time it ended, then by its place in the file.
pub fn read(mut input: impl BufRead, states: &StateMap, sink: &mut dyn FnMut(Event<'_>)) -> Reading {
    let mut spans = Vec::new();
    let one_a_line = match input.fill_buf() {
        Ok(head) => {
            let mut lines = head.split(|b| *b == b'\n');
            // One line that goes beyond the head, or any line that is whole: a torn one before it changes nothing.
            !head.contains(&b'\n') || lines.any(|line| json::parse(line).is_ok_and(|value| value.is_object()))
        }
        Err(_) => true,
    };
    let reading =
        if one_a_line { lines(input, states, &mut spans) } else { document(input, states, &mut spans) };
    spans.sort_by_key(|span| span.end);
    for span in spans {
        let mut event = Event::new(span.state, span.status, span.place);
        event.time = span.end.map_or(Time::Absent, |nanos| match i64::try_from(nanos / 1_000) {
            Ok(micros) => Time::Zoned(micros),
            Err(_) => Time::Unreadable,
        });
        event.message = span.message.map(Into::into);
        sink(event);
    }
    reading
}

fn lines(input: impl BufRead, states: &StateMap, spans: &mut Vec<Span>) -> Reading {
    jsonl::each_line(input, &mut |_, text, place, reading| match json::parse(text.as_bytes()) {
        Ok(export @ Value::Object(_)) => collect(&export, states, place, spans, &mut reading.damage),
        Ok(_) => reading.damage.push_with(|| Damage { place, reason: "the line holds no object".to_owned() }),
        Err(error) => reading.damage.push_with(|| {
            let offset = place.offset + error.column.saturating_sub(1) as u64;
            Damage { place: Place { offset, ..place }, reason: error.reason }
        }),
    })
}

fn document(input: impl Read, states: &StateMap, spans: &mut Vec<Span>) -> Reading {
    let mut reading = Reading::default();
    let mut bytes = Vec::new();
    let place = Place { line: 1, offset: 0 };
    let reason = match input.take(DOCUMENT_CAP + 1).read_to_end(&mut bytes) {
        Err(error) => format!("the file could not be read any further: {}", error.kind()),
        Ok(size) if size as u64 > DOCUMENT_CAP => {
            "a document of more than 64 MiB; write one export a line".to_owned()
        }
        Ok(_) => match json::parse(&bytes) {
            Ok(export) => {
                collect(&export, states, place, spans, &mut reading.damage);
                return reading;
            }
            Err(error) => error.to_string(),
        },
    };
    reading.damage.push(Damage { place, reason });
    reading
}

/// A key in either of the two spellings that writers use.
fn either<'a>(object: &'a Value, camel: &str, snake: &str) -> Option<&'a Value> {
    json::present(object, camel).or_else(|| json::present(object, snake))
}

fn items(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn collect(
    export: &Value,
    states: &StateMap,
    place: Place,
    spans: &mut Vec<Span>,
    damage: &mut Capped<Damage>,
) {
    for resource in items(either(export, "resourceSpans", "resource_spans")) {
        let scopes = either(resource, "scopeSpans", "scope_spans")
            .or_else(|| either(resource, "instrumentationLibrarySpans", "instrumentation_library_spans"));
        for span in items(scopes).flat_map(|scope| items(scope.get("spans"))) {
            match read_span(span, states, place) {
                Some(span) => spans.push(span),
                None => damage.push_with(|| Damage { place, reason: "a span without a name".to_owned() }),
            }
        }
    }
}

fn read_span(span: &Value, states: &StateMap, place: Place) -> Option<Span> {
    let attribute = |name: &str| {
        let entry = items(span.get("attributes")).find(|entry| json::text(entry, "key") == Some(name))?;
        let value = entry.get("value")?;
        either(value, "stringValue", "string_value").and_then(Value::as_str)
    };
    let named =
        attribute("process.state").or_else(|| attribute("git_ape.state")).filter(|state| !state.is_empty());
    let state = match named {
        Some(state) => state,
        None => states.state(json::text(span, "name").filter(|name| !name.is_empty())?),
    };
    let outcome = span.get("status").unwrap_or(&Value::Null);
    let failed = json::present(outcome, "code").is_some_and(|code| match code.as_str() {
        Some(name) => name == "2" || name == "STATUS_CODE_ERROR",
        None => code.as_u64() == Some(2),
    });
    let error = items(span.get("attributes")).any(|entry| {
        json::text(entry, "key") == Some("error.type") && json::present(entry, "value").is_some()
    });
    let status = match (error, failed) {
        (true, _) => Status::Error,
        (false, true) => Status::Failed,
        (false, false) => Status::Completed,
    };
    Some(Span {
        end: either(span, "endTimeUnixNano", "end_time_unix_nano").and_then(number),
        state: state.to_owned(),
        status,
        message: json::text(outcome, "message").map(str::to_owned),
        place,
    })
}

/// A 64-bit number, which JSON writers quote. Zero is OTLP's word for "not set".
fn number(value: &Value) -> Option<i128> {
    let number = match value.as_str() {
        Some(digits) => digits.trim().parse().ok(),
        None => value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from)),
    };
    number.filter(|number| *number != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(text: &str) -> (Vec<String>, u64) {
        let mut all = Vec::new();
        let reading = read(text.as_bytes(), &StateMap::default(), &mut |e| {
            all.push(format!("{} {}", e.state, e.status.word()))
        });
        (all, reading.damage.count())
    }

    #[test]
    fn spans_are_ordered_by_their_end_in_either_spelling() {
        let spans = r#"{"resource_spans":[{"scope_spans":[{"spans":[
            {"name":"late","end_time_unix_nano":"3","status":{"code":"STATUS_CODE_ERROR"}},
            {"name":"azure-security-analyzer","endTimeUnixNano":1,"status":{"code":1}},
            {"name":"x","endTimeUnixNano":"2","attributes":[{"key":"git_ape.state","value":{"string_value":"deploy"}},
             {"key":"error.type","value":{"stringValue":"timeout"}}]}]}]}]}"#;
        let expected = ["security_gate_evaluated completed", "deploy error", "late failed"];
        assert_eq!(states(spans).0, expected);
        assert_eq!(states(&spans.replace('\n', " ")).0, expected);
    }

    #[test]
    fn damage_is_counted() {
        assert_eq!(states("{\"resourceSpans\":[]}\n{\"resour\n[]\n").1, 2);
        assert_eq!(states("{\n\"resourceSpans\":[\n").1, 1);
        let torn = "{\"resour\n{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"name\":\"a\"}]}]}]}\n";
        assert_eq!(states(torn), (vec!["a completed".to_owned()], 1));
        assert_eq!(states(r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}"#).1, 1);
    }
}
