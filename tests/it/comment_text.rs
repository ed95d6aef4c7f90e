//! What stands in the comment and the issue: hostile text stays text, everything fits, and no secret gets there.

use comrak::{Arena, parse_document};
use serde_json::json;

use crate::fake::{Account, Fake};
use crate::hostile::{ATTACKS, deployment, intrusions, options};
use crate::step::{SKIPPED, Step, copy, together};
use crate::support::{Deployment, events, stdout};

/// A step on a folder that was made for the test.
fn step(fake: &Fake, deployment: &Deployment) -> Step {
    let step = Step::new().github(fake, 42).input("pr-number", "7").input("create-issue", "true");
    copy(deployment.path(), &step.workspace().join(".azure/deployments/d"));
    step
}

/// Everything that was posted: the comment, the issue.
fn posted(fake: &Fake) -> Vec<String> {
    let state = fake.state();
    let comments = state.comments.values().flatten().map(|comment| comment.body.clone());
    comments.chain(state.issues.iter().map(|issue| issue.body.clone())).collect()
}

/// The report without our own markers and links to runs, which only we write.
fn report(body: &str) -> String {
    let lines = body.lines().skip_while(|line| line.starts_with("<!-- "));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    assert!(!text.contains("<!--"), "{text}");
    let runs = "](https://github.example/octo/orders/actions/runs/42)";
    text.replace(&format!("[42{runs}"), "42")
}

fn check_markdown(body: &str, what: &str) {
    assert!(body.len() <= 60_000, "{what}: {} bytes", body.len());
    assert!(body.encode_utf16().count() <= 60_000, "{what}");
    let text = report(body);
    let arena = Arena::new();
    let mut found = Vec::new();
    intrusions(parse_document(&arena, &text, &options()), &mut found);
    assert!(found.is_empty(), "{what}: {found:?}\n{text}");
    let count = |wanted: &str| text.lines().filter(|line| line.starts_with(wanted)).count();
    assert_eq!(count("<details>"), count("</details>"), "{what}");
    assert_eq!(count("```") % 2, 0, "{what}");
    assert!(!text.contains(['\u{1b}', '\0']));
}

#[test]
fn hostile_text_stays_text_in_comment_and_issue() {
    let groups: Vec<Vec<&str>> = ATTACKS.chunks(4).map(<[&str]>::to_vec).collect();
    together(groups, |attacks| {
        for attack in attacks {
            let fake = Fake::new();
            let hostile = deployment(attack);
            // The environment cannot hold a zero byte.
            let step = step(&fake, &hostile).input("comment-key", &attack.replace('\0', ""));
            let step = step.input("model-path", ".azure/deployments/d/m.json");
            step.run();
            let bodies = posted(&fake);
            assert_eq!(bodies.len(), 2, "{attack:?}");
            bodies.iter().for_each(|body| check_markdown(body, attack));
            let title = fake.issues()[0].title.clone();
            assert!(!title.contains(['\n', '\r']) && !title.contains("@o"), "{title:?}");
        }
    });
}

#[test]
fn a_thousand_states_with_long_names_fit_and_what_matters_is_there() {
    let fake = Fake::new();
    let deployment = Deployment::verified();
    let names = ["s".repeat(190), "\u{1f980}".repeat(60), "`|<@#\\".repeat(30), "\u{e4}".repeat(150)];
    let states: Vec<String> = (0..1_000).map(|n| format!("{}{n}", names[n % 4])).collect();
    // Most are covered: what is missing is compared with all others, which takes a debug build its time.
    let done: Vec<&str> = states.iter().take(940).map(String::as_str).collect();
    deployment.trace(&events(&done));
    deployment.write("m.json", &json!({ "essential_states": states }).to_string());
    let resource = |n: usize| json!({"name": states[n], "provisioningState": states[n]});
    let resources: Vec<_> = (0..150).map(resource).collect();
    let results = json!({"status": "passed", "resources": resources, "endpoints": ""});
    deployment.write("tests.json", &results.to_string());
    let step = step(&fake, &deployment).input("model-path", ".azure/deployments/d/m.json");
    let output = step.run();
    assert_eq!(step.output("comment-status"), "created", "{}", stdout(&output));
    let bodies = posted(&fake);
    assert_eq!(bodies.len(), 2);
    for body in bodies {
        check_markdown(&body, "a thousand states");
        for part in ["| Verdict | ", "| Coverage | 940/1000 essential states (94%) |", "| Missing | `"] {
            assert!(body.contains(part), "{part}: {body}");
        }
        let link = "This was cut to fit; run [42](https://github.example/octo/orders/actions/runs/42)";
        assert!(body.contains(link), "{body}");
    }
}

#[test]
fn no_secret_reaches_comment_issue_summary_or_outputs() {
    let shape = format!("ghs{}", "_0123456789abcdefghijABCDEFGHIJ0123");
    let fake = Fake::new();
    let secrets = ["the-very-token", "hunter2", &shape];
    let text = secrets.join(" and ");
    let deployment = Deployment::verified();
    deployment.write("state.json", &json!({"deploymentId": text, "status": "succeeded"}).to_string());
    deployment.trace(&[
        json!({"state": text, "status": "failed", "message": text}),
        json!({"state": "error", "message": text}),
    ]);
    let results = json!({"status": "passed", "resources": [{"name": text, "provisioningState": text}], "endpoints": text});
    deployment.write("tests.json", &results.to_string());
    for (pull, key) in [("7", ""), ("8", text.as_str())] {
        let step = step(&fake, &deployment)
            .input("mask", "hunter2")
            .input("comment-key", key)
            .input("pr-number", pull);
        step.run();
        let said = posted(&fake).join("\n") + &step.summary() + &format!("{:?}", step.outputs());
        for secret in secrets {
            assert!(!said.contains(secret), "{secret}: {said}");
        }
        for issue in fake.issues() {
            assert!(secrets.iter().all(|secret| !issue.title.contains(secret)), "{}", issue.title);
        }
    }
    assert_eq!(fake.state().comments.len(), 2);
}

#[test]
fn a_secret_in_an_answer_of_github_reaches_no_annotation() {
    let fake = Fake::new();
    fake.fault(crate::fake::Fault::status("POST /comments", 422, "no: Bearer the-very-token and hunter2"));
    let output = Step::on(&fake, 42, SKIPPED).input("mask", "hunter2").run();
    let said = stdout(&output);
    assert!(said.contains("422") && !said.contains("the-very-token") && !said.contains("hunter2"), "{said}");
}

#[test]
fn what_somebody_wrote_into_our_comment_is_not_repeated() {
    let fake = Fake::new();
    Step::on(&fake, 41, SKIPPED).run();
    let id = fake.state().comments(7)[0].id;
    {
        let mut state = fake.state();
        let comment = state.find(id).unwrap();
        // Whoever may write to the repository may edit the comment of a bot.
        comment.body = comment.body.replace("process-violation 5/6 41", "@octocat/**x** 5/6 41");
        assert!(comment.body.contains("@octocat"));
        assert_eq!(comment.author, Some(Account::actions()));
    }
    let step = Step::on(&fake, 42, SKIPPED);
    step.run();
    let body = fake.bodies(7).pop().unwrap();
    assert!(!body.contains("octocat") && !body.contains("Before:"), "{body}");
    assert_eq!(step.output("comment-status"), "updated");
}
