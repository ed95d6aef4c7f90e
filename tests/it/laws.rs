//! The laws of the design, as properties over random runs. Numbers in the names are those of the design.

use std::io::Cursor;

use proptest::prelude::*;
use serde_json::{Value, json};

use process_integrity::conformance::{self, Judgement, Observation, StateStatus};
use process_integrity::evidence::Evidence;
use process_integrity::findings::{self, Facts, TraceFacts};
use process_integrity::health::{Health, results};
use process_integrity::model::{Model, built_in, dominator};
use process_integrity::secrets::Secrets;
use process_integrity::trace::run::{Admission, Pick, RunFilter};
use process_integrity::trace::state_map::StateMap;
use process_integrity::trace::{
    Event, Place, Reading, Status, TraceFormat, copilot, git_ape, jsonl, otlp, sniff,
};
use process_integrity::verdict::{Class, Finding, Verdict};

use crate::support::{CHECKLIST, events, lines};

pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    findings: Vec<Finding>,
    covered: usize,
    states: Vec<StateStatus>,
    damage: u64,
}

impl Answer {
    fn has(&self, id: &str) -> bool {
        self.findings.iter().any(|finding| finding.id.id() == id)
    }

    fn is(&self, state: usize, status: StateStatus) -> bool {
        self.states.get(state) == Some(&status)
    }
}

pub(crate) fn healthy() -> Health {
    results::read(br#"{"resources":[{"resource":"a","status":"pass"}]}"#)
}

/// The whole core on the bytes of a `trace.jsonl`.
pub(crate) fn answer(model: &Model, bytes: &[u8], health: &Health) -> Answer {
    let secrets = Secrets::new([]);
    let mut observation = Observation::new(model, &secrets);
    let mut trace = TraceFacts { file: Some("trace.jsonl".to_owned()), ..TraceFacts::default() };
    let mut filter = RunFilter::new(None, Pick::First);
    trace.reading = jsonl::read(Cursor::new(bytes), &mut |event| {
        trace.all_events += 1;
        if filter.admit(&event) == Admission::Judged {
            observation.clock.tick(&event);
            observation.observe(&event);
        }
    });
    let conformance = conformance::judge(&observation);
    let evidence = Evidence::default();
    let facts = Facts {
        observation: &observation,
        conformance: &conformance,
        sequence: None,
        trace: &trace,
        health,
        evidence: &evidence,
        testimonies: &[],
        folder: "",
        model_problem: None,
        min_events: 3,
        state_map: None,
        head: None,
    };
    let findings = findings::all(&facts);
    Answer {
        verdict: Verdict::of(&findings),
        covered: conformance.coverage.covered,
        states: conformance.judgements.iter().map(Judgement::status).collect(),
        damage: trace.reading.damage.count(),
        findings,
    }
}

/// The verdict on a healthy deployment that went this way.
pub(crate) fn verdict_of(model: &Model, words: &[&str]) -> Verdict {
    answer(model, lines(&events(words)).as_bytes(), &healthy()).verdict
}

fn of(words: &[&str]) -> Answer {
    answer(&built_in::checklist().unwrap(), lines(&events(words)).as_bytes(), &healthy())
}

/// Runs that are verified: the checklist with its gates in either order, noise, starts and fix loops in between.
fn verified() -> impl Strategy<Value = Vec<&'static str>> {
    let noise = || {
        proptest::collection::vec(
            prop::sample::select(vec!["chat", "cost_estimated", "tool:failed", "x:started"]),
            0..3,
        )
    };
    (any::<bool>(), any::<bool>(), noise(), noise(), noise()).prop_map(|(swap, fix, a, b, c)| {
        let mut run = vec!["requirements_gathered:started", "requirements_gathered"];
        run.extend(a);
        run.push("template_generated");
        if fix {
            run.extend(["security_gate_evaluated:blocked", "template_generated"]);
        }
        run.extend(b);
        let gates = if swap {
            ["preflight_validated", "security_gate_evaluated"]
        } else {
            ["security_gate_evaluated", "preflight_validated"]
        };
        run.extend(gates);
        run.extend(c);
        run.extend(["deployment_executed:started", "deployment_executed", "integration_tests_passed"]);
        run
    })
}

/// Any run at all over the checklist's states and others, with any status.
fn any_run() -> impl Strategy<Value = Vec<String>> {
    let state = prop::sample::select([&CHECKLIST[..], &["other", "error"][..]].concat());
    let status = prop::sample::select(vec![
        "completed",
        "completed",
        "completed",
        "failed",
        "skipped",
        "started",
        "error",
        "odd",
    ]);
    proptest::collection::vec((state, status).prop_map(|(state, status)| format!("{state}:{status}")), 0..30)
}

fn words(run: &[String]) -> Vec<&str> {
    run.iter().map(String::as_str).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn law_1_states_outside_the_model_never_change_verdict_or_coverage(
        run in any_run(),
        noise in proptest::collection::vec((0usize..30, prop::sample::select(vec!["n1", "n2:failed", "n3:started", "n4:skipped"])), 0..6),
    ) {
        let mut own: Vec<&str> = words(&run).into_iter().filter(|word| !word.starts_with("other") && !word.starts_with("error")).collect();
        prop_assume!(own.len() >= 3);
        let before = of(&own);
        for (at, word) in noise {
            own.insert(at.min(own.len()), word);
        }
        let after = of(&own);
        prop_assert_eq!((before.verdict, before.covered, before.states), (after.verdict, after.covered, after.states));
    }

    #[test]
    fn law_2_a_state_taken_away_is_exactly_what_is_missing(run in verified(), at in 0usize..6) {
        prop_assert_eq!(of(&run).verdict, Verdict::VerifiedSuccess);
        let state = CHECKLIST[at];
        let without: Vec<&str> = run.iter().copied().filter(|word| word.split(':').next() != Some(state)).collect();
        let answer = of(&without);
        prop_assert_eq!(answer.verdict, Verdict::ProcessViolation);
        for (other, _) in CHECKLIST.iter().enumerate() {
            prop_assert_eq!(answer.is(other, StateStatus::Missing), other == at, "{:?}", answer.states);
        }
    }

    #[test]
    fn law_3_a_gate_behind_the_deployment_is_late_and_a_redone_template_makes_stale(run in verified(), gate in 2usize..4) {
        let deployment = run.iter().position(|word| *word == "deployment_executed").unwrap();
        let mut moved = run.clone();
        moved.insert(deployment + 1, CHECKLIST[gate]);
        let moved: Vec<&str> = moved.iter().enumerate()
            .filter(|(at, word)| *at > deployment || word.split(':').next() != Some(CHECKLIST[gate]))
            .map(|(_, word)| *word).collect();
        let late = of(&moved);
        prop_assert!(late.is(gate, StateStatus::Late), "{:?}", late.states);
        prop_assert_eq!(late.verdict, Verdict::ProcessViolation);
        let mut redone = run;
        redone.insert(deployment, "template_generated");
        let stale = of(&redone);
        prop_assert!(stale.is(2, StateStatus::Stale) && stale.is(3, StateStatus::Stale));
        prop_assert_eq!(stale.verdict, Verdict::ProcessViolation);
    }

    #[test]
    fn law_4_unhealthy_is_always_a_deployment_failure(run in any_run()) {
        let sick = results::read(br#"{"resources":[{"resource":"a","status":"fail"}]}"#);
        let answer = answer(&built_in::checklist().unwrap(), lines(&events(&words(&run))).as_bytes(), &sick);
        prop_assert_eq!(answer.verdict, Verdict::DeploymentFailure);
    }

    #[test]
    fn law_5_verified_means_nothing_is_held_against_it(run in any_run()) {
        let answer = of(&words(&run));
        if answer.verdict == Verdict::VerifiedSuccess {
            prop_assert_eq!(answer.covered, 6);
            prop_assert!(answer.findings.iter().all(|finding| finding.id.class() == Class::Notice));
            prop_assert_eq!(answer.damage, 0);
        } else {
            prop_assert!(answer.findings.iter().any(|finding| finding.id.class() != Class::Notice));
        }
    }

    #[test]
    fn law_6_layout_never_changes_anything(run in any_run(), reverse in any::<bool>()) {
        let own = events(&words(&run));
        let plain = lines(&own);
        let dressed: String = own.iter().map(|event| {
            let mut pairs: Vec<(String, Value)> = event.as_object().unwrap().clone().into_iter().collect();
            pairs.push(("zz_unknown".to_owned(), json!({"deep": [1, {"state": "security_gate_evaluated"}]})));
            if reverse {
                pairs.reverse();
            }
            let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{} : {value}", Value::from(key.clone()))).collect();
            format!("  {{ {} }}\r\n\r\n", pairs.join(" ,\t"))
        }).collect();
        let model = built_in::checklist().unwrap();
        let plain = answer(&model, plain.as_bytes(), &healthy());
        let dressed = answer(&model, format!("\u{feff}{dressed}").as_bytes(), &healthy());
        prop_assert_eq!((plain.verdict, plain.states, dressed.damage), (dressed.verdict, dressed.states, 0));
    }

    #[test]
    fn law_7_on_a_chain_coverage_is_the_longest_common_subsequence(
        run in proptest::collection::vec(0usize..7, 0..24),
    ) {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let model = dominator::parse(json!({"essential_states": names, "artifact_states": []}).to_string().as_bytes()).unwrap();
        let words: Vec<&str> = run.iter().map(|at| names[*at]).collect();
        let secrets = Secrets::default();
        let mut observation = Observation::new(&model, &secrets);
        for word in &words {
            observation.observe(&Event::new(*word, Status::Completed, Place::default()));
        }
        let judged = conformance::judge(&observation);
        // Representatives of the states that nothing else is held against, in the order of the run.
        let eligible = |at: &usize| matches!(judged.judgements[*at].status(), StateStatus::Covered | StateStatus::OutOfOrder);
        let mut last: Vec<(usize, usize)> = (0..7)
            .filter(eligible)
            .filter_map(|at| words.iter().rposition(|word| *word == names[at]).map(|index| (index, at)))
            .collect();
        last.sort_unstable();
        let order: Vec<usize> = last.into_iter().map(|(_, at)| at).collect();
        let mut best = 0;
        for mask in 0u32..(1 << order.len()) {
            let chosen: Vec<usize> = order.iter().enumerate().filter(|(at, _)| mask & (1 << at) != 0).map(|(_, s)| *s).collect();
            if chosen.windows(2).all(|pair| pair[0] < pair[1]) {
                best = best.max(chosen.len());
            }
        }
        prop_assert_eq!(judged.coverage.covered, best);
    }

    #[test]
    fn law_8_any_bytes_give_a_report(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let model = built_in::checklist().unwrap();
        let answer = answer(&model, &bytes, &results::read(&bytes));
        prop_assert!(answer.verdict != Verdict::VerifiedSuccess);
        let mut count = 0;
        copilot::read(Cursor::new(&bytes), &StateMap::default(), &mut |_| count += 1);
        otlp::read(Cursor::new(&bytes), &StateMap::default(), &mut |_| count += 1);
        let execution = git_ape::read(Cursor::new(&bytes));
        prop_assert!(execution.reading.damage.count() > 0 || execution.entries.is_empty());
        let _ = dominator::parse(&bytes);
    }

    #[test]
    fn law_8_damaged_traces_never_panic_and_never_verify(run in verified(), at in 0usize..2000, cut in 0usize..40, byte in any::<u8>()) {
        let mut bytes = lines(&events(&run)).into_bytes();
        let at = at % bytes.len();
        let end = (at + cut).min(bytes.len());
        bytes.splice(at..end, [byte]);
        let answer = answer(&built_in::checklist().unwrap(), &bytes, &healthy());
        if answer.damage > 0 {
            prop_assert!(answer.verdict != Verdict::VerifiedSuccess);
        }
    }

    #[test]
    fn law_9_the_same_run_is_the_same_trace_in_every_format(
        run in proptest::collection::vec((0usize..6, prop::sample::select(vec!["completed", "failed"])), 1..12),
    ) {
        let words: Vec<String> = run.iter().map(|(at, status)| format!("{}:{status}", CHECKLIST[*at])).collect();
        let own = events(&self::words(&words));
        let mut expected = Vec::new();
        jsonl::read(Cursor::new(lines(&own)), &mut |event| expected.push((event.state.to_string(), event.status, event.time)));
        let time = |event: &Value| event["timestamp"].as_str().unwrap().to_owned();
        // git-ape v1
        let nodes: Vec<Value> = own.iter().map(|event| json!({"type": "node", "node": event["state"], "status": event["status"], "recordedAt": event["timestamp"]})).collect();
        let document = json!({"schemaVersion": "git-ape-execution-trace/v1", "events": nodes}).to_string();
        let entries = git_ape::read(Cursor::new(document)).entries;
        let v1: Vec<_> = entries.iter().filter_map(|entry| entry.event()).map(|e| (e.state.to_string(), e.status, e.time)).collect();
        prop_assert_eq!(&v1, &expected);
        // OTLP
        let spans: Vec<Value> = own.iter().map(|event| {
            let micros = process_integrity::trace::Time::of_text(&time(event)).micros().unwrap();
            json!({"name": event["state"], "endTimeUnixNano": format!("{micros}000"), "status": {"code": if event["status"] == "failed" { 2 } else { 1 }}})
        }).collect();
        let export = json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string();
        let mut found = Vec::new();
        otlp::read(Cursor::new(export), &StateMap::default(), &mut |e| found.push((e.state.to_string(), e.status, e.time)));
        prop_assert_eq!(&found, &expected);
        // Copilot
        let log: String = own.iter().map(|event| {
            let record = json!({"type": format!("subagent.{}", event["status"].as_str().unwrap()), "timestamp": event["timestamp"], "data": {"agentName": event["state"]}});
            format!("{record}\n")
        }).collect();
        let mut found = Vec::new();
        copilot::read(Cursor::new(log), &StateMap::default(), &mut |e| found.push((e.state.to_string(), e.status, e.time)));
        prop_assert_eq!(&found, &expected);
        // Harnesses whose tools are states only where the map has them. A start is there in these formats alone.
        let map = json!({"a": "requirements_gathered", "b": "template_generated", "c": "security_gate_evaluated", "d": "preflight_validated", "e": "deployment_executed", "f": "integration_tests_passed"});
        let map = StateMap::parse(map.to_string().as_bytes()).unwrap();
        let tool = |event: &Value| ["a", "b", "c", "d", "e", "f"][CHECKLIST.iter().position(|name| event["state"] == *name).unwrap()];
        let calls = |format: TraceFormat, call: &dyn Fn(usize, &Value) -> [Value; 2]| {
            let log: String = own.iter().enumerate().flat_map(|(at, event)| call(at, event)).map(|record| format!("{record}\n")).collect();
            assert_eq!(sniff::sniff(log.as_bytes()), Some(format));
            let mut found = Vec::new();
            let reading = format.read(Cursor::new(log), &map, &mut |e| found.push((e.state.to_string(), e.status, e.time)));
            assert_eq!(reading, Reading::default());
            found.retain(|(_, status, _)| *status != Status::Started);
            found
        };
        let claude = calls(TraceFormat::ClaudeCode, &|at, event| {
            let content = [
                json!({"type": "tool_use", "id": format!("t{at}"), "name": "Skill", "input": {"skill": tool(event)}}),
                json!({"type": "tool_result", "tool_use_id": format!("t{at}"), "is_error": event["status"] == "failed", "content": "x"}),
            ];
            let types = ["assistant", "user"];
            std::array::from_fn(|i| json!({"type": types[i], "sessionId": "s", "uuid": format!("u{at}{i}"), "timestamp": event["timestamp"], "message": {"role": types[i], "content": [content[i]]}}))
        });
        prop_assert_eq!(&claude, &expected);
        let codex = calls(TraceFormat::Codex, &|at, event| {
            let output = json!({"output": "x", "metadata": {"exit_code": u8::from(event["status"] == "failed")}}).to_string();
            let payloads = [
                json!({"type": "function_call", "name": tool(event), "arguments": "{}", "call_id": format!("c{at}")}),
                json!({"type": "function_call_output", "call_id": format!("c{at}"), "output": output}),
            ];
            payloads.map(|payload| json!({"timestamp": event["timestamp"], "type": "response_item", "payload": payload}))
        });
        prop_assert_eq!(&codex, &expected);
        // The end of a call of Copilot's may give nothing but the id of its start.
        let copilot = calls(TraceFormat::CopilotEvents, &|at, event| [
            json!({"type": "tool.execution_start", "timestamp": event["timestamp"], "data": {"toolCallId": format!("c{at}"), "toolName": tool(event)}}),
            json!({"type": "tool.execution_complete", "timestamp": event["timestamp"], "data": {"toolCallId": format!("c{at}"), "success": event["status"] != "failed"}}),
        ]);
        prop_assert_eq!(&copilot, &expected);
    }

    #[test]
    fn law_10_a_last_failure_never_leaves_a_run_verified(run in verified(), at in 0usize..6, status in prop::sample::select(vec!["failed", "blocked", "error"])) {
        let mut run: Vec<String> = run.iter().map(|word| (*word).to_owned()).collect();
        let failed = format!("{}:{status}", CHECKLIST[at]);
        if at < 4 {
            let deployment = run.iter().position(|word| word == "deployment_executed").unwrap();
            run.insert(deployment, failed);
        } else {
            run.push(failed);
        }
        prop_assert!(of(&words(&run)).verdict != Verdict::VerifiedSuccess);
    }
}

#[test]
fn a_threshold_forgives_what_is_merely_missing_and_nothing_else() {
    let model = dominator::parse(
        br#"{"essential_states":["a","b","c","d"],"coverage_threshold":75,"deployment_state":"c"}"#,
    )
    .unwrap();
    let run = |words: &[&str]| answer(&model, lines(&events(words)).as_bytes(), &healthy());
    let missing = run(&["a", "c", "d"]);
    assert_eq!(missing.verdict, Verdict::VerifiedSuccess);
    assert!(missing.has("below-full-coverage") && !missing.has("state-missing"));
    let failed = run(&["a", "b:failed", "c", "d"]);
    assert_eq!(failed.verdict, Verdict::ProcessViolation);
    assert!(failed.has("state-failed"));
    assert!(run(&["c", "d"]).has("state-missing"));
}
