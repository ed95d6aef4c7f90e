//! Writes one line of `trace.jsonl`, chained to the line before it.

use serde::Serialize;

use super::chain;

/// An event that is recorded. What is `None` or empty has no key.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct NewEvent {
    /// When, in RFC 3339.
    pub timestamp: String,
    /// The state.
    pub state: String,
    /// A word of the status table.
    pub status: String,
    /// A label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// Who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// What wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub producer: Option<String>,
    /// The deployment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment_id: Option<String>,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Text for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Names of artifacts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

#[derive(Serialize)]
struct Linked<'a> {
    #[serde(flatten)]
    event: &'a NewEvent,
    prev: String,
}

impl NewEvent {
    /// The event as one line with its line break, linked to what the line before it holds: nothing at the beginning of a file.
    #[must_use]
    pub fn line(&self, before: &[u8]) -> String {
        let linked = Linked { event: self, prev: chain::link(before) };
        // Texts and lists of texts always serialize.
        let mut line = serde_json::to_string(&linked).unwrap_or_default();
        line.push('\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_record_whatever_is_in_it() {
        let event = NewEvent {
            state: "a\n\"b".to_owned(),
            status: "completed".to_owned(),
            evidence: vec!["x".to_owned()],
            ..NewEvent::default()
        };
        let line = event.line(b"before");
        assert_eq!(line.matches('\n').count(), 1);
        let read = crate::json::parse(line.as_bytes()).unwrap();
        assert_eq!((&read["state"], &read[chain::KEY]), (&"a\n\"b".into(), &chain::link(b"before").into()));
        assert!(read.get("message").is_none());
    }
}
