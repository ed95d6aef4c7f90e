//! The checkpoints as a Mermaid diagram.

use std::fmt::Write as _;

use super::Report;
use super::learning::Learning;
use crate::conformance::StateStatus;
use crate::escape;

/// More nodes than this do not render well on GitHub.
pub const MAX_NODES: usize = 60;
/// Characters of a name that are shown.
const NAME_SHOWN: usize = 60;

/// A flowchart of the essential states and the order between them. Ids are generated: names go into labels only.
#[must_use]
pub fn mermaid(report: &Report) -> String {
    let mut out = String::from("flowchart TD\n");
    let shown = nodes_shown(report.states.len());
    for (at, state) in report.states.iter().take(shown).enumerate() {
        let (sign, class) = match state.status {
            StateStatus::Covered => ("✔", "ok"),
            StateStatus::OutOfOrder => ("⇅", "odd"),
            StateStatus::Missing | StateStatus::Failed | StateStatus::Late | StateStatus::Stale => {
                ("✘", "bad")
            }
        };
        let name = escape::mermaid(&escape::cut(&state.id, NAME_SHOWN));
        let covered = state.status == StateStatus::Covered;
        let word = if covered { String::new() } else { format!("<br/>{}", state.status.id()) };
        let _ = writeln!(out, "  s{at}[\"{sign} {name}{word}\"]:::{class}");
    }
    edges(report.directly_before.iter().map(Vec::as_slice), report.states.len(), shown, &mut out);
    out.push_str("  classDef ok fill:#dafbe1,stroke:#1a7f37,color:#1f2328\n");
    out.push_str("  classDef odd fill:#fff8c5,stroke:#9a6700,color:#1f2328\n");
    out.push_str("  classDef bad fill:#ffebe9,stroke:#cf222e,color:#1f2328\n");
    out
}

/// A flowchart of a model that was learned.
#[must_use]
pub fn model(learning: &Learning) -> String {
    let mut out = String::from("flowchart TD\n");
    let shown = nodes_shown(learning.essential.len());
    for (at, state) in learning.essential.iter().take(shown).enumerate() {
        let class = match (Some(&state.id) == learning.deployment.as_ref(), state.guard) {
            (true, _) => "deployment",
            (false, true) => "guard",
            (false, false) => "state",
        };
        let name = escape::mermaid(&escape::cut(&state.id, NAME_SHOWN));
        let _ = writeln!(out, "  s{at}[\"{name}\"]:::{class}");
    }
    let before = learning.essential.iter().map(|state| state.after.as_slice());
    edges(before, learning.essential.len(), shown, &mut out);
    out.push_str("  classDef guard fill:#dafbe1,stroke:#1a7f37,color:#1f2328\n");
    out.push_str("  classDef deployment fill:#ddf4ff,stroke:#0969da,color:#1f2328\n");
    out.push_str("  classDef state fill:#f6f8fa,stroke:#57606a,color:#1f2328\n");
    out
}

/// One node is left for the number of those that are not shown.
fn nodes_shown(states: usize) -> usize {
    if states > MAX_NODES { MAX_NODES - 1 } else { states }
}

fn edges<'a>(before: impl Iterator<Item = &'a [usize]>, states: usize, shown: usize, out: &mut String) {
    for (b, before) in before.take(shown).enumerate() {
        for a in before.iter().filter(|a| **a < shown) {
            let _ = writeln!(out, "  s{a} --> s{b}");
        }
    }
    if states > shown {
        let _ = writeln!(out, "  more[\"… and {} more\"]", states - shown);
    }
}
