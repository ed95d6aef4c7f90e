//! `check`: folders are checked, several at once, and told one after the other in their order. What cannot be checked is told
//! and stops nothing.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::attestation;
use super::check::{Checked, check};
use super::command::{Ending, places, state_map, workspace_of};
use super::job::{Commit, Job, Materials, Named, Options};
use super::parallel::{in_order, workers};
use super::patterns::{is_pattern, matching};
use super::plan;
use super::time::{Precision, now};
use crate::cli::{Check, Format};
use crate::message::Message;
use crate::model::Threshold;
use crate::report::attestation::{Attestation, Occasion, attest};
use crate::report::markdown::Context;
use crate::report::terminal::Colour;
use crate::report::{Report, annotations, json, junit, markdown, sarif, terminal as text};
use crate::runner::{self, Progress};
use crate::secrets::Secrets;
use crate::settings::Terminal;
use crate::verdict::Verdict;
use crate::workspace::{Refusal, Workspace};

/// Checks what the arguments name.
///
/// # Errors
/// What applies to all of it cannot be read; the reason and the remedy.
pub(super) fn run(arguments: &Check, terminal: &Terminal) -> Result<Ending, String> {
    let (here, everywhere) = places()?;
    let options = Options {
        evidence: arguments.evidence.into(),
        min_events: arguments.min_events,
        threshold: arguments.coverage_threshold.and_then(Threshold::of_percent),
        deployment_state: arguments.deployment_state.clone(),
        terminal_state: arguments.terminal_state.clone(),
        state_map: state_map(arguments.state_map.as_deref(), &here, &everywhere)?,
        secrets: Secrets::default(),
        trace_head: arguments.trace_head.clone().filter(|head| !head.is_empty()),
        commit: Commit { named: arguments.commit.clone().filter(|commit| !commit.is_empty()), of_run: None },
        materials: if arguments.attestation.is_some() { Materials::All } else { Materials::Judged },
    };
    // One time for all of them: that of the command.
    let occasion = Occasion { time: now(terminal.source_date, Precision::Seconds), base: String::new() };
    let mut tally = Tally::default();
    let asked = match (&arguments.plan, arguments.shard) {
        (Some(file), Some(shard)) => Asked::of_plan(file, shard, &here, &everywhere)?,
        _ => Asked::of(&arguments.folders, &here, &mut tally),
    };
    let one = asked.one();
    let layout = if one { json::Layout::Pretty } else { json::Layout::Line };
    let colour = runner::colour(terminal.no_color.as_deref(), terminal.term.as_deref());
    let place = Place { inside: asked.inside.clone(), here: here.clone(), everywhere };
    let work = |at: usize| {
        let job = place.job(asked.folders.get(at).and_then(Option::as_ref), arguments)?;
        let Checked { report, warnings } = check(&job, &options).map_err(|error| error.to_string())?;
        let rendered = rendered(&report, arguments.format, colour, layout);
        let attestation = arguments.attestation.as_ref().map(|_| attest(&report, &occasion));
        Ok::<Done, String>(Done { report, rendered, warnings, attestation })
    };
    let workers = arguments.jobs.map_or_else(workers, usize::from);
    let mut progress = Progress::new(asked.folders.len(), terminal.term.as_deref(), terminal.ci.as_deref());
    in_order(asked.folders.len(), workers, work, |at, outcome| {
        let done = match outcome {
            Ok(Ok(done)) => done,
            Ok(Err(reason)) => {
                progress.complain(&format!("error: {reason}"));
                return tally.not_checked(arguments, &mut progress);
            }
            Err(interruption) => {
                let folder = asked.folders.get(at).and_then(Option::as_ref);
                let shown = folder.map_or("the trace", |folder| folder.shown.as_str());
                progress.complain(&format!("error: {shown}: {}", interruption.reason()));
                return tally.not_checked(arguments, &mut progress);
            }
        };
        tally.take(done, arguments, &mut progress)
    });
    let document = match arguments.format {
        Format::Sarif => Some(sarif::render(&tally.documents, repository(&here))),
        Format::Junit => Some(junit::render(&tally.documents)),
        Format::Text | Format::Brief | Format::Markdown | Format::Json | Format::Annotations => None,
    };
    if let Some(document) = document {
        tally.deliver(&document, &progress);
    }
    drop(progress);
    if let Some(path) = &arguments.attestation {
        let outputs = attestation::outputs(&tally.attestations, &here.join(path));
        for output in [outputs.statement, outputs.predicate, outputs.subjects] {
            runner::write_or_remove(&output.path, output.text.as_deref()).map_err(|error| {
                format!("the attestation cannot be written to {}: {error}", output.path.display())
            })?;
        }
    }
    Ok(tally.end(arguments.format, one))
}

/// What one check came to, ready to be printed: rendering takes as long as a good part of the check.
struct Done {
    report: Report,
    rendered: Option<String>,
    warnings: Vec<Message>,
    attestation: Option<Attestation>,
}

/// `None` in a format that is one document on all of them.
fn rendered(report: &Report, format: Format, colour: Colour, layout: json::Layout) -> Option<String> {
    Some(match format {
        Format::Text => text::render(report, colour),
        Format::Brief => text::brief(report, colour),
        Format::Markdown => markdown::render(report, &Context::default()),
        Format::Json => json::render(report, layout),
        Format::Annotations => annotations::render(report),
        Format::Sarif | Format::Junit => return None,
    })
}

/// What was told so far.
#[derive(Default)]
struct Tally {
    verdicts: Vec<Verdict>,
    /// So many could not be checked.
    failed: usize,
    /// Nobody takes what is printed.
    broken: bool,
    warned: BTreeSet<String>,
    /// Where they are asked for.
    attestations: Vec<Attestation>,
    /// In a format that is one document on all of them.
    documents: Vec<Report>,
}

impl Tally {
    fn take(&mut self, done: Done, arguments: &Check, progress: &mut Progress) -> ControlFlow<()> {
        for warning in done.warnings {
            let warning = warning.to_string();
            if !self.warned.contains(&warning) {
                progress.complain(&format!("warning: {warning}"));
                self.warned.insert(warning);
            }
        }
        self.attestations.extend(done.attestation);
        let verdict = done.report.verdict;
        self.verdicts.push(verdict);
        match done.rendered {
            None => self.documents.push(done.report),
            Some(rendered) => {
                let rule =
                    if arguments.format == Format::Text && self.verdicts.len() > 1 { "\n" } else { "" };
                self.deliver(&format!("{rule}{rendered}"), progress);
                if self.broken {
                    return ControlFlow::Break(());
                }
            }
        }
        progress.step();
        let enough = arguments.fail_fast && verdict != Verdict::VerifiedSuccess;
        if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Prints. What nobody was told is not verified.
    fn deliver(&mut self, text: &str, progress: &Progress) {
        if let Err(error) = progress.deliver(text) {
            progress.complain(&format!("error: the reports cannot be written: {error}"));
            self.broken = true;
        }
    }

    fn not_checked(&mut self, arguments: &Check, progress: &mut Progress) -> ControlFlow<()> {
        self.failed += 1;
        progress.step();
        if arguments.fail_fast { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The closing words, and the ending.
    fn end(self, format: Format, one: bool) -> Ending {
        match format {
            Format::Text if !one && !self.broken => {
                runner::print(&format!("\n{}", text::tally(&self.verdicts)));
            }
            Format::Brief if !one && !self.broken => runner::print(&text::tally(&self.verdicts)),
            Format::Text
            | Format::Brief
            | Format::Markdown
            | Format::Json
            | Format::Annotations
            | Format::Sarif
            | Format::Junit => {}
        }
        if self.failed > 0 && !one {
            let were = if self.failed == 1 { "1 could" } else { &format!("{} could", self.failed) };
            runner::complain(&format!("error: {were} not be checked, as told above"));
        }
        let verified = self.verdicts.iter().all(|verdict| *verdict == Verdict::VerifiedSuccess);
        match (self.broken || self.failed > 0, verified) {
            (true, _) => Ending::CouldNotRun,
            (false, true) => Ending::Verified,
            (false, false) => Ending::NotVerified,
        }
    }
}

/// What is asked for.
struct Asked {
    /// In the order in which they are told. `None` is a trace without a folder.
    folders: Vec<Option<Named>>,
    /// One folder is named: its report is written for a person, and needs no tally.
    named: bool,
    /// Where they have to lie. A person may name any folder, a plan may not.
    inside: Option<Workspace>,
}

impl Asked {
    fn of(given: &[PathBuf], here: &Path, tally: &mut Tally) -> Self {
        let mut folders = Vec::new();
        let mut named = true;
        for given in given {
            let Some(pattern) = given.to_str().filter(|text| is_pattern(here, text)) else {
                folders.push(Some(Named::new(given, here)));
                continue;
            };
            named = false;
            let before = folders.len();
            let matched = matching(here, pattern);
            let reason = match matched {
                Ok(paths) => {
                    let mut paths: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
                    paths.sort();
                    paths.dedup();
                    folders.extend(paths.iter().map(|path| Some(shown_from(here, path, pattern))));
                    "no folder matches it"
                }
                Err(reason) => &format!("it is no pattern: {reason}"),
            };
            if folders.len() == before {
                runner::complain(&format!("error: {pattern}: {reason}"));
                tally.failed += 1;
            }
        }
        if given.is_empty() {
            folders.push(None);
        }
        Self { folders, named, inside: None }
    }

    /// The folders of a shard. The file may come from anywhere.
    fn of_plan(file: &Path, shard: usize, here: &Path, everywhere: &Workspace) -> Result<Self, String> {
        let shown = file.display();
        let plan = plan::read(everywhere, &Named::new(file, here))
            .map_err(|reason| format!("the plan {shown} cannot be used: {reason}"))?;
        let folders = plan.shard(shard).ok_or_else(|| {
            format!("{shown} has no shard {shard}; its shards are counted from 1 to {}", plan.shards())
        })?;
        let inside =
            Workspace::new(here).map_err(|error| format!("the current folder cannot be read: {error}"))?;
        let folders = folders.iter().map(|folder| Some(Named::new(Path::new(&folder.path), here))).collect();
        Ok(Self { folders, named: false, inside: Some(inside) })
    }

    fn one(&self) -> bool {
        self.named && self.folders.len() == 1
    }
}

/// Gives the path in the repository of what is there: in the nearest folder above that is a repository, else in the current
/// one.
fn repository(here: &Path) -> impl Fn(&str) -> Option<String> {
    let root = here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(here);
    let workspace = Workspace::new(root).ok();
    move |shown: &str| workspace.as_ref()?.relative(&here.join(shown))
}

/// A path that a pattern found, shown the way that the pattern was given.
fn shown_from(here: &Path, path: &Path, pattern: &str) -> Named {
    let shown = if Path::new(pattern).is_absolute() { path } else { path.strip_prefix(here).unwrap_or(path) };
    Named::new(shown, here)
}

/// Where the command stands.
struct Place {
    /// Beyond it no folder is checked.
    inside: Option<Workspace>,
    here: PathBuf,
    everywhere: Workspace,
}

impl Place {
    fn job(&self, folder: Option<&Named>, arguments: &Check) -> Result<Job, String> {
        let named = |path: &Option<PathBuf>| path.as_deref().map(|path| Named::new(path, &self.here));
        let workspace = match folder {
            None => self.everywhere.clone(),
            Some(folder) => {
                let shown = &folder.shown;
                if let Some(inside) = &self.inside {
                    inside.resolve(&folder.path).map_err(|refusal| match refusal {
                        Refusal::Absent => format!("{shown} is not there any more; plan again"),
                        Refusal::Outside | Refusal::NotAFile | Refusal::TooLarge(_) | Refusal::Failed(_) => {
                            format!("{shown} is not checked: it does not lie in the current folder")
                        }
                    })?;
                }
                if !folder.path.is_dir() {
                    let remedy =
                        "name a deployment folder, such as .azure/deployments/deploy-20261005-120000";
                    return Err(format!("{shown} is no folder; {remedy}"));
                }
                workspace_of(&folder.path, &self.here)
                    .map_err(|error| format!("{shown} cannot be read: {error}; check its permissions"))?
            }
        };
        Ok(Job {
            workspace,
            named: self.everywhere.clone(),
            folder: folder.cloned(),
            trace: named(&arguments.trace),
            model: named(&arguments.model),
            tests: named(&arguments.tests),
        })
    }
}
