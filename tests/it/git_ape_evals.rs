//! The evals for git-ape: each task is in the shape that git-ape's runner of evals reads, names files that are there, and
//! expects what the program really says of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use process_integrity::verdict::FindingId;
use serde_json::Value;

use crate::git_ape_home::{EVALS, SKILL, files, read, root, yaml};
use crate::support::{check, ids};

/// Where a deployment folder lies in the fixtures, and in the workspace of a task.
const DEPLOYMENTS: &str = ".azure/deployments/";

/// The tasks: name of the file without its ending, and content.
fn tasks() -> BTreeMap<String, Value> {
    let paths = files(&root().join(EVALS).join("tasks"));
    let task = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().strip_suffix(".yaml").unwrap().to_owned();
        (name, yaml(&std::fs::read_to_string(&path).unwrap()))
    };
    paths.into_iter().map(task).collect()
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().map(|entry| entry.as_str().unwrap()).collect()
}

/// The paths of the files that a task is given.
fn given(task: &Value) -> BTreeSet<String> {
    let entries = task["inputs"]["files"].as_array().into_iter().flatten();
    entries.map(|entry| entry["path"].as_str().unwrap().to_owned()).collect()
}

fn keys_are_among(value: &Value, known: &[&str], place: &str) {
    for key in value.as_object().unwrap().keys() {
        assert!(known.contains(&key.as_str()), "{place}: `{key}` is no key that the runner of evals knows");
    }
}

#[test]
fn the_eval_is_one_of_the_skill() {
    let eval = yaml(&read(format!("{EVALS}/eval.yaml")));
    // The runner refuses what it does not know.
    keys_are_among(
        &eval,
        &["name", "description", "skill", "version", "config", "metrics", "graders", "tasks"],
        "eval",
    );
    assert_eq!(eval["skill"], SKILL.rsplit('/').next().unwrap());
    for key in ["trials_per_task", "timeout_seconds", "executor", "model"] {
        assert!(!eval["config"][key].is_null(), "{key}");
    }
    assert!(eval["metrics"].as_array().is_some_and(|metrics| !metrics.is_empty()));
    assert_eq!(texts(&eval["tasks"]), ["tasks/*.yaml"]);
}

#[test]
fn every_task_has_the_shape_of_one() {
    for (name, task) in tasks() {
        keys_are_among(&task, &["id", "name", "description", "tags", "inputs", "graders"], &name);
        keys_are_among(&task["inputs"], &["prompt", "files"], &name);
        assert_eq!(task["id"], name.as_str());
        let kind = name.split('-').next().unwrap();
        assert!(["positive", "negative"].contains(&kind), "{name}");
        assert!(texts(&task["tags"]).contains(&kind), "{name}");
        let graders = task["graders"].as_array().unwrap();
        for grader in graders {
            keys_are_among(grader, &["name", "type", "config"], &name);
            assert!(grader["name"].is_string() && grader["config"].is_object(), "{name}: {grader}");
        }
        let of_type = |wanted: &str| graders.iter().find(|grader| grader["type"] == wanted);
        let trigger = &of_type("trigger").unwrap()["config"];
        assert_eq!(trigger["mode"], kind, "{name}");
        assert!(root().join(trigger["skill_path"].as_str().unwrap()).is_file(), "{name}");
        // Without the session a judge sees no answer; a judge of a negative task would judge another skill.
        assert_eq!(of_type("prompt").is_some(), kind == "positive", "{name}");
        assert!(of_type("prompt").is_none_or(|judge| judge["config"]["continue_session"] == true), "{name}");
    }
}

#[test]
fn every_task_expects_what_the_program_says_of_its_files() {
    let fixtures = root().join(EVALS).join("fixtures");
    let mut seen = BTreeSet::new();
    let mut used = BTreeSet::new();
    for (name, task) in tasks() {
        let paths = given(&task);
        let tags = texts(&task["tags"]);
        let expected = tags.iter().find_map(|tag| tag.strip_prefix("verdict-"));
        assert_eq!(expected.is_some(), tags.contains(&"positive"), "{name}");
        let Some(expected) = expected else {
            assert!(paths.is_empty(), "{name}");
            continue;
        };
        let prompt = task["inputs"]["prompt"].as_str().unwrap();
        let id = prompt.split([' ', '.', ',']).find(|word| word.starts_with("deploy-20")).unwrap();
        let folder = fixtures.join(DEPLOYMENTS).join(id);
        let inside = |path: PathBuf| path.strip_prefix(&fixtures).unwrap().to_str().unwrap().to_owned();
        assert_eq!(paths, files(&folder).into_iter().map(inside).collect(), "{name}");
        let (report, code) = check(&folder, &[]);
        assert_eq!(report["verdict"], expected, "{name}");
        assert_eq!(code, i32::from(expected != "verified-success"), "{name}");
        // The artifacts are there but for what the story is about, so nothing else is found.
        let found: BTreeSet<&str> = ids(&report).into_iter().collect();
        assert!(!found.contains("evidence-missing"), "{name}: {found:?}");
        judge_knows_the_report(&name, &task, &report, &found);
        seen.insert(expected.to_owned());
        used.extend(paths);
    }
    assert_eq!(
        seen.iter().map(String::as_str).collect::<Vec<_>>(),
        ["agent-issue", "deployment-failure", "process-violation", "verified-success"]
    );
    let all = files(&fixtures).into_iter();
    let all: BTreeSet<String> =
        all.map(|path| path.strip_prefix(&fixtures).unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(used, all, "a fixture that no task uses");
}

/// What the judge is told of a deployment is what the report says of it.
fn judge_knows_the_report(name: &str, task: &Value, report: &Value, found: &BTreeSet<&str>) {
    let judge = task["graders"].as_array().unwrap().iter().find(|grader| grader["type"] == "prompt").unwrap();
    let text = judge["config"]["prompt"].as_str().unwrap();
    let named: BTreeSet<&str> =
        FindingId::ALL.iter().map(|id| id.id()).filter(|id| text.contains(&format!("`{id}`"))).collect();
    assert_eq!(&named, found, "{name}");
    let coverage = format!("{}/{}", report["coverage"]["covered"], report["coverage"]["essential"]);
    for part in text.split_whitespace().filter(|word| word.contains("/6")) {
        assert!(part.starts_with(&coverage), "{name}: {part}");
    }
    let missing = texts(&report["missing"]);
    assert!(missing.iter().all(|state| text.contains(state)), "{name}: {missing:?}");
}

#[test]
fn the_table_of_the_fixtures_says_what_the_program_says() {
    let folders = root().join(EVALS).join("fixtures").join(DEPLOYMENTS);
    let readme = read(format!("{EVALS}/README.md"));
    let rows: Vec<&str> = readme.lines().filter(|line| line.starts_with("| [deploy-")).collect();
    for row in &rows {
        let id = row.trim_start_matches("| [").split(']').next().unwrap();
        let verdict = row.split('`').nth(1).unwrap();
        assert_eq!(check(&folders.join(id), &[]).0["verdict"], verdict, "{row}");
    }
    assert_eq!(rows.len(), std::fs::read_dir(folders).unwrap().count());
}
