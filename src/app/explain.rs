//! The command that explains findings.

use super::command::Ending;
use crate::cli::Explain;
use crate::conformance::sequence::Code;
use crate::findings::explain::{Asked, find, of_code};
use crate::report::explanation;
use crate::runner;
use crate::verdict::FindingId;

/// Prints what is asked for.
///
/// # Errors
/// There is no such finding; what is there in its place.
pub(super) fn run(arguments: &Explain) -> Result<Ending, String> {
    let Some(name) = &arguments.finding else {
        runner::print(&explanation::list());
        return Ok(Ending::Verified);
    };
    match find(name) {
        Asked::Finding(id) => runner::print(&explanation::text(id)),
        Asked::Code(code) => runner::print(&of_a_code(code)),
        Asked::Unknown(near) => {
            let near = match near.as_slice() {
                [] => String::new(),
                near => format!(" Similar names: {}.", near.join(", ")),
            };
            let remedy = "`process-integrity explain` lists all findings";
            return Err(format!("there is no finding or code `{name}`.{near} {remedy}"));
        }
    }
    Ok(Ending::Verified)
}

fn of_a_code(code: Code) -> String {
    let ids = of_code(code);
    let names: Vec<&str> = ids.iter().copied().map(FindingId::id).collect();
    let mut text = format!("git-ape's {} is reported as {}.\n", code.id(), names.join(" or "));
    for id in ids {
        text.push_str(&format!("\n{}", explanation::text(*id)));
    }
    text
}
