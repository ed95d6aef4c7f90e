//! The reports as JUnit XML, for dashboards of tests: a suite a deployment, a test case a checkpoint. Valid by the schema of
//! Jenkins' xUnit plugin (`junit-10.xsd`), the most widely read one; nobody published a standard.

use std::collections::{BTreeMap, BTreeSet};

use super::{Report, StateRow, plain};
use crate::conformance::StateStatus;
use crate::escape;
use crate::findings::explain::explain;
use crate::health::{Check, CheckStatus};
use crate::message::Message;
use crate::verdict::{Class, Finding, FindingId};

/// How a test case went.
enum Outcome {
    /// It is proven.
    Passed,
    /// Nothing is held against its absence.
    Skipped(&'static str),
    /// What is held against it, worst first.
    Failed(Vec<Failure>),
}

/// One thing that is held against a test case.
struct Failure {
    id: FindingId,
    message: String,
    place: String,
    hint: String,
}

/// One test case.
struct Case {
    class: &'static str,
    name: String,
    outcome: Outcome,
    /// What was seen.
    seen: String,
}

/// Test cases, and how many of them failed or were skipped.
struct Counts {
    tests: usize,
    failures: usize,
    skipped: usize,
}

impl Counts {
    fn of<'a>(cases: impl Iterator<Item = &'a Case>) -> Self {
        let mut counts = Self { tests: 0, failures: 0, skipped: 0 };
        for case in cases {
            counts.tests += 1;
            match case.outcome {
                Outcome::Passed => {}
                Outcome::Skipped(_) => counts.skipped += 1,
                Outcome::Failed(_) => counts.failures += 1,
            }
        }
        counts
    }
}

/// The document.
#[must_use]
pub fn render(reports: &[Report]) -> String {
    let suites: Vec<(&Report, Vec<Case>)> = reports.iter().map(|report| (report, cases(report))).collect();
    let all = Counts::of(suites.iter().flat_map(|(_, cases)| cases));
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    xml.push_str(&format!(
        "<testsuites name=\"Process Integrity\" tests=\"{}\" failures=\"{}\" errors=\"0\">\n",
        all.tests, all.failures
    ));
    for (report, cases) in &suites {
        suite(report, cases, &mut xml);
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn suite(report: &Report, cases: &[Case], xml: &mut String) {
    let counts = Counts::of(cases.iter());
    xml.push_str(&format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n    <properties>\n",
        escape::xml(&report.deployment),
        counts.tests,
        counts.failures,
        counts.skipped
    ));
    for (name, value) in properties(report) {
        xml.push_str(&format!("      <property name=\"{name}\" value=\"{}\"/>\n", escape::xml(&value)));
    }
    xml.push_str("    </properties>\n");
    cases.iter().for_each(|case| write_case(case, xml));
    let notices: Vec<String> = report
        .findings
        .iter()
        .filter(|finding| finding.id.class() == Class::Notice)
        .map(|finding| Failure::of(finding).text())
        .collect();
    if !notices.is_empty() {
        xml.push_str(&format!("    <system-out>{}</system-out>\n", notices.join("\n")));
    }
    xml.push_str("  </testsuite>\n");
}

fn properties(report: &Report) -> Vec<(&'static str, String)> {
    let coverage = report.coverage;
    let mut properties = vec![
        ("verdict", report.verdict.id().to_owned()),
        ("false-success", report.false_success().to_string()),
        ("claim", report.claim.id().to_owned()),
        ("health", report.health.id().to_owned()),
        ("coverage", format!("{}/{}", coverage.covered, coverage.essential)),
        ("model", report.model.source.id().to_owned()),
    ];
    let named = [("folder", &report.folder), ("trace", &report.trace)];
    properties.extend(named.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
    properties
}

fn write_case(case: &Case, xml: &mut String) {
    let tag = format!(
        "    <testcase classname=\"process-integrity.{}\" name=\"{}\"",
        case.class,
        escape::xml(&case.name)
    );
    let seen = match case.seen.as_str() {
        "" => String::new(),
        seen => format!("      <system-out>{}</system-out>\n", escape::xml(seen)),
    };
    let outcome = match &case.outcome {
        Outcome::Passed => String::new(),
        Outcome::Skipped(why) => format!("      <skipped message=\"{why}\"/>\n"),
        Outcome::Failed(failures) => {
            let first = failures.first();
            let kind = first.map_or("", |failure| failure.id.id());
            let message = first.map_or(String::new(), |failure| escape::xml(&failure.message));
            let texts: Vec<String> = failures.iter().map(Failure::text).collect();
            format!("      <failure type=\"{kind}\" message=\"{message}\">{}</failure>\n", texts.join("\n"))
        }
    };
    match format!("{outcome}{seen}").as_str() {
        "" => xml.push_str(&format!("{tag}/>\n")),
        inside => xml.push_str(&format!("{tag}>\n{inside}    </testcase>\n")),
    }
}

impl Failure {
    fn of(finding: &Finding) -> Self {
        let file = finding.file.clone().unwrap_or_default();
        let line = finding.place.map_or(String::new(), |place| format!(":{}", place.line));
        Self {
            id: finding.id,
            message: plain(&finding.message, str::to_owned),
            place: if file.is_empty() { file } else { format!("{file}{line}") },
            hint: finding.hint.to_owned(),
        }
    }

    /// What a check stands for.
    fn of_check(id: FindingId, template: &str, check: &Check) -> Self {
        let message = Message::new(template, &[&check.resource, &check.check]);
        let hint = explain(id).remedy.to_owned();
        Self { id, message: plain(&message, str::to_owned), place: String::new(), hint }
    }

    /// All of it in lines of text.
    fn text(&self) -> String {
        let mut text = format!("{}: {}\n", self.id.id(), escape::xml(&self.message));
        if !self.place.is_empty() {
            text.push_str(&format!("  in {}\n", escape::xml(&self.place)));
        }
        text.push_str(&format!("  → {}", escape::xml(&self.hint)));
        text
    }
}

fn cases(report: &Report) -> Vec<Case> {
    let states: BTreeSet<&str> = report.states.iter().map(|state| state.id.as_str()).collect();
    let mut against: BTreeMap<&str, Vec<Failure>> = BTreeMap::new();
    let mut others = Vec::new();
    for finding in report.findings.iter().filter(|finding| finding.id.class() != Class::Notice) {
        match finding.state.as_deref().filter(|state| states.contains(state)) {
            Some(state) => against.entry(state).or_default().push(Failure::of(finding)),
            // A failed check is a test case already.
            None if finding.id == FindingId::ResourceUnhealthy => {}
            None => others.push(Case {
                class: "finding",
                name: finding.id.id().to_owned(),
                outcome: Outcome::Failed(vec![Failure::of(finding)]),
                seen: String::new(),
            }),
        }
    }
    let mut cases: Vec<Case> = report.states.iter().map(|state| checkpoint(state, &mut against)).collect();
    let unknown = report.has(FindingId::HealthUnknown);
    cases.extend(report.checks.iter().map(|check| health(check, unknown)));
    cases.extend(others);
    number(&mut cases);
    cases
}

fn checkpoint(state: &StateRow, against: &mut BTreeMap<&str, Vec<Failure>>) -> Case {
    let outcome = match (against.remove(state.id.as_str()), state.status) {
        (Some(failures), _) => Outcome::Failed(failures),
        (None, StateStatus::Missing) => Outcome::Skipped("missing, which the coverage threshold allows"),
        // A finding says why; without one it has not passed all the same.
        (None, StateStatus::Failed | StateStatus::Late | StateStatus::Stale) => Outcome::Failed(Vec::new()),
        (None, StateStatus::Covered | StateStatus::OutOfOrder) => Outcome::Passed,
    };
    let seen = state.seen.map_or(String::new(), |seen| format!("line {}", seen.place.line));
    Case { class: "checkpoint", name: state.id.clone(), outcome, seen }
}

fn health(check: &Check, unknown: bool) -> Case {
    let failed = |id, template: &str| Outcome::Failed(vec![Failure::of_check(id, template, check)]);
    let outcome = match check.status {
        CheckStatus::Pass | CheckStatus::Warn => Outcome::Passed,
        CheckStatus::Fail => failed(FindingId::ResourceUnhealthy, "{} is unhealthy: {}"),
        CheckStatus::Unknown => {
            failed(FindingId::HealthUnknown, "nobody can tell how the check of {} went: {}")
        }
        // Where nothing else proves the health, that it was left out is held against it.
        CheckStatus::Skip if unknown => failed(FindingId::HealthUnknown, "the check of {} was skipped: {}"),
        CheckStatus::Skip => Outcome::Skipped("the check was skipped, and others passed"),
    };
    let seen = match check.status {
        CheckStatus::Warn => format!("warning: {}", check.check),
        CheckStatus::Pass | CheckStatus::Skip | CheckStatus::Fail | CheckStatus::Unknown => {
            check.check.clone()
        }
    };
    Case { class: "health", name: check.resource.clone(), outcome, seen }
}

/// Dashboards tell test cases by their names, so a name that comes again has a number.
fn number(cases: &mut [Case]) {
    let mut seen: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for case in cases {
        let count = seen.entry((case.class, case.name.clone())).or_default();
        *count += 1;
        if *count > 1 {
            case.name = format!("{} ({count})", case.name);
        }
    }
}
