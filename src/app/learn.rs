//! Learning a model from golden traces: read them, learn, check each by its own model and by the model of the others.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

pub(super) mod command;
pub(super) mod step;

use super::check::{self, check_by};
use super::discover;
use super::job::{Job, Named, Options};
use crate::evidence::Claim;
use crate::findings::TraceFacts;
use crate::health::HealthStatus;
use crate::message::{Message, some};
use crate::model::Model;
use crate::model::diff::diff;
use crate::model::learn::doubts::{self, About, Warning};
use crate::model::learn::flaws::{self, Flaw};
use crate::model::learn::{Golden, Learned, Wishes, learn};
use crate::model::write::{Origin, write};
use crate::report::Report;
use crate::report::learning::{GoldenRow, Learning};
use crate::trace::replay::Replay;
use crate::verdict::{Class, Finding, FindingId};
use crate::workspace::Workspace;

/// Golden traces of one lesson. "From two to ten" is the rule; the leave-one-out table reads each of them again.
pub(super) const GOLDENS_CAP: usize = 100;

/// Events of all golden traces together that are kept, so that they need not be read again: some 40 bytes each.
const EVENTS_KEPT: usize = 1_000_000;

/// A model that is there already.
pub(super) struct Existing {
    /// Its file, as it is shown.
    pub(super) name: String,
    pub(super) model: Model,
    /// What it says of how it came about.
    pub(super) origin: Origin,
}

/// A golden trace that is to be read.
pub(super) struct Example {
    /// As it was given.
    pub(super) name: String,
    job: Job,
    /// The trace itself, with all links resolved.
    pub(super) real: Option<PathBuf>,
}

/// What is to be learned.
pub(super) struct Request {
    /// Folders and files.
    pub(super) examples: Vec<Example>,
    /// Names of those that are used in spite of their problems.
    pub(super) accept: Vec<String>,
    /// The model that is refined.
    pub(super) base: Option<Existing>,
    /// The model that the learned one is compared with, where none is refined.
    pub(super) before: Option<Existing>,
    pub(super) wishes: Wishes,
    /// When, in RFC 3339.
    pub(super) at: String,
}

/// A lesson.
pub(super) struct Lesson {
    pub(super) learning: Learning,
    /// The names to accept that are a trace's.
    accepted: BTreeSet<String>,
    /// The model's file.
    pub(super) file: String,
}

/// One golden trace that was read.
struct Read<'a> {
    job: &'a Job,
    name: &'a str,
    golden: Golden,
    /// The run, where there was room for it.
    replay: Option<Replay>,
    trace: TraceFacts,
}

/// A golden trace: a deployment folder, or a file. A file that is the trace of a deployment folder stands for that
/// deployment, so that its health and its artifacts count.
pub(super) fn example(given: Named, workspace: Workspace, named: Workspace) -> Example {
    let name = given.shown.clone();
    let job = job(given, workspace, named);
    let real = discover::traces(&job).chosen.and_then(|chosen| job.named.resolve(&chosen.path).ok());
    Example { name, job, real }
}

fn job(given: Named, workspace: Workspace, named: Workspace) -> Job {
    let bare = Job { workspace, named, folder: None, trace: None, model: None, tests: None };
    if given.path.is_dir() {
        return Job { folder: Some(given), ..bare };
    }
    let alone = Job { trace: Some(given.clone()), ..bare.clone() };
    let up = |path: &Path| path.parent().map(Path::to_owned);
    let folder = up(&given.path).and_then(|folder| {
        let in_traces = folder.file_name().is_some_and(|name| name == discover::TRACES_FOLDER);
        if in_traces { up(&folder) } else { Some(folder) }
    });
    let Some(folder) = folder.filter(|folder| discover::is_deployment(&bare.named, folder)) else {
        return alone;
    };
    let shown = up(Path::new(&given.shown)).unwrap_or_default();
    let shown = if folder.file_name() == shown.file_name() { shown } else { up(&shown).unwrap_or_default() };
    let shown = shown.to_string_lossy().into_owned();
    let own = Job { folder: Some(Named { shown, path: folder }), ..bare };
    let real = |path: &Path| own.named.resolve(path).ok();
    let chosen = discover::traces(&own).chosen.and_then(|chosen| real(&chosen.path));
    if chosen.is_some() && chosen == real(&given.path) { own } else { alone }
}

/// Learns. The same traces give the same lesson, in whatever order they come.
///
/// # Errors
/// A trace cannot be read at all, or nothing can be learned from them.
pub(super) fn lesson(request: &Request, options: &Options) -> Result<Lesson, Message> {
    let base = request.base.as_ref().map(|existing| &existing.model);
    let deployment = request.wishes.deployment(base);
    let mut read = Vec::new();
    let mut seen = BTreeSet::new();
    let mut room = EVENTS_KEPT;
    let mut examples: Vec<&Example> = request.examples.iter().collect();
    examples.sort_by(|a, b| a.name.cmp(&b.name));
    for example in examples {
        // A trace that is named twice, by itself and by its folder, say, is one.
        if example.real.as_ref().is_none_or(|real| seen.insert(real)) {
            let one = observe(example, options, deployment, room)?;
            room -= one.replay.as_ref().map_or(0, Replay::events);
            read.push(one);
        }
    }
    read.sort_by(|a, b| (a.name, &a.trace.digest).cmp(&(b.name, &b.trace.digest)));
    let goldens: Vec<&Golden> = read.iter().map(|one| &one.golden).collect();
    usable(&read)?;
    let learned =
        learn(&goldens, base, &request.wishes).map_err(|message| blame(message, &read, base, request))?;
    let mut rows = Vec::new();
    for (at, one) in read.iter().enumerate() {
        let others = others(&goldens, at, request);
        let reports = judge(one, options, &learned.model, &others)?;
        let Some(report) = reports.first() else { continue };
        let mut problems = problems(report, one);
        problems.extend(flaws(&goldens, at, base, &request.wishes, one, &problems));
        problems.sort_by_key(|problem| problem.id);
        let problems: Vec<Finding> = problems.into_iter().map(|problem| blank(problem, options)).collect();
        // What is no good example raises no false alarm.
        let left_out = others.filter(|_| problems.is_empty()).map(|others| match (others, reports.get(1)) {
            (Err(reason), _) => Err(reason),
            (Ok(_), report) => Ok(report.map(|report| self::problems(report, one)).unwrap_or_default()),
        });
        rows.push(GoldenRow {
            name: options.secrets.blank(one.name),
            digest: one.trace.digest.clone(),
            format: one.trace.format,
            events: one.golden.events(),
            health: one.job.folder.as_ref().map(|_| report.health),
            accepted: !problems.is_empty() && request.accept.iter().any(|name| is_named(one, name)),
            notices: notices(report, one, options),
            problems,
            left_out,
        });
    }
    let abouts = read.iter().map(|one| About {
        name: one.name,
        format: one.trace.format,
        digest: one.trace.digest.as_deref(),
        golden: &one.golden,
    });
    let mut warnings = doubts::warnings(&abouts.collect::<Vec<_>>(), base, &request.wishes, &learned);
    warnings.extend(health_unknown(&rows));
    let before = request.base.as_ref().or(request.before.as_ref());
    let changes = before.map(|existing| (existing.name.clone(), diff(&existing.model, &learned.model)));
    let file = write(&learned.model, &origin(request, &read, &learned));
    let accepted = request.accept.iter().filter(|name| read.iter().any(|one| is_named(one, name)));
    let accepted = accepted.cloned().collect();
    Ok(Lesson {
        accepted,
        learning: Learning::new(rows, &learned, warnings, changes, &options.secrets),
        file,
    })
}

fn observe<'a>(
    Example { name, job, .. }: &'a Example,
    options: &'a Options,
    deployment: &str,
    room: usize,
) -> Result<Read<'a>, Message> {
    let mut opened = check::open(job, options);
    let fresh = || (Golden::new(deployment), Replay::new(room));
    let (golden, replay) = opened.source.watch(fresh, &mut opened.trace);
    // A document was held while it was read, and is bound to a graph; it is read again.
    let replay = replay.whole().filter(|_| opened.source.execution().is_none());
    if opened.trace.format.is_none() {
        let reason = opened.trace.absent.clone().unwrap_or_else(|| "there is no trace in it".to_owned());
        return Err(Message::new("the golden trace {} cannot be read: {}", &[name, &reason]));
    }
    Ok(Read { job, name, golden, replay, trace: opened.trace })
}

/// The model of the others, or why they have none. `None`: there are no others.
fn others(goldens: &[&Golden], at: usize, request: &Request) -> Option<Result<Learned, Message>> {
    let others = goldens.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, golden)| *golden);
    let others: Vec<&Golden> = others.collect();
    let base = request.base.as_ref().map(|existing| &existing.model);
    (!others.is_empty()).then(|| learn(&others, base, &request.wishes))
}

/// The report by its own model and, where there is one, by the model of the others.
fn judge(
    one: &Read<'_>,
    options: &Options,
    own: &Model,
    others: &Option<Result<Learned, Message>>,
) -> Result<Vec<Report>, Message> {
    let others = others.as_ref().and_then(|others| others.as_ref().ok()).map(|learned| &learned.model);
    let models: Vec<&Model> = [own].into_iter().chain(others).collect();
    check_by(one.job, options, &models, (&one.trace, one.replay.as_ref()))
        .map_err(|error| Message::new("{}: {}", &[one.name, &error.to_string()]))
}

/// Each trace has something to learn from.
///
/// # Errors
/// The first that has not, and why.
fn usable(read: &[Read<'_>]) -> Result<(), Message> {
    for one in read {
        let reason = if one.golden.is_crowded() {
            "it has more different states than can be learned from; map names to states with a state map"
                .to_owned()
        } else if one.golden.completed().next().is_some() {
            continue;
        } else if one.trace.foreign.0 > 0 {
            format!("all of its events that count name another deployment ({} do)", one.trace.foreign.0)
        } else if one.trace.reading.damage.count() > 0 {
            format!("nothing completed in it, and {} lines cannot be read", one.trace.reading.damage.count())
        } else if one.trace.reading.passed_over > 0 {
            let records = one.trace.reading.passed_over;
            format!(
                "nothing completed in it, and {records} records say nothing of a state; is there a state map for it?"
            )
        } else {
            "nothing completed in it".to_owned()
        };
        return Err(Message::new(&format!("{{}} cannot be learned from: {reason}"), &[one.name]));
    }
    Ok(())
}

/// Names the trace without which the others have something in common.
fn blame(message: Message, read: &[Read<'_>], base: Option<&Model>, request: &Request) -> Message {
    let without = |at: &usize| {
        let others = read.iter().enumerate().filter(|(other, _)| other != at).map(|(_, one)| &one.golden);
        learn(&others.collect::<Vec<_>>(), base, &request.wishes).is_ok()
    };
    let culprit =
        if read.len() > 2 { (0..read.len()).find(without).and_then(|at| read.get(at)) } else { None };
    match culprit {
        Some(one) => message.and(Message::new("; {} has nothing in common with the others", &[one.name])),
        None => message,
    }
}

/// Notices that whoever calls the run a good one should see.
fn notices(report: &Report, one: &Read<'_>, options: &Options) -> Vec<Finding> {
    let shown = |finding: &&Finding| {
        use FindingId::{
            EarlierRuns, GateOverridden, InvokedOnly, OrderUnproven, OtherTraces, UnknownStatus,
        };
        [EarlierRuns, GateOverridden, InvokedOnly, OrderUnproven, OtherTraces, UnknownStatus]
            .contains(&finding.id)
    };
    let mut found: Vec<Finding> = report.findings.iter().filter(shown).cloned().collect();
    if one.trace.runs.0 > 1 && !found.iter().any(|finding| finding.id == FindingId::EarlierRuns) {
        let message = Message::new("the file holds earlier runs; the last one is learned from", &[]);
        found.push(finding(FindingId::EarlierRuns, message, one));
    }
    found.into_iter().map(|finding| blank(finding, options)).collect()
}

/// The same without the secrets of what it quotes.
fn blank(finding: Finding, options: &Options) -> Finding {
    let blank = |text: &str| options.secrets.blank(text);
    let state = finding.state.as_deref().map(blank);
    Finding { state, message: finding.message.map_quotes(blank), ..finding }
}

/// What a check by its own model holds against a golden trace. That nothing is known of its health is not held against it.
fn problems(report: &Report, one: &Read<'_>) -> Vec<Finding> {
    let counts =
        |finding: &&Finding| finding.id.class() != Class::Notice && finding.id != FindingId::HealthUnknown;
    let mut found: Vec<Finding> = report.findings.iter().filter(counts).cloned().collect();
    if report.claim == Claim::Failed && !found.iter().any(|finding| finding.id == FindingId::DeploymentFailed)
    {
        let message = Message::new("the run says of itself that it failed", &[]);
        found.push(finding(FindingId::DeploymentFailed, message, one));
    }
    found
}

fn finding(id: FindingId, message: Message, one: &Read<'_>) -> Finding {
    let hint = "Take another run, or accept this one by its name.";
    Finding::new(id, message, hint).file(one.trace.file.as_deref())
}

fn flaws(
    goldens: &[&Golden],
    at: usize,
    base: Option<&Model>,
    wishes: &Wishes,
    one: &Read<'_>,
    known: &[Finding],
) -> Vec<Finding> {
    let told = |id: FindingId, state: Option<&str>| {
        known.iter().any(|finding| finding.id == id && (state.is_none() || finding.state.as_deref() == state))
    };
    let found = flaws::flaws(goldens, at, base, wishes).into_iter().filter_map(|flaw| match flaw {
        Flaw::EndedEarly(message) => {
            let id = FindingId::IncompleteWorkflow;
            (!told(id, None)).then(|| finding(id, message, one))
        }
        Flaw::Failed { state, place, message } => {
            let id = FindingId::StateFailed;
            (!told(id, Some(&state))).then(|| finding(id, message, one).state(&state).at(Some(place)))
        }
    });
    found.collect()
}

/// A trace is accepted by its path, its file name, or the name of its folder.
fn is_named(one: &Read<'_>, name: &str) -> bool {
    // `./a/` and `a` are the same path.
    let plain =
        |path: &Path| -> PathBuf { path.components().filter(|part| *part != Component::CurDir).collect() };
    let (name, shown) = (plain(Path::new(name)), plain(Path::new(one.name)));
    let trace = one.trace.file.as_deref().map(|file| plain(Path::new(file)));
    let folder = one.job.folder.as_ref().and_then(|folder| folder.path.file_name()).map(PathBuf::from);
    let file = shown.file_name().map(PathBuf::from);
    [Some(shown), trace, folder, file].contains(&Some(name))
}

/// Names to accept that are no trace's.
pub(super) fn unknown_names<'r>(request: &'r Request, lesson: &Lesson) -> Vec<&'r str> {
    request.accept.iter().map(String::as_str).filter(|name| !lesson.accepted.contains(*name)).collect()
}

fn origin(request: &Request, read: &[Read<'_>], learned: &Learned) -> Origin {
    let mut from = request.base.as_ref().map(|existing| existing.origin.from.clone()).unwrap_or_default();
    for one in read {
        let digest = one.trace.digest.clone().unwrap_or_default();
        from.retain(|(name, known)| name != one.name || *known != digest);
        from.push((one.name.to_owned(), digest));
    }
    let mut labels = request.base.as_ref().map(|existing| existing.origin.labels.clone()).unwrap_or_default();
    labels.extend(learned.labels.clone());
    Origin { from, at: request.at.clone(), labels }
}

/// Deployments of whose health nothing is known.
fn health_unknown(rows: &[GoldenRow]) -> Option<Warning> {
    let unknown = rows.iter().filter(|golden| golden.health == Some(HealthStatus::NotTested));
    let names: Vec<&str> = unknown.map(|golden| golden.name.as_str()).collect();
    let message =
        some("nothing is known of the health of {}: nobody can tell whether it was a good run", &names);
    (!names.is_empty()).then_some(Warning { grave: false, message })
}
