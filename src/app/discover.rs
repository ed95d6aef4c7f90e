//! What lies in a deployment folder: which file is the trace, which the results, what else is there.

use std::path::Path;

use super::job::{Job, Materials, Named, Options};
use super::source;
use crate::digest::{Material, digest};
use crate::evidence::about::Deployed;
use crate::evidence::{
    self, AUTHORIZATION_FILE, Document, Evidence, GATE_FILE, Gate, METADATA_FILE, Mode, PARAMETERS_FILE,
    Record, STATE_FILE, TEMPLATE_FILE,
};
use crate::health::{Health, junit, results};
use crate::model::Model;
use crate::trace::{Time, git_ape};
use crate::workspace::{Refusal, TRACE_CAP, Workspace};

/// Name of the trace that an agent appends to.
pub(super) const TRACE_FILE: &str = "trace.jsonl";
/// Folder of v1 traces, one a run.
pub(super) const TRACES_FOLDER: &str = "traces";
/// Name of the Copilot harness's log.
pub(super) const EVENTS_FILE: &str = "events.jsonl";
/// Ending of OTLP exports.
pub(super) const OTLP_ENDING: &str = ".otlp.jsonl";
/// Files without a telling name that are looked into.
const UNNAMED_CAP: usize = 32;
/// Name of the results.
pub(super) const TESTS_FILE: &str = "tests.json";

/// Which trace is judged, and which others there are.
#[derive(Debug, Default)]
pub(super) struct Traces {
    pub(super) chosen: Option<Named>,
    /// Why there is none, where that is more than its absence.
    pub(super) absent: Option<String>,
    pub(super) others: Vec<Named>,
    pub(super) unreadable_others: Vec<(String, String)>,
}

/// Chooses the trace: the named one; else `trace.jsonl`; else the newest v1 trace; else OTLP; else Copilot's events.
pub(super) fn traces(job: &Job) -> Traces {
    let mut found = Traces::default();
    let in_folder = job.folder.as_ref().map(|folder| Candidates::of(job, folder)).unwrap_or_default();
    if let Some(named) = &job.trace {
        match job.named.open(&named.path, TRACE_CAP) {
            Ok(_) => found.chosen = Some(named.clone()),
            Err(refusal) => found.absent = Some(format!("{}: {refusal}", named.shown)),
        }
    } else {
        choose(job, &in_folder, &mut found);
    }
    // What was refused is told as such, and is no further trace.
    let own = in_folder.own.iter().filter(|_| found.absent.is_none() || job.trace.is_some());
    let all =
        own.chain(&in_folder.v1).chain(&in_folder.otlp).chain(&in_folder.copilot).chain(&in_folder.others);
    let chosen = found.chosen.as_ref().map(|chosen| job.named.resolve(&chosen.path));
    found.others = all
        .filter(|other| chosen.as_ref() != Some(&job.named.resolve(&other.path)))
        .filter(|other| !found.unreadable_others.iter().any(|(file, _)| *file == other.shown))
        .cloned()
        .collect();
    found
}

/// The files of a folder that may be traces.
#[derive(Debug, Default)]
struct Candidates {
    own: Option<Named>,
    v1: Vec<Named>,
    otlp: Vec<Named>,
    copilot: Option<Named>,
    /// Other files of JSON lines whose content is that of a trace.
    others: Vec<Named>,
    /// The folder of v1 traces leads out of the workspace; why it is not read.
    refused: Option<String>,
}

impl Candidates {
    fn of(job: &Job, folder: &Named) -> Self {
        let named = |name: &str| Some(folder.join(name)).filter(|file| job.workspace.has(&file.path));
        let listed = |folder: &Named, ending: &str| {
            let names = job.workspace.list(&folder.path, |name| name.ends_with(ending));
            names.iter().map(|name| folder.join(name)).collect()
        };
        Self {
            own: named(TRACE_FILE),
            v1: listed(&folder.join(TRACES_FOLDER), ".json"),
            otlp: listed(folder, OTLP_ENDING),
            copilot: named(EVENTS_FILE),
            others: told_by_content(job, folder),
            refused: match named(TRACES_FOLDER).map(|traces| (job.workspace.resolve(&traces.path), traces)) {
                Some((Err(refusal), traces)) => Some(format!("{}: {refusal}", traces.shown)),
                Some((Ok(_), _)) | None => None,
            },
        }
    }
}

/// Files without a name that tells, but with a content that does: a session of a harness, say.
fn told_by_content(job: &Job, folder: &Named) -> Vec<Named> {
    let known = |name: &str| name == TRACE_FILE || name == EVENTS_FILE || name.ends_with(OTLP_ENDING);
    let lines = |name: &str| name.ends_with(".jsonl") || name.ends_with(".ndjson");
    let names = job.workspace.list(&folder.path, |name| lines(name) && !known(name));
    let files = names.iter().take(UNNAMED_CAP).map(|name| folder.join(name));
    files.filter(|file| source::format_of(job, file).is_some()).collect()
}

fn choose(job: &Job, candidates: &Candidates, found: &mut Traces) {
    if let Some(own) = &candidates.own {
        // A trace that leads out of the workspace counts as absent, and no other one replaces it.
        match job.workspace.open(&own.path, TRACE_CAP) {
            Ok(_) => found.chosen = Some(own.clone()),
            Err(refusal) => found.absent = Some(format!("{}: {refusal}", own.shown)),
        }
        return;
    }
    if let Some(folder) = candidates.refused.as_ref() {
        found.absent = Some(folder.clone());
        return;
    }
    newest(job, &candidates.v1, found);
    if found.chosen.is_some() || !candidates.v1.is_empty() {
        return;
    }
    if let Some(other) = candidates.otlp.last().or(candidates.copilot.as_ref()).or(candidates.others.first())
    {
        match job.workspace.open(&other.path, TRACE_CAP) {
            Ok(_) => found.chosen = Some(other.clone()),
            Err(refusal) => found.absent = Some(format!("{}: {refusal}", other.shown)),
        }
    }
}

/// The newest v1 trace: by `startedAt`, then by name. One that cannot be read is the oldest, and told.
fn newest(job: &Job, traces: &[Named], found: &mut Traces) {
    let mut readable = Vec::new();
    let mut damaged = Vec::new();
    for trace in traces {
        match job.workspace.stream_again(&trace.path) {
            Err(refusal) => damaged.push((trace, refusal.to_string(), false)),
            Ok(_) if traces.len() == 1 => readable.push((None, trace)),
            Ok(stream) => {
                let execution = git_ape::read(stream);
                if execution.whole {
                    let started = Time::of_value(execution.started_at.as_ref());
                    if started == Time::Unreadable {
                        damaged.push((trace, "its startedAt cannot be read".to_owned(), true));
                    } else {
                        readable.push((started.micros(), trace));
                    }
                } else {
                    let reason = execution.reading.damage.kept().first().map(|damage| damage.reason.clone());
                    damaged.push((trace, reason.unwrap_or_default(), true));
                }
            }
        }
    }
    readable.sort_by(|(a, left), (b, right)| a.cmp(b).then(left.shown.cmp(&right.shown)));
    let chosen = match readable.last() {
        Some((_, trace)) => Some(*trace),
        // Nothing better is there. Its damage is told when it is read.
        None => damaged.iter().rev().find(|(_, _, opened)| *opened).map(|(trace, _, _)| *trace),
    };
    found.chosen = chosen.cloned();
    let told = damaged.into_iter().filter(|(trace, _, _)| Some(*trace) != chosen);
    found.unreadable_others = told.map(|(trace, reason, _)| (trace.shown.clone(), reason)).collect();
}

/// Reads the files that say something of states: gate, authorization, state and metadata.
pub(super) fn documents(job: &Job, options: &Options) -> Evidence {
    let mode = options.evidence;
    let mut evidence = Evidence { mode, ..Evidence::default() };
    let Some(folder) = &job.folder else {
        // Without a folder nothing can lie beside the trace.
        evidence.mode = Mode::Off;
        return evidence;
    };
    evidence.state = document(job, folder, STATE_FILE, Record::read, &mut evidence);
    evidence.metadata = document(job, folder, METADATA_FILE, Record::read, &mut evidence);
    if mode != Mode::Off {
        evidence.gate = document(job, folder, GATE_FILE, Gate::read, &mut evidence);
        evidence.authorization = document(job, folder, AUTHORIZATION_FILE, Record::read, &mut evidence);
        evidence.deployed = deployed(job, folder, &mut evidence, options);
    }
    if options.materials == Materials::All {
        // What was deployed is named in every mode.
        for name in [TEMPLATE_FILE, PARAMETERS_FILE] {
            hash(job, &folder.join(name), &mut evidence);
        }
    }
    evidence
}

/// Notes the digest of a file, once.
fn hash(job: &Job, file: &Named, evidence: &mut Evidence) {
    let is_known = evidence.materials.iter().any(|material| material.file == file.shown);
    // Of any size, since it is not held.
    let digest = || job.workspace.stream(&file.path).ok()?.into_inner().finish();
    if !is_known && let Some(digest) = digest() {
        evidence.materials.push(Material { file: file.shown.clone(), digest });
    }
}

/// What was deployed, as far as it is known and anything is to be compared with it.
fn deployed(job: &Job, folder: &Named, evidence: &mut Evidence, options: &Options) -> Deployed {
    let commit = &options.commit;
    let mut template = Vec::new();
    if evidence.names_a_template() {
        let file = folder.join(TEMPLATE_FILE);
        match job.workspace.read(&file.path) {
            Ok(bytes) => {
                evidence.materials.push(Material::of(&file.shown, &bytes));
                template = digests(&bytes);
            }
            Err(refusal) if refusal.is_absence() => {}
            // It is there, and whether it is the one that was looked at cannot be told.
            Err(refusal) => evidence.template_refused = Some(refusal.to_string()),
        }
    }
    let said = |file: &Document<Record>| file.read().and_then(|record| record.about.commits.first().cloned());
    let of_run = || {
        let run = evidence.state.read().and_then(|state| state.run.as_ref())?;
        commit.of_run.as_ref().filter(|(own, _)| own == run).map(|(_, commit)| commit.clone())
    };
    let commit = commit.named.clone().or_else(|| said(&evidence.state)).or_else(|| said(&evidence.metadata));
    Deployed { template, commit: commit.or_else(of_run) }
}

/// The digest of a file, and the one that it has with the line breaks of another system.
fn digests(bytes: &[u8]) -> Vec<String> {
    let own = digest(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) if text.contains("\r\n") => vec![own, digest(text.replace("\r\n", "\n").as_bytes())],
        Ok(text) => vec![own, digest(text.replace('\n', "\r\n").as_bytes())],
        Err(_) => vec![own],
    }
}

fn document<T>(
    job: &Job,
    folder: &Named,
    name: &str,
    read: impl Fn(&serde_json::Value) -> Result<T, String>,
    evidence: &mut Evidence,
) -> Document<T> {
    let file = folder.join(name);
    match job.workspace.read(&file.path) {
        Ok(bytes) => {
            evidence.materials.push(Material::of(&file.shown, &bytes));
            Document::of_bytes(&bytes, read)
        }
        Err(refusal) if refusal.is_absence() => {
            if refusal == Refusal::Outside {
                evidence.refused.insert(name.to_owned(), refusal.to_string());
            }
            Document::Absent
        }
        Err(refusal) => Document::Unreadable(refusal.to_string()),
    }
}

/// Looks which of the artifacts that a model wants are there. Of those that are not read only their digests can be wanted.
pub(super) fn artifacts(job: &Job, options: &Options, model: &Model, evidence: &mut Evidence) {
    let Some(folder) = job.folder.as_ref().filter(|_| evidence.mode != Mode::Off) else { return };
    for name in evidence::wanted(model) {
        let file = folder.join(&name);
        match job.workspace.resolve(&file.path).map(|real| real.is_file()) {
            Ok(true) => {
                if options.materials == Materials::All {
                    hash(job, &file, evidence);
                }
                evidence.present.insert(name);
            }
            Ok(false) => {
                evidence.refused.insert(name, Refusal::NotAFile.to_string());
            }
            Err(Refusal::Absent) => {}
            Err(refusal) => {
                evidence.refused.insert(name, refusal.to_string());
            }
        }
    }
}

/// A folder is that of a deployment, or holds what may be a trace.
pub(super) fn is_worth_a_check(workspace: &Workspace, folder: &Named) -> bool {
    let job = Job {
        workspace: workspace.clone(),
        named: workspace.clone(),
        folder: Some(folder.clone()),
        trace: None,
        model: None,
        tests: None,
    };
    let has_trace = || {
        let Candidates { own, v1, otlp, copilot, others, refused } = Candidates::of(&job, folder);
        let lists = [v1, otlp, others];
        own.is_some() || copilot.is_some() || refused.is_some() || lists.iter().any(|list| !list.is_empty())
    };
    is_deployment(workspace, &folder.path) || has_trace()
}

/// A folder is that of a deployment: its state, its metadata or its results lie in it.
pub(super) fn is_deployment(workspace: &Workspace, folder: &Path) -> bool {
    let has = |name: &str| workspace.has(&folder.join(name));
    [STATE_FILE, METADATA_FILE, TESTS_FILE].into_iter().any(has)
        || !workspace.list(folder, is_junit).is_empty()
}

fn is_junit(name: &str) -> bool {
    name.starts_with("junit") && name.ends_with(".xml")
}

/// Reads the results: the named ones; else `tests.json`; else all `junit*.xml`.
pub(super) fn health(job: &Job) -> Health {
    let named = job.tests.as_ref().map(|named| (named.clone(), &job.named));
    let own = job.folder.as_ref().map(|folder| (folder.join(TESTS_FILE), &job.workspace));
    let explicit = named.is_some();
    if let Some((file, scope)) = named.or(own) {
        match scope.read(&file.path) {
            Ok(bytes) => {
                let junit = bytes
                    .strip_prefix(b"\xef\xbb\xbf")
                    .unwrap_or(&bytes)
                    .trim_ascii_start()
                    .starts_with(b"<");
                let health = if junit {
                    junit::read([(file.shown.as_str(), bytes.as_slice())])
                } else {
                    results::read(&bytes)
                };
                let materials = vec![Material::of(&file.shown, &bytes)];
                return Health { file: Some(file.shown), materials, ..health };
            }
            Err(Refusal::Absent) if !explicit => {}
            Err(refusal) => return unread(file, &refusal),
        }
    }
    let Some(folder) = &job.folder else { return Health::absent("there are no results") };
    let names = job.workspace.list(&folder.path, is_junit);
    let mut files = Vec::new();
    for name in &names {
        let file = folder.join(name);
        match job.workspace.read(&file.path) {
            Ok(bytes) => files.push((file.shown, bytes)),
            Err(refusal) => return unread(file, &refusal),
        }
    }
    let file = files.first().map(|(name, _)| name.clone());
    let health = junit::read(files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
    let materials = files.iter().map(|(name, bytes)| Material::of(name, bytes)).collect();
    Health { file, materials, ..health }
}

/// The results cannot be read.
fn unread(file: Named, refusal: &Refusal) -> Health {
    let reason = format!("{}: {refusal}", file.shown);
    let health = if refusal.is_absence() { Health::absent(&reason) } else { Health::unreadable(reason) };
    Health { file: Some(file.shown), ..health }
}
