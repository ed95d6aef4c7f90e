//! What must happen: the essential states, and what must come before what.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use fixedbitset::FixedBitSet;

pub mod built_in;
pub mod diff;
pub mod dominator;
pub mod graph;
pub mod learn;
mod threshold;
pub mod write;

pub use threshold::Threshold;

/// More states than this are refused: the order between them is kept as a square of bits.
pub const MAX_STATES: usize = 1_024;

/// The deployment state of a model that names none.
pub const DEPLOYMENT_STATE: &str = "deployment_executed";
/// The artifact states of a model that names none; the deployment state is one as well.
pub(crate) const ARTIFACT_STATES: [&str; 1] = ["template_generated"];
/// The repeatable states of a model that names none.
pub(crate) const REPEATABLE_STATES: [&str; 3] =
    ["template_generated", "security_gate_evaluated", "preflight_validated"];

/// Why a model cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelError {
    /// JSON pointer (RFC 6901) to what is wrong; empty for the document as a whole.
    pub pointer: String,
    /// What is wrong. May quote the file, so it is hostile text.
    pub reason: String,
}

impl ModelError {
    fn new(pointer: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), reason: reason.into() }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_str() {
            "" => f.write_str(&self.reason),
            pointer => write!(f, "{} (at {pointer})", self.reason),
        }
    }
}

/// What a source says of a model, before it is known to make sense.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// Names, in the model's order.
    pub(crate) essential: Vec<String>,
    /// Names.
    pub(crate) optional: Vec<String>,
    /// The first comes directly before the second; names of either list.
    pub(crate) edges: Vec<(String, String)>,
    pub(crate) threshold: Option<Threshold>,
    pub(crate) terminal: Option<String>,
    /// A complete run may end with any state.
    pub(crate) open_ended: bool,
    pub(crate) deployment: Option<String>,
    pub(crate) artifacts: Option<Vec<String>>,
    pub(crate) repeatable: Option<Vec<String>>,
    pub(crate) evidence: BTreeMap<String, Vec<String>>,
}

/// The model of one kind of process. States are numbered: the essential ones first, in the model's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    names: Vec<String>,
    index: HashMap<String, usize>,
    essential: usize,
    /// For every state those that must come before it, transitively.
    before: Vec<FixedBitSet>,
    threshold: Threshold,
    terminal: Option<usize>,
    deployment: Option<usize>,
    /// `None`: the defaults.
    named_artifacts: Option<Vec<String>>,
    artifacts: FixedBitSet,
    /// `None`: the defaults.
    named_repeatable: Option<Vec<String>>,
    repeatable: FixedBitSet,
    evidence: BTreeMap<usize, Vec<String>>,
}

impl Model {
    /// Closes the order, and finds terminal, deployment, artifact and repeatable states.
    ///
    /// # Errors
    /// Too many states, none that is essential, or a terminal, deployment or artifact state that is no state of the model.
    pub(crate) fn build(draft: Draft) -> Result<Self, ModelError> {
        if draft.essential.is_empty() {
            return Err(ModelError::new("", "the model has no essential state"));
        }
        let essential = draft.essential.len();
        let mut names = draft.essential;
        let mut index: HashMap<String, usize> = HashMap::new();
        for (at, name) in names.iter().enumerate() {
            index.insert(name.clone(), at);
        }
        for name in draft.optional {
            if !index.contains_key(&name) {
                index.insert(name.clone(), names.len());
                names.push(name);
            }
        }
        if names.len() > MAX_STATES {
            let reason = format!("the model has {} states; at most {MAX_STATES} are read", names.len());
            return Err(ModelError::new("", reason));
        }
        let edges = draft.edges.iter().filter_map(|(a, b)| Some((*index.get(a)?, *index.get(b)?)));
        let before = close(names.len(), edges);
        let find = |key: &str, name: &Option<String>| match name {
            None => Ok(None),
            Some(name) => match index.get(name) {
                Some(at) => Ok(Some(*at)),
                None => Err(ModelError::new(format!("/{key}"), format!("`{name}` is no state of the model"))),
            },
        };
        let terminal = find("terminal_state", &draft.terminal)?;
        let deployment = find("deployment_state", &draft.deployment)?;
        for (at, name) in draft.artifacts.iter().flatten().enumerate() {
            find(&format!("artifact_states/{at}"), &Some(name.clone()))?;
        }
        let mut repeatable = FixedBitSet::with_capacity(names.len());
        match &draft.repeatable {
            Some(own) => repeatable.extend(own.iter().filter_map(|name| index.get(name).copied())),
            None => repeatable.extend(REPEATABLE_STATES.iter().filter_map(|name| index.get(*name).copied())),
        }
        let evidence =
            draft.evidence.into_iter().filter_map(|(name, files)| Some((*index.get(&name)?, files)));
        let mut model = Self {
            essential,
            terminal,
            deployment: deployment.or_else(|| index.get(DEPLOYMENT_STATE).copied()),
            threshold: draft.threshold.unwrap_or(Threshold::FULL),
            named_artifacts: draft.artifacts,
            artifacts: FixedBitSet::with_capacity(names.len()),
            named_repeatable: draft.repeatable,
            repeatable,
            evidence: evidence.collect(),
            before,
            names,
            index,
        };
        model.terminal = model.terminal.or_else(|| model.only_sink().filter(|_| !draft.open_ended));
        model.find_artifacts();
        Ok(model)
    }

    /// The only essential state that nothing essential must follow.
    fn only_sink(&self) -> Option<usize> {
        let mut sinks = (0..self.essential).filter(|a| !(0..self.essential).any(|b| self.precedes(*a, b)));
        sinks.next().filter(|_| sinks.next().is_none())
    }

    fn find_artifacts(&mut self) {
        self.artifacts.clear();
        match &self.named_artifacts {
            Some(own) => self.artifacts.extend(own.iter().filter_map(|name| self.index.get(name).copied())),
            None => {
                let known = ARTIFACT_STATES.iter().filter_map(|name| self.index.get(*name).copied());
                self.artifacts.extend(known.chain(self.deployment));
            }
        }
    }

    /// Takes another deployment state. False, and nothing changes, where the model does not have it.
    pub fn set_deployment(&mut self, name: &str) -> bool {
        let Some(at) = self.index.get(name) else { return false };
        self.deployment = Some(*at);
        self.find_artifacts();
        true
    }

    /// Takes another terminal state. False, and nothing changes, where the model does not have it.
    pub fn set_terminal(&mut self, name: &str) -> bool {
        let Some(at) = self.index.get(name) else { return false };
        self.terminal = Some(*at);
        true
    }

    /// Takes another threshold.
    pub fn set_threshold(&mut self, threshold: Threshold) {
        self.threshold = threshold;
    }

    /// How many states are essential. Their numbers are below this one.
    #[must_use]
    pub fn essential(&self) -> usize {
        self.essential
    }

    /// How many states the model knows, the optional ones included.
    #[must_use]
    pub fn states(&self) -> usize {
        self.names.len()
    }

    /// The name of a state; empty for a number that is none.
    #[must_use]
    pub fn name(&self, state: usize) -> &str {
        self.names.get(state).map_or("", String::as_str)
    }

    /// The names of the essential states, in the model's order.
    pub fn essential_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().take(self.essential).map(String::as_str)
    }

    /// The names of the states that may happen.
    pub fn optional_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().skip(self.essential).map(String::as_str)
    }

    /// The number of a state.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// The state is essential.
    #[must_use]
    pub fn is_essential(&self, state: usize) -> bool {
        state < self.essential
    }

    /// `a` must come before `b`.
    #[must_use]
    pub fn precedes(&self, a: usize, b: usize) -> bool {
        self.before.get(b).is_some_and(|before| before.contains(a))
    }

    /// The essential states that must come before a state.
    pub fn before(&self, state: usize) -> impl Iterator<Item = usize> + '_ {
        self.before.get(state).into_iter().flat_map(FixedBitSet::ones).filter(|a| self.is_essential(*a))
    }

    /// The essential states that must come before a state with none of them in between: the transitive reduction.
    #[must_use]
    pub fn directly_before(&self, state: usize) -> Vec<usize> {
        let mut direct: FixedBitSet = self.before(state).collect();
        for a in self.before(state) {
            if let Some(before) = self.before.get(a) {
                direct.difference_with(before);
            }
        }
        direct.ones().collect()
    }

    /// The essential states that must come after a state with none of them in between.
    #[must_use]
    pub fn directly_after(&self, state: usize) -> Vec<usize> {
        let after: FixedBitSet = (0..self.essential).filter(|b| self.precedes(state, *b)).collect();
        let is_direct = |b: &usize| self.before.get(*b).is_some_and(|before| before.is_disjoint(&after));
        after.ones().filter(is_direct).collect()
    }

    /// It guards the deployment: it must come before it.
    #[must_use]
    pub fn is_guard(&self, state: usize) -> bool {
        self.is_essential(state) && self.deployment.is_some_and(|deployment| self.precedes(state, deployment))
    }

    /// It produces what later states are about.
    #[must_use]
    pub fn is_artifact(&self, state: usize) -> bool {
        self.artifacts.contains(state)
    }

    /// It may fail and be repeated in the documented loop.
    #[must_use]
    pub fn is_repeatable(&self, state: usize) -> bool {
        self.repeatable.contains(state)
    }

    /// The artifact states that the model itself names, in place of the default.
    #[must_use]
    pub fn named_artifacts(&self) -> Option<&[String]> {
        self.named_artifacts.as_deref()
    }

    /// The repeatable states that the model itself names, in place of the default.
    #[must_use]
    pub fn named_repeatable(&self) -> Option<&[String]> {
        self.named_repeatable.as_deref()
    }

    /// The deployment, where the model has one.
    #[must_use]
    pub fn deployment(&self) -> Option<usize> {
        self.deployment
    }

    /// Where a complete run ends, if that is one state.
    #[must_use]
    pub fn terminal(&self) -> Option<usize> {
        self.terminal
    }

    /// A complete run may end with any state, though only one is followed by none.
    #[must_use]
    pub fn is_open_ended(&self) -> bool {
        self.terminal.is_none() && self.only_sink().is_some()
    }

    /// How much of the essential states must be covered.
    #[must_use]
    pub fn threshold(&self) -> Threshold {
        self.threshold
    }

    /// The states for which the model itself demands files, in its order, with the files.
    pub fn evidence(&self) -> impl Iterator<Item = (&str, &[String])> {
        let demanded = self.evidence.iter().filter(|(_, files)| !files.is_empty());
        demanded.map(|(state, files)| (self.name(*state), files.as_slice()))
    }

    /// The files that the model itself demands for a state.
    #[must_use]
    pub fn demanded(&self, state: usize) -> &[String] {
        self.evidence.get(&state).map_or(&[], Vec::as_slice)
    }
}

/// The transitive closure of "comes directly before", as the set of predecessors of each state. States that reach each
/// other have no order.
fn close(states: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<FixedBitSet> {
    let mut before = vec![FixedBitSet::with_capacity(states); states];
    for (a, b) in edges {
        if let Some(set) = before.get_mut(b) {
            set.insert(a);
        }
    }
    // Warshall, a row of bits at a time.
    for via in 0..states {
        let Some(row) = before.get(via).cloned() else { continue };
        for set in &mut before {
            if set.contains(via) {
                set.union_with(&row);
            }
        }
    }
    let reached = before.clone();
    for (b, set) in before.iter_mut().enumerate() {
        for (a, of_a) in reached.iter().enumerate() {
            if of_a.contains(b) {
                set.remove(a);
            }
        }
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_reach_each_other_have_no_order() {
        let before = close(4, [(0, 1), (1, 2), (2, 1), (2, 3)].into_iter());
        let pairs: Vec<Vec<usize>> = before.iter().map(|set| set.ones().collect()).collect();
        assert_eq!(pairs, [vec![], vec![0], vec![0], vec![0, 1, 2]]);
    }
}
