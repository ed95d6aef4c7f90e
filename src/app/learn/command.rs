//! `process-integrity learn`.

use std::path::Path;

use super::{Existing, GOLDENS_CAP, Request, example, lesson, unknown_names};
use crate::app::choose;
use crate::app::command::{Ending, places, state_map, workspace_of};
use crate::app::job::{Named, Options};
use crate::app::time::{Precision, now};
use crate::cli::{Learn, LearnFormat};
use crate::evidence::Mode;
use crate::model::Threshold;
use crate::model::diff::diff;
use crate::model::learn::Wishes;
use crate::model::write::Origin;
use crate::report::learning::{json, markdown, terminal as text};
use crate::report::terminal::Colour;
use crate::runner;
use crate::secrets::Secrets;
use crate::settings::Terminal;
use crate::workspace::Workspace;

/// Learns, or compares two models.
pub(in crate::app) fn run(arguments: &Learn, terminal: &Terminal) -> Result<Ending, String> {
    let (here, everywhere) = places()?;
    let existing = |given: &Path| existing(&everywhere, &Named::new(given, &here));
    let colour = runner::colour(terminal.no_color.as_deref(), terminal.term.as_deref());
    if let Some([old, new]) = arguments.diff.as_deref() {
        let changes = diff(&existing(old)?.model, &existing(new)?.model);
        runner::print(&match arguments.format {
            LearnFormat::Text => text::render_changes(&changes, colour),
            LearnFormat::Markdown => markdown::render_changes(&changes),
            LearnFormat::Json => json::render_changes(&changes),
        });
        return Ok(if changes.is_empty() { Ending::Verified } else { Ending::NotVerified });
    }
    if arguments.traces.len() > GOLDENS_CAP {
        let count = arguments.traces.len();
        return Err(format!(
            "{count} golden traces are too many; choose the best of them, two to ten will do"
        ));
    }
    let options = Options {
        evidence: Mode::Report,
        min_events: arguments.min_events,
        state_map: state_map(arguments.state_map.as_deref(), &here, &everywhere)?,
        secrets: Secrets::default(),
        ..Options::default()
    };
    let mut examples = Vec::new();
    for given in &arguments.traces {
        let named = Named::new(given, &here);
        let folder = if named.path.is_dir() { named.path.as_path() } else { Path::new("/") };
        let workspace = workspace_of(folder, &here)
            .map_err(|error| format!("{} cannot be read: {error}; check its permissions", given.display()))?;
        examples.push(example(named, workspace, everywhere.clone()));
    }
    if let Some(output) = &arguments.output
        && let Ok(real) = here.join(output).canonicalize()
        && let Some(golden) = examples.iter().find(|example| example.real.as_ref() == Some(&real))
    {
        return Err(format!(
            "the model would be written over the golden trace {}; name another file",
            golden.name
        ));
    }
    let request = Request {
        examples,
        accept: arguments.accept.clone(),
        base: arguments.update.as_deref().map(existing).transpose()?,
        before: None,
        wishes: Wishes {
            threshold: arguments.threshold.and_then(Threshold::of_percent),
            deployment: arguments.deployment_state.clone(),
            terminal: arguments.terminal_state.clone(),
        },
        at: arguments.generated_at.clone().unwrap_or_else(|| now(terminal.source_date, Precision::Seconds)),
    };
    let lesson = lesson(&request, &options).map_err(|message| message.to_string())?;
    for name in unknown_names(&request, &lesson) {
        runner::complain(&format!(
            "warning: no golden trace is called {name}, so nothing is accepted by that name"
        ));
    }
    let refused = lesson.learning.is_refused();
    let report = |colour| match arguments.format {
        LearnFormat::Text => text::render(&lesson.learning, colour),
        LearnFormat::Markdown => markdown::render(&lesson.learning),
        LearnFormat::Json => json::render(&lesson.learning),
    };
    match &arguments.output {
        Some(path) => {
            if !refused {
                runner::write_file(&here.join(path), &lesson.file).map_err(|error| {
                    format!("the model cannot be written to {}: {error}; name another file", path.display())
                })?;
            }
            runner::print(&report(colour));
        }
        None => {
            runner::report_aside(&report(Colour::Off));
            if !refused {
                runner::print(&lesson.file);
            }
        }
    }
    Ok(if refused { Ending::NotVerified } else { Ending::Verified })
}

/// A model's file, of either format.
pub(in crate::app) fn existing(workspace: &Workspace, file: &Named) -> Result<Existing, String> {
    let wrong = |reason: String| format!("the model {} cannot be used: {reason}", file.shown);
    let bytes = workspace.read(&file.path).map_err(|refusal| wrong(refusal.to_string()))?;
    let parsed = choose::parse(&bytes).map_err(|error| wrong(error.to_string()))?;
    Ok(Existing { name: file.shown.clone(), model: parsed.model, origin: Origin::read(&bytes) })
}
