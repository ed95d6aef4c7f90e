//! The action in mode `learn`: the model goes into the workspace, the report into log and summary. What becomes of the file
//! is for the workflow to say, such as a pull request.

use std::path::Path;

use super::command::existing;
use super::{Example, Existing, GOLDENS_CAP, Lesson, Request, example, lesson, unknown_names};
use crate::app::choose::BASELINE;
use crate::app::classify::state_map;
use crate::app::folders::{globbed, is_glob, name};
use crate::app::guard;
use crate::app::job::Options;
use crate::app::step;
use crate::app::time::{Precision, now};
use crate::app::troubles::Troubles;
use crate::model::diff::Effect;
use crate::model::learn::Wishes;
use crate::report::annotations::{Annotation, Level};
use crate::report::learning::{Learning, json, markdown, terminal};
use crate::report::terminal::Colour;
use crate::runner;
use crate::settings::Settings;
use crate::workspace::Workspace;

const TITLE: &str = "Process Integrity: model";
/// Troubles that are annotations; the rest are lines of the log.
const ANNOTATED: usize = 10;
/// Warnings that are annotations: the runner keeps ten of a type. The report has all.
const WARNINGS_SHOWN: usize = 8;

/// What a step came to.
#[derive(Default)]
struct Done {
    path: String,
    changed: bool,
    learning: Option<Learning>,
}

/// Runs the step. Whatever happens is an annotation and the `status` output.
pub(in crate::app) fn run(settings: &Settings) {
    let mut troubles = Troubles(settings.warnings.clone());
    let done = step::attempt(&mut troubles, |troubles| Some(learn(settings, troubles))).unwrap_or_default();
    if let Some(learning) = &done.learning {
        let _ = guard::isolated(|| runner::print(&terminal::render(learning, Colour::Off)));
        if settings.inputs.summary
            && let Some(file) = settings.summary_file()
            && let Ok(text) = guard::isolated(|| markdown::render(learning))
            && let Err(error) = runner::summary(&file, &text)
        {
            troubles.add(&format!("the job summary cannot be written: {}", error.kind()), &[]);
        }
        let warnings = learning.warnings.iter().map(|warning| {
            (if warning.grave { Level::Error } else { Level::Warning }, warning.message.to_string())
        });
        let changes = learning.changes.iter().flat_map(|(_, changes)| changes);
        let weaker = changes.filter(|change| change.effect == Effect::Weaker);
        let weaker =
            weaker.map(|change| (Level::Warning, format!("the model is weaker: {}", change.message)));
        for (level, text) in warnings.chain(weaker).take(WARNINGS_SHOWN) {
            runner::annotate(&Annotation::new(level, TITLE, text));
        }
    }
    let values = vec![("model-path", done.path), ("model-changed", done.changed.to_string())];
    step::end(settings, TITLE, ANNOTATED, &troubles, values);
}

fn learn(settings: &Settings, troubles: &mut Troubles) -> Done {
    let inputs = &settings.inputs;
    let Some(workspace) = step::workspace(settings, troubles) else { return Done::default() };
    let map = inputs.state_map.as_deref().map(|path| name(&workspace, Path::new(path)));
    let options = Options {
        min_events: inputs.min_events,
        state_map: state_map(&workspace, map, troubles),
        secrets: settings.secrets(),
        ..Options::default()
    };
    let path = inputs.model_path.as_deref().unwrap_or(BASELINE);
    let before = before(&workspace, path, troubles);
    let Some(examples) = examples(&workspace, &inputs.golden_traces, troubles) else {
        return Done::default();
    };
    let request = Request {
        examples,
        accept: inputs.golden_accept.clone(),
        base: None,
        before,
        wishes: Wishes {
            threshold: inputs.coverage_threshold,
            deployment: inputs.deployment_state.clone(),
            terminal: inputs.terminal_state.clone(),
        },
        at: now(settings.source_date, Precision::Seconds),
    };
    if request.examples.is_empty() {
        troubles.add("there is nothing to learn from: name two to ten runs in golden-traces", &[]);
        return Done::default();
    }
    let target = workspace.resolve(Path::new(path)).ok();
    if target.is_some() && request.examples.iter().any(|example| example.real == target) {
        troubles.add("the model would be written over the golden trace {}; name another model-path", &[path]);
        return Done::default();
    }
    if settings.inputs.report_path.as_deref() == Some(path) {
        troubles.add("report-path and model-path are the same file {}; nothing is learned", &[path]);
        return Done::default();
    }
    match lesson(&request, &options) {
        Ok(lesson) => {
            for unknown in unknown_names(&request, &lesson) {
                troubles.add("no golden trace is called {}, so nothing is accepted by that name", &[unknown]);
            }
            finish(settings, &workspace, path, request.before.is_some(), lesson, troubles)
        }
        Err(message) => {
            troubles.0.push(message);
            Done::default()
        }
    }
}

fn finish(
    settings: &Settings,
    workspace: &Workspace,
    path: &str,
    existed: bool,
    lesson: Lesson,
    troubles: &mut Troubles,
) -> Done {
    let Lesson { learning, file, .. } = lesson;
    if let Some(report) = &settings.inputs.report_path
        && let Err(error) = runner::write_inside(workspace, Path::new(report), &json::render(&learning))
    {
        troubles.add("the report cannot be written to {}: {}", &[report, &error.to_string()]);
    }
    let refused: Vec<&str> = learning
        .goldens
        .iter()
        .filter(|golden| golden.is_refused())
        .map(|golden| golden.name.as_str())
        .collect();
    if let Some(first) = refused.first() {
        let more = match refused.len() {
            1 => String::new(),
            many => format!(" and {} more", many - 1),
        };
        let text = format!(
            "no model was written: {{}}{more} is no good example; leave it out, or name it in golden-accept"
        );
        troubles.add(&text, &[first]);
        return Done { learning: Some(learning), ..Done::default() };
    }
    // A new time alone is no reason for a pull request.
    let changed = !existed || learning.changes.as_ref().is_none_or(|(_, changes)| !changes.is_empty());
    if changed && let Err(error) = runner::write_inside(workspace, Path::new(path), &file) {
        troubles.add("the model cannot be written to {}: {}", &[path, &error.to_string()]);
        return Done { learning: Some(learning), ..Done::default() };
    }
    Done { path: path.to_owned(), changed, learning: Some(learning) }
}

/// The model that is there already, to tell what changes.
fn before(workspace: &Workspace, path: &str, troubles: &mut Troubles) -> Option<Existing> {
    let file = name(workspace, Path::new(path));
    if !workspace.has(&file.path) {
        return None;
    }
    match existing(workspace, &file) {
        Ok(existing) => Some(existing),
        Err(reason) => {
            troubles.add("the model that is there is not compared with: {}", &[&reason]);
            None
        }
    }
}

/// The files and folders that are asked for. `None` where a pattern matches nothing.
fn examples(workspace: &Workspace, asked: &[String], troubles: &mut Troubles) -> Option<Vec<Example>> {
    let mut found = Vec::new();
    for line in asked {
        if !is_glob(workspace, line) {
            found.push(name(workspace, Path::new(line)));
            continue;
        }
        let matches = globbed(workspace, line, |_| true);
        if matches.is_empty() {
            troubles.add(
                "no trace matches {}, and with fewer examples than are asked for too much would be learned",
                &[line],
            );
            return None;
        }
        found.extend(matches);
    }
    found.sort_by(|a, b| a.shown.cmp(&b.shown));
    found.dedup();
    if found.len() > GOLDENS_CAP {
        let count = found.len();
        troubles.add(&format!("{count} golden traces are too many; the first {GOLDENS_CAP} are used"), &[]);
        found.truncate(GOLDENS_CAP);
    }
    Some(found.into_iter().map(|named| example(named, workspace.clone(), workspace.clone())).collect())
}
