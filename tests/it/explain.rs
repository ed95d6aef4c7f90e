//! The command that explains findings.

use crate::docs::example_of;
use crate::support::{arguments_of, cases, check, fixtures, ids, program, stderr, stdout};
use process_integrity::conformance::sequence::Code;
use process_integrity::findings::explain::of_code;
use process_integrity::verdict::FindingId;

fn explain(arguments: &[&str]) -> std::process::Output {
    program().arg("explain").args(arguments).output().unwrap()
}

#[test]
fn every_finding_is_explained_in_lines_that_fit_a_terminal() {
    for id in FindingId::ALL {
        let output = explain(&[id.id()]);
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{}", id.id());
        let text = stdout(&output);
        assert!(text.starts_with(&format!("{}  ({}: ", id.id(), id.class().id())), "{text}");
        for heading in ["What it means", "For example", "What to do"] {
            assert_eq!(text.matches(&format!("\n\n{heading}\n  ")).count(), 1, "{text}");
        }
        assert!(text.ends_with(&format!("/docs/findings.md#{}\n", id.id())), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}

#[test]
fn without_a_name_all_findings_are_listed_by_class() {
    let output = explain(&[]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    let mut at = 0;
    for id in FindingId::ALL {
        let found = text.find(&format!("\n  {} ", id.id())).unwrap_or_else(|| panic!("{}", id.id()));
        assert!(found > at, "{} is out of order", id.id());
        at = found;
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn a_name_may_be_written_in_any_way_and_be_a_code() {
    let plain = stdout(&explain(&["state-missing"]));
    for name in ["STATE-MISSING", "state_missing", "State_Missing"] {
        assert_eq!(stdout(&explain(&[name])), plain, "{name}");
    }
    for code in Code::ALL {
        for name in [code.id().to_owned(), code.id().to_lowercase().replace('_', "-")] {
            let output = explain(&[&name]);
            assert_eq!(output.status.code(), Some(0), "{name}");
            for id in of_code(code) {
                let explained = stdout(&explain(&[id.id()]));
                assert!(stdout(&output).contains(&explained), "{name}: {}", id.id());
            }
        }
    }
}

#[test]
fn an_unknown_name_is_answered_with_those_like_it_and_exit_code_2() {
    for (name, near) in
        [("state-mising", "state-missing"), ("GRAPH_DIGEST", "GRAPH_DIGEST_MISMATCH"), ("retrys", "retry")]
    {
        let output = explain(&[name]);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{name}");
        assert!(stderr(&output).contains(near), "{name}: {}", stderr(&output));
    }
    let output = explain(&["::error::x\n::stop-commands::t\u{1b}[2J"]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("`process-integrity explain` lists all"), "{text}");
    assert!(!text.lines().any(|line| line.trim_start().starts_with("::")), "{text}");
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
}

#[test]
fn the_example_that_is_linked_shows_the_finding() {
    for id in FindingId::ALL {
        let case = example_of(*id);
        let options = arguments_of(&fixtures().join(&case));
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let (report, _) = check(&fixtures().join(&case), &options);
        assert!(ids(&report).contains(&id.id()), "{case} does not show {}", id.id());
    }
}

#[test]
fn a_finding_carries_only_codes_that_it_is_explained_by() {
    let mut seen = 0;
    for case in cases() {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let options = arguments_of(&case);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let (report, _) = check(&case, &options);
        for finding in report["findings"].as_array().unwrap() {
            let Some(code) = finding["code"].as_str() else { continue };
            let code = Code::ALL.into_iter().find(|known| known.id() == code).unwrap();
            let named = of_code(code).iter().any(|id| finding["id"] == id.id());
            assert!(named, "{name}: {finding}");
            seen += 1;
        }
    }
    assert!(seen >= 10, "{seen}");
}
