//! What is tried again, how often, and that no retry ever makes a second comment or issue.

use std::time::{Duration, Instant};

use crate::fake::{Account, Fake, Fault, Viewer};
use crate::step::{SKIPPED, Step, together};

const POST: &str = "POST /issues/7/comments";

fn comments_after_failures() {
    let on = POST;
    let faults: Vec<(&str, Vec<Fault>)> = vec![
        ("done, but 502", vec![Fault::done_but(on, 502).times(1)]),
        ("done, but 504", vec![Fault::done_but(on, 504).times(1)]),
        ("done, but dropped", vec![Fault::done_but_dropped(on).times(1)]),
        ("502", vec![Fault::status(on, 502, "Bad Gateway").times(1)]),
        ("503, an HTML page", vec![Fault::status(on, 503, "").body("<html>down</html>").times(1)]),
        ("reset", vec![Fault::reset(on).times(1)]),
        (
            "502, then done but 502",
            vec![Fault::status(on, 502, "x").times(1), Fault::done_but(on, 502).times(1)],
        ),
        ("twice 502", vec![Fault::status(on, 502, "x").times(2)]),
    ];
    together(faults, |(what, faults)| {
        let fake = Fake::new();
        faults.into_iter().for_each(|fault| {
            fake.fault(fault);
        });
        let step = Step::on(&fake, 42, SKIPPED);
        step.run();
        assert_eq!(fake.bodies(7).len(), 1, "{what}");
        assert_eq!(step.output("comment-status"), "created", "{what}");
        assert!(step.output("comment-url").contains("#issuecomment-"), "{what}");
        assert_eq!(step.output("status"), "ok", "{what}");
    });
}

fn issues_after_failures() {
    let faults = |on| {
        vec![
            Fault::done_but(on, 502).times(1),
            Fault::done_but_dropped(on).times(1),
            Fault::status(on, 503, "Unavailable").times(1),
            Fault::reset(on).times(1),
        ]
    };
    together(faults("POST /orders/issues"), |fault| {
        let fake = Fake::new();
        let step = Step::on(&fake, 42, SKIPPED).input("comment", "never").input("create-issue", "true");
        // The next run finds something else, so that it has something to say.
        let again = fault.clone().on("/comments");
        fake.fault(fault);
        step.run();
        assert_eq!(fake.issues().len(), 1);
        let number = fake.issues()[0].number;
        let url = format!("https://github.example/octo/orders/issues/{number}");
        assert_eq!(step.output("issue-url"), url);
        fake.state().faults.clear();
        fake.fault(again.times(1));
        let step = step.input("comment-key", "deploy-20261005-120000");
        let step = step.now("deployment-failure__http-503").numbered(43);
        step.run();
        assert_eq!((fake.issues().len(), fake.bodies(number).len()), (1, 1));
        assert_eq!((step.output("issue-url"), step.output("status")), (url, "ok".to_owned()));
    });
}

#[test]
fn a_post_that_failed_never_makes_a_second_comment_or_issue_or_entry_on_it() {
    together(vec![comments_after_failures as fn(), issues_after_failures], |half| half());
}

#[test]
fn reading_and_replacing_are_tried_three_times_in_all() {
    let on = |on: &'static str, fault: fn(&str) -> Fault| fault(on);
    let bad_gateway = |on: &str| Fault::status(on, 502, "Bad Gateway");
    together(
        vec![
            (on("GET /issues/7/comments", bad_gateway).times(2), "updated", 3),
            (on("GET /issues/7/comments", bad_gateway).times(3), "server-error", 3),
            (on("GET /issues/7/comments", Fault::reset).times(2), "updated", 3),
            (on("PATCH /comments/", bad_gateway).times(2), "updated", 3),
            (on("PATCH /comments/", Fault::reset), "error", 3),
            (on("PATCH /comments/", Fault::done_but_dropped).times(1), "unchanged", 1),
            (
                Fault::status("PATCH /comments/", 429, "slow down").header("retry-after", "1").times(1),
                "updated",
                2,
            ),
        ],
        |(fault, word, tries)| {
            let fake = Fake::new();
            Step::on(&fake, 41, SKIPPED).run();
            fake.take();
            let (method, path) = (fault.method.clone(), fault.path.clone());
            fake.fault(fault);
            let step = Step::on(&fake, 42, SKIPPED);
            let started = Instant::now();
            step.run();
            assert!(tries < 3 || started.elapsed() > Duration::from_secs(3), "it waits in between");
            let what = format!("{method} {path} {word}");
            let status = step.output("comment-status");
            // Done, but without an answer: it says already what we would say.
            assert!(status == word || (word == "unchanged" && status == "updated"), "{what}: {status}");
            let requests = fake.take();
            let count = requests.iter().filter(|r| r.method == method && r.path.contains(&path)).count();
            // It took long, so that it is read once more before something is replaced, and again after that.
            let after = if method == "GET" && word == "updated" { 2 } else { 0 };
            assert_eq!(count, tries + after, "{what}");
            assert_eq!(fake.bodies(7).len(), 1, "{what}");
        },
    );
}

#[test]
fn the_pause_that_is_asked_for_is_kept_where_it_fits() {
    let on = POST;
    let limited = || Fault::status(on, 403, "You have exceeded a secondary rate limit. Please wait.");
    let cases = vec![
        (Fault::status(on, 429, "Too many requests").header("retry-after", "2").times(1), "created", 2),
        (limited().header("retry-after", "2").times(1), "created", 2),
        (Fault::status(on, 503, "Unavailable").header("retry-after", "3").times(1), "created", 3),
        // These do not fit: it is given up at once, not after a minute.
        (limited(), "rate-limited", 0),
        (Fault::status(on, 429, "Too many requests").header("retry-after", "3600"), "rate-limited", 0),
        (Fault::status(on, 403, "API limit").header("x-ratelimit-remaining", "0"), "rate-limited", 0),
    ];
    together(cases, |(fault, word, pause)| {
        let fake = Fake::new();
        fake.fault(fault);
        let step = Step::on(&fake, 42, SKIPPED);
        let started = Instant::now();
        step.run();
        let took = started.elapsed();
        assert_eq!(step.output("comment-status"), word);
        let requests = fake.take();
        let on = on.replace(' ', " /repos/octo/orders");
        let posts: Vec<Instant> = requests.iter().filter(|r| r.line() == on).map(|r| r.at).collect();
        if pause > 0 {
            assert_eq!(posts.len(), 2);
            assert!(posts[1] - posts[0] >= Duration::from_secs(pause));
        } else {
            assert_eq!(posts.len(), 1);
            assert!(took < Duration::from_secs(15), "{took:?}");
        }
        assert_eq!(fake.bodies(7).len(), usize::from(pause > 0));
    });
}

#[test]
fn two_runs_that_wait_do_not_come_back_at_the_same_moment() {
    let pauses = std::sync::Mutex::new(Vec::new());
    together((0..4).collect(), |_: u8| {
        let fake = Fake::new();
        fake.fault(Fault::status("GET /issues/7/comments", 503, "x").times(1));
        Step::on(&fake, 42, SKIPPED).run();
        let requests = fake.take();
        let gets: Vec<Instant> = requests.iter().filter(|r| r.method == "GET").map(|r| r.at).collect();
        pauses.lock().unwrap().push((gets[1] - gets[0]).as_millis());
    });
    let pauses = pauses.into_inner().unwrap();
    let (least, most) = (pauses.iter().min().unwrap(), pauses.iter().max().unwrap());
    assert!(*least >= 1_000 && most - least >= 10, "{pauses:?}");
}

/// Why a second comment cannot be ruled out.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Unknown {
    /// There are more comments than are read.
    TooMany,
    /// A page cannot be read.
    Page,
    /// Nobody can tell whether the comment that is there is ours.
    Author,
}

#[test]
fn where_a_second_comment_cannot_be_ruled_out_none_is_created() {
    together(vec![Unknown::TooMany, Unknown::Page, Unknown::Author], |unknown| {
        let fake = Fake::new();
        let person = Account::person("octo-deployer");
        match unknown {
            Unknown::TooMany => {
                let mut state = fake.state();
                (0..3_001).for_each(|n| {
                    state.say(7, Some(person.clone()), &format!("comment {n}"));
                });
            }
            Unknown::Page => {
                fake.fault(Fault::status("GET /issues/7/comments", 500, "x"));
            }
            Unknown::Author => {
                fake.state().author = person;
                fake.state().viewer = Viewer::Is("octo-deployer".to_owned());
                Step::on(&fake, 41, SKIPPED).run();
                fake.fault(Fault::status("POST graphql", 502, "x"));
                fake.fault(Fault::status("GET /user", 502, "x"));
                fake.take();
            }
        }
        let step = Step::on(&fake, 42, SKIPPED);
        step.run();
        assert_eq!(fake.writes(), Vec::<String>::new(), "{unknown:?}");
        let word = if unknown == Unknown::TooMany { "error" } else { "server-error" };
        assert_eq!(step.output("comment-status"), word, "{unknown:?}");
    });
}
