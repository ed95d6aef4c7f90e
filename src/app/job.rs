//! What one check is to do. Both ways to run the product end up here.

use std::path::{Path, PathBuf};

use crate::evidence::Mode;
use crate::model::Threshold;
use crate::secrets::Secrets;
use crate::trace::state_map::StateMap;
use crate::workspace::Workspace;

/// A path, and the way it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// As reports show it: as it was given.
    pub shown: String,
    /// Where it is. Absolute, links not resolved.
    pub path: PathBuf,
}

impl Named {
    /// A path that was given, relative to a folder.
    #[must_use]
    pub fn new(given: &Path, relative_to: &Path) -> Self {
        let shown = given.to_string_lossy();
        let shown = shown.strip_prefix("./").unwrap_or(&shown).to_owned();
        Self { shown, path: relative_to.join(given) }
    }

    /// A file or folder in it.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        let shown = match self.shown.trim_end_matches('/') {
            "" if self.shown.is_empty() => name.to_owned(),
            folder => format!("{folder}/{name}"),
        };
        Self { shown, path: self.path.join(name) }
    }
}

/// What applies to every folder of a run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What is asked of evidence.
    pub evidence: Mode,
    /// Fewer events are suspicious.
    pub min_events: u64,
    /// In place of the model's.
    pub threshold: Option<Threshold>,
    /// In place of the model's.
    pub deployment_state: Option<String>,
    /// In place of the model's.
    pub terminal_state: Option<String>,
    /// Names of a harness → states.
    pub state_map: StateMap,
    /// What must not be repeated.
    pub secrets: Secrets,
    /// How the commit that was deployed is known, where the deployment does not say it.
    pub commit: Commit,
    /// The digest of the trace's last line, as `record` told it.
    pub trace_head: Option<String>,
    /// Which files are hashed beyond those whose content is judged.
    pub materials: Materials,
}

/// Which files are hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Materials {
    /// Those whose content is judged.
    #[default]
    Judged,
    /// Also those of which only the presence counts: an attestation names them all.
    All,
}

/// How the commit that was deployed is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Commit {
    /// It was named.
    pub named: Option<String>,
    /// The run that this is, and its commit: it is the one of a deployment of the same run.
    pub of_run: Option<(String, String)>,
}

/// One deployment to check.
#[derive(Debug, Clone)]
pub struct Job {
    /// Beyond it nothing of the folder is read.
    pub workspace: Workspace,
    /// Beyond it no named file is read. A person on the command line may name any file.
    pub named: Workspace,
    /// The deployment's folder.
    pub folder: Option<Named>,
    /// The trace, where it was named.
    pub trace: Option<Named>,
    /// The model, where it was named.
    pub model: Option<Named>,
    /// The results, where they were named.
    pub tests: Option<Named>,
}
