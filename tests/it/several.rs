//! A step on several deployments: one comment and one issue for all of them, worst first, within what GitHub takes.

use comrak::{Arena, parse_document};
use serde_json::json;

use crate::fake::Fake;
use crate::hostile::{ATTACKS, intrusions, options};
use crate::step::{SKIPPED, Step, VERIFIED, copy};
use crate::support::{CHECKLIST, Deployment, events, fixtures};

const FAILED: &str = "deployment-failure__http-503";

/// A step on copies of fixtures, under these names.
fn step(fake: &Fake, run: u64, folders: &[(&str, &str)]) -> Step {
    let step =
        Step::new().github(fake, run).input("pr-number", "7").input("deployment-dir", ".azure/deployments/*");
    for (name, fixture) in folders {
        let target = step.workspace().join(".azure/deployments").join(name);
        copy(&fixtures().join(fixture), &target);
        let state = json!({"deploymentId": name, "status": "succeeded"}).to_string();
        std::fs::write(target.join("state.json"), state).unwrap();
        let trace = target.join("trace.jsonl");
        let text = std::fs::read_to_string(&trace).unwrap();
        std::fs::write(&trace, text.replace("deploy-20261005-120000", name)).unwrap();
    }
    step
}

fn one_body(fake: &Fake) -> String {
    let bodies = fake.bodies(7);
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    bodies.into_iter().next().unwrap()
}

fn check_markdown(body: &str) {
    assert!(body.len() <= 60_000 && body.encode_utf16().count() <= 60_000, "{}", body.len());
    let count = |wanted: &str| body.lines().filter(|line| line.starts_with(wanted)).count();
    assert_eq!(count("<details>"), count("</details>"));
    assert_eq!(count("```") % 2, 0);
}

#[test]
fn one_comment_tells_of_all_worst_first() {
    let fake = Fake::new();
    let step = step(&fake, 42, &[("a-good", VERIFIED), ("b-skipped", SKIPPED), ("c-broken", FAILED)]);
    step.run();
    let body = one_body(&fake);
    check_markdown(&body);
    assert!(body.starts_with("<!-- process-integrity v1 key=s.several run=42 attempt=1 "), "{body}");
    assert!(body.contains("❌ **1 of 3 deployments verified; 2 are false successes.**"), "{body}");
    let row = "| `b-skipped` | ⚠️ PROCESS VIOLATION | 5/6 | `security_gate_evaluated` | healthy | **false success** |";
    let at = |part: &str| body.find(part).unwrap_or_else(|| panic!("{part}: {body}"));
    assert!(
        at("| `c-broken` |") < at(row)
            && at(row) < at("| `a-good` | ✅ VERIFIED SUCCESS | 6/6 |  | healthy | succeeded |")
    );
    let folded = [
        "<summary>❌ DEPLOYMENT FAILURE <code>c-broken</code></summary>",
        "<summary>⚠️ PROCESS VIOLATION <code>b-skipped</code></summary>",
    ];
    assert!(at(row) < at(folded[0]) && at(folded[0]) < at(folded[1]));
    assert!(!body.contains("<code>a-good</code>"), "what is verified needs its row only");
    assert!(body.contains("**Action required:**") && body.contains("- Run: [42]("));
    assert_eq!(
        (step.output("comment-status"), step.output("verdict")),
        ("created".into(), "deployment-failure".into())
    );
    // The summary begins with the same table.
    assert!(step.summary().contains(row));
}

#[test]
fn it_is_updated_in_place_whichever_folders_they_are() {
    let fake = Fake::new();
    step(&fake, 42, &[("a", VERIFIED), ("b", SKIPPED)]).run();
    fake.take();
    let before = one_body(&fake);
    let same = step(&fake, 42, &[("a", VERIFIED), ("b", SKIPPED)]);
    same.run();
    assert_eq!((one_body(&fake), same.output("comment-status").as_str()), (before, "unchanged"));
    let later = step(&fake, 43, &[("a", VERIFIED), ("b", VERIFIED), ("c", VERIFIED)]);
    later.run();
    let body = one_body(&fake);
    assert_eq!(later.output("comment-status"), "updated");
    assert!(body.contains("✅ **3 of 3 deployments verified.**"), "{body}");
    assert!(body.contains("Before: ⚠️ PROCESS VIOLATION (1/2) in run [42]"), "{body}");
    assert!(body.contains("| Verdict | Verified | Run | Time |"), "{body}");
    let older = step(&fake, 41, &[("a", SKIPPED), ("b", SKIPPED)]);
    older.run();
    assert_eq!((one_body(&fake), older.output("comment-status").as_str()), (body, "superseded"));
}

#[test]
fn a_key_of_the_workflow_keeps_comments_apart_and_one_folder_has_its_own() {
    let fake = Fake::new();
    let folders = [("a", VERIFIED), ("b", SKIPPED)];
    step(&fake, 42, &folders).input("comment-key", "east").run();
    step(&fake, 42, &folders).input("comment-key", "west").run();
    step(&fake, 42, &folders).run();
    step(&fake, 42, &folders[..1]).run();
    // A deployment may be called as the marker of several is written.
    step(&fake, 42, &[("s.several", VERIFIED)]).run();
    let keys: Vec<String> = fake
        .bodies(7)
        .iter()
        .map(|body| body.split_once("key=").unwrap().1.split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(keys, ["k.east", "k.west", "s.several", "k.a", "k.s.several"]);
}

#[test]
fn a_comment_on_problems_only_waits_for_one() {
    let fake = Fake::new();
    let good = step(&fake, 42, &[("a", VERIFIED), ("b", VERIFIED)]).input("comment", "on-problem");
    good.run();
    assert_eq!((good.output("comment-status").as_str(), fake.bodies(7).len()), ("off", 0));
    step(&fake, 43, &[("a", VERIFIED), ("b", SKIPPED)]).input("comment", "on-problem").run();
    assert_eq!(fake.bodies(7).len(), 1);
}

#[test]
fn one_issue_is_opened_for_all_and_appended_to_when_something_changes() {
    let fake = Fake::new();
    let run = |run, folders: &[(&str, &str)]| {
        let step = step(&fake, run, folders).input("comment", "never").input("create-issue", "true");
        step.run();
        let issues = fake.issues();
        let comments = issues.iter().map(|issue| fake.bodies(issue.number).len()).sum::<usize>();
        (issues.len(), comments)
    };
    assert_eq!(run(41, &[("a", VERIFIED), ("b", VERIFIED)]), (0, 0));
    assert_eq!(run(42, &[("a", SKIPPED), ("b", VERIFIED)]), (1, 0));
    let issue = &fake.issues()[0];
    assert_eq!(issue.title, "Process Integrity: PROCESS VIOLATION in 1 of 2 deployments");
    assert!(issue.body.contains("| `a` |") && issue.body.contains("key=s.several"), "{}", issue.body);
    assert_eq!(run(43, &[("a", SKIPPED), ("b", VERIFIED)]), (1, 0), "nothing has changed");
    assert_eq!(run(44, &[("a", SKIPPED), ("b", SKIPPED)]), (1, 1));
    assert_eq!(run(45, &[("a", VERIFIED), ("b", VERIFIED)]), (1, 2));
    let last = fake.bodies(issue.number).pop().unwrap();
    assert!(last.contains("All deployments of this run are verified."), "{last}");
}

#[test]
fn thousands_fit_and_the_worst_are_shown() {
    let fake = Fake::new();
    let names: Vec<String> =
        (0..700).map(|at| format!("deploy-{at:04}-with-a-name-that-takes-its-room")).collect();
    let folder = |at: usize| (names[at].as_str(), if at == 650 { FAILED } else { SKIPPED });
    let folders: Vec<(&str, &str)> = (0..names.len()).map(folder).collect();
    step(&fake, 42, &folders).run();
    let body = one_body(&fake);
    check_markdown(&body);
    assert!(body.contains("**0 of 700 deployments verified; 700 are false successes.**"), "{body}");
    let first = body.lines().find(|line| line.starts_with("| `deploy-")).unwrap();
    assert!(first.contains(&names[650]) && first.contains("DEPLOYMENT FAILURE"), "{first}");
    assert!(body.contains("| … and 400 more |"), "{body}");
    assert!(body.contains(&format!("<code>{}</code>", names[650])));
    assert!(body.contains(" reports are not shown here; run [42]("));
}

#[test]
fn hostile_names_stay_names() {
    for attack in ATTACKS {
        let fake = Fake::new();
        let step = Step::new().github(&fake, 42).input("pr-number", "7").input("create-issue", "true");
        let step = step.input("deployment-dir", ".azure/deployments/*");
        for folder in ["a", "b"] {
            let hostile = Deployment::verified();
            hostile.trace(&events(&CHECKLIST[..3]));
            let id = format!("{attack}{folder}");
            hostile.write("state.json", &json!({"deploymentId": id, "status": "succeeded"}).to_string());
            hostile.write(
                "tests.json",
                &json!({"resources": [{"resource": attack, "status": "fail", "check": attack}]}).to_string(),
            );
            copy(hostile.path(), &step.workspace().join(".azure/deployments").join(folder));
        }
        step.run();
        let issue = fake.issues().pop().unwrap();
        for body in [one_body(&fake), issue.body] {
            check_markdown(&body);
            let text: String = body
                .lines()
                .skip_while(|line| line.starts_with("<!-- "))
                .map(|line| format!("{line}\n"))
                .collect();
            let text = text.replace("[42](https://github.example/octo/orders/actions/runs/42)", "42");
            assert!(!text.contains("<!--"), "{attack:?}: {text}");
            let arena = Arena::new();
            let mut found = Vec::new();
            intrusions(parse_document(&arena, &text, &options()), &mut found);
            assert!(found.is_empty(), "{attack:?}: {found:?}\n{text}");
        }
    }
}
