//! Artifacts beside the trace, and what they say of states. `docs/verdicts.md` tells what is held against whom.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::digest::Material;
use crate::json;
use crate::model::Model;
use crate::trace::Status;

pub mod about;

use about::{About, Artifact, Deployed, Tie};

/// What is asked of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Absent evidence is a notice.
    #[default]
    Report,
    /// Absent evidence is a violation.
    Require,
    /// The files are not read as evidence at all.
    Off,
}

impl Mode {
    /// The mode with a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Report, Self::Require, Self::Off].into_iter().find(|mode| mode.name() == name)
    }

    /// The name in inputs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Require => "require",
            Self::Off => "off",
        }
    }
}

/// A file that may be there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Document<T> {
    /// It is not there.
    #[default]
    Absent,
    /// It is there, but cannot be read; the reason may quote it.
    Unreadable(String),
    /// What it says.
    Read(T),
}

impl<T> Document<T> {
    /// What it says, if it could be read.
    #[must_use]
    pub fn read(&self) -> Option<&T> {
        match self {
            Self::Read(content) => Some(content),
            Self::Absent | Self::Unreadable(_) => None,
        }
    }

    /// Reads the bytes of a file that is there.
    #[must_use]
    pub fn of_bytes(bytes: &[u8], read: impl Fn(&Value) -> Result<T, String>) -> Self {
        let value = match json::parse(bytes) {
            Ok(value @ Value::Object(_)) => value,
            Ok(_) => return Self::Unreadable("it holds no object".to_owned()),
            Err(error) => return Self::Unreadable(error.to_string()),
        };
        match read(&value) {
            Ok(content) => Self::Read(content),
            Err(reason) => Self::Unreadable(reason),
        }
    }
}

/// What the security gate's file says in its `gate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateWord {
    /// Nothing stood against the deployment.
    Passed,
    /// The deployment must not go on.
    Blocked,
    /// A person let it pass all the same.
    Overridden,
}

/// `security-gate.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// `gate`.
    pub word: GateWord,
    /// `criticalPassed` or `highPassed` is false; its name.
    pub unmet: Option<&'static str>,
    /// Findings left in `blockingFindings`.
    pub blocking: bool,
    /// `overrideReason`.
    pub reason: Option<String>,
    /// The template and commit that it is about.
    pub about: About,
}

impl Gate {
    /// Reads the file's object.
    ///
    /// # Errors
    /// `gate` is none of the three words.
    pub fn read(file: &Value) -> Result<Self, String> {
        let word = match json::present(file, "gate") {
            None => return Err("it has no `gate`".to_owned()),
            Some(word) => match word.as_str().map(|word| word.trim().to_ascii_uppercase()).as_deref() {
                Some("PASSED") => GateWord::Passed,
                Some("BLOCKED") => GateWord::Blocked,
                Some("OVERRIDDEN") => GateWord::Overridden,
                _ => return Err(format!("`gate` is {word}, not PASSED, BLOCKED or OVERRIDDEN")),
            },
        };
        let mut unmet = None;
        for key in ["criticalPassed", "highPassed"] {
            match json::present(file, key) {
                None | Some(Value::Bool(true)) => {}
                Some(Value::Bool(false)) => unmet = unmet.or(Some(key)),
                Some(Value::String(word)) if word.eq_ignore_ascii_case("true") => {}
                Some(Value::String(word)) if word.eq_ignore_ascii_case("false") => {
                    unmet = unmet.or(Some(key))
                }
                Some(other) => return Err(format!("`{key}` is {other}, not true or false")),
            }
        }
        let blocking = json::present(file, "blockingFindings").is_some_and(|findings| match findings {
            Value::Array(list) => !list.is_empty(),
            Value::Object(map) => !map.is_empty(),
            Value::String(text) => !text.is_empty() && !text.eq_ignore_ascii_case("none"),
            Value::Number(number) => number.as_f64() != Some(0.0),
            Value::Bool(any) => *any,
            Value::Null => false,
        });
        Ok(Self {
            word,
            unmet,
            blocking,
            reason: json::text(file, "overrideReason").filter(|reason| !reason.is_empty()).map(str::to_owned),
            about: About::read(file),
        })
    }
}

/// `state.json`, `metadata.json` or `authorization.json`, as far as they are used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// `deploymentId`.
    pub deployment_id: Option<String>,
    /// `status`.
    pub status: Option<String>,
    /// `timestamp`.
    pub timestamp: Option<String>,
    /// `runId`.
    pub run: Option<String>,
    /// The template and commit that it is about.
    pub about: About,
}

impl Record {
    /// Reads the file's object.
    ///
    /// # Errors
    /// A `status` that is no text says nothing that can be relied on.
    pub fn read(file: &Value) -> Result<Self, String> {
        if json::present(file, "status").is_some_and(|status| !status.is_string()) {
            return Err("its `status` is no text".to_owned());
        }
        let string = |key| json::text(file, key).filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(Self {
            deployment_id: string("deploymentId"),
            status: string("status"),
            timestamp: string("timestamp"),
            run: json::present(file, "runId")
                .map(|run| run.as_str().map_or_else(|| run.to_string(), str::to_owned)),
            about: About::read(file),
        })
    }

    /// The status says that something failed or was refused.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.status.as_deref().and_then(Status::of_first_word).is_some_and(Status::is_failure)
    }
}

/// What the agent or workflow says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed,
    /// Nothing, or nothing clear.
    Unknown,
}

impl Claim {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Succeeded, Self::Failed, Self::Unknown];

    /// The id in reports.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }

    fn of_word(word: &str) -> Self {
        match Status::of_word(word) {
            Some(Status::Completed) => Self::Succeeded,
            Some(Status::Failed | Status::Error) => Self::Failed,
            Some(Status::Started | Status::Skipped | Status::Unknown) | None => Self::Unknown,
        }
    }
}

/// All that lies beside the trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evidence {
    /// What is asked of it.
    pub mode: Mode,
    /// `security-gate.json`.
    pub gate: Document<Gate>,
    /// `authorization.json`.
    pub authorization: Document<Record>,
    /// `state.json`.
    pub state: Document<Record>,
    /// `metadata.json`.
    pub metadata: Document<Record>,
    /// Of the files that were looked for, those that are there.
    pub present: BTreeSet<String>,
    /// Files that count as absent though something has their name, and why.
    pub refused: BTreeMap<String, String>,
    /// What was deployed.
    pub deployed: Deployed,
    /// Why the template cannot be read, where it is there and an artifact names it.
    pub template_refused: Option<String>,
    /// The files that were read.
    pub materials: Vec<Material>,
}

/// The name of the template's file.
pub const TEMPLATE_FILE: &str = "template.json";
/// The name of the file with the template's parameters.
pub const PARAMETERS_FILE: &str = "parameters.json";
/// The name of the gate's file.
pub const GATE_FILE: &str = "security-gate.json";
/// The name of the authorization's file.
pub const AUTHORIZATION_FILE: &str = "authorization.json";
/// The name of the state file.
pub const STATE_FILE: &str = "state.json";
/// The name of the metadata file.
pub const METADATA_FILE: &str = "metadata.json";

impl Evidence {
    /// `state.json`, else the trace's own outcome, else `metadata.json`.
    #[must_use]
    pub fn claim(&self, trace_outcome: Option<&str>) -> Claim {
        let status = |file: &Document<Record>| file.read().and_then(|record| record.status.clone());
        let word = status(&self.state)
            .or_else(|| trace_outcome.map(str::to_owned))
            .or_else(|| status(&self.metadata));
        word.map_or(Claim::Unknown, |word| Claim::of_word(&word))
    }

    /// Some artifact names the template that it is about.
    #[must_use]
    pub fn names_a_template(&self) -> bool {
        let of = |record: &Document<Record>| {
            record.read().is_some_and(|record| !record.about.templates.is_empty())
        };
        let gate = self.gate.read().is_some_and(|gate| !gate.about.templates.is_empty());
        gate || of(&self.authorization) || of(&self.state)
    }

    /// What the artifacts that can be read name, against what was deployed.
    #[must_use]
    pub fn ties(&self) -> Vec<Tie> {
        let mut ties = Vec::new();
        if let Some(gate) = self.gate.read() {
            ties.extend(self.deployed.compare(Artifact::Gate, &gate.about));
        }
        if let Some(authorization) = self.authorization.read() {
            ties.extend(self.deployed.compare(Artifact::Authorization, &authorization.about));
        }
        // The file of the deployment itself need not repeat what it deployed; where it does, it must be what lies there.
        if let Some(state) = self.state.read().filter(|state| !state.about.templates.is_empty()) {
            let [template, _] = self.deployed.compare(Artifact::State, &state.about);
            ties.push(template);
        }
        ties
    }

    /// The deployment that the folder is of, where a file in it says so.
    #[must_use]
    pub fn deployment_id(&self) -> Option<&str> {
        let id = |file: &'_ Document<Record>| {
            file.read().and_then(|record| record.deployment_id.clone()).is_some()
        };
        let file = if id(&self.state) { &self.state } else { &self.metadata };
        file.read().and_then(|record| record.deployment_id.as_deref())
    }
}

/// What usually lies beside the trace for a state (git-ape's skills).
#[must_use]
pub fn usual(state: &str) -> Option<&'static str> {
    Some(match state {
        "requirements_gathered" => "requirements.json",
        "template_generated" => TEMPLATE_FILE,
        "security_gate_evaluated" | "security_gate" => GATE_FILE,
        "policy_assessed" => "policy-assessment.md",
        "preflight_validated" => "preflight-report.md",
        "cost_estimated" => "cost-estimate.json",
        "architecture_reviewed" => "waf-review.md",
        "deployment_authorized" => AUTHORIZATION_FILE,
        "deployment_executed" => STATE_FILE,
        "integration_tests_passed" | "integration_tests" => "tests.json",
        _ => return None,
    })
}

/// The states that the security gate's file speaks of.
pub const GATE_STATES: [&str; 2] = ["security_gate_evaluated", "security_gate"];
/// The state that the authorization's file speaks of.
pub const AUTHORIZED_STATE: &str = "deployment_authorized";

/// The files that a model wants to see, for a reader to look for.
#[must_use]
pub fn wanted(model: &Model) -> BTreeSet<String> {
    let states = 0..model.states();
    let usual = states.clone().filter_map(|state| usual(model.name(state))).map(str::to_owned);
    let demanded = states.flat_map(|state| model.demanded(state)).cloned();
    usual.chain(demanded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(text: &str) -> Document<Gate> {
        Document::of_bytes(text.as_bytes(), Gate::read)
    }

    #[test]
    fn a_gate_file_says_one_of_three_words_or_is_unreadable() {
        let gate_of = |text| gate(text).read().cloned();
        let passed = gate_of(r#"{"gate":"PASSED","blockingFindings":[],"criticalPassed":true}"#).unwrap();
        assert_eq!((passed.word, passed.unmet, passed.blocking), (GateWord::Passed, None, false));
        let unmet = gate_of(r#"{"gate":"Passed","highPassed":false,"blockingFindings":["x"]}"#).unwrap();
        assert_eq!((unmet.unmet, unmet.blocking), (Some("highPassed"), true));
        assert_eq!(
            gate_of(r#"{"gate":"PASSED","criticalPassed":"False"}"#).unwrap().unmet,
            Some("criticalPassed")
        );
        for text in [
            "",
            "[]",
            "{}",
            r#"{"gate":"PASSED","highPassed":"maybe"}"#,
            r#"{"gate":"MAYBE"}"#,
            r#"{"gate":1}"#,
            r#"{"gate":"PASSED","gate":"BLOCKED"}"#,
        ] {
            assert!(matches!(gate(text), Document::Unreadable(_)), "{text}");
        }
    }

    #[test]
    fn the_claim_is_the_state_files_then_the_traces_then_the_metadatas() {
        let record =
            |status: &str| Document::Read(Record { status: Some(status.to_owned()), ..Record::default() });
        let mut evidence = Evidence { metadata: record("succeeded"), ..Evidence::default() };
        assert_eq!(evidence.claim(None), Claim::Succeeded);
        assert_eq!(evidence.claim(Some("failed")), Claim::Failed);
        evidence.state = record("in_progress");
        assert_eq!(evidence.claim(Some("failed")), Claim::Unknown);
        assert_eq!(Evidence::default().claim(None), Claim::Unknown);
    }
}
