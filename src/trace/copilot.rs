//! `events.jsonl` of the Copilot CLI and SDK (event types: github/copilot-sdk). The harness writes it, not the agent, so
//! that a skill is absent from it is proof that the skill never ran.

use std::io::BufRead;

use serde_json::Value;

use super::state_map::StateMap;
use super::{Damage, ERROR_STATE, Event, Place, Proof, Reading, Status, Time, jsonl};
use crate::json;

/// Reads a file to its end, whatever is in it, and hands each event on.
pub fn read(input: impl BufRead, states: &StateMap, sink: &mut dyn FnMut(Event<'_>)) -> Reading {
    let mut passed_over = 0;
    let mut reading =
        jsonl::each_line(input, &mut |text, place, reading| match json::parse(text.as_bytes()) {
            Ok(record @ Value::Object(_)) if json::text(&record, "type").is_some() => {
                match event(&record, states, place) {
                    Some(event) => sink(event),
                    None => passed_over += 1,
                }
            }
            // An event of another writer in the same file: what it says is not known, so it is not passed over.
            Ok(Value::Object(_)) => {
                reading.damage.push_with(|| Damage { place, reason: "a record without a type".to_owned() });
            }
            Ok(_) => {
                reading.damage.push_with(|| Damage { place, reason: "the line holds no object".to_owned() })
            }
            Err(error) => reading.damage.push_with(|| {
                let offset = place.offset + error.column.saturating_sub(1) as u64;
                Damage { place: Place { offset, ..place }, reason: error.reason }
            }),
        });
    reading.passed_over = passed_over;
    reading
}

fn event<'a>(record: &'a Value, states: &'a StateMap, place: Place) -> Option<Event<'a>> {
    let data = record.get("data").unwrap_or(&Value::Null);
    let name = |key| json::text(data, key).filter(|name| !name.is_empty()).map(|name| states.state(name));
    let (state, status) = match json::text(record, "type")? {
        "skill.invoked" => (name("name")?, Status::Completed),
        "subagent.started" => (name("agentName")?, Status::Started),
        "subagent.completed" => (name("agentName")?, Status::Completed),
        "subagent.failed" => (name("agentName")?, Status::Failed),
        "tool.execution_start" => (name("toolName")?, Status::Started),
        "tool.execution_complete" => {
            let status = match json::present(data, "success") {
                Some(Value::Bool(true)) => Status::Completed,
                Some(Value::Bool(false)) => Status::Failed,
                Some(_) => Status::Unknown,
                None if json::present(data, "error").is_some() => Status::Failed,
                None => Status::Completed,
            };
            (name("toolName")?, status)
        }
        "abort" | "session.error" | "model.call_failure" => (ERROR_STATE, Status::Error),
        _ => return None,
    };
    let mut event = Event::new(state, status, place);
    if json::text(record, "type") == Some("skill.invoked") {
        event.proof = Proof::Invoked;
    }
    event.time = Time::of_value(record.get("timestamp"));
    let error = data.get("error").unwrap_or(&Value::Null);
    let texts = [
        json::text(data, "message"),
        json::text(data, "reason"),
        error.as_str(),
        json::text(error, "message"),
    ];
    event.message = texts.into_iter().flatten().next().map(Into::into);
    event.actor = Some("copilot".into());
    Some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skills_agents_and_tools_become_states_and_the_rest_is_counted() {
        let text = r#"{"type":"session.start","data":{}}
{"type":"skill.invoked","data":{"name":"azure-security-analyzer"},"timestamp":"2026-10-05T12:00:00Z"}
{"type":"subagent.failed","data":{"agentName":"azure-resource-deployer","error":"quota"}}
{"type":"tool.execution_complete","data":{"toolName":"bash","success":false,"error":{"message":"no"}}}
{"type":"tool.execution_complete","data":{"toolName":"bash","success":true}}
{"type":"session.error","data":{"message":"lost"}}
{"type":"x","type":"y"}
{"state":"security_gate_evaluated","status":"blocked"}
"#;
        let mut events = Vec::new();
        let map = StateMap::default();
        let reading = read(text.as_bytes(), &map, &mut |e| {
            events.push(format!("{} {} {:?} {:?}", e.state, e.status.word(), e.proof, e.message.as_deref()));
        });
        assert_eq!(
            events,
            [
                "security_gate_evaluated completed Invoked None",
                "deployment_executed failed Ended Some(\"quota\")",
                "bash failed Ended Some(\"no\")",
                "bash completed Ended None",
                "error error Ended Some(\"lost\")",
            ]
        );
        assert_eq!((reading.passed_over, reading.damage.count()), (1, 2));
    }
}
