//! The checkpoints as a Mermaid diagram.

use std::fmt::Write as _;

use super::Report;
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
    let shown =
        report.states.len().min(if report.states.len() > MAX_NODES { MAX_NODES - 1 } else { MAX_NODES });
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
    for (b, before) in report.directly_before.iter().take(shown).enumerate() {
        for a in before.iter().filter(|a| **a < shown) {
            let _ = writeln!(out, "  s{a} --> s{b}");
        }
    }
    if report.states.len() > shown {
        let _ = writeln!(out, "  more[\"… and {} more\"]", report.states.len() - shown);
    }
    out.push_str("  classDef ok fill:#dafbe1,stroke:#1a7f37,color:#1f2328\n");
    out.push_str("  classDef odd fill:#fff8c5,stroke:#9a6700,color:#1f2328\n");
    out.push_str("  classDef bad fill:#ffebe9,stroke:#cf222e,color:#1f2328\n");
    out
}
