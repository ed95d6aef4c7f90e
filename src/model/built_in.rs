//! The two models that come with the product, in the formats that it reads.

use std::sync::LazyLock;

use super::graph::Graph;
use super::{Model, ModelError, dominator};

/// The six states that every deployment of git-ape must show: the fallback.
pub const CHECKLIST: &str = include_str!("checklist.json");
/// git-ape's deploy graph, for its v1 traces.
pub const DEPLOY_GRAPH: &str = include_str!("deploy-graph.json");

/// The fallback checklist.
///
/// # Errors
/// None in a released product: a test reads it.
pub fn checklist() -> Result<Model, ModelError> {
    dominator::parse(CHECKLIST.as_bytes())
}

/// The deploy graph.
///
/// # Errors
/// None in a released product: a test reads it.
pub fn deploy_graph() -> Result<Graph, ModelError> {
    Graph::parse(DEPLOY_GRAPH.as_bytes())
}

/// Both models, read once: whoever asks about many states asks often.
#[must_use]
pub fn models() -> &'static [Model] {
    static MODELS: LazyLock<Vec<Model>> = LazyLock::new(|| {
        [checklist(), deploy_graph().and_then(|graph| graph.model())].into_iter().flatten().collect()
    });
    &MODELS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_valid_and_as_they_are_documented() {
        let checklist = checklist().unwrap();
        let id = |name| checklist.find(name).unwrap();
        let (gate, preflight) = (id("security_gate_evaluated"), id("preflight_validated"));
        assert_eq!(checklist.essential(), 6);
        assert!(!checklist.precedes(gate, preflight) && !checklist.precedes(preflight, gate));
        assert!(checklist.precedes(id("requirements_gathered"), id("integration_tests_passed")));
        assert_eq!((0..6).filter(|state| checklist.is_guard(*state)).count(), 4);
        let model = deploy_graph().unwrap().model().unwrap();
        assert_eq!(model.essential(), 9);
        assert!((1..9).all(|state| model.precedes(state - 1, state)));
        assert_eq!(model.terminal(), model.find("state_recorded"));
    }
}
