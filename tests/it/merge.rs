//! `process-integrity merge`: the reports of shards as one picture, in which nothing is dropped in silence.

use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::{cases, fixtures, program, stderr, stdout};
use process_integrity::verdict::Verdict;

/// A folder with report files in it, in which the program runs.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        program().current_dir(self.0.path()).arg("merge").args(arguments).output().unwrap()
    }

    /// The picture as JSON, and the exit code.
    fn merge(&self, arguments: &[&str]) -> (Value, i32) {
        let output = self.run(&[arguments, &["--format", "json"]].concat());
        let text = stdout(&output);
        let fleet =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
        valid(&fleet);
        (fleet, output.status.code().unwrap())
    }
}

pub(crate) fn valid(fleet: &Value) {
    let schema = fixtures().join("../docs/schemas/process-integrity-fleet.v1.schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(fleet).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

const STATES: [&str; 3] = ["security_gate_evaluated", "deployment_executed", "integration_tests_passed"];

/// A report that agrees with itself: one finding, and what follows from it.
pub(crate) fn report(folder: &str, finding: Option<&str>) -> Value {
    let (verdict, class) = match finding {
        None => ("verified-success", ""),
        Some("retry" | "out-of-order") => ("agent-issue", "agent"),
        Some("resource-unhealthy") => ("deployment-failure", "failure"),
        Some(_) => ("process-violation", "violation"),
    };
    let first = finding.and_then(|id| id.strip_prefix("state-")).unwrap_or("covered");
    let first = if finding == Some("out-of-order") { "out-of-order" } else { first };
    let status = |at: usize| if at == 0 { first } else { "covered" };
    let states: Vec<Value> = STATES
        .iter()
        .enumerate()
        .map(|(at, id)| json!({"id": id, "status": status(at), "line": null}))
        .collect();
    let covered = if first == "covered" { 3 } else { 2 };
    let missing = if ["covered", "out-of-order"].contains(&first) { vec![] } else { vec![STATES[0]] };
    let findings: Vec<Value> = finding.iter().map(|id| json!({"id": id, "class": class})).collect();
    json!({
        "schema": "process-integrity-report/v1",
        "deployment_id": folder.rsplit('/').next(),
        "folder": folder,
        "verdict": verdict,
        "false_success": verdict != "verified-success",
        "claim": "succeeded",
        "health": {"status": if finding == Some("resource-unhealthy") { "unhealthy" } else { "healthy" }, "checks": []},
        "coverage": {"covered": covered, "essential": 3, "percent": covered * 100 / 3, "threshold": 100},
        "states": states,
        "missing": missing,
        "findings": findings,
    })
}

pub(crate) fn lines(reports: &[Value]) -> String {
    reports.iter().map(|report| format!("{report}\n")).collect()
}

pub(crate) fn plan(shards: &[&[&str]]) -> String {
    let folders: usize = shards.iter().map(|folders| folders.len()).sum();
    let shards: Vec<Value> = shards
        .iter()
        .enumerate()
        .map(|(at, folders)| {
            let folders: Vec<Value> = folders.iter().map(|path| json!({"path": path, "bytes": 1})).collect();
            json!({"shard": at + 1, "folders": folders})
        })
        .collect();
    json!({"schema": "process-integrity-plan/v1", "folders": folders, "shards": shards, "new": true})
        .to_string()
}

#[test]
fn the_tally_is_that_of_the_reports() {
    let files = Files::new();
    let first =
        [report("d/a", None), report("d/b", Some("state-missing")), report("d/c", Some("state-late"))];
    let second =
        [report("d/d", Some("retry")), report("d/e", Some("resource-unhealthy")), report("d/f", None)];
    files.write("1.jsonl", &lines(&first)).write("2.jsonl", &lines(&second));
    let (fleet, code) = files.merge(&["1.jsonl", "2.jsonl"]);
    assert_eq!(code, 1);
    assert_eq!(
        fleet["tally"],
        json!({"deployment-failure": 1, "process-violation": 2, "agent-issue": 1, "verified-success": 2, "not-validated": 0})
    );
    assert_eq!((&fleet["deployments"], &fleet["false_successes"]), (&json!(6), &json!(4)));
    assert_eq!((&fleet["verified"], &fleet["plan"]), (&json!(false), &Value::Null));
    let folders: Vec<&str> =
        fleet["reports"].as_array().unwrap().iter().map(|row| row["folder"].as_str().unwrap()).collect();
    assert_eq!(folders, ["d/e", "d/b", "d/c", "d/d", "d/a", "d/f"], "worst first");
    let gate = &fleet["states"][0];
    assert_eq!(gate["id"], STATES[0]);
    for (key, count) in [("deployments", 6), ("covered", 4), ("missing", 1), ("late", 1), ("failed", 0)] {
        assert_eq!(gate[key], count, "{key}");
    }
    assert_eq!(gate["percent"], 66);
    let ids: Vec<&str> =
        fleet["findings"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["resource-unhealthy", "state-missing", "state-late", "retry"]);
    let place = &fleet["reports"][0];
    assert_eq!((&place["file"], &place["line"]), (&json!("2.jsonl"), &json!(2)));
}

#[test]
fn the_reports_of_every_case_are_merged_whatever_their_layout() {
    let folders = cases();
    let files = Files::new();
    let check = |folders: &[PathBuf]| {
        stdout(&program().arg("check").args(folders).args(["--format", "json"]).output().unwrap())
    };
    let (head, tail) = folders.split_at(folders.len() / 2);
    // Several are a line each, one is laid out; a file may hold both.
    files.write("lines.jsonl", &check(head));
    let laid_out: String = tail.iter().map(|folder| check(std::slice::from_ref(folder))).collect();
    files.write("laid-out.json", &laid_out);
    let (fleet, code) = files.merge(&["lines.jsonl", "laid-out.json"]);
    assert_eq!((code, &fleet["unreadable"]), (1, &json!(0)), "{}", fleet["files"]);
    assert_eq!(fleet["deployments"], folders.len());
    let verdicts: Vec<String> = check(&folders)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["verdict"].as_str().unwrap().to_owned())
        .collect();
    assert!(verdicts.len() > 50);
    for verdict in Verdict::ALL {
        let count = verdicts.iter().filter(|other| *other == verdict.id()).count();
        assert_eq!(fleet["tally"][verdict.id()], count, "{}", verdict.id());
    }
}

#[test]
fn all_verified_and_nothing_lost_is_exit_code_0() {
    let files = Files::new();
    files.write("a.jsonl", &lines(&[report("./d//a/", None)])).write("plan.json", &plan(&[&["d/a"]]));
    let (fleet, code) = files.merge(&["--plan", "plan.json", "a.jsonl"]);
    assert_eq!((code, &fleet["verified"]), (0, &json!(true)));
    assert_eq!((&fleet["reports"][0]["planned"], &fleet["reports"][0]["shard"]), (&json!(true), &json!(1)));
    assert!(stdout(&files.run(&["a.jsonl"])).starts_with("The only deployment is verified."));
}

#[test]
fn a_shard_that_was_killed_leaves_a_torn_line_that_is_told() {
    let files = Files::new();
    let whole = lines(&[report("d/a", None), report("d/b", None)]);
    files.write("1.jsonl", &whole[..whole.len() - 30]);
    let (fleet, code) = files.merge(&["1.jsonl"]);
    assert_eq!((code, &fleet["tally"]["verified-success"]), (1, &json!(1)));
    assert_eq!(fleet["files"][0]["damage"][0]["line"], 2);
    assert!(fleet["files"][0]["damage"][0]["reason"].as_str().unwrap().starts_with("it is cut off: "));
    let output = files.run(&["1.jsonl"]);
    assert!(
        stderr(&output).contains("warning: 1.jsonl:2 cannot be read: it is cut off"),
        "{}",
        stderr(&output)
    );
    assert!(
        stdout(&output).contains("1 piece of the report files could not be read; it may hide deployments.")
    );
    // With a plan it is known which one was lost.
    files.write("plan.json", &plan(&[&["d/a", "d/b"]]));
    let (fleet, code) = files.merge(&["--plan", "plan.json", "1.jsonl"]);
    assert_eq!((code, &fleet["not_validated"]), (1, &json!([{"folder": "d/b", "shard": 1}])));
    // One that is laid out, and another one behind it.
    let torn = serde_json::to_string_pretty(&report("d/b", None)).unwrap();
    files.write("2.json", &format!("{}\n{}\n", &torn[..200], report("d/c", None)));
    let (fleet, _) = files.merge(&["2.json"]);
    assert_eq!((&fleet["tally"]["verified-success"], &fleet["unreadable"]), (&json!(1), &json!(1)));
    assert_eq!(fleet["reports"][0]["folder"], "d/c");
}

#[test]
fn a_lost_shard_is_not_validated_and_never_fine() {
    let files = Files::new();
    files.write("1.jsonl", &lines(&[report("d/a", None)])).write("3.jsonl", &lines(&[report("d/z", None)]));
    files.write("plan.json", &plan(&[&["d/a"], &["d/b", "d/c"]]));
    let (fleet, code) = files.merge(&["--plan", "plan.json", "1.jsonl", "2.jsonl", "3.jsonl"]);
    assert_eq!(code, 1);
    assert_eq!(fleet["plan"], json!({"shards": 2, "folders": 3}));
    assert_eq!(fleet["not_validated"], json!([{"folder": "d/b", "shard": 2}, {"folder": "d/c", "shard": 2}]));
    assert_eq!((&fleet["tally"]["not-validated"], &fleet["deployments"]), (&json!(2), &json!(4)));
    assert_eq!(fleet["files"][1]["damage"], json!([{"line": null, "reason": "no such file"}]));
    let unplanned = &fleet["reports"][1];
    assert_eq!((&unplanned["folder"], &unplanned["planned"]), (&json!("d/z"), &json!(false)));
    // Where all shards are lost, the plan alone gives the picture.
    let (fleet, code) = files.merge(&["--plan", "plan.json", "nowhere.jsonl"]);
    assert_eq!((code, &fleet["tally"]["not-validated"]), (1, &json!(3)));
    for format in ["text", "markdown", "html"] {
        let output = files.run(&["--plan", "plan.json", "--format", format, "1.jsonl"]);
        for words in ["NOT VALIDATED", "d/b", "d/c", "1 of 3 deployments verified; 2 were not validated."] {
            assert!(stdout(&output).contains(words), "{format}: {words}: {}", stdout(&output));
        }
    }
}

#[test]
fn equal_reports_are_one_and_of_different_ones_the_worst_counts() {
    let files = Files::new();
    let (good, bad) = (report("d/a", None), report("./d/a/", Some("state-missing")));
    files.write("1.jsonl", &lines(&[good.clone(), good.clone()]));
    files.write("2.json", &serde_json::to_string_pretty(&good).unwrap());
    let (fleet, code) = files.merge(&["1.jsonl", "2.json"]);
    assert_eq!((code, &fleet["deployments"], &fleet["files"][0]["reports"]), (0, &json!(1), &json!(2)));
    assert_eq!(fleet["reports"][0]["differing_reports"], 0);
    files.write("3.jsonl", &lines(&[bad, good]));
    for order in [["1.jsonl", "3.jsonl"], ["3.jsonl", "1.jsonl"]] {
        let (fleet, code) = files.merge(&order);
        let row = &fleet["reports"][0];
        assert_eq!(
            (code, &row["verdict"], &fleet["deployments"]),
            (1, &json!("process-violation"), &json!(1))
        );
        assert_eq!((&row["differing_reports"], &row["file"]), (&json!(1), &json!("3.jsonl")));
    }
    let text = stdout(&files.run(&["3.jsonl"]));
    assert!(text.contains("1 deployment has several reports that differ; the worst one counts."), "{text}");
}

#[test]
fn a_report_that_is_foreign_or_contradicts_itself_is_named_and_not_counted() {
    let with = |key: &str, value: Value| {
        let mut report = report("d/x", Some("state-missing"));
        report[key] = value;
        report.to_string()
    };
    let verified = |key: &str, value: Value| {
        let mut report = report("d/x", None);
        report[key] = value;
        report.to_string()
    };
    let unhealthy = json!({"status": "unhealthy", "checks": []});
    let good = report("d/x", None).to_string();
    for (text, reason) in [
        (with("schema", json!("process-integrity-report/v2")), "it is no process-integrity-report/v1 but"),
        (plan(&[&["d/x"]]), "process-integrity-plan/v1"),
        ("{}".to_owned(), "it has no schema"),
        ("[1]".to_owned(), "it has no schema"),
        ("what?".to_owned(), "expected value"),
        (good.replacen('{', "{\"verdict\":\"agent-issue\",", 1), "duplicate key `verdict`"),
        (
            with("verdict", json!("verified-success")),
            "the verdict is verified-success, but its findings amount to",
        ),
        (with("false_success", json!(false)), "false_success does not follow"),
        (with("missing", json!([])), "the missing states are not those of its states"),
        (
            with("coverage", json!({"covered": 3, "essential": 3, "threshold": 100})),
            "the coverage is not that",
        ),
        (with("findings", json!([{"id": "state-missing", "class": "notice"}])), "state-missing is no notice"),
        (with("findings", json!([{"id": "nothing", "class": "notice"}])), "there is no finding nothing"),
        (with("states", json!([])), "it has 0 states"),
        (with("folder", json!("x".repeat(5000))), "longer than 4096 bytes"),
        (with("folder", json!(5)), "invalid type"),
        (verified("health", unhealthy), "verified without health or coverage"),
    ] {
        let files = Files::new();
        files.write("a.jsonl", &format!("{text}\n{}\n", report("d/a", None)));
        let (fleet, code) = files.merge(&["a.jsonl"]);
        assert_eq!((code, &fleet["unreadable"], &fleet["deployments"]), (1, &json!(1), &json!(1)), "{text}");
        let told = fleet["files"][0]["damage"][0]["reason"].as_str().unwrap();
        assert!(told.contains(reason), "{told}, not {reason}");
    }
}

#[test]
fn what_cannot_run_says_why_and_what_to_do() {
    let files = Files::new();
    files
        .write("good.jsonl", &lines(&[report("d/a", None)]))
        .write("bad.jsonl", "{}\n")
        .write("plan.json", "{}");
    let short = plan(&[&["d/a", "d/b"]]).replace("\"folders\":2", "\"folders\":3");
    files.write("short.json", &short);
    for (arguments, words) in [
        (&[][..], "required"),
        (&["bad.jsonl"], "there is no report in the files"),
        (&["nowhere.jsonl"], "there is no report in the files"),
        (&["--plan", "nowhere.json", "good.jsonl"], "the plan nowhere.json cannot be used: no such file"),
        (&["--plan", "plan.json", "good.jsonl"], "its schema is not process-integrity-plan/v1"),
        (&["--plan", "short.json", "good.jsonl"], "it says that it has 3 folders, but lists 2"),
        (&["--json", "good.jsonl", "good.jsonl"], "would be written over what is read"),
        (&["--html", "a", "--json", "./a", "good.jsonl"], "two outputs have the same name"),
        (&["--html", "good.jsonl/x", "good.jsonl"], "cannot be written"),
    ] {
        let output = files.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn one_run_writes_every_format_and_the_order_of_the_files_does_not_matter() {
    let files = Files::new();
    let findings =
        [None, Some("retry"), Some("state-missing"), Some("state-stale"), Some("resource-unhealthy")];
    for shard in 0..4 {
        let reports: Vec<Value> =
            (0..20).map(|n| report(&format!("d/{}", n * 3 + shard), findings[(n + shard) % 5])).collect();
        files.write(&format!("{shard}.jsonl"), &lines(&reports));
    }
    let targets = ["fleet.json", "fleet.md", "fleet.html"];
    let mut seen: Vec<Vec<String>> = Vec::new();
    for order in [["0.jsonl", "1.jsonl", "2.jsonl", "3.jsonl"], ["3.jsonl", "1.jsonl", "0.jsonl", "2.jsonl"]]
    {
        let written = ["--json", "sub/fleet.json", "--markdown", "sub/fleet.md", "--html", "sub/fleet.html"];
        let output = files.run(&[&written[..], &order[..]].concat());
        assert_eq!(output.status.code(), Some(1));
        let read = |name: &&str| std::fs::read_to_string(files.path("sub").join(name)).unwrap();
        let mut texts: Vec<String> = targets.iter().map(read).collect();
        texts.push(stdout(&output));
        seen.push(texts);
    }
    assert_eq!(seen[0], seen[1]);
    valid(&serde_json::from_str(&seen[0][0]).unwrap());
    assert!(seen[0][1].starts_with("## ") && seen[0][2].starts_with("<!doctype html>"));
}

#[test]
fn markdown_fits_where_it_has_to_and_the_tally_stays() {
    let files = Files::new();
    let name = |n: usize| format!(".azure/deployments/deploy-{n:06}-{}", "x".repeat(60));
    let reports: Vec<Value> = (0..4000).map(|n| report(&name(n), Some("state-missing"))).collect();
    files.write("a.jsonl", &lines(&reports));
    for limit in ["900000", "60000", "5000", "900"] {
        let output = files.run(&["--format", "markdown", "--markdown-limit", limit, "a.jsonl"]);
        let text = stdout(&output);
        assert!(text.len() <= limit.parse().unwrap(), "{limit}: {}", text.len());
        assert!(text.contains("| ⚠️ PROCESS VIOLATION | 4000 |"), "{limit}: {text}");
        let left = text.contains("more |") || text.contains("There is no room for 4000 deployments.");
        assert!(left, "{limit}");
    }
}
