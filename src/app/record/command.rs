//! `process-integrity record`.

use super::{Request, existing, job, record};
use crate::app::command::{Ending, places, workspace_of};
use crate::app::job::Named;
use crate::app::time::{Precision, now};
use crate::cli::Record;
use crate::runner;
use crate::secrets::Secrets;
use crate::settings::{Recorder, Terminal};

/// An empty text is as good as none: a variable that was not set.
fn given(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.is_empty())
}

/// Records one event.
pub(in crate::app) fn run(
    arguments: &Record,
    terminal: &Terminal,
    recorder: Recorder,
) -> Result<Ending, String> {
    let (here, everywhere) = places()?;
    let folder = Named::new(&arguments.dir, &here);
    let workspace = workspace_of(&existing(&folder.path), &here)
        .map_err(|error| format!("{} cannot be read: {error}; check its permissions", folder.shown))?;
    let model = arguments.model.as_deref().map(|path| Named::new(path, &here));
    let request = Request {
        state: arguments.state.clone(),
        status: arguments.status.clone(),
        stage: arguments.stage.clone(),
        message: arguments.message.clone(),
        evidence: arguments.evidence.clone(),
        new_state: arguments.new_state,
        deployment: given(&arguments.deployment_id),
        secrets: Secrets::default(),
        recorder: Recorder {
            run: given(&arguments.run_id).or(recorder.run),
            actor: given(&arguments.actor).or(recorder.actor),
            producer: recorder.producer,
        },
    };
    let job = job(workspace, everywhere, folder.clone(), model);
    let now = || now(terminal.source_date, Precision::Millis);
    let recorded = record(&job, &folder, &request, now).map_err(|message| message.to_string())?;
    if let Some(warning) = &recorded.warning {
        runner::complain(&format!("warning: {warning}"));
    }
    runner::say(&super::words(&request, &recorded));
    Ok(Ending::Verified)
}
