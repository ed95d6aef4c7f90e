//! The tracking issue: one open issue a key, appended to on change, closed by people.

use crate::fake::{Account, Fake, Fault};
use crate::step::{SKIPPED, Step, VERIFIED, together};

const FAILED: &str = "deployment-failure__http-503";

fn step(fake: &Fake, run: u64, case: &str) -> Step {
    let step = Step::with(&[case]).github(fake, run).input("comment", "never");
    step.input("create-issue", "true").input("comment-key", "orders")
}

#[test]
fn an_issue_is_opened_for_what_is_not_verified_with_labels_and_assignees() {
    let fake = Fake::new();
    let first = step(&fake, 42, SKIPPED).input("issue-assignees", "octocat, hubot");
    first.run();
    let state = fake.state();
    let [issue] = state.issues.as_slice() else { panic!("{:?}", state.issues) };
    assert_eq!(issue.title, "Process Integrity: PROCESS VIOLATION in deploy-20261005-120000");
    assert_eq!(
        (&issue.labels[..], &issue.assignees[..]),
        (&["process-integrity".to_owned()][..], &["octocat".to_owned(), "hubot".to_owned()][..])
    );
    assert!(issue.body.starts_with("<!-- process-integrity-issue v1 key=k.orders -->\n"), "{}", issue.body);
    for part in ["| Coverage | 5/6", "`security_gate_evaluated`", "actions/runs/42)", "- Commit: `0123456"] {
        assert!(issue.body.contains(part), "{part}");
    }
    assert_eq!(
        first.output("issue-url"),
        format!("https://github.example/octo/orders/issues/{}", issue.number)
    );
    assert_eq!((first.output("status"), first.output("comment-status")), ("ok".into(), "off".into()));
}

#[test]
fn a_verified_success_opens_none_and_without_the_input_there_is_none() {
    let fake = Fake::new();
    step(&fake, 42, VERIFIED).run();
    step(&fake, 43, SKIPPED).input("create-issue", "false").run();
    assert!(fake.issues().is_empty());
    assert_eq!(fake.writes(), Vec::<String>::new());
}

#[test]
fn it_is_appended_to_on_change_only_and_a_recovery_is_noted_once() {
    let fake = Fake::new();
    let mut now = step(&fake, 42, SKIPPED);
    now.run();
    let number = fake.issues()[0].number;
    for (run, case, entries, last) in [
        (43, SKIPPED, 0, ""),
        (44, FAILED, 1, "DEPLOYMENT FAILURE"),
        (45, FAILED, 1, ""),
        (46, VERIFIED, 2, "The deployment has recovered"),
        (47, VERIFIED, 2, ""),
        // An older run has nothing to say any more.
        (40, SKIPPED, 2, ""),
        (48, SKIPPED, 3, "PROCESS VIOLATION"),
    ] {
        fake.take();
        now = now.now(case).numbered(run);
        now.run();
        let bodies = fake.bodies(number);
        assert_eq!(bodies.len(), entries, "run {run}: {bodies:#?}");
        assert!(last.is_empty() || bodies.last().unwrap().contains(last), "run {run}");
        assert!(now.output("issue-url").ends_with(&format!("/{number}")), "run {run}");
        assert_eq!(fake.writes().len(), usize::from(!last.is_empty()), "run {run}");
    }
    let state = fake.state();
    assert_eq!(state.issues.len(), 1);
    assert!(state.issues[0].open);
}

#[test]
fn a_closed_issue_stays_closed_and_a_new_one_is_opened() {
    let fake = Fake::new();
    step(&fake, 42, SKIPPED).run();
    fake.state().issues[0].open = false;
    step(&fake, 43, SKIPPED).run();
    let open: Vec<bool> = fake.issues().iter().map(|issue| issue.open).collect();
    assert_eq!(open, [false, true]);
}

#[test]
fn only_our_own_issue_with_our_key_counts_on_whichever_page_it_is() {
    let fake = Fake::new();
    step(&fake, 42, SKIPPED).run();
    {
        let mut state = fake.state();
        let ours = state.issues[0].clone();
        let mut forged = ours.clone();
        forged.number = 3;
        forged.author = Account::person("mallory");
        let mut other = ours.clone();
        (other.number, other.body) = (4, ours.body.replace("k.orders", "k.orders2"));
        state.issues.splice(0..0, [forged.clone(), other]);
        for n in 0..150 {
            let mut issue = forged.clone();
            (issue.number, issue.body) = (10_000 + n, format!("issue {n}"));
            state.issues.push(issue);
        }
    }
    let number = fake.issues()[2].number;
    let later = step(&fake, 43, FAILED);
    later.run();
    assert!(later.output("issue-url").ends_with(&format!("/{number}")));
    assert_eq!((fake.issues().len(), fake.bodies(number).len()), (153, 1));
}

#[test]
fn labels_and_assignees_are_left_out_where_they_are_refused() {
    together(vec![403, 422], |status| {
        let fake = Fake::new();
        fake.state().no_labels = Some(status);
        let step = step(&fake, 42, SKIPPED).input("issue-labels", "a,b").input("issue-assignees", "octocat");
        step.run();
        let state = fake.state();
        assert_eq!(state.issues.len(), 1);
        assert!(state.issues[0].labels.is_empty() && state.issues[0].assignees.is_empty());
        assert_eq!(step.output("status"), "ok");
        drop(state);
        assert_eq!(fake.writes().len(), 2);
    });
    // Where it is refused without them too, that is all.
    let fake = Fake::new();
    fake.fault(Fault::status("POST /orders/issues", 403, "Resource not accessible by integration"));
    let step = step(&fake, 42, SKIPPED);
    step.run();
    assert_eq!(fake.writes().len(), 2);
    assert_eq!((step.output("status"), step.output("issue-url")), ("read-only".into(), String::new()));
}

#[test]
fn a_run_writes_twice_at_most_one_comment_and_one_issue() {
    let fake = Fake::new();
    let both = step(&fake, 42, SKIPPED).input("comment", "always").input("pr-number", "7");
    both.run();
    assert_eq!(fake.writes().len(), 2, "{:?}", fake.writes());
    let number = fake.issues()[0].number;
    fake.take();
    let both = both.now(FAILED).numbered(43);
    both.run();
    assert_eq!(fake.writes().len(), 2, "{:?}", fake.writes());
    assert_eq!((fake.bodies(7).len(), fake.bodies(number).len()), (1, 1));
    // Who we are is asked once.
    assert_eq!(fake.take().iter().filter(|request| request.path == "graphql").count(), 1);
}

#[test]
fn two_runs_at_the_same_moment_leave_one_open_issue_that_tells_the_newest_verdict() {
    together((0..4).collect(), |seed: u64| {
        let fake = Fake::new();
        {
            let mut state = fake.state();
            (state.jitter, state.random) = (120, seed + 7);
        }
        let runs = if seed.is_multiple_of(2) { vec![50, 51] } else { vec![51, 50] };
        together(runs, |run| {
            step(&fake, run, if run == 51 { FAILED } else { SKIPPED }).run();
        });
        let state = fake.state();
        let open: Vec<_> = state.issues.iter().filter(|issue| issue.open).collect();
        assert_eq!(open.len(), 1, "seed {seed}");
        let said: String = state.comments(open[0].number).iter().map(|c| c.body.as_str()).collect();
        assert!((open[0].body.clone() + &said).contains("DEPLOYMENT FAILURE"), "seed {seed}");
    });
}

#[test]
fn an_issue_is_opened_without_any_pull_request_and_notifies_nobody_in_its_title() {
    let fake = Fake::new();
    let step = step(&fake, 42, SKIPPED).input("comment", "always").event("push", &serde_json::json!({}));
    let sha = "0123456789abcdef0123456789abcdef01234567";
    fake.state().commits.insert(sha.to_owned(), Vec::new());
    let state_file = step.workspace().join(format!(".azure/deployments/{SKIPPED}/state.json"));
    let text = std::fs::read_to_string(&state_file).unwrap();
    std::fs::write(&state_file, text.replace("deploy-20261005-120000", "@octocat fixes #12")).unwrap();
    step.run();
    assert_eq!(
        (step.output("comment-status"), step.output("status")),
        ("no-pull-request".into(), "ok".into())
    );
    let state = fake.state();
    let title = &state.issues[0].title;
    assert!(title.contains('@') && !title.contains("@o") && !title.contains("#1"), "{title}");
}
