//! The files that the step is asked to write into the workspace.

use std::path::Path;

use super::attest;
use super::classify::Classified;
use super::time::{Precision, now};
use super::troubles::Troubles;
use crate::report::attestation::{Occasion, attest};
use crate::report::json;
use crate::runner;
use crate::settings::Settings;
use crate::workspace::Workspace;

/// Where they were written, as outputs; empty where a file was not asked for or could not be written.
#[derive(Debug, Default)]
pub(super) struct Written {
    report: String,
    attestation: String,
    predicate: String,
    subjects: String,
}

impl Written {
    /// As outputs of the step.
    pub(super) fn outputs(&self) -> [(&'static str, String); 4] {
        [
            ("report-path", self.report.clone()),
            ("attestation-path", self.attestation.clone()),
            ("predicate-path", self.predicate.clone()),
            ("subjects-path", self.subjects.clone()),
        ]
    }
}

/// Writes what is asked for.
pub(super) fn write(settings: &Settings, reports: &Classified, troubles: &mut Troubles) -> Written {
    let Some(workspace) = &reports.workspace else { return Written::default() };
    let mut written = Written::default();
    if let Some(path) = &settings.inputs.report_path {
        let several = reports.all.len() > 1 || reports.by_plan;
        let layout = if several { json::Layout::Line } else { json::Layout::Pretty };
        let text: String = reports.all.iter().map(|report| json::render(report, layout)).collect();
        written.report = one("report", workspace, Path::new(path), &text, troubles);
    }
    if let Some(path) = &settings.inputs.attestation_path {
        let occasion =
            Occasion { time: now(settings.source_date, Precision::Seconds), base: settings.source_base() };
        let all: Vec<_> = reports.all.iter().map(|report| attest(report, &occasion)).collect();
        let outputs = attest::outputs(&all, Path::new(path));
        let mut write =
            |output: &attest::Output| one("attestation", workspace, &output.path, &output.text, troubles);
        written.attestation = write(&outputs.statement);
        if let Some([predicate, subjects]) = &outputs.parts {
            written.predicate = write(predicate);
            written.subjects = write(subjects);
        }
    }
    written
}

/// Writes a file; gives its path as it was asked for, and nothing where it could not be written.
fn one(what: &str, workspace: &Workspace, path: &Path, text: &str, troubles: &mut Troubles) -> String {
    let shown = path.to_string_lossy();
    match runner::write_inside(workspace, path, text) {
        Ok(_) => shown.into_owned(),
        Err(error) => {
            troubles
                .add(&format!("the {what} cannot be written to {{}}: {{}}"), &[&shown, &error.to_string()]);
            String::new()
        }
    }
}
