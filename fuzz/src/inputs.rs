//! Models, results of tests, and state maps.

use std::collections::{BTreeMap, BTreeSet};

use process_integrity::conformance::{self, Observation, StateStatus};
use process_integrity::health::{CheckStatus, Health, HealthStatus, junit, results as json_results};
use process_integrity::model::graph::Graph;
use process_integrity::model::{Model, dominator};
use process_integrity::plan::Plan;
use process_integrity::secrets::Secrets;
use process_integrity::trace::state_map::StateMap;
use process_integrity::trace::{Event, Place, Status};

/// Larger models are read, but the laws on pairs would take too long.
const STATES: usize = 60;

/// Dominator models and execution graphs.
pub fn model(data: &[u8]) {
    let dominator = dominator::parse(data);
    let graph = Graph::parse(data);
    assert!(dominator.is_err() || graph.is_err(), "one file is both kinds of model");
    if let Ok(model) = &dominator {
        assert_model(model);
    }
    if let Ok(Ok(model)) = graph.map(|graph| graph.model()) {
        assert_model(&model);
    }
}

fn assert_model(model: &Model) {
    let count = model.essential();
    assert!(count > 0 && count <= model.states());
    assert!(model.threshold().percent() > 0.0 && model.threshold().percent() <= 100.0);
    if count > STATES {
        return;
    }
    for a in 0..count {
        assert_eq!(model.find(model.name(a)), Some(a));
        assert!(!model.precedes(a, a), "{a} comes before itself");
        for b in model.directly_before(a) {
            assert!(model.precedes(b, a));
        }
        for b in 0..count {
            assert!(!(model.precedes(a, b) && model.precedes(b, a)), "{a} and {b} each come first");
            for c in 0..count {
                assert!(!(model.precedes(a, b) && model.precedes(b, c)) || model.precedes(a, c));
            }
        }
    }
    // A run that does everything once, each state after all that come before it, has nothing held against it.
    let mut run: Vec<usize> = (0..count).collect();
    run.sort_by_key(|state| model.before(*state).count());
    let secrets = Secrets::new([]);
    let mut observation = Observation::new(model, &secrets);
    for (at, state) in run.iter().enumerate() {
        let place = Place { line: at as u64 + 1, offset: 0 };
        observation.observe(&Event::new(model.name(*state), Status::Completed, place));
    }
    let judged = conformance::judge(&observation);
    for (state, judgement) in judged.judgements.iter().enumerate() {
        // A state that is called like an error event is one.
        if model.name(state) != process_integrity::trace::ERROR_STATE {
            assert_eq!(judgement.status(), StateStatus::Covered, "{state}: {}", model.name(state));
        }
    }
}

/// `tests.json` in all its shapes, and JUnit XML.
pub fn results(data: &[u8]) {
    assert_health(&json_results::read(data));
    assert_health(&junit::read([("junit.xml", data)]));
    // Two files are no better than the worse of them.
    let failed = &b"<testsuite><testcase name='a'><failure/></testcase></testsuite>"[..];
    let both = junit::read([("junit-1.xml", data), ("junit-2.xml", failed)]);
    assert!(both.status != HealthStatus::Healthy, "a failed test is hidden");
}

fn assert_health(health: &Health) {
    let has = |status| health.checks.iter().any(|check| check.status == status);
    match health.status {
        HealthStatus::Healthy => {
            assert!(has(CheckStatus::Pass) || has(CheckStatus::Warn), "healthy without a passed check");
            assert!(!has(CheckStatus::Fail) && !has(CheckStatus::Unknown), "healthy with a failed check");
            assert!(health.failed.is_none() && health.reason.is_none());
        }
        HealthStatus::Unhealthy => assert!(has(CheckStatus::Fail) || health.failed.is_some()),
        HealthStatus::NotTested | HealthStatus::Unreadable => {
            assert!(health.reason.is_some(), "no reason why nobody knows");
        }
    }
}

/// State maps.
pub fn state_map(data: &[u8]) {
    let Ok(map) = StateMap::parse(data) else { return };
    let plain = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    let names: BTreeMap<String, String> = serde_json::from_slice(plain).unwrap_or_default();
    for (name, state) in &names {
        assert_eq!(map.state(name), state);
        assert!(!state.is_empty(), "`{name}` stands for nothing");
    }
    let unknown = "a name that nobody uses, not even this input: \u{1}";
    assert!(names.contains_key(unknown) || map.state(unknown) == unknown);
}

/// Plans of shards: what is read is written and read as the same, and nothing in it is empty or there twice.
pub fn plan(data: &[u8]) {
    let Ok(plan) = Plan::parse(data) else { return };
    assert_eq!(Plan::parse(plan.document().as_bytes()).as_ref(), Ok(&plan));
    let shards: Vec<_> = (1..=plan.shards()).filter_map(|number| plan.shard(number)).collect();
    assert!(shards.iter().all(|shard| !shard.is_empty()) && plan.shard(0).is_none());
    let paths: BTreeSet<&str> = shards.iter().copied().flatten().map(|folder| folder.path.as_str()).collect();
    assert_eq!(paths.len(), plan.folders());
}
