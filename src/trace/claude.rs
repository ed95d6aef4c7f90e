//! Session lines of Claude Code: `~/.claude/projects/<project>/<session>.jsonl`.
//!
//! An assistant's message holds `tool_use` blocks, and a later user's message the `tool_result` block of the same id. The
//! format is not published; the fields are those of the sessions that it writes. A tool is a state only where the state map
//! has its name. A skill is named by the skill, and an agent by its kind.

use std::io::BufRead;

use serde_json::Value;

use super::harness::{self, Happening, Log, Subject};
use super::state_map::StateMap;
use super::{Event, Proof, Reading, Status};
use crate::json;

const LOG: Log = Log { actor: "claude-code", tell };

/// Reads a file to its end, whatever is in it, and hands each event on.
pub fn read(input: impl BufRead, states: &StateMap, sink: &mut dyn FnMut(Event<'_>)) -> Reading {
    harness::read(&LOG, input, states, sink)
}

/// A record as only this format has it.
pub(super) fn is_record(record: &Value) -> bool {
    let typed = json::text(record, "type").is_some() && json::text(record, "sessionId").is_some();
    typed && (record.get("message").is_some_and(Value::is_object) || json::text(record, "uuid").is_some())
}

fn tell<'r>(record: &'r Value, told: &mut Vec<Happening<'r>>) -> Result<(), String> {
    if record.get("isApiErrorMessage") == Some(&Value::Bool(true)) {
        told.push(Happening::new(Subject::Session, Status::Error));
    }
    let content = record.get("message").and_then(|message| message.get("content")).and_then(Value::as_array);
    for block in content.into_iter().flatten() {
        match json::text(block, "type") {
            Some("tool_use") => {
                let name = name(block)?;
                let call = json::text(block, "id");
                // The result of a skill is its text: that it was loaded, not that it was followed to its end.
                let skill = json::text(block, "name") == Some("Skill");
                let proof = if skill { Proof::Invoked } else { Proof::Ended };
                told.push(Happening {
                    call,
                    proof,
                    ..Happening::new(Subject::Mapped(name), Status::Started)
                });
            }
            Some("tool_result") => {
                let Some(id) = json::text(block, "tool_use_id") else {
                    return Err("a tool_result block without a tool_use_id".to_owned());
                };
                let status = match json::present(block, "is_error") {
                    None | Some(Value::Bool(false)) => Status::Completed,
                    Some(Value::Bool(true)) => Status::Failed,
                    Some(_) => Status::Unknown,
                };
                let mut happening = Happening::new(Subject::Call(id), status);
                happening.message = json::text(block, "content").map(str::to_owned);
                happening.call = Some(id);
                told.push(happening);
            }
            _ => {}
        }
    }
    Ok(())
}

/// The name of what is used: the skill's, the agent's kind, else the tool's.
///
/// # Errors
/// It has none.
fn name(block: &Value) -> Result<&str, String> {
    let text = |object, key| json::text(object, key).filter(|name| !name.is_empty());
    let Some(tool) = text(block, "name") else { return Err("a tool_use block without a name".to_owned()) };
    let input = block.get("input").unwrap_or(&Value::Null);
    let inner = match tool {
        "Skill" => text(input, "skill").or_else(|| text(input, "command")),
        "Task" | "Agent" => text(input, "subagent_type"),
        _ => return Ok(tool),
    };
    inner.ok_or_else(|| format!("a tool_use block of {tool} that does not say which"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_skills_and_agents_that_are_mapped_become_states() {
        let text = r#"{"type":"summary","summary":"x","leafUuid":"1"}
{"type":"user","sessionId":"s","timestamp":"2026-10-05T12:00:00Z","message":{"role":"user","content":"deploy"}}
{"type":"assistant","sessionId":"s","message":{"role":"assistant","content":[{"type":"text","text":"now"},{"type":"tool_use","id":"1","name":"Skill","input":{"skill":"azure-security-analyzer"}},{"type":"tool_use","id":"2","name":"Bash","input":{}}]}}
{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"2","content":"ok"},{"type":"tool_result","tool_use_id":"1","is_error":true,"content":"blocked"}]}}
{"type":"assistant","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"3","name":"Task","input":{"subagent_type":"azure-resource-deployer"}}]}}
{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"3","content":[{"type":"text","text":"done"}]}]}}
{"type":"assistant","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"4"}]}}
{"type":"assistant","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"5","name":"Skill","input":{}}]}}
{"type":"assistant","sessionId":"s","isApiErrorMessage":true,"message":{"role":"assistant","content":[{"type":"text","text":"API Error"}]}}
{"type":"assistant","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"6","name":"Skill","input":{"skill":"git-ape:azure-security-analyzer"}}]}}
{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"6","content":"read this"}]}}
"#;
        let mut events = Vec::new();
        let map = StateMap::default();
        let reading = read(text.as_bytes(), &map, &mut |e| {
            events.push(format!("{} {} {:?} {:?}", e.state, e.status.word(), e.proof, e.message.as_deref()));
        });
        assert_eq!(
            events,
            [
                "security_gate_evaluated started Invoked None",
                "security_gate_evaluated failed Invoked Some(\"blocked\")",
                "deployment_executed started Ended None",
                "deployment_executed completed Ended None",
                "error error Ended None",
                "security_gate_evaluated started Invoked None",
                "security_gate_evaluated completed Invoked Some(\"read this\")",
            ]
        );
        assert_eq!((reading.passed_over, reading.damage.count()), (2, 2));
    }
}
