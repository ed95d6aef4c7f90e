//! Which pull request a run belongs to, event by event, and that nothing is posted where that is not certain.

use serde_json::{Value, json};

use crate::fake::{Fake, REPOSITORY, State, pull};
use crate::step::{SKIPPED, Step, together};
use crate::support::stdout;

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

/// An event, what GitHub knows, and where the comment must be; or the word for why there is none.
struct Case {
    name: &'static str,
    event: Value,
    state: fn(&mut State),
    reference: &'static str,
    expected: Result<u64, &'static str>,
}

impl Case {
    fn new(name: &'static str, event: Value, expected: Result<u64, &'static str>) -> Self {
        Self { name, event, state: |_| {}, reference: "refs/heads/main", expected }
    }

    fn knowing(self, state: fn(&mut State)) -> Self {
        Self { state, ..self }
    }
}

fn run(cases: Vec<Case>) {
    together(cases, |case| {
        let fake = Fake::new();
        (case.state)(&mut fake.state());
        let step = Step::with(&[SKIPPED]).github(&fake, 42).event(case.name, &case.event);
        let step = step.variable("GITHUB_REF", case.reference);
        let output = step.run();
        let what = format!("{} {}: {}", case.name, case.event, stdout(&output));
        let posted: Vec<u64> = fake.state().comments.keys().copied().collect();
        match case.expected {
            Ok(number) => {
                assert_eq!(posted, [number], "{what}");
                assert_eq!(step.output("comment-status"), "created", "{what}");
            }
            Err(word) => {
                assert_eq!(posted, Vec::<u64>::new(), "{what}");
                assert_eq!(fake.writes(), Vec::<String>::new(), "{what}");
                assert_eq!(
                    (step.output("comment-status"), step.output("comment-url")),
                    (word.into(), String::new())
                );
                let said = stdout(&output);
                let notices =
                    said.lines().filter(|line| line.contains("no comment was written")).collect::<Vec<_>>();
                assert_eq!(notices.len(), 1, "{what}");
                assert!(notices[0].starts_with("::notice "), "{what}");
            }
        }
        assert_eq!(step.output("status"), "ok", "{what}");
    });
}

const NONE: Result<u64, &str> = Err("no-pull-request");
const SEVERAL: Result<u64, &str> = Err("ambiguous");

/// A pull request of a fork, as the list of a branch's pull requests shows it.
fn of_fork(number: u64, base: &str, sha: &str) -> Value {
    let mut pull = pull(number, base, sha, None);
    pull["head"] = json!({"sha": sha, "owner": "mona", "ref": "fix/a b", "repo": null});
    pull
}

#[test]
fn the_events_of_a_pull_request_name_it() {
    let event = |base: &str| json!({"number": 9, "pull_request": pull(9, base, "h", None)});
    run(vec![
        Case::new("pull_request", event(REPOSITORY), Ok(9)),
        Case::new("pull_request", event("Octo/Orders"), Ok(9)),
        Case::new("pull_request_target", event(REPOSITORY), Ok(9)),
        Case::new("pull_request_review", event(REPOSITORY), Ok(9)),
        Case::new("pull_request", event("mona/orders"), NONE),
        Case::new("pull_request", json!({"pull_request": null}), NONE),
        Case::new("pull_request", json!([]), NONE),
        Case::new("repository_dispatch", json!({"client_payload": {"number": 9}}), NONE),
        Case::new("", Value::Null, NONE),
    ]);
}

#[test]
fn a_comment_counts_only_on_a_pull_request() {
    let link = json!({"url": "https://api.github.example/pulls/9"});
    run(vec![
        Case::new("issue_comment", json!({"issue": {"number": 9, "pull_request": link}}), Ok(9)),
        Case::new("issue_comment", json!({"issue": {"number": 9}}), NONE),
        Case::new("issue_comment", json!({"issue": {"number": 9, "pull_request": null}}), NONE),
    ]);
}

#[test]
fn a_merge_group_names_its_pull_request_in_the_reference() {
    let queue = format!("refs/heads/gh-readonly-queue/release/1.0/pr-12-{SHA}");
    let by_event = Case::new("merge_group", json!({"merge_group": {"head_ref": queue}}), Ok(12));
    let by_reference = Case {
        reference: "refs/heads/gh-readonly-queue/main/pr-13-0123456789abcdef0123456789abcdef01234567",
        ..Case::new("merge_group", json!({}), Ok(13))
    };
    let mut others = vec![by_event, by_reference];
    for reference in [
        "refs/heads/pr-12-0123456789",
        "refs/heads/gh-readonly-queue/main/pr-x-0123456789",
        "refs/heads/main",
    ] {
        others.push(Case { reference, ..Case::new("merge_group", json!({}), NONE) });
    }
    run(others);
}

#[test]
fn a_workflow_run_finds_the_pull_request_of_a_fork_by_its_branch_and_commit() {
    let fork = |pulls: Value| {
        json!({"repository": {"id": 1, "full_name": REPOSITORY}, "workflow_run": {
            "head_sha": "h", "head_branch": "fix/a b", "head_repository": {"owner": {"login": "mona"}},
            "pull_requests": pulls}})
    };
    let listed = |number: u64, sha: &str, base: u64| json!({"number": number, "head": {"sha": sha, "repo": {"id": base}}, "base": {"repo": {"id": base}}});
    run(vec![
        Case::new("workflow_run", fork(json!([])), Ok(21)).knowing(|state| {
            state.pulls = vec![
                of_fork(20, REPOSITORY, "older"),
                of_fork(21, REPOSITORY, "h"),
                of_fork(22, "mona/orders", "h"),
            ];
        }),
        Case::new("workflow_run", fork(json!([])), NONE)
            .knowing(|state| state.pulls = vec![of_fork(20, REPOSITORY, "older")]),
        Case::new("workflow_run", fork(json!([])), SEVERAL)
            .knowing(|state| state.pulls = vec![of_fork(20, REPOSITORY, "h"), of_fork(21, REPOSITORY, "h")]),
        Case::new("workflow_run", fork(json!([listed(30, "h", 1), listed(31, "h", 2)])), Ok(30)),
        Case::new("workflow_run", fork(json!([listed(30, "h", 1), listed(31, "h", 1)])), SEVERAL),
        Case::new("workflow_run", fork(json!([listed(30, "older", 1)])), NONE),
        Case::new("workflow_run", json!({"workflow_run": {"pull_requests": []}}), NONE),
    ]);
}

#[test]
fn a_push_finds_the_pull_request_that_was_merged_by_it() {
    let push = || json!({"ref": "refs/heads/main"});
    run(vec![
        // Merged, among others that only hold the commit somewhere, or are of another repository.
        Case::new("push", push(), Ok(5)).knowing(|state| {
            let pulls = vec![
                pull(4, REPOSITORY, "x", Some("y")),
                pull(5, REPOSITORY, "x", Some(SHA)),
                pull(6, "mona/orders", "x", Some(SHA)),
            ];
            state.commits.insert(SHA.to_owned(), pulls);
        }),
        Case::new("push", push(), Ok(8)).knowing(|state| {
            state.commits.insert(SHA.to_owned(), vec![pull(8, REPOSITORY, SHA, None)]);
        }),
        Case::new("push", push(), SEVERAL).knowing(|state| {
            let pulls = vec![pull(5, REPOSITORY, SHA, None), pull(6, REPOSITORY, "x", Some(SHA))];
            state.commits.insert(SHA.to_owned(), pulls);
        }),
        Case::new("push", push(), NONE).knowing(|state| {
            state.commits.insert(SHA.to_owned(), vec![pull(4, REPOSITORY, "x", Some("y"))]);
        }),
        Case::new("push", push(), NONE).knowing(|state| {
            state.commits.insert(SHA.to_owned(), Vec::new());
        }),
        // On the second page.
        Case::new("push", push(), Ok(900)).knowing(|state| {
            let mut pulls: Vec<Value> = (0..120).map(|n| pull(n + 1, REPOSITORY, "x", Some("y"))).collect();
            pulls.push(pull(900, REPOSITORY, SHA, None));
            state.commits.insert(SHA.to_owned(), pulls);
        }),
    ]);
}

#[test]
fn without_an_event_of_its_own_the_commit_that_added_the_folder_tells() {
    fn knows(state: &mut State) {
        let path = format!(".azure/deployments/{SKIPPED}");
        let mut commits: Vec<String> = (0..150).map(|n| format!("later{n}")).collect();
        commits.push("first".to_owned());
        state.history.insert(path, commits);
        state.commits.insert("first".to_owned(), vec![pull(15, REPOSITORY, "x", Some("first"))]);
    }
    run(vec![
        Case::new("workflow_dispatch", json!({"inputs": {}}), Ok(15)).knowing(knows),
        Case::new("schedule", json!({"schedule": "0 0 * * *"}), Ok(15)).knowing(knows),
        Case::new("workflow_dispatch", json!({}), NONE),
    ]);
}

#[test]
fn the_input_comes_before_every_event() {
    together(vec!["pull_request", "push", "schedule", "workflow_dispatch"], |name| {
        let fake = Fake::new();
        let event = json!({"pull_request": pull(9, REPOSITORY, "h", None)});
        let step = Step::with(&[SKIPPED]).github(&fake, 42).event(name, &event).input("pr-number", " #7 ");
        step.run();
        assert_eq!(fake.state().comments.keys().copied().collect::<Vec<_>>(), [7]);
    });
}

#[test]
fn of_several_folders_the_one_that_the_commit_changed_is_judged() {
    let other = "verified-success__fallback";
    together(vec![(other, "verified-success"), (SKIPPED, "process-violation")], |(changed, verdict)| {
        let fake = Fake::new();
        let files = vec!["README.md".to_owned(), format!(".azure/deployments/{changed}/trace.jsonl")];
        fake.state().files.insert(SHA.to_owned(), files);
        let step = Step::with(&[other, SKIPPED]).github(&fake, 42).input("comment", "never");
        step.run();
        assert_eq!(step.output("verdict"), verdict);
        let asked: Vec<String> = fake.take().iter().map(crate::fake::Request::line).collect();
        assert_eq!(asked, [format!("GET /repos/octo/orders/commits/{SHA}")]);
        // One that is named, and an only one, need no question.
        let named = step.input("deployment-dir", &format!(".azure/deployments/{other}"));
        named.run();
        Step::with(&[other]).github(&fake, 42).input("comment", "never").run();
        assert!(fake.take().is_empty());
    });
    // GitHub does not know the commit.
    let fake = Fake::new();
    let step = Step::with(&[other, SKIPPED]).github(&fake, 42).input("comment", "never");
    step.run();
    assert!(!step.output("verdict").is_empty());
}
