//! One open issue a key for a deployment that is not verified: opened once, appended to when something changes, never closed:
//! that is for people.

use serde_json::{Value, json};

use super::api::{Comment, Issue, Listing};
use super::comment::{Draft, Run, SIZE};
use super::{GitHub, Number, Refusal};
use crate::digest::digest;
use crate::report::several::Told;
use crate::verdict::Verdict;

const MARKER: &str = "<!-- process-integrity-issue v1 key=";
const STATE: &str = "<!-- process-integrity-state v1 ";
const END: &str = " -->";

/// What an issue is given, as far as it may be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// Labels.
    pub labels: Vec<String>,
    /// Logins.
    pub assignees: Vec<String>,
}

/// What a run found, as far as a change of it is worth telling.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    run: Run,
    /// Of verdict and findings.
    digest: String,
}

impl State {
    fn of(told: &Told<'_>, run: Run) -> Self {
        let hash = digest(format!("{}\n{}", told.verdict().id(), told.troubles().join("\n")).as_bytes());
        let digest =
            hash.get("sha256:".len()..).and_then(|hash| hash.get(..16)).unwrap_or_default().to_owned();
        Self { run, digest }
    }

    fn write(&self) -> String {
        format!("{STATE}run={} attempt={} digest={}{END}", self.run.id, self.run.attempt, self.digest)
    }

    fn read(line: &str) -> Option<Self> {
        let fields = line.trim_end().strip_prefix(STATE)?.strip_suffix(END)?;
        let field =
            |name: &str| fields.split(' ').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
        let run = Run { id: field("run")?.parse().ok()?, attempt: field("attempt")?.parse().ok()? };
        Some(Self { run, digest: field("digest")?.to_owned() })
    }
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Plan {
    /// Open an issue.
    Open,
    /// Say on the issue what changed.
    Append,
    /// Everything is said.
    Keep,
    /// There is nothing to track.
    Nothing,
}

/// Decides; `last` is what was said last on the open issue, if there is one.
fn plan(there: bool, last: Option<&State>, ours: &State, verdict: Verdict) -> Plan {
    match (there, verdict) {
        (false, Verdict::VerifiedSuccess) => Plan::Nothing,
        (false, Verdict::AgentIssue | Verdict::ProcessViolation | Verdict::DeploymentFailure) => Plan::Open,
        (true, _) if last.is_some_and(|last| last.digest == ours.digest || last.run > ours.run) => Plan::Keep,
        (true, _) => Plan::Append,
    }
}

/// Opens the issue or appends to it. Gives its address, where there is one.
///
/// # Errors
/// GitHub's refusal.
pub async fn publish(github: &GitHub, draft: &Draft<'_>, fields: &Fields) -> Result<Option<String>, Refusal> {
    let marker = format!("{MARKER}{}{END}", draft.key.encode());
    let ours = State::of(&draft.told, draft.run);
    let (open, complete) = find(github, &marker).await?;
    let Some(issue) = open else {
        return match plan(false, None, &ours, draft.told.verdict()) {
            Plan::Open if !complete => Err(Refusal::TooMany),
            Plan::Open => open_issue(github, draft, fields, &marker, &ours).await,
            Plan::Append | Plan::Keep | Plan::Nothing => Ok(None),
        };
    };
    tell(github, issue, draft, &ours).await
}

/// Says on an open issue what has changed since, if anything has.
async fn tell(
    github: &GitHub,
    issue: Issue,
    draft: &Draft<'_>,
    ours: &State,
) -> Result<Option<String>, Refusal> {
    let last = last_state(github, &issue).await?;
    if plan(true, last.as_ref(), ours, draft.told.verdict()) == Plan::Append {
        append(github, Number(issue.number), draft, ours).await?;
    }
    Ok(issue.html_url)
}

/// The open issue with our marker; of several the oldest.
async fn find(github: &GitHub, marker: &str) -> Result<(Option<Issue>, bool), Refusal> {
    let Listing { mut items, complete } = github.open_issues().await?;
    items.retain(|issue| {
        let first = issue.body.as_deref().and_then(|body| body.lines().next()).unwrap_or_default();
        first.trim_end() == marker
    });
    // Who we are matters only where somebody used our marker.
    if items.is_empty() {
        return Ok((None, complete));
    }
    let identity = github.identity().await;
    items.retain(|issue| identity.is(issue.user.as_ref()));
    match (items.into_iter().min_by_key(|issue| issue.number), identity.doubt) {
        // One of them may be ours after all, and a second one must not be made.
        (None, Some(doubt)) => Err(doubt),
        (oldest, _) => Ok((oldest, complete)),
    }
}

/// What was said last: in our newest comment, else in the issue itself.
async fn last_state(github: &GitHub, issue: &Issue) -> Result<Option<State>, Refusal> {
    let Listing { items: comments, complete } = github.comments(Number(issue.number)).await?;
    if !complete {
        return Err(Refusal::TooMany);
    }
    let identity = github.identity().await;
    let of_comment = |comment: &Comment| {
        let first = comment.body.as_deref()?.lines().next()?;
        State::read(first).filter(|_| identity.is(comment.user.as_ref()))
    };
    let newest = comments
        .iter()
        .filter_map(|comment| Some((comment.id, of_comment(comment)?)))
        .max_by_key(|(id, _)| *id);
    let own = issue.body.as_deref().and_then(|body| body.lines().nth(1)).and_then(State::read);
    Ok(newest.map(|(_, state)| state).or(own))
}

async fn open_issue(
    github: &GitHub,
    draft: &Draft<'_>,
    fields: &Fields,
    marker: &str,
    ours: &State,
) -> Result<Option<String>, Refusal> {
    let report = draft.told.render_within(&draft.context, SIZE - 600);
    let intro = "Process Integrity opened this issue, and appends to it when something changes. Close it when it is settled.";
    let body = format!("{marker}\n{}\n{intro}\n\n{report}", ours.write());
    let title = title(&draft.told);
    let plain = json!({"title": title, "body": body});
    let mut full = plain.clone();
    for (key, values) in [("labels", &fields.labels), ("assignees", &fields.assignees)] {
        if !values.is_empty() {
            full[key] = Value::from(values.clone());
        }
    }
    let mut wanted = &full;
    let mut tries = 0;
    let issue = loop {
        tries += 1;
        match github.create_issue(wanted).await {
            Ok(issue) => break issue,
            // Labels and assignees are best effort: without the right to set them the issue still matters.
            Err(Refusal::ReadOnly | Refusal::Other(422, _)) if *wanted != plain => wanted = &plain,
            Err(refusal) if github.wait(&refusal, tries).await => {
                if let (Some(there), _) = find(github, marker).await? {
                    return Ok(there.html_url);
                }
            }
            Err(refusal) => return Err(refusal),
        }
    };
    // Two runs may have opened one at the same moment: the oldest stays, and what only the other one says is said on it.
    github.settle().await;
    if let Ok((Some(oldest), _)) = find(github, marker).await
        && oldest.number < issue.number
        && github.close_issue(Number(issue.number)).await.is_ok()
    {
        return tell(github, oldest, draft, ours).await;
    }
    Ok(issue.html_url)
}

async fn append(github: &GitHub, number: Number, draft: &Draft<'_>, ours: &State) -> Result<(), Refusal> {
    let recovered = draft.told.verdict() == Verdict::VerifiedSuccess;
    let intro = if recovered {
        match &draft.told {
            Told::One(_) => {
                "The deployment has recovered: this run is verified. Close the issue if nothing is left to do."
            }
            Told::Several(_) => {
                "All deployments of this run are verified. Close the issue if nothing is left to do."
            }
        }
    } else {
        "Something has changed."
    };
    let report = draft.told.render_within(&draft.context, SIZE - 600);
    let body = format!("{}\n{intro}\n\n{report}", ours.write());
    let mut tries = 0;
    loop {
        tries += 1;
        let refusal = match github.create_comment(number, &body).await {
            Ok(_) => return Ok(()),
            Err(refusal) => refusal,
        };
        if !github.wait(&refusal, tries).await {
            return Err(refusal);
        }
        let identity = github.identity().await;
        let said = github.comments(number).await?.items.into_iter().any(|comment| {
            let first = comment.body.as_deref().and_then(|body| body.lines().next()).and_then(State::read);
            first.as_ref() == Some(ours) && identity.is(comment.user.as_ref())
        });
        if said {
            return Ok(());
        }
    }
}

/// A title is plain text: nothing in it is mark-up, but it is shown in mails and lists.
fn title(told: &Told<'_>) -> String {
    let (verdict, (verified, all)) = (told.verdict().title(), told.share());
    match told {
        Told::One(report) => {
            let deployment = crate::escape::output(&crate::escape::cut(&report.deployment, 100));
            let deployment = deployment.replace('@', "@\u{200b}").replace('#', "#\u{200b}");
            format!("Process Integrity: {verdict} in {deployment}")
        }
        Told::Several(_) => {
            format!("Process Integrity: {verdict} in {} of {all} deployments", all - verified)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issue_is_opened_once_and_appended_to_on_change() {
        let state =
            |run: u64, digest: &str| State { run: Run { id: run, attempt: 1 }, digest: digest.to_owned() };
        let violation = Verdict::ProcessViolation;
        assert_eq!(plan(false, None, &state(1, "a"), violation), Plan::Open);
        assert_eq!(plan(false, None, &state(1, "v"), Verdict::VerifiedSuccess), Plan::Nothing);
        assert_eq!(plan(true, Some(&state(1, "a")), &state(2, "a"), violation), Plan::Keep);
        assert_eq!(plan(true, Some(&state(1, "a")), &state(2, "b"), violation), Plan::Append);
        assert_eq!(plan(true, Some(&state(3, "a")), &state(2, "b"), violation), Plan::Keep);
        assert_eq!(plan(true, Some(&state(1, "a")), &state(2, "v"), Verdict::VerifiedSuccess), Plan::Append);
        assert_eq!(plan(true, Some(&state(2, "v")), &state(3, "v"), Verdict::VerifiedSuccess), Plan::Keep);
        assert_eq!(State::read(&state(7, "ab").write()), Some(state(7, "ab")));
        assert_eq!(State::read("<!-- process-integrity-state v1 run=x -->"), None);
    }
}
