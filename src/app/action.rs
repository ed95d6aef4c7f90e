//! The action: classify → outputs → annotations → summary → comment → issue. Each step stands for itself, none depends on a
//! later one, and none stops the deployment.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;

use super::classify::{Classified, classify};
use super::files::{self, Written};
use super::folders::needs_commit;
use super::guard::{self, Interruption, Signals};
use super::publish::{self, Published};
use super::troubles::Troubles;
use super::{learn, merge, plan, record};
use crate::message::Message;
use crate::report::Report;
use crate::report::annotations::{self, Annotation, Level, PER_TYPE};
use crate::report::markdown;
use crate::report::several::{self, Told};
use crate::report::terminal::{self, Colour};
use crate::runner::{self, SUMMARY_CAP, Verbosity};
use crate::settings::{Settings, Task};
use crate::verdict::Verdict;

/// One deadline for everything.
const DEADLINE: Duration = Duration::from_secs(90);
/// No further folder is checked after this: what was found until then is still to be told.
const CHECKING: Duration = Duration::from_secs(60);
/// To say what happened after all.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Reports that are in the log in full, worst first; the rest are a line each, since the runner reads every line.
const REPORTS_SHOWN: usize = 100;
/// Own warnings that are annotations; the rest are lines of the log.
const WARNINGS_SHOWN: usize = 3;
/// Rows of the table above the reports on several deployments.
const OVERVIEW_ROWS: usize = 500;
/// Warnings that may still come: of the summary, the comment and the issue.
const WARNINGS_LATER: usize = 2;

/// Runs the action. Whatever happens is an annotation and the `status` output.
pub fn run(environment: &[(String, String)]) {
    let settings = Arc::new(Settings::read(environment));
    runner::log(if settings.debug { Verbosity::Debug } else { Verbosity::Normal });
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::debug!(%error, "no runtime");
            // Without threads there is no deadline, no handler and no comment, but there is still a report.
            let all = || match other_task(settings.inputs.task) {
                None => drop(steps(&settings, None)),
                Some(run) => run(&settings),
            };
            if guard::isolated(all).is_err() {
                last_words(settings.output_file().as_deref(), Interruption::Panicked);
            }
            return;
        }
    };
    runtime.block_on(async {
        let output = settings.output_file();
        if let Err(interruption) = everything(&settings).await {
            let words = spawn_blocking(move || last_words(output.as_deref(), interruption));
            let _ = tokio::time::timeout(LAST_WORDS, words).await;
        }
    });
    runtime.shutdown_background();
}

/// What is done in place of a check, where something else is asked for.
fn other_task(task: Task) -> Option<fn(&Settings)> {
    match task {
        Task::Check => None,
        Task::Learn => Some(learn::step::run),
        Task::Plan => Some(plan::step::run),
        Task::Merge => Some(merge::step::run),
        Task::Record => Some(record::step::run),
    }
}

/// Classify, report, and then tell people: the later steps cannot take anything from the earlier ones.
async fn everything(settings: &Arc<Settings>) -> Result<(), Interruption> {
    let end = Instant::now() + DEADLINE;
    let left = || end.saturating_duration_since(Instant::now());
    let signals = &mut Signals::listen();
    let own = Arc::clone(settings);
    if let Some(run) = other_task(settings.inputs.task) {
        return guard::bounded(signals, spawn_blocking(move || run(&own)), left()).await;
    }
    let asks = guard::bounded(signals, spawn_blocking(move || needs_commit(&own)), left()).await?;
    let own = Arc::clone(settings);
    let files = async move { if asks { publish::files_of_commit(&own).await } else { None } };
    let changed = guard::bounded(signals, tokio::spawn(files), left()).await?;
    let own = Arc::clone(settings);
    let done = guard::bounded(signals, spawn_blocking(move || steps(&own, changed)), left()).await?;
    let Some(worst) = publish::worst(&done.reports.all) else { return Ok(()) };
    let own = Arc::clone(settings);
    let deadline = left().min(publish::DEADLINE);
    let mut status = done.status;
    let (reports, folders) = (done.reports.all, done.reports.folders);
    let published = tokio::spawn(async move {
        let folder = folders.get(worst).cloned().flatten();
        publish::publish(&own, &reports, folder, deadline).await
    });
    let published = match guard::bounded(signals, published, deadline).await {
        Ok(published) => published,
        Err(Interruption::Cancelled) => return Err(Interruption::Cancelled),
        Err(interruption) => Published {
            comment_status: if interruption == Interruption::Deadline { "timeout" } else { "error" },
            trouble: Some(interruption.reason().to_owned()),
            ..Published::default()
        },
    };
    if let (Some(trouble), "ok") = (&published.trouble, status.as_str()) {
        status.clone_from(trouble);
    }
    let own = Arc::clone(settings);
    guard::bounded(signals, spawn_blocking(move || tell(&own, &published, status)), LAST_WORDS).await
}

/// The last outputs and lines: what came of the comment and the issue.
fn tell(settings: &Settings, published: &Published, status: String) {
    for line in &published.lines {
        runner::annotate(line);
    }
    let values = [
        ("comment-status", published.comment_status.to_owned()),
        ("comment-url", published.comment_url.clone()),
        ("issue-url", published.issue_url.clone()),
        ("status", status),
    ];
    if let Some(file) = settings.output_file() {
        let _ = runner::outputs(&file, &values);
    }
}

fn last_words(output: Option<&Path>, interruption: Interruption) {
    let level = match interruption {
        Interruption::Cancelled => Level::Notice,
        Interruption::Deadline | Interruption::Panicked => Level::Warning,
    };
    runner::annotate(&Annotation::new(level, "Process Integrity", interruption.reason().to_owned()));
    if let Some(output) = output {
        let _ = runner::outputs(output, &[("status", interruption.reason().to_owned())]);
    }
}

/// What the steps without a network came to.
struct Done {
    reports: Classified,
    status: String,
}

fn steps(settings: &Settings, changed: Option<Vec<String>>) -> Done {
    let mut troubles = Troubles(settings.warnings.clone());
    let inputs = &settings.inputs;
    let secrets = settings.secrets();
    let until = Instant::now() + CHECKING;
    let reports = guard::isolated(|| classify(settings, &secrets, changed.as_deref(), until, &mut troubles));
    let reports = reports.unwrap_or_else(|interruption| {
        troubles.add(interruption.reason(), &[]);
        Classified::default()
    });
    let blank = |text: &str| secrets.blank(text);
    let warnings: Vec<Message> = troubles.0.iter().map(|warning| warning.clone().map_quotes(blank)).collect();
    let mut troubles = Troubles(warnings);
    let worst = publish::worst(&reports.all).and_then(|worst| reports.all.get(worst));
    let written = guard::isolated(|| files::write(settings, &reports, &mut troubles)).unwrap_or_default();
    let _ = guard::isolated(|| outputs(settings, &reports, worst, &written, &mut troubles));
    let _ = guard::isolated(|| annotate(&reports, &troubles));
    let before = troubles.0.len();
    if inputs.summary {
        let _ = guard::isolated(|| summary(settings, &reports, &mut troubles));
    }
    for trouble in troubles.0.iter().skip(before) {
        runner::annotate(&Annotation::new(Level::Warning, "Process Integrity", trouble.to_string()));
    }
    let status = troubles.status();
    if let (true, Some(file)) = (troubles.0.len() > before, settings.output_file()) {
        let _ = runner::outputs(&file, &[("status", status.clone())]);
    }
    Done { reports, status }
}

fn outputs(
    settings: &Settings,
    reports: &Classified,
    worst: Option<&Report>,
    written: &Written,
    troubles: &mut Troubles,
) {
    let text = |of: &dyn Fn(&Report) -> String| worst.map(of).unwrap_or_default();
    let findings: usize = reports.all.iter().map(Report::findings_count).sum();
    let coverage = |report: &Report| format!("{}/{}", report.coverage.covered, report.coverage.essential);
    let missing = |report: &Report| report.missing().collect::<Vec<_>>().join(",");
    let values = [
        ("verdict", text(&|report| report.verdict.id().to_owned())),
        ("false-success", reports.all.iter().any(Report::false_success).to_string()),
        ("coverage", text(&coverage)),
        ("coverage-percent", text(&|report| report.coverage.percent().to_string())),
        ("missing-states", text(&missing)),
        ("findings-count", findings.to_string()),
        ("health", text(&|report| report.health.id().to_owned())),
        ("claim", text(&|report| report.claim.id().to_owned())),
        ("status", troubles.status()),
    ];
    let values: Vec<_> = values.into_iter().chain(written.outputs()).collect();
    let Some(file) = settings.output_file() else { return };
    if let Err(error) = runner::outputs(&file, &values) {
        troubles.add(&format!("the outputs cannot be written: {}", error.kind()), &[]);
    }
}

fn annotate(reports: &Classified, troubles: &Troubles) {
    let in_repository = |file: &str| {
        let workspace = reports.workspace.as_ref()?;
        workspace.relative(Path::new(file)).filter(|file| workspace.root().join(file).is_file())
    };
    let warnings: Vec<String> = troubles.0.iter().map(Message::to_string).collect();
    for warning in warnings.iter().take(WARNINGS_SHOWN) {
        runner::annotate(&Annotation::new(Level::Warning, "Process Integrity", warning.clone()));
    }
    for warning in warnings.iter().skip(WARNINGS_SHOWN) {
        runner::complain(&format!("warning: {warning}"));
    }
    let own = warnings.len().min(WARNINGS_SHOWN) + WARNINGS_LATER;
    let room = |verdict: Verdict| match verdict {
        Verdict::AgentIssue | Verdict::ProcessViolation => PER_TYPE - own,
        Verdict::VerifiedSuccess | Verdict::DeploymentFailure => PER_TYPE,
    };
    match reports.all.as_slice() {
        [report] => {
            runner::print(&terminal::render(report, Colour::Off));
            for annotation in annotations::annotations(report, in_repository, room(report.verdict)) {
                runner::annotate(&annotation);
            }
        }
        several => {
            // Of many deployments each gets one annotation, worst first, as far as the runner keeps them.
            let mut sorted: Vec<&Report> = several.iter().collect();
            sorted.sort_by_key(|report| std::cmp::Reverse(report.verdict));
            let mut verdicts = Vec::new();
            let mut shown = std::collections::BTreeMap::new();
            for (at, report) in sorted.into_iter().enumerate() {
                let in_full = at < REPORTS_SHOWN;
                let render = if in_full { terminal::render } else { terminal::brief };
                runner::print(&render(report, Colour::Off));
                verdicts.push(report.verdict);
                let annotation = annotations::summary(report);
                let count: &mut usize = shown.entry(annotation.level).or_default();
                *count += 1;
                if *count < room(report.verdict) {
                    runner::annotate(&annotation);
                }
            }
            for (level, count) in shown {
                let kept = PER_TYPE - 1 - if level == Level::Warning { own } else { 0 };
                if count > kept {
                    let text = format!("and {} more deployments; the job summary lists them", count - kept);
                    runner::annotate(&Annotation::new(level, "Process Integrity", text));
                }
            }
            runner::print(&terminal::tally(&verdicts));
        }
    }
}

fn summary(settings: &Settings, reports: &Classified, troubles: &mut Troubles) {
    let Some(file) = settings.summary_file() else { return };
    let context = publish::context(settings);
    let mut text = match Told::of(&reports.all) {
        Some(Told::Several(sorted)) => several::overview(&sorted, None, OVERVIEW_ROWS),
        Some(Told::One(_)) | None => String::new(),
    };
    let mut left = reports.all.len();
    for report in &reports.all {
        let one = markdown::render(report, &context);
        if text.len() + one.len() > SUMMARY_CAP {
            text.push_str(&format!("\n{left} more deployments do not fit into this summary.\n"));
            break;
        }
        text.push_str(&one);
        text.push('\n');
        left -= 1;
    }
    if let Err(error) = runner::summary(&file, &text) {
        troubles.add(&format!("the job summary cannot be written: {}", error.kind()), &[]);
    }
}
