//! The action in mode `record`: one event, with the run and the workflow that the runner tells.

use std::path::Path;

use super::{Recorded, Request, job, record};
use crate::app::folders::{is_glob, name};
use crate::app::step;
use crate::app::time::{Precision, now};
use crate::app::troubles::Troubles;
use crate::message::Message;
use crate::runner;
use crate::settings::Settings;

const TITLE: &str = "Process Integrity: record";
/// Troubles that are annotations: the runner keeps ten of a type.
const ANNOTATED: usize = 10;

/// Runs the step. Whatever happens is an annotation and the `status` output.
pub(in crate::app) fn run(settings: &Settings) {
    let mut troubles = Troubles(settings.warnings.clone());
    let recorded = step::attempt(&mut troubles, |troubles| append(settings, troubles));
    let (path, head) = recorded.map(|recorded| (recorded.file.shown, recorded.head)).unwrap_or_default();
    step::end(settings, TITLE, ANNOTATED, &troubles, vec![("trace-path", path), ("trace-head", head)]);
}

fn append(settings: &Settings, troubles: &mut Troubles) -> Option<Recorded> {
    let inputs = &settings.inputs;
    let workspace = step::workspace(settings, troubles)?;
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
