//! What should make whoever learns a model look twice: golden runs that are none, and lessons that teach too little.

use std::collections::BTreeMap;

use super::{Golden, Learned, Standing, Wishes};
use crate::message::{Message, list};
use crate::model::{Model, ModelError, built_in};
use crate::trace::{Place, Status, TraceFormat};

/// Names of states that are listed in one sentence.
const NAMED: usize = 10;

/// Why a run is no good example, apart from what a check by its own model finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// It stops at a state after which all others go on.
    EndedEarly(Message),
    /// A state that all others completed failed in the end.
    Failed {
        /// The state.
        state: String,
        /// The attempt.
        place: Place,
        /// In words.
        message: Message,
    },
}

/// The flaws of one of several runs.
#[must_use]
pub fn flaws(goldens: &[&Golden], at: usize, base: Option<&Model>, wishes: &Wishes) -> Vec<Flaw> {
    let Some(golden) = goldens.get(at) else { return Vec::new() };
    let others =
        || goldens.iter().enumerate().filter(move |(other, _)| *other != at).map(|(_, golden)| *golden);
    let mut found: Vec<Flaw> =
        ended_early(golden, &others().collect::<Vec<_>>(), base, wishes).into_iter().collect();
    for (state, place, status) in golden.failed() {
        if others().all(|other| other.standing(state).completed().is_some()) {
            let text = format!(
                "the last attempt of {{}} {} ({}), and every other golden trace completed it",
                status.word(),
                line(place)
            );
            let message = Message::new(&text, &[state]);
            found.push(Flaw::Failed { state: state.to_owned(), place, message });
        }
    }
    found
}

fn line(place: Place) -> String {
    format!("line {}", place.line)
}

/// A run that lacks its end has not shown that what it lacks is optional.
fn ended_early(golden: &Golden, others: &[&Golden], base: Option<&Model>, wishes: &Wishes) -> Option<Flaw> {
    // With a terminal that is known the check by the learned model finds out.
    let known = wishes.terminal.is_some() || base.is_some_and(|model| model.terminal().is_some());
    let last = golden.last_of(|state| others.iter().all(|other| other.span(state).is_some()))?;
    if known || ends().iter().any(|end| golden.span(end).is_some()) {
        return None;
    }
    let goes_on = |other: &&Golden, to: &str| match (other.span(last), other.span(to)) {
        (Some((_, last)), Some((_, end))) => end > last,
        _ => false,
    };
    let first = others.first()?;
    let next: Vec<&str> = first
        .completed()
        .filter(|state| golden.span(state).is_none() && others.iter().all(|other| goes_on(other, state)))
        .collect();
    let next = next.iter().max_by_key(|state| first.span(state))?;
    let text = "the run ends with {}, and every other golden trace goes on to {}";
    Some(Flaw::EndedEarly(Message::new(text, &[last, next])))
}

/// The states with which the processes end that come with the product.
fn ends() -> Vec<String> {
    let models = [built_in::checklist(), built_in::deploy_graph().and_then(|graph| graph.model())];
    let end = |model: Model| model.terminal().map(|state| model.name(state).to_owned());
    models.into_iter().flatten().filter_map(end).collect()
}

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
pub fn warnings(runs: &[About<'_>], base: Option<&Model>, learned: &Learned) -> Vec<Warning> {
    let mut found = Vec::new();
    checklist(runs, learned, &mut found);
    let mut warn = |message: Message| found.push(Warning { grave: false, message });
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
    let crowded: Vec<&str> = runs.iter().filter(|run| run.golden.is_crowded()).map(|run| run.name).collect();
    if !crowded.is_empty() {
        let text =
            "{} has more different states than can be learned from; map names to states with a state map";
        warn(some(text, &crowded));
    }
    if learned.left_out > 0 {
        let text = format!("{} optional states are left out: a model has no room for them", learned.left_out);
        warn(Message::new(&text, &[]));
    }
    found
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

/// What the built-in model asks for and the learned one does not.
fn checklist(runs: &[About<'_>], learned: &Learned, found: &mut Vec<Warning>) {
    let v1 = runs.iter().any(|run| run.format == Some(TraceFormat::GitApeV1));
    let built_in: Result<Model, ModelError> = match v1 {
        true => built_in::deploy_graph().and_then(|graph| graph.model()),
        false => built_in::checklist(),
    };
    let Ok(built_in) = built_in else { return };
    let essential =
        |name: &str| learned.model.find(name).is_some_and(|state| learned.model.is_essential(state));
    let known = |name: &&str| learned.model.find(name).is_some();
    let lost: Vec<&str> = built_in.essential_names().filter(|name| !essential(name)).collect();
    if lost.is_empty() {
        return;
    }
    let name = if v1 { "deploy graph" } else { "checklist" };
    if !built_in.essential_names().any(|name| known(&name)) {
        let text = format!(
            "no state of the built-in {name} is in the golden traces: this is another kind of process, and nothing of \
             it is asked for"
        );
        found.push(Warning { grave: false, message: Message::new(&text, &[]) });
        return;
    }
    for state in lost {
        let text = format!("{{}} is essential in the built-in {name}, but will not be asked for: ");
        let why = match learned.demoted.iter().find(|demoted| demoted.state == state) {
            None => "it completed in no golden trace",
            Some(demoted) if demoted.by.is_empty() => "the model that is refined does not hold it essential",
            Some(_) => "a golden trace lacks it",
        };
        found.push(Warning { grave: true, message: Message::new(&format!("{text}{why}"), &[state]) });
    }
}

/// A sentence about a few names and the number of the others.
#[must_use]
pub fn some(template: &str, names: &[&str]) -> Message {
    let shown = names.get(..NAMED).unwrap_or(names);
    let mut listed = list(shown.len());
    if names.len() > shown.len() {
        listed.push_str(&format!(" and {} more", names.len() - shown.len()));
    }
    Message::new(&template.replacen("{}", &listed, 1), shown)
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
            format!("{word}, {}", line(place))
        }
        Standing::Completed(_) => "completed".to_owned(),
    }
}
