//! Recording: one event is appended to the trace of a deployment.

use std::path::{Component, Path, PathBuf};

use super::check::deployment_id;
use super::choose;
use super::discover::{self, TRACE_FILE};
use super::job::{Job, Named, Options};
use crate::evidence::Mode;
use crate::message::{Message, near, some};
use crate::report::ModelSource;
use crate::runner::append::append_inside;
use crate::secrets::Secrets;
use crate::settings::Recorder;
use crate::trace::chain::{self, Position};
use crate::trace::write::NewEvent;
use crate::trace::{ERROR_STATE, Status};
use crate::workspace::Workspace;

pub(super) mod command;
pub(super) mod step;

/// What is to be recorded.
#[derive(Debug, Default)]
struct Request {
    state: String,
    status: String,
    stage: Option<String>,
    message: Option<String>,
    /// Names of files in the folder.
    evidence: Vec<String>,
    new_state: bool,
    deployment: Option<String>,
    recorder: Recorder,
    secrets: Secrets,
}

/// What was recorded.
#[derive(Debug)]
struct Recorded {
    file: Named,
    /// The digest of the line, to which the next one is chained.
    head: String,
    /// A model that could not be used.
    warning: Option<Message>,
}

/// Appends the event. `now` is asked once the file is locked, so that times do not go back.
fn record(
    job: &Job,
    folder: &Named,
    request: &Request,
    now: impl FnOnce() -> String,
) -> Result<Recorded, Message> {
    if Status::of_word(&request.status).is_none() {
        let text = "{} is no word for a status; use completed, failed, blocked, skipped, started or error";
        return Err(Message::new(text, &[&request.status]));
    }
    if request.secrets.blank(&request.state) != request.state {
        return Err(Message::new("the state looks like a secret; name a state", &[]));
    }
    let warning = known(job, request)?;
    for name in &request.evidence {
        let inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        if name.is_empty() || !inside {
            let text = "the artifact {} cannot be named: it is no file of the deployment folder";
            return Err(Message::new(text, &[name]));
        }
        // Only its presence counts, whatever its size.
        let found = job.workspace.open(&folder.join(name).path, u64::MAX);
        if let Err(refusal) = found {
            let text =
                format!("the artifact {{}} cannot be named: {refusal}; write it before it is recorded");
            return Err(Message::new(&text, &[name]));
        }
    }
    let said = discover::documents(job, &Options { evidence: Mode::Off, ..Options::default() });
    let deployment = request.deployment.clone().or_else(|| deployment_id(job, said.deployment_id()));
    let file = folder.join(TRACE_FILE);
    let mut head = String::new();
    // Nobody masks a secret in a file that is committed or uploaded.
    let blank = |text: &Option<String>| text.as_deref().map(|text| request.secrets.blank(text));
    let line = |before: &[u8]| {
        let event = NewEvent {
            timestamp: now(),
            state: request.state.clone(),
            status: request.status.clone(),
            stage: blank(&request.stage),
            actor: blank(&request.recorder.actor),
            producer: request.recorder.producer.clone(),
            deployment_id: deployment,
            run_id: request.recorder.run.clone(),
            message: blank(&request.message),
            evidence: request.evidence.clone(),
        };
        let line = event.line(before);
        head = chain::link(chain::content(line.as_bytes(), Position::Later));
        line
    };
    match append_inside(&job.workspace, &file.path, line) {
        Ok(_) => Ok(Recorded { file, head, warning }),
        Err(error) => {
            Err(Message::new(&format!("the event cannot be appended to {{}}: {error}"), &[&file.shown]))
        }
    }
}

/// Refuses a state that the model does not know: a name with a slip would never cover anything. Gives what was wrong with a
/// model that was found, but not named.
fn known(job: &Job, request: &Request) -> Result<Option<Message>, Message> {
    if request.state.is_empty() {
        return Err(Message::new("the state is empty; name one", &[]));
    }
    let chosen = choose::choose(job, None).map_err(|error| Message::new(&error.to_string(), &[]))?;
    let problem = chosen.problem.as_ref().map(|problem| {
        Message::new("the model {} cannot be used: {}", &[&problem.file, &problem.error.to_string()])
    });
    if let (Some(problem), true) = (&problem, job.model.is_some()) {
        return Err(problem.clone());
    }
    let model = &chosen.model;
    let mut names: Vec<&str> = (0..model.states()).map(|state| model.name(state)).collect();
    let built_in = crate::trace::state_map::StateMap::default();
    if chosen.used.source == ModelSource::BuiltIn {
        // The checklist is the least of what git-ape does.
        names.extend(built_in.states().filter(|state| model.find(state).is_none()));
    }
    let state = request.state.as_str();
    if request.new_state || state == ERROR_STATE || names.contains(&state) {
        return Ok(problem);
    }
    let whose = match &chosen.used.path {
        Some(path) => Message::new("{} is no state of the model {}", &[state, path]),
        None => Message::new("{} is no state of the built-in model", &[state]),
    };
    let near = near(state, names.iter().copied());
    let remedy =
        if near.is_empty() { some("; it knows {}", &names) } else { some("; did you mean {}", &near) };
    Err(whose.and(remedy).and(Message::new(". A state of your own needs --new-state (input new-state)", &[])))
}

/// What is said of it.
fn words(request: &Request, recorded: &Recorded) -> String {
    let Recorded { file, head, .. } = recorded;
    format!("recorded {} ({}) in {}; head of the chain {head}", request.state, request.status, file.shown)
}

/// The job of a check of the deployment: its model says which states are known.
fn job(workspace: Workspace, named: Workspace, folder: Named, model: Option<Named>) -> Job {
    Job { workspace, named, folder: Some(folder), trace: None, model, tests: None }
}

/// The nearest folder on the way to a path that is there.
fn existing(path: &Path) -> PathBuf {
    path.ancestors().find(|part| part.is_dir()).unwrap_or(Path::new("/")).to_owned()
}
