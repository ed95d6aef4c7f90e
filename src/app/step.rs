//! What every step of the action has in common, whatever its mode: its workspace, and its last words.

use std::path::Path;

use super::guard;
use super::troubles::Troubles;
use crate::message::Message;
use crate::report::annotations::{Annotation, Level};
use crate::runner;
use crate::settings::Settings;
use crate::workspace::Workspace;

/// The workspace of a step that cannot do anything without one.
pub(super) fn workspace(settings: &Settings, troubles: &mut Troubles) -> Option<Workspace> {
    match Workspace::new(Path::new(&settings.runner.workspace)) {
        Ok(workspace) => Some(workspace),
        Err(error) => {
            troubles
                .add(&format!("the workspace cannot be read ({error}); check out the repository first"), &[]);
            None
        }
    }
}

/// Does what the step is for. Whatever happens becomes a trouble.
pub(super) fn attempt<T>(
    troubles: &mut Troubles,
    work: impl FnOnce(&mut Troubles) -> Option<T>,
) -> Option<T> {
    guard::isolated(|| work(&mut *troubles)).unwrap_or_else(|interruption| {
        troubles.add(interruption.reason(), &[]);
        None
    })
}

/// Tells the troubles, the first of them as annotations, and writes the outputs with the `status` that they make.
pub(super) fn end(
    settings: &Settings,
    title: &str,
    annotated: usize,
    troubles: &Troubles,
    values: Vec<(&'static str, String)>,
) {
    let secrets = settings.secrets();
    let blank = |message: &Message| message.clone().map_quotes(|text| secrets.blank(text));
    let troubles = Troubles(troubles.0.iter().map(blank).collect());
    for (at, trouble) in troubles.0.iter().enumerate() {
        if at < annotated {
            runner::annotate(&Annotation::new(Level::Warning, title, trouble.to_string()));
        } else {
            runner::complain(&format!("warning: {trouble}"));
        }
    }
    let values: Vec<_> = values.into_iter().chain([("status", troubles.status())]).collect();
    if let Some(file) = settings.output_file() {
        let _ = runner::outputs(&file, &values);
    }
}
