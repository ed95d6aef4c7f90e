//! GitHub refuses: each refusal has its word and one line, the report is written all the same, and the exit code is 0.

use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fake::{Fake, Fault, REPOSITORY, pull};
use crate::step::{SKIPPED, Step, VERIFIED, together};
use crate::support::stdout;

/// The lines about what was not done on GitHub.
fn warnings(output: &Output) -> Vec<String> {
    let text = stdout(output);
    let about = |line: &&str| {
        line.starts_with("::warning")
            && ["was not written", "nothing was posted", "could not be found"]
                .iter()
                .any(|part| line.contains(part))
    };
    text.lines().filter(about).map(str::to_owned).collect()
}

/// Everything that does not depend on GitHub is there.
fn check_report(step: &Step, what: &str) {
    assert_eq!(step.output("verdict"), "process-violation", "{what}");
    assert_eq!(step.output("coverage"), "5/6", "{what}");
    assert!(step.summary().contains("| Coverage | 5/6"), "{what}");
}

const NOT_ACCESSIBLE: &str = "Resource not accessible by integration";
const BLOCK: &str = "permissions:%0A  contents: read%0A  pull-requests: write";
const POST: &str = "POST /issues/7/comments";

#[test]
fn each_refusal_has_its_word_and_one_line() {
    let pause = |fault: Fault| fault.header("retry-after", "3600");
    let cases = vec![
        (Fault::status(POST, 403, NOT_ACCESSIBLE), "read-only", "may not write here (403)"),
        (Fault::status(POST, 403, "Unable to create comment because issue is locked."), "locked", "locked"),
        (
            Fault::status(POST, 403, "You have exceeded a secondary rate limit"),
            "rate-limited",
            "too many requests",
        ),
        (pause(Fault::status(POST, 429, "Too many requests")), "rate-limited", "too many requests"),
        (Fault::status(POST, 404, "Not Found"), "not-found", "404"),
        (Fault::status(POST, 410, "Gone"), "not-found", "404"),
        (
            Fault::status(POST, 422, "Validation Failed: body is too long (maximum is 65536 characters)"),
            "error",
            "too long",
        ),
        (Fault::status(POST, 413, "x"), "error", "too long"),
        (Fault::status(POST, 422, "Validation\nFailed ::error::x ##[group]"), "error", "422"),
        (Fault::status(POST, 401, "Bad credentials"), "error", "401"),
        (
            Fault::status(POST, 301, "Moved Permanently").header("location", "/elsewhere"),
            "moved",
            "has moved",
        ),
        (Fault::status(POST, 307, "Moved").header("location", "/elsewhere"), "moved", "has moved"),
        (
            Fault::status("GET /issues/7/comments", 301, "Moved").header("location", "/elsewhere"),
            "moved",
            "has moved",
        ),
        (Fault::status("GET /issues/7/comments", 404, "Not Found"), "not-found", "404"),
        (
            Fault::status("GET /issues/7/comments", 200, "").body("<html>a proxy</html>"),
            "error",
            "could not be read",
        ),
        (Fault::status("GET /issues/7/comments", 500, "").body("<html>oops</html>"), "server-error", "(500)"),
        (Fault::status(POST, 504, "").body("<html>"), "server-error", "(504)"),
        (Fault::reset("GET /issues/7/comments"), "error", "connection"),
    ];
    together(cases, |(fault, word, line)| {
        let fake = Fake::new();
        let what = format!("{} {} {word} {line}", fault.method, fault.path);
        fake.fault(fault);
        let step = Step::on(&fake, 42, SKIPPED);
        let output = step.run();
        assert_eq!(step.output("comment-status"), word, "{what}");
        assert_eq!(
            (step.output("status"), step.output("comment-url")),
            (word.to_owned(), String::new()),
            "{what}"
        );
        let found = warnings(&output);
        assert_eq!(found.len(), 1, "{what}: {}", stdout(&output));
        assert!(found[0].contains(line), "{what}: {}", found[0]);
        assert_eq!(
            found[0].contains(BLOCK),
            ["read-only", "not-found"].contains(&word),
            "{what}: {}",
            found[0]
        );
        check_report(&step, &what);
        assert_eq!(fake.bodies(7).len(), 0, "{what}");
    });
}

#[test]
fn comment_and_issue_together_raise_one_warning_with_all_the_permissions() {
    let fake = Fake::new();
    fake.fault(Fault::status("POST /issues", 403, NOT_ACCESSIBLE));
    let step = Step::on(&fake, 42, SKIPPED).input("create-issue", "true");
    let found = warnings(&step.run());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(&format!("{BLOCK}%0A  issues: write")), "{}", found[0]);
    assert_eq!(step.output("status"), "read-only");
}

#[test]
fn a_fork_and_dependabot_are_told_why_their_token_cannot_write() {
    let of = |head: Value| {
        let mut pull = pull(7, REPOSITORY, "h", None);
        pull["head"]["repo"] = head;
        json!({ "pull_request": pull })
    };
    let cases = vec![
        ("pull_request", of(json!({"full_name": "mona/orders"})), "mona", "a fork's pull request", false),
        ("pull_request", of(Value::Null), "mona", "a fork's pull request", false),
        ("pull_request", of(json!({"full_name": REPOSITORY})), "dependabot[bot]", "Dependabot's token", true),
        (
            "pull_request",
            of(json!({"full_name": REPOSITORY})),
            "mona",
            "Give the job that runs this action:",
            true,
        ),
    ];
    together(cases, |(name, event, actor, why, block)| {
        let fake = Fake::new();
        fake.fault(Fault::status(POST, 403, NOT_ACCESSIBLE));
        let step = Step::with(&[SKIPPED]).github(&fake, 42).event(name, &event);
        let step = step.variable("GITHUB_ACTOR", actor);
        let found = warnings(&step.run());
        assert_eq!(found.len(), 1);
        assert!(found[0].contains(why), "{why}: {}", found[0]);
        assert_eq!(found[0].contains(BLOCK), block, "{}", found[0]);
        assert_eq!(step.output("comment-status"), "read-only");
    });
}

#[test]
fn without_a_token_nothing_is_asked() {
    for (token, trouble) in [("", "ok"), ("two\nlines", "no-token"), ("t\u{f6}ken", "no-token")] {
        let fake = Fake::new();
        let step = Step::on(&fake, 42, SKIPPED).input("github-token", token);
        step.run();
        assert_eq!(step.output("comment-status"), "no-token");
        assert_eq!(step.output("status"), trouble);
        check_report(&step, token);
        assert!(fake.take().is_empty());
    }
}

#[test]
fn a_server_that_is_not_there_stops_nothing() {
    let gone = Fake::new().api_url();
    let cases =
        vec![(gone.as_str(), "error"), ("not an address", "error"), ("http://", "error"), ("", "no-token")];
    together(cases, |(address, word)| {
        let fake = Fake::new();
        let step = Step::on(&fake, 42, SKIPPED).variable("GITHUB_API_URL", address);
        step.run();
        assert_eq!(step.output("comment-status"), word, "{address}");
        check_report(&step, address);
    });
}

#[test]
fn a_server_that_hangs_once_costs_a_moment_and_graphql_five_seconds() {
    let cases = vec![
        (Fault::hang("POST graphql"), "updated", 5, 9),
        (Fault::hang("GET /issues/7/comments").times(1), "updated", 10, 17),
        // Which folder the commit changed.
        (Fault::hang("GET /commits/"), "updated", 5, 9),
    ];
    together(cases, |(fault, word, least, most)| {
        let fake = Fake::new();
        Step::on(&fake, 41, SKIPPED).input("comment-key", "orders").run();
        let fault_is_of_commits = fault.path.contains("commits");
        fake.fault(fault);
        let both = [SKIPPED, VERIFIED];
        let cases = if fault_is_of_commits { &both[..] } else { &both[..1] };
        let step = Step::with(cases).github(&fake, 42).input("pr-number", "7").input("comment-key", "orders");
        let started = Instant::now();
        step.run();
        let took = started.elapsed();
        assert!(took >= Duration::from_secs(least) && took < Duration::from_secs(most), "{took:?}");
        assert_eq!(step.output("comment-status"), word);
        assert_eq!(fake.bodies(7).len(), 1);
    });
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_waiting_for_github_and_the_outputs_are_there() {
    let fake = Fake::new();
    fake.fault(Fault::hang("GET /issues/7/comments"));
    let step = Step::on(&fake, 42, SKIPPED);
    let child = step.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while fake.state().requests.is_empty() && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let sent =
        std::process::Command::new("kill").args(["-s", "TERM", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let signalled = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(signalled.elapsed() < Duration::from_secs(3));
    assert!(stdout(&output).contains("cancelled"));
    check_report(&step, "signal");
}

/// Takes a minute: `cargo test -- --ignored`.
#[test]
#[ignore = "it waits until the deadline of 60 s"]
fn a_server_that_hangs_for_good_costs_a_minute_at_most_and_what_was_done_is_told() {
    let cases =
        vec![(Fault::hang("GET /orders/issues"), "timeout"), (Fault::hang("GET /orders/issues$"), "created")];
    together(cases, |(fault, word)| {
        // Comments and issues, or issues only.
        let fake = Fake::new();
        fake.fault(fault);
        let step = Step::on(&fake, 42, SKIPPED).input("create-issue", "true");
        let started = Instant::now();
        let output = step.run();
        assert!(started.elapsed() < Duration::from_secs(62), "{:?}", started.elapsed());
        assert_eq!((step.output("comment-status"), step.output("status")), (word.into(), "timeout".into()));
        assert!(!warnings(&output).is_empty());
        check_report(&step, word);
    });
}
