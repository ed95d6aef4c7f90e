//! The files that the step is asked to write into the workspace. What cannot be written is a trouble, and keeps nothing else
//! from being written.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::attestation::{self, Output};
use super::classify::Classified;
use super::guard;
use super::time::{Precision, now};
use super::troubles::Troubles;
use crate::report::attestation::{Occasion, attest};
use crate::report::{json, sarif};
use crate::runner;
use crate::settings::Settings;
use crate::workspace::Workspace;

/// Where they were written, as outputs; empty where a file was not asked for or could not be written.
#[derive(Debug, Default)]
pub(super) struct Written {
    report: String,
    sarif: String,
    attestation: String,
    predicate: String,
    subjects: String,
}

impl Written {
    /// As outputs of the step.
    pub(super) fn outputs(&self) -> [(&'static str, String); 5] {
        [
            ("report-path", self.report.clone()),
            ("sarif-path", self.sarif.clone()),
            ("attestation-path", self.attestation.clone()),
            ("predicate-path", self.predicate.clone()),
            ("subjects-path", self.subjects.clone()),
        ]
    }
}

/// Writes what is asked for.
pub(super) fn write(settings: &Settings, reports: &Classified, troubles: &mut Troubles) -> Written {
    let Some(workspace) = &reports.workspace else { return Written::default() };
    let mut files = Files { workspace, troubles, taken: BTreeSet::new() };
    let mut written = Written::default();
    let inputs = &settings.inputs;
    if let Some(path) = &inputs.report_path {
        let several = reports.all.len() > 1 || reports.by_plan;
        let layout = if several { json::Layout::Line } else { json::Layout::Pretty };
        let text = || reports.all.iter().map(|report| json::render(report, layout)).collect();
        written.report = files.write("report", Path::new(path), text);
    }
    if let Some(path) = &inputs.sarif_path {
        let text = || sarif::render(&reports.all, |shown| workspace.relative(Path::new(shown)));
        written.sarif = files.write("SARIF log", Path::new(path), text);
    }
    if let Some(path) = &inputs.attestation_path {
        let time = now(settings.source_date, Precision::Seconds);
        let occasion = Occasion { time, base: settings.source_base() };
        let all = || reports.all.iter().map(|report| attest(report, &occasion)).collect::<Vec<_>>();
        let outputs = guard::isolated(|| attestation::outputs(&all(), Path::new(path)));
        match outputs {
            Ok(outputs) => {
                let mut one = |Output { path, text }: Output| match text {
                    Some(text) => files.write("attestation", &path, || text),
                    None => files.remove(&path),
                };
                written.attestation = one(outputs.statement);
                written.predicate = one(outputs.predicate);
                written.subjects = one(outputs.subjects);
            }
            Err(interruption) => files.troubles.add(interruption.reason(), &[]),
        }
    }
    written
}

/// A path by which one file goes only, as far as its names tell.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

struct Files<'a> {
    workspace: &'a Workspace,
    troubles: &'a mut Troubles,
    /// Files that were written: none is written over by another.
    taken: BTreeSet<PathBuf>,
}

impl Files<'_> {
    /// Removes what an earlier run may have left.
    fn remove(&mut self, path: &Path) -> String {
        let is_ours = self.taken.contains(&plain(path));
        if !is_ours && let Err(error) = runner::remove_inside(self.workspace, path) {
            let shown = path.to_string_lossy();
            self.troubles
                .add("what an earlier run left in {} cannot be removed: {}", &[&shown, &error.to_string()]);
        }
        String::new()
    }

    /// Writes a file; gives its path as it was asked for, and nothing where it could not be written.
    fn write(&mut self, what: &str, path: &Path, text: impl FnOnce() -> String) -> String {
        let shown = path.to_string_lossy();
        if !self.taken.insert(plain(path)) {
            let text = format!("the {what} is not written to {{}}: another output is the same file");
            self.troubles.add(&text, &[&shown]);
            return String::new();
        }
        let done = guard::isolated(|| runner::write_inside(self.workspace, path, &text()));
        match done {
            Ok(Ok(_)) => return shown.into_owned(),
            Ok(Err(error)) => {
                let text = format!("the {what} cannot be written to {{}}: {{}}");
                self.troubles.add(&text, &[&shown, &error.to_string()]);
            }
            Err(interruption) => self.troubles.add(interruption.reason(), &[]),
        }
        String::new()
    }
}
