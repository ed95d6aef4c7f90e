//! A v1 trace against its execution graph: git-ape's codes as findings. Those on states and on the end are given by the
//! rules for states and flow.

use super::Facts;
use crate::conformance::sequence::Code;
use crate::message::Message;
use crate::verdict::{Finding, FindingId};

pub(super) fn sequence(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(sequence) = facts.sequence else { return };
    for irregularity in sequence.kept() {
        let (id, hint) = match irregularity.code {
            Code::InvalidTraceSchema => (
                FindingId::TraceCorrupt,
                "Use a version of this product that knows the schema, or write the one it knows.",
            ),
            Code::GraphDigestMismatch => (
                FindingId::TraceMismatch,
                "Keep the graph that a run was recorded against unchanged beside its trace.",
            ),
            Code::UndeclaredNode => {
                (FindingId::UndeclaredState, "Harmless; declare the node if it belongs there.")
            }
            Code::UndeclaredTransition => (
                FindingId::UndeclaredTransition,
                "Harmless by itself; a skipped node is reported as missing.",
            ),
            Code::MissingRequiredEvidence => {
                (FindingId::EvidenceRequired, "Make the step that hands over record its receipt.")
            }
            Code::InvalidEntryNode
            | Code::InvalidEventSequence
            | Code::TransitionNodeMismatch
            | Code::MissingFailedTerminal => (
                FindingId::EventSequence,
                "Make the producer record every node and the transitions between them.",
            ),
            Code::MissingRequiredNode | Code::MissingSuccessTerminal | Code::InvalidSuccessTerminal => {
                continue;
            }
        };
        let mut finding = Finding::new(id, irregularity.detail.clone(), hint).code(irregularity.code);
        finding.state.clone_from(&irregularity.node);
        found.push(finding.file(facts.trace_file()).at(irregularity.place));
    }
    if sequence.more() > 0 {
        let text = format!("{} more events are not as the execution graph declares", sequence.more());
        let hint = "Make the producer record every node and the transitions between them.";
        found.push(
            Finding::new(FindingId::EventSequence, Message::new(&text, &[]), hint).file(facts.trace_file()),
        );
    }
}
