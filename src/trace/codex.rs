//! Rollouts of Codex: `~/.codex/sessions/…/rollout-*.jsonl`.
//!
//! `response_item` records hold `function_call`s and their outputs, which share a `call_id`; `event_msg` records say how
//! commands and tools of servers ended (openai/codex, `codex-rs/protocol`). A tool is a state only where the state map has its
//! name.

use std::io::BufRead;

use serde_json::Value;

use super::harness::{self, Happening, Log, Subject, first_text};
use super::state_map::StateMap;
use super::{Event, Proof, Reading, Status};
use crate::json;

const LOG: Log = Log { actor: "codex", tell };

/// Lines of an output in which an exit code is looked for.
const HEAD_LINES: usize = 5;

/// Types of records that only this format has.
const TYPES: [&str; 4] = ["session_meta", "response_item", "event_msg", "turn_context"];

/// Reads a file to its end, whatever is in it, and hands each event on.
pub fn read(input: impl BufRead, states: &StateMap, sink: &mut dyn FnMut(Event<'_>)) -> Reading {
    harness::read(&LOG, input, states, sink)
}

/// A record as only this format has it.
pub(super) fn is_record(record: &Value) -> bool {
    let typed = json::text(record, "type").is_some_and(|kind| TYPES.contains(&kind));
    typed && record.get("payload").is_some_and(Value::is_object)
}

fn tell<'r>(record: &'r Value, told: &mut Vec<Happening<'r>>) -> Result<(), String> {
    let Some(payload) = record.get("payload") else {
        let item = json::text(record, "type").filter(|kind| TYPES.contains(kind));
        return item.map_or(Ok(()), |kind| Err(format!("a {kind} record without a payload")));
    };
    let kind = json::text(payload, "type").unwrap_or_default();
    let id = json::text(payload, "call_id").or_else(|| json::text(payload, "id"));
    match (json::text(record, "type").unwrap_or_default(), kind) {
        ("response_item", "function_call" | "custom_tool_call") => {
            let Some(name) = json::text(payload, "name").filter(|name| !name.is_empty()) else {
                return Err(format!("a {kind} record without a name"));
            };
            told.push(Happening { call: id, ..Happening::new(Subject::Mapped(name), Status::Started) });
        }
        ("response_item", "function_call_output" | "custom_tool_call_output") => {
            let Some(id) = id else { return Err(format!("a {kind} record without a call_id")) };
            let (status, proof, message) = output(payload.get("output").unwrap_or(&Value::Null));
            told.push(Happening {
                call: Some(id),
                proof,
                message,
                ..Happening::new(Subject::Call(id), status)
            });
        }
        ("event_msg", "error" | "turn_aborted") => {
            let message = first_text([json::text(payload, "message"), json::text(payload, "reason")]);
            told.push(Happening { message, ..Happening::new(Subject::Session, Status::Error) });
        }
        _ => {}
    }
    Ok(())
}

/// The exit code that stands in a line of its own at the head of a text, as shells report it.
fn written_exit_code(text: &str) -> Option<i64> {
    let code = |line: &str| {
        let marks = ["Exit code: ", "Process exited with code "];
        marks.iter().find_map(|mark| line.trim().strip_prefix(mark))?.trim().parse().ok()
    };
    text.lines().take(HEAD_LINES).find_map(code)
}

/// What an output says of its call: an object with `success`, or a text with the exit code, as JSON or in a line of its own.
/// One that says nothing proves only that there was a call.
fn output(output: &Value) -> (Status, Proof, Option<String>) {
    let inner = output.as_str().and_then(|text| json::parse(text.as_bytes()).ok()).filter(Value::is_object);
    let object = inner.as_ref().unwrap_or(output);
    let metadata = object.get("metadata").and_then(|metadata| metadata.get("exit_code"));
    let exit_code = metadata.and_then(Value::as_i64).or_else(|| output.as_str().and_then(written_exit_code));
    let status = match (json::present(object, "success"), exit_code) {
        (Some(Value::Bool(false)), _) => Status::Failed,
        (_, Some(code)) if code != 0 => Status::Failed,
        (Some(Value::Bool(true)) | None, _) => Status::Completed,
        (Some(_), _) => Status::Unknown,
    };
    let texts = [json::text(object, "output"), json::text(object, "content"), output.as_str()];
    let says = json::present(object, "success").is_some() || exit_code.is_some();
    let proof = if says { Proof::Ended } else { Proof::Invoked };
    (status, proof, first_text(texts).filter(|_| status != Status::Completed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_are_mapped_become_states_and_their_outputs_say_how_they_ended() {
        let text = r#"{"timestamp":"2026-10-05T12:00:00Z","type":"session_meta","payload":{"id":"s"}}
{"type":"response_item","payload":{"type":"function_call","name":"scan","arguments":"{}","call_id":"1"}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"2"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"2","output":"{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":"{\"output\":\"high\",\"metadata\":{\"exit_code\":3}}"}}
{"type":"response_item","payload":{"type":"custom_tool_call","name":"scan","call_id":"3","input":""}}
{"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"3","output":"fine"}}
{"type":"response_item","payload":{"type":"function_call","name":"scan","call_id":"4"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"4","output":{"content":"no","success":false}}}
{"type":"response_item","payload":{"type":"function_call","name":"scan","call_id":"5"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"5","output":"Exit code: 1\nWall time: 1 seconds\nOutput:\nhigh"}}
{"type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}
{"type":"response_item","payload":{"type":"function_call_output","output":"?"}}
"#;
        let map = StateMap::parse(br#"{"scan":"gate"}"#).unwrap();
        let mut events = Vec::new();
        let reading = read(text.as_bytes(), &map, &mut |e| {
            events.push(format!("{} {} {:?}", e.state, e.status.word(), e.message.as_deref()));
        });
        assert_eq!(
            events,
            [
                "gate started None",
                "gate failed Some(\"high\")",
                "gate started None",
                "gate completed None",
                "gate started None",
                "gate failed Some(\"no\")",
                "gate started None",
                "gate failed Some(\"Exit code: 1\\nWall time: 1 seconds\\nOutput:\\nhigh\")",
                "error error Some(\"interrupted\")",
            ]
        );
        assert_eq!((reading.passed_over, reading.damage.count()), (3, 1));
    }
}
