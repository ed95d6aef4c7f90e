//! From the names that a harness knows (skills, agents, tools, spans) to states.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::digest::Material;
use crate::json::{self, JsonError};

/// Name → state. A name that it does not hold is a state of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateMap {
    states: BTreeMap<String, String>,
    file: Option<Material>,
}

/// The skills and agents of git-ape, and the states that they bring about.
const GIT_APE: [(&str, &str); 11] = [
    ("azure-requirements-gatherer", "requirements_gathered"),
    ("azure-rest-api-reference", "api_reference_lookup"),
    ("azure-template-generator", "template_generated"),
    ("azure-security-analyzer", "security_gate_evaluated"),
    ("azure-policy-advisor", "policy_assessed"),
    ("azure-deployment-preflight", "preflight_validated"),
    ("azure-cost-estimator", "cost_estimated"),
    ("azure-principal-architect", "architecture_reviewed"),
    ("azure-drift-detector", "drift_checked"),
    ("azure-resource-deployer", "deployment_executed"),
    ("azure-integration-tester", "integration_tests_passed"),
];

impl Default for StateMap {
    fn default() -> Self {
        let states = GIT_APE.iter().map(|(name, state)| ((*name).to_owned(), (*state).to_owned())).collect();
        Self { states, file: None }
    }
}

impl StateMap {
    /// Reads a map of one's own, which replaces the built-in one: a JSON object, name → state.
    ///
    /// # Errors
    /// No JSON object, or a state that is no non-empty string.
    pub fn parse(bytes: &[u8]) -> Result<Self, JsonError> {
        let wrong = |reason: String| JsonError { line: 1, column: 1, reason };
        let Value::Object(entries) = json::parse(bytes)? else {
            return Err(wrong("a state map is an object: name → state".to_owned()));
        };
        let mut map = BTreeMap::new();
        for (name, state) in entries {
            match state.as_str() {
                Some(state) if !state.is_empty() => map.insert(name, state.to_owned()),
                _ => return Err(wrong(format!("the state of `{name}` is no non-empty string"))),
            };
        }
        Ok(Self { states: map, file: None })
    }

    /// Reads the map of a file, and keeps which one it was.
    ///
    /// # Errors
    /// As [`StateMap::parse`].
    pub fn of_file(file: &str, bytes: &[u8]) -> Result<Self, JsonError> {
        Ok(Self { file: Some(Material::of(file, bytes)), ..Self::parse(bytes)? })
    }

    /// Its file; `None` of the built-in one.
    #[must_use]
    pub fn file(&self) -> Option<&Material> {
        self.file.as_ref()
    }

    /// The states that the map has.
    pub fn states(&self) -> impl Iterator<Item = &str> {
        self.states.values().map(String::as_str)
    }

    /// The state that a name stands for.
    #[must_use]
    pub fn state<'a>(&'a self, name: &'a str) -> &'a str {
        self.mapped(name).unwrap_or(name)
    }

    /// The state that the map itself has for a name.
    #[must_use]
    pub fn mapped(&self, name: &str) -> Option<&str> {
        self.states.get(name).map(String::as_str)
    }

    /// Some name stands for this state.
    #[must_use]
    pub fn brings_about(&self, state: &str) -> bool {
        self.states.values().any(|known| known == state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_of_ones_own_replaces_the_built_in_one() {
        assert_eq!(StateMap::default().state("azure-security-analyzer"), "security_gate_evaluated");
        let map = StateMap::parse(br#"{"scan":"security_gate_evaluated"}"#).unwrap();
        assert_eq!(map.state("scan"), "security_gate_evaluated");
        assert_eq!(map.state("azure-security-analyzer"), "azure-security-analyzer");
        assert!(StateMap::parse(b"[]").is_err());
        assert!(StateMap::parse(br#"{"a":1}"#).is_err());
        assert!(StateMap::parse(br#"{"a":"x","a":"y"}"#).is_err());
    }
}
