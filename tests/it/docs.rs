//! The documentation tells what the program does: its examples are run, its tables are compared, its links lead somewhere.
//!
//! `UPDATE_DOCS=1 cargo test docs` writes what the program really says into the pages.

use std::path::{Path, PathBuf};

use std::sync::Mutex;

use crate::support::{program, stdout};
use process_integrity::conformance::sequence::Code;
use process_integrity::findings::explain::of_code;
use process_integrity::report::explanation;
use process_integrity::verdict::FindingId;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Two tests write the same page where that is asked for.
static PAGES: Mutex<()> = Mutex::new(());

/// The pages that people read.
fn pages() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|page| root().join(page)));
    pages.sort();
    pages
}

/// The page with a part of it replaced; compared, or written where that is asked for.
pub(crate) fn same(page: &Path, before: &str, after: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(page, after).unwrap();
    }
    assert!(before == after, "{} is out of date: UPDATE_DOCS=1 cargo test docs", page.display());
}

#[test]
fn the_examples_are_what_the_program_prints() {
    let _held = PAGES.lock();
    let mut count = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let mut parts = text.split("<!-- example: ");
        let mut out = parts.next().unwrap().to_owned();
        for part in parts {
            let (arguments, rest) = part.split_once(" -->\n").unwrap();
            let (opening, rest) = rest.split_once('\n').unwrap();
            assert!(opening.starts_with("```"), "{}: {opening}", page.display());
            let (_, rest) =
                format!("\n{rest}").split_once("\n```").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
            let commands = ["learn ", "plan ", "explain ", "merge "];
            let named = commands.iter().any(|command| arguments.starts_with(command));
            let command = if named { None } else { Some("check") };
            let output = program().args(command).args(arguments.split(' ')).output().unwrap();
            let shown = stdout(&output);
            assert!(!shown.contains("\n```"), "the output would end its own block");
            out.push_str(&format!(
                "<!-- example: {arguments} -->\n{opening}\n{}\n```{rest}",
                shown.trim_end()
            ));
            count += 1;
        }
        same(&page, &text, &out);
    }
    assert!(count >= 5, "{count} examples");
}

#[test]
fn every_finding_is_explained_with_its_class() {
    let _held = PAGES.lock();
    let page = root().join("docs/verdicts.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let mut linked = text.clone();
    for id in FindingId::ALL {
        let id_of = format!("| `{}` |", id.id());
        linked = linked.replace(&id_of, &format!("| [`{0}`](findings.md#{0}) |", id.id()));
        let row = format!("| [`{0}`](findings.md#{0}) | {1} |", id.id(), id.class().id());
        assert!(linked.contains(&row), "{row}");
    }
    same(&page, &text, &linked);
}

/// The folder that the table of all findings names as an example of each.
pub(crate) fn example_of(id: FindingId) -> String {
    let text = std::fs::read_to_string(root().join("docs/verdicts.md")).unwrap();
    let row = text.lines().find(|line| line.starts_with('|') && line.contains(&format!("`{}`", id.id())));
    let row = row.unwrap_or_else(|| panic!("{} has no row in docs/verdicts.md", id.id()));
    let folder = row.split("](../fixtures/").nth(1).and_then(|rest| rest.split(')').next());
    folder.unwrap_or_else(|| panic!("{} has no example: {row}", id.id())).to_owned()
}

#[test]
fn the_page_on_findings_says_what_the_program_explains() {
    let _held = PAGES.lock();
    let page = root().join("docs/findings.md");
    let text = std::fs::read_to_string(&page).unwrap_or_default();
    let written = explanation::page(|id| Some(format!("../fixtures/{}", example_of(id))));
    for id in FindingId::ALL {
        let heading = format!("\n### {}\n", id.id());
        assert_eq!(written.matches(&heading).count(), 1, "{heading}");
    }
    same(&page, &text, &written);
}

#[test]
fn the_table_of_codes_names_the_findings_that_they_are_explained_by() {
    let page = std::fs::read_to_string(root().join("docs/trace-format.md")).unwrap();
    let mut before = "";
    for code in Code::ALL {
        let start = format!("| `{}` |", code.id());
        let row = page.lines().find(|line| line.starts_with(&start)).unwrap();
        let last = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let named = if last == "as above" { before } else { last };
        for id in of_code(code) {
            assert!(named.contains(&format!("`{}`", id.id())), "{row}");
        }
        assert_eq!(named.matches('`').count(), 2 * of_code(code).len(), "{row}");
        before = named;
    }
}

#[test]
fn every_link_into_the_repository_leads_somewhere() {
    let mut count = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for part in text.split("](").skip(1) {
            let target = part.split([')', '#']).next().unwrap();
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            assert!(page.parent().unwrap().join(target).exists(), "{}: {target}", page.display());
            count += 1;
        }
    }
    assert!(count > 50, "{count} links");
}

/// Name, description and default of the entries of a section of `action.yml`, which is written in one plain style.
fn declared(section: &str) -> Vec<(String, String, String)> {
    let text = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let body = text.split(&format!("\n{section}:\n")).nth(1).unwrap();
    let mut entries: Vec<(String, String, String)> = Vec::new();
    let mut in_description = false;
    for line in body.lines().take_while(|line| line.is_empty() || line.starts_with([' ', '#'])) {
        let indent = line.len() - line.trim_start().len();
        let (key, value) = line.trim().split_once(':').unwrap_or((line.trim(), ""));
        let value = value.trim();
        let quoted = ["'", "\""].iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
        let plain = quoted.unwrap_or(value);
        match (indent, key) {
            (2, key) if !key.starts_with('#') => {
                entries.push((key.to_owned(), String::new(), String::new()));
                in_description = false;
            }
            (4, "description") => {
                in_description = plain.starts_with(['>', '|']);
                entries.last_mut().unwrap().1 = if in_description { String::new() } else { plain.to_owned() };
            }
            (4, "default") => {
                entries.last_mut().unwrap().2 = plain.to_owned();
                in_description = false;
            }
            (6, _) if in_description => {
                let description = &mut entries.last_mut().unwrap().1;
                if !description.is_empty() {
                    description.push(' ');
                }
                description.push_str(line.trim());
            }
            _ => in_description = in_description && line.is_empty(),
        }
    }
    entries
}

#[test]
fn the_tables_of_the_readme_are_those_of_the_action() {
    let _held = PAGES.lock();
    let page = root().join("README.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let mut out = text.clone();
    for (section, head) in [
        ("inputs", "| Input | Default | Meaning |\n|---|---|---|\n"),
        ("outputs", "| Output | Meaning |\n|---|---|\n"),
    ] {
        let entries = declared(section);
        assert!(entries.len() >= 13, "{section}: {}", entries.len());
        let row = |(name, description, default): &(String, String, String)| {
            assert!(!description.is_empty(), "{name} has no description");
            let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
            match section {
                "inputs" => format!("| `{name}` | {default} | {description} |\n"),
                _ => format!("| `{name}` | {description} |\n"),
            }
        };
        let table: String = entries.iter().map(row).collect();
        let (start, end) = (format!("<!-- {section} -->\n"), format!("<!-- end of {section} -->"));
        let (before, rest) = out.split_once(&start).unwrap();
        let (_, after) = rest.split_once(&end).unwrap();
        out = format!("{before}{start}{head}{table}{end}{after}");
    }
    same(&page, &text, &out);
}

#[test]
fn the_table_of_damage_is_that_of_the_corpus() {
    let _held = PAGES.lock();
    let page = root().join("docs/damage.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (start, end) = ("<!-- damage -->\n", "<!-- end of damage -->");
    let head =
        "| Damage | What is recovered | What is reported | Verdict | Seen in |\n|---|---|---|---|---|\n";
    let (before, rest) = text.split_once(start).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    let rows = crate::damaged::rows();
    same(&page, &text, &format!("{before}{start}{head}{rows}{end}{after}"));
}

#[test]
fn the_action_declares_what_the_program_reads_and_writes() {
    let settings = std::fs::read_to_string(root().join("src/settings/inputs.rs")).unwrap();
    let raw = settings.split("struct Raw {").nth(1).unwrap().split('}').next().unwrap();
    let mut read: Vec<String> = raw
        .lines()
        .filter_map(|line| line.trim().strip_suffix(": String,"))
        .map(|name| name.replace('_', "-"))
        .collect();
    let mut inputs: Vec<String> = declared("inputs").into_iter().map(|(name, _, _)| name).collect();
    read.sort();
    inputs.sort();
    assert_eq!(read, inputs);
    let written = [
        "src/app/action.rs",
        "src/app/files.rs",
        "src/app/learn/step.rs",
        "src/app/merge/step.rs",
        "src/app/plan/step.rs",
        "src/app/record/step.rs",
    ];
    let action: String =
        written.iter().map(|file| std::fs::read_to_string(root().join(file)).unwrap()).collect();
    for (name, _, _) in declared("outputs") {
        assert!(action.contains(&format!("(\"{name}\", ")), "{name} is never written");
    }
}
