//! One deployment: read everything, choose the model, judge, report.

use super::choose::{self, Chosen};
use super::discover;
use super::job::{Job, Named, Options};
use super::source::{self, Source};
use crate::conformance::witness::{Testimony, Witness};
use crate::conformance::{self, Observation, sequence};
use crate::evidence::{Evidence, Mode};
use crate::findings::{self, Facts, TraceFacts};
use crate::message::Message;
use crate::model::{Model, ModelError};
use crate::report::Report;
use crate::trace::replay::Replay;
use crate::trace::{Producer, TraceFormat};

/// A report, and what was wrong with the inputs.
#[derive(Debug)]
pub struct Checked {
    /// The report.
    pub report: Report,
    /// Inputs that could not be honoured.
    pub warnings: Vec<Message>,
}

/// Checks one deployment. Whatever is there or not there has a verdict.
///
/// # Errors
/// The models that come with the product cannot be read: the binary is broken.
pub fn check(job: &Job, options: &Options) -> Result<Checked, ModelError> {
    let opened = open(job, options);
    let mut chosen = choose::choose(job, opened.source.execution())?;
    let warnings = override_model(&mut chosen.model, options);
    // One model, one report.
    let report = judge(opened, job, options, &[chosen]).pop();
    let none = || ModelError { pointer: String::new(), reason: "there is no report".to_owned() };
    report.map(|report| Checked { report, warnings }).ok_or_else(none)
}

/// The reports on one deployment by models that are given, in place of the one that would be found. Its trace was read before:
/// it is not hashed again, and not read again where it was kept.
///
/// # Errors
/// As [`check`].
pub(super) fn check_by(
    job: &Job,
    options: &Options,
    models: &[&Model],
    (trace, replay): (&TraceFacts, Option<&Replay>),
) -> Result<Vec<Report>, ModelError> {
    let opened = open(job, options);
    let opened = match replay {
        Some(replay) => Opened { source: Source::Replay(replay), trace: trace.clone(), ..opened },
        None => Opened { source: opened.source.again(), ..opened },
    };
    let chosen = models.iter().map(|model| choose::given(model, job, opened.source.execution()));
    let chosen = chosen.collect::<Result<Vec<_>, _>>()?;
    Ok(judge(opened, job, options, &chosen))
}

/// What lies in a job's folder, and its trace, ready to be read.
pub(super) struct Opened<'a> {
    evidence: Evidence,
    pub(super) trace: TraceFacts,
    pub(super) source: Source<'a>,
    /// Logs of a harness, to be compared with the trace.
    logs: Vec<(Named, TraceFormat)>,
}

/// Finds the files of a job and opens its trace.
pub(super) fn open<'a>(job: &'a Job, options: &'a Options) -> Opened<'a> {
    let evidence = discover::documents(job, options);
    let traces = discover::traces(job);
    let mut trace = TraceFacts {
        absent: traces.absent,
        unreadable_others: traces.unreadable_others,
        deployment: deployment_id(job, evidence.deployment_id()),
        ..TraceFacts::default()
    };
    let source = Source::open(job, traces.chosen, options, &mut trace);
    // Against what the harness itself wrote there is nothing to be compared, and what is no evidence is not compared.
    let compares =
        options.evidence != Mode::Off && matches!(trace.producer, Some(Producer::Agent | Producer::Workflow));
    let mut logs = Vec::new();
    for other in traces.others {
        let format = if compares { source::format_of(job, &other) } else { None };
        match format.filter(|format| format.producer() == Producer::Harness) {
            Some(format) => logs.push((other, format)),
            None => trace.others.push(other.shown),
        }
    }
    Opened { evidence, trace, source, logs }
}

fn judge(opened: Opened<'_>, job: &Job, options: &Options, all: &[Chosen]) -> Vec<Report> {
    let Opened { evidence, mut trace, mut source, logs } = opened;
    let observe =
        || all.iter().map(|chosen| Observation::new(&chosen.model, &options.secrets)).collect::<Vec<_>>();
    let observations = source.watch(observe, &mut trace);
    let testimonies = testimonies(job, options, all, &logs, &mut trace);
    let health = discover::health(job);
    let name = trace.deployment.clone().or_else(|| job.trace.as_ref().map(|trace| trace.shown.clone()));
    let name = name.unwrap_or_else(|| "(no deployment)".to_owned());
    let report =
        |((observation, chosen), testimonies): ((&Observation<'_>, &Chosen), &Vec<Testimony<'_>>)| {
            let sequence = match (source.execution(), &chosen.graph) {
                (Some(execution), Some((graph, digest))) if execution.whole => {
                    Some(sequence::check(execution, graph, digest.as_deref()))
                }
                _ => None,
            };
            let mut evidence = evidence.clone();
            discover::artifacts(job, options, &chosen.model, &mut evidence);
            if !health.checks.is_empty() || health.failed.is_some() {
                // Results are the artifact of the tests, whatever their file is called.
                evidence.present.insert(discover::TESTS_FILE.to_owned());
            }
            let conformance = conformance::judge(observation);
            let facts = Facts {
                observation,
                conformance: &conformance,
                sequence: sequence.as_ref(),
                trace: &trace,
                health: &health,
                evidence: &evidence,
                testimonies,
                folder: job.folder.as_ref().map_or("", |folder| folder.shown.as_str()),
                model_problem: chosen.problem.as_ref(),
                min_events: options.min_events,
                state_map: options.state_map.file(),
                head: options.trace_head.as_deref(),
            };
            let findings = findings::all(&facts);
            Report::new(&name, &facts, findings, chosen.used.clone(), &options.secrets)
        };
    observations.iter().zip(all).zip(&testimonies).map(report).collect()
}

/// Had a state happened, a log of this format would show it: some skill, agent or tool stands for it.
fn shows(format: TraceFormat, options: &Options, chosen: &Chosen, state: usize) -> bool {
    format.has_map() && options.state_map.brings_about(chosen.model.name(state))
}

/// What the logs of the harness say, for each model.
fn testimonies<'m>(
    job: &Job,
    options: &Options,
    all: &'m [Chosen],
    logs: &[(Named, TraceFormat)],
    trace: &mut TraceFacts,
) -> Vec<Vec<Testimony<'m>>> {
    let mut by_model: Vec<Vec<Testimony<'_>>> = all.iter().map(|_| Vec::new()).collect();
    for (file, format) in logs {
        let mut watch: Vec<Witness<'_>> = all.iter().map(|chosen| Witness::new(&chosen.model)).collect();
        let Some((reading, digest)) = source::read_log(job, file, *format, options, &mut watch) else {
            trace.others.push(file.shown.clone());
            continue;
        };
        // A log that shows nothing of the process may be another session's: it is a further trace, like those that are not
        // read. Copilot's names are git-ape's own, so there any event is enough.
        let of_process = |(witness, chosen): (&Witness<'_>, &Chosen)| {
            let shown = (0..chosen.model.states()).any(|state| shows(*format, options, chosen, state));
            witness.saw_any() || (*format == TraceFormat::CopilotEvents && shown && witness.events() > 0)
        };
        if !watch.iter().zip(all).any(of_process) {
            trace.others.push(file.shown.clone());
            continue;
        }
        for (witness, (chosen, own)) in watch.into_iter().zip(all.iter().zip(&mut by_model)) {
            // Whether telemetry covers the process at all, only its spans tell.
            let would_show = |state: usize| match format.has_map() {
                true => shows(*format, options, chosen, state),
                false => witness.saw_any(),
            };
            let testimony = Testimony {
                file: file.shown.clone(),
                format: *format,
                digest: digest.clone(),
                reading: reading.clone(),
                would_show: (0..chosen.model.states()).map(would_show).collect(),
                witness,
            };
            own.push(testimony);
        }
    }
    by_model
}

/// The deployment that a folder is of: what its files say, else its name.
pub(super) fn deployment_id(job: &Job, said: Option<&str>) -> Option<String> {
    let folder = job.folder.as_ref()?;
    if let Some(id) = said {
        return Some(id.to_owned());
    }
    let real = job.workspace.resolve(&folder.path).unwrap_or_else(|_| folder.path.clone());
    real.file_name().map(|name| name.to_string_lossy().into_owned())
}

fn override_model(model: &mut Model, options: &Options) -> Vec<Message> {
    let mut warnings = Vec::new();
    if let Some(name) = &options.deployment_state
        && !model.set_deployment(name)
    {
        warnings.push(Message::new(
            "the deployment state {} is no state of the model; the model's own is used",
            &[name],
        ));
    }
    if let Some(name) = &options.terminal_state
        && !model.set_terminal(name)
    {
        warnings.push(Message::new(
            "the terminal state {} is no state of the model; the model's own is used",
            &[name],
        ));
    }
    if let Some(threshold) = options.threshold {
        model.set_threshold(threshold);
    }
    warnings
}
