//! `process-integrity learn`, and the action in mode `learn`, from outside.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::quality::sets;
use crate::step::{Step, annotations, copy};
use crate::support::{CHECKLIST, Deployment, events, fixtures, lines, program, stderr, stdout};

/// A folder with traces of a word each.
pub(crate) struct Traces(tempfile::TempDir);

impl Traces {
    pub(crate) fn new(traces: &[(&str, &[&str])]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        traces.iter().for_each(|(name, words)| folder.write(name, &lines(&events(words))));
        folder
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    pub(crate) fn learn(&self, arguments: &[&str]) -> Output {
        let mut command = program();
        command.env("SOURCE_DATE_EPOCH", "1790000000").current_dir(self.0.path());
        command.arg("learn").args(arguments).output().unwrap()
    }

    pub(crate) fn report(&self, arguments: &[&str]) -> (Value, i32) {
        let output = self.learn(&[&["--format", "json", "--output", "model.json"], arguments].concat());
        let text = stdout(&output);
        let report = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{}", stderr(&output)));
        (report, output.status.code().unwrap())
    }

    pub(crate) fn model(&self) -> Option<Value> {
        std::fs::read(self.0.path().join("model.json"))
            .ok()
            .map(|bytes| serde_json::from_slice(&bytes).unwrap())
    }
}

fn valid(schema: &str, value: &Value) {
    let schema = fixtures().join("../docs/schemas").join(schema);
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

pub(crate) const SIX: [&str; 6] = CHECKLIST;

pub(crate) fn without(state: &str) -> Vec<&'static str> {
    SIX.into_iter().filter(|name| *name != state).collect()
}

#[test]
fn every_golden_set_teaches_a_model_by_which_its_traces_are_verified() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.json");
    let healthy = Deployment::verified();
    let tests = healthy.path().join("tests.json");
    for set in sets() {
        let with_map = set.state_map.iter().flat_map(|map| [Path::new("--state-map"), map.as_path()]);
        let with_map: Vec<&Path> = with_map.collect();
        let mut command = program();
        command.args(["learn", "--format", "json", "--output"]).arg(&model).args(&with_map);
        command.args(["--deployment-state", &set.deployment]);
        let output = command.args(&set.traces).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}: {}", set.name, stderr(&output));
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        valid("process-integrity-learning.v1.schema.json", &report);
        for golden in report["goldens"].as_array().unwrap() {
            assert_eq!(golden["leave_one_out"]["verdict"], "verified-success", "{}: {golden}", set.name);
        }
        let learned: Value = serde_json::from_slice(&std::fs::read(&model).unwrap()).unwrap();
        valid("dominator-model.v1.schema.json", &learned);
        for trace in &set.traces {
            let mut command = program();
            command.args(["check", "--format", "json", "--model"]).arg(&model).arg("--tests").arg(&tests);
            let output = command.args(&with_map).arg("--trace").arg(trace).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}: {}", trace.display(), stdout(&output));
        }
    }
}

#[test]
fn the_model_is_written_in_the_published_format() {
    let traces =
        Traces::new(&[("b.jsonl", &SIX), ("a.jsonl", &[&SIX[..2], &["cost_estimated"], &SIX[2..]].concat())]);
    let (report, code) = traces.report(&["b.jsonl", "a.jsonl", "--threshold", "80"]);
    assert_eq!(code, 0, "{report}");
    let model = traces.model().unwrap();
    assert_eq!(model["version"], "1.0");
    assert_eq!(model["generated_from"], json!(["a.jsonl", "b.jsonl"]));
    assert!(model["generated_from_digests"]["a.jsonl"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(model["generated_at"], "2026-09-21T14:13:20Z");
    let ids: Vec<&str> = model["essential_states"]
        .as_array()
        .unwrap()
        .iter()
        .map(|state| state["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, SIX);
    assert_eq!(model["essential_states"][1]["dominates"], json!([SIX[2]]));
    assert_eq!(model["optional_states"], json!(["cost_estimated"]));
    assert_eq!(model["coverage_threshold"], 80);
    assert_eq!(model["terminal_state"], SIX[5]);
    assert_eq!(model["deployment_state"], SIX[4]);
    let first = std::fs::read(traces.0.path().join("model.json")).unwrap();
    traces.report(&["a.jsonl", "b.jsonl", "--threshold", "80"]);
    assert_eq!(first, std::fs::read(traces.0.path().join("model.json")).unwrap());
}

#[test]
fn a_stage_is_kept_where_the_traces_agree() {
    let line = |state: &str, stage: &str| format!("{{\"state\":\"{state}\",\"stage\":{stage}}}\n");
    let traces = Traces::new(&[]);
    traces.write("a", &[line("a", "2.5"), line("b", "3"), line("c", "\"three\"")].concat());
    traces.write("b", &[line("a", "2.5"), line("b", "4"), line("c", "\"three\"")].concat());
    traces.report(&["a", "b"]);
    let stages: Vec<Value> = traces.model().unwrap()["essential_states"]
        .as_array()
        .unwrap()
        .iter()
        .map(|state| state["stage"].clone())
        .collect();
    assert_eq!(stages, [json!(2.5), Value::Null, json!("three")]);
}

#[test]
fn what_is_no_good_example_is_refused_until_it_is_accepted() {
    let mut failed = SIX.to_vec();
    failed[2] = "security_gate_evaluated:blocked";
    let with_error = [&SIX[..3], &["error"], &SIX[3..]].concat();
    let retried = [&SIX[..2], &["security_gate_evaluated:blocked"], &SIX[2..]].concat();
    for (bad, finding) in [
        (failed, "state-failed"),
        (with_error, "error-event"),
        (retried, "retry"),
        (SIX[..5].to_vec(), "incomplete-workflow"),
        (SIX[..2].to_vec(), "short-trace"),
    ] {
        let traces = Traces::new(&[("bad.jsonl", &bad), ("one.jsonl", &SIX), ("two.jsonl", &SIX)]);
        let (report, code) = traces.report(&["bad.jsonl", "one.jsonl", "two.jsonl"]);
        assert_eq!(
            (code, traces.model(), &report["refused"]),
            (1, None, &json!(true)),
            "{finding}: {report}"
        );
        let problems = report["goldens"][0]["problems"].as_array().unwrap();
        assert!(problems.iter().any(|problem| problem["id"] == finding), "{finding}: {problems:?}");
        assert!(report["goldens"][1]["problems"].as_array().unwrap().is_empty(), "{report}");
        let (report, code) = traces.report(&["bad.jsonl", "one.jsonl", "two.jsonl", "--accept", "bad.jsonl"]);
        assert_eq!((code, &report["refused"]), (0, &json!(false)), "{finding}: {report}");
        assert!(traces.model().is_some());
    }
}

#[test]
fn a_trace_of_an_unhealthy_or_failed_deployment_is_refused() {
    let failing =
        json!({"status": "failed", "resources": [{"name": "f", "provisioningState": "Failed"}]}).to_string();
    for (file, text, finding) in [
        ("tests.json", failing.as_str(), "resource-unhealthy"),
        ("state.json", r#"{"status":"failed"}"#, "deployment-failed"),
        ("security-gate.json", r#"{"gate":"BLOCKED"}"#, "evidence-contradiction"),
    ] {
        let (good, bad) = (Deployment::verified(), Deployment::verified());
        bad.write(file, text);
        for given in [bad.path().to_owned(), bad.path().join("trace.jsonl")] {
            let mut command = program();
            let output = command
                .args(["learn", "--format", "json", "--output", "/dev/null"])
                .arg(good.path())
                .arg(&given)
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
            let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
            let goldens = report["goldens"].as_array().unwrap();
            let refused =
                goldens.iter().find(|golden| !golden["problems"].as_array().unwrap().is_empty()).unwrap();
            assert_eq!(refused["name"], given.to_string_lossy().as_ref());
            let ids: Vec<&Value> =
                refused["problems"].as_array().unwrap().iter().map(|problem| &problem["id"]).collect();
            assert!(ids.contains(&&json!(finding)), "{ids:?}");
        }
    }
}

#[test]
fn a_gate_that_is_not_learned_is_named_loudly() {
    let traces = Traces::new(&[("a.jsonl", &SIX), ("b.jsonl", &without("security_gate_evaluated"))]);
    let (report, code) = traces.report(&["a.jsonl", "b.jsonl"]);
    assert_eq!(code, 0);
    assert_eq!(report["warnings"][0]["grave"], true);
    assert!(
        report["warnings"][0]["message"]
            .as_str()
            .unwrap()
            .contains("`security_gate_evaluated` is essential in the built-in checklist")
    );
    assert_eq!(
        report["optional"][0]["demoted_by"],
        json!([{"golden": "b.jsonl", "reason": "no event of it", "line": null}])
    );
    let text = stdout(&traces.learn(&["a.jsonl", "b.jsonl", "--output", "model.json"]));
    assert!(text.contains("WARNING: `security_gate_evaluated` is essential"), "{text}");
    // The model of the other trace asks for the gate that this one has not.
    assert!(
        text.contains("✘ b.jsonl  false alarm: process-violation") && text.contains("state-missing"),
        "{text}"
    );
    let other = Traces::new(&[("a", &["plan", "code", "merge"]), ("b", &["plan", "code", "merge"])]);
    let (report, _) = other.report(&["a", "b"]);
    let grave =
        report["warnings"].as_array().unwrap().iter().filter(|warning| warning["grave"] == true).count();
    assert_eq!(grave, 0, "another kind of process is no alarm: {report}");
}

#[test]
fn lessons_that_teach_too_little_are_told() {
    let traces = Traces::new(&[("a", &SIX), ("b", &SIX)]);
    traces.write("c", &lines(&events(&SIX)).replace("2026-10-05", "2026-10-06"));
    let told = |given: &[&str]| traces.report(given).0["warnings"].to_string();
    assert!(told(&["a"]).contains("only one golden trace"));
    assert!(told(&["a", "b"]).contains("`a`, `b` are the same, byte by byte"));
    assert!(told(&["a", "c"]).contains("`a`, `c` went the same way"));
}

#[test]
fn a_model_is_refined_and_told_what_changes() {
    let traces = Traces::new(&[
        ("a", &SIX),
        ("b", &without("preflight_validated")),
        ("c", &[&SIX[..], &["notified"]].concat()),
    ]);
    traces.report(&["a"]);
    let old = traces.model().unwrap();
    let (report, code) = traces.report(&["--update", "model.json", "b"]);
    assert_eq!(code, 0, "{report}");
    let changes: Vec<(&str, bool)> = report["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (c["change"].as_str().unwrap(), c["weaker"].as_bool().unwrap()))
        .collect();
    assert_eq!(changes, [("essential-removed", true)]);
    let new = traces.model().unwrap();
    assert_eq!(new["optional_states"], json!(["preflight_validated"]));
    assert_eq!(new["generated_from"], json!(["a", "b"]));
    assert_eq!(new["essential_states"].as_array().unwrap().len(), 5);
    let (report, _) = traces.report(&["--update", "model.json", "c"]);
    assert_eq!(
        report["changes"][0]["change"], "optional-added",
        "nothing becomes essential that was not: {report}"
    );
    traces.write("old.json", &old.to_string());
    let diff = traces.learn(&["--diff", "old.json", "model.json"]);
    assert_eq!(diff.status.code(), Some(1));
    assert!(
        stdout(&diff).contains("- `preflight_validated` is essential no longer, but optional  (weaker)"),
        "{}",
        stdout(&diff)
    );
    let same = traces.learn(&["--diff", "old.json", "old.json"]);
    assert_eq!((same.status.code(), stdout(&same).as_str()), (Some(0), "Nothing changes.\n"));
    let document: Value = serde_json::from_str(&stdout(&traces.learn(&[
        "--format",
        "json",
        "--diff",
        "old.json",
        "model.json",
    ])))
    .unwrap();
    assert_eq!(document["changes"][0]["change"], "essential-removed");
}

#[test]
fn without_an_output_file_the_model_goes_to_stdout_and_the_report_to_stderr() {
    let traces = Traces::new(&[("a", &SIX), ("b", &SIX)]);
    let output = traces.learn(&["a", "b"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(serde_json::from_str::<Value>(&stdout(&output)).unwrap()["essential_states"].is_array());
    assert!(
        stderr(&output).starts_with("Learned 6 essential states and 0 optional states from 2 golden traces.")
    );
}

#[test]
fn what_cannot_be_learned_from_ends_with_2_and_says_why() {
    let traces = Traces::new(&[("a", &["x", "y", "z"]), ("b", &["u", "v", "w"])]);
    for (given, reason) in [
        (&["a", "b"][..], "no state completed in every golden trace"),
        (&["a", "nothing"], "the golden trace `nothing` cannot be read"),
        (&["--deployment-state", "ship", "a"], "the deployment state `ship` completed in no golden trace"),
        (&["--terminal-state", "ship", "a"], "the terminal state `ship` completed in no golden trace"),
        (&["--update", "a", "a"], "the model a cannot be used"),
        (&["--output", "b/is/a/file", "a"], "the model cannot be written to b/is/a/file"),
    ] {
        let output = traces.learn(given);
        assert_eq!(output.status.code(), Some(2), "{given:?}");
        assert!(stderr(&output).contains(reason), "{given:?}: {}", stderr(&output));
    }
}

#[test]
fn text_from_traces_stays_text_in_every_report() {
    let evil = "</details>\u{1b}[31m::error::|`@org` #1";
    let traces = Traces::new(&[]);
    let line = |state: &str| format!("{}\n", json!({"state": state}));
    traces.write("a::b.jsonl", &[line(evil), line("b"), line("c"), line("d")].concat());
    traces.write("c", &[line(evil), line("b"), line("c")].concat());
    for format in ["text", "markdown", "json"] {
        let output = traces.learn(&["--format", format, "--output", "m", "a::b.jsonl", "c"]);
        let text = stdout(&output);
        assert!(
            !text.contains('\u{1b}') && !text.contains("\n::") && text.contains("details"),
            "{format}: {text}"
        );
        if format == "markdown" {
            let options = comrak::Options::default();
            assert!(!comrak::markdown_to_html(&text, &options).contains("@org</"), "{text}");
            assert!(text.matches("</details>").count() <= 5, "{text}");
        }
    }
}

fn step() -> Step {
    let step = Step::new().input("mode", "learn").variable("SOURCE_DATE_EPOCH", "1790000000");
    copy(&fixtures().join("golden/either-order"), &step.workspace().join("golden"));
    std::fs::remove_file(step.workspace().join("golden/set.json")).unwrap();
    step.input("golden-traces", "golden/*.jsonl")
}

const BASELINE: &str = ".azure/baselines/default/dominator-model.json";

#[test]
fn the_action_writes_the_model_into_the_workspace_and_a_summary() {
    let step = step();
    let output = step.run();
    let outputs = step.outputs();
    assert_eq!(outputs["status"], "ok", "{}", stdout(&output));
    assert_eq!((outputs["model-path"].as_str(), outputs["model-changed"].as_str()), (BASELINE, "true"));
    let written = std::fs::read_to_string(step.workspace().join(BASELINE)).unwrap();
    let model: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(model["essential_states"].as_array().unwrap().len(), 6);
    assert!(step.summary().contains("Learned 6 essential states and 1 optional state from 4 golden traces."));
    assert!(step.summary().contains("```mermaid\nflowchart TD"));
    assert_eq!(annotations(&output), Vec::<String>::new());
    let again = step.variable("SOURCE_DATE_EPOCH", "1790009999");
    again.run();
    assert_eq!(again.output("model-changed"), "false");
    assert_eq!(std::fs::read_to_string(again.workspace().join(BASELINE)).unwrap(), written);
}

#[test]
fn the_action_refuses_a_bad_example_and_still_ends_with_0() {
    let step = step().input("model-path", "model.json");
    let bad = step.workspace().join("golden/bad.jsonl");
    std::fs::write(&bad, lines(&events(&["requirements_gathered", "error", "template_generated"]))).unwrap();
    let output = step.run();
    assert!(
        step.output("status").contains("`golden/bad.jsonl` is no good example"),
        "{}",
        step.output("status")
    );
    assert_eq!((step.output("model-path").as_str(), step.output("model-changed").as_str()), ("", "false"));
    assert!(!step.workspace().join("model.json").exists());
    assert!(annotations(&output).iter().any(|line| line.contains("is no good example")));
    let accepted = step.input("golden-accept", "bad.jsonl");
    let output = accepted.run();
    assert_eq!(accepted.output("model-path"), "model.json");
    assert!(
        annotations(&output)
            .iter()
            .any(|line| line.starts_with("::error") && line.contains("security_gate_evaluated"))
    );
}

#[test]
fn the_action_reads_and_writes_nothing_outside_of_the_workspace() {
    let secret = Traces::new(&[("trace.jsonl", &SIX), ("state.json", &[])]);
    let step = step().input("model-path", "../model.json");
    std::os::unix::fs::symlink(secret.0.path(), step.workspace().join("evil")).unwrap();
    let step = step.input("golden-traces", "evil/trace.jsonl\nevil\n../x.jsonl");
    step.run();
    assert!(step.output("status").contains("cannot be read"), "{}", step.output("status"));
    let step = step.input("golden-traces", "golden/*.jsonl");
    step.run();
    assert!(step.output("status").contains("cannot be written"), "{}", step.output("status"));
    assert!(!step.root.path().join("model.json").exists());
    let none = step.input("golden-traces", "");
    none.run();
    assert!(none.output("status").contains("there is nothing to learn from"));
}
