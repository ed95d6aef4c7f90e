//! The files of an attestation: the statement, and beside it the predicate and the subjects, which a signer takes by themselves.

use std::path::{Path, PathBuf};

use crate::report::attestation::Attestation;

/// A file of an attestation.
pub(super) struct Output {
    pub(super) path: PathBuf,
    /// `None`: whatever an earlier run left there must not be taken for what this one says.
    pub(super) text: Option<String>,
}

/// The files of an attestation.
pub(super) struct Outputs {
    /// The statement; of several deployments one a line.
    pub(super) statement: Output,
    /// Of one deployment: a signer takes one predicate.
    pub(super) predicate: Output,
    pub(super) subjects: Output,
}

/// The attestations of what was checked, as files.
pub(super) fn outputs(all: &[Attestation], path: &Path) -> Outputs {
    let statement: String = all.iter().map(|one| one.statement.as_str()).collect();
    let only = if let [one] = all { Some(one) } else { None };
    let part = |ending, text: fn(&Attestation) -> &String| Output {
        path: beside(path, ending),
        text: only.map(|one| text(one).clone()),
    };
    Outputs {
        statement: Output { path: path.to_owned(), text: Some(statement).filter(|_| !all.is_empty()) },
        predicate: part("predicate.json", |one| &one.predicate),
        subjects: part("subjects.txt", |one| &one.subjects),
    }
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
