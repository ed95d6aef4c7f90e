//! The four verdicts, and the findings that decide them. The worst class that is present is the verdict.

use crate::conformance::sequence::Code;
use crate::message::Message;
use crate::trace::Place;

/// What a finding amounts to, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The infrastructure is broken, or the process stopped before it.
    Failure,
    /// The process is incomplete or cannot be proven.
    Violation,
    /// The flow was abnormal.
    Agent,
    /// Worth knowing; never changes the verdict.
    Notice,
}

impl Class {
    /// The id in reports.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Violation => "violation",
            Self::Agent => "agent",
            Self::Notice => "notice",
        }
    }
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Healthy, complete, nothing abnormal, all evidence readable.
    VerifiedSuccess,
    /// Healthy and complete, but the flow was abnormal.
    AgentIssue,
    /// Not unhealthy, but the process is incomplete or cannot be proven.
    ProcessViolation,
    /// The infrastructure is broken, the deployment failed, or the process stopped before it.
    DeploymentFailure,
}

impl Verdict {
    /// All four, best first.
    pub const ALL: [Self; 4] =
        [Self::VerifiedSuccess, Self::AgentIssue, Self::ProcessViolation, Self::DeploymentFailure];

    /// The verdict over a set of findings.
    #[must_use]
    pub fn of(findings: &[Finding]) -> Self {
        Self::of_ids(findings.iter().map(|finding| finding.id))
    }

    /// The same where no more is known of the findings than their ids.
    #[must_use]
    pub fn of_ids(ids: impl Iterator<Item = FindingId>) -> Self {
        match ids.map(FindingId::class).min() {
            Some(Class::Failure) => Self::DeploymentFailure,
            Some(Class::Violation) => Self::ProcessViolation,
            Some(Class::Agent) => Self::AgentIssue,
            Some(Class::Notice) | None => Self::VerifiedSuccess,
        }
    }

    /// The id in reports and outputs.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::VerifiedSuccess => "verified-success",
            Self::AgentIssue => "agent-issue",
            Self::ProcessViolation => "process-violation",
            Self::DeploymentFailure => "deployment-failure",
        }
    }

    /// The words for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::VerifiedSuccess => "VERIFIED SUCCESS",
            Self::AgentIssue => "AGENT ISSUE",
            Self::ProcessViolation => "PROCESS VIOLATION",
            Self::DeploymentFailure => "DEPLOYMENT FAILURE",
        }
    }

    /// The sign before the words.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::VerifiedSuccess => "✅",
            Self::AgentIssue | Self::ProcessViolation => "⚠️",
            Self::DeploymentFailure => "❌",
        }
    }
}

macro_rules! finding_ids {
    ($($(#[doc = $doc:literal])+ $name:ident $id:literal $class:ident;)+) => {
        /// Every rule that there is, in the order in which its findings are shown within their class.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FindingId { $($(#[doc = $doc])+ $name,)+ }

        impl FindingId {
            /// All rules.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The stable id in reports.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            /// What is wrong, in one sentence: the comment on its row.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+).trim_ascii(),)+ }
            }

            /// What it amounts to.
            #[must_use]
            pub fn class(self) -> Class {
                match self { $(Self::$name => Class::$class,)+ }
            }
        }
    };
}

finding_ids! {
    /// A resource or endpoint check failed.
    ResourceUnhealthy "resource-unhealthy" Failure;
    /// The integration-test result says failed.
    TestsFailed "tests-failed" Failure;
    /// The result says passed, but a check inside it failed.
    HealthContradiction "health-contradiction" Failure;
    /// The last attempt of the deployment state failed, or `state.json` says failed.
    DeploymentFailed "deployment-failed" Failure;
    /// A state that guards the deployment failed, and no deployment completed.
    StoppedBeforeDeployment "stopped-before-deployment" Failure;
    /// An essential state has no event.
    StateMissing "state-missing" Violation;
    /// An essential state was attempted, but its last attempt that counts did not complete.
    StateFailed "state-failed" Violation;
    /// A state that guards the deployment completed only after a deployment attempt.
    StateLate "state-late" Violation;
    /// A state completed, but on something that was redone afterwards or did not exist yet.
    StateStale "state-stale" Violation;
    /// No result, an empty one, or nothing was tested.
    HealthUnknown "health-unknown" Violation;
    /// No trace, or an empty one.
    TraceMissing "trace-missing" Violation;
    /// The trace names another deployment than the folder's.
    TraceForeign "trace-foreign" Violation;
    /// The trace is bound by digest to another graph than the one given.
    TraceMismatch "trace-mismatch" Violation;
    /// A line of the trace is not the one that was written there.
    TraceTampered "trace-tampered" Violation;
    /// An artifact says the opposite of the trace.
    EvidenceContradiction "evidence-contradiction" Violation;
    /// Evidence that the model or the input demands is absent.
    EvidenceRequired "evidence-required" Violation;
    /// A model was given, but cannot be read; the built-in one was used in its place.
    ModelInvalid "model-invalid" Violation;
    /// Results were given, but cannot be read.
    ResultsInvalid "results-invalid" Violation;
    /// A gate, authorization, state or metadata file is there, but cannot be read.
    EvidenceUnreadable "evidence-unreadable" Violation;
    /// The trace holds an error event.
    ErrorEvent "error-event" Agent;
    /// After an error the next checkpoint is the deployment, while a guard had not completed.
    ErrorThenJump "error-then-jump" Agent;
    /// An essential state was attempted again after it failed, outside the allowed loops.
    Retry "retry" Agent;
    /// Essential states completed in an order that the model does not allow.
    OutOfOrder "out-of-order" Agent;
    /// The last checkpoint is not the expected terminal state.
    IncompleteWorkflow "incomplete-workflow" Agent;
    /// The run has fewer events than `min-events`.
    ShortTrace "short-trace" Agent;
    /// The trace, or a log beside it, has lines that could not be read.
    TraceCorrupt "trace-corrupt" Agent;
    /// A timestamp is unreadable, goes back, or mixes zones.
    ClockAnomaly "clock-anomaly" Agent;
    /// Nodes and transitions of an execution graph do not alternate or connect.
    EventSequence "event-sequence" Agent;
    /// The security gate was overridden by a person.
    GateOverridden "gate-overridden" Notice;
    /// A node that the execution graph does not declare.
    UndeclaredState "undeclared-state" Notice;
    /// A transition that the execution graph does not declare.
    UndeclaredTransition "undeclared-transition" Notice;
    /// A gate was blocked, the template redone, and the gate passed.
    GateLoop "gate-loop" Notice;
    /// The file holds earlier runs; only the last one was judged.
    EarlierRuns "earlier-runs" Notice;
    /// Further traces lie in the folder and were not judged.
    OtherTraces "other-traces" Notice;
    /// That a state happened is known only from its invocation.
    InvokedOnly "invoked-only" Notice;
    /// The threshold is under 100 and allowed states are missing.
    BelowFullCoverage "below-full-coverage" Notice;
    /// An artifact that usually accompanies a completed state is absent.
    EvidenceMissing "evidence-missing" Notice;
    /// All timestamps are equal or absent: only file order speaks.
    OrderUnproven "order-unproven" Notice;
    /// A status word outside the table; it counts as not completed.
    UnknownStatus "unknown-status" Notice;
}

/// One thing that a rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub id: FindingId,
    /// The state it is about.
    pub state: Option<String>,
    /// The file it is about.
    pub file: Option<String>,
    /// Where in that file.
    pub place: Option<Place>,
    /// What is wrong.
    pub message: Message,
    /// What to do about it.
    pub hint: &'static str,
    /// git-ape's code for the same.
    pub code: Option<Code>,
}

impl Finding {
    /// A finding with nothing but its words.
    #[must_use]
    pub fn new(id: FindingId, message: Message, hint: &'static str) -> Self {
        Self { id, state: None, file: None, place: None, message, hint, code: None }
    }

    /// About a state.
    #[must_use]
    pub fn state(mut self, state: &str) -> Self {
        self.state = Some(state.to_owned());
        self
    }

    /// In a file.
    #[must_use]
    pub fn file(mut self, file: Option<&str>) -> Self {
        self.file = file.map(str::to_owned);
        self
    }

    /// At a place of it.
    #[must_use]
    pub fn at(mut self, place: Option<Place>) -> Self {
        self.place = place;
        self
    }

    /// git-ape's code for it.
    #[must_use]
    pub fn code(mut self, code: Code) -> Self {
        self.code = Some(code);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn of(ids: &[FindingId]) -> Verdict {
        let findings: Vec<Finding> = ids.iter().map(|id| Finding::new(*id, Message::default(), "")).collect();
        Verdict::of(&findings)
    }

    #[test]
    fn the_worst_class_is_the_verdict() {
        assert_eq!(of(&[]), Verdict::VerifiedSuccess);
        assert_eq!(of(&[FindingId::GateLoop]), Verdict::VerifiedSuccess);
        assert_eq!(of(&[FindingId::GateLoop, FindingId::Retry]), Verdict::AgentIssue);
        assert_eq!(
            of(&[FindingId::Retry, FindingId::StateLate, FindingId::GateLoop]),
            Verdict::ProcessViolation
        );
        assert_eq!(of(&[FindingId::StateLate, FindingId::TestsFailed]), Verdict::DeploymentFailure);
    }

    #[test]
    fn ids_are_unique_and_sorted_by_class() {
        let ids: BTreeSet<&str> = FindingId::ALL.iter().map(|id| id.id()).collect();
        assert_eq!(ids.len(), FindingId::ALL.len());
        assert!(FindingId::ALL.windows(2).all(|pair| pair[0].class() <= pair[1].class()));
    }
}
