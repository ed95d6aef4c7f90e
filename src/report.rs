//! The view that every output reads: sorted, counted, free of secrets. Texts in it are still hostile; each output escapes
//! them for its own sink.

use crate::conformance::{Coverage, Seen, StateStatus};
use crate::digest::Material;
use crate::evidence::about::Tie;
use crate::evidence::{Claim, Mode};
use crate::findings::Facts;
use crate::health::{Check, Health, HealthStatus};
use crate::message::{Message, Part};
use crate::secrets::Secrets;
use crate::trace::{Producer, Recognition, Status, TraceFormat};
use crate::verdict::{Class, Finding, FindingId, Verdict};

pub mod annotations;
pub mod attestation;
pub mod diagram;
pub mod explanation;
pub mod fleet;
pub mod json;
pub mod junit;
pub mod learning;
pub mod markdown;
pub mod sarif;
pub mod several;
pub mod terminal;
pub mod words;

/// Where a model came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelSource {
    /// It was named.
    Explicit,
    /// The execution graph that the trace is bound to.
    BesideTrace,
    /// The workspace's baseline.
    Baseline,
    /// It came with the product.
    BuiltIn,
}

impl ModelSource {
    /// The id in reports.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::BesideTrace => "beside-trace",
            Self::Baseline => "baseline",
            Self::BuiltIn => "built-in",
        }
    }
}

/// Which model was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelUsed {
    /// Where it came from.
    pub source: ModelSource,
    /// Its file, where it has one.
    pub path: Option<String>,
    /// The digest of its bytes, `sha256:…`.
    pub digest: String,
}

/// By which options it was judged, beside the model: the same deployment passes more easily by others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// What was asked of evidence.
    pub evidence: Mode,
    /// Fewer events are suspicious.
    pub min_events: u64,
    /// The state that was taken for the deployment.
    pub deployment_state: Option<String>,
    /// The state with which a complete run ends.
    pub terminal_state: Option<String>,
    /// A state map of one's own.
    pub state_map: Option<Material>,
}

/// One essential state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateRow {
    /// Its name.
    pub id: String,
    /// What became of it.
    pub status: StateStatus,
    /// The event that decides.
    pub seen: Option<Seen>,
    /// It guards the deployment.
    pub guard: bool,
}

/// One event worth showing between the checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MomentRow {
    /// Where.
    pub seen: Seen,
    /// Its state; `None` for an error.
    pub state: Option<String>,
    /// What became of it.
    pub status: Status,
    /// The error's text.
    pub message: Option<String>,
}

/// A log of the harness that the trace was compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRow {
    /// Its file.
    pub file: String,
    /// Its format.
    pub format: TraceFormat,
    /// Its digest, `sha256:…`.
    pub digest: String,
}

/// The report on one deployment.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The deployment.
    pub deployment: String,
    /// Its folder, as it was given.
    pub folder: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// What the agent says of itself.
    pub claim: Claim,
    /// The answer on health.
    pub health: HealthStatus,
    /// Each check.
    pub checks: Vec<Check>,
    /// How many states are covered.
    pub coverage: Coverage,
    /// The essential states, in the model's order.
    pub states: Vec<StateRow>,
    /// For each essential state, by number, those that come directly before it.
    pub directly_before: Vec<Vec<usize>>,
    /// Worst first.
    pub findings: Vec<Finding>,
    /// What artifacts say that they are about, against what was deployed.
    pub bindings: Vec<Tie>,
    /// The model.
    pub model: ModelUsed,
    /// The options.
    pub judged: Judged,
    /// The trace's format.
    pub format: Option<TraceFormat>,
    /// How that was told.
    pub recognition: Option<Recognition>,
    /// Who wrote the trace.
    pub producer: Option<Producer>,
    /// The logs of the harness that it was compared with.
    pub compared: Vec<LogRow>,
    /// The trace's file.
    pub trace: Option<String>,
    /// The trace's digest.
    pub trace_digest: Option<String>,
    /// Events that were judged.
    pub events: u64,
    /// Lines that could not be read.
    pub unreadable: u64,
    /// Records that say nothing of states: passed over.
    pub passed_over: u64,
    /// Lines that carry the digest of the line before them.
    pub chained: u64,
    /// There was a deployment attempt in the run.
    pub deployment_attempted: bool,
    /// What happened, in order.
    pub moments: Vec<MomentRow>,
    /// The results and artifacts that were read, beside trace and logs.
    pub materials: Vec<Material>,
}

impl Report {
    /// Gathers the view.
    #[must_use]
    pub fn new(
        deployment: &str,
        facts: &Facts<'_>,
        findings: Vec<Finding>,
        model: ModelUsed,
        secrets: &Secrets,
    ) -> Self {
        let of = facts.observation.model();
        let name = |state: usize| secrets.blank(of.name(state));
        let rows = facts.conformance.judgements.iter().enumerate().map(|(state, judgement)| StateRow {
            id: name(state),
            status: judgement.status(),
            seen: judgement.seen(),
            guard: of.is_guard(state),
        });
        let moments = facts.observation.moments().iter().map(|moment| MomentRow {
            seen: moment.seen,
            state: moment.state.map(name),
            status: moment.status,
            message: moment.message.as_deref().map(|text| secrets.blank(text)),
        });
        let shown = |material: &Material| Material {
            file: secrets.blank(&material.file),
            digest: material.digest.clone(),
        };
        let blank = |text: &Option<String>| text.as_deref().map(|text| secrets.blank(text));
        Self {
            deployment: secrets.blank(deployment),
            folder: Some(secrets.blank(facts.folder)).filter(|folder| !folder.is_empty()),
            verdict: Verdict::of(&findings),
            claim: facts.claim(),
            health: facts.health.status,
            checks: checks(facts.health, secrets),
            coverage: facts.conformance.coverage,
            states: rows.collect(),
            directly_before: (0..of.essential()).map(|state| of.directly_before(state)).collect(),
            findings: findings.into_iter().map(|finding| blank_finding(finding, secrets)).collect(),
            bindings: facts
                .evidence
                .ties()
                .into_iter()
                .map(|tie| Tie { named: blank(&tie.named), deployed: blank(&tie.deployed), ..tie })
                .collect(),
            judged: Judged {
                evidence: facts.evidence.mode,
                min_events: facts.min_events,
                deployment_state: of.deployment().map(name),
                terminal_state: of.terminal().map(name),
                state_map: facts.state_map.map(&shown),
            },
            model: ModelUsed { path: blank(&model.path), ..model },
            format: facts.trace.format,
            recognition: facts.trace.recognition,
            producer: facts.trace.producer,
            compared: facts
                .testimonies
                .iter()
                .map(|log| LogRow {
                    file: secrets.blank(&log.file),
                    format: log.format,
                    digest: log.digest.clone(),
                })
                .collect(),
            trace: blank(&facts.trace.file),
            trace_digest: facts.trace.digest.clone(),
            events: facts.observation.events(),
            unreadable: facts.trace.reading.damage.count(),
            passed_over: facts.trace.reading.passed_over,
            chained: facts.trace.reading.chain.links,
            deployment_attempted: facts.observation.last_deployment().is_some(),
            moments: moments.collect(),
            materials: {
                let all = facts.health.materials.iter().chain(&facts.evidence.materials);
                all.map(&shown).collect()
            },
        }
    }

    /// The agent says that it succeeded, and it is not so: the product's name for the problem.
    #[must_use]
    pub fn false_success(&self) -> bool {
        self.claim == Claim::Succeeded && self.verdict != Verdict::VerifiedSuccess
    }

    /// The essential states that were not done: missing, failed, late or stale, in the model's order.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.states.iter().filter(|state| state.status.is_missing()).map(|state| state.id.as_str())
    }

    /// How many findings are more than a notice.
    #[must_use]
    pub fn findings_count(&self) -> usize {
        self.findings.iter().filter(|finding| finding.id.class() != Class::Notice).count()
    }

    /// There is a finding of a rule.
    #[must_use]
    pub fn has(&self, id: FindingId) -> bool {
        self.findings.iter().any(|finding| finding.id == id)
    }
}

fn checks(health: &Health, secrets: &Secrets) -> Vec<Check> {
    let blank = |check: &Check| Check {
        resource: secrets.blank(&check.resource),
        status: check.status,
        check: secrets.blank(&check.check),
    };
    health.checks.iter().map(blank).collect()
}

fn blank_finding(finding: Finding, secrets: &Secrets) -> Finding {
    let blank = |text: Option<String>| text.map(|text| secrets.blank(&text));
    Finding {
        state: blank(finding.state),
        file: blank(finding.file),
        message: finding.message.map_quotes(|text| secrets.blank(text)),
        ..finding
    }
}

/// How the format of the trace was told, and who wrote it, in words.
fn provenance(report: &Report) -> String {
    let (Some(format), Some(recognition), Some(producer)) =
        (report.format, report.recognition, report.producer)
    else {
        return String::new();
    };
    let told = match recognition {
        Recognition::Content => format!("told by {}", format.mark()),
        Recognition::Folder => "told by the folder".to_owned(),
        Recognition::Name => "told by the name".to_owned(),
        Recognition::Assumed => "assumed, since nothing tells".to_owned(),
    };
    let writer = match producer {
        Producer::Agent => "written by the run itself",
        Producer::Workflow => "written by the workflow",
        Producer::Harness => "written by the harness",
    };
    let chained = match report.chained {
        0 => String::new(),
        // A line that cannot be read or is of another run is chained all the same, so that there is no number of all lines.
        1 => "; one line is chained to the one before".to_owned(),
        lines => format!("; {lines} lines are chained, each to the one before"),
    };
    format!("{told}; {writer}{chained}")
}

/// A message as plain text, its quotations cut to a length that can be shown and escaped for the sink.
fn plain(message: &Message, escape: impl Fn(&str) -> String) -> String {
    let parts = message.parts().iter().map(|part| match part {
        Part::Say(text) => text.clone(),
        Part::Quote(text) => format!("`{}`", escape(&crate::escape::cut(text, QUOTE_SHOWN))),
    });
    parts.collect()
}

/// Characters of a quotation that are shown.
const QUOTE_SHOWN: usize = 200;
