//! The action in mode `record`: one event, with the run and the workflow that the runner tells.

use std::path::Path;

use super::{Recorded, Request, job, record};
use crate::app::folders::{is_glob, name};
use crate::app::guard;
use crate::app::time::{Precision, now};
use crate::app::troubles::Troubles;
use crate::message::Message;
use crate::report::annotations::{Annotation, Level};
use crate::runner;
use crate::settings::Settings;
use crate::workspace::Workspace;

const TITLE: &str = "Process Integrity: record";

/// Runs the step. Whatever happens is an annotation and the `status` output.
pub(in crate::app) fn run(settings: &Settings) {
    let mut troubles = Troubles(settings.warnings.clone());
    let recorded = guard::isolated(|| append(settings, &mut troubles)).unwrap_or_else(|interruption| {
        troubles.add(interruption.reason(), &[]);
        None
    });
    let secrets = settings.secrets();
    let blank = |message: &Message| message.clone().map_quotes(|text| secrets.blank(text));
    let troubles = Troubles(troubles.0.iter().map(blank).collect());
    for trouble in &troubles.0 {
        runner::annotate(&Annotation::new(Level::Warning, TITLE, trouble.to_string()));
    }
    let (path, head) = recorded.map(|recorded| (recorded.file.shown, recorded.head)).unwrap_or_default();
    let values = [("trace-path", path), ("trace-head", head), ("status", troubles.status())];
    if let Some(file) = settings.output_file() {
        let _ = runner::outputs(&file, &values);
    }
}

fn append(settings: &Settings, troubles: &mut Troubles) -> Option<Recorded> {
    let inputs = &settings.inputs;
    let workspace = match Workspace::new(Path::new(&settings.runner.workspace)) {
        Ok(workspace) => workspace,
        Err(error) => {
            troubles
                .add(&format!("the workspace cannot be read ({error}); check out the repository first"), &[]);
            return None;
        }
    };
    let [folder] = inputs.deployment_dir.as_slice() else {
        troubles.add("nothing is recorded: name the one deployment folder in deployment-dir", &[]);
        return None;
    };
    if is_glob(&workspace, folder) {
        troubles.add("nothing is recorded: {} is a pattern; name the one deployment folder", &[folder]);
        return None;
    }
    let folder = name(&workspace, Path::new(folder));
    let request = Request {
        state: inputs.state.clone().unwrap_or_default(),
        status: inputs.status.clone().unwrap_or_else(|| "completed".to_owned()),
        stage: None,
        message: inputs.message.clone(),
        evidence: inputs.evidence_files.clone(),
        new_state: inputs.new_state,
        deployment: None,
        recorder: settings.recorder.clone(),
        secrets: settings.secrets(),
    };
    let model = inputs.model_path.as_deref().map(|path| name(&workspace, Path::new(path)));
    let job = job(workspace.clone(), workspace, folder.clone(), model);
    match record(&job, &folder, &request, || now(settings.source_date, Precision::Millis)) {
        Ok(recorded) => {
            troubles.0.extend(recorded.warning.clone());
            runner::say(&super::words(&request, &recorded));
            Some(recorded)
        }
        Err(message) => {
            troubles.0.push(Message::new("nothing is recorded: ", &[]).and(message));
            None
        }
    }
}
