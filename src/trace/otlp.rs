//! OpenTelemetry traces in OTLP's JSON encoding: one export a line (the collector's file exporter), or one document.
//! Encoding: opentelemetry-proto, "OTLP/JSON".

use std::io::{BufRead, Read};

use serde_json::Value;

use super::harness;
use super::state_map::StateMap;
use super::{Capped, Damage, Event, Place, Reading, Status, Time};
use crate::json;

/// A document over many lines is held whole, so it is capped: 64 MiB.
const DOCUMENT_CAP: u64 = 64 << 20;

/// Spans have to be held to be sorted, so they are capped.
const SPANS_CAP: usize = 1_000_000;

/// A span, as far as it is an event.
struct Span {
    /// Nanoseconds since 1970, finer than events are.
    order: Option<i128>,
    end: Time,
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
    // A span without a time keeps its place: it takes the time of the one before it in the file.
    let mut before = i128::MIN;
    let keys = spans.iter().map(|span| {
        before = span.order.unwrap_or(before);
        before
    });
    let keys: Vec<i128> = keys.collect();
    let mut ordered: Vec<(i128, Span)> = keys.into_iter().zip(spans).collect();
    ordered.sort_by_key(|(key, _)| *key);
    for (_, span) in ordered {
        let mut event = Event::new(span.state, span.status, span.place);
        event.time = span.end;
        event.message = span.message.map(Into::into);
        sink(event);
    }
    reading
}

fn lines(input: impl BufRead, states: &StateMap, spans: &mut Vec<Span>) -> Reading {
    harness::each_record(input, &mut |export, place, reading| {
        collect(export, states, place, spans, &mut reading.damage);
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
            // One export a line after all, of which the first whole one lies beyond the head of the file.
            Err(_)
                if bytes
                    .split(|b| *b == b'\n')
                    .any(|line| json::parse(line).is_ok_and(|value| is_export(&value))) =>
            {
                return lines(&bytes[..], states, spans);
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

/// The entries of lists, whichever of the names they have.
fn items<'a>(object: &'a Value, names: &'a [&'a str]) -> impl Iterator<Item = &'a Value> {
    names.iter().filter_map(|name| json::present(object, name)).filter_map(Value::as_array).flatten()
}

const RESOURCES: [&str; 2] = ["resourceSpans", "resource_spans"];
const SCOPES: [&str; 4] =
    ["scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"];
/// What an export may hold in place of spans.
const OTHER: [&str; 6] = [
    "resourceLogs",
    "resource_logs",
    "resourceMetrics",
    "resource_metrics",
    "resourceProfiles",
    "resource_profiles",
];

/// Spans, or what stands in their place.
fn is_export(value: &Value) -> bool {
    RESOURCES.iter().chain(&OTHER).any(|name| json::present(value, name).is_some())
}

fn collect(
    export: &Value,
    states: &StateMap,
    place: Place,
    spans: &mut Vec<Span>,
    damage: &mut Capped<Damage>,
) {
    let mut refuse = |reason: &str| damage.push_with(|| Damage { place, reason: reason.to_owned() });
    if !is_export(export) {
        return refuse("a record that is no export");
    }
    let no_list = |object: &Value, names: &[&str]| {
        names.iter().filter_map(|name| json::present(object, name)).any(|list| !list.is_array())
    };
    let mut lists = no_list(export, &RESOURCES);
    for resource in items(export, &RESOURCES) {
        lists |= !resource.is_object() || no_list(resource, &SCOPES);
        for scope in items(resource, &SCOPES) {
            lists |= !scope.is_object() || no_list(scope, &["spans"]);
            for span in items(scope, &["spans"]) {
                if spans.len() == SPANS_CAP {
                    return refuse("more spans than are read");
                }
                match read_span(span, states, place) {
                    Some(span) => spans.push(span),
                    None => refuse("a span without a name"),
                }
            }
        }
    }
    if lists {
        refuse("a list of the export is no list of objects");
    }
}

fn read_span(span: &Value, states: &StateMap, place: Place) -> Option<Span> {
    let attribute = |name: &str| {
        let entry = items(span, &["attributes"]).find(|entry| json::text(entry, "key") == Some(name))?;
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
    let code = json::present(outcome, "code").map(|code| match code.as_str() {
        Some(name) => match name.trim_start_matches("STATUS_CODE_").to_ascii_uppercase().as_str() {
            "2" | "ERROR" => Status::Failed,
            "0" | "1" | "OK" | "UNSET" => Status::Completed,
            _ => Status::Unknown,
        },
        None => match code.as_f64() {
            Some(2.0) => Status::Failed,
            Some(0.0 | 1.0) => Status::Completed,
            Some(_) | None => Status::Unknown,
        },
    });
    let error = items(span, &["attributes"]).any(|entry| {
        json::text(entry, "key") == Some("error.type") && json::present(entry, "value").is_some()
    });
    let status = if error { Status::Error } else { code.unwrap_or(Status::Completed) };
    let (order, end) = time(either(span, "endTimeUnixNano", "end_time_unix_nano"));
    Some(Span {
        order,
        end,
        state: state.to_owned(),
        status,
        message: json::text(outcome, "message").map(str::to_owned),
        place,
    })
}

/// Nanoseconds since 1970, a 64-bit number which JSON writers quote. Zero is OTLP's word for "not set".
fn time(value: Option<&Value>) -> (Option<i128>, Time) {
    let nanos = match value {
        None => return (None, Time::Absent),
        Some(Value::String(digits)) => digits.trim().parse::<i128>().ok(),
        Some(value) => value
            .as_i64()
            .map(i128::from)
            .or_else(|| value.as_u64().map(i128::from))
            // Beyond 2^53 a double has lost some nanoseconds, which nobody needs here.
            .or_else(|| {
                value
                    .as_f64()
                    .and_then(|nanos| Time::of_float(nanos).micros())
                    .map(|micros| i128::from(micros) * 1_000)
            }),
    };
    match nanos {
        Some(0) => (None, Time::Absent),
        Some(nanos) => match i64::try_from(nanos / 1_000) {
            Ok(micros) => (Some(nanos), Time::Zoned(micros)),
            Err(_) => (None, Time::Unreadable),
        },
        None => (None, Time::Unreadable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::sniff;

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
    fn a_span_without_a_time_keeps_its_place() {
        let span = |name: &str, end: &str| format!("{{\"name\":\"{name}\",\"endTimeUnixNano\":{end}}}");
        let spans = [span("a", "1"), span("b", "\"x\""), span("c", "null"), span("d", "2")].join(",");
        let text = format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{spans}]}}]}}]}}");
        let mut all = Vec::new();
        read(text.as_bytes(), &StateMap::default(), &mut |e| all.push((e.state.to_string(), e.time)));
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
        assert_eq!((all[1].1, all[2].1), (Time::Unreadable, Time::Absent));
    }

    #[test]
    fn damage_is_counted() {
        assert_eq!(states("{\"resourceSpans\":[]}\n{\"resour\n[]\n").1, 2);
        assert_eq!(states("{\n\"resourceSpans\":[\n").1, 1);
        let torn = "{\"resour\n{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"name\":\"a\"}]}]}]}\n";
        assert_eq!(states(torn), (vec!["a completed".to_owned()], 1));
        assert_eq!(states(r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}"#).1, 1);
    }

    #[test]
    fn a_part_of_an_export_that_is_no_object_is_told() {
        for export in [
            r#"{"resourceSpans":[5]}"#,
            r#"{"resourceSpans":[{"scopeSpans":["x"]}]}"#,
            r#"{"resourceSpans":[{"scopeSpans":[{"spans":[7]}]}]}"#,
            r#"{"resourceSpans":{"scopeSpans":[]}}"#,
        ] {
            assert_eq!(states(export), (vec![], 1), "{export}");
        }
    }

    #[test]
    fn exports_beyond_a_head_without_a_whole_line_are_read() {
        let filler = "x".repeat(sniff::HEAD);
        let export = |name: &str| {
            format!(
                "{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{{\"name\":\"{name}\"}}]}}],\"x\":\"{filler}\"}}]}}\n"
            )
        };
        let text = format!("{{\"resourceSpans\":[{{\"to\n{}{}", export("a"), export("b"));
        let mut all = Vec::new();
        let input = std::io::BufReader::with_capacity(sniff::HEAD, text.as_bytes());
        let reading = read(input, &StateMap::default(), &mut |event| all.push(event.state.to_string()));
        assert_eq!((all, reading.damage.count()), (vec!["a".to_owned(), "b".to_owned()], 1));
    }
}
