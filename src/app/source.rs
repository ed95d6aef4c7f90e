//! The trace of a job: its format is recognised, and it is read as often as it takes.

use std::io::{BufRead, Read};

use super::discover;
use super::job::{Job, Named, Options};
use crate::findings::TraceFacts;
use crate::trace::git_ape::{self, Execution};
use crate::trace::replay::Replay;
use crate::trace::run::{Admission, Pick, RunFilter};
use crate::trace::{Damage, Event, Place, Producer, Reading, Recognition, TraceFormat, Watch, sniff};
use crate::workspace::{Stream, TRACE_CAP};

/// A trace that is to be read.
pub(super) enum Source<'a> {
    None,
    /// A document that was read already, since it says which graph it is bound to.
    Document(Box<Execution>),
    /// A stream of events, read for a given model.
    Stream {
        job: &'a Job,
        file: Named,
        format: TraceFormat,
        options: &'a Options,
        digest: Digest,
    },
    /// A stream that was read before, and kept.
    Replay(&'a Replay),
}

/// Whether the digest of a file is wanted when it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Digest {
    Wanted,
    /// It was read before, and hashing it takes a good part of the time.
    Known,
}

impl<'a> Source<'a> {
    pub(super) fn open(
        job: &'a Job,
        chosen: Option<Named>,
        options: &'a Options,
        trace: &mut TraceFacts,
    ) -> Self {
        let Some(file) = chosen else { return Self::None };
        let Some(mut input) = open(job, &file, Digest::Wanted) else {
            trace.absent = Some(format!("{}: it cannot be opened", file.shown));
            return Self::None;
        };
        trace.file = Some(file.shown.clone());
        let traces = job.folder.as_ref().map(|folder| folder.join(discover::TRACES_FOLDER).path);
        let in_traces = traces.is_some_and(|traces| file.path.parent() == Some(traces.as_path()));
        let head = input.fill_buf().unwrap_or_default();
        let (format, recognition) = match sniff::sniff(head) {
            // What lies in git-ape's own folder is one document, whatever stands on a line of it.
            Some(TraceFormat::GitApeJsonl) | None if in_traces && job.trace.is_none() => {
                (TraceFormat::GitApeV1, Recognition::Folder)
            }
            Some(format) => (format, Recognition::Content),
            // A file whose content tells nothing is what its name says.
            None if job.trace.is_some() => (TraceFormat::GitApeJsonl, Recognition::Assumed),
            None if file.shown.ends_with(discover::OTLP_ENDING) => (TraceFormat::Otlp, Recognition::Name),
            None if file.shown.ends_with(discover::EVENTS_FILE) => {
                (TraceFormat::CopilotEvents, Recognition::Name)
            }
            None => (TraceFormat::GitApeJsonl, Recognition::Assumed),
        };
        trace.recognition = Some(recognition);
        trace.producer = Some(format.producer());
        trace.format = Some(format);
        if format != TraceFormat::GitApeV1 {
            return Self::Stream { job, file, format, options, digest: Digest::Wanted };
        }
        let execution = git_ape::read(&mut input);
        trace.digest = input.into_inner().finish();
        trace.outcome.clone_from(&execution.outcome);
        if execution.producer.as_deref() == Some("workflow") {
            trace.producer = Some(Producer::Workflow);
        }
        trace.reading = execution.reading.clone();
        Self::Document(Box::new(execution))
    }

    /// The same, of a file that was hashed before.
    pub(super) fn again(self) -> Self {
        match self {
            Self::Stream { job, file, format, options, .. } => {
                Self::Stream { job, file, format, options, digest: Digest::Known }
            }
            Self::None | Self::Document(_) | Self::Replay(_) => self,
        }
    }

    /// The document, of a format that is one.
    pub(super) fn execution(&self) -> Option<&Execution> {
        match self {
            Self::Document(execution) => Some(execution),
            Self::None | Self::Stream { .. } | Self::Replay(_) => None,
        }
    }

    /// Watches the run that is judged: the last one of the file.
    pub(super) fn watch<W: Watch>(&mut self, fresh: impl Fn() -> W, trace: &mut TraceFacts) -> W {
        match self {
            Self::None => fresh(),
            Self::Replay(replay) => {
                let mut watch = fresh();
                replay.watch(&mut watch);
                watch
            }
            Self::Document(execution) => {
                let mut watch = fresh();
                for entry in &execution.entries {
                    watch.tick(entry.time, entry.place);
                    if let Some(event) = entry.event() {
                        watch.event(&event);
                    }
                }
                trace.all_events = execution.entries.len() as u64;
                watch
            }
            Self::Stream { job, file, format, options, digest } => {
                let read = |watch: W, pick: Pick, digest: Digest, trace: &mut TraceFacts| {
                    let input = open(job, file, digest)?;
                    Some(read_run(input, *format, options, watch, pick, trace))
                };
                let first = read(fresh(), Pick::First, *digest, trace);
                let Some((watched, last)) = first else { return fresh() };
                let Some(last) = last else { return watched };
                // The last run is another than the first: only now is its id known.
                let mut again = TraceFacts { deployment: trace.deployment.clone(), ..TraceFacts::default() };
                let second = read(fresh(), Pick::Run(last), *digest, &mut again);
                if again.digest != trace.digest {
                    // What is judged is not what was hashed, and what was looked at for damage.
                    let reason = "the file was changed while it was read".to_owned();
                    trace.reading.damage.push(Damage { place: Place { line: 1, offset: 0 }, reason });
                }
                second.map_or(watched, |(watched, _)| watched)
            }
        }
    }
}

fn open(job: &Job, file: &Named, digest: Digest) -> Option<Stream> {
    let scope = if job.trace.as_ref() == Some(file) { &job.named } else { &job.workspace };
    match digest {
        Digest::Wanted => scope.stream(&file.path).ok(),
        Digest::Known => scope.stream_again(&file.path).ok(),
    }
}

/// Reads a file once, watching one run of it. Gives the run that must be judged instead, if it is another one.
fn read_run<W: Watch>(
    mut input: Stream,
    format: TraceFormat,
    options: &Options,
    mut watch: W,
    pick: Pick,
    trace: &mut TraceFacts,
) -> (W, Option<String>) {
    let mut filter = RunFilter::new(trace.deployment.clone(), pick);
    let mut all = 0;
    let mut sink = |event: Event<'_>| {
        all += 1;
        if filter.admit(&event) == Admission::Judged {
            watch.tick(event.time, event.place);
            watch.event(&event);
        }
    };
    // A file that grows while it is read is read to the cap only.
    let mut capped = (&mut input).take(TRACE_CAP);
    trace.reading = format.read(&mut capped, &options.state_map, &mut sink);
    trace.all_events = all;
    trace.digest = input.into_inner().finish();
    trace.runs = filter.runs();
    let (count, first) = filter.foreign();
    trace.foreign = (count, first.cloned());
    let last = filter.last().map(str::to_owned);
    (watch, last)
}

/// The format of a file that its content tells.
pub(super) fn format_of(job: &Job, file: &Named) -> Option<TraceFormat> {
    let mut input = job.workspace.stream_again(&file.path).ok()?;
    sniff::sniff(input.fill_buf().ok()?)
}

/// Reads a log of a harness to its end; gives what could not be read in it, and its digest.
pub(super) fn read_log(
    job: &Job,
    file: &Named,
    format: TraceFormat,
    options: &Options,
    watch: &mut impl Watch,
) -> Option<(Reading, String)> {
    let mut input = job.workspace.stream(&file.path).ok()?;
    let mut capped = (&mut input).take(TRACE_CAP);
    let reading = format.read(&mut capped, &options.state_map, &mut |event| watch.event(&event));
    Some((reading, input.into_inner().finish().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Event, Place, Time};
    use crate::workspace::Workspace;

    struct Nobody;
    impl Watch for Nobody {
        fn event(&mut self, _: &Event<'_>) {}
        fn tick(&mut self, _: Time, _: Place) {}
    }

    #[test]
    fn a_file_that_changes_between_two_readings_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.jsonl");
        let write = |gate: &str| {
            std::fs::write(
                &path,
                format!("{{\"state\":\"a\",\"run_id\":1}}\n{{\"state\":\"{gate}\",\"run_id\":2}}\n"),
            )
            .unwrap();
        };
        let workspace = Workspace::new(folder.path()).unwrap();
        let job = Job {
            named: workspace.clone(),
            workspace,
            folder: Some(Named { shown: "d".to_owned(), path: folder.path().to_owned() }),
            trace: None,
            model: None,
            tests: None,
        };
        let options = Options::default();
        let damage = |change: bool| {
            write("blocked");
            let mut trace = TraceFacts::default();
            let file = Named { shown: "d/trace.jsonl".to_owned(), path: path.clone() };
            let mut source = Source::open(&job, Some(file), &options, &mut trace);
            let readings = std::cell::Cell::new(0);
            // Asked for before each of the two readings, since the last run is not the first.
            let fresh = || {
                readings.set(readings.get() + 1);
                if readings.get() == 2 && change {
                    write("passed!");
                }
                Nobody
            };
            source.watch(fresh, &mut trace);
            assert_eq!(readings.get(), 2);
            trace.reading.damage.count()
        };
        assert_eq!((damage(false), damage(true)), (0, 1));
    }
}
