//! The files of an attestation: the statement, and beside it the predicate and the subjects, which a signer takes by themselves.

use std::path::{Path, PathBuf};

use crate::report::attestation::Attestation;

/// A file to be written.
pub(super) struct Output {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// The files of an attestation.
pub(super) struct Outputs {
    /// The statement; of several deployments one a line.
    pub(super) statement: Output,
    /// Predicate and subjects, of one deployment: a signer takes one predicate.
    pub(super) parts: Option<[Output; 2]>,
}

/// The attestations of what was checked, as files.
pub(super) fn outputs(all: &[Attestation], path: &Path) -> Outputs {
    let statement = all.iter().map(|one| one.statement.as_str()).collect();
    let parts = match all {
        [one] => Some([
            Output { path: beside(path, "predicate.json"), text: one.predicate.clone() },
            Output { path: beside(path, "subjects.txt"), text: one.subjects.clone() },
        ]),
        _ => None,
    };
    Outputs { statement: Output { path: path.to_owned(), text: statement }, parts }
}

/// `x.json` → `x.predicate.json`.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let stem = if path.extension().is_some_and(|own| own == "json") {
        path.with_extension("")
    } else {
        path.to_owned()
    };
    let mut name = stem.into_os_string();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}
