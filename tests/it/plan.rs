//! `plan` on real folders and real repositories, and `check` of what was planned.

use std::path::Path;
use std::process::Output;

use process_integrity::plan::Plan;
use serde_json::Value;

use crate::fake::Fake;
use crate::step::{Step, VERIFIED, annotations, copy};
use crate::support::{fixtures, program, stderr, stdout};

/// A folder with these deployments in `.azure/deployments`.
fn repository(names: &[&str]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for name in names {
        copy(&fixtures().join(VERIFIED), &root.path().join(".azure/deployments").join(name));
    }
    root
}

/// The program finds git, and git finds no settings of whoever runs this.
fn run(root: &Path, arguments: &[&str]) -> Output {
    let mut command = program();
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CEILING_DIRECTORIES", std::env::temp_dir());
    command.current_dir(root).args(arguments).output().unwrap()
}

/// The Rust tests need no more than a toolchain: without git, what asks git is for a machine that has it, as CI's does.
fn has_git() -> bool {
    let has = std::process::Command::new("git").arg("--version").output().is_ok();
    has || std::env::var_os("CI").is_some()
}

fn git(root: &Path, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.args([
        "-c",
        "user.name=mona",
        "-c",
        "user.email=mona@users.example",
        "-c",
        "init.defaultBranch=main",
    ]);
    let output = command.current_dir(root).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    stdout(&output).trim().to_owned()
}

fn commit(root: &Path, message: &str) {
    git(root, &["add", "--all"]);
    git(root, &["commit", "--quiet", "--message", message]);
}

/// The paths of a plan's folders, shard by shard.
fn planned(root: &Path, arguments: &[&str]) -> Vec<Vec<String>> {
    let output = run(root, &[&["plan", "--output", "plan.json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let plan = Plan::parse(&std::fs::read(root.join("plan.json")).unwrap()).unwrap();
    let matrix: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(matrix["include"].as_array().unwrap().len(), plan.shards());
    let paths = |shard| plan.shard(shard).unwrap().iter().map(|folder| folder.path.clone()).collect();
    (1..=plan.shards()).map(paths).collect()
}

fn flat(root: &Path, arguments: &[&str]) -> Vec<String> {
    let mut all = planned(root, arguments).concat();
    all.sort();
    all
}

#[test]
fn folders_are_spread_by_size_and_the_matrix_is_one_line() {
    let root = repository(&["a", "b", "c", "d"]);
    std::fs::write(root.path().join(".azure/deployments/c/large"), vec![b'x'; 3 << 20]).unwrap();
    let output = run(root.path(), &["plan", "--shards", "2", "--output", "out/plan.json"]);
    let (text, told) = (stdout(&output), stderr(&output));
    assert_eq!((text.lines().count(), told.as_str()), (1, "4 folders in 2 shards\n"));
    let matrix: Value = serde_json::from_str(&text).unwrap();
    let counts: Vec<u64> =
        matrix["include"].as_array().unwrap().iter().map(|job| job["folders"].as_u64().unwrap()).collect();
    assert_eq!(counts, [1, 3]);
    assert!(matrix["include"][0]["bytes"].as_u64().unwrap() > 3 << 20);
    let plan = std::fs::read_to_string(root.path().join("out/plan.json")).unwrap();
    let again = run(
        root.path(),
        &["plan", "--shards", "2", "--output", "out/plan.json", ".azure/*/*", "./.azure/deployments/b"],
    );
    assert_eq!(
        (stdout(&again), std::fs::read_to_string(root.path().join("out/plan.json")).unwrap()),
        (text, plan)
    );
    assert_eq!(planned(root.path(), &["--shards", "99"]).len(), 4);
    assert_eq!(planned(root.path(), &[]).len(), 1);
}

#[test]
fn no_folder_is_an_empty_matrix_and_no_error() {
    let root = tempfile::tempdir().unwrap();
    let output = run(root.path(), &["plan", "--output", "plan.json"]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "{\"include\":[]}\n"));
    let plan = std::fs::read_to_string(root.path().join("plan.json")).unwrap();
    assert_eq!(plan, "{\"schema\":\"process-integrity-plan/v1\",\"folders\":0,\"shards\":[]}\n");
}

#[test]
fn of_a_glob_only_deployments_are_planned_and_the_others_are_told() {
    let root = repository(&["a"]);
    let deployments = root.path().join(".azure/deployments");
    for (folder, file) in
        [("notes", "README.md"), ("v1/traces", "run.json"), ("log", "events.jsonl"), ("junit", "junit-1.xml")]
    {
        std::fs::create_dir_all(deployments.join(folder)).unwrap();
        std::fs::write(deployments.join(folder).join(file), "{}").unwrap();
    }
    std::fs::write(deployments.join("file"), "").unwrap();
    let output = run(root.path(), &["plan"]);
    assert!(
        stderr(&output)
            .contains("no deployments in this repository, and not planned: `.azure/deployments/notes`\n")
    );
    let expected = ["a", "junit", "log", "v1"].map(|name| format!(".azure/deployments/{name}"));
    assert_eq!(flat(root.path(), &[]), expected);
    // What is named is planned whatever lies in it.
    assert_eq!(flat(root.path(), &[".azure/deployments/notes"]), [".azure/deployments/notes"]);
    for (arguments, part) in [
        (["plan", "gone"], "gone cannot be planned: there is no such folder"),
        (["plan", ".azure/deployments/file"], "it is no folder"),
        (["plan", "/"], "it leads out of the repository"),
        (["plan", "../*/a"], "no deployments"),
        (["plan", "a***"], "is no pattern"),
    ] {
        let output = run(root.path(), &arguments);
        if part == "no deployments" {
            assert_eq!(stdout(&output), "{\"include\":[]}\n");
            continue;
        }
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{arguments:?}");
        assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
    }
}

#[cfg(unix)]
#[test]
fn names_are_names_whatever_is_in_them() {
    if !has_git() {
        return;
    }
    let names = ["-rf", "a b", "line\nbreak", "quo\"te", "star*", "z\u{fc}rich \u{202e}", "[x]"];
    let root = repository(&names);
    git(root.path(), &["init", "--quiet"]);
    git(root.path(), &["commit", "--quiet", "--allow-empty", "--message", "Begin"]);
    commit(root.path(), "Deploy");
    let mut expected: Vec<String> = names.iter().map(|name| format!(".azure/deployments/{name}")).collect();
    expected.sort();
    assert_eq!(flat(root.path(), &[]), expected);
    assert_eq!(flat(root.path(), &["--changed-since", "HEAD~1"]), expected);
    let text = std::fs::read_to_string(root.path().join("plan.json")).unwrap();
    assert!(text.lines().count() == 1 && !text.contains('\u{202e}'), "{text}");
    let output = run(root.path(), &["check", "--plan", "plan.json", "--shard", "1", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let folders: Vec<String> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["folder"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(folders, expected);
}

#[test]
fn only_what_was_changed_since_a_commit_is_planned_and_what_was_deleted_is_told() {
    if !has_git() {
        return;
    }
    let root = repository(&["a", "b", "c"]);
    let deployments = root.path().join(".azure/deployments");
    git(root.path(), &["init", "--quiet"]);
    commit(root.path(), "Deploy");
    git(root.path(), &["branch", "base"]);
    let since = |reference: &str| {
        let output = run(root.path(), &["plan", "--changed-since", reference, "--output", "plan.json"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        (flat(root.path(), &["--changed-since", reference]), stderr(&output))
    };
    assert_eq!(since("base").0, Vec::<String>::new());
    std::fs::write(deployments.join("a/note"), "x").unwrap();
    std::fs::remove_dir_all(deployments.join("b")).unwrap();
    copy(&fixtures().join(VERIFIED), &deployments.join("d"));
    std::fs::write(root.path().join("other"), "x").unwrap();
    commit(root.path(), "Deploy again");
    // Neither what others did since then, nor what is not committed.
    copy(&fixtures().join(VERIFIED), &deployments.join("untracked"));
    git(root.path(), &["branch", "--quiet", "work"]);
    git(root.path(), &["stash", "--quiet", "--include-untracked"]);
    git(root.path(), &["switch", "--quiet", "base"]);
    std::fs::write(deployments.join("c/note"), "x").unwrap();
    commit(root.path(), "Of somebody else");
    git(root.path(), &["switch", "--quiet", "work"]);
    git(root.path(), &["stash", "pop", "--quiet"]);
    let (folders, told) = since("base");
    assert_eq!(folders, [".azure/deployments/a", ".azure/deployments/d"]);
    assert!(told.contains("deleted since then, and not planned: `.azure/deployments/b`\n"), "{told}");
    // One that is named and was deleted is no error, and a folder below the root counts from there.
    let named = run(root.path(), &["plan", "--changed-since", "base", ".azure/deployments/b"]);
    assert_eq!(
        (named.status.code(), stdout(&named).as_str()),
        (Some(0), "{\"include\":[]}\n"),
        "{}",
        stderr(&named)
    );
    assert_eq!(
        flat(&root.path().join(".azure"), &["--changed-since", "base", "deployments/*"]),
        ["deployments/a", "deployments/d"]
    );
    // The same list, made by somebody else.
    let range = ["diff", "--name-only", "-z", "base...HEAD"];
    std::fs::write(root.path().join("list"), git(root.path(), &range)).unwrap();
    assert_eq!(flat(root.path(), &["--changed-files", "list"]), folders);
}

#[test]
fn what_git_cannot_tell_ends_with_2_and_a_remedy() {
    if !has_git() {
        return;
    }
    let root = repository(&["a"]);
    let fails = |root: &Path, reference: &str, parts: &[&str]| {
        let output = run(root, &["plan", &format!("--changed-since={reference}")]);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{reference}");
        for part in parts {
            assert!(stderr(&output).contains(part), "{reference}: {}", stderr(&output));
        }
    };
    fails(root.path(), "main", &["git knows no repository here", "--changed-files"]);
    git(root.path(), &["init", "--quiet"]);
    commit(root.path(), "Deploy");
    for reference in ["nowhere", "main..main", "HEAD:.azure", "a b", "--output=x", "-h", ""] {
        fails(root.path(), reference, &["commit"]);
    }
    assert!(!root.path().join("x").exists());
    commit_again(root.path());
    let clone = tempfile::tempdir().unwrap();
    let from = format!("file://{}", root.path().display());
    git(clone.path(), &["clone", "--quiet", "--depth", "1", &from, "clone"]);
    fails(&clone.path().join("clone"), "HEAD~1", &["shallow clone", "fetch-depth: 0"]);
    let nowhere = program()
        .env("PATH", "/nowhere")
        .current_dir(root.path())
        .args(["plan", "--changed-since", "HEAD"])
        .output();
    let nowhere = nowhere.unwrap();
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(stderr(&nowhere).contains("there is no git program; install it"), "{}", stderr(&nowhere));
}

fn commit_again(root: &Path) {
    std::fs::write(root.join("again"), "x").unwrap();
    commit(root, "Again");
}

#[test]
fn the_shards_of_a_plan_are_checked_and_nothing_outside_of_the_folder() {
    let root = repository(&["a", "b", "c"]);
    let shards = planned(root.path(), &["--shards", "2"]);
    for (at, folders) in shards.iter().enumerate() {
        let shard = (at + 1).to_string();
        let output =
            run(root.path(), &["check", "--plan", "plan.json", "--shard", &shard, "--format", "json"]);
        assert_eq!((output.status.code(), stdout(&output).lines().count()), (Some(0), folders.len()));
    }
    for (plan, shard, part) in [
        ("plan.json", "3", "plan.json has no shard 3; its shards are counted from 1 to 2"),
        ("plan.json", "0", "has no shard 0"),
        ("gone.json", "1", "the plan gone.json cannot be used: no such file"),
        (".azure/deployments/a/trace.jsonl", "1", "trace.jsonl cannot be used: "),
    ] {
        let output = run(root.path(), &["check", "--plan", plan, "--shard", shard]);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
    let outside = repository(&["x"]);
    let path = outside.path().join(".azure/deployments/x").display().to_string();
    let up = format!(
        "..{}",
        &path[path.rfind("/tmp").map_or(0, |_| root.path().parent().unwrap().as_os_str().len())..]
    );
    #[cfg(unix)]
    std::os::unix::fs::symlink(&path, root.path().join("link")).unwrap();
    let folders = [&path, &up, "link", "/", "gone", ".azure/deployments/a"]
        .map(|path| format!(r#"{{"path":{},"bytes":1}}"#, Value::from(path)));
    let text = format!(
        r#"{{"schema":"process-integrity-plan/v1","folders":6,"shards":[{{"shard":1,"folders":[{}]}}]}}"#,
        folders.join(",")
    );
    std::fs::write(root.path().join("hostile.json"), &text).unwrap();
    let output = run(root.path(), &["check", "--plan", "hostile.json", "--shard", "1", "--format", "json"]);
    assert_eq!((output.status.code(), stdout(&output).lines().count()), (Some(2), 1), "{}", stderr(&output));
    assert_eq!(
        stderr(&output).matches("does not lie in the current folder").count(),
        4,
        "{}",
        stderr(&output)
    );
    assert!(stderr(&output).contains("gone is not there any more; plan again"));
    // In the action they count as absent, and are no success.
    let step = Step::with(&[VERIFIED])
        .input("plan-path", "plan.json")
        .input("shard", "1")
        .input("report-path", "r.jsonl");
    std::fs::write(step.workspace().join("plan.json"), text).unwrap();
    step.run();
    let reports = std::fs::read_to_string(step.workspace().join("r.jsonl")).unwrap();
    assert_eq!(reports.lines().filter(|line| line.contains(r#""verdict":"process-violation""#)).count(), 6);
}

#[test]
fn the_action_plans_and_checks_its_shards() {
    let step = Step::with(&[VERIFIED, "process-violation__gate-skipped-fallback"])
        .input("mode", "plan")
        .input("shards", "2");
    let output = step.run();
    let outputs = step.outputs();
    assert_eq!(
        (outputs["status"].as_str(), outputs["folders-count"].as_str()),
        ("ok", "2"),
        "{}",
        stdout(&output)
    );
    assert_eq!(outputs["plan-path"], "process-integrity-plan.json");
    let matrix: Value = serde_json::from_str(&outputs["matrix"]).unwrap();
    assert_eq!(matrix["include"].as_array().unwrap().len(), 2);
    assert!(stdout(&output).contains("2 folders in 2 shards"));
    let step = step
        .input("mode", "")
        .input("plan-path", "process-integrity-plan.json")
        .input("report-path", "r.jsonl");
    // It wins over what is named besides.
    let step = step.input("shard", "2").input("deployment-dir", "nowhere");
    step.run();
    let report = std::fs::read_to_string(step.workspace().join("r.jsonl")).unwrap();
    assert_eq!(report.lines().count(), 1);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(step.output("verdict"), report["verdict"].as_str().unwrap());
    for (name, value, part) in [
        ("shard", "3", "it has no shard 3"),
        ("shard", "", "shard is not set; nothing is checked"),
        ("plan-path", "gone.json", "the plan `gone.json` cannot be used: `no such file`"),
    ] {
        let step = Step::with(&[VERIFIED])
            .input("plan-path", ".azure/plan.json")
            .input("shard", "1")
            .input("report-path", "r.jsonl")
            .input(name, value);
        let plan = Plan::of(Vec::new(), None).document();
        std::fs::write(step.workspace().join(".azure/plan.json"), plan).unwrap();
        step.run();
        assert!(step.output("status").contains(part), "{}", step.output("status"));
        assert_eq!(step.output("verdict"), "");
        assert_eq!(std::fs::read_to_string(step.workspace().join("r.jsonl")).unwrap(), "");
    }
}

#[test]
fn the_action_gives_no_matrix_where_it_cannot_plan() {
    let step = Step::with(&[VERIFIED]).input("mode", "plan").input("changed-files-path", "gone");
    let found = annotations(&step.run());
    assert_eq!((step.output("matrix"), step.output("plan-path")), (String::new(), String::new()));
    assert!(found[0].contains("nothing is planned: `gone` cannot be used: `no such file`"), "{found:?}");
    let step = step.input("changed-files-path", "list").input("plan-path", "../plan.json");
    std::fs::write(
        step.workspace().join("list"),
        format!(".azure/deployments/{VERIFIED}/x\0.azure/deployments/gone/x\0"),
    )
    .unwrap();
    step.run();
    assert_eq!(step.output("matrix"), "");
    assert!(step.output("status").contains("leads out of the workspace"), "{}", step.output("status"));
    let step = step.input("plan-path", "p.json");
    let output = step.run();
    assert_eq!((step.output("status"), step.output("folders-count")), ("ok".to_owned(), "1".to_owned()));
    assert!(
        stdout(&output)
            .contains("::notice title=Process Integrity%3A plan::deleted since then, and not planned: ")
    );
    std::fs::write(step.workspace().join("list"), "README.md\0").unwrap();
    step.run();
    assert_eq!(
        (step.output("matrix"), step.output("folders-count")),
        ("{\"include\":[]}".to_owned(), "0".to_owned())
    );
}

#[test]
fn neither_planning_nor_a_shard_asks_github_for_anything() {
    let fake = Fake::new();
    let step = Step::with(&[VERIFIED, "process-violation__gate-skipped-fallback"])
        .github(&fake, 1)
        .input("mode", "plan");
    step.run();
    assert_eq!(step.output("folders-count"), "2");
    let step = step.input("mode", "").input("plan-path", "process-integrity-plan.json").input("shard", "1");
    let step = step.input("comment", "never");
    step.run();
    assert_eq!(
        (step.output("verdict").as_str(), step.output("comment-status").as_str()),
        ("process-violation", "off")
    );
    assert_eq!(fake.take().len(), 0);
}
