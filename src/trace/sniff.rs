//! Which format a trace is in: by what stands in it, not by its name.

use serde_json::Value;

use super::{TraceFormat, git_ape, record};
use crate::json;

/// How many bytes of a file's beginning [`sniff`] wants to see.
pub const HEAD: usize = 64 << 10;

/// Tells the format from the beginning of a file. What nothing speaks against is `trace.jsonl`, whose reader
/// reports every line that it cannot read.
#[must_use]
pub fn sniff(head: &[u8]) -> TraceFormat {
    let text = String::from_utf8_lossy(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head));
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(LINES);
    let mut records =
        lines.filter_map(|line| json::parse(line.as_bytes()).ok()).filter(Value::is_object).peekable();
    if records.peek().is_none() {
        // No record a line: a document over many lines, or one whose first line goes beyond the head.
        return of_document(&text);
    }
    let records: Vec<Value> = records.collect();
    // With a state it is an event of `trace.jsonl`, whatever unknown keys or foreign records stand beside it.
    let has_state =
        |record: &Value| record::STATE_NAMES.iter().any(|name| json::present(record, name).is_some());
    if records.iter().any(has_state) {
        return TraceFormat::GitApeJsonl;
    }
    records.iter().find_map(of_record).unwrap_or(TraceFormat::GitApeJsonl)
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
    let typed = json::text(record, "type").is_some_and(|kind| !kind.is_empty());
    (typed && record.get("data").is_some_and(Value::is_object)).then_some(TraceFormat::CopilotEvents)
}

fn of_document(text: &str) -> TraceFormat {
    if !text.trim_start().starts_with('{') {
        return TraceFormat::GitApeJsonl;
    }
    // The document's own keys come before anything that an event could quote, in all that write these formats.
    let quoted = format!("\"{}", git_ape::SCHEMA_FAMILY);
    let git_ape = text.find(&quoted);
    let otlp = [text.find("\"resourceSpans\""), text.find("\"resource_spans\"")].into_iter().flatten().min();
    match (git_ape, otlp) {
        (Some(git_ape), Some(otlp)) if otlp < git_ape => TraceFormat::Otlp,
        (Some(_), _) => TraceFormat::GitApeV1,
        (None, Some(_)) => TraceFormat::Otlp,
        (None, None) => TraceFormat::GitApeJsonl,
    }
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
            ("{\n \"resource_spans\": [\n", TraceFormat::Otlp),
            ("{\"schemaVersion\":\"git-ape-execution-trace/v1\"}", TraceFormat::GitApeV1),
            ("\u{feff}{\n\"schemaVersion\": \"git-ape-execution-trace/v2\",", TraceFormat::GitApeV1),
        ] {
            assert_eq!(sniff(head.as_bytes()), format, "{head}");
        }
    }
}
