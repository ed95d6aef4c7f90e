//! A model as `dominator-model.json`, in the format that [`dominator`](super::dominator) reads.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Number, Value};

use super::Model;
use crate::escape;
use crate::json;
use crate::trace::Stage;

/// The version that is written.
const VERSION: &str = "1.0";

/// What a model's file says of how it came about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Origin {
    /// The names of the traces, and the digests of their bytes.
    pub from: Vec<(String, String)>,
    /// When, in RFC 3339.
    pub at: String,
    /// Labels of the states.
    pub labels: BTreeMap<String, Stage<'static>>,
}

impl Origin {
    /// What a model's file says; what it does not say, or says in a way that is not ours, is absent.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let Ok(document) = json::parse(bytes) else { return Self::default() };
        let items = |key: &str| json::present(&document, key).and_then(Value::as_array).into_iter().flatten();
        let digests = json::present(&document, "generated_from_digests");
        let digest = |name: &str| digests.and_then(|digests| json::text(digests, name)).unwrap_or_default();
        let from = items("generated_from")
            .filter_map(Value::as_str)
            .map(|name| (name.to_owned(), digest(name).to_owned()));
        let label = |state: &Value| {
            let stage = match json::present(state, "stage")? {
                Value::Number(number) => Stage::Number(number.as_f64()?),
                Value::String(name) => Stage::Name(name.clone().into()),
                Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
            };
            Some((json::text(state, "id")?.to_owned(), stage))
        };
        Self {
            from: from.collect(),
            at: json::text(&document, "generated_at").unwrap_or_default().to_owned(),
            labels: items("essential_states").filter_map(label).collect(),
        }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    version: &'static str,
    generated_from: Vec<&'a str>,
    generated_from_digests: BTreeMap<&'a str, &'a str>,
    generated_at: &'a str,
    essential_states: Vec<Essential<'a>>,
    optional_states: Vec<&'a str>,
    coverage_threshold: Number,
    #[serde(skip_serializing_if = "Option::is_none")]
    terminal_state: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    open_ended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    deployment_state: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_states: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeatable_states: Option<&'a [String]>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    evidence: BTreeMap<&'a str, &'a [String]>,
}

#[derive(Serialize)]
struct Essential<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<Value>,
    dominates: Vec<&'a str>,
}

/// A number as JSON: whole where it is.
#[must_use]
pub fn number(number: f64) -> Number {
    #[allow(clippy::cast_possible_truncation)]
    let whole = number as i64;
    #[allow(clippy::float_cmp, clippy::cast_precision_loss)]
    let is_whole = whole as f64 == number;
    if is_whole { whole.into() } else { Number::from_f64(number).unwrap_or_else(|| whole.into()) }
}

/// The file. The same model and origin give the same bytes. Characters that a terminal obeys are escaped, which is the same
/// JSON.
#[must_use]
pub fn write(model: &Model, origin: &Origin) -> String {
    let essential = |state: usize| {
        let mut after = model.directly_after(state);
        // A deployment that is optional has guards all the same.
        let deployment = model.deployment().filter(|deployment| !model.is_essential(*deployment));
        after.extend(deployment.filter(|deployment| model.directly_before(*deployment).contains(&state)));
        Essential {
            id: model.name(state),
            stage: origin.labels.get(model.name(state)).map(|stage| match stage {
                Stage::Number(value) => Value::Number(number(*value)),
                Stage::Name(name) => Value::String(name.to_string()),
            }),
            dominates: after.into_iter().map(|state| model.name(state)).collect(),
        }
    };
    let document = Document {
        version: VERSION,
        generated_from: origin.from.iter().map(|(name, _)| name.as_str()).collect(),
        generated_from_digests: origin
            .from
            .iter()
            .filter(|(_, digest)| !digest.is_empty())
            .map(|(name, digest)| (name.as_str(), digest.as_str()))
            .collect(),
        generated_at: &origin.at,
        essential_states: (0..model.essential()).map(essential).collect(),
        optional_states: model.optional_names().collect(),
        coverage_threshold: number(model.threshold().percent()),
        terminal_state: model.terminal().map(|state| model.name(state)),
        open_ended: model.is_open_ended(),
        deployment_state: model.deployment().map(|state| model.name(state)),
        artifact_states: model.named_artifacts(),
        repeatable_states: model.named_repeatable(),
        evidence: model.evidence().collect(),
    };
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    format!("{}\n", escape::json(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::dominator;

    #[test]
    fn what_is_written_is_read_as_the_same_model() {
        for text in [
            r#"{"essential_states":["a","b"]}"#,
            r#"{"essential_states":["a","b"],"open_ended":true}"#,
            r#"{"essential_states":[{"id":"a","dominates":["b","c"]},{"id":"b"},{"id":"c"}],"optional_states":["o"],"coverage_threshold":66.5,
                "artifact_states":["a"],"repeatable_states":["b"],"evidence":{"c":["f"]},"terminal_state":"b"}"#,
            r#"{"essential_states":[{"id":"gate","dominates":["deployment_executed"]},{"id":"b"}],"optional_states":["deployment_executed"]}"#,
            r#"{"essential_states":[{"id":"a","dominates":[]},{"id":"b"}]}"#,
        ] {
            let model = dominator::parse(text.as_bytes()).unwrap();
            let origin = Origin {
                from: vec![("t".to_owned(), "sha256:00".to_owned())],
                at: "2026-10-01T09:00:00Z".to_owned(),
                labels: BTreeMap::from([("a".to_owned(), Stage::Number(2.5))]),
            };
            let written = write(&model, &origin);
            assert_eq!(dominator::parse(written.as_bytes()).unwrap(), model, "{written}");
            let labelled = model.find("a").is_some();
            let read = Origin::read(written.as_bytes());
            assert_eq!((read.from, read.at, !read.labels.is_empty()), (origin.from, origin.at, labelled));
        }
    }
}
