//! `events.jsonl` of the Copilot CLI and SDK (event types: github/copilot-sdk).

use std::io::BufRead;

use serde_json::Value;

use super::harness::{self, Happening, Log, Subject, first_text};
use super::state_map::StateMap;
use super::{Event, Proof, Reading, Status};
use crate::json;

const LOG: Log = Log { actor: "copilot", tell };

/// Reads a file to its end, whatever is in it, and hands each event on.
pub fn read(input: impl BufRead, states: &StateMap, sink: &mut dyn FnMut(Event<'_>)) -> Reading {
    harness::read(&LOG, input, states, sink)
}

/// # Errors
/// The record's type says that a skill or an agent did something, but it does not say which.
fn tell<'r>(record: &'r Value, told: &mut Vec<Happening<'r>>) -> Result<(), String> {
    let data = record.get("data").unwrap_or(&Value::Null);
    let kind = json::text(record, "type").unwrap_or_default();
    let text = |key| json::text(data, key).filter(|text| !text.is_empty());
    let named =
        |key| text(key).map(Subject::Named).ok_or_else(|| format!("a {kind} record without data.{key}"));
    let call = text("toolCallId");
    // The end of a call may give nothing but the id of its start.
    let tool = text("toolName").map(Subject::Named).or(call.map(Subject::Call));
    let (subject, status) = match (kind, tool) {
        ("skill.invoked", _) => (named("name")?, Status::Completed),
        ("subagent.started", _) => (named("agentName")?, Status::Started),
        ("subagent.completed", _) => (named("agentName")?, Status::Completed),
        ("subagent.failed", _) => (named("agentName")?, Status::Failed),
        ("tool.execution_start", Some(tool)) => (tool, Status::Started),
        ("tool.execution_complete", Some(tool)) => (tool, success(data)),
        ("abort" | "session.error" | "model.call_failure", _) => (Subject::Session, Status::Error),
        _ => return Ok(()),
    };
    let mut happening = Happening::new(subject, status);
    if kind == "skill.invoked" {
        // A skill has no end event.
        happening.proof = Proof::Invoked;
    }
    let error = data.get("error").unwrap_or(&Value::Null);
    let texts = [
        json::text(data, "message"),
        json::text(data, "reason"),
        error.as_str(),
        json::text(error, "message"),
    ];
    happening.message = first_text(texts);
    happening.call = call;
    told.push(happening);
    Ok(())
}

fn success(data: &Value) -> Status {
    match json::present(data, "success") {
        Some(Value::Bool(true)) => Status::Completed,
        Some(Value::Bool(false)) => Status::Failed,
        Some(_) => Status::Unknown,
        None if json::present(data, "error").is_some() => Status::Failed,
        None => Status::Completed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> (Vec<String>, Reading) {
        let mut events = Vec::new();
        let map = StateMap::default();
        let reading = read(text.as_bytes(), &map, &mut |e| {
            events.push(format!("{} {} {:?} {:?}", e.state, e.status.word(), e.proof, e.message.as_deref()));
        });
        (events, reading)
    }

    #[test]
    fn skills_agents_and_tools_become_states_and_the_rest_is_counted() {
        let (events, reading) = read_all(
            r#"{"type":"session.start","data":{}}
{"type":"skill.invoked","data":{"name":"azure-security-analyzer"},"timestamp":"2026-10-05T12:00:00Z"}
{"type":"subagent.failed","data":{"agentName":"azure-resource-deployer","error":"quota"}}
{"type":"tool.execution_complete","data":{"toolName":"bash","success":false,"error":{"message":"no"}}}
{"type":"tool.execution_complete","data":{"toolName":"bash","success":true}}
{"type":"session.error","data":{"message":"lost"}}
{"type":"x","type":"y"}
{"state":"security_gate_evaluated","status":"blocked"}
"#,
        );
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
    fn the_end_of_a_call_has_the_name_of_its_start() {
        let (events, reading) = read_all(
            r#"{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"bash"}}
{"type":"tool.execution_start","data":{"toolCallId":"2","toolName":"view"}}
{"type":"tool.execution_complete","data":{"toolCallId":"1","success":false}}
{"type":"tool.execution_complete","data":{"toolCallId":"2","success":true}}
{"type":"tool.execution_complete","data":{"toolCallId":"2","success":true}}
"#,
        );
        let states: Vec<&str> = events.iter().map(|event| event.split(" Ended").next().unwrap()).collect();
        assert_eq!(states, ["bash started", "view started", "bash failed", "view completed"]);
        assert_eq!((reading.passed_over, reading.damage.count()), (1, 0));
    }

    #[test]
    fn a_skill_or_agent_without_its_name_is_not_passed_over_in_silence() {
        let (events, reading) = read_all(
            r#"{"type":"skill.invoked","data":{}}
{"type":"subagent.failed","data":{"agentName":""}}
{"type":"tool.execution_complete","data":{"toolCallId":"call-1","success":true}}
"#,
        );
        let reasons: Vec<&str> = reading.damage.kept().iter().map(|damage| damage.reason.as_str()).collect();
        assert_eq!(
            reasons,
            ["a skill.invoked record without data.name", "a subagent.failed record without data.agentName"]
        );
        assert_eq!((events.len(), reading.passed_over), (0, 1));
    }
}
