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
                    Ok(Some(event)) => sink(event),
                    Ok(None) => passed_over += 1,
                    Err(reason) => reading.damage.push_with(|| Damage { place, reason }),
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

/// The event that a record is. `None` where its type says nothing of states.
///
/// # Errors
/// Its type says that a skill or an agent did something, but it does not say which.
fn event<'a>(record: &'a Value, states: &'a StateMap, place: Place) -> Result<Option<Event<'a>>, String> {
    let data = record.get("data").unwrap_or(&Value::Null);
    let kind = json::text(record, "type").unwrap_or_default();
    let name = |key| json::text(data, key).filter(|name| !name.is_empty()).map(|name| states.state(name));
    let named = |key| name(key).ok_or_else(|| format!("a {kind} record without data.{key}"));
    let (state, status) = match kind {
        "skill.invoked" => (named("name")?, Status::Completed),
        "subagent.started" => (named("agentName")?, Status::Started),
        "subagent.completed" => (named("agentName")?, Status::Completed),
        "subagent.failed" => (named("agentName")?, Status::Failed),
        // A call of a tool may give nothing but the id of its start, and most tools are no states.
        "tool.execution_start" | "tool.execution_complete" if name("toolName").is_none() => return Ok(None),
        "tool.execution_start" => (named("toolName")?, Status::Started),
        "tool.execution_complete" => {
            let status = match json::present(data, "success") {
                Some(Value::Bool(true)) => Status::Completed,
                Some(Value::Bool(false)) => Status::Failed,
                Some(_) => Status::Unknown,
                None if json::present(data, "error").is_some() => Status::Failed,
                None => Status::Completed,
            };
            (named("toolName")?, status)
        }
        "abort" | "session.error" | "model.call_failure" => (ERROR_STATE, Status::Error),
        _ => return Ok(None),
    };
    let mut event = Event::new(state, status, place);
    if kind == "skill.invoked" {
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
    Ok(Some(event))
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

    #[test]
    fn a_skill_or_agent_without_its_name_is_not_passed_over_in_silence() {
        let text = r#"{"type":"skill.invoked","data":{}}
{"type":"subagent.failed","data":{"agentName":""}}
{"type":"tool.execution_complete","data":{"toolCallId":"call-1","success":true}}
"#;
        let map = StateMap::default();
        let reading = read(text.as_bytes(), &map, &mut |event| panic!("{event:?}"));
        let reasons: Vec<&str> = reading.damage.kept().iter().map(|damage| damage.reason.as_str()).collect();
        assert_eq!(
            reasons,
            ["a skill.invoked record without data.name", "a subagent.failed record without data.agentName"]
        );
        assert_eq!(reading.passed_over, 1);
    }
}
