//! What one model asks for and another one does not.

use std::collections::BTreeSet;

use super::Model;
use crate::message::Message;

/// Whether a change lets pass what was held against a run before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Less is asked for.
    Weaker,
    /// More is asked for, or other things.
    Other,
}

/// The kinds of changes. A closed set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A state is essential no longer.
    EssentialRemoved,
    /// A state is essential now.
    EssentialAdded,
    /// Two states need not be in order any longer.
    OrderRemoved,
    /// Two states must be in order now.
    OrderAdded,
    /// A state guards the deployment no longer.
    GuardRemoved,
    /// A state guards the deployment now.
    GuardAdded,
    /// A state may happen now.
    OptionalAdded,
    /// A state is not known any longer.
    OptionalRemoved,
    /// Another share must be covered.
    Threshold,
    /// Another state is the deployment.
    Deployment,
    /// A complete run ends with another state.
    Terminal,
    /// Other states produce what later ones are about.
    Artifacts,
    /// Other states may fail and be repeated.
    Repeatable,
    /// Other files must lie beside the trace.
    Evidence,
}

impl Kind {
    /// The id in reports.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::EssentialRemoved => "essential-removed",
            Self::EssentialAdded => "essential-added",
            Self::OrderRemoved => "order-removed",
            Self::OrderAdded => "order-added",
            Self::GuardRemoved => "guard-removed",
            Self::GuardAdded => "guard-added",
            Self::OptionalAdded => "optional-added",
            Self::OptionalRemoved => "optional-removed",
            Self::Threshold => "threshold",
            Self::Deployment => "deployment-state",
            Self::Terminal => "terminal-state",
            Self::Artifacts => "artifact-states",
            Self::Repeatable => "repeatable-states",
            Self::Evidence => "evidence",
        }
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which kind.
    pub kind: Kind,
    /// Whether less is asked for.
    pub effect: Effect,
    /// In words.
    pub message: Message,
}

/// What changes from one model to another, in a fixed order. Empty where they ask for the same.
#[must_use]
pub fn diff(old: &Model, new: &Model) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut add =
        |kind: Kind, effect: Effect, message: Message| changes.push(Change { kind, effect, message });
    let essential =
        |model: &Model, name: &str| model.find(name).is_some_and(|state| model.is_essential(state));
    for name in old.essential_names().filter(|name| !essential(new, name)) {
        let text = match new.find(name) {
            Some(_) => "{} is essential no longer, but optional",
            None => "{} is essential no longer, and no state of the model",
        };
        add(Kind::EssentialRemoved, Effect::Weaker, Message::new(text, &[name]));
    }
    for name in new.essential_names().filter(|name| !essential(old, name)) {
        add(Kind::EssentialAdded, Effect::Other, Message::new("{} is essential now", &[name]));
    }
    for (a, b) in order(old, new) {
        add(
            Kind::OrderRemoved,
            Effect::Weaker,
            Message::new("{} need not come before {} any longer", &[a, b]),
        );
    }
    for (a, b) in order(new, old) {
        add(Kind::OrderAdded, Effect::Other, Message::new("{} must come before {} now", &[a, b]));
    }
    let guard = |model: &Model, name: &str| model.find(name).is_some_and(|state| model.is_guard(state));
    for name in
        old.essential_names().filter(|name| essential(new, name) && guard(old, name) && !guard(new, name))
    {
        add(Kind::GuardRemoved, Effect::Weaker, Message::new("{} guards the deployment no longer", &[name]));
    }
    for name in
        new.essential_names().filter(|name| essential(old, name) && guard(new, name) && !guard(old, name))
    {
        add(Kind::GuardAdded, Effect::Other, Message::new("{} guards the deployment now", &[name]));
    }
    for name in new.optional_names().filter(|name| old.find(name).is_none()) {
        add(Kind::OptionalAdded, Effect::Other, Message::new("{} is optional now", &[name]));
    }
    for name in old.optional_names().filter(|name| new.find(name).is_none()) {
        add(
            Kind::OptionalRemoved,
            Effect::Other,
            Message::new("{} is no state of the model any longer", &[name]),
        );
    }
    if old.threshold() != new.threshold() {
        let text = format!(
            "{} percent must be covered now, {} before",
            new.threshold().percent(),
            old.threshold().percent()
        );
        let effect = if new.threshold() < old.threshold() { Effect::Weaker } else { Effect::Other };
        add(Kind::Threshold, effect, Message::new(&text, &[]));
    }
    one(Kind::Deployment, "deployment", old, new, Model::deployment, &mut add);
    one(Kind::Terminal, "end", old, new, Model::terminal, &mut add);
    let artifacts = |model: &Model| names(model, |state| model.is_artifact(state));
    let (other, weaker) = (Effect::Other, Effect::Weaker);
    let text = "produces what later states are about";
    many((Kind::Artifacts, other, weaker), text, &artifacts(old), &artifacts(new), &mut add);
    let repeatable = |model: &Model| names(model, |state| model.is_repeatable(state));
    many(
        (Kind::Repeatable, weaker, other),
        "may fail and be repeated",
        &repeatable(old),
        &repeatable(new),
        &mut add,
    );
    let demanded = |model: &Model| -> BTreeSet<String> {
        let of = |(name, files)| <[String]>::iter(files).map(move |file| format!("{file} of {name}"));
        model.evidence().flat_map(of).collect()
    };
    many(
        (Kind::Evidence, other, weaker),
        "is demanded as evidence",
        &demanded(old),
        &demanded(new),
        &mut add,
    );
    changes
}

/// The direct order of one model that another one does not have, of states that are essential in both.
fn order<'a>(of: &'a Model, than: &Model) -> Vec<(&'a str, &'a str)> {
    let in_other = |state: usize| than.find(of.name(state)).filter(|state| than.is_essential(*state));
    let mut pairs = Vec::new();
    for b in 0..of.essential() {
        // Transitively, since a state in between may be gone; of those only what nothing else implies.
        let lost =
            |a: &usize| matches!((in_other(*a), in_other(b)), (Some(a), Some(b)) if !than.precedes(a, b));
        let lost: Vec<usize> = of.before(b).filter(lost).collect();
        let implied = |a: usize| lost.iter().any(|via| of.precedes(a, *via) && lost.contains(&a));
        pairs.extend(lost.iter().filter(|a| !implied(**a)).map(|a| (of.name(*a), of.name(b))));
    }
    pairs
}

fn names(model: &Model, wanted: impl Fn(usize) -> bool) -> BTreeSet<String> {
    (0..model.states()).filter(|state| wanted(*state)).map(|state| model.name(state).to_owned()).collect()
}

fn one(
    kind: Kind,
    what: &str,
    old: &Model,
    new: &Model,
    of: impl Fn(&Model) -> Option<usize>,
    add: &mut impl FnMut(Kind, Effect, Message),
) {
    let (before, after) = (of(old).map(|state| old.name(state)), of(new).map(|state| new.name(state)));
    match (before, after) {
        (before, after) if before == after => {}
        (before, Some(after)) => {
            // What was asked of the one before is asked no longer.
            let effect = if before.is_some() { Effect::Weaker } else { Effect::Other };
            add(kind, effect, Message::new(&format!("the {what} is {{}} now"), &[after]))
        }
        (Some(before), None) => {
            let text = format!("no state is the {what} any longer; {{}} was");
            add(kind, Effect::Weaker, Message::new(&text, &[before]));
        }
        (None, None) => {}
    }
}

/// What a set gained and lost, and what each of them means.
fn many(
    (kind, gained, lost): (Kind, Effect, Effect),
    what: &str,
    old: &BTreeSet<String>,
    new: &BTreeSet<String>,
    add: &mut impl FnMut(Kind, Effect, Message),
) {
    for name in new.difference(old) {
        add(kind, gained, Message::new(&format!("{{}} {what} now"), &[name]));
    }
    for name in old.difference(new) {
        add(kind, lost, Message::new(&format!("{{}} {what} no longer"), &[name]));
    }
}
