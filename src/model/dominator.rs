//! `dominator-model.json`: the essential states of a kind of process, learned or written. Format: `docs/model-format.md`.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::{Draft, Model, ModelError, Threshold};
use crate::json;

/// The newest major version that is read.
const MAJOR: u64 = 1;

/// Reads a model.
///
/// # Errors
/// What is wrong, with a JSON pointer to it.
pub fn parse(bytes: &[u8]) -> Result<Model, ModelError> {
    let document = json::parse(bytes).map_err(|error| ModelError::new("", error.to_string()))?;
    if !document.is_object() {
        return Err(ModelError::new("", "a model is an object"));
    }
    check_version(&document)?;
    let (key, list) = ["essential_states", "essential_states_fallback"]
        .into_iter()
        .find_map(|key| json::present(&document, key).map(|list| (key, list)))
        .ok_or_else(|| ModelError::new("/essential_states", "the model has no essential states"))?;
    let Value::Array(list) = list else {
        return Err(ModelError::new(format!("/{key}"), "not an array"));
    };
    if list.is_empty() {
        return Err(ModelError::new(format!("/{key}"), "the model has no essential state"));
    }
    let optional = strings(&document, "optional_states")?.unwrap_or_default();
    let essential = names(key, list)?;
    let edges = order(key, list, &essential, &optional)?;
    let draft = Draft {
        threshold: threshold(&document)?,
        terminal: name(&document, "terminal_state")?,
        open_ended: flag(&document, "open_ended")?,
        deployment: name(&document, "deployment_state")?,
        artifacts: strings(&document, "artifact_states")?,
        repeatable: strings(&document, "repeatable_states")?,
        evidence: evidence(&document)?,
        essential,
        optional,
        edges,
    };
    let draft_edges = draft.edges.clone();
    let model = Model::build(draft)?;
    // In a cycle, states that are directly in order end up without one.
    for (a, b) in draft_edges {
        if let (Some(a), Some(b)) = (model.find(&a), model.find(&b))
            && !model.precedes(a, b)
        {
            let at = a.min(model.essential());
            let reason = format!("`{}` and `{}` each come before the other", model.name(a), model.name(b));
            return Err(ModelError::new(format!("/{key}/{at}/dominates"), reason));
        }
    }
    Ok(model)
}

fn check_version(document: &Value) -> Result<(), ModelError> {
    let version = match json::present(document, "version") {
        Some(Value::String(text)) => text.trim().trim_start_matches(['v', 'V']).to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => return Ok(()),
    };
    // A version that is no number is nobody's newer one.
    match version.split('.').next().map(str::parse::<u64>) {
        Some(Ok(major)) if major > MAJOR => {
            Err(ModelError::new("/version", format!("version {version} is newer than {MAJOR}.x")))
        }
        Some(_) | None => Ok(()),
    }
}

fn names(key: &str, list: &[Value]) -> Result<Vec<String>, ModelError> {
    let mut names = Vec::with_capacity(list.len());
    let mut seen = HashSet::new();
    for (at, entry) in list.iter().enumerate() {
        let (pointer, id) = match entry {
            Value::String(id) => (format!("/{key}/{at}"), Some(id.as_str())),
            Value::Object(_) => (format!("/{key}/{at}/id"), json::text(entry, "id")),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                (format!("/{key}/{at}"), None)
            }
        };
        let Some(id) = id.filter(|id| !id.is_empty()) else {
            return Err(ModelError::new(pointer, "an essential state needs a non-empty id"));
        };
        if !seen.insert(id) {
            return Err(ModelError::new(pointer, format!("`{id}` is there twice")));
        }
        names.push(id.to_owned());
    }
    Ok(names)
}

fn order(
    key: &str,
    list: &[Value],
    essential: &[String],
    optional: &[String],
) -> Result<Vec<(String, String)>, ModelError> {
    if !list.iter().any(|entry| json::present(entry, "dominates").is_some()) {
        return Ok(essential.iter().cloned().zip(essential.iter().skip(1).cloned()).collect());
    }
    let essential_names: HashSet<&str> = essential.iter().map(String::as_str).collect();
    let optional_names: HashSet<&str> = optional.iter().map(String::as_str).collect();
    let mut edges = Vec::new();
    for (at, (entry, id)) in list.iter().zip(essential).enumerate() {
        let pointer = format!("/{key}/{at}/dominates");
        let after = match json::present(entry, "dominates") {
            None => continue,
            Some(Value::Array(after)) => after,
            Some(_) => return Err(ModelError::new(pointer, "not an array")),
        };
        for (nth, name) in after.iter().enumerate() {
            match name.as_str() {
                Some(name) if name == id => {
                    return Err(ModelError::new(
                        format!("{pointer}/{nth}"),
                        format!("`{id}` comes before itself"),
                    ));
                }
                // An optional state is bound by no order, but one that is the deployment has guards.
                Some(name) if essential_names.contains(name) || optional_names.contains(name) => {
                    edges.push((id.clone(), name.to_owned()));
                }
                Some(name) => {
                    let reason = format!("`{name}` is no state of the model");
                    return Err(ModelError::new(format!("{pointer}/{nth}"), reason));
                }
                None => return Err(ModelError::new(format!("{pointer}/{nth}"), "not a name")),
            }
        }
    }
    Ok(edges)
}

fn threshold(document: &Value) -> Result<Option<Threshold>, ModelError> {
    match json::present(document, "coverage_threshold") {
        None => Ok(None),
        Some(value) => match value.as_f64().and_then(Threshold::of_percent) {
            Some(threshold) => Ok(Some(threshold)),
            None => Err(ModelError::new("/coverage_threshold", "the threshold is no number from 1 to 100")),
        },
    }
}

fn name(document: &Value, key: &str) -> Result<Option<String>, ModelError> {
    match json::present(document, key) {
        None => Ok(None),
        Some(Value::String(name)) => Ok(Some(name.clone())),
        Some(_) => Err(ModelError::new(format!("/{key}"), "not a name")),
    }
}

fn flag(document: &Value, key: &str) -> Result<bool, ModelError> {
    match json::present(document, key) {
        None => Ok(false),
        Some(Value::Bool(is)) => Ok(*is),
        Some(_) => Err(ModelError::new(format!("/{key}"), "neither true nor false")),
    }
}

fn list_of_names(value: &Value, pointer: &str) -> Result<Vec<String>, ModelError> {
    let Value::Array(list) = value else { return Err(ModelError::new(pointer, "not an array")) };
    let name = |(at, value): (usize, &Value)| match value.as_str() {
        Some(name) if !name.is_empty() => Ok(name.to_owned()),
        _ => Err(ModelError::new(format!("{pointer}/{at}"), "not a name")),
    };
    list.iter().enumerate().map(name).collect()
}

fn strings(document: &Value, key: &str) -> Result<Option<Vec<String>>, ModelError> {
    json::present(document, key).map(|list| list_of_names(list, &format!("/{key}"))).transpose()
}

fn evidence(document: &Value) -> Result<BTreeMap<String, Vec<String>>, ModelError> {
    let entries = match json::present(document, "evidence") {
        None => return Ok(BTreeMap::new()),
        Some(Value::Object(entries)) => entries,
        Some(_) => return Err(ModelError::new("/evidence", "not an object: state → files")),
    };
    let mut evidence = BTreeMap::new();
    for (state, files) in entries.iter().filter(|(_, files)| !files.is_null()) {
        let pointer = format!("/evidence/{}", state.replace('~', "~0").replace('/', "~1"));
        evidence.insert(state.clone(), list_of_names(files, &pointer)?);
    }
    Ok(evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_dominates_the_array_is_a_chain_and_with_it_only_what_it_lists_is_order() {
        let chain = parse(br#"{"essential_states":["a",{"id":"b","dominates":null},"c"]}"#).unwrap();
        assert!(chain.precedes(0, 2) && chain.precedes(1, 2) && !chain.precedes(2, 0));
        assert_eq!(chain.terminal(), Some(2));
        let partial =
            parse(br#"{"essential_states":[{"id":"a","dominates":["c","o"]},{"id":"b"},{"id":"c"}],"optional_states":["o"]}"#)
                .unwrap();
        assert!(partial.precedes(0, 2) && !partial.precedes(0, 1) && !partial.precedes(1, 2));
        assert_eq!(partial.terminal(), None);
        let fallback = parse(br#"{"essential_states":null,"essential_states_fallback":["a"]}"#).unwrap();
        assert_eq!(fallback.essential(), 1);
    }

    #[test]
    fn an_optional_deployment_state_has_its_guards() {
        let model = parse(
            br#"{"essential_states":[{"id":"gate","dominates":["deployment_executed"]},{"id":"b"}],"optional_states":["deployment_executed"]}"#,
        )
        .unwrap();
        assert!(model.is_guard(0) && !model.is_guard(1));
    }

    #[test]
    fn a_model_that_is_open_ended_has_no_terminal() {
        let open = parse(br#"{"essential_states":["a","b"],"open_ended":true}"#).unwrap();
        assert!(open.terminal().is_none() && open.is_open_ended());
        let named =
            parse(br#"{"essential_states":["a","b"],"open_ended":true,"terminal_state":"a"}"#).unwrap();
        assert_eq!(named.terminal(), Some(0));
    }

    #[test]
    fn additions_replace_the_defaults() {
        let model = parse(
            br#"{"essential_states":["template_generated","security_gate_evaluated","ship","smoke"],"coverage_threshold":66.5,
                "deployment_state":"ship","repeatable_states":["smoke","nobody"],"evidence":{"ship":["a.txt"],"nobody":["b"]}}"#,
        )
        .unwrap();
        assert!(model.is_artifact(0) && model.is_artifact(2) && !model.is_artifact(1));
        assert!(model.is_repeatable(3) && !model.is_repeatable(0));
        assert!(model.is_guard(0) && model.is_guard(1) && !model.is_guard(2) && !model.is_guard(3));
        assert_eq!(model.demanded(2), ["a.txt"]);
        assert!((model.threshold().percent() - 66.5).abs() < 1e-9);
    }

    #[test]
    fn what_is_wrong_is_pointed_at() {
        for (text, pointer) in [
            ("", ""),
            ("[]", ""),
            ("{}", "/essential_states"),
            (r#"{"essential_states":[]}"#, "/essential_states"),
            (r#"{"essential_states":[],"essential_states_fallback":["a"]}"#, "/essential_states"),
            (r#"{"essential_states":"a"}"#, "/essential_states"),
            (r#"{"essential_states":["a",{"id":"b"},"b"]}"#, "/essential_states/2"),
            (r#"{"essential_states":["a",{"id":""}]}"#, "/essential_states/1/id"),
            (r#"{"essential_states":[7]}"#, "/essential_states/0"),
            (r#"{"essential_states":[{"id":"a","dominates":["x"]}]}"#, "/essential_states/0/dominates/0"),
            (r#"{"essential_states":[{"id":"a","dominates":["a"]}]}"#, "/essential_states/0/dominates/0"),
            (
                r#"{"essential_states":[{"id":"z"},{"id":"a","dominates":["b"]},{"id":"b","dominates":["a"]}]}"#,
                "/essential_states/1/dominates",
            ),
            (r#"{"essential_states":["a"],"coverage_threshold":0}"#, "/coverage_threshold"),
            (r#"{"essential_states":["a"],"coverage_threshold":"100"}"#, "/coverage_threshold"),
            (r#"{"essential_states":["a"],"terminal_state":"b"}"#, "/terminal_state"),
            (r#"{"essential_states":["a"],"deployment_state":"b"}"#, "/deployment_state"),
            (r#"{"essential_states":["a"],"artifact_states":["a","b"]}"#, "/artifact_states/1"),
            (r#"{"essential_states":["a"],"open_ended":"yes"}"#, "/open_ended"),
            (r#"{"essential_states":["a"],"version":"2.0"}"#, "/version"),
            (r#"{"essential_states":["a"],"optional_states":[1]}"#, "/optional_states/0"),
            (r#"{"essential_states":["a"],"evidence":{"a/b":"f"}}"#, "/evidence/a~1b"),
            (r#"{"essential_states":["a"],"essential_states":["b"]}"#, ""),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap_err().pointer, pointer, "{text}");
        }
    }
}
