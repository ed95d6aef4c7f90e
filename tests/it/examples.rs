//! The example workflows that can be played without a runner.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use yaml_rust2::{Yaml, YamlLoader};

use crate::support::{fixtures, ids, program, stdout};

fn example(name: &str) -> Yaml {
    let text = std::fs::read_to_string(fixtures().join("../docs/examples").join(name)).unwrap();
    YamlLoader::load_from_str(&text).unwrap().remove(0)
}

const DEPLOYMENT: &str = ".azure/deployments/deploy-7";

/// What the runner puts in place of an expression, where the example uses it.
fn filled(text: &str) -> String {
    let text = text.replace("${{ env.DEPLOYMENT }}", DEPLOYMENT).replace("${{ github.run_id }}", "7");
    let outcome = text.strip_prefix("${{ steps.").and_then(|rest| rest.strip_suffix(".outcome }}"));
    if outcome.is_some() { "success".to_owned() } else { text }
}

/// An output of a step.
fn output(file: &Path, name: &str) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&format!("{name}<<")));
    lines.nth(1).unwrap_or_else(|| panic!("{name} is not in {text}")).to_owned()
}

/// The program as the runner starts it for a `uses:` step.
fn step(workspace: &Path, outputs: &Path, with: &Yaml) -> String {
    let mut command = program();
    command.env("GITHUB_ACTIONS", "true").env("GITHUB_WORKSPACE", workspace).env("GITHUB_OUTPUT", outputs);
    command.env("GITHUB_RUN_ID", "7").env("INPUT_COMMENT", "never");
    for (name, value) in with.as_hash().unwrap() {
        let name = name.as_str().unwrap().to_uppercase();
        command.env(format!("INPUT_{name}"), filled(value.as_str().unwrap()));
    }
    let done = command.output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    stdout(&done)
}

#[test]
fn the_workflow_that_records_itself_is_verified_and_its_trace_can_not_be_mended() {
    let workflow = example("recording.yml");
    let root = tempfile::tempdir().unwrap();
    let workspace = root.path().join("w");
    std::fs::create_dir(&workspace).unwrap();
    let (mut ran, mut head) = (0, String::new());
    for one in workflow["jobs"]["deploy"]["steps"].as_vec().unwrap() {
        if let Some(script) = one["run"].as_str() {
            let mut shell = Command::new("bash");
            shell
                .args(["-euo", "pipefail", "-c", script])
                .env("DEPLOYMENT", DEPLOYMENT)
                .current_dir(&workspace);
            assert!(shell.status().unwrap().success(), "{script}");
            ran += 1;
        } else if one["uses"].as_str().unwrap().starts_with("Azure/process-integrity@") {
            let outputs = root.path().join("outputs");
            let _ = std::fs::remove_file(&outputs);
            let said = step(&workspace, &outputs, &one["with"]);
            assert!(said.starts_with("recorded "), "{said}");
            head = output(&outputs, "trace-head");
        }
    }
    assert_eq!(ran, 6);
    let check = |head: &str| -> (Value, Option<i32>) {
        let mut command = program();
        command.current_dir(&workspace).args([
            "check",
            DEPLOYMENT,
            "--format",
            "json",
            "--evidence",
            "require",
        ]);
        let done = command.args(["--trace-head", head]).output().unwrap();
        (serde_json::from_str(&stdout(&done)).unwrap(), done.status.code())
    };
    let (report, code) = check(&head);
    assert_eq!((report["verdict"].as_str(), code), (Some("verified-success"), Some(0)), "{report}");
    assert_eq!(ids(&report), Vec::<&str>::new());
    assert_eq!(report["bindings"][0]["status"], "same");
    // The end is held by its head alone.
    let trace = workspace.join(DEPLOYMENT).join("trace.jsonl");
    let text = std::fs::read_to_string(&trace).unwrap();
    for other in [
        text.replace(
            "integration_tests_passed\",\"status\":\"success",
            "integration_tests_passed\",\"status\":\"passed",
        ),
        format!("{text}{{\"state\":\"cost_estimated\"}}\n"),
        text.lines().take(5).map(|line| format!("{line}\n")).collect(),
    ] {
        assert_ne!(other, text);
        std::fs::write(&trace, other).unwrap();
        assert!(ids(&check(&head).0).contains(&"trace-tampered"));
    }
}
