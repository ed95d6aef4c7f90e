//! The action in mode `merge`: the last job of a fleet. It says what there is, and what there should have been.

use std::path::{Path, PathBuf};

use super::{complaints, expected, fleet, gather};
use crate::app::folders::{globbed, is_glob, name};
use crate::app::guard;
use crate::app::job::Named;
use crate::app::step;
use crate::app::troubles::Troubles;
use crate::report::annotations::{Annotation, Level};
use crate::report::fleet::{Fleet, html, json, markdown, terminal};
use crate::report::terminal::Colour;
use crate::runner::{self, SUMMARY_CAP};
use crate::settings::Settings;
use crate::verdict::Verdict;
use crate::workspace::Workspace;

const TITLE: &str = "Process Integrity: fleet";
/// An issue takes 65,536 characters, and whoever writes it puts something before it.
const ISSUE_CAP: usize = 60_000;
/// Troubles that are annotations: the runner keeps ten of a type, and one is the picture's.
const ANNOTATED: usize = 8;

/// Runs the step. Whatever happens is an annotation and the `status` output.
pub(in crate::app) fn run(settings: &Settings) {
    let mut troubles = Troubles(settings.warnings.clone());
    let merged = step::attempt(&mut troubles, |troubles| merge(settings, troubles));
    let mut folder = String::new();
    if let Some((workspace, fleet)) = &merged {
        let _ = guard::isolated(|| runner::print(&terminal::render(fleet, Colour::Off)));
        let written = guard::isolated(|| write(settings, workspace, fleet, &mut troubles));
        folder = written.unwrap_or_default();
        runner::annotate(&Annotation::new(level(fleet), TITLE, fleet.headline()));
        let _ = guard::isolated(|| summary(settings, fleet, &mut troubles));
    }
    let fleet = merged.map(|(_, fleet)| fleet);
    step::end(settings, TITLE, ANNOTATED, &troubles, outputs(fleet.as_ref(), folder));
}

/// As loud as the worst of it. What was not validated is no better than what cannot be proven.
fn level(fleet: &Fleet) -> Level {
    if fleet.count(Verdict::DeploymentFailure) > 0 {
        Level::Error
    } else if fleet.is_verified() {
        Level::Notice
    } else {
        Level::Warning
    }
}

fn merge(settings: &Settings, troubles: &mut Troubles) -> Option<(Workspace, Fleet)> {
    let inputs = &settings.inputs;
    let workspace = step::workspace(settings, troubles)?;
    let plan = inputs.plan_path.as_deref().map(|path| name(&workspace, Path::new(path)));
    let plan = match plan.map(|plan| expected(&workspace, &plan)).transpose() {
        Ok(plan) => plan,
        // Without its plan a fleet would look whole.
        Err(reason) => {
            troubles.add("nothing is merged: {}", &[&reason]);
            return None;
        }
    };
    let reports = reports(&workspace, &inputs.reports_path, troubles);
    let gathering = gather(&workspace, &reports);
    for complaint in complaints(&gathering) {
        troubles.add("{}", &[&complaint]);
    }
    match fleet(gathering, plan.as_ref()) {
        Ok(fleet) => Some((workspace, fleet)),
        Err(reason) => {
            troubles.add("nothing is merged: {}", &[&reason]);
            None
        }
    }
}

/// The files of reports, sorted, each once. That a pattern matches nothing is told: a shard may be lost, or its name mistaken.
fn reports(workspace: &Workspace, asked: &[String], troubles: &mut Troubles) -> Vec<Named> {
    let mut found = Vec::new();
    for line in asked {
        if !is_glob(workspace, line) {
            found.push(name(workspace, Path::new(line)));
            continue;
        }
        let matches = globbed(workspace, line, Path::is_file);
        if matches.is_empty() {
            troubles.add("no report matches {}", &[line]);
        }
        found.extend(matches);
    }
    found.sort_by(|a, b| a.shown.cmp(&b.shown));
    found.dedup();
    found
}

/// Writes the picture in every format; gives the folder, and nothing where something of it could not be written.
fn write(settings: &Settings, workspace: &Workspace, fleet: &Fleet, troubles: &mut Troubles) -> String {
    let Some(folder) = &settings.inputs.fleet_path else { return String::new() };
    let files = [
        ("fleet.json", json::render(fleet)),
        ("fleet.md", markdown::render_within(fleet, SUMMARY_CAP)),
        ("fleet.html", html::render(fleet)),
        ("issue.md", markdown::render_within(fleet, ISSUE_CAP)),
    ];
    for (name, text) in files {
        let path: PathBuf = Path::new(folder).join(name);
        if let Err(error) = runner::write_inside(workspace, &path, &text) {
            troubles.add(&format!("{name} cannot be written to {{}}: {{}}"), &[folder, &error.to_string()]);
            return String::new();
        }
    }
    folder.clone()
}

fn summary(settings: &Settings, fleet: &Fleet, troubles: &mut Troubles) {
    let Some(file) = settings.summary_file().filter(|_| settings.inputs.summary) else { return };
    if let Err(error) = runner::summary(&file, &markdown::render_within(fleet, SUMMARY_CAP)) {
        troubles.add(&format!("the job summary cannot be written: {}", error.kind()), &[]);
    }
}

fn outputs(fleet: Option<&Fleet>, folder: String) -> Vec<(&'static str, String)> {
    let count = |of: &dyn Fn(&Fleet) -> usize| fleet.map(|fleet| of(fleet).to_string()).unwrap_or_default();
    vec![
        ("folders-count", count(&Fleet::deployments)),
        ("verified-count", count(&|fleet| fleet.count(Verdict::VerifiedSuccess))),
        ("not-validated-count", count(&|fleet| fleet.lost.len())),
        ("false-success", fleet.is_some_and(|fleet| fleet.false_successes() > 0).to_string()),
        ("fleet-path", folder),
    ]
}
