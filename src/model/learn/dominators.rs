//! The states that no way to the end goes around, in the merged graph of the runs.
//!
//! That is the notion of arXiv:2605.03159: the prefix tree of the completed states of all golden runs, in which nodes of
//! the same state are merged; a state is a dominator where every path from the beginning to the end leads through it. A
//! path of the merged graph need not be a run, so the notion loses what a mixture of two runs goes around.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};

use super::Golden;

/// The names of the dominators of the end.
#[must_use]
pub fn of_the_end(goldens: &[&Golden]) -> BTreeSet<String> {
    let mut graph: DiGraph<&str, ()> = DiGraph::new();
    let (begin, end) = (graph.add_node(""), graph.add_node(""));
    // Sorted, so that the same runs give the same graph.
    let steps: BTreeSet<(Option<&str>, Option<&str>)> =
        goldens.iter().flat_map(|golden| golden.steps()).collect();
    let mut nodes: BTreeMap<&str, NodeIndex> = BTreeMap::new();
    for (from, to) in steps {
        let mut node = |name: Option<_>, otherwise| match name {
            None => otherwise,
            Some(name) => *nodes.entry(name).or_insert_with(|| graph.add_node(name)),
        };
        let (from, to) = (node(from, begin), node(to, end));
        graph.add_edge(from, to, ());
    }
    let dominators = simple_fast(&graph, begin);
    let names = dominators.strict_dominators(end).into_iter().flatten();
    names
        .filter_map(|node| graph.node_weight(node))
        .filter(|name| !name.is_empty())
        .map(|name| (*name).to_owned())
        .collect()
}
