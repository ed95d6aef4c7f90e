//! Do the resources really work? What the integration tests saw, whatever they say of themselves.

use crate::digest::Material;
use crate::trace::Status;

pub mod junit;
pub mod results;

/// The four answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealthStatus {
    /// There is a passed check, no failed one, and nothing unclear.
    Healthy,
    /// A check failed, or the tests say so.
    Unhealthy,
    /// Nobody looked, or what was seen does not add up.
    NotTested,
    /// There are results, but they cannot be read.
    Unreadable,
}

impl HealthStatus {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Healthy, Self::Unhealthy, Self::NotTested, Self::Unreadable];

    /// The id in reports.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Unhealthy => "unhealthy",
            Self::NotTested => "not-tested",
            Self::Unreadable => "unreadable",
        }
    }
}

/// How one check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckStatus {
    /// It did not pass.
    Fail,
    /// Nobody can tell.
    Unknown,
    /// It passed with a warning, which makes nothing unhealthy.
    Warn,
    /// It was left out.
    Skip,
    /// It passed.
    Pass,
}

impl CheckStatus {
    /// The id in reports.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Skip => "skip",
            Self::Unknown => "unknown",
        }
    }

    /// What a word of a test's status means: the words of traces, and those that only tests use.
    #[must_use]
    pub fn of_word(word: &str) -> Self {
        match word.trim().to_ascii_lowercase().as_str() {
            "healthy" | "reachable" => return Self::Pass,
            "warning" | "warnings" | "warn" | "warned" => return Self::Warn,
            "unreachable" => return Self::Fail,
            _ => {}
        }
        match Status::of_word(word) {
            Some(Status::Completed) => Self::Pass,
            Some(Status::Failed | Status::Error) => Self::Fail,
            Some(Status::Skipped) => Self::Skip,
            Some(Status::Started | Status::Unknown) | None => Self::Unknown,
        }
    }
}

/// One look at one resource, endpoint or test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub resource: String,
    /// How it went.
    pub status: CheckStatus,
    /// What was seen.
    pub check: String,
}

/// What the results say of themselves as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// All is well.
    Passed,
    /// The tests failed.
    Failed,
    /// Nothing was tested.
    Skipped,
    /// Nothing, in a format that has no word for it.
    Nothing,
    /// Nothing clear, in a format that has one.
    Unclear,
}

/// What is known of the health of the deployed resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The answer.
    pub status: HealthStatus,
    /// Each check, in the order of the file.
    pub checks: Vec<Check>,
    /// The results say that the tests failed; how.
    pub failed: Option<String>,
    /// The results say passed, but a check inside failed.
    pub contradiction: bool,
    /// Why the answer is not clear: not tested or unreadable.
    pub reason: Option<String>,
    /// The file that was read or that cannot be.
    pub file: Option<String>,
    /// The files of results that were read.
    pub materials: Vec<Material>,
}

impl Health {
    /// There are no results.
    #[must_use]
    pub fn absent(reason: &str) -> Self {
        Self { reason: Some(reason.to_owned()), ..Self::weigh(vec![], None) }
    }

    /// There are results, but they cannot be read.
    #[must_use]
    pub fn unreadable(reason: String) -> Self {
        Self { status: HealthStatus::Unreadable, reason: Some(reason), ..Self::weigh(vec![], None) }
    }

    /// Weighs results, each of which needs a passed check of its own.
    fn weigh_each(results: Vec<Outcome>) -> Self {
        let proves = |result: &Outcome| {
            result.checks.iter().any(|check| matches!(check.status, CheckStatus::Pass | CheckStatus::Warn))
        };
        let unproven = results.len() > 1 && !results.iter().all(proves);
        Self::weigh(results, unproven.then(|| "one of the results has no passed check".to_owned()))
    }

    /// Weighs one or several results as one.
    fn weigh(results: Vec<Outcome>, problem: Option<String>) -> Self {
        let any = !results.is_empty();
        let mut checks = Vec::new();
        let (mut failed, mut contradiction, mut reason) = (None, false, problem);
        for result in results {
            let has = |status| result.checks.iter().any(|check| check.status == status);
            contradiction |= result.said == Said::Passed && has(CheckStatus::Fail);
            let said = match result.said {
                Said::Failed => Some("the results say that the tests failed".to_owned()),
                Said::Passed | Said::Skipped | Said::Nothing | Said::Unclear => None,
            };
            failed = failed.or(said).or(result.hidden_failures);
            let unclear = match result.said {
                Said::Skipped => Some("the tests were skipped".to_owned()),
                Said::Unclear => Some("the results do not say whether the tests passed".to_owned()),
                Said::Passed | Said::Failed | Said::Nothing => None,
            };
            let untold = result.checks.iter().find(|check| check.status == CheckStatus::Unknown);
            let untold =
                untold.map(|check| format!("nobody can tell how the check of {} went", check.resource));
            reason = reason.or(unclear).or(result.disagreement).or(untold);
            checks.extend(result.checks);
        }
        let has = |wanted: &[CheckStatus]| checks.iter().any(|check| wanted.contains(&check.status));
        if !has(&[CheckStatus::Pass, CheckStatus::Warn]) {
            let nothing = if !any {
                "there are no results"
            } else if checks.is_empty() {
                "the results hold not a single check"
            } else {
                "no check passed"
            };
            reason = reason.or(Some(nothing.to_owned()));
        }
        let status = if failed.is_some() || has(&[CheckStatus::Fail]) {
            HealthStatus::Unhealthy
        } else if reason.is_some() {
            HealthStatus::NotTested
        } else {
            HealthStatus::Healthy
        };
        Self { status, checks, failed, contradiction, reason, file: None, materials: Vec::new() }
    }
}

/// One result: what it says of itself, and what is in it.
#[derive(Debug)]
struct Outcome {
    said: Said,
    checks: Vec<Check>,
    /// Its own counts know of more failures than it lists.
    hidden_failures: Option<String>,
    /// Its own counts do not add up otherwise.
    disagreement: Option<String>,
}

impl Outcome {
    fn new(said: Said, checks: Vec<Check>) -> Self {
        Self { said, checks, hidden_failures: None, disagreement: None }
    }
}
