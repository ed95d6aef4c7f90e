//! The report for machines: versioned, stable keys, the same bytes for the same input. Schema:
//! `docs/schemas/process-integrity-report.v1.schema.json`.

use serde::Serialize;

use super::Report;
use crate::escape;
use crate::evidence::about::Tie;
use crate::model::write::number;
use crate::verdict::Finding;

/// The schema of the report.
pub const SCHEMA: &str = "process-integrity-report/v1";

/// The report as it is serialized.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    deployment_id: &'a str,
    folder: Option<&'a str>,
    verdict: &'static str,
    false_success: bool,
    claim: &'static str,
    health: HealthPart<'a>,
    coverage: CoveragePart,
    states: Vec<StatePart<'a>>,
    missing: Vec<&'a str>,
    findings: Vec<FindingPart<'a>>,
    bindings: Vec<BindingPart<'a>>,
    model: ModelPart<'a>,
    options: OptionsPart<'a>,
    trace: TracePart<'a>,
}

#[derive(Serialize)]
struct HealthPart<'a> {
    status: &'static str,
    checks: Vec<CheckPart<'a>>,
}

#[derive(Serialize)]
struct CheckPart<'a> {
    resource: &'a str,
    status: &'static str,
    check: &'a str,
}

#[derive(Serialize)]
struct CoveragePart {
    covered: usize,
    essential: usize,
    percent: usize,
    threshold: serde_json::Number,
}

#[derive(Serialize)]
struct StatePart<'a> {
    id: &'a str,
    status: &'static str,
    line: Option<u64>,
}

#[derive(Serialize)]
struct FindingPart<'a> {
    id: &'static str,
    class: &'static str,
    state: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u64>,
    offset: Option<u64>,
    message: String,
    hint: &'static str,
    code: Option<&'static str>,
}

#[derive(Serialize)]
struct BindingPart<'a> {
    file: &'a str,
    of: &'static str,
    status: &'static str,
    named: Option<&'a str>,
    deployed: Option<&'a str>,
}

#[derive(Serialize)]
struct ModelPart<'a> {
    source: &'static str,
    path: Option<&'a str>,
    digest: &'a str,
}

#[derive(Serialize)]
struct OptionsPart<'a> {
    evidence: &'static str,
    min_events: u64,
    deployment_state: Option<&'a str>,
    terminal_state: Option<&'a str>,
    state_map: Option<&'a str>,
}

#[derive(Serialize)]
struct TracePart<'a> {
    format: Option<&'static str>,
    path: Option<&'a str>,
    digest: Option<&'a str>,
    events: u64,
    unreadable: u64,
    passed_over: u64,
    chained: u64,
    recognised: Option<&'static str>,
    producer: Option<&'static str>,
    compared: Vec<LogPart<'a>>,
}

#[derive(Serialize)]
struct LogPart<'a> {
    format: &'static str,
    path: &'a str,
    digest: &'a str,
}

fn finding(finding: &Finding) -> FindingPart<'_> {
    FindingPart {
        id: finding.id.id(),
        class: finding.id.class().id(),
        state: finding.state.as_deref(),
        file: finding.file.as_deref(),
        line: finding.place.map(|place| place.line),
        offset: finding.place.map(|place| place.offset),
        message: finding.message.to_string(),
        hint: finding.hint,
        code: finding.code.map(|code| code.id()),
    }
}

fn binding(tie: &Tie) -> BindingPart<'_> {
    BindingPart {
        file: tie.artifact.file(),
        of: tie.thing.id(),
        status: tie.tied.id(),
        named: tie.named.as_deref(),
        deployed: tie.deployed.as_deref(),
    }
}

/// How a document is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// For people to read.
    Pretty,
    /// One line, for several documents in one stream.
    Line,
}

/// The report as JSON, ending with a line break.
#[must_use]
pub fn render(report: &Report, layout: Layout) -> String {
    let document = document(report);
    let text = match layout {
        Layout::Pretty => serde_json::to_string_pretty(&document),
        Layout::Line => serde_json::to_string(&document),
    };
    // The document holds texts and numbers only, which always serialize.
    let mut text = escape::json(&text.unwrap_or_default());
    text.push('\n');
    text
}

/// The report, to be serialized by itself or as a part of something else.
pub(super) fn document(report: &Report) -> Document<'_> {
    let checks = report.checks.iter().map(|check| CheckPart {
        resource: &check.resource,
        status: check.status.id(),
        check: &check.check,
    });
    let states = report.states.iter().map(|state| StatePart {
        id: &state.id,
        status: state.status.id(),
        line: state.seen.map(|seen| seen.place.line),
    });
    Document {
        schema: SCHEMA,
        deployment_id: &report.deployment,
        folder: report.folder.as_deref(),
        verdict: report.verdict.id(),
        false_success: report.false_success(),
        claim: report.claim.id(),
        health: HealthPart { status: report.health.id(), checks: checks.collect() },
        coverage: CoveragePart {
            covered: report.coverage.covered,
            essential: report.coverage.essential,
            percent: report.coverage.percent(),
            threshold: number(report.coverage.threshold.percent()),
        },
        states: states.collect(),
        missing: report.missing().collect(),
        findings: report.findings.iter().map(finding).collect(),
        bindings: report.bindings.iter().map(binding).collect(),
        model: ModelPart {
            source: report.model.source.id(),
            path: report.model.path.as_deref(),
            digest: &report.model.digest,
        },
        options: OptionsPart {
            evidence: report.judged.evidence.name(),
            min_events: report.judged.min_events,
            deployment_state: report.judged.deployment_state.as_deref(),
            terminal_state: report.judged.terminal_state.as_deref(),
            state_map: report.judged.state_map.as_ref().map(|map| map.digest.as_str()),
        },
        trace: TracePart {
            format: report.format.map(crate::trace::TraceFormat::id),
            path: report.trace.as_deref(),
            digest: report.trace_digest.as_deref(),
            events: report.events,
            unreadable: report.unreadable,
            passed_over: report.passed_over,
            chained: report.chained,
            recognised: report.recognition.map(crate::trace::Recognition::id),
            producer: report.producer.map(crate::trace::Producer::id),
            compared: report
                .compared
                .iter()
                .map(|log| LogPart { format: log.format.id(), path: &log.file, digest: &log.digest })
                .collect(),
        },
    }
}
