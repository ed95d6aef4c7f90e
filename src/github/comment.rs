//! One comment a key on a pull request: what is to be done is planned purely, then carried out.
//!
//! Nobody's action survives two jobs that comment at the same moment, so it converges: the comment with the lowest id stays,
//! the newest run's verdict stays in it, everybody reads again after writing and removes only what is our own.

use std::time::{Duration, Instant};

use self::history::Row;
use super::api::Comment;
use super::{GitHub, Number, Refusal};
use crate::digest::digest;
use crate::escape::percent;
use crate::report::markdown::Context;
use crate::report::several::Told;
use crate::verdict::Verdict;

mod history;

/// What GitHub takes is 65,536; this is counted in bytes, which are never fewer than UTF-16 units.
pub const SIZE: usize = 60_000;
/// Verdicts that are kept in the comment, this run's included.
const HISTORY: usize = 10;
/// A key that would be longer in the marker is hashed.
const KEY_SHOWN: usize = 120;

/// When comments are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// For every verdict.
    #[default]
    Always,
    /// A new one only for a problem; one that is there is kept up to date.
    OnProblem,
    /// Not at all.
    Never,
}

impl Mode {
    /// The mode with a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "always" => Some(Self::Always),
            "on-problem" => Some(Self::OnProblem),
            "never" => Some(Self::Never),
            _ => None,
        }
    }
}

/// A run and its attempt. Older is lower, whatever the clocks say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// `GITHUB_RUN_ID`.
    pub id: u64,
    /// `GITHUB_RUN_ATTEMPT`.
    pub attempt: u64,
}

/// A key as it stands in a marker. Distinct keys never become the same: what is hashed begins otherwise than what is not.
#[must_use]
fn encode_key(key: &str) -> String {
    let mut before = b'-';
    let out = percent(key, |byte| {
        // Two hyphens could end an HTML comment.
        let after_hyphen = std::mem::replace(&mut before, byte) == b'-';
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || (byte == b'-' && !after_hyphen)
    });
    let out = format!("k.{out}");
    if out.len() > KEY_SHOWN || out.ends_with('-') {
        format!("h.{}", digest(key.as_bytes()).replace(':', "-"))
    } else {
        out
    }
}

/// What a comment or an issue is about. There is one a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A deployment, or what the workflow says.
    Named(String),
    /// Several deployments of a step, whichever they are, so that the comment stays one when another folder is changed.
    Several,
}

impl Key {
    /// As it stands in a marker. No name becomes that of several: those begin otherwise.
    #[must_use]
    pub fn encode(&self) -> String {
        match self {
            Self::Named(name) => encode_key(name),
            Self::Several => "s.several".to_owned(),
        }
    }
}

/// What our run has to say.
pub struct Draft<'a> {
    /// One comment a key.
    pub key: Key,
    /// Our run.
    pub run: Run,
    /// Now, in RFC 3339.
    pub time: String,
    /// The report, or those of several deployments.
    pub told: Told<'a>,
    /// Commit and run.
    pub context: Context,
    /// Where runs can be seen; `/<id>` is appended.
    pub runs_url: Option<String>,
}

const MARKER: &str = "<!-- process-integrity v1 key=";
const HISTORY_MARKER: &str = "<!-- process-integrity-history v1 ";
const END: &str = " -->";

impl Draft<'_> {
    /// How the first line of our comments with this key begins. It is matched literally.
    #[must_use]
    pub fn prefix(&self) -> String {
        format!("{MARKER}{} ", self.key.encode())
    }

    fn row(&self) -> Row {
        let (covered, essential) = self.told.share();
        Row { verdict: self.told.verdict(), covered, essential, run: self.run, time: self.time.clone() }
    }

    /// The comment: marker, history for the next run to read, and the report.
    fn compose(&self, before: &[Row]) -> String {
        let mut row = self.row();
        // The same run and attempt is no new verdict: it keeps its row, and its time while nothing else changes.
        let same = before.iter().find(|before| before.run == self.run);
        if let Some(same) = same.filter(|same| Row { time: row.time.clone(), ..(*same).clone() } == row) {
            row.time.clone_from(&same.time);
        }
        let earlier: Vec<&Row> = before.iter().filter(|row| row.run != self.run).take(HISTORY - 1).collect();
        let rows: Vec<&Row> = std::iter::once(&row).chain(earlier.iter().copied()).collect();
        let runs = self.runs_url.as_deref();
        let context = Context {
            before: earlier.first().map(|row| row.markdown(runs).1),
            history: rows.iter().map(|row| row.markdown(runs).0).collect(),
            ..self.context.clone()
        };
        let written: Vec<String> = rows.iter().map(|row| row.write()).collect();
        let history = format!("{HISTORY_MARKER}{}{END}\n", written.join(";"));
        let room = SIZE - 400 - history.len();
        let rest = format!("{history}{}", self.told.render_within(&context, room));
        let hash = digest(rest.as_bytes());
        let short = hash.get("sha256:".len()..).and_then(|hash| hash.get(..16)).unwrap_or_default();
        let Run { id, attempt } = self.run;
        format!("{}run={id} attempt={attempt} time={} digest={short}{END}\n{rest}", self.prefix(), self.time)
    }
}

/// A comment of ours with our key.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mine {
    id: u64,
    url: Option<String>,
    run: Run,
    history: Vec<Row>,
    /// Everything behind the marker.
    rest: String,
}

impl Mine {
    fn of(comment: &Comment, prefix: &str) -> Option<Self> {
        let body = comment.body.as_deref()?.replace("\r\n", "\n");
        let (first, rest) = body.split_once('\n').unwrap_or((&body, ""));
        let fields = first.strip_prefix(prefix)?.strip_suffix(END)?;
        let field = |name: &str| {
            let value = fields.split(' ').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
            value.and_then(|value| value.parse().ok())
        };
        let history =
            rest.lines().next().and_then(|line| line.strip_prefix(HISTORY_MARKER)?.strip_suffix(END));
        let history = history.map(|rows| rows.split(';').filter_map(Row::read).take(HISTORY).collect());
        Some(Self {
            id: comment.id,
            url: comment.html_url.clone(),
            run: Run { id: field("run").unwrap_or(0), attempt: field("attempt").unwrap_or(0) },
            history: history.unwrap_or_default(),
            rest: rest.to_owned(),
        })
    }
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// Write a new one.
    Create(String),
    /// It says already what we would say.
    Keep(Mine),
    /// Put our text in place of another one.
    Replace(Mine, String),
    /// A newer run has spoken.
    Superseded(Mine),
    /// There is nothing to say, and nothing to put right.
    Nothing,
}

/// A step, and the duplicates of our own that go.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Plan {
    step: Step,
    remove: Vec<u64>,
}

/// Decides on the comments that are there. Nothing is asked and nothing is written. `wrote`: this run has written already.
fn plan(mine: &[Mine], draft: &Draft<'_>, mode: Mode, wrote: bool) -> Plan {
    let Some(first) = mine.iter().min_by_key(|mine| mine.id) else {
        let silent = match mode {
            Mode::Always => false,
            Mode::OnProblem => draft.told.verdict() == Verdict::VerifiedSuccess,
            Mode::Never => true,
        };
        let step = if silent { Step::Nothing } else { Step::Create(draft.compose(&[])) };
        return Plan { step, remove: Vec::new() };
    };
    let newest = mine.iter().max_by_key(|mine| (mine.run, std::cmp::Reverse(mine.id))).unwrap_or(first);
    if newest.run > draft.run {
        // The newer run takes the lowest comment itself; ours, where it is not that one, is only in its way.
        let ours = mine.iter().filter(|mine| mine.run <= draft.run && mine.id != first.id);
        return Plan { step: Step::Superseded(newest.clone()), remove: ours.map(|mine| mine.id).collect() };
    }
    let remove = mine.iter().filter(|mine| mine.id != first.id).map(|mine| mine.id).collect();
    let body = draft.compose(&history::merged(mine.iter().map(|mine| mine.history.as_slice())));
    let rest = body.split_once('\n').map_or("", |(_, rest)| rest);
    // Another job of this run may have the same key: the two must not take turns.
    let settled = wrote && first.run == draft.run;
    let same = settled || rest.trim_end() == first.rest.trim_end();
    let step = if same { Step::Keep(first.clone()) } else { Step::Replace(first.clone(), body) };
    Plan { step, remove }
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The word for the `comment-status` output.
    pub word: &'static str,
    /// Where the comment is.
    pub url: Option<String>,
}

/// Rounds of reading, deciding and writing.
const ROUNDS: u32 = 8;
/// Between reading and replacing; after a longer time it is read once more.
const FRESH: Duration = Duration::from_millis(500);

/// Writes the comment, if it has to be written. Every write is decided on what was read just before it, and after a write it
/// is read again, until there is nothing left to do.
///
/// # Errors
/// GitHub's refusal.
pub async fn publish(github: &GitHub, on: Number, draft: &Draft<'_>, mode: Mode) -> Result<Outcome, Refusal> {
    let mut written: Option<Outcome> = None;
    // A POST that failed may have been carried out all the same.
    let mut failed: Option<Failed> = None;
    let (mut tries, mut gone, mut looked_twice) = (0, 0, false);
    for _ in 0..ROUNDS {
        let asked = Instant::now();
        let (mine, complete) = match (read(github, on, draft).await, &written, &failed) {
            (Ok(all), _, _) => all,
            (Err(_), Some(written), _) => return Ok(written.clone()),
            (Err(_), None, Some(failed)) => return Err(failed.refusal.clone()),
            (Err(refusal), None, None) => return Err(refusal),
        };
        let hidden = failed.is_some() && mine.iter().any(|mine| mine.run == draft.run);
        let Plan { step, remove } = plan(&mine, draft, mode, written.is_some() || hidden);
        let word =
            if hidden { "created" } else { written.as_ref().map_or("unchanged", |written| written.word) };
        let outcome = match step {
            Step::Nothing => Outcome { word: "off", url: None },
            Step::Superseded(newer) => Outcome { word: "superseded", url: newer.url },
            Step::Keep(first) => Outcome { word, url: first.url },
            Step::Create(body) => {
                // Not visible yet, or somebody removed it: in neither case a second one is wanted.
                if let Some(written) = written {
                    return Ok(written);
                }
                match failed.take() {
                    Some(failed) if failed.last => return Err(failed.refusal),
                    _ if !complete => return Err(Refusal::TooMany),
                    _ => {}
                }
                tries += 1;
                match github.create_comment(on, &body).await {
                    Ok(comment) => {
                        written = Some(Outcome { word: "created", url: comment.html_url });
                        github.settle().await;
                    }
                    Err(refusal) => {
                        let last = !github.wait(&refusal, tries).await;
                        if last && !refusal.may_be_done() {
                            return Err(refusal);
                        }
                        failed = Some(Failed { refusal, last });
                    }
                }
                continue;
            }
            Step::Replace(..) if !looked_twice && asked.elapsed() > FRESH => {
                looked_twice = true;
                continue;
            }
            Step::Replace(first, body) => {
                tries += 1;
                match github.replace_comment(first.id, &body).await {
                    Ok(comment) => {
                        let word = written.map_or("updated", |written| written.word);
                        written = Some(Outcome { word, url: comment.html_url.or(first.url) });
                        github.settle().await;
                    }
                    // It was deleted between reading and writing.
                    Err(Refusal::NotFound) if gone == 0 => gone += 1,
                    Err(refusal) => {
                        if !github.wait(&refusal, tries).await {
                            // Without the lowest one ours must stay.
                            return written.ok_or(refusal);
                        }
                    }
                }
                continue;
            }
        };
        clean(github, &remove).await;
        return Ok(outcome);
    }
    written.ok_or(Refusal::Timeout)
}

/// A POST that failed.
struct Failed {
    refusal: Refusal,
    /// It is not tried again.
    last: bool,
}

async fn read(github: &GitHub, on: Number, draft: &Draft<'_>) -> Result<(Vec<Mine>, bool), Refusal> {
    let listing = github.comments(on).await?;
    let prefix = draft.prefix();
    let marked: Vec<(&Comment, Mine)> =
        listing.items.iter().filter_map(|comment| Some((comment, Mine::of(comment, &prefix)?))).collect();
    // Who we are matters only where somebody used our marker.
    if marked.is_empty() {
        return Ok((Vec::new(), listing.complete));
    }
    let identity = github.identity().await;
    let is_ours = |comment: &Comment| identity.is(comment.user.as_ref());
    let mine: Vec<Mine> =
        marked.into_iter().filter(|(comment, _)| is_ours(comment)).map(|(_, mine)| mine).collect();
    match &identity.doubt {
        // One of them may be ours after all, and a second one must not be made.
        Some(doubt) if mine.is_empty() => Err(doubt.clone()),
        _ => Ok((mine, listing.complete)),
    }
}

/// Removes duplicates of our own. A refusal leaves one too many, which the next run tries again.
async fn clean(github: &GitHub, remove: &[u64]) {
    for id in remove.iter().take(10) {
        if let Err(refusal) = github.delete_comment(*id).await {
            tracing::warn!(id, word = refusal.word(), "a duplicate comment was not removed");
        }
    }
}
