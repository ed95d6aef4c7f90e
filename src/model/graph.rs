//! `git-ape-execution-graph/v1`: the graph that a v1 trace is bound to. What is valid is what git-ape's own producer
//! accepts (`command_trace` of `git-ape-records.sh` in Azure/git-ape).

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Draft, Model, ModelError};
use crate::json;

/// The version that is read.
pub const SCHEMA: &str = "git-ape-execution-graph/v1";

/// An execution graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// `entryNode`.
    pub entry: String,
    /// `successTerminal`.
    pub terminal: String,
    /// Nodes and transitions must alternate.
    pub ordered: bool,
    /// Node → required for success, in the file's order.
    pub nodes: Vec<(String, bool)>,
    /// The names of the nodes.
    names: HashSet<String>,
    /// From → to → receipts.
    edges: HashMap<String, HashMap<String, Vec<String>>>,
    order: Vec<(String, String)>,
}

impl Graph {
    /// Reads a graph.
    ///
    /// # Errors
    /// What is wrong, with a JSON pointer to it.
    pub fn parse(bytes: &[u8]) -> Result<Self, ModelError> {
        let document = json::parse(bytes).map_err(|error| ModelError::new("", error.to_string()))?;
        if json::text(&document, "schemaVersion") != Some(SCHEMA) {
            return Err(ModelError::new("/schemaVersion", format!("not {SCHEMA}")));
        }
        string(&document, "", "graphId")?;
        let entry = string(&document, "", "entryNode")?;
        let terminal = string(&document, "", "successTerminal")?;
        let mut nodes = Vec::new();
        let mut names = HashSet::new();
        for (at, node) in array(&document, "nodes")?.iter().enumerate() {
            let id = string(node, &format!("/nodes/{at}"), "id")?;
            if !names.insert(id.clone()) {
                return Err(ModelError::new(format!("/nodes/{at}/id"), format!("`{id}` is there twice")));
            }
            nodes.push((id, node.get("requiredForSuccess") == Some(&Value::Bool(true))));
        }
        if nodes.is_empty() {
            return Err(ModelError::new("/nodes", "the graph has no node"));
        }
        for (key, node) in [("entryNode", &entry), ("successTerminal", &terminal)] {
            if !names.contains(node) {
                return Err(ModelError::new(format!("/{key}"), format!("`{node}` is no node of the graph")));
            }
        }
        let mut edges: HashMap<String, HashMap<String, Vec<String>>> = HashMap::new();
        let mut order = Vec::new();
        for (at, edge) in array(&document, "edges")?.iter().enumerate() {
            let pointer = format!("/edges/{at}");
            let (from, to) = (string(edge, &pointer, "from")?, string(edge, &pointer, "to")?);
            for (key, node) in [("from", &from), ("to", &to)] {
                if !names.contains(node) {
                    let reason = format!("`{node}` is no node of the graph");
                    return Err(ModelError::new(format!("{pointer}/{key}"), reason));
                }
            }
            let receipts = edge.get("requiredEvidence").and_then(Value::as_array);
            let receipts =
                receipts.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
            order.push((from.clone(), to.clone()));
            // Of two equal edges the last one counts, as in git-ape's validator.
            edges.entry(from).or_default().insert(to, receipts);
        }
        let ordered = document.get("ordered") == Some(&Value::Bool(true));
        Ok(Self { entry, terminal, ordered, nodes, names, edges, order })
    }

    /// The graph declares a node.
    #[must_use]
    pub fn has_node(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The receipts that a transition needs; `None` where the graph does not declare it.
    #[must_use]
    pub fn receipts(&self, from: &str, to: &str) -> Option<&[String]> {
        self.edges.get(from)?.get(to).map(Vec::as_slice)
    }

    /// The graph as a model: required nodes are essential, the rest optional, edges lead on.
    ///
    /// # Errors
    /// No node is required, or there are too many.
    pub fn model(&self) -> Result<Model, ModelError> {
        let names = |required| {
            let nodes = self.nodes.iter().filter(move |(_, is)| *is == required);
            nodes.map(|(name, _)| name.clone()).collect()
        };
        let draft = Draft {
            essential: names(true),
            optional: names(false),
            edges: self.order.clone(),
            terminal: Some(self.terminal.clone()),
            ..Draft::default()
        };
        Model::build(draft).map_err(|error| ModelError { pointer: "/nodes".to_owned(), ..error })
    }
}

fn string(object: &Value, pointer: &str, key: &str) -> Result<String, ModelError> {
    match json::text(object, key) {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(ModelError::new(format!("{pointer}/{key}"), "not a non-empty text")),
    }
}

fn array<'a>(object: &'a Value, key: &str) -> Result<&'a [Value], ModelError> {
    match object.get(key) {
        Some(Value::Array(items)) => Ok(items),
        _ => Err(ModelError::new(format!("/{key}"), "not an array")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAPH: &str = r#"{"schemaVersion":"git-ape-execution-graph/v1","graphId":"g","entryNode":"a","successTerminal":"c",
        "nodes":[{"id":"a","requiredForSuccess":true},{"id":"b"},{"id":"c","requiredForSuccess":true}],
        "edges":[{"from":"a","to":"b","requiredEvidence":["r"]},{"from":"b","to":"c"}]}"#;

    #[test]
    fn required_nodes_are_essential_and_the_order_leads_through_the_others() {
        let graph = Graph::parse(GRAPH.as_bytes()).unwrap();
        let model = graph.model().unwrap();
        assert_eq!((model.essential(), model.states()), (2, 3));
        assert_eq!((model.name(0), model.name(1), model.name(2)), ("a", "c", "b"));
        assert!(model.precedes(0, 1));
        assert_eq!(model.terminal(), Some(1));
        assert_eq!(graph.receipts("a", "b"), Some(&["r".to_owned()][..]));
        assert_eq!(graph.receipts("a", "c"), None);
        assert!(!graph.ordered);
    }

    #[test]
    fn what_is_wrong_is_pointed_at() {
        for (from, to, pointer) in [
            ("graph/v1", "graph/v2", "/schemaVersion"),
            (r#""graphId":"g""#, r#""graphId":"""#, "/graphId"),
            (r#""entryNode":"a""#, r#""entryNode":"x""#, "/entryNode"),
            (r#""successTerminal":"c""#, r#""successTerminal":"x""#, "/successTerminal"),
            (r#"{"id":"b"}"#, r#"{"id":"a"}"#, "/nodes/1/id"),
            (r#""from":"b""#, r#""from":"x""#, "/edges/1/from"),
            (r#""edges""#, r#""edgez""#, "/edges"),
        ] {
            let text = GRAPH.replacen(from, to, 1);
            assert_eq!(Graph::parse(text.as_bytes()).unwrap_err().pointer, pointer, "{text}");
        }
        let none = GRAPH.replace("true", "false");
        assert_eq!(Graph::parse(none.as_bytes()).unwrap().model().unwrap_err().pointer, "/nodes");
    }
}
