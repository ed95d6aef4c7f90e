//! Every rule: facts in, findings out. A new rule is a row in [`FindingId`](crate::verdict::FindingId), a case among the
//! fixtures, and one place here.

use crate::conformance::sequence::Irregularities;
use crate::conformance::witness::Testimony;
use crate::conformance::{Conformance, Observation, Seen};
use crate::digest::Material;
use crate::evidence::{Claim, Evidence};
use crate::health::Health;
use crate::message::{Message, list};
use crate::model::ModelError;
use crate::trace::{Place, Producer, Reading, Recognition, TraceFormat};
use crate::verdict::Finding;

mod beside;
pub mod explain;
mod flow;
mod graph;
mod states;
mod trace;

/// Fewer events than this are suspicious, unless an input says otherwise.
pub const MIN_EVENTS: u64 = 3;

/// What is known of the trace's file.
#[derive(Debug, Clone, Default)]
pub struct TraceFacts {
    /// The file that was read; `None` where there is none.
    pub file: Option<String>,
    /// Its format.
    pub format: Option<TraceFormat>,
    /// How that was told.
    pub recognition: Option<Recognition>,
    /// Who wrote it.
    pub producer: Option<Producer>,
    /// Its digest, `sha256:…`.
    pub digest: Option<String>,
    /// Why there is no trace, where that is more than its absence.
    pub absent: Option<String>,
    /// What could not be read in it.
    pub reading: Reading,
    /// Events of all runs and deployments.
    pub all_events: u64,
    /// Runs in the file, and whether there may be more than that.
    pub runs: (usize, bool),
    /// Events that name another deployment; where the first of them is, and which it names.
    pub foreign: (u64, Option<(Place, String)>),
    /// The folder's deployment.
    pub deployment: Option<String>,
    /// Traces beside it that were not judged.
    pub others: Vec<String>,
    /// Of those, the ones that cannot be read, and why.
    pub unreadable_others: Vec<(String, String)>,
    /// What the trace says of its own outcome.
    pub outcome: Option<String>,
}

/// A model that was given and cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelProblem {
    /// Its file.
    pub file: String,
    /// What is wrong with it.
    pub error: ModelError,
}

/// Everything that rules look at.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The run.
    pub observation: &'a Observation<'a>,
    /// The run against the model.
    pub conformance: &'a Conformance,
    /// The run against an execution graph, where it has one.
    pub sequence: Option<&'a Irregularities>,
    /// The trace's file.
    pub trace: &'a TraceFacts,
    /// The results.
    pub health: &'a Health,
    /// The artifacts.
    pub evidence: &'a Evidence,
    /// Logs of a harness that lie beside the trace and are compared with it.
    pub testimonies: &'a [Testimony<'a>],
    /// The folder in which they lie, as it is shown.
    pub folder: &'a str,
    /// A model that could not be used.
    pub model_problem: Option<&'a ModelProblem>,
    /// Fewer events than this are suspicious.
    pub min_events: u64,
    /// A state map of one's own.
    pub state_map: Option<&'a Material>,
    /// The digest of the trace's last line, where somebody kept it.
    pub head: Option<&'a str>,
}

impl Facts<'_> {
    fn name(&self, state: usize) -> &str {
        self.observation.model().name(state)
    }

    /// The path of a file of the folder, as it is shown.
    fn beside(&self, name: &str) -> String {
        match self.folder {
            "" => name.to_owned(),
            folder => format!("{}/{name}", folder.trim_end_matches('/')),
        }
    }

    fn trace_file(&self) -> Option<&str> {
        self.trace.file.as_deref()
    }

    /// What the agent says of itself.
    #[must_use]
    pub fn claim(&self) -> Claim {
        self.evidence.claim(self.trace.outcome.as_deref())
    }
}

/// Applies every rule. Worst first; the same facts give the same findings in the same order.
#[must_use]
pub fn all(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    beside::health(facts, &mut found);
    beside::evidence(facts, &mut found);
    beside::model(facts, &mut found);
    states::states(facts, &mut found);
    flow::flow(facts, &mut found);
    trace::trace(facts, &mut found);
    graph::sequence(facts, &mut found);
    found.sort_by_key(|finding| finding.id);
    found
}

/// `line 7`: where an event stands, in words.
fn line(place: Place) -> String {
    format!("line {}", place.line)
}

fn at(seen: Seen) -> String {
    line(seen.place)
}

/// `… and N more`, where a list was cut.
fn and_more(message: Message, more: u64) -> Message {
    match more {
        0 => message,
        more => message.and(Message::new(&format!(" and {more} more"), &[])),
    }
}

/// A message whose one `{}` becomes a list of quotations.
fn listing(template: &str, items: &[&str]) -> Message {
    Message::new(&template.replacen("{}", &list(items.len()), 1), items)
}
