//! Tells people on GitHub: the comment on the pull request, and the tracking issue. The report is written before; whatever
//! GitHub answers becomes one plain line and the outputs.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::time::{Precision, now};
use crate::digest::digest;
use crate::github::comment::{self, Draft, Key, Mode};
use crate::github::pull_request::{self, Found, Trigger};
use crate::github::{GitHub, Refusal, tracking_issue};
use crate::report::Report;
use crate::report::annotations::{Annotation, Level};
use crate::report::markdown::Context;
use crate::report::several::Told;
use crate::settings::Settings;
use crate::workspace::Workspace;

/// Everything that is asked of GitHub.
pub(super) const DEADLINE: Duration = Duration::from_secs(60);
/// What is left of it, so that what was done is still told when the rest takes too long.
const MARGIN: Duration = Duration::from_secs(1);
/// Which folder a commit changed.
const FOLDER: Duration = Duration::from_secs(5);

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Published {
    /// `comment-status`.
    pub comment_status: &'static str,
    /// `comment-url`.
    pub comment_url: String,
    /// `issue-url`.
    pub issue_url: String,
    /// What is said, one line each.
    pub lines: Vec<Annotation>,
    /// The trouble, for the `status` output; not for what is no trouble, such as no pull request.
    pub trouble: Option<String>,
}

/// The commit that the run is for changed these files, where that can be told.
pub(super) async fn files_of_commit(settings: &Settings) -> Option<Vec<String>> {
    let access = settings.access()?;
    let github = GitHub::new(&access, Instant::now() + FOLDER).ok()?;
    tokio::time::timeout(FOLDER, github.files_of_commit(&settings.runner.sha)).await.ok()?.ok()
}

/// Publishes reports, at least one. `folder` is the worst deployment's in the repository.
/// All of it is over a little before `time` is.
pub(super) async fn publish(
    settings: &Settings,
    reports: &[Report],
    folder: Option<String>,
    time: Duration,
) -> Published {
    let mut published = Published { comment_status: "off", ..Published::default() };
    let wanted = settings.inputs.comment != Mode::Never;
    if !wanted && !settings.inputs.create_issue {
        return published;
    }
    let Some(access) = settings.access() else {
        published.comment_status = if wanted { "no-token" } else { "off" };
        let text = "nothing was posted: there is no usable token; give the step one with github-token";
        if settings.inputs.token_is_odd {
            published.say(Level::Warning, text.to_owned());
            published.trouble = Some("no-token".to_owned());
        } else {
            // A step without a token is left so on purpose: the input has a default.
            published.say(Level::Notice, text.to_owned());
        }
        return published;
    };
    let github = match GitHub::new(&access, Instant::now() + time.saturating_sub(MARGIN)) {
        Ok(github) => github,
        Err(refusal) => {
            published.refused("nothing was posted", &refusal, settings, &Value::Null, wanted);
            return published;
        }
    };
    let event = event(settings);
    let Some(told) = Told::of(reports) else { return published };
    let draft = draft(settings, told);
    if wanted {
        comment(&github, settings, &draft, folder, &event, &mut published).await;
    }
    if settings.inputs.create_issue {
        match tracking_issue::publish(&github, &draft, &settings.inputs.issue_fields).await {
            Ok(url) => published.issue_url = url.unwrap_or_default(),
            Err(refusal) => {
                published.refused("the tracking issue was not written", &refusal, settings, &event, false)
            }
        }
    }
    published
}

fn draft<'a>(settings: &Settings, told: Told<'a>) -> Draft<'a> {
    let named = match (&settings.inputs.comment_key, &told) {
        (Some(key), _) => Some(key.clone()),
        (None, Told::One(report)) => Some(report.deployment.clone()),
        (None, Told::Several(_)) => None,
    };
    // The marker repeats the key, and nobody masks a secret there.
    let is_secret = |key: &str| settings.secrets().blank(key) != key;
    let hidden = |key: String| if is_secret(&key) { digest(key.as_bytes()) } else { key };
    Draft {
        key: named.map_or(Key::Several, |key| Key::Named(hidden(key))),
        run: settings.this_run(),
        time: now(None, Precision::Seconds),
        told,
        context: context(settings),
        runs_url: settings.runs_url(),
    }
}

/// What reports say of the run.
pub(super) fn context(settings: &Settings) -> Context {
    Context {
        commit: Some(settings.runner.sha.clone()).filter(|sha| !sha.is_empty()),
        run: settings.run(),
        ..Context::default()
    }
}

/// The event's file lies outside of the workspace, where only the runner puts files.
fn event(settings: &Settings) -> Value {
    let path = Path::new(&settings.runner.event_path);
    let everywhere = Workspace::new(Path::new("/")).ok();
    let bytes = everywhere.filter(|_| path.is_absolute()).and_then(|everywhere| everywhere.read(path).ok());
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

async fn comment(
    github: &GitHub,
    settings: &Settings,
    draft: &Draft<'_>,
    folder: Option<String>,
    event: &Value,
    published: &mut Published,
) {
    let runner = &settings.runner;
    let trigger = Trigger {
        name: runner.event_name.clone(),
        event: event.clone(),
        sha: runner.sha.clone(),
        reference: runner.reference.clone(),
        folder,
    };
    let found = match settings.inputs.pr_number {
        Some(number) => Ok(Found::One(number)),
        None => pull_request::find(github, &trigger).await,
    };
    let number = match found {
        Ok(Found::One(number)) => number,
        Ok(Found::None(why)) => {
            published.comment_status = "no-pull-request";
            published.say(Level::Notice, format!("no comment was written: {why}; pr-number names one"));
            return;
        }
        Ok(Found::Ambiguous) => {
            published.comment_status = "ambiguous";
            let text = "no comment was written: several pull requests have this commit; pr-number names one";
            published.say(Level::Notice, text.to_owned());
            return;
        }
        Err(refusal) => {
            published.refused("the pull request could not be found", &refusal, settings, event, true);
            return;
        }
    };
    match comment::publish(github, number, draft, settings.inputs.comment).await {
        Ok(outcome) => {
            published.comment_status = outcome.word;
            published.comment_url = outcome.url.unwrap_or_default();
            tracing::debug!(word = outcome.word, number = number.0, "comment");
        }
        Err(refusal) => published.refused("the comment was not written", &refusal, settings, event, true),
    }
}

impl Published {
    fn say(&mut self, level: Level, text: String) {
        self.lines.push(Annotation::new(level, "Process Integrity", text));
    }

    /// A refusal: one line, with the permissions where they lack. A second one for lack of permissions says nothing new.
    fn refused(
        &mut self,
        what: &str,
        refusal: &Refusal,
        settings: &Settings,
        event: &Value,
        of_comment: bool,
    ) {
        if of_comment {
            self.comment_status = refusal.word();
        }
        let lacking = matches!(refusal, Refusal::ReadOnly | Refusal::NotFound);
        if lacking && self.trouble.as_deref() == Some(refusal.word()) {
            return;
        }
        self.trouble.get_or_insert_with(|| refusal.word().to_owned());
        // Whoever answered may have repeated what it was sent.
        let reason = settings.secrets().blank(&refusal.reason());
        let mut annotation =
            Annotation::new(Level::Warning, "Process Integrity", format!("{what}: {reason}."));
        if lacking {
            annotation.message.extend(permissions(settings, event));
        }
        self.lines.push(annotation);
    }
}

/// What to do where the token may not write, depending on why.
fn permissions(settings: &Settings, event: &Value) -> Vec<String> {
    let own = &settings.runner.repository;
    let head = event.pointer("/pull_request/head/repo");
    let fork = settings.runner.event_name == "pull_request"
        && head.is_some_and(|head| {
            let name = head.get("full_name").and_then(Value::as_str);
            !name.is_some_and(|name| name.eq_ignore_ascii_case(own))
        });
    let why = if fork {
        "The run is for a fork's pull request, whose token can only read. Post from a workflow_run workflow (README)."
    } else if settings.runner.actor == "dependabot[bot]" {
        "Dependabot's token can only read unless the workflow asks for more. Give the job:"
    } else {
        "Give the job that runs this action:"
    };
    let mut lines = vec![why.to_owned()];
    if !fork {
        lines.extend(["permissions:", "  contents: read", "  pull-requests: write"].map(str::to_owned));
        if settings.inputs.create_issue {
            lines.push("  issues: write".to_owned());
        }
    }
    lines
}

/// The report that is published of several: the worst, and of equal ones the first.
#[must_use]
pub(super) fn worst(reports: &[Report]) -> Option<usize> {
    (0..reports.len()).rev().max_by_key(|at| reports.get(*at).map(|report| report.verdict))
}
