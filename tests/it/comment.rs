//! The comment on the pull request, against a GitHub that holds state: one comment a key, and only its newest verdict.

use crate::fake::{Account, Fake, Fault, Viewer};
use crate::step::{SKIPPED, Step, TOKEN, VERIFIED, together};
use crate::support::stdout;

/// A comment of ours by an earlier run.
fn earlier(fake: &Fake, run: u64) -> String {
    Step::on(fake, run, SKIPPED).run();
    fake.take();
    fake.bodies(7).pop().unwrap()
}

#[test]
fn the_first_run_creates_one_comment_with_a_marker_on_its_first_line() {
    let fake = Fake::new();
    let step = Step::on(&fake, 42, SKIPPED);
    step.run();
    let bodies = fake.bodies(7);
    assert_eq!(bodies.len(), 1);
    let (first, rest) = bodies[0].split_once('\n').unwrap();
    let fields =
        first.strip_prefix("<!-- process-integrity v1 key=k.deploy-20261005-120000 run=42 attempt=1 time=");
    let (time, digest) = fields.unwrap().strip_suffix(" -->").unwrap().split_once(" digest=").unwrap();
    assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
    assert!(digest.len() == 16 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{digest}");
    for part in
        ["| Coverage | 5/6 essential states (83%) |", "PROCESS VIOLATION", "`security_gate_evaluated`"]
    {
        assert!(rest.contains(part), "{part}: {rest}");
    }
    assert!(rest.contains("- Commit: `0123456789abcdef"));
    assert!(rest.contains("- Run: [42](https://github.example/octo/orders/actions/runs/42)"));
    assert_eq!(step.output("comment-status"), "created");
    let id = fake.state().comments(7)[0].id;
    assert_eq!(
        step.output("comment-url"),
        format!("https://github.example/octo/orders/pull/7#issuecomment-{id}")
    );
    assert_eq!(step.output("status"), "ok");
    let requests = fake.take();
    assert!(requests.iter().all(|request| request.token == format!("Bearer {TOKEN}")), "{requests:?}");
}

#[test]
fn the_same_run_again_writes_nothing_and_asks_three_times_at_most() {
    together(vec![Viewer::Is("github-actions".to_owned()), Viewer::Absent], |viewer| {
        let fake = Fake::new();
        fake.state().viewer = viewer;
        let before = earlier(&fake, 42);
        let step = Step::on(&fake, 42, SKIPPED);
        step.run();
        assert_eq!(fake.bodies(7), [before]);
        assert_eq!(fake.writes(), Vec::<String>::new());
        let requests = fake.take();
        assert!(requests.len() <= 3, "{requests:?}");
        assert_eq!((step.output("comment-status"), step.output("status")), ("unchanged".into(), "ok".into()));
        assert!(step.output("comment-url").contains("#issuecomment-"));
    });
}

#[test]
fn a_later_run_updates_it_with_one_write_and_names_the_verdict_before() {
    let fake = Fake::new();
    earlier(&fake, 42);
    let id = fake.state().comments(7)[0].id;
    let step = Step::on(&fake, 43, VERIFIED).input("comment-key", "deploy-20261005-120000");
    step.run();
    assert_eq!(step.output("comment-status"), "updated");
    assert_eq!(fake.writes(), [format!("PATCH /repos/octo/orders/issues/comments/{id}")]);
    let body = fake.bodies(7).pop().unwrap();
    assert!(body.contains("VERIFIED SUCCESS"));
    let before =
        "Before: ⚠️ PROCESS VIOLATION (5/6) in run [42](https://github.example/octo/orders/actions/runs/42)";
    assert!(body.contains(before), "{body}");
    // The same run and attempt adds no row of history.
    let again = step.now(SKIPPED);
    again.run();
    let body = fake.bodies(7).pop().unwrap();
    assert!(body.contains("<summary>Last verdicts (2)</summary>"), "{body}");
}

#[test]
fn the_last_ten_verdicts_are_kept_folded_in_the_comment() {
    let fake = Fake::new();
    let body = earlier(&fake, 42);
    let history = body.lines().nth(1).unwrap();
    let row =
        history.strip_prefix("<!-- process-integrity-history v1 ").unwrap().strip_suffix(" -->").unwrap();
    let rows: Vec<String> = (30..=42).rev().map(|run| row.replace(" 42 ", &format!(" {run} "))).collect();
    let long = body.replace(row, &rows[..10].join(";"));
    let id = fake.state().comments(7)[0].id;
    fake.state().find(id).unwrap().body = long.replace('\n', "\r\n");
    Step::on(&fake, 43, SKIPPED).run();
    let body = fake.bodies(7).pop().unwrap();
    assert!(body.contains("<summary>Last verdicts (10)</summary>"), "{body}");
    let folded = body.split("Last verdicts (10)").nth(1).unwrap();
    for run in 34..=43 {
        assert!(folded.contains(&format!("| [{run}](")), "{run}: {folded}");
    }
    assert!(!folded.contains("| [33]("));
}

#[test]
fn an_older_run_never_overwrites_a_newer_one() {
    together(vec![(41, "9"), (42, "1")], |(run, attempt)| {
        let fake = Fake::new();
        Step::on(&fake, 42, SKIPPED).variable("GITHUB_RUN_ATTEMPT", "2").run();
        let before = fake.bodies(7);
        fake.take();
        let older = Step::on(&fake, run, VERIFIED)
            .variable("GITHUB_RUN_ATTEMPT", attempt)
            .input("comment-key", "deploy-20261005-120000");
        older.run();
        assert_eq!(fake.bodies(7), before);
        assert_eq!(fake.writes(), Vec::<String>::new());
        assert_eq!(
            (older.output("comment-status"), older.output("status")),
            ("superseded".into(), "ok".into())
        );
        assert!(older.output("comment-url").contains("#issuecomment-"));
    });
}

#[test]
fn only_our_own_comment_counts_on_whichever_page_it_is() {
    let fake = Fake::new();
    let ours = earlier(&fake, 42);
    {
        let mut state = fake.state();
        let mine = state.comments.remove(&7).unwrap().pop().unwrap();
        // A person, another app, and a deleted account forge our marker; other keys and versions only begin like it.
        let other_bot = Account("dependabot[bot]".to_owned(), "Bot".to_owned());
        let forged = ours.replace("run=42", "run=999");
        for author in [Some(Account::person("mallory")), Some(other_bot), None] {
            state.say(7, author, &forged);
        }
        state.say(7, Some(Account::actions()), &format!("> quoted\n{ours}"));
        state.say(7, Some(Account::actions()), &ours.replace("key=k.deploy", "key=k%2Edeploy"));
        state.say(7, Some(Account::actions()), &ours.replace("120000 run", "120000-more run"));
        state.say(7, Some(Account::actions()), &ours.replace("v1 key", "v10 key"));
        (0..230).for_each(|n| {
            state.say(7, Some(Account::person("octocat")), &format!("comment {n}"));
        });
        state.comments.get_mut(&7).unwrap().push(mine);
    }
    let before = fake.bodies(7);
    let step = Step::on(&fake, 43, SKIPPED);
    step.run();
    let after = fake.bodies(7);
    assert_eq!(step.output("comment-status"), "updated");
    assert_eq!(after.len(), before.len());
    assert_eq!(after[..after.len() - 1], before[..before.len() - 1]);
    assert!(after.last().unwrap().contains("run=43"));
    let pages: Vec<_> = fake.take().into_iter().filter(|r| r.path.ends_with("/7/comments")).collect();
    assert!(pages.iter().all(|page| page.query("per_page") == Some("100")));
}

#[test]
fn a_comment_of_a_forger_is_left_alone_and_ours_is_created() {
    let fake = Fake::new();
    let ours = earlier(&fake, 42);
    fake.state().comments.get_mut(&7).unwrap()[0].author = Some(Account::person("mallory"));
    let step = Step::on(&fake, 43, SKIPPED);
    step.run();
    assert_eq!(fake.bodies(7)[0], ours);
    assert_eq!(fake.bodies(7).len(), 2);
    assert_eq!(step.output("comment-status"), "created");
}

#[test]
fn without_graphql_a_bot_of_the_literal_name_is_ourselves_and_a_person_is_told_by_rest() {
    let person = Account::person;
    let cases = vec![
        // A personal token writes as its owner.
        (Some("octo-deployer"), person("octo-deployer"), 1),
        (None, Account::actions(), 1),
        // Neither a person of the bot's name nor another bot.
        (None, person("github-actions[bot]"), 2),
        (None, Account("github-actions".to_owned(), "Bot".to_owned()), 2),
    ];
    together(cases, |(user, author, comments)| {
        let fake = Fake::new();
        let mut state = fake.state();
        (state.viewer, state.user) = (Viewer::Absent, user.map(str::to_owned));
        state.author = author.clone();
        drop(state);
        earlier(&fake, 42);
        Step::on(&fake, 43, SKIPPED).run();
        assert_eq!(fake.bodies(7).len(), comments, "{author:?}");
    });
}

#[test]
fn a_comment_that_was_deleted_in_between_is_created_once() {
    let fake = Fake::new();
    earlier(&fake, 42);
    let id = fake.state().comments(7)[0].id;
    fake.fault(Fault::before("PATCH /comments/", move |state| assert!(state.delete(id))).times(1));
    let step = Step::on(&fake, 43, SKIPPED);
    step.run();
    assert_eq!(step.output("comment-status"), "created");
    assert_eq!(fake.bodies(7).len(), 1);
    assert!(fake.bodies(7)[0].contains("run=43"));
}

#[test]
fn duplicates_of_our_own_are_removed_and_a_refusal_of_that_is_no_trouble() {
    together(vec![false, true], |refused| {
        let fake = Fake::new();
        let ours = earlier(&fake, 42);
        let copies = [ours.clone(), ours.replace("run=42", "run=44")];
        let ids = copies.map(|copy| fake.state().say(7, Some(Account::actions()), &copy));
        fake.state().say(7, Some(Account::person("mallory")), &ours);
        if refused {
            fake.fault(Fault::status("DELETE /comments/", 403, "Resource not accessible by integration"));
        }
        let step = Step::on(&fake, 45, SKIPPED);
        step.run();
        assert_eq!((step.output("comment-status"), step.output("status")), ("updated".into(), "ok".into()));
        let left: Vec<u64> = fake.state().comments(7).iter().map(|comment| comment.id).collect();
        assert_eq!(left.len(), if refused { 4 } else { 2 }, "{left:?}");
        assert!(refused || !ids.iter().any(|id| left.contains(id)));
        assert!(fake.bodies(7)[0].contains("run=45"));
    });
}

#[test]
fn each_key_has_its_own_comment_whatever_is_in_it() {
    let fake = Fake::new();
    let long = "k".repeat(300);
    let keys = ["a b", "a--b", "a%20b", "a -->b", "ä", &long, &format!("{long}2"), "A b", "prod=1 run=9"];
    together(keys.to_vec(), |key| {
        for run in [42, 43] {
            Step::on(&fake, run, SKIPPED).input("comment-key", key).run();
        }
    });
    let bodies = fake.bodies(7);
    assert_eq!(bodies.len(), keys.len());
    let mut markers: Vec<&str> = bodies.iter().map(|body| body.split(" run=").next().unwrap()).collect();
    markers.sort_unstable();
    markers.dedup();
    assert_eq!(markers.len(), keys.len());
    assert!(
        bodies.iter().all(|body| body.lines().next().unwrap().ends_with(" -->") && body.contains(" run=43 "))
    );
}

#[test]
fn the_mode_decides_about_new_comments_only() {
    let key = "deploy-20261005-120000";
    let fake = Fake::new();
    let quiet = Step::on(&fake, 42, VERIFIED).input("comment", "on-problem").input("comment-key", key);
    quiet.run();
    assert_eq!((fake.bodies(7).len(), quiet.output("comment-status").as_str()), (0, "off"));
    let problem = quiet.now(SKIPPED).numbered(43);
    problem.run();
    assert_eq!((fake.bodies(7).len(), problem.output("comment-status").as_str()), (1, "created"));
    let recovered = problem.now(VERIFIED).numbered(44);
    recovered.run();
    assert_eq!((fake.bodies(7).len(), recovered.output("comment-status").as_str()), (1, "updated"));
    assert!(fake.bodies(7)[0].contains("VERIFIED SUCCESS"));
    fake.take();
    let never = recovered.now(SKIPPED).numbered(45).input("comment", "never");
    never.run();
    assert_eq!(never.output("comment-status"), "off");
    assert!(fake.take().is_empty());
    let always = never.now(VERIFIED).numbered(46).input("comment", "always").input("comment-key", "other");
    always.run();
    assert_eq!((fake.bodies(7).len(), always.output("comment-status").as_str()), (2, "created"));
}

#[test]
fn on_a_server_of_ones_own_only_the_addresses_of_the_environment_are_used() {
    let fake = Fake::enterprise();
    let step = Step::on(&fake, 42, SKIPPED).input("create-issue", "true");
    step.run();
    let step = step.numbered(43);
    step.run();
    assert_eq!((fake.bodies(7).len(), fake.issues().len()), (1, 1));
    assert!(fake.take().iter().any(|request| request.path == "graphql"));
    // Without GraphQL's address REST suffices.
    let rest_only = step.variable("GITHUB_GRAPHQL_URL", "").numbered(44);
    let output = rest_only.run();
    assert_eq!(rest_only.output("comment-status"), "updated", "{}", stdout(&output));
    assert!(!fake.take().iter().any(|request| request.path == "graphql"));
}
