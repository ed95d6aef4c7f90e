//! The laws of a merged picture: damage never makes it better, and no name in it is anything but a name.

use comrak::{Arena, parse_document};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::hostile::{ATTACKS, attack, intrusions, options};
use crate::merge::{lines, plan, report, valid};
use process_integrity::escape::cut;
use process_integrity::plan::Plan;
use process_integrity::report::fleet::plan::Expected;
use process_integrity::report::fleet::read::Gathering;
use process_integrity::report::fleet::{Fleet, html, json as fleet_json, markdown, terminal};
use process_integrity::report::terminal::Colour;
use process_integrity::verdict::Verdict;

fn gathered(files: &[(&str, &[u8])], plan: Option<&str>) -> Fleet {
    let mut gathering = Gathering::default();
    for (name, bytes) in files {
        gathering.read(name, *bytes);
    }
    let plan = plan.map(|plan| Expected::of(&Plan::parse(plan.as_bytes()).unwrap()).unwrap());
    Fleet::new(gathering, plan.as_ref())
}

#[test]
fn no_truncation_makes_more_deployments_verified() {
    let findings = [None, Some("retry"), None, Some("state-missing"), None];
    let reports: Vec<Value> =
        findings.iter().enumerate().map(|(n, finding)| report(&format!("d/{n}"), *finding)).collect();
    let laid_out: String =
        reports.iter().map(|report| format!("{}\n", serde_json::to_string_pretty(report).unwrap())).collect();
    let folders: Vec<String> = (0..5).map(|n| format!("d/{n}")).collect();
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let plan = plan(&[&folders]);
    for whole in [lines(&reports), laid_out] {
        for end in 0..=whole.len() {
            let fleet = gathered(&[("a", &whole.as_bytes()[..end])], Some(&plan));
            assert!(fleet.count(Verdict::VerifiedSuccess) <= 3);
            assert_eq!(fleet.deployments(), 5, "cut at {end}");
            assert!(!fleet.is_verified());
        }
        let fleet = gathered(&[("a", whole.as_bytes())], Some(&plan));
        assert_eq!((fleet.count(Verdict::VerifiedSuccess), fleet.lost.len()), (3, 0));
    }
}

/// A fleet whose every text is the attack.
fn attacked(attack: &str) -> Fleet {
    let mut one = report(&format!("d/{attack}"), Some("state-missing"));
    one["deployment_id"] = json!(attack);
    one["states"][0]["id"] = json!(attack);
    one["missing"] = json!([attack]);
    let plan = plan(&[&[&format!("lost/{attack}")]]);
    let bytes = format!("{one}\n{}\n", json!({"schema": format!("x{attack}")}));
    gathered(&[(&format!("file {attack}"), bytes.as_bytes())], Some(&plan))
}

/// The names of a page's tags, in order, but for those that depend on whether a name has a slash in it.
fn tags(page: &str) -> Vec<&str> {
    let tags = page.split('<').skip(1).map(|tag| tag.split([' ', '>']).next().unwrap());
    tags.filter(|tag| !["span", "/span", "small", "/small"].contains(tag)).collect()
}

fn is_harmless(attack: &str) {
    let fleet = attacked(attack);
    assert_eq!((fleet.rows.len(), fleet.lost.len(), fleet.unreadable()), (1, 1, 1), "{attack}");
    let page = html::render(&fleet);
    assert_eq!(tags(&page), tags(&html::render(&attacked("plain"))), "{attack}");
    let summary = markdown::render_within(&fleet, usize::MAX);
    let (arena, mut found) = (Arena::new(), Vec::new());
    intrusions(parse_document(&arena, &summary, &options()), &mut found);
    // A break between two lines of a cell is ours.
    found.retain(|intrusion| intrusion != "html \"<br>\"");
    assert!(found.is_empty(), "{attack}: {found:?}\n{summary}");
    let picture = fleet_json::render(&fleet);
    let read: Value = serde_json::from_str(&picture).unwrap();
    assert_eq!(read["reports"][0]["deployment_id"], *cut(attack, 200));
    valid(&read);
    for text in [page, summary, picture, terminal::render(&fleet, Colour::Off)] {
        assert!(!text.contains("##["), "{attack}: {text}");
        for line in text.lines() {
            assert!(!line.trim_start().starts_with("::"), "{attack}: {line}");
            assert!(!line.contains(|c: char| c.is_control() || c == '\u{202e}'), "{attack}: {line}");
        }
    }
}

#[test]
fn hostile_names_are_no_markup_and_no_command_in_any_format() {
    for attack in ATTACKS {
        is_harmless(attack);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_is_made_of_hostile_names_is_harmless_too(attack in attack()) {
        is_harmless(&attack);
    }

    // Any bytes whatever give a picture, and bytes that are broken never make it better.
    #[test]
    fn no_bytes_make_it_panic(flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let whole = lines(&[report("d/a", None), report("d/b", Some("retry"))]);
        let mut bytes = whole.into_bytes();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let fleet = gathered(&[("a", &bytes)], None);
        for text in [html::render(&fleet), markdown::render_within(&fleet, 60_000), terminal::render(&fleet, Colour::On)] {
            prop_assert!(!text.is_empty());
        }
        let read: Value = serde_json::from_str(&fleet_json::render(&fleet)).unwrap();
        prop_assert_eq!(read["schema"].as_str(), Some(fleet_json::SCHEMA));
    }
}

#[test]
fn the_page_asks_for_nothing_from_outside() {
    let fleet = gathered(&[("a", lines(&[report("d/a", None)]).as_bytes())], None);
    let page = html::render(&fleet);
    assert!(page.contains("default-src 'none'; style-src 'sha256-"));
    for word in ["http://", "https://", "src=", "@import", "url(", "unsafe-inline"] {
        assert!(!page.contains(word), "{word}");
    }
}
