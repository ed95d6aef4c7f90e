//! The report as annotations of the Actions run: workflow commands, at most ten a type in a step.

use super::{Report, plain, words};
use crate::escape::{self, ANNOTATION_BREAK, cut};
use crate::verdict::{Class, Finding, FindingId, Verdict};

/// The runner keeps ten annotations of a type and step; the rest vanish without a word.
pub const PER_TYPE: usize = 10;
/// Overrides that are shown; the rest of the notices is for what is said of the comment.
const OVERRIDES_SHOWN: usize = 5;
/// The runner cuts a message at 4,096 characters.
const MESSAGE_SHOWN: usize = 3_500;

/// A type of annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Shown as an error. The step does not fail by it.
    Error,
    /// Shown as a warning.
    Warning,
    /// Shown as a remark.
    Notice,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        }
    }
}

/// One annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// Its type.
    pub level: Level,
    /// Its title.
    pub title: String,
    /// A file of the repository, and a line in it.
    pub place: Option<(String, Option<u64>)>,
    /// Lines of the message. Hostile text.
    pub message: Vec<String>,
}

impl Annotation {
    /// One without a place.
    #[must_use]
    pub fn new(level: Level, title: &str, message: String) -> Self {
        Self { level, title: title.to_owned(), place: None, message: vec![message] }
    }

    /// The workflow command, ending with a line break.
    #[must_use]
    pub fn command(&self) -> String {
        let mut properties = format!("title={}", escape::annotation_property(&cut(&self.title, 200)));
        if let Some((file, line)) = &self.place {
            properties.push_str(&format!(",file={}", escape::annotation_property(file)));
            if let Some(line) = line {
                properties.push_str(&format!(",line={line}"));
            }
        }
        let message = cut(&self.message.join("\n"), MESSAGE_SHOWN);
        let lines: Vec<String> = message.lines().map(escape::annotation).collect();
        format!("::{} {properties}::{}\n", self.level.name(), lines.join(ANNOTATION_BREAK))
    }
}

/// The annotations of a report: the verdict, then the findings that are more than notices, worst first, and overrides of
/// a gate. `in_repository` gives the name of a file in the repository, for files that have one. `room` is how many of the
/// verdict's type may be used; what does not fit is counted in a last one.
#[must_use]
pub fn annotations(
    report: &Report,
    in_repository: impl Fn(&str) -> Option<String>,
    room: usize,
) -> Vec<Annotation> {
    let summary = summary(report);
    let level = summary.level;
    let mut all = vec![summary];
    let annotate = |level: Level, finding: &Finding| Annotation {
        level,
        title: format!("Process Integrity: {}", finding.id.id()),
        place: finding
            .file
            .as_deref()
            .and_then(&in_repository)
            .map(|file| (file, finding.place.map(|place| place.line))),
        message: vec![plain(&finding.message, str::to_owned), finding.hint.to_owned()],
    };
    let overrides: Vec<&Finding> =
        report.findings.iter().filter(|finding| finding.id == FindingId::GateOverridden).collect();
    let further: Vec<&Finding> =
        report.findings.iter().filter(|finding| finding.id.class() != Class::Notice).collect();
    let fits = if further.len() < room { further.len() } else { room.saturating_sub(2) };
    all.extend(further.iter().take(fits).map(|finding| annotate(level, finding)));
    if further.len() > fits {
        let text = format!("and {} more; the job summary and the report list all", further.len() - fits);
        all.push(Annotation::new(level, "Process Integrity", text));
    }
    all.extend(overrides.iter().take(OVERRIDES_SHOWN).map(|finding| annotate(Level::Notice, finding)));
    all
}

/// The annotation of the verdict alone.
#[must_use]
pub fn summary(report: &Report) -> Annotation {
    let level = match report.verdict {
        Verdict::VerifiedSuccess => Level::Notice,
        Verdict::AgentIssue | Verdict::ProcessViolation => Level::Warning,
        Verdict::DeploymentFailure => Level::Error,
    };
    let coverage = &report.coverage;
    let mut message = vec![
        format!("{}: {}", report.deployment, words::headline(report)),
        format!(
            "Coverage {}/{} essential states ({}%).",
            coverage.covered,
            coverage.essential,
            coverage.percent()
        ),
    ];
    let missing: Vec<&str> = report.missing().collect();
    if !missing.is_empty() {
        let shown: Vec<String> = missing.iter().take(20).map(|state| cut(state, 100)).collect();
        let more = missing.len() - shown.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        message.push(format!("Missing: {}{more}.", shown.join(", ")));
    }
    Annotation {
        level,
        title: format!("Process Integrity: {}", report.verdict.title()),
        place: None,
        message,
    }
}

/// All annotations of a report as text, for the local command.
#[must_use]
pub fn render(report: &Report) -> String {
    let found = annotations(report, |file| Some(file.to_owned()), PER_TYPE);
    found.iter().map(Annotation::command).collect()
}
