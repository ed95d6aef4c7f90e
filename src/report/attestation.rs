//! The verdict as an attestation that others can check: an in-toto Statement v1 with a SLSA Verification Summary v1.
//!
//! Sources: <https://in-toto.io/Statement/v1>, <https://slsa.dev/verification_summary/v1>. A property whose name is a URI is
//! an extension, as the in-toto parsing rules have it; ours holds the report. The statement is not signed here: that is for
//! GitHub's attest action, which takes the predicate and the subjects by themselves.

use std::collections::BTreeMap;

use serde::Serialize;

use super::explanation::REPOSITORY;
use super::{ModelSource, Report, json};
use crate::digest::{Material, digest};
use crate::escape::{self, percent};
use crate::evidence::TEMPLATE_FILE;
use crate::model::built_in;
use crate::verdict::Verdict;

/// The type of the statement.
const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// The type of its predicate.
const PREDICATE: &str = "https://slsa.dev/verification_summary/v1";
/// The verifier.
const VERIFIER: &str = REPOSITORY;
/// What a verified success is said to have: a name of our own beside those of SLSA, which begin with SLSA.
const VERIFIED: &str = "PROCESS_INTEGRITY_VERIFIED";
/// What SLSA says of everything else.
const FAILED: &str = "FAILED";

/// What the shell knows of where and when.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Occasion {
    /// When it was verified, in RFC 3339.
    pub time: String,
    /// What stands before the path of a file to make it a URI: the repository and its commit. Empty for a relative one.
    pub base: String,
}

#[derive(Serialize)]
struct Statement<'a> {
    #[serde(rename = "_type")]
    kind: &'static str,
    subject: Vec<Descriptor>,
    #[serde(rename = "predicateType")]
    predicate_type: &'static str,
    predicate: &'a Summary<'a>,
}

/// in-toto's ResourceDescriptor.
#[derive(Serialize)]
struct Descriptor {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    digest: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary<'a> {
    verifier: Verifier,
    time_verified: &'a str,
    resource_uri: String,
    policy: Descriptor,
    input_attestations: Vec<Descriptor>,
    verification_result: &'static str,
    verified_levels: [&'static str; 1],
    #[serde(rename = "https://github.com/Azure/process-integrity/report/v1")]
    report: json::Document<'a>,
}

#[derive(Serialize)]
struct Verifier {
    id: &'static str,
    version: BTreeMap<&'static str, &'static str>,
}

/// An attestation, as the files that it is written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    /// The whole statement, one line.
    pub statement: String,
    /// The predicate alone.
    pub predicate: String,
    /// The subjects alone, one a line, as `sha256sum` writes them.
    pub subjects: String,
}

/// Attests a report.
#[must_use]
pub fn attest(report: &Report, occasion: &Occasion) -> Attestation {
    let materials = materials(report);
    let whole =
        describe(Some(format!("deployment {}", report.deployment)), None, &manifest(report, &materials));
    let of_template = template(report).map(|file| describe(Some(file.file.clone()), None, &file.digest));
    let subject: Vec<Descriptor> = of_template.into_iter().chain([whole]).collect();
    let uri = |path: &str| format!("{}{}", occasion.base, percent(path, is_of_a_path));
    let resource = report.folder.as_ref().or(report.trace.as_ref()).unwrap_or(&report.deployment);
    let (verification_result, level) = match report.verdict {
        Verdict::VerifiedSuccess => ("PASSED", VERIFIED),
        Verdict::AgentIssue | Verdict::ProcessViolation | Verdict::DeploymentFailure => ("FAILED", FAILED),
    };
    let summary = Summary {
        verifier: Verifier {
            id: VERIFIER,
            version: BTreeMap::from([(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))]),
        },
        time_verified: &occasion.time,
        resource_uri: uri(resource),
        policy: describe(
            None,
            policy(report).or_else(|| report.model.path.as_deref().map(uri)),
            &report.model.digest,
        ),
        input_attestations: materials
            .iter()
            .map(|file| describe(None, Some(uri(&file.file)), &file.digest))
            .collect(),
        verification_result,
        verified_levels: [level],
        report: json::document(report),
    };
    let statement = Statement { kind: STATEMENT, subject, predicate_type: PREDICATE, predicate: &summary };
    let line = |one: &Descriptor| {
        let hex = one.digest.get("sha256").map_or("", String::as_str);
        format!("{hex}  {}\n", one.name.as_deref().unwrap_or_default())
    };
    // Both hold texts and numbers only, which always serialize.
    let text = |document: Result<String, serde_json::Error>| {
        let mut text = escape::json(&document.unwrap_or_default());
        text.push('\n');
        text
    };
    Attestation {
        statement: text(serde_json::to_string(&statement)),
        predicate: text(serde_json::to_string_pretty(&summary)),
        subjects: statement.subject.iter().map(line).collect(),
    }
}

fn describe(name: Option<String>, uri: Option<String>, digest: &str) -> Descriptor {
    let hex = digest.strip_prefix("sha256:").unwrap_or(digest).to_owned();
    // A name is one line, as in a list of subjects.
    let name = name.map(|name| escape::visible(&name));
    Descriptor { name, uri, digest: BTreeMap::from([("sha256", hex)]) }
}

/// Where a model is that has no file of its own.
fn policy(report: &Report) -> Option<String> {
    if report.model.source != ModelSource::BuiltIn {
        return None;
    }
    let is_graph = report.model.digest == digest(built_in::DEPLOY_GRAPH.as_bytes());
    let name = if is_graph { "deploy-graph.json" } else { "checklist.json" };
    Some(format!("{VERIFIER}/blob/v{}/src/model/{name}", env!("CARGO_PKG_VERSION")))
}

/// Everything that was read, sorted, each file once.
fn materials(report: &Report) -> Vec<Material> {
    let trace = report.trace.iter().zip(&report.trace_digest);
    let logs = report.compared.iter().map(|log| (&log.file, &log.digest));
    let both =
        trace.chain(logs).map(|(file, digest)| Material { file: file.clone(), digest: digest.clone() });
    let mut all: Vec<Material> =
        both.chain(report.materials.iter().chain(&report.judged.state_map).cloned()).collect();
    all.sort();
    all.dedup();
    all
}

/// The template that lies in the deployment's folder.
fn template(report: &Report) -> Option<&Material> {
    let path = in_folder(report, TEMPLATE_FILE);
    report.materials.iter().find(|material| material.file == path)
}

fn in_folder(report: &Report, name: &str) -> String {
    match &report.folder {
        Some(folder) => format!("{}/{name}", folder.trim_end_matches('/')),
        None => name.to_owned(),
    }
}

/// The digest that stands for the deployment as a whole: of the lines that `sha256sum` writes of every file that was read,
/// named as they are in the folder and sorted by that name. Whoever has the folder can compute it.
fn manifest(report: &Report, materials: &[Material]) -> String {
    let prefix = in_folder(report, "");
    // What lies elsewhere must not be taken for a file of the folder, whose names never begin with `/`.
    let own = |file: &str| match file.strip_prefix(&prefix) {
        Some(own) => own.to_owned(),
        None if file.starts_with('/') => file.to_owned(),
        None => format!("/./{file}"),
    };
    let mut lines: Vec<(String, &str)> = materials
        .iter()
        .map(|file| (own(&file.file), file.digest.strip_prefix("sha256:").unwrap_or(&file.digest)))
        .collect();
    lines.sort();
    let text: String = lines.iter().map(|(name, hex)| format!("{hex}  {name}\n")).collect();
    digest(text.as_bytes())
}

/// RFC 3986, section 3.3, without what a runner would read as something else.
fn is_of_a_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~/@+=,".contains(&byte)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_extension_is_named_after_the_repository() {
        // Attributes take literals only.
        let source = include_str!("attestation.rs");
        assert!(source.contains(&format!("rename = \"{}/report/v1\"", super::VERIFIER)));
    }
}
