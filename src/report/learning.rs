//! What was learned from golden traces, as the view that its outputs read. Texts in it are hostile; each output escapes
//! them for its own sink.

use crate::health::HealthStatus;
use crate::message::Message;
use crate::model::diff::Change;
use crate::model::learn::doubts::{self, Warning};
use crate::model::learn::{Learned, Standing};
use crate::secrets::Secrets;
use crate::trace::TraceFormat;
use crate::verdict::{Finding, Verdict};

pub mod json;
pub mod markdown;
pub mod terminal;

/// One golden trace.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldenRow {
    /// Its file or folder, as it was given.
    pub name: String,
    /// The digest of its bytes.
    pub digest: Option<String>,
    /// Its format.
    pub format: Option<TraceFormat>,
    /// Its events.
    pub events: u64,
    /// The health of the deployment it belongs to, if it lies beside one.
    pub health: Option<HealthStatus>,
    /// Why it is no good example. Empty: a check by its own model is verified.
    pub problems: Vec<Finding>,
    /// What is no problem, but should be known.
    pub notices: Vec<Finding>,
    /// It is used in spite of its problems.
    pub accepted: bool,
    /// What a check by the model of the others finds that its own does not; or why the others have no model.
    pub left_out: Option<Result<Vec<Finding>, Message>>,
}

impl GoldenRow {
    /// It is not used, so that no model is written.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        !self.problems.is_empty() && !self.accepted
    }

    /// What the model of the others says of it.
    #[must_use]
    pub fn verdict_of_others(&self) -> Option<Verdict> {
        self.left_out.as_ref()?.as_ref().ok().map(|alarms| Verdict::of(alarms))
    }
}

/// An essential state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EssentialRow {
    /// Its name.
    pub id: String,
    /// Those that come directly before it, by number.
    pub after: Vec<usize>,
    /// It must be completed before a deployment.
    pub guard: bool,
    /// Plain dominators keep it.
    pub dominator: bool,
    /// It may fail and be repeated.
    pub repeatable: bool,
}

/// A state that is not essential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionalRow {
    /// Its name.
    pub id: String,
    /// The traces that demoted it, by number, and how it stood there. None: the model that is refined does not hold it
    /// essential.
    pub by: Vec<(usize, Standing)>,
}

/// A lesson.
#[derive(Debug, Clone, PartialEq)]
pub struct Learning {
    /// The traces, by name.
    pub goldens: Vec<GoldenRow>,
    /// The essential states, in the model's order.
    pub essential: Vec<EssentialRow>,
    /// The others, by name.
    pub optional: Vec<OptionalRow>,
    /// The deployment state.
    pub deployment: Option<String>,
    /// The terminal state.
    pub terminal: Option<String>,
    /// A complete run may end with any state.
    pub open_ended: bool,
    /// The states that produce what later ones are about.
    pub artifacts: Vec<String>,
    /// The states that may fail and be repeated.
    pub repeatable: Vec<String>,
    /// Percent that must be covered.
    pub threshold: f64,
    /// What to look at.
    pub warnings: Vec<Warning>,
    /// The model that it is compared with, and what changes.
    pub changes: Option<(String, Vec<Change>)>,
}

impl Learning {
    /// Gathers the view.
    #[must_use]
    pub fn new(
        goldens: Vec<GoldenRow>,
        learned: &Learned,
        warnings: Vec<Warning>,
        changes: Option<(String, Vec<Change>)>,
        secrets: &Secrets,
    ) -> Self {
        let model = &learned.model;
        let blank = |text: &str| secrets.blank(text);
        let name = |state: usize| blank(model.name(state));
        let essential = (0..model.essential()).map(|state| EssentialRow {
            id: name(state),
            after: model.directly_before(state),
            guard: model.is_guard(state),
            dominator: learned.dominators.contains(model.name(state)),
            repeatable: model.is_repeatable(state),
        });
        let optional = learned
            .demoted
            .iter()
            .map(|demoted| OptionalRow { id: blank(&demoted.state), by: demoted.by.clone() });
        let quotes = |message: Message| message.map_quotes(blank);
        Self {
            essential: essential.collect(),
            optional: optional.collect(),
            deployment: model.deployment().map(name),
            terminal: model.terminal().map(name),
            open_ended: model.is_open_ended(),
            artifacts: (0..model.states()).filter(|state| model.is_artifact(*state)).map(name).collect(),
            repeatable: (0..model.states()).filter(|state| model.is_repeatable(*state)).map(name).collect(),
            threshold: model.threshold().percent(),
            warnings: warnings
                .into_iter()
                .map(|warning| Warning { message: quotes(warning.message), ..warning })
                .collect(),
            changes: changes.map(|(name, changes)| {
                let changes =
                    changes.into_iter().map(|change| Change { message: quotes(change.message), ..change });
                (blank(&name), changes.collect())
            }),
            goldens,
        }
    }

    /// No model may be made of it: a trace is no good example and was not accepted.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.goldens.iter().any(GoldenRow::is_refused)
    }

    /// The essential states that the paper's method would have lost.
    pub fn lost_by_dominators(&self) -> impl Iterator<Item = &str> {
        self.essential.iter().filter(|state| !state.dominator).map(|state| state.id.as_str())
    }

    /// The essential states in layers: each stands below all that must come before it.
    #[must_use]
    pub fn layers(&self) -> Vec<Vec<usize>> {
        let mut depth = vec![0; self.essential.len()];
        let mut layers: Vec<Vec<usize>> = Vec::new();
        // In the model's order a state may stand before one that must come before it, so this is repeated until it rests.
        for _ in 0..self.essential.len() {
            let mut rests = true;
            for (at, state) in self.essential.iter().enumerate() {
                let below = state
                    .after
                    .iter()
                    .filter_map(|before| depth.get(*before))
                    .max()
                    .map_or(0, |depth| depth + 1);
                if let Some(own) = depth.get_mut(at).filter(|own| **own < below) {
                    *own = below;
                    rests = false;
                }
            }
            if rests {
                break;
            }
        }
        for (state, depth) in depth.into_iter().enumerate() {
            if layers.len() <= depth {
                layers.resize(depth + 1, Vec::new());
            }
            if let Some(layer) = layers.get_mut(depth) {
                layer.push(state);
            }
        }
        layers
    }

    fn name(&self, state: usize) -> &str {
        self.essential.get(state).map_or("", |state| state.id.as_str())
    }

    fn golden(&self, at: usize) -> &str {
        self.goldens.get(at).map_or("", |golden| golden.name.as_str())
    }
}

/// The traces that demoted a state, in words: our own and, to be escaped, the names of the traces.
fn demotion(learning: &Learning, row: &OptionalRow) -> Message {
    if row.by.is_empty() {
        return Message::new("the model that is refined does not hold it essential", &[]);
    }
    let mut message = Message::default();
    for (at, (golden, standing)) in row.by.iter().take(SHOWN).enumerate() {
        let joint = if at == 0 { "" } else { "; " };
        let text = format!("{joint}{{}} ({})", doubts::reason(*standing));
        message = message.and(Message::new(&text, &[learning.golden(*golden)]));
    }
    if row.by.len() > SHOWN {
        message = message.and(Message::new(&format!("; and {} more", row.by.len() - SHOWN), &[]));
    }
    message
}

/// Traces that are named for one state.
const SHOWN: usize = 10;

/// The one sentence on what was learned.
fn headline(learning: &Learning) -> String {
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    if learning.is_refused() {
        let refused = learning.goldens.iter().filter(|golden| golden.is_refused()).count();
        return format!(
            "No model was written: {} of {} {} no good example.",
            refused,
            count(learning.goldens.len(), "golden trace"),
            if refused == 1 { "is" } else { "are" }
        );
    }
    format!(
        "Learned {} and {} from {}.",
        count(learning.essential.len(), "essential state"),
        count(learning.optional.len(), "optional state"),
        count(learning.goldens.len(), "golden trace")
    )
}
