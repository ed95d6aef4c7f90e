//! One row a finding: the smallest change to a verified deployment that raises it. And what is read from where.

use serde_json::json;

use crate::support::{CHECKLIST, Deployment, ID, events, ids, lines};
use process_integrity::verdict::FindingId;

/// Changes a verified deployment and gives further arguments.
type Change = fn(&Deployment) -> Vec<String>;

fn plain(words: &[&str]) -> Vec<serde_json::Value> {
    events(words)
}

/// The trace of the checklist with a word replaced; an empty word takes the state away.
fn with(deployment: &Deployment, state: &str, words: &[&str]) -> Vec<String> {
    let all = CHECKLIST.iter().flat_map(|own| if *own == state { words.to_vec() } else { vec![*own] });
    deployment.trace(&plain(&all.collect::<Vec<_>>()));
    vec![]
}

const TRACE_V1: &str = include_str!("../../fixtures/verified-success__git-ape-v1/traces/run-1.json");
const GRAPH: &str = include_str!("../../fixtures/verified-success__git-ape-v1/execution-graphs/run-1.json");

/// A v1 trace in place of the lines, with one text replaced.
fn v1(deployment: &Deployment, from: &str, to: &str) -> Vec<String> {
    assert!(TRACE_V1.contains(from), "{from}");
    deployment.remove("trace.jsonl").write("traces/run-1.json", &TRACE_V1.replacen(from, to, 1));
    deployment.write("execution-graphs/run-1.json", GRAPH);
    vec![]
}

fn tests(deployment: &Deployment, results: &str) -> Vec<String> {
    deployment.write("tests.json", results);
    vec![]
}

#[test]
fn every_finding_has_a_deployment_that_raises_it() {
    use FindingId as F;
    let rows: &[(FindingId, Change)] = &[
        (F::ResourceUnhealthy, |d| tests(d, r#"{"resources":[{"resource":"a","status":"fail"}]}"#)),
        (F::TestsFailed, |d| tests(d, r#"{"status":"failed","resources":[]}"#)),
        (F::HealthContradiction, |d| {
            tests(d, r#"{"status":"passed","resources":[{"name":"a","provisioningState":"Failed"}]}"#)
        }),
        (F::DeploymentFailed, |d| with(d, "deployment_executed", &["deployment_executed:failed"])),
        (F::StoppedBeforeDeployment, |d| {
            d.trace(&plain(&[
                "requirements_gathered",
                "template_generated",
                "security_gate_evaluated:blocked",
            ]));
            vec![]
        }),
        (F::StateMissing, |d| with(d, "preflight_validated", &[])),
        (F::StateFailed, |d| with(d, "preflight_validated", &["preflight_validated:skipped"])),
        (F::StateLate, |d| {
            with(d, "preflight_validated", &[]);
            let words = ["deployment_executed", "preflight_validated", "integration_tests_passed"];
            with(d, "deployment_executed", &[]);
            let all = [&CHECKLIST[..3], &words[..]].concat();
            d.trace(&plain(&all));
            vec![]
        }),
        (F::StateStale, |d| with(d, "preflight_validated", &["preflight_validated", "template_generated"])),
        (F::HealthUnknown, |d| {
            d.remove("tests.json");
            vec![]
        }),
        (F::TraceMissing, |d| {
            d.remove("trace.jsonl");
            vec![]
        }),
        (F::TraceForeign, |d| {
            let mut foreign = plain(&CHECKLIST);
            foreign[2]["deployment_id"] = "another".into();
            d.trace(&foreign);
            vec![]
        }),
        (F::TraceMismatch, |d| v1(d, "sha256:aa40", "sha256:ff40")),
        (F::TraceTampered, |d| {
            d.write("trace.jsonl", "{\"state\":\"requirements_gathered\",\"prev\":\"sha256:0\"}\n");
            vec![]
        }),
        (F::EvidenceContradiction, |d| {
            d.write("security-gate.json", r#"{"gate":"BLOCKED"}"#);
            vec![]
        }),
        (F::EvidenceRequired, |_| vec!["--evidence".into(), "require".into()]),
        (F::ModelInvalid, |d| {
            d.write("m.json", "{}");
            vec!["--model".into(), d.path().join("m.json").display().to_string()]
        }),
        (F::ResultsInvalid, |d| tests(d, "{")),
        (F::EvidenceUnreadable, |d| {
            d.write("metadata.json", "{");
            vec![]
        }),
        (F::ErrorEvent, |d| with(d, "template_generated", &["template_generated", "error"])),
        (F::ErrorThenJump, |d| with(d, "preflight_validated", &["tool:crashed"])),
        (F::Retry, |d| {
            with(d, "deployment_executed", &["deployment_executed:failed", "deployment_executed"])
        }),
        (F::OutOfOrder, |d| {
            d.write("m.json", r#"{"essential_states":["a","b","c"]}"#).trace(&plain(&["b", "a", "c"]));
            vec!["--model".into(), d.path().join("m.json").display().to_string()]
        }),
        (F::IncompleteWorkflow, |d| with(d, "integration_tests_passed", &[])),
        (F::ShortTrace, |_| vec!["--min-events".into(), "7".into()]),
        (F::TraceCorrupt, |d| {
            d.write("trace.jsonl", &format!("{}torn", lines(&plain(&CHECKLIST))));
            vec![]
        }),
        (F::ClockAnomaly, |d| {
            let mut wrong = plain(&CHECKLIST);
            wrong[3]["timestamp"] = "yesterday".into();
            d.trace(&wrong);
            vec![]
        }),
        (F::EventSequence, |d| v1(d, r#""type": "transition""#, r#""type": "node", "node": "x""#)),
        (F::GateOverridden, |d| with(d, "security_gate_evaluated", &["security_gate_evaluated:overridden"])),
        (F::UndeclaredState, |d| v1(d, r#""node": "azure_login""#, r#""node": "cloud_login""#)),
        (F::UndeclaredTransition, |d| v1(d, r#""to": "azure_login""#, r#""to": "cloud_login""#)),
        (F::GateLoop, |d| {
            with(
                d,
                "security_gate_evaluated",
                &["security_gate_evaluated:blocked", "template_generated", "security_gate_evaluated"],
            )
        }),
        (F::EarlierRuns, |d| {
            let mut runs = plain(&["requirements_gathered"]);
            runs[0]["run_id"] = 1.into();
            let mut second = plain(&CHECKLIST);
            second.iter_mut().for_each(|event| event["run_id"] = "2".into());
            runs.extend(second);
            d.trace(&runs);
            vec![]
        }),
        (F::OtherTraces, |d| {
            d.write("events.jsonl", "");
            vec![]
        }),
        (F::InvokedOnly, |d| {
            let mut invoked = plain(&CHECKLIST);
            invoked[2] = json!({"state": "security_gate_evaluated", "action": "skill_invoke"});
            d.trace(&invoked);
            vec![]
        }),
        (F::BelowFullCoverage, |d| {
            with(d, "preflight_validated", &[]);
            vec!["--coverage-threshold".into(), "80".into()]
        }),
        (F::EvidenceMissing, |_| vec![]),
        (F::OrderUnproven, |d| {
            let mut timeless = plain(&CHECKLIST);
            timeless.iter_mut().for_each(|event| event["timestamp"] = serde_json::Value::Null);
            d.trace(&timeless);
            vec![]
        }),
        (F::UnknownStatus, |d| with(d, "template_generated", &["template_generated", "chat:meandering"])),
    ];
    let covered: std::collections::BTreeSet<FindingId> = rows.iter().map(|(id, _)| *id).collect();
    let absent: Vec<&FindingId> = FindingId::ALL.iter().filter(|id| !covered.contains(id)).collect();
    assert!(absent.is_empty(), "no row for {absent:?}");
    for (id, change) in rows {
        let deployment = Deployment::verified();
        let (before, _) = deployment.check(&[]);
        assert_eq!(before["verdict"], "verified-success");
        let arguments = change(&deployment);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (report, _) = deployment.check(&arguments);
        let found = report["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == id.id());
        let Some(found) = found else { panic!("{}: {:?}", id.id(), ids(&report)) };
        assert_eq!(found["class"], id.class().id());
        assert!(
            !found["message"].as_str().unwrap().is_empty() && !found["hint"].as_str().unwrap().is_empty()
        );
        let worst = report["findings"][0]["class"].as_str().unwrap();
        let verdict = match worst {
            "failure" => "deployment-failure",
            "violation" => "process-violation",
            "agent" => "agent-issue",
            _ => "verified-success",
        };
        assert_eq!(report["verdict"], verdict, "{}", id.id());
    }
}

#[test]
fn a_message_names_the_state_the_line_and_what_to_do() {
    let deployment = Deployment::verified();
    with(&deployment, "preflight_validated", &["preflight_validated", "template_generated"]);
    let (report, _) = deployment.check(&[]);
    let finding = &report["findings"][0];
    assert_eq!((finding["id"].as_str(), finding["line"].as_u64()), (Some("state-stale"), Some(3)));
    assert_eq!(
        finding["message"],
        "`security_gate_evaluated` (line 3) is about `template_generated`, which completed after it (line 5), \
         and was not repeated before the deployment (line 6)"
    );
    assert!(finding["file"].as_str().unwrap().ends_with("/trace.jsonl"));
}

#[test]
fn files_of_the_wrong_kind_are_refused_each_with_a_finding() {
    for (file, finding) in [
        ("trace.jsonl", "trace-missing"),
        ("tests.json", "results-invalid"),
        ("state.json", "evidence-unreadable"),
        ("metadata.json", "evidence-unreadable"),
        ("security-gate.json", "evidence-unreadable"),
        ("authorization.json", "evidence-unreadable"),
    ] {
        let deployment = Deployment::verified();
        let path = deployment.path().join(file);
        let _ = std::fs::remove_file(&path);
        std::fs::create_dir(&path).unwrap();
        let (report, code) = deployment.check(&[]);
        assert!(ids(&report).contains(&finding), "{file}: {:?}", ids(&report));
        assert_eq!(code, 1);
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_workspace_counts_as_absent_and_nothing_replaces_it() {
    let elsewhere = tempfile::tempdir().unwrap();
    for (file, finding) in [
        ("trace.jsonl", "trace-missing"),
        ("tests.json", "health-unknown"),
        ("security-gate.json", "evidence-missing"),
    ] {
        let deployment = Deployment::verified();
        deployment
            .write("events.jsonl", "{\"type\":\"abort\",\"data\":{}}\n")
            .write("junit.xml", "<testsuite/>");
        let real = elsewhere.path().join(file);
        let path = deployment.path().join(file);
        if path.exists() {
            std::fs::rename(&path, &real).unwrap();
        } else {
            std::fs::write(&real, r#"{"gate":"BLOCKED"}"#).unwrap();
        }
        std::os::unix::fs::symlink(&real, &path).unwrap();
        let (report, _) = deployment.check(&[]);
        let found = report["findings"].as_array().unwrap().iter().find(|f| {
            f["id"] == finding && f["message"].as_str().unwrap().contains("it leads out of the workspace")
        });
        assert!(found.is_some(), "{file}: {report}");
    }
}

#[test]
fn a_file_over_the_cap_is_refused() {
    let deployment = Deployment::verified();
    let file = std::fs::File::create(deployment.path().join("tests.json")).unwrap();
    file.set_len((16 << 20) + 1).unwrap();
    let (report, _) = deployment.check(&[]);
    let message = report["findings"][0]["message"].as_str().unwrap();
    assert!(message.contains("larger than 16 MiB"), "{message}");
    let file = std::fs::File::create(deployment.path().join("trace.jsonl")).unwrap();
    file.set_len((1 << 30) + 1).unwrap();
    let (report, _) = deployment.check(&[]);
    assert!(ids(&report).contains(&"trace-missing"));
}

#[test]
fn the_baseline_of_the_workspace_is_used_and_never_for_a_v1_trace() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(".azure/deployments").join(ID);
    std::fs::create_dir_all(&folder).unwrap();
    let baseline = root.path().join(".azure/baselines/default");
    std::fs::create_dir_all(&baseline).unwrap();
    std::fs::write(baseline.join("dominator-model.json"), r#"{"essential_states":["a"]}"#).unwrap();
    std::fs::write(folder.join("trace.jsonl"), lines(&plain(&["a"]))).unwrap();
    let (report, _) = crate::support::check(&folder, &[]);
    assert_eq!(
        (report["model"]["source"].as_str(), report["coverage"]["covered"].as_u64()),
        (Some("baseline"), Some(1))
    );
    std::fs::remove_file(folder.join("trace.jsonl")).unwrap();
    std::fs::create_dir(folder.join("traces")).unwrap();
    std::fs::write(folder.join("traces/run-1.json"), TRACE_V1).unwrap();
    let (report, _) = crate::support::check(&folder, &[]);
    assert_eq!(
        (report["model"]["source"].as_str(), report["coverage"]["covered"].as_u64()),
        (Some("built-in"), Some(9))
    );
}

#[test]
fn an_unreadable_v1_trace_is_the_oldest_and_told() {
    let deployment = Deployment::verified();
    v1(&deployment, "x", "x");
    deployment.write("traces/run-9.json", "{\"startedAt\":\"2030-01-01T00:00:00Z\",");
    let (report, _) = deployment.check(&[]);
    assert!(report["trace"]["path"].as_str().unwrap().ends_with("traces/run-1.json"));
    let corrupt = report["findings"].as_array().unwrap().iter().find(|f| f["id"] == "trace-corrupt").unwrap();
    assert!(corrupt["file"].as_str().unwrap().ends_with("traces/run-9.json"));
    assert_eq!(report["verdict"], "agent-issue");
}

#[test]
fn a_long_trace_takes_no_more_memory_than_a_short_one() {
    // 20 rounds of everything, so that every list that could grow does.
    let deployment = Deployment::verified();
    let rounds: Vec<&str> = std::iter::repeat_n(&CHECKLIST[..], 20_000).flatten().copied().collect();
    let mut text = String::new();
    for state in rounds {
        text.push_str(&format!("{{\"state\":\"{state}\"}}\n"));
    }
    deployment.write("trace.jsonl", &text);
    let (report, _) = deployment.check(&[]);
    assert_eq!(report["trace"]["events"], 120_000);
    assert_eq!(report["verdict"], "verified-success", "{:?}", ids(&report));
}
