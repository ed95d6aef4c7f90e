//! What a maintainer of git-ape copies: the skill, its page and its evals are in the shape of that repository, every link
//! leads somewhere, and every command in them is one that works.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use process_integrity::verdict::FindingId;
use serde_json::{Map, Value};
use yaml_rust2::{Yaml, YamlLoader};

use crate::docs::same;
use crate::support::{check, program, stderr, stdout};

pub(crate) const SKILL: &str = ".github/skills/azure-integration-tester";
pub(crate) const EVALS: &str = ".github/evals/azure-integration-tester";
const PAGE: &str = "website/docs/skills/azure-integration-tester.md";

/// A deployment of the evals on which the commands of the documents are run.
const DEPLOYMENT: &str = "deploy-20261006-093000";

/// The commands that the documents may name: anything else is a slip of the pen.
const COMMANDS: [&str; 4] = ["check", "explain", "record", "--version"];

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files below a folder, sorted.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// The pages for people and agents: every Markdown file that is no fixture.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> =
        [SKILL, EVALS, "website"].iter().flat_map(|folder| files(&root().join(folder))).collect();
    pages.retain(|path| path.extension().is_some_and(|end| end == "md"));
    pages.retain(|path| !path.components().any(|part| part.as_os_str() == "fixtures"));
    assert!(pages.len() >= 4, "{pages:?}");
    pages
}

/// A YAML document as JSON, which has everything that is asked of it here.
pub(crate) fn yaml(text: &str) -> Value {
    fn value(yaml: &Yaml) -> Value {
        match yaml {
            Yaml::Real(text) | Yaml::String(text) => Value::from(text.as_str()),
            Yaml::Integer(number) => Value::from(*number),
            Yaml::Boolean(word) => Value::from(*word),
            Yaml::Array(items) => items.iter().map(value).collect(),
            Yaml::Hash(entries) => {
                let entries =
                    entries.iter().map(|(key, entry)| (key.as_str().unwrap().to_owned(), value(entry)));
                Value::Object(entries.collect::<Map<String, Value>>())
            }
            Yaml::Null => Value::Null,
            Yaml::Alias(_) | Yaml::BadValue => panic!("neither is used in these files: {yaml:?}"),
        }
    }
    let documents = YamlLoader::load_from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(documents.len(), 1, "{text}");
    value(&documents[0])
}

/// The front matter and what comes after it.
fn front_matter(text: &str) -> (Value, &str) {
    let (matter, body) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    (yaml(matter), body)
}

/// A page in pieces: the lines outside of fences, and each fence with its language.
fn fences(text: &str) -> (String, Vec<(String, String)>) {
    let (mut prose, mut fences) = (String::new(), Vec::new());
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => fences.extend(open.take()),
            (Some((_, body)), None) => body.push_str(&format!("{line}\n")),
            (None, None) => prose.push_str(&format!("{line}\n")),
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    (prose, fences)
}

/// The anchors of a page, as GitHub and the site make them of its headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let kept = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == ' ';
    let slug = |heading: &str| heading.to_lowercase().chars().filter(|c| kept(*c)).collect::<String>();
    let prose = fences(text).0;
    let headings = prose.lines().filter_map(|line| line.strip_prefix('#'));
    headings.map(|heading| slug(heading.trim_start_matches('#').trim()).replace(' ', "-")).collect()
}

#[test]
fn the_skill_has_what_git_ape_demands_of_one() {
    let text = read(format!("{SKILL}/SKILL.md"));
    let (matter, body) = front_matter(&text);
    assert_eq!(matter["name"], SKILL.rsplit('/').next().unwrap());
    // The limits of the specification of agent skills.
    let description = matter["description"].as_str().unwrap();
    assert!((100..=1024).contains(&description.len()), "{}", description.len());
    assert!(description.contains("USE FOR:") && description.contains("DO NOT USE FOR:"));
    // Both are quoted where the page is made.
    assert!(!description.contains('"') && !matter["argument-hint"].as_str().unwrap().contains('`'));
    assert_eq!(matter["user-invocable"], true);
    assert_eq!(matter["license"], "MIT");
    assert!(matter["metadata"]["version"].is_string() && matter["metadata"]["author"].is_string());
    for section in ["## When to Use\n", "## Procedure\n", "## Outputs\n", "## Constraints\n", "## Next\n"] {
        assert!(body.contains(section), "{section}");
    }
    // The page of the site is read as JSX, where these two begin something else than text.
    for part in fences(body).0.split('`').step_by(2) {
        assert!(!part.contains(['<', '{']), "{part}");
    }
}

/// The page that git-ape's site shows of a skill: its generator makes it, this only foretells what comes out.
fn page(skill: &str) -> String {
    let (matter, body) = front_matter(skill);
    let text = |key: &str| matter[key].as_str().unwrap().to_owned();
    let name = text("name");
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let title = name.split('-').map(capital).collect::<Vec<_>>().join(" ");
    let (description, hint) = (text("description"), text("argument-hint"));
    let github = format!("](https://github.com/Azure/git-ape/blob/main/{SKILL}/references/");
    let body = body.trim().replace("](references/", &github);
    format!(
        "---\ntitle: \"{title}\"\nsidebar_label: \"{title}\"\ndescription: \"{description}\"\n---\n\n\
         <!-- AUTO-GENERATED — DO NOT EDIT. Source: {SKILL}/SKILL.md -->\n\n\n\
         # {title}\n\n> {description}\n\n## Details\n\n\
         | Property | Value |\n|----------|-------|\n\
         | **Skill Directory** | `{SKILL}/` |\n\
         | **Phase** | Post-Deploy |\n| **User Invocable** | ✅ Yes |\n\
         | **Usage** | `/{name} {hint}` |\n\n\n## Documentation\n\n{body}\n"
    )
}

#[test]
fn the_page_for_the_docs_of_git_ape_is_that_of_the_skill() {
    let expected = page(&read(format!("{SKILL}/SKILL.md")));
    same(&root().join(PAGE), &read(PAGE), &expected);
    let (matter, _) = front_matter(&expected);
    for key in ["title", "sidebar_label", "description"] {
        assert!(matter[key].as_str().is_some_and(|text| !text.is_empty()), "{key}");
    }
}

#[test]
fn every_link_and_every_anchor_leads_somewhere() {
    // Links to either repository are links to what lies here: to our documentation, and to what is copied.
    let own = [
        "https://github.com/Azure/process-integrity/blob/main/",
        "https://github.com/Azure/git-ape/blob/main/",
    ];
    let (mut links, mut with_anchor) = (0, 0);
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for part in fences(&text).0.split("](").skip(1) {
            let link = part.split(')').next().unwrap();
            let inside = own.iter().find_map(|prefix| link.strip_prefix(prefix));
            let (base, link) = match inside {
                Some(path) => (root(), path),
                None if link.contains("://") => continue,
                None => (page.parent().unwrap().to_owned(), link),
            };
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.clone() } else { base.join(path) };
            assert!(target.exists(), "{}: {link}", page.display());
            if !anchor.is_empty() {
                let there = anchors(&std::fs::read_to_string(&target).unwrap());
                assert!(there.contains(anchor), "{}: {link}; there are {there:?}", page.display());
                with_anchor += 1;
            }
            links += 1;
        }
    }
    assert!(links > 15 && with_anchor > 5, "{links} links, {with_anchor} of them with an anchor");
}

/// The fixtures of the evals as a workspace of its own, which a command may write into.
fn workspace() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let fixtures = root().join(EVALS).join("fixtures");
    for file in files(&fixtures) {
        let target = copy.path().join(file.strip_prefix(&fixtures).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(&file, target).unwrap();
    }
    copy
}

/// Names of the commands that this program has.
fn subcommands() -> Vec<String> {
    let help = stdout(&program().arg("--help").output().unwrap());
    let list = help.split("\nCommands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The lines of a page's shell blocks that start the program, with its placeholders filled in.
fn commands(text: &str) -> Vec<String> {
    let shell = fences(text).1.into_iter().filter(|(language, _)| language == "bash" || language == "sh");
    let lines: String = shell.map(|(_, body)| body).collect();
    let ours = lines.lines().filter(|line| line.trim_start().starts_with("process-integrity "));
    ours.map(|line| line.replace("<deployment-id>", DEPLOYMENT).replace("<finding-id>", "state-missing"))
        .collect()
}

#[test]
fn every_command_in_the_documents_works() {
    let known = subcommands();
    let mut run = 0;
    for page in pages() {
        for command in commands(&std::fs::read_to_string(&page).unwrap()) {
            assert!(
                !command.contains(['<', '>', '|', '&', ';', '$', '"', '\'', '\\']),
                "a plain command: {command}"
            );
            let words: Vec<&str> = command.split_whitespace().skip(1).collect();
            assert!(COMMANDS.contains(&words[0]), "{}: {command}", page.display());
            assert!(words[0].starts_with('-') || known.iter().any(|name| name == words[0]), "{command}");
            let workspace = workspace();
            let folder = workspace.path().join(".azure/deployments").join(DEPLOYMENT);
            let before = check(&folder, &[]).0;
            let output = program().current_dir(workspace.path()).args(&words).output().unwrap();
            let said = format!("{}: {command}: {}{}", page.display(), stdout(&output), stderr(&output));
            let code = if words[0] == "check" { 1 } else { 0 };
            assert_eq!(output.status.code(), Some(code), "{said}");
            match words[0] {
                "record" => {
                    let after = check(&folder, &[]).0;
                    let events = |report: &Value| report["trace"]["events"].as_u64().unwrap();
                    assert_eq!(events(&after), events(&before) + 1, "{said}");
                    assert_eq!(after["trace"]["unreadable"], 0, "{said}");
                }
                "check" => assert!(said.contains("security_gate_evaluated"), "{said}"),
                _ => assert!(!output.stdout.is_empty(), "{said}"),
            }
            run += 1;
        }
    }
    assert!(run >= 6, "{run} commands");
}

#[test]
fn yaml_in_the_documents_is_yaml() {
    let mut count = 0;
    for page in pages() {
        for (_, body) in
            fences(&std::fs::read_to_string(&page).unwrap()).1.iter().filter(|(name, _)| name == "yaml")
        {
            let parsed = yaml(body);
            assert!(parsed.is_object() || parsed.is_array(), "{}: {body}", page.display());
            count += 1;
        }
    }
    assert!(count >= 3, "{count} blocks");
}

#[test]
fn findings_that_the_skill_names_are_findings_of_their_class() {
    let text = read(format!("{SKILL}/references/process-integrity.md"));
    let section = text.split("\n## Findings\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut count = 0;
    for row in section.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        for name in cells[2].split('`').skip(1).step_by(2) {
            let id = FindingId::ALL.iter().find(|id| id.id() == name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(id.class().id(), cells[0], "{row}");
            count += 1;
        }
    }
    assert!(count > 15, "{count} findings");
}
