//! The JUnit XML: valid by the schema of Jenkins' xUnit plugin, with counts that are right, and failures where and only where
//! a deployment is not verified.

use std::collections::BTreeSet;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use uppsala::XsdValidator;

use crate::hostile::{ATTACKS, deployment};
use crate::support::{
    Deployment, arguments_of, cases, check, events, fixtures, ids, program, stderr, stdout,
};
use process_integrity::health::{CheckStatus, junit};

struct Schema(XsdValidator);

impl Schema {
    fn published() -> Self {
        let text = std::fs::read_to_string(fixtures().join("../tests/schemas/junit-10.xsd")).unwrap();
        Self(XsdValidator::from_schema(&uppsala::parse(&text).unwrap()).unwrap())
    }

    fn wrong(&self, xml: &str) -> Vec<String> {
        match uppsala::parse(xml) {
            Ok(document) => self.0.validate(&document).iter().map(ToString::to_string).collect(),
            Err(error) => vec![error.to_string()],
        }
    }
}

fn junit_of(here: &Path, folders: &[&Path], arguments: &[String]) -> String {
    let mut command = program();
    command.current_dir(here).arg("check").args(folders).args(["--format", "junit"]).args(arguments);
    let output = command.output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
    stdout(&output)
}

fn value(tag: &BytesStart<'_>, name: &str) -> String {
    let value = tag.attributes().flatten().find(|attribute| attribute.key.as_ref() == name);
    let value = value.unwrap_or_else(|| panic!("{tag:?} has no {name}"));
    quick_xml::escape::unescape(&value.value).unwrap().into_owned()
}

#[derive(Debug, Default)]
struct Suite {
    name: String,
    /// What it says: tests, failures, errors, skipped.
    said: [usize; 4],
    /// Class and name of each test case, and the type of its failure.
    cases: Vec<(String, String, Option<String>)>,
    skipped: usize,
    messages: Vec<String>,
    texts: Vec<String>,
    notices: String,
}

/// The suites of a document.
fn suites(xml: &str) -> Vec<Suite> {
    let mut reader = Reader::from_str(xml);
    let mut suites: Vec<Suite> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    loop {
        let event = reader.read_event().unwrap();
        let empty = matches!(event, Event::Empty(_));
        match event {
            Event::Eof => return suites,
            Event::Start(tag) | Event::Empty(tag) => {
                let name = tag.local_name().as_ref().to_owned();
                match name.as_str() {
                    "testsuite" => {
                        let count = |name: &str| value(&tag, name).parse().unwrap();
                        let said = ["tests", "failures", "errors", "skipped"].map(count);
                        suites.push(Suite { name: value(&tag, "name"), said, ..Suite::default() });
                    }
                    "testcase" => {
                        let suite = suites.last_mut().unwrap();
                        suite.cases.push((value(&tag, "classname"), value(&tag, "name"), None));
                    }
                    "failure" => {
                        let suite = suites.last_mut().unwrap();
                        suite.messages.push(value(&tag, "message"));
                        suite.texts.push(String::new());
                        let kind = suite.cases.last_mut().unwrap().2.replace(value(&tag, "type"));
                        assert_eq!(kind, None, "two failures in one test case");
                    }
                    "skipped" => suites.last_mut().unwrap().skipped += 1,
                    _ => {}
                }
                if !empty {
                    open.push(name);
                }
            }
            Event::End(_) => drop(open.pop()),
            Event::Text(text) => {
                let text: &str = &text;
                push(&mut suites, &open, text);
            }
            Event::GeneralRef(name) => {
                let text = quick_xml::escape::unescape(&format!("&{};", &*name)).unwrap().into_owned();
                push(&mut suites, &open, &text);
            }
            _ => {}
        }
    }
}

fn push(suites: &mut [Suite], open: &[String], text: &str) {
    let Some(suite) = suites.last_mut() else { return };
    match open.iter().rev().map(String::as_str).collect::<Vec<_>>()[..] {
        ["failure", ..] => suite.texts.last_mut().unwrap().push_str(text),
        ["system-out", "testsuite", ..] => suite.notices.push_str(text),
        _ => {}
    }
}

#[test]
fn the_schema_refuses_what_it_should() {
    let schema = Schema::published();
    let good = "<testsuites><testsuite name='a' tests='0' failures='0' errors='0'/></testsuites>";
    assert_eq!(schema.wrong(good), Vec::<String>::new());
    for bad in [
        "<testsuites><testsuite name='a' tests='0' failures='0'/></testsuites>",
        "<testsuites><testcase name='a'/></testsuites>",
        "<testsuites><testsuite name='a' tests='0' failures='0' errors='0' odd='1'/></testsuites>",
        "<testsuites>\u{1}</testsuites>",
    ] {
        assert!(!schema.wrong(bad).is_empty(), "{bad}");
    }
}

#[test]
fn every_fixture_gives_a_valid_document_with_its_checkpoints_checks_and_findings() {
    let schema = Schema::published();
    for case in cases() {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let arguments = arguments_of(&case);
        let xml = junit_of(&fixtures(), &[&case], &arguments);
        assert_eq!(schema.wrong(&xml), Vec::<String>::new(), "{name}: {xml}");
        let options: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (report, _) = check(&case, &options);
        let suites = suites(&xml);
        let [suite] = suites.as_slice() else { panic!("{name}: {} suites", suites.len()) };
        assert_eq!(suite.name, report["deployment_id"].as_str().unwrap(), "{name}");
        let failures = suite.cases.iter().filter(|case| case.2.is_some()).count();
        assert_eq!(suite.said, [suite.cases.len(), failures, 0, suite.skipped], "{name}");
        let verified = report["verdict"] == "verified-success";
        assert_eq!(failures == 0, verified, "{name}: {xml}");
        let of = |class: &str| suite.cases.iter().filter(|case| case.0 == class).collect::<Vec<_>>();
        let states: Vec<&str> =
            report["states"].as_array().unwrap().iter().map(|state| state["id"].as_str().unwrap()).collect();
        let named: Vec<&str> =
            of("process-integrity.checkpoint").iter().map(|case| case.1.as_str()).collect();
        assert_eq!(named, states, "{name}");
        let checks = report["health"]["checks"].as_array().unwrap();
        assert_eq!(of("process-integrity.health").len(), checks.len(), "{name}");
        let unique: BTreeSet<_> = suite.cases.iter().map(|case| (&case.0, &case.1)).collect();
        assert_eq!(unique.len(), suite.cases.len(), "{name}: two test cases of one name");
        // Every finding is told once, with what to do; those of the checks by the checks.
        for finding in report["findings"].as_array().unwrap() {
            let id = finding["id"].as_str().unwrap();
            let hint = finding["hint"].as_str().unwrap();
            let told = |text: &String| text.contains(&format!("{id}: ")) && text.contains(hint);
            match (id, finding["class"].as_str().unwrap()) {
                ("resource-unhealthy", _) => {
                    assert!(suite.cases.iter().any(|case| case.2.as_deref() == Some(id)), "{name}")
                }
                (_, "notice") => assert!(told(&suite.notices), "{name}: {id}: {}", suite.notices),
                _ => assert!(suite.texts.iter().any(told), "{name}: {id}: {:?}", suite.texts),
            }
        }
        for case in &suite.cases {
            let Some(kind) = &case.2 else { continue };
            // What nobody can tell of one check is held against that check, also beside a failed one.
            assert!(ids(&report).contains(&kind.as_str()) || kind == "health-unknown", "{name}: {kind}");
        }
        assert_eq!(xml, junit_of(&fixtures(), &[&case], &arguments), "{name}: other bytes");
    }
}

#[test]
fn our_own_reader_of_results_counts_the_same() {
    for case in cases() {
        let xml = junit_of(&fixtures(), &[&case], &arguments_of(&case));
        let health = junit::read([("junit.xml", xml.as_bytes())]);
        assert_eq!(health.reason, None, "{}: {xml}", case.display());
        let failed = health.checks.iter().filter(|check| check.status == CheckStatus::Fail).count();
        let said: usize = suites(&xml).iter().map(|suite| suite.said[1]).sum();
        assert_eq!(failed, said, "{}", case.display());
    }
}

#[test]
fn hostile_text_is_text_in_a_document_that_stays_valid() {
    let schema = Schema::published();
    let harmless = suites(&of_attack("plain"));
    for text in ATTACKS.into_iter().chain(["\u{fffe}\u{ffff}\u{1}", "</testcase><error/>", "\"'<&>"]) {
        let xml = of_attack(text);
        assert_eq!(schema.wrong(&xml), Vec::<String>::new(), "{text:?}: {xml}");
        assert!(!xml.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        assert!(!xml.contains("##["), "{text:?}");
        assert!(!xml.lines().any(|line| line.trim_start().starts_with("::")), "{text:?}: {xml}");
        let found = suites(&xml);
        assert_eq!(found.len(), harmless.len(), "{text:?}");
        let shape =
            |suite: &Suite| (suite.said[2], suite.cases.iter().map(|c| c.0.clone()).collect::<BTreeSet<_>>());
        assert_eq!(shape(&found[0]), shape(&harmless[0]), "{text:?}");
    }
}

fn of_attack(text: &str) -> String {
    let deployment = deployment(text);
    let model = deployment.path().join("m.json").display().to_string();
    junit_of(deployment.path(), &[Path::new(".")], &["--model".to_owned(), model])
}

#[test]
fn several_folders_are_suites_of_one_document_in_their_order() {
    let names = ["verified-success__fallback", "process-violation__no-trace", "deployment-failure__http-503"];
    let folders = names.map(|name| fixtures().join(name));
    let folders: Vec<&Path> = folders.iter().map(|folder| folder.as_path()).collect();
    let xml = junit_of(&fixtures(), &folders, &[]);
    assert_eq!(Schema::published().wrong(&xml), Vec::<String>::new());
    let all = suites(&xml);
    assert_eq!(all.iter().map(|suite| suite.said[1] > 0).collect::<Vec<_>>(), [false, true, true]);
    let sum = |at: usize| all.iter().map(|suite| suite.said[at]).sum::<usize>();
    let head = format!(
        "<testsuites name=\"Process Integrity\" tests=\"{}\" failures=\"{}\" errors=\"0\">",
        sum(0),
        sum(1)
    );
    assert!(xml.contains(&head), "{xml}");
    for (folder, suite) in folders.iter().zip(&all) {
        let single = suites(&junit_of(&fixtures(), &[folder], &[]));
        assert_eq!(format!("{:?}", single[0]), format!("{suite:?}"));
    }
}

#[test]
fn only_what_is_no_violation_is_skipped() {
    let deployment = Deployment::verified();
    let words = [
        "requirements_gathered",
        "template_generated",
        "security_gate_evaluated",
        "deployment_executed",
        "integration_tests_passed",
    ];
    deployment.trace(&events(&words));
    let run = |arguments: &[&str]| {
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        suites(&junit_of(deployment.path(), &[Path::new(".")], &arguments)).remove(0).said
    };
    // A missing state is a failure, unless the threshold forgives it.
    let [_, failures, _, skipped] = run(&[]);
    assert_eq!((failures, skipped), (1, 0));
    let [_, failures, _, skipped] = run(&["--coverage-threshold", "80"]);
    assert_eq!((failures, skipped), (0, 1));
    // So is a check that was left out, where no other one passed.
    deployment.trace(&events(&crate::support::CHECKLIST));
    let skip = r#"{"name":"db","status":"skipped"}"#;
    deployment.write("tests.json", &format!(r#"{{"overallStatus":"passed","tests":[{skip}]}}"#));
    let [_, failures, _, skipped] = run(&[]);
    assert_eq!((failures, skipped), (2, 0));
    let pass = r#"{"name":"web","status":"passed"}"#;
    deployment.write("tests.json", &format!(r#"{{"overallStatus":"passed","tests":[{skip},{pass}]}}"#));
    let [_, failures, _, skipped] = run(&[]);
    assert_eq!((failures, skipped), (0, 1));
}
