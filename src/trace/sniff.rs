//! Which format a trace is in: by what stands in it, not by its name.

use serde_json::Value;

use super::{TraceFormat, claude, codex, git_ape, record};
use crate::json;

/// How many bytes of a file's beginning [`sniff`] wants to see.
pub const HEAD: usize = 64 << 10;

/// Tells the format from the beginning of a file. `None` where nothing in it tells: then its name may, and what has no
/// telling name either is `trace.jsonl`, whose reader reports every line that it cannot read.
#[must_use]
pub fn sniff(head: &[u8]) -> Option<TraceFormat> {
    let text = String::from_utf8_lossy(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head));
    let mut at = 0;
    let whole_lines = text.split_inclusive('\n').take(LINES).filter_map(|line| {
        let start = at;
        at += line.len();
        let record = json::parse(line.trim().as_bytes()).ok().filter(Value::is_object);
        (!line.trim().is_empty()).then_some((start, record))
    });
    let lines: Vec<(usize, Option<Value>)> = whole_lines.collect();
    let has_state =
        |record: &Value| record::STATE_NAMES.iter().any(|name| json::present(record, name).is_some());
    let records = || lines.iter().filter_map(|(start, record)| Some((*start, record.as_ref()?)));
    let state = records().find(|(_, record)| has_state(record)).map(|(start, _)| start);
    let first_is_whole = lines.first().is_some_and(|(_, record)| record.is_some());
    if !first_is_whole {
        // A document over many lines, or one whose first line goes beyond the head. An event on a line of its own says
        // nothing against that, as long as the document's own key comes before it.
        let document = of_document(&text).filter(|(key, _)| state.is_none_or(|state| *key < state));
        if let Some((_, format)) = document {
            return Some(format);
        }
    }
    if state.is_some() {
        // An event of `trace.jsonl`, whatever unknown keys or foreign records stand beside it.
        return Some(TraceFormat::GitApeJsonl);
    }
    records().find_map(|(_, record)| of_record(record))
}

/// Lines of the head that are looked at.
const LINES: usize = 50;

fn of_record(record: &Value) -> Option<TraceFormat> {
    let schema = json::text(record, "schemaVersion").unwrap_or("");
    if schema.starts_with(git_ape::SCHEMA_FAMILY) {
        return Some(TraceFormat::GitApeV1);
    }
    if record.get("resourceSpans").or_else(|| record.get("resource_spans")).is_some_and(Value::is_array) {
        return Some(TraceFormat::Otlp);
    }
    if claude::is_record(record) {
        return Some(TraceFormat::ClaudeCode);
    }
    if codex::is_record(record) {
        return Some(TraceFormat::Codex);
    }
    let typed = json::text(record, "type").is_some_and(|kind| !kind.is_empty());
    (typed && record.get("data").is_some_and(Value::is_object)).then_some(TraceFormat::CopilotEvents)
}

/// Where the key stands that tells the format of a document.
fn of_document(text: &str) -> Option<(usize, TraceFormat)> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    // The document's own keys come before anything that an event could quote, in all that write these formats.
    let quoted = format!("\"{}", git_ape::SCHEMA_FAMILY);
    let keys = [
        (text.find(&quoted), TraceFormat::GitApeV1),
        (text.find("\"resourceSpans\""), TraceFormat::Otlp),
        (text.find("\"resource_spans\""), TraceFormat::Otlp),
        // A record that goes beyond the head: a long prompt, say. Within a text the quotes would be escaped.
        (both(text, "\"sessionId\"", "\"message\""), TraceFormat::ClaudeCode),
        (both(text, "\"session_meta\"", "\"payload\""), TraceFormat::Codex),
        (both(text, "\"response_item\"", "\"payload\""), TraceFormat::Codex),
    ];
    keys.into_iter().filter_map(|(key, format)| Some((key?, format))).min_by_key(|(key, _)| *key)
}

/// Where the first of two keys stands, if both are there.
fn both(text: &str, one: &str, other: &str) -> Option<usize> {
    Some(text.find(one)?.min(text.find(other)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_content() {
        for (head, format) in [
            ("", TraceFormat::GitApeJsonl),
            ("### log ###\n", TraceFormat::GitApeJsonl),
            ("{\"state\":\"a\"}\n", TraceFormat::GitApeJsonl),
            ("{\"state\":\"a\",\"type\":\"x\",\"data\":{}}\n", TraceFormat::GitApeJsonl),
            ("{\"name\":\"a\",\"type\":\"x\",\"data\":{},\"resourceSpans\":[]}\n", TraceFormat::GitApeJsonl),
            ("{\"torn\n{\"state\":\"a\",\"x\":\"git-ape-execution-trace/v1\"}\n", TraceFormat::GitApeJsonl),
            ("{\"torn\n{\"type\":\"session.start\",\"data\":{}}\n", TraceFormat::CopilotEvents),
            ("{\"type\":\"note\",\"data\":{}}\n{\"state\":\"a\"}\n", TraceFormat::GitApeJsonl),
            ("{\"resourceSpans\":[]}\n{\"node\":\"a\"}\n", TraceFormat::GitApeJsonl),
            ("{\"type\":\"session.start\",\"data\":{}}\n", TraceFormat::CopilotEvents),
            ("{\"x\":1}\n{\"type\":\"skill.invoked\",\"data\":{}}\n", TraceFormat::CopilotEvents),
            ("{\"resourceSpans\":[]}\n", TraceFormat::Otlp),
            ("{\"type\":\"user\",\"sessionId\":\"s\",\"message\":{}}\n", TraceFormat::ClaudeCode),
            (
                "{\"type\":\"summary\"}\n{\"type\":\"assistant\",\"sessionId\":\"s\",\"message\":{}}\n",
                TraceFormat::ClaudeCode,
            ),
            (
                "{\"parentUuid\":null,\"sessionId\":\"s\",\"type\":\"user\",\"message\":{\"content\":\"long",
                TraceFormat::ClaudeCode,
            ),
            ("{\"type\":\"progress\",\"sessionId\":\"s\",\"uuid\":\"u\"}\n", TraceFormat::ClaudeCode),
            (
                "{\"timestamp\":\"x\",\"type\":\"session_meta\",\"payload\":{\"instructions\":\"long",
                TraceFormat::Codex,
            ),
            ("{\"message\":\"quoted \\\"sessionId\\\" long", TraceFormat::GitApeJsonl),
            ("{\"type\":\"session_meta\",\"payload\":{\"id\":\"s\"}}\n", TraceFormat::Codex),
            ("{\n \"resource_spans\": [\n", TraceFormat::Otlp),
            ("{\"schemaVersion\":\"git-ape-execution-trace/v1\"}", TraceFormat::GitApeV1),
            (
                "{\n\"schemaVersion\": \"git-ape-execution-trace/v1\",\n\"events\": [\n{\"type\":\"node\",\"node\":\"a\"}\n]}",
                TraceFormat::GitApeV1,
            ),
            ("\u{feff}{\n\"schemaVersion\": \"git-ape-execution-trace/v2\",", TraceFormat::GitApeV1),
        ] {
            assert_eq!(sniff(head.as_bytes()).unwrap_or(TraceFormat::GitApeJsonl), format, "{head}");
        }
    }
}
