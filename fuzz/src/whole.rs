//! The whole of a check but for the file system: trace, results, claim, model and gate in, every output out.

use process_integrity::conformance::{self, Observation, sequence};
use process_integrity::digest::digest;
use process_integrity::evidence::{Document, Evidence, Gate, Record};
use process_integrity::findings::{self, Facts, ModelProblem, TraceFacts};
use process_integrity::health::{Health, HealthStatus, junit, results};
use process_integrity::model::graph::Graph;
use process_integrity::model::{Model, built_in, dominator};
use process_integrity::report::json::Layout;
use process_integrity::report::junit as junit_report;
use process_integrity::report::markdown::{self, Context};
use process_integrity::report::terminal::{self, Colour};
use process_integrity::report::{ModelSource, ModelUsed, Report, annotations, json, sarif};
use process_integrity::secrets::Secrets;
use process_integrity::trace::git_ape::{self, Execution};
use process_integrity::trace::run::{Admission, Pick, RunFilter};
use process_integrity::trace::state_map::StateMap;
use process_integrity::trace::{Event, TraceFormat, sniff};
use process_integrity::verdict::Verdict;

/// Stands between the parts of an input: trace, results, state file, model, gate file. JSON allows it nowhere.
pub const SEPARATOR: u8 = 0x1e;

/// Bytes of a comment that must be enough for any report.
const ROOM: usize = 60_000;

struct Input<'a> {
    trace: &'a [u8],
    tests: &'a [u8],
    state: &'a [u8],
    model: &'a [u8],
    gate: &'a [u8],
}

impl<'a> Input<'a> {
    fn of(data: &'a [u8]) -> Self {
        let mut parts = data.split(|byte| *byte == SEPARATOR);
        let mut next = || parts.next().unwrap_or_default();
        Self { trace: next(), tests: next(), state: next(), model: next(), gate: next() }
    }
}

/// A report in every form.
#[derive(Debug, PartialEq)]
struct Outputs {
    pretty: String,
    line: String,
    markdown: String,
    comment: String,
    terminal: String,
    annotations: String,
    junit: String,
}

/// A whole check.
pub fn check(data: &[u8]) {
    let input = Input::of(data);
    let (report, outputs) = run(&input);
    let (_, again) = run(&input);
    assert_eq!(outputs, again, "the same input gives other bytes");
    if report.verdict == Verdict::VerifiedSuccess {
        assert_eq!(report.health, HealthStatus::Healthy);
        assert_eq!(report.unreadable, 0, "damage is verified");
        assert!(report.coverage.passes());
        assert!(report.deployment_attempted || report.events > 0);
    }
    assert_json(&report, &outputs);
    assert_texts(&outputs);
    assert_dashboards(&report, &outputs);
}

/// What only dashboards read says that something is wrong where, and only where, the verdict does.
fn assert_dashboards(report: &Report, outputs: &Outputs) {
    let wrong = report.verdict != Verdict::VerifiedSuccess;
    let log = sarif::render(std::slice::from_ref(report), |file| Some(file.to_owned()));
    // Before the results every log has the same rules, which take longer to look at than most inputs.
    let (_, results) = log.split_once("\n      \"results\": [").unwrap_or_default();
    let above = ["error", "warning"]
        .iter()
        .any(|level| results.contains(&format!("\n          \"level\": \"{level}\"")));
    assert_eq!(above, wrong, "{results}");
    let read = junit::read([("junit.xml", outputs.junit.as_bytes())]);
    assert_eq!(read.status == HealthStatus::Unhealthy, wrong, "{}", outputs.junit);
    for text in [results, &outputs.junit].into_iter() {
        let hidden = text.chars().find(|c| is_hidden(*c));
        assert_eq!(hidden, None, "a hidden character in: {text}");
        assert!(!text.contains("##["), "a command of the runner in: {text}");
    }
}

fn assert_json(report: &Report, outputs: &Outputs) {
    let pretty: serde_json::Value = serde_json::from_str(&outputs.pretty).unwrap_or_default();
    let line: serde_json::Value = serde_json::from_str(&outputs.line).unwrap_or_default();
    assert!(pretty.is_object() && pretty == line, "{}", outputs.pretty);
    assert_eq!(outputs.line.find('\n'), Some(outputs.line.len() - 1), "more than one line");
    assert_eq!(pretty["verdict"], report.verdict.id());
    assert_eq!(pretty["trace"]["unreadable"], report.unreadable);
    let hidden = |c: char| c.is_control() && c != '\n';
    assert!(!outputs.pretty.contains(hidden) && !outputs.pretty.contains("##["));
}

fn assert_texts(outputs: &Outputs) {
    for line in outputs.annotations.split_terminator('\n') {
        let is_ours = ["error", "warning", "notice"].iter().any(|level| {
            line.strip_prefix("::").and_then(|line| line.strip_prefix(*level)).is_some_and(|line| {
                // One property list, closed by the first `::`, in which nothing of a file can end it earlier.
                line.starts_with(" title=Process Integrity")
            })
        });
        assert!(is_ours, "no annotation of ours: {line}");
    }
    for text in [&outputs.annotations, &outputs.terminal, &outputs.markdown, &outputs.comment].into_iter() {
        let hidden = text.chars().find(|c| is_hidden(*c));
        assert_eq!(hidden, None, "a hidden character in: {text}");
        assert!(!text.contains("##["), "a command of the runner in: {text}");
    }
    for line in outputs.terminal.lines() {
        assert!(!line.trim_start().starts_with("::"), "a command of the runner: {line}");
    }
    assert!(outputs.comment.len() <= ROOM, "{} bytes", outputs.comment.len());
}

/// What turns or hides the text around it, but for line breaks.
fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c,
            '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The model of an input: its own, where it has a good one, else a built-in one.
struct Chosen {
    model: Model,
    graph: Option<Graph>,
    problem: Option<ModelProblem>,
    source: ModelSource,
}

fn choose(bytes: &[u8], is_document: bool) -> Option<Chosen> {
    let mut problem = None;
    if !bytes.is_empty() {
        let graph = Graph::parse(bytes).ok();
        let own = match graph.as_ref().map(Graph::model) {
            Some(model) => model,
            None => dominator::parse(bytes),
        };
        match own {
            Ok(model) => return Some(Chosen { model, graph, problem, source: ModelSource::Explicit }),
            Err(error) => problem = Some(ModelProblem { file: "model.json".to_owned(), error }),
        }
    }
    if is_document {
        let graph = built_in::deploy_graph().ok()?;
        let model = graph.model().ok()?;
        return Some(Chosen { model, graph: Some(graph), problem, source: ModelSource::BuiltIn });
    }
    let model = built_in::checklist().ok()?;
    Some(Chosen { model, graph: None, problem, source: ModelSource::BuiltIn })
}

fn document<T>(bytes: &[u8], read: impl Fn(&serde_json::Value) -> Result<T, String>) -> Document<T> {
    if bytes.is_empty() { Document::Absent } else { Document::of_bytes(bytes, read) }
}

fn health(bytes: &[u8]) -> Health {
    if bytes.is_empty() {
        Health::absent("there are no results")
    } else if bytes.trim_ascii_start().starts_with(b"<") {
        junit::read([("junit.xml", bytes)])
    } else {
        results::read(bytes)
    }
}

fn run(input: &Input<'_>) -> (Report, Outputs) {
    // Its expressions take longer to build than most inputs to check.
    static SECRETS: std::sync::LazyLock<Secrets> = std::sync::LazyLock::new(Secrets::default);
    let format = sniff::sniff(input.trace).unwrap_or(TraceFormat::GitApeJsonl);
    let execution = (format == TraceFormat::GitApeV1).then(|| git_ape::read(input.trace));
    let chosen = choose(input.model, execution.is_some());
    let chosen = chosen.unwrap_or_else(|| unreachable!("the built-in models are good"));
    let evidence = Evidence {
        gate: document(input.gate, Gate::read),
        state: document(input.state, Record::read),
        ..Evidence::default()
    };
    let deployment = evidence.deployment_id().map(str::to_owned);
    let mut trace = TraceFacts {
        file: Some("trace.jsonl".to_owned()),
        format: Some(format),
        digest: Some(digest(input.trace)),
        deployment: deployment.clone(),
        ..TraceFacts::default()
    };
    let observation = match &execution {
        Some(execution) => of_document(execution, &chosen.model, &SECRETS, &mut trace),
        None => {
            let (observation, last) =
                of_stream(input.trace, format, &chosen.model, &SECRETS, Pick::First, &mut trace);
            match last {
                Some(last) => {
                    let mut again = trace.clone();
                    of_stream(input.trace, format, &chosen.model, &SECRETS, Pick::Run(last), &mut again).0
                }
                None => observation,
            }
        }
    };
    let sequence = match (&execution, &chosen.graph) {
        (Some(execution), Some(graph)) if execution.whole => {
            Some(sequence::check(execution, graph, execution.graph_digest.as_deref()))
        }
        _ => None,
    };
    let conformance = conformance::judge(&observation);
    let health = health(input.tests);
    let facts = Facts {
        observation: &observation,
        conformance: &conformance,
        sequence: sequence.as_ref(),
        trace: &trace,
        health: &health,
        evidence: &evidence,
        testimonies: &[],
        folder: ".azure/deployments/d",
        model_problem: chosen.problem.as_ref(),
        min_events: findings::MIN_EVENTS,
        state_map: None,
        head: None,
    };
    let found = findings::all(&facts);
    let used = ModelUsed { source: chosen.source, path: None, digest: digest(input.model) };
    let name = deployment.unwrap_or_else(|| "deploy-1".to_owned());
    let report = Report::new(&name, &facts, found, used, &SECRETS);
    let context = Context::default();
    let outputs = Outputs {
        pretty: json::render(&report, Layout::Pretty),
        line: json::render(&report, Layout::Line),
        markdown: markdown::render(&report, &context),
        comment: markdown::render_within(&report, &context, ROOM),
        terminal: terminal::render(&report, Colour::Off),
        annotations: annotations::render(&report),
        junit: junit_report::render(std::slice::from_ref(&report)),
    };
    (report, outputs)
}

fn of_document<'m>(
    execution: &Execution,
    model: &'m Model,
    secrets: &'m Secrets,
    trace: &mut TraceFacts,
) -> Observation<'m> {
    let mut observation = Observation::new(model, secrets);
    for entry in &execution.entries {
        observation.clock.tick_at(entry.time, entry.place);
        if let Some(event) = entry.event() {
            observation.observe(&event);
        }
    }
    trace.all_events = execution.entries.len() as u64;
    trace.outcome.clone_from(&execution.outcome);
    trace.reading = execution.reading.clone();
    observation
}

fn of_stream<'m>(
    bytes: &[u8],
    format: TraceFormat,
    model: &'m Model,
    secrets: &'m Secrets,
    pick: Pick,
    trace: &mut TraceFacts,
) -> (Observation<'m>, Option<String>) {
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
    let states = StateMap::default();
    let format = if format == TraceFormat::GitApeV1 { TraceFormat::GitApeJsonl } else { format };
    trace.reading = format.read(bytes, &states, &mut sink);
    trace.all_events = all;
    trace.runs = filter.runs();
    let (count, first) = filter.foreign();
    trace.foreign = (count, first.cloned());
    let last = filter.last().map(str::to_owned);
    (observation, last)
}
