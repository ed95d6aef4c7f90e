//! The reports as a SARIF 2.1.0 log, for GitHub code scanning and every other reader of it. One log and one run for all
//! deployments, the same bytes for the same input.
//!
//! The format: OASIS, Static Analysis Results Interchange Format 2.1.0. What code scanning makes of it: GitHub Docs, "SARIF
//! support for code scanning" and "SARIF results exceed one or more limits".

use std::collections::BTreeMap;

use super::explanation::{self, REPOSITORY};
use super::{Report, plain};
use crate::digest::digest;
use crate::escape;
use crate::findings::explain::explain;
use crate::verdict::{Class, Finding, FindingId};

mod log;

use log::{
    ArtifactLocation, AutomationDetails, Bases, Configuration, Deployment, Descriptor, DescriptorId,
    Fingerprints, Help, Invocation, Level, Location, Log, Notification, PhysicalLocation, Properties, Region,
    Rule, RuleProperties, RunProperties, SarifResult, Text, Tool, ToolComponent,
};

/// Code scanning refuses a run with more results.
pub const RESULTS_CAP: usize = 25_000;
/// The base of all paths: the root of the repository, as code scanning calls it.
const ROOT: &str = "%SRCROOT%";
/// Code scanning refuses a log with a result that lies nowhere. What is about nothing in the repository is shown where
/// deployments are kept.
const NOWHERE: &str = ".azure/deployments";
/// The notification that results were left out.
const CUT: &str = "results-left-out";

/// The log. `in_repository` gives the path in the repository of a file or folder, as reports show it, that is there.
#[must_use]
pub fn render(reports: &[Report], in_repository: impl Fn(&str) -> Option<String>) -> String {
    let mut results = Vec::new();
    let mut seen = BTreeMap::new();
    for report in reports {
        for finding in &report.findings {
            let spot = spot(report, finding, &in_repository);
            results.push((finding.id.class(), result(report, finding, spot, &mut seen)));
        }
    }
    // Worst first, so that what is cut is what matters least.
    results.sort_by_key(|(class, _)| *class);
    let cut = results.len().saturating_sub(RESULTS_CAP);
    results.truncate(RESULTS_CAP);
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [log::Run {
            tool: Tool { driver: driver() },
            automation_details: AutomationDetails { id: "process-integrity/" },
            original_uri_base_ids: Bases {
                root: log::Base { description: Text::of("The root of the repository.") },
            },
            invocations: [Invocation {
                execution_successful: true,
                tool_execution_notifications: notifications(cut),
            }],
            results: results.into_iter().map(|(_, result)| result).collect(),
            properties: RunProperties { deployments: reports.iter().map(deployment).collect() },
        }],
    };
    // The log holds texts and numbers only, which always serialize.
    let mut text = escape::json(&serde_json::to_string_pretty(&log).unwrap_or_default());
    text.push('\n');
    text
}

fn driver() -> ToolComponent {
    ToolComponent {
        name: "Process Integrity",
        information_uri: REPOSITORY,
        version: env!("CARGO_PKG_VERSION"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        rules: FindingId::ALL.iter().map(|id| rule(*id)).collect(),
        notifications: [Descriptor {
            id: CUT,
            short_description: Text::of("There are more results than code scanning takes."),
        }],
    }
}

fn level(class: Class) -> Level {
    match class {
        Class::Failure | Class::Violation => Level::Error,
        Class::Agent => Level::Warning,
        Class::Notice => Level::Note,
    }
}

/// `state-missing` → `StateMissing`.
fn pascal(id: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters
            .next()
            .map_or(String::new(), |first| format!("{}{}", first.to_ascii_uppercase(), letters.as_str()))
    };
    id.split('-').map(word).collect()
}

fn rule(id: FindingId) -> Rule {
    let words = explain(id);
    let text = format!("{}\n\nFor example: {}\n\nWhat to do: {}", words.meaning, words.example, words.remedy);
    let level = level(id.class());
    Rule {
        id: id.id(),
        name: pascal(id.id()),
        short_description: Text::of(id.summary()),
        full_description: Text::of(words.meaning),
        help: Help { text, markdown: explanation::markdown(id) },
        help_uri: explanation::address(id),
        default_configuration: Configuration { level },
        properties: RuleProperties {
            tags: ["process-integrity", "deployment", id.class().id()],
            precision: "high",
            problem_severity: match level {
                Level::Error => "error",
                Level::Warning => "warning",
                Level::Note => "recommendation",
            },
        },
    }
}

/// Where a result is shown.
struct Spot {
    path: String,
    line: Option<u64>,
}

/// The finding's own file; else the trace, at the event of its state; else the folder.
fn spot(report: &Report, finding: &Finding, in_repository: &impl Fn(&str) -> Option<String>) -> Spot {
    let inside = |file: Option<&str>| file.and_then(in_repository).filter(|path| !path.is_empty());
    if let Some(path) = inside(finding.file.as_deref()) {
        return Spot { path, line: finding.place.map(|place| place.line) };
    }
    if let Some(path) = inside(report.trace.as_deref()) {
        let state = report.states.iter().find(|state| Some(&state.id) == finding.state.as_ref());
        let seen = state.and_then(|state| state.seen);
        return Spot { path, line: seen.map(|seen| seen.place.line) };
    }
    let path = inside(report.folder.as_deref()).unwrap_or_else(|| NOWHERE.to_owned());
    Spot { path, line: None }
}

/// The path as a relative reference (RFC 3986, section 4.2), in which no name can be taken for anything else.
fn uri(path: &str) -> String {
    escape::percent(path, |byte| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte))
}

fn result(report: &Report, finding: &Finding, spot: Spot, seen: &mut BTreeMap<String, usize>) -> SarifResult {
    let id = finding.id;
    let uri = uri(&spot.path);
    // No line, time or run: an alert stays the same one while its trace grows.
    let key = (&report.deployment, id.id(), &finding.state, &uri);
    let key = serde_json::to_string(&key).unwrap_or_default();
    let ordinal = seen.entry(key.clone()).or_default();
    *ordinal += 1;
    let hash = digest(format!("{key} {ordinal}").as_bytes());
    let hash: String = hash.trim_start_matches("sha256:").chars().take(32).collect();
    SarifResult {
        rule_id: id.id(),
        rule_index: FindingId::ALL.iter().position(|known| *known == id).unwrap_or_default(),
        level: level(id.class()),
        message: Text { text: format!("{}. {}", plain(&finding.message, escape::sarif), finding.hint) },
        locations: [Location {
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation { uri, uri_base_id: ROOT },
                region: spot.line.map(|start_line| Region { start_line }),
            },
        }],
        partial_fingerprints: Fingerprints { own: hash.clone(), code_scanning: format!("{hash}:1") },
        properties: Properties {
            deployment: report.deployment.clone(),
            verdict: report.verdict.id(),
            class: id.class().id(),
            state: finding.state.clone(),
            code: finding.code.map(|code| code.id()),
        },
    }
}

fn notifications(cut: usize) -> Vec<Notification> {
    if cut == 0 {
        return Vec::new();
    }
    let text = format!(
        "{cut} results are left out, the least grave ones: code scanning takes {RESULTS_CAP} of a run. \
         Check fewer deployments at once, or read the report in JSON."
    );
    vec![Notification { descriptor: DescriptorId { id: CUT }, level: Level::Warning, message: Text { text } }]
}

fn deployment(report: &Report) -> Deployment {
    Deployment {
        deployment: report.deployment.clone(),
        folder: report.folder.clone(),
        verdict: report.verdict.id(),
        false_success: report.false_success(),
        covered: report.coverage.covered,
        essential: report.coverage.essential,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_rules_and_paths_are_written_as_sarif_wants_them() {
        assert_eq!(pascal("stopped-before-deployment"), "StoppedBeforeDeployment");
        assert_eq!(uri("a b/ä:c%[x]"), "a%20b/%C3%A4%3Ac%25%5Bx%5D");
    }

    #[test]
    fn a_notification_is_given_only_where_something_is_left_out() {
        assert!(notifications(0).is_empty());
        let told = notifications(3);
        assert!(told.iter().all(|one| one.message.text.starts_with("3 results are left out")));
        assert_eq!(told.len(), 1);
    }
}
