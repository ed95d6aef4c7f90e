//! A v1 trace against its execution graph: what git-ape's own validator reports, code for code.
//!
//! Rules after `command_trace_validate` of `.github/skills/git-ape-records/scripts/git-ape-records.sh` in Azure/git-ape. Its
//! users know its codes, so for every trace and graph the set of codes here equals its set.

use std::collections::{BTreeMap, HashSet};

use crate::message::{Message, list};
use crate::model::graph::Graph;
use crate::trace::Place;
use crate::trace::git_ape::{Entry, Execution, Kind, SCHEMA};

/// Irregularities of one code that are kept; a node that did not complete is always kept.
const KEPT: usize = 50;

/// git-ape's error codes. A closed set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// The trace's `schemaVersion` is another.
    InvalidTraceSchema,
    /// The trace is bound to other bytes than the graph's.
    GraphDigestMismatch,
    /// A node outside of the graph.
    UndeclaredNode,
    /// A transition that is no edge of the graph.
    UndeclaredTransition,
    /// A transition without a receipt that it needs.
    MissingRequiredEvidence,
    /// The first node is not the graph's entry.
    InvalidEntryNode,
    /// Nodes and transitions do not alternate.
    InvalidEventSequence,
    /// A transition does not connect the nodes around it.
    TransitionNodeMismatch,
    /// A required node did not complete, though the trace claims success.
    MissingRequiredNode,
    /// The success terminal did not complete, though the trace claims success.
    MissingSuccessTerminal,
    /// The trace goes on after the success terminal.
    InvalidSuccessTerminal,
    /// A failed trace does not end with the node that failed.
    MissingFailedTerminal,
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::InvalidTraceSchema,
        Self::GraphDigestMismatch,
        Self::UndeclaredNode,
        Self::UndeclaredTransition,
        Self::MissingRequiredEvidence,
        Self::InvalidEntryNode,
        Self::InvalidEventSequence,
        Self::TransitionNodeMismatch,
        Self::MissingRequiredNode,
        Self::MissingSuccessTerminal,
        Self::InvalidSuccessTerminal,
        Self::MissingFailedTerminal,
    ];

    /// git-ape's name for it.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::InvalidTraceSchema => "INVALID_TRACE_SCHEMA",
            Self::GraphDigestMismatch => "GRAPH_DIGEST_MISMATCH",
            Self::UndeclaredNode => "UNDECLARED_NODE",
            Self::UndeclaredTransition => "UNDECLARED_TRANSITION",
            Self::MissingRequiredEvidence => "MISSING_REQUIRED_EVIDENCE",
            Self::InvalidEntryNode => "INVALID_ENTRY_NODE",
            Self::InvalidEventSequence => "INVALID_EVENT_SEQUENCE",
            Self::TransitionNodeMismatch => "TRANSITION_NODE_MISMATCH",
            Self::MissingRequiredNode => "MISSING_REQUIRED_NODE",
            Self::MissingSuccessTerminal => "MISSING_SUCCESS_TERMINAL",
            Self::InvalidSuccessTerminal => "INVALID_SUCCESS_TERMINAL",
            Self::MissingFailedTerminal => "MISSING_FAILED_TERMINAL",
        }
    }
}

/// One thing that is not as the graph demands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Irregularity {
    /// Which rule.
    pub code: Code,
    /// Where; `None` where it is about something absent.
    pub place: Option<Place>,
    /// The node it is about, or that the transition leads to.
    pub node: Option<String>,
    /// What is wrong, for people.
    pub detail: Message,
}

/// All irregularities of a trace. Of each code the first ones are kept, so that no code hides another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Irregularities {
    kept: Vec<Irregularity>,
    counts: BTreeMap<Code, usize>,
    more: usize,
}

impl Irregularities {
    fn push(&mut self, irregularity: Irregularity) {
        let count = self.counts.entry(irregularity.code).or_default();
        *count += 1;
        if *count <= KEPT || irregularity.code == Code::MissingRequiredNode {
            self.kept.push(irregularity);
        } else {
            self.more += 1;
        }
    }

    /// Those that are kept, in order.
    #[must_use]
    pub fn kept(&self) -> &[Irregularity] {
        &self.kept
    }

    /// How many more there are.
    #[must_use]
    pub fn more(&self) -> usize {
        self.more
    }
}

/// Compares a trace with its graph. `graph_digest` is that of the graph's file, where it has one.
#[must_use]
pub fn check(execution: &Execution, graph: &Graph, graph_digest: Option<&str>) -> Irregularities {
    let mut found = Irregularities::default();
    let entries = execution.entries.as_slice();
    let mut report = |code, place: Option<Place>, node: Option<&str>, detail: Message| {
        found.push(Irregularity { code, place, node: node.map(str::to_owned), detail });
    };
    let schema = execution.schema_version.as_deref().unwrap_or_default();
    if schema != SCHEMA {
        let detail = Message::new("the schema of the trace is {}, not {}", &[schema, SCHEMA]);
        report(Code::InvalidTraceSchema, None, None, detail);
    }
    if let Some(own) = graph_digest {
        let named = execution.graph_digest.as_deref().unwrap_or("none");
        if named != own {
            let detail = Message::new(
                "the trace is bound to a graph with digest {}, but the graph has {}",
                &[named, own],
            );
            report(Code::GraphDigestMismatch, None, None, detail);
        }
    }
    outcome(execution, graph, &mut report);
    let first = entries.iter().find(|entry| entry.kind == Kind::Node);
    if first.and_then(|entry| entry.node.as_deref()) != Some(graph.entry.as_str()) {
        let detail = Message::new("the first node is not {}, where the graph begins", &[&graph.entry]);
        report(Code::InvalidEntryNode, first.map(|entry| entry.place), Some(&graph.entry), detail);
    }
    if graph.ordered {
        alternation(entries, &mut report);
    }
    for entry in entries {
        match entry.kind {
            Kind::Node => {
                let node = entry.node.as_deref().unwrap_or_default();
                if !graph.has_node(node) {
                    let detail = Message::new("the graph declares no node {}", &[node]);
                    report(Code::UndeclaredNode, Some(entry.place), Some(node), detail);
                }
            }
            Kind::Transition => transition(entry, graph, &mut report),
            Kind::Other => {}
        }
    }
    found
}

/// Takes code, place, node and detail of one irregularity.
type Report<'a> = dyn FnMut(Code, Option<Place>, Option<&str>, Message) + 'a;

fn transition(entry: &Entry, graph: &Graph, report: &mut Report<'_>) {
    let from = entry.from.as_deref().unwrap_or_default();
    let to = entry.to.as_deref().unwrap_or_default();
    let Some(receipts) = graph.receipts(from, to) else {
        let detail = Message::new("the graph declares no transition {} → {}", &[from, to]);
        report(Code::UndeclaredTransition, Some(entry.place), Some(to), detail);
        return;
    };
    let absent: Vec<&str> =
        receipts.iter().filter(|receipt| !entry.evidence.contains(receipt)).map(String::as_str).collect();
    if !absent.is_empty() {
        let receipts = Message::new(&list(absent.len()), &absent);
        let detail = Message::new("the transition {} → {} lacks the receipt ", &[from, to]).and(receipts);
        report(Code::MissingRequiredEvidence, Some(entry.place), Some(to), detail);
    }
}

fn alternation(entries: &[Entry], report: &mut Report<'_>) {
    if entries.len().is_multiple_of(2) {
        let text = format!(
            "the trace has {} events; nodes with transitions between them are an odd number",
            entries.len()
        );
        let detail = Message::new(&text, &[]);
        report(Code::InvalidEventSequence, None, None, detail);
    }
    for (at, entry) in entries.iter().enumerate() {
        let (expected, name) =
            if at % 2 == 0 { (Kind::Node, "node") } else { (Kind::Transition, "transition") };
        if entry.kind != expected {
            let detail = Message::new(&format!("event {} is no {name}", at + 1), &[]);
            report(Code::InvalidEventSequence, Some(entry.place), entry.node.as_deref(), detail);
        }
    }
    for (at, three) in entries.windows(3).enumerate().step_by(2) {
        let [before, entry, after] = three else { continue };
        if entry.from != before.node || entry.to != after.node {
            let detail = Message::new(&format!("event {} does not connect the nodes around it", at + 2), &[]);
            report(Code::TransitionNodeMismatch, Some(entry.place), entry.to.as_deref(), detail);
        }
    }
}

fn outcome(execution: &Execution, graph: &Graph, report: &mut Report<'_>) {
    let last = execution.entries.last();
    let last_node = last.filter(|entry| entry.kind == Kind::Node);
    if execution.outcome.as_deref() == Some("succeeded") {
        let completed = completed(&execution.entries);
        for (node, _) in graph.nodes.iter().filter(|(_, required)| *required) {
            if !completed.contains(node.as_str()) {
                let detail = Message::new(
                    "the trace claims success, but the required node {} did not complete",
                    &[node],
                );
                report(Code::MissingRequiredNode, None, Some(node), detail);
            }
        }
        let terminal = graph.terminal.as_str();
        if !completed.contains(terminal) {
            let detail =
                Message::new("the trace claims success, but its terminal {} did not complete", &[terminal]);
            report(Code::MissingSuccessTerminal, None, Some(terminal), detail);
        } else if graph.ordered && last_node.and_then(|entry| entry.node.as_deref()) != Some(terminal) {
            let detail = Message::new("the trace does not end at its terminal {}", &[terminal]);
            report(Code::InvalidSuccessTerminal, last.map(|entry| entry.place), Some(terminal), detail);
        }
    } else if graph.ordered && last_node.and_then(|entry| entry.status.as_deref()) != Some("failed") {
        let text = "the trace does not claim success, but it does not end with the node that failed";
        let detail = Message::new(text, &[]);
        report(Code::MissingFailedTerminal, last.map(|entry| entry.place), None, detail);
    }
}

/// The nodes that completed. Collected once: a graph may have as many nodes as its trace has events.
fn completed(entries: &[Entry]) -> HashSet<&str> {
    let nodes = entries.iter().filter(|entry| entry.kind == Kind::Node);
    let completed = nodes.filter(|entry| entry.status.as_deref() == Some("completed"));
    completed.filter_map(|entry| entry.node.as_deref()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::built_in;
    use std::collections::BTreeSet;

    /// The case of the fixtures, changed by a function.
    fn codes(change: impl Fn(&mut serde_json::Value)) -> BTreeSet<&'static str> {
        let bytes = include_str!("../../fixtures/verified-success__git-ape-v1/traces/run-1.json");
        let mut document: serde_json::Value = serde_json::from_str(bytes).unwrap();
        change(&mut document);
        let execution = crate::trace::git_ape::read(document.to_string().as_bytes());
        let graph = built_in::deploy_graph().unwrap();
        check(&execution, &graph, None).kept().iter().map(|irregularity| irregularity.code.id()).collect()
    }

    #[test]
    fn each_code_has_a_trace_that_raises_it() {
        let events = |document: &mut serde_json::Value, change: &dyn Fn(&mut Vec<serde_json::Value>)| {
            change(document["events"].as_array_mut().unwrap());
        };
        assert_eq!(codes(|_| {}), BTreeSet::new());
        assert_eq!(codes(|d| d["schemaVersion"] = "x/v2".into()), BTreeSet::from(["INVALID_TRACE_SCHEMA"]));
        let renamed = codes(|d| events(d, &|e| e[0]["node"] = "x".into()));
        let expected =
            ["INVALID_ENTRY_NODE", "MISSING_REQUIRED_NODE", "TRANSITION_NODE_MISMATCH", "UNDECLARED_NODE"];
        assert_eq!(renamed, BTreeSet::from(expected));
        let receipt = codes(|d| events(d, &|e| e[1]["evidence"] = serde_json::json!([])));
        assert_eq!(receipt, BTreeSet::from(["MISSING_REQUIRED_EVIDENCE"]));
        let undeclared = codes(|d| events(d, &|e| e[1]["to"] = "azure_login".into()));
        assert_eq!(undeclared, BTreeSet::from(["TRANSITION_NODE_MISMATCH", "UNDECLARED_TRANSITION"]));
        let even = codes(|d| events(d, &|e| drop(e.pop())));
        let expected = ["INVALID_EVENT_SEQUENCE", "MISSING_REQUIRED_NODE", "MISSING_SUCCESS_TERMINAL"];
        assert_eq!(even, BTreeSet::from(expected));
        let after = codes(|d| events(d, &|e| e.extend([e[1].clone(), e[0].clone()])));
        assert_eq!(after, BTreeSet::from(["INVALID_SUCCESS_TERMINAL", "TRANSITION_NODE_MISMATCH"]));
        assert_eq!(codes(|d| d["outcome"] = "failed".into()), BTreeSet::from(["MISSING_FAILED_TERMINAL"]));
        let failed = codes(|d| {
            d["outcome"] = "failed".into();
            events(d, &|e| {
                e.truncate(5);
                e[4]["status"] = "failed".into();
            });
        });
        assert_eq!(failed, BTreeSet::new());
        let empty = codes(|d| d["events"] = serde_json::json!([]));
        let expected = [
            "INVALID_ENTRY_NODE",
            "INVALID_EVENT_SEQUENCE",
            "MISSING_REQUIRED_NODE",
            "MISSING_SUCCESS_TERMINAL",
        ];
        assert_eq!(empty, BTreeSet::from(expected));
    }

    #[test]
    fn a_digest_is_compared_where_the_graph_has_one() {
        let graph = built_in::deploy_graph().unwrap();
        let execution = Execution { graph_digest: Some("sha256:aa".to_owned()), ..Execution::default() };
        let has = |digest| {
            check(&execution, &graph, digest).kept().iter().any(|i| i.code == Code::GraphDigestMismatch)
        };
        assert!(has(Some("sha256:bb")));
        assert!(!has(Some("sha256:aa")));
        assert!(!has(None));
    }
}
