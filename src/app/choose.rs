//! Which model a trace is judged by.

use super::job::{Job, Named};
use crate::digest::digest;
use crate::findings::ModelProblem;
use crate::model::graph::{self, Graph};
use crate::model::{Model, ModelError, built_in, dominator};
use crate::report::{ModelSource, ModelUsed};
use crate::trace::git_ape::Execution;
use crate::workspace::Refusal;

/// Where a workspace keeps the model that was learned for it.
pub(super) const BASELINE: &str = ".azure/baselines/default/dominator-model.json";
/// Where a deployment folder keeps execution graphs.
const GRAPHS_FOLDER: &str = "execution-graphs";
/// Where older deployment folders keep theirs.
const GRAPH_FILE: &str = "execution-graph.json";

/// The model that is used, and the graph whose codes are reported.
pub(super) struct Chosen {
    pub(super) model: Model,
    pub(super) used: ModelUsed,
    pub(super) problem: Option<ModelProblem>,
    /// With the digest of its file, where it has one.
    pub(super) graph: Option<(Graph, Option<String>)>,
}

/// The named model; for a v1 trace the graph beside it; else the baseline of the workspace; else the built-in one.
pub(super) fn choose(job: &Job, execution: Option<&Execution>) -> Result<Chosen, ModelError> {
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
                    (None, Some(_)) => Some(graph_of_codes(graph)?),
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

/// The model that is given, which has no file. The codes of an execution trace still come from its graph.
pub(super) fn given(model: &Model, job: &Job, execution: Option<&Execution>) -> Result<Chosen, ModelError> {
    let (graph, problem) = match execution {
        Some(execution) => {
            let (graph, problem) = beside(job, execution);
            (Some(graph_of_codes(graph)?), problem)
        }
        None => (None, None),
    };
    let used = ModelUsed { source: ModelSource::Explicit, path: None, digest: String::new() };
    Ok(Chosen { model: model.clone(), used, problem, graph })
}

/// The graph whose codes are reported where the model is a dominator model.
fn graph_of_codes(beside: Option<Beside>) -> Result<(Graph, Option<String>), ModelError> {
    Ok(match beside {
        Some(beside) => (beside.graph, Some(beside.used.digest)),
        None => (built_in::deploy_graph()?, None),
    })
}

/// A named model: a dominator model, or an execution graph as one.
pub(super) struct Parsed {
    pub(super) model: Model,
    graph: Option<Graph>,
}

/// Reads a model of either format.
pub(super) fn parse(bytes: &[u8]) -> Result<Parsed, ModelError> {
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
