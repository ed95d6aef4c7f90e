//! The laws of learning, as properties over random golden sets, and a slow, obvious reference.

use std::collections::BTreeSet;

use proptest::prelude::*;

use process_integrity::conformance::{self, Observation, StateStatus};
use process_integrity::model::Model;
use process_integrity::model::learn::{Golden, Wishes, learn};
use process_integrity::secrets::Secrets;
use process_integrity::trace::{Event, Place, Status};
use process_integrity::verdict::Verdict;

use crate::laws::verdict_of;

/// `D` is the deployment.
const NAMES: [&str; 6] = ["a", "b", "c", "D", "e", "f"];
const DEPLOYMENT: &str = "D";

type Run = Vec<(&'static str, Status)>;

fn event(at: usize, (state, status): (&'static str, Status)) -> Event<'static> {
    Event::new(state, status, Place { line: at as u64 + 1, offset: 0 })
}

fn golden(run: &Run) -> Golden {
    let mut golden = Golden::new(DEPLOYMENT);
    run.iter().enumerate().for_each(|(at, word)| golden.observe(&event(at, *word)));
    golden
}

fn wishes() -> Wishes {
    Wishes { deployment: None, ..Wishes::default() }
}

/// The model of some runs, with `D` as its deployment where it completed at all.
fn model_of(runs: &[Run]) -> Option<Model> {
    let goldens: Vec<Golden> = runs.iter().map(golden).collect();
    let goldens: Vec<&Golden> = goldens.iter().collect();
    let deploys = runs.iter().flatten().any(|word| *word == (DEPLOYMENT, Status::Completed));
    let deployment = deploys.then(|| DEPLOYMENT.to_owned());
    learn(&goldens, None, &Wishes { deployment, ..wishes() }).ok().map(|learned| learned.model)
}

fn judged(model: &Model, run: &Run) -> conformance::Conformance {
    let secrets = Secrets::default();
    let mut observation = Observation::new(model, &secrets);
    run.iter().enumerate().for_each(|(at, word)| observation.observe(&event(at, *word)));
    conformance::judge(&observation)
}

/// A run as people write them down: mostly completed events, some failures and starts.
fn run() -> impl Strategy<Value = Run> {
    let status = prop::sample::select(vec![
        Status::Completed,
        Status::Completed,
        Status::Completed,
        Status::Completed,
        Status::Failed,
        Status::Started,
    ]);
    proptest::collection::vec((prop::sample::select(NAMES.to_vec()), status), 1..12)
}

/// Runs of the same process: all states once, in an order that may differ, with repetitions and omissions.
fn alike() -> impl Strategy<Value = Vec<Run>> {
    let one = (Just(NAMES.to_vec()).prop_shuffle(), proptest::collection::vec(0usize..6, 0..3), 0usize..12)
        .prop_map(|(shuffled, again, swap)| {
            let mut states = NAMES.to_vec();
            if swap < 5 {
                states.swap(swap, swap + 1);
            } else if swap == 11 {
                states = shuffled;
            }
            again.iter().for_each(|at| states.insert(*at, states[*at]));
            states.into_iter().map(|state| (state, Status::Completed)).collect()
        });
    proptest::collection::vec(one, 1..5)
}

/// The last event of a state before a place, where it is a completed attempt: its number.
fn standing(run: &Run, state: &str, before: usize) -> Option<usize> {
    let own = run.iter().take(before).enumerate().rfind(|(_, (name, _))| *name == state)?;
    (own.1.1 == Status::Completed).then_some(own.0)
}

fn last_completed(run: &Run, state: &str) -> Option<usize> {
    run.iter().rposition(|word| *word == (state, Status::Completed))
}

fn deployments(run: &Run) -> Vec<usize> {
    let attempts = run.iter().enumerate().filter(|(_, (state, status))| {
        *state == DEPLOYMENT && matches!(status, Status::Completed | Status::Failed)
    });
    attempts.map(|(at, _)| at).collect()
}

/// Essential states and all pairs in order, by their definitions and by nothing else.
fn reference(runs: &[Run]) -> (BTreeSet<&'static str>, BTreeSet<(&'static str, &'static str)>) {
    let deploys = runs.iter().any(|run| standing(run, DEPLOYMENT, run.len()).is_some());
    // A guard had completed wherever a check looks at it.
    let looks = |run: &Run| match deployments(run) {
        none if none.is_empty() => vec![run.len()],
        attempts => attempts,
    };
    let guard = |state: &str| {
        deploys
            && state != DEPLOYMENT
            && runs.iter().all(|run| looks(run).into_iter().all(|at| standing(run, state, at).is_some()))
    };
    let done = |state: &str| runs.iter().all(|run| standing(run, state, run.len()).is_some());
    let essential: BTreeSet<&str> = NAMES.into_iter().filter(|state| guard(state) || done(state)).collect();
    let known = |state: &str| runs.iter().any(|run| last_completed(run, state).is_some());
    // Where a check finds the representative, at each of its looks.
    let found = |run: &Run, state: &str, at: Option<usize>| match at {
        Some(at) if guard(state) => standing(run, state, at),
        _ => last_completed(run, state),
    };
    let in_order = |run: &Run, a: &str, b: &str| {
        let each_has_one = run
            .iter()
            .enumerate()
            .filter(|(_, word)| **word == (b, Status::Completed))
            .all(|(at, _)| run.iter().take(at).any(|word| *word == (a, Status::Completed)));
        let at: Vec<Option<usize>> = match deployments(run) {
            attempts if guard(b) && !attempts.is_empty() => attempts.into_iter().map(Some).collect(),
            attempts => vec![attempts.last().copied()],
        };
        each_has_one
            && at.into_iter().all(|at| match (found(run, a, at), found(run, b, at)) {
                (Some(a), Some(b)) => a < b,
                _ => false,
            })
    };
    let mut order = BTreeSet::new();
    for a in &essential {
        for b in NAMES.into_iter().filter(|b| essential.contains(b) || (*b == DEPLOYMENT && known(b))) {
            let holds = match b {
                DEPLOYMENT => guard(a),
                _ => (guard(a) || !guard(b)) && runs.iter().all(|run| in_order(run, a, b)),
            };
            if *a != b && holds {
                order.insert((*a, b));
            }
        }
    }
    (essential, order)
}

fn pairs(model: &Model) -> BTreeSet<(String, String)> {
    let all = (0..model.states()).flat_map(|a| (0..model.states()).map(move |b| (a, b)));
    let ordered = all.filter(|(a, b)| model.precedes(*a, *b));
    ordered.map(|(a, b)| (model.name(a).to_owned(), model.name(b).to_owned())).collect()
}

fn agrees(runs: &[Run]) -> Result<(), TestCaseError> {
    let (essential, order) = reference(runs);
    match model_of(runs) {
        None => prop_assert!(essential.is_empty(), "{essential:?}"),
        Some(model) => {
            prop_assert_eq!(model.essential_names().collect::<BTreeSet<_>>(), essential);
            let order: BTreeSet<_> = order.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            prop_assert_eq!(pairs(&model), order);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 400 } else { 4000 }))]

    #[test]
    fn the_model_is_what_the_slow_reference_says(runs in proptest::collection::vec(run(), 1..4)) {
        agrees(&runs)?;
    }

    #[test]
    fn the_model_of_runs_that_are_alike_is_what_the_slow_reference_says(runs in alike()) {
        agrees(&runs)?;
    }

    #[test]
    fn every_golden_run_conforms_to_the_model_learned_from_it(runs in prop_oneof![alike(), proptest::collection::vec(run(), 1..4)]) {
        let Some(model) = model_of(&runs) else { return Ok(()) };
        for run in &runs {
            let judged = judged(&model, run);
            prop_assert_eq!(judged.coverage.covered, model.essential(), "{:?}", judged.judgements);
            prop_assert_eq!(judged.disorders.len(), 0);
        }
    }

    #[test]
    fn a_check_of_every_good_golden_run_is_verified(runs in alike(), noise in proptest::collection::vec((0usize..8, 0usize..2), 0..6)) {
        let with_noise = |run: &Run| {
            let mut run = run.clone();
            noise.iter().for_each(|(at, which)| run.insert((*at).min(run.len()), (["tool", "chat"][*which], Status::Completed)));
            run
        };
        let runs: Vec<Run> = runs.iter().map(with_noise).collect();
        let Some(model) = model_of(&runs) else { return Ok(()) };
        for run in &runs {
            let words: Vec<&str> = run.iter().map(|(state, _)| *state).collect();
            prop_assert_eq!(verdict_of(&model, &words), Verdict::VerifiedSuccess, "{:?}", words);
        }
    }

    #[test]
    fn an_essential_state_that_is_taken_out_of_a_golden_run_is_missed(runs in alike(), pick in any::<prop::sample::Index>()) {
        let Some(model) = model_of(&runs) else { return Ok(()) };
        let state = pick.index(model.essential());
        for run in &runs {
            let without: Run = run.iter().copied().filter(|(name, _)| *name != model.name(state)).collect();
            let judged = judged(&model, &without);
            prop_assert_eq!(judged.judgements[state].status(), StateStatus::Missing);
            prop_assert!(!judged.coverage.passes());
        }
    }

    #[test]
    fn another_golden_run_never_adds_an_essential_state_or_an_order(runs in alike(), more in run()) {
        let Some(before) = model_of(&runs) else { return Ok(()) };
        let with: Vec<Run> = runs.into_iter().chain([more]).collect();
        let Some(after) = model_of(&with) else { return Ok(()) };
        let names = |model: &Model| model.essential_names().map(str::to_owned).collect::<BTreeSet<_>>();
        prop_assert!(names(&after).is_subset(&names(&before)));
        prop_assert!(pairs(&after).is_subset(&pairs(&before)));
    }

    #[test]
    fn the_order_of_the_golden_runs_changes_nothing(runs in proptest::collection::vec(run(), 1..5), turn in 0usize..5) {
        let mut turned = runs.clone();
        let turn = turn % turned.len();
        turned.rotate_left(turn);
        turned.reverse();
        let learned = |runs: &[Run]| {
            let goldens: Vec<Golden> = runs.iter().map(golden).collect();
            learn(&goldens.iter().collect::<Vec<_>>(), None, &wishes()).ok()
        };
        let (one, other) = (learned(&runs), learned(&turned));
        prop_assert_eq!(one.as_ref().map(|learned| &learned.model), other.as_ref().map(|learned| &learned.model));
        prop_assert_eq!(one.map(|learned| learned.dominators), other.map(|learned| learned.dominators));
    }

    #[test]
    fn refining_a_model_with_a_run_is_learning_from_all(runs in alike(), more in alike()) {
        let (Some(base), Some(all)) = (model_of(&runs), model_of(&[runs.clone(), more.clone()].concat())) else { return Ok(()) };
        let goldens: Vec<Golden> = more.iter().map(golden).collect();
        let wishes = Wishes { deployment: Some(DEPLOYMENT.to_owned()), ..wishes() };
        let refined = learn(&goldens.iter().collect::<Vec<_>>(), Some(&base), &wishes).unwrap().model;
        let names = |model: &Model| model.essential_names().map(str::to_owned).collect::<BTreeSet<_>>();
        prop_assert_eq!(names(&refined), names(&all));
        prop_assert_eq!(pairs(&refined), pairs(&all));
    }
}

fn completed(states: &[&'static str]) -> Run {
    states.iter().map(|state| (*state, Status::Completed)).collect()
}

#[test]
fn gates_in_either_order_are_essential_though_plain_dominators_lose_both() {
    let runs = [completed(&["a", "b", "c", "D", "e"]), completed(&["a", "c", "b", "D", "e"])];
    let goldens: Vec<Golden> = runs.iter().map(golden).collect();
    let wishes = Wishes { deployment: Some(DEPLOYMENT.to_owned()), ..wishes() };
    let learned = learn(&goldens.iter().collect::<Vec<_>>(), None, &wishes).unwrap();
    assert_eq!(learned.model.essential_names().collect::<Vec<_>>(), ["a", "b", "c", "D", "e"]);
    let kept: Vec<&str> = learned.dominators.iter().map(String::as_str).collect();
    assert_eq!(kept, ["D", "a", "e"]);
    assert!(!learned.model.precedes(1, 2) && !learned.model.precedes(2, 1));
}

#[test]
fn a_loop_makes_its_state_repeatable_and_what_was_mended_an_artifact() {
    let (done, failed) = (Status::Completed, Status::Failed);
    let run: Run = vec![("a", done), ("b", failed), ("e", done), ("a", done), ("b", done), ("D", done)];
    let goldens = [golden(&run), golden(&completed(&["e", "a", "b", "D"]))];
    let wishes = Wishes { deployment: Some(DEPLOYMENT.to_owned()), ..wishes() };
    let model = learn(&goldens.iter().collect::<Vec<_>>(), None, &wishes).unwrap().model;
    let of = |name: &str| model.find(name).unwrap();
    assert!(model.is_repeatable(of("b")) && model.is_artifact(of("D")));
    // Both were redone, and `e` was first; but in the first run `a` came before any `e`, so neither order was learned.
    assert_eq!(model.named_artifacts(), Some(&["D".to_owned(), "e".to_owned()][..]));
}
