//! What learning must not take for good, one row a way to fool it. The states are those of the checklist: requirements,
//! template, gate, preflight, deployment, tests.

use serde_json::{Value, json};

use crate::learn_command::{SIX, Traces, without};
use crate::support::{events, lines, stderr, stdout};

const R: &str = SIX[0];
const T: &str = SIX[1];
const S: &str = SIX[2];
const P: &str = SIX[3];
const D: &str = SIX[4];
const I: &str = SIX[5];
const BLOCKED: &str = "security_gate_evaluated:blocked";

fn ids(golden: &Value, key: &str) -> Vec<String> {
    golden[key].as_array().unwrap().iter().map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

fn grave(report: &Value) -> Vec<String> {
    let warnings = report["warnings"].as_array().unwrap().iter().filter(|warning| warning["grave"] == true);
    warnings.map(|warning| warning["message"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_gate_that_guards_no_longer_is_named_with_the_trace_that_did_it() {
    let traces = Traces::new(&[("a", &SIX), ("b", &[R, T, P, S, D, I]), ("late", &[R, T, P, D, S, I])]);
    let (report, code) = traces.report(&["a", "b", "late"]);
    assert_eq!(code, 0);
    let told = grave(&report).join("\n");
    assert!(
        told.contains("`security_gate_evaluated` guards `deployment_executed` in the built-in checklist"),
        "{told}"
    );
    assert!(told.contains("in `late`") && !told.contains("`a`"), "{told}");
    let traces = Traces::new(&[("a", &[R, S, T, P, D, I]), ("b", &[R, S, T, P, D, I, "x"])]);
    let told = grave(&traces.report(&["a", "b"]).0).join("\n");
    assert!(told.contains("`template_generated` must come before `security_gate_evaluated`"), "{told}");
}

#[test]
fn a_retry_in_a_golden_trace_is_no_permission_to_retry() {
    for (what, bad) in [
        ("only the preflight was redone", vec![R, T, P, BLOCKED, P, S, D, I]),
        ("a deployment is never repeated", vec![R, T, P, S, "deployment_executed:failed", P, D, I]),
        ("only the requirements were redone", vec![R, T, P, BLOCKED, R, S, D, I]),
        ("tests are not repeated", vec![R, T, P, S, D, "integration_tests_passed:failed", D, I]),
    ] {
        let traces = Traces::new(&[
            ("bad", &bad),
            ("more", &[bad.as_slice(), &["cost_estimated"]].concat()),
            ("good", &SIX),
        ]);
        let (report, code) = traces.report(&["bad", "more", "good"]);
        assert_eq!(code, 1, "{what}: {report}");
        assert!(ids(&report["goldens"][0], "problems").contains(&"retry".to_owned()), "{what}: {report}");
    }
    let traces = Traces::new(&[("a", &[R, T, P, BLOCKED, T, S, P, D, I]), ("b", &SIX)]);
    let (report, code) = traces.report(&["a", "b"]);
    assert_eq!(code, 0, "the documented loop: {report}");
    assert!(report["repeatable_states"].as_array().unwrap().contains(&json!(S)));
    let own = Traces::new(&[
        ("a", &["plan", "code", "test:failed", "code", "test", "merge"]),
        ("b", &["plan", "code", "test", "merge"]),
    ]);
    let (report, code) = own.report(&["a", "b"]);
    assert_eq!(code, 0, "{report}");
    assert!(
        report["warnings"].to_string().contains("`test` failed and passed after `code` had been redone"),
        "{report}"
    );
    assert_eq!(
        (&report["artifact_states"], &report["repeatable_states"]),
        (&json!(["code"]), &json!(["test"]))
    );
}

#[test]
fn a_checkpoint_that_did_not_end_well_is_refused_whatever_the_others_lack() {
    for (what, bad, finding) in [
        ("blocked, and one of the others has none", vec![R, T, BLOCKED, P, D, I], "state-failed"),
        (
            "began again and never ended",
            [&SIX[..], &["integration_tests_passed:started"]].concat(),
            "state-failed",
        ),
        ("nobody knows how it ended", vec![R, T, "security_gate_evaluated:odd", P, D, I], "state-failed"),
    ] {
        let traces = Traces::new(&[("bad", &bad), ("lacks", &without(S)), ("good", &SIX)]);
        let (report, code) = traces.report(&["bad", "lacks", "good"]);
        assert_eq!(code, 1, "{what}: {report}");
        assert!(ids(&report["goldens"][0], "problems").contains(&finding.to_owned()), "{what}: {report}");
    }
}

#[test]
fn an_end_that_is_asked_for_no_longer_is_told() {
    let traces = Traces::new(&[("a", &SIX), ("odd", &[&SIX[..], &[T]].concat())]);
    let (report, code) = traces.report(&["a", "odd"]);
    assert_eq!((code, &report["open_ended"]), (0, &json!(true)));
    assert!(grave(&report).join("\n").contains("nothing is asked of the end"), "{report}");
    let traces =
        Traces::new(&[("short", &["plan", "scan", "ship"]), ("long", &["plan", "scan", "ship", "notify"])]);
    let (report, code) = traces.report(&["short", "long"]);
    assert_eq!(code, 0, "of two runs nobody knows which is whole: {report}");
    assert!(
        report["warnings"].to_string().contains("`short` ends with `ship`, where `long` goes on to `notify`")
    );
    assert!(report["warnings"].to_string().contains("no state is the deployment"));
}

#[test]
fn a_trace_that_teaches_nothing_is_named() {
    let traces = Traces::new(&[("a", &SIX), ("b", &SIX), ("other", &["x", "y", "z"])]);
    traces.write("README.md", "# good runs\n");
    traces.write("empty", "");
    for (given, reason) in [
        (
            "README.md",
            "`README.md` cannot be learned from: nothing completed in it, and 1 lines cannot be read",
        ),
        ("empty", "`empty` cannot be learned from: nothing completed in it"),
        ("other", "`other` has nothing in common with the others"),
    ] {
        let output = traces.learn(&["a", "b", given]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
}

#[test]
fn notices_on_a_golden_trace_are_shown() {
    let overridden = [R, T, "security_gate_evaluated:overridden", P, D, I];
    let traces = Traces::new(&[("over", &overridden), ("good", &SIX)]);
    let mut two: Vec<Value> = events(&SIX);
    two.extend(events(&SIX));
    two.iter_mut().enumerate().for_each(|(at, event)| event["run_id"] = json!(at / 6));
    traces.write("two", &lines(&two));
    let (report, code) = traces.report(&["over", "two", "good"]);
    assert_eq!(code, 0, "{report}");
    let of = |name: &str| {
        ids(
            report["goldens"].as_array().unwrap().iter().find(|golden| golden["name"] == name).unwrap(),
            "notices",
        )
    };
    assert!(of("over").contains(&"gate-overridden".to_owned()));
    assert!(of("two").contains(&"earlier-runs".to_owned()));
    assert!(of("good").is_empty());
    assert!(
        stdout(&traces.learn(&["over", "good", "--output", "m"]))
            .contains("gate-overridden: `security_gate_evaluated`")
    );
}

#[test]
fn a_weaker_model_is_called_weaker() {
    let traces = Traces::new(&[("a", &SIX)]);
    traces.report(&["a"]);
    let mut weaker = traces.model().unwrap();
    weaker["deployment_state"] = json!(T);
    traces.write("weaker.json", &weaker.to_string());
    let changes = stdout(&traces.learn(&["--format", "json", "--diff", "model.json", "weaker.json"]));
    let changes: Value = serde_json::from_str(&changes).unwrap();
    let weaker = |kind: &str| {
        changes["changes"].as_array().unwrap().iter().any(|c| c["change"] == kind && c["weaker"] == true)
    };
    assert!(weaker("guard-removed") && weaker("deployment-state"), "{changes}");
}

#[test]
fn a_trace_counts_once_and_is_never_overwritten() {
    let traces = Traces::new(&[("a", &SIX), ("bad.jsonl", &[&SIX[..3], &["error"], &SIX[3..]].concat())]);
    let (report, _) = traces.report(&["a", "./a"]);
    assert_eq!(report["goldens"].as_array().unwrap().len(), 1);
    assert!(report["warnings"].to_string().contains("only one golden trace"));
    let output = traces.learn(&["--output", "./a", "a"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("would be written over the golden trace a"), "{}", stderr(&output));
    let output = traces.learn(&["a", "bad.jsonl", "--accept", "./bad.jsonl", "--accept", "nobody"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("warning: no golden trace is called nobody"), "{}", stderr(&output));
}
