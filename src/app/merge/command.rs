//! `process-integrity merge`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{complaints, expected, fleet, gather};
use crate::app::command::{Ending, places};
use crate::app::job::Named;
use crate::cli::{Merge, MergeFormat};
use crate::report::fleet::{html, json, markdown, terminal as text};
use crate::runner;
use crate::settings::Terminal;

/// Merges, prints, and writes the files that were asked for.
pub(in crate::app) fn run(arguments: &Merge, terminal: &Terminal) -> Result<Ending, String> {
    let (here, everywhere) = places()?;
    // Sorted, so that the order in which the files are named does not matter; each once, however often it is named.
    let reports: BTreeMap<PathBuf, Named> = arguments
        .reports
        .iter()
        .map(|given| Named::new(given, &here))
        .map(|named| (named.path.canonicalize().unwrap_or(named.path.clone()), named))
        .collect();
    let mut reports: Vec<Named> = reports.into_values().collect();
    reports.sort_by(|a, b| a.shown.cmp(&b.shown));
    let plan = arguments.plan.as_deref().map(|given| Named::new(given, &here));
    let targets = [&arguments.json, &arguments.markdown, &arguments.html];
    let mut names: Vec<PathBuf> =
        targets.into_iter().flatten().map(|target| Named::new(target, &here)).map(whole_path).collect();
    names.sort();
    if names.windows(2).any(|pair| pair.first() == pair.last()) {
        return Err("two outputs have the same name; name a file for each".to_owned());
    }
    not_over_an_input(targets.into_iter().flatten(), reports.iter().chain(&plan), &here)?;
    let plan = plan.map(|plan| expected(&everywhere, &plan)).transpose()?;
    let gathering = gather(&everywhere, &reports);
    for complaint in complaints(&gathering) {
        runner::complain(&format!("warning: {complaint}"));
    }
    let fleet = fleet(gathering, plan.as_ref())?;
    let markdown = || markdown::render_within(&fleet, arguments.markdown_limit);
    write(&here, arguments.json.as_deref(), || json::render(&fleet))?;
    write(&here, arguments.markdown.as_deref(), markdown)?;
    write(&here, arguments.html.as_deref(), || html::render(&fleet))?;
    runner::print(&match arguments.format {
        MergeFormat::Text => {
            text::render(&fleet, runner::colour(terminal.no_color.as_deref(), terminal.term.as_deref()))
        }
        MergeFormat::Markdown => markdown(),
        MergeFormat::Json => json::render(&fleet),
        MergeFormat::Html => html::render(&fleet),
    });
    Ok(if fleet.is_verified() { Ending::Verified } else { Ending::NotVerified })
}

/// The path without what does not lead anywhere else.
fn whole_path(named: Named) -> PathBuf {
    named.path.components().filter(|part| *part != std::path::Component::CurDir).collect()
}

fn write(here: &Path, target: Option<&Path>, render: impl Fn() -> String) -> Result<(), String> {
    let Some(target) = target else { return Ok(()) };
    runner::write_file(&here.join(target), &render())
        .map_err(|error| format!("{} cannot be written: {error}; name another file", target.display()))
}

/// A report that is overwritten by the picture is lost.
fn not_over_an_input<'a>(
    targets: impl Iterator<Item = &'a PathBuf>,
    inputs: impl Iterator<Item = &'a Named> + Clone,
    here: &Path,
) -> Result<(), String> {
    for target in targets {
        let Ok(real) = here.join(target).canonicalize() else { continue };
        let mut inputs = inputs.clone();
        if inputs.any(|input| input.path.canonicalize().is_ok_and(|input| input == real)) {
            return Err(format!(
                "{} would be written over what is read; name another file",
                target.display()
            ));
        }
    }
    Ok(())
}
