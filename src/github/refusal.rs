//! Why GitHub did not do what it was asked for: told apart, each with a word for the output and a line for people.

use std::time::Duration;

use serde_json::Value;

use super::RATE_PAUSE;
use crate::escape::cut;

/// A refusal. Texts in it come from GitHub or from whoever answers in its place, so they are hostile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// 403 for lack of a permission: a fork's or Dependabot's token, or a `permissions:` block that grants too little.
    ReadOnly,
    /// 403 for a locked conversation.
    Locked,
    /// 429, or 403 for too many requests; the pause that is asked for, if it is named.
    RateLimited(Option<Duration>),
    /// 404 or 410.
    NotFound,
    /// 413, or 422 for a text that is too long.
    TooLarge,
    /// A redirection: the repository was renamed or moved. It is never followed, since it turns a POST into a GET.
    Moved,
    /// 5xx, and the pause that is asked for.
    ServerError(u16, Option<Duration>),
    /// No answer in time.
    Timeout,
    /// The connection broke or was never made.
    Broken,
    /// 401: the token is not accepted.
    Unauthorized,
    /// An answer that is not what GitHub's API promises.
    Unreadable,
    /// There are more pages than were read, so nothing was written.
    TooMany,
    /// The client could not be set up; why.
    Setup(&'static str),
    /// Anything else: the status and what was said.
    Other(u16, String),
}

impl Refusal {
    /// The word for the `comment-status` output.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Locked => "locked",
            Self::RateLimited(_) => "rate-limited",
            Self::NotFound => "not-found",
            Self::Moved => "moved",
            Self::ServerError(..) => "server-error",
            Self::Timeout => "timeout",
            Self::TooLarge
            | Self::Broken
            | Self::Unauthorized
            | Self::Unreadable
            | Self::TooMany
            | Self::Setup(_)
            | Self::Other(..) => "error",
        }
    }

    /// The reason in one line, without what to do about it.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::ReadOnly => "the token may not write here (403)".to_owned(),
            Self::Locked => "the conversation is locked (403)".to_owned(),
            Self::RateLimited(_) => "GitHub asks to wait after too many requests".to_owned(),
            Self::NotFound => "GitHub found nothing there (404), or the token may not see it".to_owned(),
            Self::TooLarge => "GitHub found the text too long".to_owned(),
            Self::Moved => "the repository has moved; run again under its new name".to_owned(),
            Self::ServerError(status, _) => format!("GitHub answered with a server error ({status})"),
            Self::Timeout => "GitHub did not answer in time".to_owned(),
            Self::Broken => "the connection to GitHub broke or could not be made".to_owned(),
            Self::Unauthorized => "the token is not accepted (401)".to_owned(),
            Self::Unreadable => "GitHub's answer could not be read".to_owned(),
            Self::TooMany => "there are too many entries to read them all, so nothing was written".to_owned(),
            Self::Setup(why) => (*why).to_owned(),
            Self::Other(status, text) if text.is_empty() => format!("GitHub answered with {status}"),
            Self::Other(status, text) => format!("GitHub answered with {status}: {text}"),
        }
    }

    /// It may pass by itself, so that another try makes sense.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        // What may have been done is what broke on the way; of what was plainly refused, only a rate limit passes.
        self.may_be_done() || matches!(self, Self::RateLimited(_))
    }

    /// The request may have been carried out although it was refused.
    pub(super) fn may_be_done(&self) -> bool {
        match self {
            Self::ServerError(..) | Self::Broken | Self::Timeout => true,
            Self::RateLimited(_)
            | Self::ReadOnly
            | Self::Locked
            | Self::NotFound
            | Self::TooLarge
            | Self::Moved
            | Self::Unauthorized
            | Self::Unreadable
            | Self::TooMany
            | Self::Setup(_)
            | Self::Other(..) => false,
        }
    }

    /// The pause before another try that GitHub asks for.
    pub(super) fn pause(&self) -> Option<Duration> {
        match self {
            Self::RateLimited(pause) => Some(pause.unwrap_or(RATE_PAUSE)),
            Self::ServerError(_, pause) => *pause,
            Self::ReadOnly
            | Self::Locked
            | Self::NotFound
            | Self::TooLarge
            | Self::Moved
            | Self::Timeout
            | Self::Broken
            | Self::Unauthorized
            | Self::Unreadable
            | Self::TooMany
            | Self::Setup(_)
            | Self::Other(..) => None,
        }
    }
}

/// What an answer with a status of failure means.
pub(super) fn of_answer(status: u16, body: &[u8], retry_after: Option<Duration>, exhausted: bool) -> Refusal {
    let answer: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let message = answer.get("message").and_then(Value::as_str).unwrap_or_default();
    let lower = message.to_ascii_lowercase();
    let limited =
        retry_after.is_some() || exhausted || lower.contains("rate limit") || lower.contains("abuse");
    match status {
        300..=399 => Refusal::Moved,
        401 => Refusal::Unauthorized,
        // A whole word: a user can be blocked as well.
        403 if lower.split(|c: char| !c.is_alphabetic()).any(|word| word == "locked") => Refusal::Locked,
        // A count of requests that reached 0 just then does not make it another refusal.
        403 if lower.contains("not accessible") => Refusal::ReadOnly,
        403 if limited => Refusal::RateLimited(retry_after),
        403 => Refusal::ReadOnly,
        404 | 410 => Refusal::NotFound,
        413 => Refusal::TooLarge,
        422 if answer.to_string().to_ascii_lowercase().contains("too long") => Refusal::TooLarge,
        429 => Refusal::RateLimited(retry_after),
        500..=599 => Refusal::ServerError(status, retry_after),
        _ => Refusal::Other(status, cut(&message.replace(['\n', '\r'], " "), 200)),
    }
}

/// What an error of the connection means. Its text is not shown: it may hold headers.
pub(super) fn of_error(error: &octocrab::Error) -> Refusal {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(current) = source {
        let timed_out = current.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        if timed_out == Some(std::io::ErrorKind::TimedOut) || current.to_string().contains("timed out") {
            return Refusal::Timeout;
        }
        source = current.source();
    }
    Refusal::Broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_apart() {
        let body = |message: &str| serde_json::json!({ "message": message }).to_string().into_bytes();
        let of = |status, message: &str| of_answer(status, &body(message), None, false);
        assert_eq!(of(403, "Resource not accessible by integration"), Refusal::ReadOnly);
        assert_eq!(of(403, "Unable to create comment because issue is locked."), Refusal::Locked);
        assert_eq!(of(403, "You have exceeded a secondary rate limit"), Refusal::RateLimited(None));
        assert_eq!(
            of_answer(403, &body("Resource not accessible by integration"), None, true),
            Refusal::ReadOnly
        );
        assert_eq!(of(403, "You have been blocked"), Refusal::ReadOnly);
        assert_eq!(of_answer(403, b"", None, true), Refusal::RateLimited(None));
        let two = Duration::from_secs(2);
        assert_eq!(of_answer(429, b"<html>", Some(two), false), Refusal::RateLimited(Some(two)));
        assert_eq!(of(301, "Moved Permanently"), Refusal::Moved);
        assert_eq!(of(404, "Not Found"), Refusal::NotFound);
        assert_eq!(of(422, "Body is too long (maximum is 65536 characters)"), Refusal::TooLarge);
        assert_eq!(of(422, "Validation\nFailed"), Refusal::Other(422, "Validation Failed".to_owned()));
        assert_eq!(of_answer(502, b"<html>bad</html>", None, false).word(), "server-error");
        assert_eq!(of(401, "Bad credentials").word(), "error");
    }
}
