//! One comment a key on a pull request: what is to be done is planned purely, then carried out.
//!
//! Nobody's action survives two jobs that comment at the same moment, so it converges: the comment with the lowest id stays,
//! the newest run's verdict stays in it, everybody reads again after writing and removes only what is our own.

use super::api::{Comment, Identity};
use super::{GitHub, Number, Refusal};
use crate::report::Report;
use crate::report::markdown::{self, Context};
use crate::verdict::Verdict;
use crate::workspace::digest;

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
pub fn encode_key(key: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::from("k.");
    let mut before = '-';
    for c in key.chars() {
        // Two hyphens could end an HTML comment.
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') || (c == '-' && before != '-') {
            out.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(out, "%{byte:02X}");
            }
        }
        before = c;
    }
    if out.len() > KEY_SHOWN || out.ends_with('-') {
        format!("h.{}", digest(key.as_bytes()).replace(':', "-"))
    } else {
        out
    }
}

/// The verdict of one run, as the comment keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The verdict.
    pub verdict: Verdict,
    /// Covered states.
    pub covered: usize,
    /// Essential states.
    pub essential: usize,
    /// Which run.
    pub run: Run,
    /// When, in RFC 3339. It informs, it orders nothing.
    pub time: String,
}

impl Row {
    fn write(&self) -> String {
        let Self { verdict, covered, essential, run, time } = self;
        format!("{} {covered}/{essential} {} {} {time}", verdict.id(), run.id, run.attempt)
    }

    /// Reads a row. What is not exactly one is none: others can edit a comment.
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        let word = parts.next()?;
        let verdict = Verdict::ALL.into_iter().find(|verdict| verdict.id() == word)?;
        let (covered, essential) = parts.next()?.split_once('/')?;
        let (id, attempt, time) = (parts.next()?, parts.next()?, parts.next()?);
        let shape = b"0000-00-00T00:00:00Z";
        let is_time = time.len() == shape.len()
            && time
                .bytes()
                .zip(shape)
                .all(|(byte, form)| if *form == b'0' { byte.is_ascii_digit() } else { byte == *form });
        let row = Self {
            verdict,
            covered: covered.parse().ok()?,
            essential: essential.parse().ok()?,
            run: Run { id: id.parse().ok()?, attempt: attempt.parse().ok()? },
            time: time.to_owned(),
        };
        (is_time && parts.next().is_none()).then_some(row)
    }

    fn markdown(&self, runs: Option<&str>) -> (String, String) {
        let verdict = format!("{} {}", self.verdict.sign(), self.verdict.title());
        let coverage = format!("{}/{}", self.covered, self.essential);
        let run = match runs {
            Some(runs) => format!("[{}]({}/{})", self.run.id, markdown::link(runs), self.run.id),
            None => self.run.id.to_string(),
        };
        (
            format!("| {verdict} | {coverage} | {run} | {} |\n", self.time),
            format!("{verdict} ({coverage}) in run {run}"),
        )
    }
}

/// What our run has to say.
pub struct Draft<'a> {
    /// One comment a key.
    pub key: String,
    /// Our run.
    pub run: Run,
    /// Now, in RFC 3339.
    pub time: String,
    /// The report.
    pub report: &'a Report,
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
        format!("{MARKER}{} ", encode_key(&self.key))
    }

    fn row(&self) -> Row {
        let coverage = &self.report.coverage;
        Row {
            verdict: self.report.verdict,
            covered: coverage.covered,
            essential: coverage.essential,
            run: self.run,
            time: self.time.clone(),
        }
    }

    /// The comment: marker, history for the next run to read, and the report.
    fn compose(&self, before: &[Row]) -> String {
        let mut row = self.row();
        // The same run and attempt is no new verdict: it keeps its row, and its time while nothing else changes.
        let same = before.first().filter(|first| first.run == self.run);
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
        let rest = format!("{history}{}", markdown::render_within(self.report, &context, room));
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

/// Decides on the comments that are there. Nothing is asked and nothing is written.
fn plan(mine: &[Mine], draft: &Draft<'_>, mode: Mode) -> Plan {
    let Some(first) = mine.iter().min_by_key(|mine| mine.id) else {
        let silent = match mode {
            Mode::Always => false,
            Mode::OnProblem => draft.report.verdict == Verdict::VerifiedSuccess,
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
    let body = draft.compose(&newest.history);
    let same = body.split_once('\n').is_some_and(|(_, rest)| rest == first.rest);
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

/// Writes the comment, if it has to be written.
///
/// # Errors
/// GitHub's refusal.
pub async fn publish(github: &GitHub, on: Number, draft: &Draft<'_>, mode: Mode) -> Result<Outcome, Refusal> {
    let mut identity = None;
    // Twice at most: a comment that was deleted between reading and writing is looked for once more.
    for _ in 0..2 {
        let (mine, complete) = read(github, on, draft, &mut identity).await?;
        let Plan { step, remove } = plan(&mine, draft, mode);
        let outcome = match step {
            Step::Nothing => Outcome { word: "off", url: None },
            Step::Superseded(newer) => Outcome { word: "superseded", url: newer.url },
            Step::Keep(first) => Outcome { word: "unchanged", url: first.url },
            Step::Create(_) if !complete => return Err(Refusal::TooMany),
            Step::Create(body) => {
                let url = create(github, on, draft, &body, &mut identity).await?;
                converge(github, on, draft, &mut identity).await;
                return Ok(Outcome { word: "created", url });
            }
            Step::Replace(first, body) => match github.replace_comment(first.id, &body).await {
                Ok(comment) => {
                    github.settle().await;
                    verify(github, comment.id, draft, &body).await;
                    Outcome { word: "updated", url: comment.html_url.or(first.url) }
                }
                Err(Refusal::NotFound) => continue,
                Err(refusal) => return Err(refusal),
            },
        };
        clean(github, &remove).await;
        return Ok(outcome);
    }
    Err(Refusal::NotFound)
}

async fn read(
    github: &GitHub,
    on: Number,
    draft: &Draft<'_>,
    identity: &mut Option<Identity>,
) -> Result<(Vec<Mine>, bool), Refusal> {
    let listing = github.comments(on).await?;
    let prefix = draft.prefix();
    let marked = listing.items.iter().filter_map(|comment| Some((comment, Mine::of(comment, &prefix)?)));
    let marked: Vec<(&Comment, Mine)> = marked.collect();
    // Who we are matters only where somebody used our marker.
    if !marked.is_empty() && identity.is_none() {
        *identity = Some(github.identity().await);
    }
    let is_ours =
        |comment: &Comment| identity.as_ref().is_some_and(|identity| identity.is(comment.user.as_ref()));
    let mine = marked.into_iter().filter(|(comment, _)| is_ours(comment)).map(|(_, mine)| mine).collect();
    Ok((mine, listing.complete))
}

/// Creates the comment. After a failure that may hide a success the comments are read before it is tried again.
async fn create(
    github: &GitHub,
    on: Number,
    draft: &Draft<'_>,
    body: &str,
    identity: &mut Option<Identity>,
) -> Result<Option<String>, Refusal> {
    let mut tries = 0;
    loop {
        tries += 1;
        let refusal = match github.create_comment(on, body).await {
            Ok(comment) => return Ok(comment.html_url),
            Err(refusal) => refusal,
        };
        let again = github.wait(&refusal, tries).await;
        if !again && !refusal.is_passing() {
            return Err(refusal);
        }
        let (mine, complete) = read(github, on, draft, identity).await?;
        if let Some(there) = mine.iter().find(|mine| mine.run == draft.run) {
            return Ok(there.url.clone());
        }
        if !again {
            return Err(refusal);
        }
        if !complete {
            return Err(Refusal::TooMany);
        }
    }
}

/// Reads again after a comment was created: somebody may have created one at the same moment.
async fn converge(github: &GitHub, on: Number, draft: &Draft<'_>, identity: &mut Option<Identity>) {
    github.settle().await;
    let Ok((mine, _)) = read(github, on, draft, identity).await else { return };
    if mine.len() < 2 {
        return;
    }
    let Plan { step, remove } = plan(&mine, draft, Mode::Always);
    if let Step::Replace(first, body) = step {
        if github.replace_comment(first.id, &body).await.is_err() {
            // Without the lowest one ours must stay.
            return;
        }
        github.settle().await;
    }
    clean(github, &remove).await;
}

/// Reads again after a comment was replaced: an older run may have replaced it at the same moment.
async fn verify(github: &GitHub, id: u64, draft: &Draft<'_>, body: &str) {
    let Ok(comment) = github.comment(id).await else { return };
    if Mine::of(&comment, &draft.prefix()).is_some_and(|mine| mine.run < draft.run) {
        let _ = github.replace_comment(id, body).await;
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
