//! The action in mode `plan`: the plan goes into the workspace, the matrix is an output. The image has no git, so whoever wants
//! only what was changed asks git in a step before and hands the list over.

use std::path::Path;

use super::changes;
use super::command::{document, notes, told};
use super::find::find;
use crate::app::folders::name;
use crate::app::step;
use crate::app::troubles::Troubles;
use crate::plan::{FOLDERS, Plan};
use crate::report::annotations::{Annotation, Level};
use crate::runner;
use crate::settings::Settings;

const TITLE: &str = "Process Integrity: plan";
/// Troubles that are annotations: the runner keeps ten of a type.
const ANNOTATED: usize = 10;
/// Where the plan is written, where nobody says.
const FILE: &str = "process-integrity-plan.json";

/// What a step came to. Without a plan there is no matrix, not even an empty one: that would say that there is nothing to
/// validate.
#[derive(Default)]
struct Done {
    matrix: String,
    folders: String,
    path: String,
}

/// Runs the step. Whatever happens is an annotation and the `status` output.
pub(in crate::app) fn run(settings: &Settings) {
    let mut troubles = Troubles(settings.warnings.clone());
    let done = step::attempt(&mut troubles, |troubles| plan(settings, troubles)).unwrap_or_default();
    let values = vec![("matrix", done.matrix), ("folders-count", done.folders), ("plan-path", done.path)];
    step::end(settings, TITLE, ANNOTATED, &troubles, values);
}

fn plan(settings: &Settings, troubles: &mut Troubles) -> Option<Done> {
    let inputs = &settings.inputs;
    let workspace = step::workspace(settings, troubles)?;
    let mut changed = None;
    if let Some(path) = &inputs.changed_files_path {
        let bytes = workspace.read(&name(&workspace, Path::new(path)).path);
        match bytes.map_err(|refusal| refusal.to_string()).and_then(|bytes| changes::listed(&bytes)) {
            Ok(files) => changed = Some(files),
            Err(reason) => {
                troubles.add("nothing is planned: {} cannot be used: {}", &[path, &reason]);
                return None;
            }
        }
    }
    let default = [FOLDERS.to_owned()];
    let asked = if inputs.deployment_dir.is_empty() { &default[..] } else { &inputs.deployment_dir };
    let found = match find(&workspace, asked, changed.as_deref()) {
        Ok(found) => found,
        Err(reason) => {
            troubles.add("nothing is planned: {}", &[&reason]);
            return None;
        }
    };
    for (name, reason) in &found.absent {
        troubles.add(&format!("{{}} is not planned: {reason}"), &[name]);
    }
    let secrets = settings.secrets();
    for note in notes(&found) {
        runner::annotate(&Annotation::new(Level::Notice, TITLE, secrets.blank(&note)));
    }
    let plan = Plan::of(found.folders, inputs.shards.map(usize::from));
    let path = inputs.plan_path.as_deref().unwrap_or(FILE);
    let written = document(&plan).and_then(|text| {
        runner::write_inside(&workspace, Path::new(path), &text).map_err(|error| error.to_string())
    });
    if let Err(reason) = written {
        troubles.add("the plan cannot be written to {}: {}", &[path, &reason]);
        return None;
    }
    runner::annotate(&Annotation::new(Level::Notice, TITLE, told(&plan)));
    Some(Done { matrix: plan.matrix(), folders: plan.folders().to_string(), path: path.to_owned() })
}
