//! A model from golden runs: what all of them did, and what they did in the same order.
//!
//! Plain dominators of a merged graph lose steps: two runs that pass the same two gates in different order leave neither as
//! a dominator of the end. So dominance is learned over the observed runs. A state is essential where it completed in every
//! run. `a` must come before `b` where in every run each completed `b` has a completed `a` before it, and where a check
//! would find the two in that order: at every deployment attempt for its guards, at the end for all others. Else a run with
//! a loop could break the rule that was learned from it.
//!
//! The cost grows with states and runs, and with the states at deployment attempts; never with the number of paths.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{ARTIFACT_STATES, DEPLOYMENT_STATE, Draft, MAX_STATES, Model, REPEATABLE_STATES, Threshold};
use crate::message::Message;
use crate::trace::Stage;

pub mod dominators;
pub mod doubts;
pub mod flaws;
pub mod golden;

pub use golden::{Golden, Standing};

/// What whoever learns a model wants to have in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wishes {
    /// Percent that must be covered.
    pub threshold: Option<Threshold>,
    /// The deployment state, in place of `deployment_executed`.
    pub deployment: Option<String>,
    /// The terminal state, in place of the one that all runs end with.
    pub terminal: Option<String>,
}

impl Wishes {
    /// The name of the deployment state: the one that is wished for, else the model's that is refined, else the usual one.
    #[must_use]
    pub fn deployment<'a>(&'a self, base: Option<&'a Model>) -> &'a str {
        let of_base = base.and_then(|model| Some(model.name(model.deployment()?)));
        self.deployment.as_deref().or(of_base).unwrap_or(DEPLOYMENT_STATE)
    }
}

/// Why a state that completed in some run is not essential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demoted {
    /// The state.
    pub state: String,
    /// The runs in which it did not complete, by their number, and how it stood at their end.
    pub by: Vec<(usize, Standing)>,
}

/// A model, and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// The model.
    pub model: Model,
    /// The stage of the states on whose label all runs agree.
    pub labels: BTreeMap<String, Stage<'static>>,
    /// Of the essential states those that are dominators of the end in the merged graph: what the paper's method keeps.
    pub dominators: BTreeSet<String>,
    /// The states that are not essential, by name. Without a run that demoted it: the model that is refined does not know it.
    pub demoted: Vec<Demoted>,
    /// The states that may be repeated now, since a run has a fix loop of them, and what was redone in it.
    pub loops: BTreeMap<String, BTreeSet<String>>,
    /// Optional states for which the model has no room.
    pub left_out: usize,
}

/// Learns a model from runs; with a base, refines that model: what it does not hold essential or in order stays so.
///
/// # Errors
/// Nothing completed in every run, more states did than a model can have, or the terminal that is wished for is none of them.
pub fn learn(goldens: &[&Golden], base: Option<&Model>, wishes: &Wishes) -> Result<Learned, Message> {
    let deployment = wishes.deployment(base);
    let mut lesson = Lesson { goldens, base, deployment, guards: HashSet::new(), essential: Vec::new() };
    lesson.find_essential()?;
    let optional = lesson.optional();
    let known: HashSet<String> = lesson.essential.iter().chain(&optional).cloned().collect();
    let edges = lesson.order(known.contains(deployment));
    let Loops { artifacts, repeatable, learned: loops } = lesson.loops(&edges);
    let terminal = match &wishes.terminal {
        Some(name) if !known.contains(name) => {
            return Err(Message::new("the terminal state {} completed in no golden trace", &[name]));
        }
        Some(name) => Some(name.clone()),
        None => lesson.terminal(&known),
    };
    // Where the runs do not end alike, nothing may be demanded of the end.
    let open_ended = terminal.is_none();
    if let (Some(name), false) = (&wishes.deployment, known.contains(deployment)) {
        return Err(Message::new("the deployment state {} completed in no golden trace", &[name]));
    }
    let demoted = lesson.demoted(&optional);
    let room = MAX_STATES.saturating_sub(lesson.essential.len());
    // The deployment and the terminal must be states of the model, whatever else there is no room for.
    let (first, rest): (Vec<String>, Vec<String>) = optional.into_iter().partition(|name| {
        name == deployment
            || Some(name) == terminal.as_ref()
            || artifacts.iter().flatten().any(|own| own == name)
    });
    let left_out = (first.len() + rest.len()).saturating_sub(room);
    let mut optional: Vec<String> = first.into_iter().chain(rest).take(room).collect();
    optional.sort();
    let demanded = base.into_iter().flat_map(Model::evidence);
    let draft = Draft {
        optional,
        edges,
        threshold: wishes.threshold.or(base.map(Model::threshold)),
        terminal,
        open_ended,
        deployment: Some(deployment.to_owned()).filter(|name| known.contains(name)),
        artifacts,
        repeatable,
        evidence: demanded.map(|(name, files)| (name.to_owned(), files.to_vec())).collect(),
        essential: lesson.essential.clone(),
    };
    let model = Model::build(draft).map_err(|error| {
        Message::new("no model can be learned: ", &[]).and(Message::new("{}", &[&error.to_string()]))
    })?;
    let all: Vec<String> = model.essential_names().chain(model.optional_names()).map(str::to_owned).collect();
    let dominators = dominators::of_the_end(goldens);
    Ok(Learned {
        labels: golden::labels(goldens, all.iter().map(String::as_str)),
        dominators: model
            .essential_names()
            .filter(|name| dominators.contains(*name))
            .map(str::to_owned)
            .collect(),
        demoted,
        loops,
        left_out,
        model,
    })
}

struct Lesson<'a> {
    goldens: &'a [&'a Golden],
    base: Option<&'a Model>,
    deployment: &'a str,
    /// The states that had completed at every deployment attempt.
    guards: HashSet<String>,
    /// In an order that the runs allow.
    essential: Vec<String>,
}

/// What the order is read from: where the states of one run stand.
struct Positions {
    first: Vec<Option<u64>>,
    /// Where a check would find it: a guard before the last deployment attempt, any other state at the end.
    last: Vec<Option<u64>>,
    /// Of guards: at each deployment attempt.
    at: Vec<Vec<Option<u64>>>,
}

impl Lesson<'_> {
    fn base_precedes(&self, a: &str, b: &str) -> bool {
        self.base.is_none_or(|model| match (model.find(a), model.find(b)) {
            (Some(a), Some(b)) => model.precedes(a, b),
            _ => false,
        })
    }

    /// It had completed at every deployment attempt; in a run without one, at the end.
    fn guarded_all(&self, state: &str) -> bool {
        let guarded = |golden: &&Golden| match golden.deployments() {
            0 => golden.standing(state).completed().is_some(),
            _ => golden.at_deployments(state).all(|standing| standing.completed().is_some()),
        };
        state != self.deployment
            && self.base_precedes(state, self.deployment)
            && self.goldens.iter().all(guarded)
    }

    fn find_essential(&mut self) -> Result<(), Message> {
        let Some(first) = self.goldens.first() else {
            return Err(Message::new("there is no golden trace to learn from", &[]));
        };
        let candidates: Vec<String> = match self.base {
            Some(model) => model.essential_names().map(str::to_owned).collect(),
            None => first.completed().map(str::to_owned).collect(),
        };
        let deploys =
            self.goldens.iter().any(|golden| golden.standing(self.deployment).completed().is_some());
        for state in candidates {
            let guard = deploys && self.guarded_all(&state);
            let done = |golden: &&Golden| golden.standing(&state).completed().is_some();
            if guard {
                self.guards.insert(state.clone());
            }
            if guard || self.goldens.iter().all(done) {
                self.essential.push(state);
            }
        }
        match self.essential.len() {
            0 => Err(Message::new(
                "no state completed in every golden trace, so nothing can be learned from them",
                &[],
            )),
            many if many > MAX_STATES => {
                let text = format!(
                    "{many} states completed in every golden trace; a model has at most {MAX_STATES}. \
                     Map names to states with a state map"
                );
                Err(Message::new(&text, &[]))
            }
            _ => {
                if self.base.is_none() {
                    self.sort();
                }
                Ok(())
            }
        }
    }

    /// Sorts the essential states by their ranks in all runs. What always comes first has the smaller sum, so this is an
    /// order that every run allows, and it does not depend on the order of the runs.
    fn sort(&mut self) {
        let mut sums: BTreeMap<String, usize> = BTreeMap::new();
        for golden in self.goldens {
            let positions = self.positions(golden, &self.essential);
            let mut ranked: Vec<(Option<u64>, &String)> =
                positions.last.into_iter().zip(&self.essential).collect();
            ranked.sort();
            for (rank, (_, state)) in ranked.into_iter().enumerate() {
                *sums.entry(state.clone()).or_default() += rank;
            }
        }
        self.essential.sort_by_key(|state| (sums.get(state).copied(), state.clone()));
    }

    fn positions(&self, golden: &Golden, states: &[String]) -> Positions {
        let mut positions = Positions { first: Vec::new(), last: Vec::new(), at: Vec::new() };
        for state in states {
            let span = golden.span(state);
            let guard = self.guards.contains(state);
            let at: Vec<Option<u64>> = match guard {
                true => golden.at_deployments(state).map(Standing::completed).collect(),
                false => Vec::new(),
            };
            positions.first.push(span.map(|(first, _)| first));
            positions.last.push(at.last().copied().unwrap_or(span.map(|(_, last)| last)));
            positions.at.push(at);
        }
        positions
    }

    /// All pairs that are in order; with the deployment, also where it is optional: it has guards all the same.
    fn order(&self, with_deployment: bool) -> Vec<(String, String)> {
        let mut states = self.essential.clone();
        if with_deployment && !states.iter().any(|state| state == self.deployment) {
            states.push(self.deployment.to_owned());
        }
        let runs: Vec<Positions> =
            self.goldens.iter().map(|golden| self.positions(golden, &states)).collect();
        let guards: Vec<bool> = states.iter().map(|state| self.guards.contains(state)).collect();
        let is_guard = |at: usize| guards.get(at).copied().unwrap_or(false);
        let before = |a: Option<u64>, b: Option<u64>| matches!((a, b), (Some(a), Some(b)) if a < b);
        let mut edges = Vec::new();
        for (b, after) in states.iter().enumerate() {
            for (a, state) in self.essential.iter().enumerate() {
                if a == b || !self.base_precedes(state, after) {
                    continue;
                }
                let holds = |run: &Positions| {
                    let of = |list: &[Option<u64>], at: usize| list.get(at).copied().flatten();
                    let each = |at: usize| run.at.get(at).map_or(&[][..], Vec::as_slice).iter();
                    before(of(&run.first, a), of(&run.first, b))
                        && before(of(&run.last, a), of(&run.last, b))
                        && each(a).zip(each(b)).all(|(a, b)| before(*a, *b))
                };
                let holds = if after == self.deployment {
                    is_guard(a)
                } else {
                    (is_guard(a) || !is_guard(b)) && runs.iter().all(holds)
                };
                if holds {
                    edges.push((state.clone(), after.clone()));
                }
            }
        }
        edges
    }

    /// What completed in some run and is not essential, by name.
    fn optional(&self) -> Vec<String> {
        let essential: HashSet<&str> = self.essential.iter().map(String::as_str).collect();
        let of_base =
            self.base.into_iter().flat_map(|model| model.essential_names().chain(model.optional_names()));
        let seen = self.goldens.iter().flat_map(|golden| golden.completed()).chain(of_base);
        let optional: BTreeSet<&str> = seen.filter(|state| !essential.contains(state)).collect();
        optional.into_iter().map(str::to_owned).collect()
    }

    fn demoted(&self, optional: &[String]) -> Vec<Demoted> {
        let demoted = optional.iter().map(|state| {
            let standings = self.goldens.iter().map(|golden| golden.standing(state)).enumerate();
            let by = standings.filter(|(_, standing)| standing.completed().is_none()).collect();
            Demoted { state: state.clone(), by }
        });
        demoted.collect()
    }

    /// The state that every run ends with, of the essential ones; of a model that is refined, its own.
    fn terminal(&self, known: &HashSet<String>) -> Option<String> {
        if let Some(model) = self.base {
            let own = model.terminal().map(|terminal| model.name(terminal).to_owned());
            return own.filter(|name| known.contains(name));
        }
        let essential: HashSet<&str> = self.essential.iter().map(String::as_str).collect();
        let mut ends = self.goldens.iter().map(|golden| golden.last_of(|state| essential.contains(state)));
        let end = ends.next().flatten()?;
        ends.all(|other| other == Some(end)).then(|| end.to_owned())
    }

    /// The artifact and repeatable states that the fix loops of the runs show.
    ///
    /// What the design says of the states of the built-in models stands: of those only the usual ones may be repeated, after
    /// a usual artifact was redone. Else a retry in a golden run would become the permission to retry.
    fn loops(&self, edges: &[(String, String)]) -> Loops {
        let in_order: HashSet<(&str, &str)> = edges.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let of_base =
            |named: fn(&Model) -> Option<&[String]>| self.base.and_then(named).map(<[String]>::to_vec);
        let known = |name: &&str| {
            self.essential.iter().any(|state| state == name)
                || self.goldens.iter().any(|golden| golden.span(name).is_some())
        };
        let named_artifacts = of_base(Model::named_artifacts);
        let mut artifacts: BTreeSet<String> =
            named_artifacts.clone().unwrap_or_default().into_iter().collect();
        if named_artifacts.is_none() {
            let usual = ARTIFACT_STATES.into_iter().chain([self.deployment]).filter(known);
            artifacts.extend(usual.map(str::to_owned));
        }
        let named_repeatable = of_base(Model::named_repeatable);
        let usual = |state: &String| match &named_repeatable {
            Some(named) => named.contains(state),
            None => REPEATABLE_STATES.contains(&state.as_str()),
        };
        let mut learned: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let (mut mended, mut repeatable) = (BTreeSet::new(), BTreeSet::new());
        for state in self.essential.iter().filter(|state| state.as_str() != self.deployment) {
            for redone in self.goldens.iter().flat_map(|golden| golden.loops(state)) {
                let mut causes = redone.iter().filter(|cause| in_order.contains(&(**cause, state.as_str())));
                let first =
                    causes.clone().find(|cause| **cause != self.deployment && !flaws::is_known(cause));
                let artifact = causes.find(|cause| artifacts.contains(**cause) && **cause != self.deployment);
                match (artifact, first) {
                    (Some(_), _) if usual(state) => drop(repeatable.insert(state.clone())),
                    // What was redone first after the failure is what was mended.
                    (cause, first) if !flaws::is_known(state) => {
                        let Some(cause) = cause.or(first) else { continue };
                        if !artifacts.contains(*cause) {
                            mended.insert((*cause).to_owned());
                        }
                        repeatable.insert(state.clone());
                        learned.entry(state.clone()).or_default().insert((*cause).to_owned());
                    }
                    (Some(_) | None, _) => {}
                }
            }
        }
        let is_named = named_artifacts.is_some() || !mended.is_empty();
        artifacts.extend(mended);
        let artifacts = is_named.then(|| artifacts.into_iter().collect());
        if repeatable.is_empty() {
            return Loops { artifacts, repeatable: named_repeatable, learned };
        }
        match named_repeatable {
            Some(named) => repeatable.extend(named),
            None => repeatable
                .extend(REPEATABLE_STATES.iter().filter(|name| known(name)).map(|name| (*name).to_owned())),
        }
        Loops { artifacts, repeatable: Some(repeatable.into_iter().collect()), learned }
    }
}

/// What fix loops show. `None`: the defaults will do.
struct Loops {
    artifacts: Option<Vec<String>>,
    repeatable: Option<Vec<String>>,
    /// What was not known before: a state, and what was redone in its loops.
    learned: BTreeMap<String, BTreeSet<String>>,
}
