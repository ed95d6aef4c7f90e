//! How good learned models are, in numbers: `docs/quality.md` holds what is measured here.
//!
//! For each golden set in `fixtures/golden`, every essential state of every run is dropped, swapped, moved, failed and
//! duplicated. What a check of such a mutant must say follows from the set's own description of its process, by an oracle
//! that knows nothing of the product. Beside it stand a model of plain dominators, and a check for the exact sequence.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use process_integrity::model::learn::{Golden, Learned, Wishes, learn};
use process_integrity::model::{Model, dominator};
use process_integrity::trace::state_map::StateMap;
use process_integrity::trace::{Event, Place, Status, copilot, git_ape, jsonl};
use process_integrity::verdict::Verdict;

use crate::docs::same;
use crate::laws::verdict_of;
use crate::support::fixtures;

type Run = Vec<(String, Status)>;

/// A golden set: its runs, and the process as its authors meant it.
pub(crate) struct Set {
    pub(crate) name: String,
    about: String,
    layers: Vec<Vec<String>>,
    pub(crate) deployment: String,
    terminal: String,
    artifacts: Vec<String>,
    repeatable: Vec<String>,
    runs: Vec<Run>,
    pub(crate) traces: Vec<PathBuf>,
    pub(crate) state_map: Option<PathBuf>,
}

impl Set {
    fn read(folder: &Path) -> Self {
        let description: Value =
            serde_json::from_slice(&std::fs::read(folder.join("set.json")).unwrap()).unwrap();
        let text = |key: &str| description[key].as_str().unwrap().to_owned();
        let list = |value: &Value| -> Vec<String> {
            value.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
        };
        let state_map = description["state_map"].as_str().map(|name| folder.join(name));
        let mut traces: Vec<PathBuf> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        traces.retain(|path| path.file_name().unwrap() != "set.json" && Some(path) != state_map.as_ref());
        traces.sort();
        Self {
            name: folder.file_name().unwrap().to_string_lossy().into_owned(),
            about: text("about"),
            layers: description["layers"].as_array().unwrap().iter().map(list).collect(),
            deployment: text("deployment"),
            terminal: text("terminal"),
            artifacts: list(&description["artifacts"]),
            repeatable: list(&description["repeatable"]),
            runs: traces.iter().map(|trace| read(trace, state_map.as_deref())).collect(),
            traces,
            state_map,
        }
    }

    fn essential(&self) -> impl Iterator<Item = &String> {
        self.layers.iter().flatten()
    }

    fn layer(&self, state: &str) -> Option<usize> {
        self.layers.iter().position(|layer| layer.iter().any(|name| name == state))
    }

    fn precedes(&self, a: &str, b: &str) -> bool {
        matches!((self.layer(a), self.layer(b)), (Some(a), Some(b)) if a < b)
    }

    fn learn(&self, runs: &[&Run]) -> Learned {
        let goldens: Vec<Golden> = runs.iter().map(|run| golden(run, &self.deployment)).collect();
        let wishes = Wishes { deployment: Some(self.deployment.clone()), ..Wishes::default() };
        learn(&goldens.iter().collect::<Vec<_>>(), None, &wishes).unwrap()
    }

    /// What a check must say of a run, by the rules of the design and the process as it is meant; slow and obvious.
    fn oracle(&self, run: &Run) -> Verdict {
        let mut worst = Verdict::VerifiedSuccess;
        let mut worse = |verdict: Verdict| worst = worst.max(verdict);
        let of = |state: &str| -> Vec<(usize, Status)> {
            run.iter()
                .enumerate()
                .filter(|(_, (name, _))| name == state)
                .map(|(at, (_, status))| (at, *status))
                .collect()
        };
        let done = |state: &str, before: usize| {
            of(state)
                .into_iter()
                .rfind(|(at, status)| *at < before && *status == Status::Completed)
                .map(|(at, _)| at)
        };
        let deployments = of(&self.deployment);
        assert!(deployments.len() <= 2, "the oracle knows one deployment, or one and its duplicate");
        if deployments.last().is_some_and(|(_, status)| *status != Status::Completed) {
            worse(Verdict::DeploymentFailure);
        }
        let deployed = deployments.first().map_or(run.len(), |(at, _)| *at);
        let looked_at =
            |state: &str| if self.precedes(state, &self.deployment) { deployed } else { run.len() };
        for state in self.essential() {
            let last = of(state).into_iter().rfind(|(at, _)| *at < looked_at(state));
            if last.is_none_or(|(_, status)| status != Status::Completed) {
                worse(Verdict::ProcessViolation);
            }
        }
        for (a, b) in self.essential().flat_map(|a| self.essential().map(move |b| (a, b))) {
            if let (Some(first), Some(second)) = (done(a, looked_at(a)), done(b, looked_at(b)))
                && self.precedes(a, b)
                && second < first
            {
                let stale = self.artifacts.contains(a) || done(a, second).is_some();
                worse(if stale { Verdict::ProcessViolation } else { Verdict::AgentIssue });
            }
        }
        for state in self.essential() {
            for pair in of(state).windows(2).filter(|pair| pair[0].1 == Status::Failed) {
                let mended = self
                    .artifacts
                    .iter()
                    .filter(|artifact| self.precedes(artifact, state))
                    .any(|artifact| done(artifact, pair[1].0).is_some_and(|at| at > pair[0].0));
                let free = self.artifacts.contains(state);
                let allowed =
                    self.repeatable.contains(state) && (free || (mended && pair[1].1 == Status::Completed));
                worse(if allowed { Verdict::VerifiedSuccess } else { Verdict::AgentIssue });
            }
        }
        let end =
            run.iter().rfind(|(state, status)| *status == Status::Completed && self.layer(state).is_some());
        if end.is_none_or(|(state, _)| *state != self.terminal) {
            worse(Verdict::AgentIssue);
        }
        worst
    }
}

/// The golden sets of the fixtures, by name.
pub(crate) fn sets() -> Vec<Set> {
    let folders = std::fs::read_dir(fixtures().join("golden")).unwrap().map(|entry| entry.unwrap().path());
    let mut sets: Vec<Set> = folders.map(|folder| Set::read(&folder)).collect();
    sets.sort_by(|a, b| a.name.cmp(&b.name));
    sets
}

fn read(trace: &Path, state_map: Option<&Path>) -> Run {
    let bytes = std::fs::read(trace).unwrap();
    let mut run = Run::new();
    let mut take = |event: Event<'_>| run.push((event.state.into_owned(), event.status));
    match state_map {
        Some(map) => {
            let map = StateMap::parse(&std::fs::read(map).unwrap()).unwrap();
            copilot::read(bytes.as_slice(), &map, &mut take);
        }
        None if trace.extension().unwrap() == "json" => {
            git_ape::read(bytes.as_slice()).entries.iter().filter_map(|entry| entry.event()).for_each(take);
        }
        None => drop(jsonl::read(bytes.as_slice(), &mut take)),
    }
    // A start says nothing that the end does not say, and mutants are made of ends.
    run.retain(|(_, status)| *status != Status::Started);
    run
}

fn golden(run: &Run, deployment: &str) -> Golden {
    let mut golden = Golden::new(deployment);
    for (at, (state, status)) in run.iter().enumerate() {
        golden.observe(&Event::new(state.as_str(), *status, Place { line: at as u64 + 1, offset: 0 }));
    }
    golden
}

fn last(run: &Run, state: &str) -> Option<usize> {
    run.iter().rposition(|(name, status)| name == state && *status == Status::Completed)
}

const KINDS: [&str; 5] = ["dropped", "swapped", "moved", "failed", "duplicated"];

/// A run with one thing wrong, or only different. `None` where the change would be none.
fn mutant(set: &Set, run: &Run, state: &str, kind: &str) -> Option<Run> {
    let mut run = run.clone();
    let at = last(&run, state)?;
    match kind {
        "dropped" => run.retain(|(name, _)| name != state),
        "swapped" => {
            let next =
                set.essential().filter_map(|other| last(&run, other)).filter(|other| *other > at).min()?;
            run.swap(at, next);
        }
        "moved" => {
            if at + 1 == run.len() {
                return None;
            }
            let event = run.remove(at);
            run.push(event);
        }
        "failed" => run[at].1 = Status::Failed,
        "duplicated" => run.insert(at, run[at].clone()),
        other => panic!("{other}"),
    }
    Some(run)
}

fn words(run: &Run) -> Vec<String> {
    run.iter().map(|(state, status)| format!("{state}:{}", status.word())).collect()
}

fn check(model: &Model, run: &Run) -> Verdict {
    let words = words(run);
    verdict_of(model, &words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The model of the paper's notion: the dominators of the end, each before the next.
fn plain(learned: &Learned, deployment: &str) -> Model {
    let names: Vec<&str> =
        learned.model.essential_names().filter(|name| learned.dominators.contains(*name)).collect();
    let mut document = serde_json::json!({"essential_states": names});
    if names.contains(&deployment) {
        document["deployment_state"] = deployment.into();
    }
    dominator::parse(document.to_string().as_bytes()).unwrap()
}

fn sequence(run: &Run) -> Vec<&str> {
    run.iter().map(|(state, _)| state.as_str()).collect()
}

#[derive(Default)]
struct Figures {
    mutants: usize,
    right: usize,
    told: [usize; 3],
    runs: usize,
    alarms: [usize; 3],
    wrong: Vec<String>,
}

fn measure(set: &Set) -> Figures {
    let mut figures = Figures { runs: set.runs.len(), ..Figures::default() };
    let all: Vec<&Run> = set.runs.iter().collect();
    let learned = set.learn(&all);
    let dominators = plain(&learned, &set.deployment);
    let exact: BTreeSet<Vec<&str>> = set.runs.iter().map(sequence).collect();
    let verified = Verdict::VerifiedSuccess;
    for run in &set.runs {
        assert_eq!(set.oracle(run), verified, "{}: a golden run is no good one", set.name);
        for (state, kind) in set.essential().flat_map(|state| KINDS.map(|kind| (state, kind))) {
            let Some(mutant) = mutant(set, run, state, kind) else { continue };
            let (expected, found) = (set.oracle(&mutant), check(&learned.model, &mutant));
            figures.mutants += 1;
            figures.right += usize::from(expected == found);
            if expected != found {
                figures.wrong.push(format!(
                    "{}: {state} {kind}: {found:?}, not {expected:?}: {}",
                    set.name,
                    words(&mutant).join(" ")
                ));
            }
            let same_way = exact.contains(&sequence(&mutant))
                && mutant.iter().all(|(_, status)| *status == Status::Completed);
            let said = [found == verified, check(&dominators, &mutant) == verified, same_way];
            for (told, said) in figures.told.iter_mut().zip(said) {
                *told += usize::from(said == (expected == verified));
            }
        }
    }
    for (at, run) in set.runs.iter().enumerate() {
        let others: Vec<&Run> =
            all.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, run)| *run).collect();
        let learned = set.learn(&others);
        let alarms = [
            check(&learned.model, run) != verified,
            check(&plain(&learned, &set.deployment), run) != verified,
            !others.iter().any(|other| sequence(other) == sequence(run)),
        ];
        for (count, alarm) in figures.alarms.iter_mut().zip(alarms) {
            *count += usize::from(alarm);
        }
    }
    figures
}

#[test]
fn the_quality_of_learned_models_is_what_the_page_says() {
    let mut table = String::from(
        "| Golden set | Runs | Mutants | Right verdict | Told apart: learned | dominators | exact sequence | False alarms: learned | dominators | exact sequence |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut sum = Figures::default();
    let percent = |part: usize, whole: usize| format!("{}%", part * 100 / whole.max(1));
    let mut row = |title: &str, figures: &Figures| {
        let told = figures.told.map(|told| percent(told, figures.mutants));
        let alarms = figures.alarms.map(|alarms| format!("{alarms}/{}", figures.runs));
        let (runs, mutants) = (figures.runs, figures.mutants);
        let right = percent(figures.right, mutants);
        let _ = writeln!(
            table,
            "| {title} | {runs} | {mutants} | {right} | {} | {} |",
            told.join(" | "),
            alarms.join(" | ")
        );
    };
    let sets = sets();
    assert!(sets.len() >= 5);
    for set in &sets {
        let figures = measure(set);
        row(&format!("[{}](../fixtures/golden/{}): {}", set.name, set.name, set.about), &figures);
        sum.mutants += figures.mutants;
        sum.right += figures.right;
        sum.runs += figures.runs;
        sum.told.iter_mut().zip(figures.told).for_each(|(sum, told)| *sum += told);
        sum.alarms.iter_mut().zip(figures.alarms).for_each(|(sum, alarms)| *sum += alarms);
        sum.wrong.extend(figures.wrong);
    }
    row("**all**", &sum);
    let page = fixtures().join("../docs/quality.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (start, end) = ("<!-- learned models -->\n", "<!-- end of learned models -->");
    let (before, rest) = text.split_once(start).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    same(&page, &text, &format!("{before}{start}{table}{end}{after}"));
    assert_eq!(sum.wrong, Vec::<String>::new());
    assert_eq!(sum.alarms[0], 0);
    assert!(
        sum.told[1] < sum.told[0] && sum.told[2] < sum.told[0],
        "the peers are no worse: is this measured?"
    );
}
