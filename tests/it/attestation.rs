//! The attestation: what it says, of what, and that nobody can change what was judged without it being seen.

use std::path::Path;
use std::process::Command;

use process_integrity::digest::digest;
use serde_json::{Value, json};

use crate::support::{Deployment, cases, fixtures, program, stderr, stdout};

const REPORT: &str = "https://github.com/Azure/process-integrity/report/v1";

/// Checks folders and gives the statements. The time is the one of the tests.
fn attest(folders: &[&Path], arguments: &[&str]) -> Vec<Value> {
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("attestation.json");
    let mut command = program();
    command.arg("check").args(folders).args(["--format", "json", "--attestation"]).arg(&file).args(arguments);
    let output = command.env("SOURCE_DATE_EPOCH", "1791201600").output().unwrap();
    let text = std::fs::read_to_string(&file).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    assert!(text.ends_with('\n'));
    let statements: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let parts = ["attestation.predicate.json", "attestation.subjects.txt"].map(|name| out.path().join(name));
    if let [one] = statements.as_slice() {
        let predicate: Value = serde_json::from_slice(&std::fs::read(&parts[0]).unwrap()).unwrap();
        assert_eq!(predicate, one["predicate"]);
        let subjects = std::fs::read_to_string(&parts[1]).unwrap();
        let named: Vec<String> = one["subject"]
            .as_array()
            .unwrap()
            .iter()
            .map(|subject| {
                format!("{}  {}", text_of(&subject["digest"]["sha256"]), text_of(&subject["name"]))
            })
            .collect();
        assert_eq!(subjects.lines().collect::<Vec<_>>(), named);
    } else {
        assert!(parts.iter().all(|part| !part.exists()), "a signer takes one predicate");
    }
    statements
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn of(deployment: &Deployment) -> Value {
    attest(&[deployment.path()], &[]).pop().unwrap()
}

fn hex(path: &Path) -> String {
    digest(&std::fs::read(path).unwrap()).trim_start_matches("sha256:").to_owned()
}

/// The keys of an object, sorted.
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("{value} is no object")).keys().map(String::as_str).collect()
}

fn is_digest(value: &Value) -> bool {
    keys(value) == ["sha256"] && text_of(&value["sha256"]).len() == 64
}

#[test]
fn every_case_has_a_statement_with_the_fields_of_the_specification() {
    let mut passed = 0;
    for case in cases() {
        let report = crate::support::check(&case, &[]).0;
        let statement = attest(&[&case], &[]).pop().unwrap();
        assert_eq!(keys(&statement), ["_type", "predicate", "predicateType", "subject"]);
        assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
        assert_eq!(statement["predicateType"], "https://slsa.dev/verification_summary/v1");
        let subjects = statement["subject"].as_array().unwrap();
        assert!(!subjects.is_empty());
        for subject in subjects {
            assert_eq!(keys(subject), ["digest", "name"]);
            assert!(is_digest(&subject["digest"]));
        }
        let summary = &statement["predicate"];
        let fields = [
            REPORT,
            "inputAttestations",
            "policy",
            "resourceUri",
            "timeVerified",
            "verificationResult",
            "verifiedLevels",
            "verifier",
        ];
        assert_eq!(keys(summary), fields);
        assert_eq!(summary["timeVerified"], "2026-10-05T12:00:00Z");
        assert_eq!(summary["verifier"]["id"], "https://github.com/Azure/process-integrity");
        assert_eq!(summary["verifier"]["version"], json!({"process-integrity": env!("CARGO_PKG_VERSION")}));
        assert_eq!(keys(&summary["policy"]), ["digest", "uri"]);
        assert_eq!(
            format!("sha256:{}", text_of(&summary["policy"]["digest"]["sha256"])),
            report["model"]["digest"]
        );
        for input in summary["inputAttestations"].as_array().unwrap() {
            assert_eq!(keys(input), ["digest", "uri"]);
            let path = Path::new(text_of(&input["uri"]));
            assert_eq!(hex(path), text_of(&input["digest"]["sha256"]), "{}", path.display());
        }
        let verified = report["verdict"] == "verified-success";
        passed += usize::from(verified);
        let (result, level) =
            if verified { ("PASSED", "PROCESS_INTEGRITY_VERIFIED") } else { ("FAILED", "FAILED") };
        assert_eq!(
            (&summary["verificationResult"], &summary["verifiedLevels"]),
            (&result.into(), &json!([level]))
        );
        assert_eq!(summary[REPORT], report);
    }
    assert!(passed > 10);
}

#[test]
fn only_the_time_differs_between_two_runs() {
    let case = fixtures().join("verified-success__gate-tied-to-the-template");
    let write = |epoch: &str| {
        let out = tempfile::tempdir().unwrap();
        let file = out.path().join("a");
        program()
            .arg("check")
            .arg(&case)
            .arg("--attestation")
            .arg(&file)
            .env("SOURCE_DATE_EPOCH", epoch)
            .output()
            .unwrap();
        std::fs::read_to_string(file).unwrap()
    };
    assert_eq!(write("1791201600"), write("1791201600"));
    assert_eq!(
        write("1791201600").replace("2026-10-05T12:00:00Z", "2026-10-05T12:00:01Z"),
        write("1791201601")
    );
}

#[test]
fn the_digest_of_a_deployment_is_that_of_what_sha256sum_writes() {
    let deployment = tied();
    let statement = of(&deployment);
    let script = "LC_ALL=C; export LC_ALL; sha256sum security-gate.json state.json template.json tests.json trace.jsonl | sort -k2 | sha256sum";
    let output = Command::new("sh").args(["-c", script]).current_dir(deployment.path()).output().unwrap();
    let told = stdout(&output);
    let [template, whole] = statement["subject"].as_array().unwrap().as_slice() else {
        panic!("{statement}")
    };
    assert_eq!(text_of(&template["digest"]["sha256"]), hex(&deployment.path().join("template.json")));
    assert!(text_of(&template["name"]).ends_with("/template.json"));
    assert_eq!(Some(text_of(&whole["digest"]["sha256"])), told.split_whitespace().next());
}

/// A verified deployment whose gate names its template.
fn tied() -> Deployment {
    let deployment = Deployment::verified();
    deployment.write("template.json", "{\n  \"resources\": []\n}\n");
    let gate =
        json!({"gate": "PASSED", "template": {"sha256": hex(&deployment.path().join("template.json"))}});
    deployment.write("security-gate.json", &gate.to_string());
    deployment
}

#[test]
fn what_is_changed_after_it_was_attested_is_seen() {
    let deployment = tied();
    let before = of(&deployment);
    assert_eq!(before["predicate"]["verificationResult"], "PASSED");
    let subject = |statement: &Value| statement["subject"].clone();
    for (name, text) in [
        ("template.json", "{\n  \"resources\": [{}]\n}\n"),
        ("trace.jsonl", "{\"state\":\"requirements_gathered\"}\n"),
        (
            "tests.json",
            "{\"status\":\"passed\",\"resources\":[{\"name\":\"x\",\"provisioningState\":\"Succeeded\"}]}",
        ),
        ("state.json", "{\"status\":\"succeeded\"}"),
        ("requirements.json", "{}"),
    ] {
        let deployment = tied();
        deployment.write(name, text);
        assert_ne!(subject(&of(&deployment)), subject(&before), "{name}");
    }
    // Another template than the gate passed is no success at all.
    deployment.write("template.json", "{\n  \"resources\": [{}]\n}\n");
    assert_eq!(of(&deployment)["predicate"]["verificationResult"], "FAILED");
    // An easier model gives another policy.
    deployment.write("model.json", r#"{"version":"1.0","essential_states":["requirements_gathered"]}"#);
    let model = deployment.path().join("model.json");
    let easier = attest(&[deployment.path()], &["--model", model.to_str().unwrap()]).pop().unwrap();
    assert_eq!(text_of(&easier["predicate"]["policy"]["digest"]["sha256"]), hex(&model));
    assert_ne!(easier["predicate"]["policy"], before["predicate"]["policy"]);
}

#[test]
fn the_options_that_make_it_easier_are_told() {
    let deployment = tied();
    deployment.write("map.json", r#"{"my-scanner":"security_gate_evaluated"}"#);
    let map = deployment.path().join("map.json");
    let arguments = [
        "--coverage-threshold",
        "50",
        "--evidence",
        "off",
        "--min-events",
        "1",
        "--terminal-state",
        "deployment_executed",
    ];
    let statement =
        attest(&[deployment.path()], &[&arguments[..], &["--state-map", map.to_str().unwrap()]].concat());
    let summary = &statement[0]["predicate"];
    assert_eq!(summary[REPORT]["coverage"]["threshold"], 50);
    let options = &summary[REPORT]["options"];
    assert_eq!((&options["evidence"], &options["min_events"]), (&"off".into(), &1.into()));
    assert_eq!(options["deployment_state"], "deployment_executed");
    assert_eq!(
        (&options["terminal_state"], text_of(&options["state_map"])),
        (&"deployment_executed".into(), format!("sha256:{}", hex(&map)).as_str())
    );
    let inputs = summary["inputAttestations"].as_array().unwrap();
    assert!(inputs.iter().any(|input| text_of(&input["digest"]["sha256"]) == hex(&map)));
    // The template that was deployed is named in every mode.
    assert!(text_of(&statement[0]["subject"][0]["name"]).ends_with("/template.json"));
}

#[test]
fn a_template_that_is_too_large_to_be_compared_is_told_and_named() {
    let deployment = tied();
    let mut large = b"{}".to_vec();
    large.resize(17 << 20, b' ');
    deployment.bytes("template.json", &large);
    let statement = of(&deployment);
    assert_eq!(statement["predicate"]["verificationResult"], "FAILED");
    let findings = statement["predicate"][REPORT]["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["id"] == "evidence-unreadable"), "{findings:?}");
    let template = &statement["subject"][0];
    assert_eq!(text_of(&template["digest"]["sha256"]), hex(&deployment.path().join("template.json")));
}

#[test]
fn nothing_of_an_earlier_run_is_left_to_be_signed() {
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("a.json");
    let (a, b) = (Deployment::verified(), Deployment::verified());
    let run = |folders: &[&Path]| {
        program().arg("check").args(folders).arg("--attestation").arg(&file).output().unwrap()
    };
    let names = || {
        let mut names: Vec<_> = std::fs::read_dir(out.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    run(&[a.path()]);
    assert_eq!(names(), ["a.json", "a.predicate.json", "a.subjects.txt"]);
    run(&[a.path(), b.path()]);
    assert_eq!(names(), ["a.json"]);
    run(&[a.path()]);
    run(&[Path::new("/nowhere/at/all")]);
    assert_eq!(names(), Vec::<String>::new());
}

#[test]
fn a_file_that_lies_elsewhere_is_not_taken_for_one_of_the_folder() {
    let deployment = Deployment::verified();
    let inside = of(&deployment);
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = elsewhere.path().join("tests.json");
    std::fs::rename(deployment.path().join("tests.json"), &moved).unwrap();
    let outside = attest(&[deployment.path()], &["--tests", moved.to_str().unwrap()]).pop().unwrap();
    assert_eq!(outside["predicate"]["verificationResult"], "PASSED");
    assert_ne!(outside["subject"], inside["subject"]);
}

#[test]
fn line_breaks_of_another_system_are_the_same_template() {
    let deployment = tied();
    deployment.write("template.json", "{\r\n  \"resources\": []\r\n}\r\n");
    assert_eq!(of(&deployment)["predicate"]["verificationResult"], "PASSED");
    let gate = json!({"gate": "PASSED", "templateDigest": hex(&deployment.path().join("template.json"))});
    deployment
        .write("security-gate.json", &gate.to_string())
        .write("template.json", "{\n  \"resources\": []\n}\n");
    assert_eq!(of(&deployment)["predicate"]["verificationResult"], "PASSED");
}

#[test]
fn several_deployments_have_a_statement_a_line() {
    let (a, b) = (Deployment::verified(), Deployment::verified());
    b.trace(&[]);
    let statements = attest(&[a.path(), b.path()], &[]);
    let results: Vec<&Value> = statements.iter().map(|one| &one["predicate"]["verificationResult"]).collect();
    assert_eq!(results, ["PASSED", "FAILED"]);
}

#[test]
fn a_hostile_folder_is_a_uri_and_one_line() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("a b\n::error::x%\u{202e}\u{e9}#?\"");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("template.json"), "{}").unwrap();
    let statement = attest(&[&folder], &[]).pop().unwrap();
    let uri = text_of(&statement["predicate"]["resourceUri"]);
    assert!(uri.ends_with("a%20b%0A%3A%3Aerror%3A%3Ax%25%E2%80%AE%C3%A9%23%3F%22"), "{uri}");
    for subject in statement["subject"].as_array().unwrap() {
        assert!(!text_of(&subject["name"]).contains(['\n', '\u{202e}']), "{subject}");
    }
}

#[test]
fn a_step_writes_the_attestation_and_tells_where() {
    let outer = tempfile::tempdir().unwrap();
    let workspace = outer.path().join("w");
    let folder = workspace.join(".azure/deployments/deploy-1");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("template.json"), "{}").unwrap();
    let step = |path: &str| {
        let outputs = outer.path().join("outputs.txt");
        let _ = std::fs::remove_file(&outputs);
        let mut command = program();
        command
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_WORKSPACE", &workspace)
            .env("GITHUB_OUTPUT", &outputs);
        command.env("GITHUB_SERVER_URL", "https://github.example").env("GITHUB_REPOSITORY", "o/r");
        command.env("GITHUB_SHA", "3f2c9a1b7d5e0c4f8a6b2d1e9c7f5a3b1d0e8c6a").env("INPUT_COMMENT", "never");
        command.env("INPUT_ATTESTATION-PATH", path).env("INPUT_REPORT-PATH", "report.json");
        assert_eq!(command.output().unwrap().status.code(), Some(0));
        std::fs::read_to_string(outputs).unwrap()
    };
    let outputs = step("out/att.json");
    for told in ["out/att.json", "out/att.predicate.json", "out/att.subjects.txt"] {
        assert!(outputs.contains(&format!("\n{told}\n")), "{outputs}");
        assert!(workspace.join(told).is_file());
    }
    let statement: Value =
        serde_json::from_slice(&std::fs::read(workspace.join("out/att.json")).unwrap()).unwrap();
    assert_eq!(
        statement["predicate"]["resourceUri"],
        "git+https://github.example/o/r@3f2c9a1b7d5e0c4f8a6b2d1e9c7f5a3b1d0e8c6a#.azure/deployments/deploy-1"
    );
    assert_eq!(statement["predicate"]["verificationResult"], "FAILED");
    // One file is not written over by another, however it is spelled.
    let outputs = step("./out/../report.json");
    assert!(outputs.contains("another output is the same file"), "{outputs}");
    let outputs = step("../att.json");
    assert!(!outer.path().join("att.json").exists());
    assert!(outputs.contains("the attestation cannot be written to"), "{outputs}");
}
