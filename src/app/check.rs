//! One deployment: read everything, choose the model, judge, report.

use std::io::{BufRead, Read};

use super::discover;
use super::job::{Job, Named, Options};
use crate::conformance::{self, Observation, sequence};
use crate::digest::digest;
use crate::findings::{self, Facts, ModelProblem, TraceFacts};
use crate::message::Message;
use crate::model::graph::Graph;
use crate::model::{Model, ModelError, built_in, dominator, graph};
use crate::report::{ModelSource, ModelUsed, Report};
use crate::secrets::Secrets;
use crate::trace::git_ape::{self, Execution};
use crate::trace::run::{Admission, Pick, RunFilter};
use crate::trace::{Event, Reading, TraceFormat, copilot, jsonl, otlp, sniff};
use crate::workspace::{Refusal, Stream, TRACE_CAP};

/// Where a workspace keeps the model that was learned for it.
const BASELINE: &str = ".azure/baselines/default/dominator-model.json";
/// Where a deployment folder keeps execution graphs.
const GRAPHS_FOLDER: &str = "execution-graphs";
/// Where older deployment folders keep theirs.
const GRAPH_FILE: &str = "execution-graph.json";

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
    let mut evidence = discover::documents(job, options.evidence);
    let deployment = deployment_id(job, evidence.deployment_id());
    let traces = discover::traces(job);
    let mut trace = TraceFacts {
        absent: traces.absent,
        others: traces.others,
        unreadable_others: traces.unreadable_others,
        deployment: deployment.clone(),
        ..TraceFacts::default()
    };
    let mut source = Source::open(job, traces.chosen, options, &mut trace);
    let chosen = choose_model(job, source.execution())?;
    let mut model = chosen.model;
    let warnings = override_model(&mut model, options);
    discover::artifacts(job, &model, &mut evidence);
    let observation = source.observe(&model, &options.secrets, &mut trace);
    let sequence = match (source.execution(), &chosen.graph) {
        (Some(execution), Some((graph, digest))) if execution.whole => {
            Some(sequence::check(execution, graph, digest.as_deref()))
        }
        _ => None,
    };
    let conformance = conformance::judge(&observation);
    let health = discover::health(job);
    if !health.checks.is_empty() || health.failed.is_some() {
        // Results are the artifact of the tests, whatever their file is called.
        evidence.present.insert(discover::TESTS_FILE.to_owned());
    }
    let facts = Facts {
        observation: &observation,
        conformance: &conformance,
        sequence: sequence.as_ref(),
        trace: &trace,
        health: &health,
        evidence: &evidence,
        folder: job.folder.as_ref().map_or("", |folder| folder.shown.as_str()),
        model_problem: chosen.problem.as_ref(),
        min_events: options.min_events,
    };
    let findings = findings::all(&facts);
    let name = deployment.or_else(|| job.trace.as_ref().map(|trace| trace.shown.clone()));
    let name = name.unwrap_or_else(|| "(no deployment)".to_owned());
    let report = Report::new(&name, &facts, findings, chosen.used, &options.secrets);
    Ok(Checked { report, warnings })
}

/// The deployment that a folder is of: what its files say, else its name.
fn deployment_id(job: &Job, said: Option<&str>) -> Option<String> {
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

/// A trace that is to be read.
enum Source<'a> {
    None,
    /// A document that was read already, since it says which graph it is bound to.
    Document(Box<Execution>),
    /// A stream of events, read for a given model.
    Stream {
        job: &'a Job,
        file: Named,
        format: TraceFormat,
        options: &'a Options,
    },
}

impl<'a> Source<'a> {
    fn open(job: &'a Job, chosen: Option<Named>, options: &'a Options, trace: &mut TraceFacts) -> Self {
        let Some(file) = chosen else { return Self::None };
        let Some(mut input) = open(job, &file) else {
            trace.absent = Some(format!("{}: it cannot be opened", file.shown));
            return Self::None;
        };
        trace.file = Some(file.shown.clone());
        let traces = job.folder.as_ref().map(|folder| folder.join(discover::TRACES_FOLDER).path);
        let in_traces = traces.is_some_and(|traces| file.path.parent() == Some(traces.as_path()));
        let head = input.fill_buf().unwrap_or_default();
        let format = match sniff::sniff(head) {
            // What lies in git-ape's own folder is one document, whatever stands on a line of it.
            Some(TraceFormat::GitApeJsonl) | None if in_traces && job.trace.is_none() => {
                TraceFormat::GitApeV1
            }
            Some(format) => format,
            // A file whose content tells nothing is what its name says.
            None if job.trace.is_some() => TraceFormat::GitApeJsonl,
            None if file.shown.ends_with(discover::OTLP_ENDING) => TraceFormat::Otlp,
            None if file.shown.ends_with(discover::EVENTS_FILE) => TraceFormat::CopilotEvents,
            None => TraceFormat::GitApeJsonl,
        };
        trace.format = Some(format);
        if format != TraceFormat::GitApeV1 {
            return Self::Stream { job, file, format, options };
        }
        let execution = git_ape::read(&mut input);
        trace.digest = Some(input.into_inner().finish());
        trace.outcome.clone_from(&execution.outcome);
        trace.reading = execution.reading.clone();
        Self::Document(Box::new(execution))
    }

    fn execution(&self) -> Option<&Execution> {
        match self {
            Self::Document(execution) => Some(execution),
            Self::None | Self::Stream { .. } => None,
        }
    }

    fn observe<'m>(
        &mut self,
        model: &'m Model,
        secrets: &'m Secrets,
        trace: &mut TraceFacts,
    ) -> Observation<'m> {
        match self {
            Self::None => Observation::new(model, secrets),
            Self::Document(execution) => {
                let mut observation = Observation::new(model, secrets);
                for entry in &execution.entries {
                    observation.clock.tick_at(entry.time, entry.place);
                    if let Some(event) = entry.event() {
                        observation.observe(&event);
                    }
                }
                trace.all_events = execution.entries.len() as u64;
                observation
            }
            Self::Stream { job, file, format, options } => {
                let first = read_run(job, file, *format, options, (model, secrets), Pick::First, trace);
                let Some((observation, last)) = first else { return Observation::new(model, secrets) };
                let Some(last) = last else { return observation };
                // The last run is another than the first: only now is its id known.
                let mut again = TraceFacts { deployment: trace.deployment.clone(), ..TraceFacts::default() };
                let second =
                    read_run(job, file, *format, options, (model, secrets), Pick::Run(last), &mut again);
                second.map_or(observation, |(observation, _)| observation)
            }
        }
    }
}

fn open(job: &Job, file: &Named) -> Option<Stream> {
    let scope = if job.trace.as_ref() == Some(file) { &job.named } else { &job.workspace };
    scope.stream(&file.path).ok()
}

/// Reads a file once, observing one run of it. Gives the run that must be judged instead, if it is another one.
fn read_run<'m>(
    job: &Job,
    file: &Named,
    format: TraceFormat,
    options: &Options,
    (model, secrets): (&'m Model, &'m Secrets),
    pick: Pick,
    trace: &mut TraceFacts,
) -> Option<(Observation<'m>, Option<String>)> {
    let mut input = open(job, file)?;
    let mut observation = Observation::new(model, secrets);
    let mut filter = RunFilter::new(trace.deployment.clone(), pick);
    let mut all = 0;
    let mut sink = |event: Event<'_>| {
        all += 1;
        if filter.admit(&event) == Admission::Judged {
            observation.clock.tick(&event);
            observation.observe(&event);
        }
    };
    // A file that grows while it is read is read to the cap only.
    let mut capped = (&mut input).take(TRACE_CAP);
    trace.reading = match format {
        TraceFormat::GitApeJsonl => jsonl::read(&mut capped, &mut sink),
        TraceFormat::Otlp => otlp::read(&mut capped, &options.state_map, &mut sink),
        TraceFormat::CopilotEvents => copilot::read(&mut capped, &options.state_map, &mut sink),
        TraceFormat::GitApeV1 => Reading::default(),
    };
    trace.all_events = all;
    trace.digest = Some(input.into_inner().finish());
    trace.runs = filter.runs();
    let (count, first) = filter.foreign();
    trace.foreign = (count, first.cloned());
    let last = filter.last().map(str::to_owned);
    Some((observation, last))
}

/// The model that is used, and the graph whose codes are reported.
struct Chosen {
    model: Model,
    used: ModelUsed,
    problem: Option<ModelProblem>,
    /// With the digest of its file, where it has one.
    graph: Option<(Graph, Option<String>)>,
}

/// The named model; for a v1 trace the graph beside it; else the baseline of the workspace; else the built-in one.
fn choose_model(job: &Job, execution: Option<&Execution>) -> Result<Chosen, ModelError> {
    let (graph, mut problem) = match execution {
        Some(execution) => beside(job, execution),
        None => (None, None),
    };
    if let Some(named) = &job.model {
        let read = job
            .named
            .read(&named.path)
            .map_err(|refusal| ModelError { pointer: String::new(), reason: refusal.to_string() });
        match read.and_then(|bytes| parse(&bytes).map(|parsed| (parsed, digest(&bytes)))) {
            Ok((parsed, digest)) => {
                let used =
                    ModelUsed { source: ModelSource::Explicit, path: Some(named.shown.clone()), digest };
                let own = parsed.graph.map(|graph| (graph, Some(used.digest.clone())));
                let graph = match (own, execution) {
                    (_, None) => None,
                    (Some(own), Some(_)) => Some(own),
                    (None, Some(_)) => Some(match graph {
                        Some(beside) => (beside.graph, Some(beside.used.digest)),
                        None => (built_in::deploy_graph()?, None),
                    }),
                };
                return Ok(Chosen { model: parsed.model, used, problem, graph });
            }
            Err(error) => problem = Some(ModelProblem { file: named.shown.clone(), error }),
        }
    } else if let Some(beside) = graph {
        let graph = Some((beside.graph, Some(beside.used.digest.clone())));
        return Ok(Chosen { model: beside.model, used: beside.used, problem, graph });
    }
    let built_in =
        |text: &str| ModelUsed { source: ModelSource::BuiltIn, path: None, digest: digest(text.as_bytes()) };
    if execution.is_some() {
        let graph = built_in::deploy_graph()?;
        let used = built_in(built_in::DEPLOY_GRAPH);
        return Ok(Chosen { model: graph.model()?, used, problem, graph: Some((graph, None)) });
    }
    if job.model.is_none() {
        let file = Named { shown: BASELINE.to_owned(), path: job.workspace.root().join(BASELINE) };
        match job.workspace.read(&file.path) {
            Ok(bytes) => match dominator::parse(&bytes) {
                Ok(model) => {
                    let used = ModelUsed {
                        source: ModelSource::Baseline,
                        path: Some(file.shown),
                        digest: digest(&bytes),
                    };
                    return Ok(Chosen { model, used, problem, graph: None });
                }
                Err(error) => problem = Some(ModelProblem { file: file.shown, error }),
            },
            Err(Refusal::Absent) => {}
            Err(refusal) => {
                let error = ModelError { pointer: String::new(), reason: refusal.to_string() };
                problem = Some(ModelProblem { file: file.shown, error });
            }
        }
    }
    Ok(Chosen { model: built_in::checklist()?, used: built_in(built_in::CHECKLIST), problem, graph: None })
}

/// A named model: a dominator model, or an execution graph as one.
struct Parsed {
    model: Model,
    graph: Option<Graph>,
}

fn parse(bytes: &[u8]) -> Result<Parsed, ModelError> {
    let is_graph = crate::json::parse(bytes)
        .is_ok_and(|document| document.get("schemaVersion").and_then(|v| v.as_str()) == Some(graph::SCHEMA));
    if is_graph {
        let graph = Graph::parse(bytes)?;
        return Ok(Parsed { model: graph.model()?, graph: Some(graph) });
    }
    Ok(Parsed { model: dominator::parse(bytes)?, graph: None })
}

/// A graph beside the trace.
struct Beside {
    graph: Graph,
    model: Model,
    used: ModelUsed,
}

/// The graph that a v1 trace is bound to: by digest, else by the file name that it gives, else `execution-graph.json`.
fn beside(job: &Job, execution: &Execution) -> (Option<Beside>, Option<ModelProblem>) {
    let Some(folder) = &job.folder else { return (None, None) };
    let graphs = folder.join(GRAPHS_FOLDER);
    let names = job.workspace.list(&graphs.path, |name| name.ends_with(".json"));
    let mut chosen: Option<(Named, Vec<u8>)> = None;
    let by_digest = names.iter().map(|name| graphs.join(name)).find_map(|file| {
        let bytes = job.workspace.read(&file.path).ok()?;
        (execution.graph_digest.as_deref() == Some(digest(&bytes).as_str())).then_some((file, bytes))
    });
    let by_name = || {
        let name = execution.graph_path.as_deref().and_then(|path| path.rsplit(['/', '\\']).next());
        name.filter(|name| names.iter().any(|other| other == name)).map(|name| graphs.join(name))
    };
    let mut problem = None;
    if by_digest.is_some() {
        chosen = by_digest;
    } else {
        for file in by_name().into_iter().chain([folder.join(GRAPH_FILE)]) {
            match job.workspace.read(&file.path) {
                Ok(bytes) => {
                    chosen = Some((file, bytes));
                    break;
                }
                Err(Refusal::Absent) => {}
                Err(refusal) => {
                    let error = ModelError { pointer: String::new(), reason: refusal.to_string() };
                    problem = Some(ModelProblem { file: file.shown, error });
                    break;
                }
            }
        }
    }
    let Some((file, bytes)) = chosen else { return (None, problem) };
    let used = ModelUsed {
        source: ModelSource::BesideTrace,
        path: Some(file.shown.clone()),
        digest: digest(&bytes),
    };
    match Graph::parse(&bytes).and_then(|graph| graph.model().map(|model| (graph, model))) {
        Ok((graph, model)) => (Some(Beside { graph, model, used }), problem),
        Err(error) => (None, Some(ModelProblem { file: file.shown, error })),
    }
}
