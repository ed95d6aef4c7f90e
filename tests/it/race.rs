//! Runs at the same moment: one comment, and it is the newest run's verdict.

use crate::fake::{Fake, Fault};
use crate::step::{SKIPPED, Step, VERIFIED, together};

const KEY: &str = "orders";

/// The newest run says something else than the others.
fn step(fake: &Fake, run: u64, newest: u64) -> Step {
    let case = if run == newest { VERIFIED } else { SKIPPED };
    Step::on(fake, run, case).input("comment-key", KEY)
}

fn check(fake: &Fake, newest: u64, what: &str) {
    let bodies = fake.bodies(7);
    assert_eq!(bodies.len(), 1, "{what}: {bodies:#?}");
    assert!(bodies[0].contains(&format!(" run={newest} ")), "{what}: {}", bodies[0]);
    assert!(bodies[0].contains("VERIFIED SUCCESS"), "{what}");
}

#[test]
fn two_runs_at_the_same_moment_leave_one_comment_with_the_newest_verdict() {
    together((0..10).collect(), |seed: u64| {
        let fake = Fake::new();
        {
            let mut state = fake.state();
            (state.jitter, state.random) = (120, seed);
        }
        // With no comment yet, and then with one of an older run.
        for newest in [51, 61] {
            let runs =
                if seed.is_multiple_of(2) { vec![newest, newest - 1] } else { vec![newest - 1, newest] };
            together(runs, |run| {
                step(&fake, run, newest).run();
            });
            check(&fake, newest, &format!("seed {seed}"));
        }
    });
}

#[test]
fn five_runs_at_the_same_moment_leave_one_comment_with_the_newest_verdict() {
    together((0..3).collect(), |seed: u64| {
        let fake = Fake::new();
        {
            let mut state = fake.state();
            (state.jitter, state.random) = (120, seed + 100);
        }
        together((71..=75).collect(), |run| {
            step(&fake, run, 75).run();
        });
        check(&fake, 75, &format!("seed {seed}"));
    });
}

/// While a run creates its comment, the other one has just created one.
fn overtaken(fake: &Fake, run: u64) {
    let body = {
        let other = Fake::new();
        step(&other, run, 60).run();
        other.bodies(7).pop().unwrap()
    };
    fake.fault(
        Fault::before("POST /comments", move |state| {
            let author = state.author.clone();
            state.say(7, Some(author), &body);
        })
        .times(1),
    );
}

#[test]
fn a_run_that_lost_the_race_says_so_and_names_the_comment_that_stayed() {
    let fake = Fake::new();
    overtaken(&fake, 60);
    let older = step(&fake, 50, 60);
    older.run();
    check(&fake, 60, "older");
    assert_eq!(older.output("comment-status"), "superseded");
    let id = fake.state().comments(7)[0].id;
    assert!(older.output("comment-url").ends_with(&format!("-{id}")), "{}", older.output("comment-url"));
}

#[test]
fn the_address_is_of_the_comment_that_stays() {
    let fake = Fake::new();
    overtaken(&fake, 50);
    let newer = step(&fake, 60, 60);
    newer.run();
    check(&fake, 60, "newer");
    let id = fake.state().comments(7)[0].id;
    assert!(newer.output("comment-url").ends_with(&format!("-{id}")), "{}", newer.output("comment-url"));
    // What the older one said is in the history.
    assert!(fake.bodies(7)[0].contains("<summary>Last verdicts (2)</summary>"), "{}", fake.bodies(7)[0]);
}

#[test]
fn a_replacement_that_is_tried_again_looks_first_whether_a_newer_run_has_spoken() {
    let fake = Fake::new();
    step(&fake, 40, 0).run();
    let newer = {
        let other = Fake::new();
        step(&other, 60, 60).run();
        other.bodies(7).pop().unwrap()
    };
    let id = fake.state().comments(7)[0].id;
    // The first try fails, and while it waits the newer run writes.
    let write = newer.clone();
    fake.fault(Fault::status("PATCH /comments/", 502, "Bad Gateway").times(1));
    fake.fault(Fault::before("GET /issues/7/comments", move |state| {
        let failed = state.requests.iter().any(|request| request.method == "PATCH");
        if failed {
            state.find(id).unwrap().body = write.clone();
        }
    }));
    let older = step(&fake, 50, 60);
    older.run();
    assert_eq!(fake.bodies(7), [newer]);
    assert_eq!(older.output("comment-status"), "superseded");
}

#[test]
fn a_slow_look_for_who_we_are_does_not_make_an_older_run_overwrite_a_newer_one() {
    let fake = Fake::new();
    step(&fake, 40, 0).run();
    fake.fault(Fault::delay("POST graphql", 1_500).times(1));
    together(vec![50, 60], |run| {
        if run == 60 {
            std::thread::sleep(std::time::Duration::from_millis(400));
        }
        step(&fake, run, 60).run();
    });
    check(&fake, 60, "slow");
}
