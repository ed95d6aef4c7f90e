//! What should make whoever learns a model look twice: lessons that teach too little, or the wrong thing.

use std::collections::{BTreeMap, BTreeSet};

use super::{Golden, Learned, Standing, Wishes, flaws};
use crate::message::{Message, list, some};
use crate::model::{Model, built_in};
use crate::trace::{Status, TraceFormat};

/// Something to look at before the model is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// It may let pass what must not pass.
    pub grave: bool,
    /// In words.
    pub message: Message,
}

/// A run, and the file that it is of.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// As it is shown.
    pub name: &'a str,
    /// The file's format.
    pub format: Option<TraceFormat>,
    /// Of the file's bytes.
    pub digest: Option<&'a str>,
    /// The run.
    pub golden: &'a Golden,
}

/// What is doubtful about a lesson as a whole.
#[must_use]
pub fn warnings(
    runs: &[About<'_>],
    base: Option<&Model>,
    wishes: &Wishes,
    learned: &Learned,
) -> Vec<Warning> {
    let mut found = Vec::new();
    checklist(runs, learned, &mut found);
    ends(runs, base, wishes, learned, &mut found);
    let mut warn = |message: Message| found.push(Warning { grave: false, message });
    for demoted in learned.demoted.iter().filter(|demoted| runs.len() > 2 && !flaws::is_known(&demoted.state))
    {
        if let [(alone, _)] = demoted.by.as_slice()
            && let Some(run) = runs.get(*alone)
        {
            let text = "{} is in every golden trace but {}, which alone makes it optional";
            warn(Message::new(text, &[&demoted.state, run.name]));
        }
    }
    for (state, causes) in &learned.loops {
        let causes: Vec<&str> = causes.iter().map(String::as_str).collect();
        let text = "{} failed and passed after {} had been redone: from now on it may be repeated like that";
        let template =
            text.replacen("{}", "\u{0}", 1).replacen("{}", &list(causes.len()), 1).replace('\u{0}', "{}");
        warn(Message::new(&template, &[&[state.as_str()], causes.as_slice()].concat()));
    }
    if runs.len() == 1 && base.is_none() {
        let text = "there is only one golden trace: all that it did is essential, in the very order in which it did it";
        warn(Message::new(text, &[]));
    }
    let copies = alike(runs, |run| run.digest);
    for names in &copies {
        warn(some("{} are the same, byte by byte: together they teach no more than one of them", names));
    }
    for names in alike(runs, |run| Some(run.golden.way())).iter().filter(|names| !copies.contains(names)) {
        warn(some(
            "{} went the same way, event by event: together they teach no more than one of them",
            names,
        ));
    }
    if learned.left_out > 0 {
        let text = format!("{} optional states are left out: a model has no room for them", learned.left_out);
        warn(Message::new(&text, &[]));
    }
    found
}

/// What is asked of the deployment and of the end, where that is less than people may think.
fn ends(
    runs: &[About<'_>],
    base: Option<&Model>,
    wishes: &Wishes,
    learned: &Learned,
    found: &mut Vec<Warning>,
) {
    let model = &learned.model;
    if model.deployment().is_none() {
        let text = "no state is the deployment, so nothing is asked for before it: only the order counts, and a gate that \
                    came too late is an agent issue at most; --deployment-state or the input deployment-state names it";
        found.push(Warning { grave: false, message: Message::new(text, &[]) });
    }
    if model.is_open_ended() {
        let known = model.essential_names().any(flaws::is_known);
        let text = "the golden traces do not all end with the same essential state, so nothing is asked of the end: ";
        let message = Message::new(text, &[]).and(some("{}", &last_states(runs, model)));
        let hint = Message::new("; --terminal-state or the input terminal-state names it", &[]);
        found.push(Warning { grave: known, message: message.and(hint) });
    }
    if let [one, other] = runs {
        for (run, other) in [(one, other), (other, one)] {
            let early = flaws::early_end(run.golden, &[other.golden], base, wishes);
            let Some(early) = early.filter(|early| !flaws::is_known(early.next)) else { continue };
            let text = "{} ends with {}, where {} goes on to {}: is that optional, or did the first end early? \
                        --terminal-state or the input terminal-state names the end";
            let message = Message::new(text, &[run.name, early.last, other.name, early.next]);
            found.push(Warning { grave: false, message });
        }
    }
}

/// The essential states with which the runs end, each once.
fn last_states<'r>(runs: &[About<'r>], model: &Model) -> Vec<&'r str> {
    let essential = |name: &str| model.find(name).is_some_and(|state| model.is_essential(state));
    let ends: BTreeSet<&str> = runs.iter().filter_map(|run| run.golden.last_of(essential)).collect();
    ends.into_iter().collect()
}

/// The names of the runs that share something, group by group.
fn alike<'a, K: Ord>(runs: &[About<'a>], of: impl Fn(&About<'a>) -> Option<K>) -> Vec<Vec<&'a str>> {
    let mut groups: BTreeMap<K, Vec<&str>> = BTreeMap::new();
    for run in runs {
        if let Some(key) = of(run) {
            groups.entry(key).or_default().push(run.name);
        }
    }
    let mut groups: Vec<Vec<&str>> = groups.into_values().filter(|names| names.len() > 1).collect();
    groups.sort();
    groups
}

/// What the built-in models of the runs' formats ask for and the learned one does not.
fn checklist(runs: &[About<'_>], learned: &Learned, found: &mut Vec<Warning>) {
    let is_v1 = |run: &About<'_>| run.format == Some(TraceFormat::GitApeV1);
    if runs.iter().any(|run| !is_v1(run))
        && let Ok(model) = built_in::checklist()
    {
        compare("checklist", &model, runs, learned, found);
    }
    if runs.iter().any(is_v1)
        && let Ok(model) = built_in::deploy_graph().and_then(|graph| graph.model())
    {
        compare("deploy graph", &model, runs, learned, found);
    }
}

fn compare(name: &str, built_in: &Model, runs: &[About<'_>], learned: &Learned, found: &mut Vec<Warning>) {
    let model = &learned.model;
    let essential = |name: &str| model.find(name).filter(|state| model.is_essential(*state));
    if !built_in.essential_names().any(|name| model.find(name).is_some()) {
        let text = format!(
            "no state of the built-in {name} is in the golden traces: this is another kind of process, and nothing of \
             it is asked for"
        );
        found.push(Warning { grave: false, message: Message::new(&text, &[]) });
        return;
    }
    for state in built_in.essential_names().filter(|name| essential(name).is_none()) {
        let text = format!("{{}} is essential in the built-in {name}, but will not be asked for: ");
        let why = match learned.demoted.iter().find(|demoted| demoted.state == state) {
            None => "it completed in no golden trace",
            Some(demoted) if demoted.by.is_empty() => "the model that is refined does not hold it essential",
            Some(_) => "a golden trace lacks it",
        };
        found.push(Warning { grave: true, message: Message::new(&format!("{text}{why}"), &[state]) });
    }
    for b in 0..built_in.essential() {
        for a in built_in.directly_before(b) {
            let (first, second) = (built_in.name(a), built_in.name(b));
            let (Some(own_a), Some(own_b)) = (essential(first), essential(second)) else { continue };
            if model.precedes(own_a, own_b) {
                continue;
            }
            let breaks = |run: &&About<'_>| match (run.golden.span(first), run.golden.span(second)) {
                (Some((a, last_a)), Some((b, last_b))) => a > b || last_a > last_b,
                _ => true,
            };
            let names: Vec<&str> = runs.iter().filter(breaks).map(|run| run.name).collect();
            let text = if Some(own_b) == model.deployment() {
                format!(
                    "{{}} guards {{}} in the built-in {name}, but a deployment without it will not be noticed: it had not completed before in "
                )
            } else {
                format!(
                    "{{}} must come before {{}} in the built-in {name}, but that will not be asked for: it is otherwise in "
                )
            };
            let whose = if names.is_empty() {
                Message::new("the model that is refined", &[])
            } else {
                some("{}", &names)
            };
            found.push(Warning { grave: true, message: Message::new(&text, &[first, second]).and(whose) });
        }
    }
}

/// How a run demoted a state, in words.
#[must_use]
pub fn reason(standing: Standing) -> String {
    match standing {
        Standing::Absent => "no event of it".to_owned(),
        Standing::NotCompleted(place, status) => {
            let word = match status {
                Status::Started => "started only",
                Status::Completed | Status::Skipped | Status::Unknown | Status::Failed | Status::Error => {
                    status.word()
                }
            };
            format!("{word}, line {}", place.line)
        }
        Standing::Completed(_) => "completed".to_owned(),
    }
}
