//! One report, as much of it as the picture of a fleet needs.
//!
//! A report may be forged. Nothing here can tell a forger who is careful, but a report that contradicts itself is refused:
//! its verdict has to follow from its findings, and its coverage from its states.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Planned;
use crate::conformance::StateStatus;
use crate::escape::cut;
use crate::evidence::Claim;
use crate::health::HealthStatus;
use crate::json;
use crate::model::Threshold;
use crate::report::json::SCHEMA;
use crate::verdict::{FindingId, Verdict};

/// Bytes of a folder's name; the longest path of the systems that the product runs on.
pub(super) const FOLDER_CAP: usize = 4096;
/// Characters that are kept of the names of deployments and states.
const NAME_KEPT: usize = 200;
/// States of a model: as in the schema of the report.
const STATES_CAP: usize = 1024;

/// The beginning of a digest: enough to tell whether two reports are the same.
pub type ShortDigest = [u8; 16];

/// A deployment. Texts in it are hostile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its id.
    pub deployment: Box<str>,
    /// Its folder; `None` where only a trace was judged.
    pub folder: Option<Box<str>>,
    /// The verdict.
    pub verdict: Verdict,
    /// What the agent says of itself.
    pub claim: Claim,
    /// The answer on health.
    pub health: HealthStatus,
    /// Its essential states, in the model's order: number of the name, and what became of it.
    pub states: Box<[(u32, StateStatus)]>,
    /// The rules that found something, and how often; worst class first.
    pub findings: Box<[(FindingId, u32)]>,
    /// Whether it was to be reported on.
    pub planned: Planned,
    /// Tells its report from another.
    pub digest: ShortDigest,
    /// Other reports on the same deployment that say something else, none of them worse.
    pub others: BTreeSet<ShortDigest>,
    /// Number of the file that holds the report.
    pub file: usize,
    /// Line on which the report begins.
    pub line: u64,
}

impl Row {
    /// How many states are covered.
    #[must_use]
    pub fn covered(&self) -> usize {
        self.states.iter().filter(|(_, status)| *status == StateStatus::Covered).count()
    }

    /// The same in percent, rounded down.
    #[must_use]
    pub fn percent(&self) -> u64 {
        super::percent(self.covered() as u64, self.states.len() as u64)
    }

    /// The agent says that it succeeded, and it is not so.
    #[must_use]
    pub fn false_success(&self) -> bool {
        self.claim == Claim::Succeeded && self.verdict != Verdict::VerifiedSuccess
    }

    /// What people know it by: its folder, else its id.
    #[must_use]
    pub fn name(&self) -> &str {
        self.folder.as_deref().unwrap_or(&self.deployment)
    }

    /// The id, where the folder's name does not say it already.
    #[must_use]
    pub fn other_id(&self) -> Option<&str> {
        let last = self.name().rsplit('/').find(|part| !part.is_empty());
        Some(&*self.deployment).filter(|id| *id != self.name() && last != Some(id))
    }
}

/// Names of states, each kept once.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    numbers: HashMap<Box<str>, u32>,
    names: Vec<Box<str>>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        let name = cut(name, NAME_KEPT).into_boxed_str();
        if let Some(number) = self.numbers.get(&name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    pub(super) fn into_names(self) -> Vec<Box<str>> {
        self.names
    }
}

/// What two reports on the same deployment have in common: the folder however it is written, else the id.
#[must_use]
pub fn key(folder: Option<&str>, deployment: &str) -> Box<str> {
    let Some(folder) = folder else {
        // No path holds a NUL, so this is no folder's key.
        return format!("\0{deployment}").into();
    };
    let parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let root = if folder.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/")).into()
}

/// Why a report was refused. Its text may quote the report.
#[derive(Debug)]
pub(super) struct Refused {
    /// Line in the text, from 1.
    pub(super) line: u64,
    /// The reason.
    pub(super) reason: String,
}

#[derive(Deserialize)]
struct Document {
    deployment_id: String,
    folder: Option<String>,
    verdict: String,
    false_success: bool,
    claim: String,
    health: Health,
    coverage: Coverage,
    states: Vec<State>,
    missing: Vec<String>,
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
struct Health {
    status: String,
}

#[derive(Deserialize)]
struct Coverage {
    covered: usize,
    essential: usize,
    threshold: f64,
}

#[derive(Deserialize)]
struct State {
    id: String,
    status: String,
}

#[derive(Deserialize)]
struct Finding {
    id: String,
    class: String,
}

/// Reads one report, and gives the key of its deployment with it.
pub(super) fn parse(text: &[u8], names: &mut Names) -> Result<(Box<str>, Row), Refused> {
    let value = json::parse(text).map_err(|error| {
        let whole = if error.reason.starts_with("EOF") { "it is cut off: " } else { "" };
        let reason = format!("{whole}{} (byte {})", error.reason, error.column);
        Refused { line: error.line.max(1) as u64, reason }
    })?;
    let whole = |reason: String| Refused { line: 1, reason };
    match value.get("schema").and_then(Value::as_str) {
        Some(SCHEMA) => {}
        Some(other) => return Err(whole(format!("it is no {SCHEMA} but {}", cut(other, 60)))),
        None => return Err(whole(format!("it is no {SCHEMA}: it has no schema"))),
    }
    let mut digest = ShortDigest::default();
    let hash = Sha256::digest(serde_json::to_vec(&value).unwrap_or_default());
    digest.iter_mut().zip(hash.iter()).for_each(|(to, from)| *to = *from);
    let document: Document =
        serde_json::from_value(value).map_err(|error| whole(cut(&json::reason(&error), 200)))?;
    row(document, digest, names).map_err(whole)
}

/// The value that has this id.
fn known<T: Copy>(what: &str, all: &[T], id: impl Fn(T) -> &'static str, text: &str) -> Result<T, String> {
    let found = all.iter().copied().find(|value| id(*value) == text);
    found.ok_or_else(|| format!("there is no {what} {}", cut(text, 60)))
}

fn row(document: Document, digest: ShortDigest, names: &mut Names) -> Result<(Box<str>, Row), String> {
    if document.folder.as_ref().is_some_and(|folder| folder.len() > FOLDER_CAP) {
        return Err(format!("the name of its folder is longer than {FOLDER_CAP} bytes"));
    }
    if document.states.is_empty() || document.states.len() > STATES_CAP {
        return Err(format!("it has {} states; a model has 1 to {STATES_CAP}", document.states.len()));
    }
    let verdict = known("verdict", &Verdict::ALL, Verdict::id, &document.verdict)?;
    let claim = known("claim", &Claim::ALL, Claim::id, &document.claim)?;
    let health = known("health", &HealthStatus::ALL, HealthStatus::id, &document.health.status)?;
    let mut findings: BTreeMap<FindingId, u32> = BTreeMap::new();
    for finding in &document.findings {
        let id = known("finding", FindingId::ALL, FindingId::id, &finding.id)?;
        if finding.class != id.class().id() {
            return Err(format!("it contradicts itself: {} is no {}", id.id(), cut(&finding.class, 60)));
        }
        let count = findings.entry(id).or_default();
        *count = count.saturating_add(1);
    }
    let mut statuses = Vec::with_capacity(document.states.len());
    for state in &document.states {
        statuses.push(known("status", &StateStatus::ALL, StateStatus::id, &state.status)?);
    }
    agrees(&document, verdict, claim, health, &statuses, &findings)?;
    let states =
        document.states.iter().zip(statuses).map(|(state, status)| (names.number(&state.id), status));
    let row = Row {
        verdict,
        claim,
        health,
        states: states.collect(),
        findings: findings.into_iter().collect(),
        planned: Planned::NoPlan,
        digest,
        others: BTreeSet::new(),
        file: 0,
        line: 0,
        deployment: cut(&document.deployment_id, NAME_KEPT).into(),
        folder: document.folder.map(String::into_boxed_str),
    };
    Ok((key(row.folder.as_deref(), &document.deployment_id), row))
}

/// What a report says in two places has to be the same.
fn agrees(
    document: &Document,
    verdict: Verdict,
    claim: Claim,
    health: HealthStatus,
    statuses: &[StateStatus],
    findings: &BTreeMap<FindingId, u32>,
) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("it contradicts itself: {what}"));
    let follows = Verdict::of_ids(findings.keys().copied());
    if follows != verdict {
        return wrong(&format!(
            "the verdict is {}, but its findings amount to {}",
            verdict.id(),
            follows.id()
        ));
    }
    if document.false_success != (claim == Claim::Succeeded && verdict != Verdict::VerifiedSuccess) {
        return wrong("false_success does not follow from claim and verdict");
    }
    let coverage = &document.coverage;
    let covered = statuses.iter().filter(|status| **status == StateStatus::Covered).count();
    if (coverage.covered, coverage.essential) != (covered, statuses.len()) {
        return wrong("the coverage is not that of its states");
    }
    let with_status = document.states.iter().zip(statuses);
    let missing = with_status.filter(|(_, status)| status.is_missing()).map(|(state, _)| &state.id);
    if !missing.eq(document.missing.iter()) {
        return wrong("the missing states are not those of its states");
    }
    let Some(threshold) = Threshold::of_percent(coverage.threshold) else {
        return Err("its threshold is not from 1 to 100".to_owned());
    };
    let proven = health == HealthStatus::Healthy && threshold.is_met(covered, statuses.len());
    if verdict == Verdict::VerifiedSuccess && !proven {
        return wrong("it is verified without health or coverage");
    }
    Ok(())
}
