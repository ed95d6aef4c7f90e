//! The objects of a SARIF log, as far as they are written.

use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Log {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    pub(super) version: &'static str,
    pub(super) runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    pub(super) tool: Tool,
    pub(super) automation_details: AutomationDetails,
    pub(super) original_uri_base_ids: Bases,
    pub(super) invocations: [Invocation; 1],
    pub(super) results: Vec<SarifResult>,
    pub(super) properties: RunProperties,
}

#[derive(Serialize)]
pub(super) struct Tool {
    pub(super) driver: ToolComponent,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolComponent {
    pub(super) name: &'static str,
    pub(super) information_uri: &'static str,
    pub(super) version: &'static str,
    pub(super) semantic_version: &'static str,
    pub(super) rules: Vec<Rule>,
    pub(super) notifications: [Descriptor; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    pub(super) id: &'static str,
    pub(super) short_description: Text,
}

#[derive(Serialize)]
pub(super) struct Text {
    pub(super) text: String,
}

impl Text {
    pub(super) fn of(text: &str) -> Self {
        Self { text: text.to_owned() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) name: String,
    pub(super) short_description: Text,
    pub(super) full_description: Text,
    pub(super) help: Help,
    pub(super) help_uri: String,
    pub(super) default_configuration: Configuration,
    pub(super) properties: RuleProperties,
}

#[derive(Serialize)]
pub(super) struct Help {
    pub(super) text: String,
    pub(super) markdown: String,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Error,
    Warning,
    Note,
}

#[derive(Serialize)]
pub(super) struct Configuration {
    pub(super) level: Level,
}

/// What code scanning reads of a rule beyond the standard.
#[derive(Serialize)]
pub(super) struct RuleProperties {
    pub(super) tags: [&'static str; 3],
    pub(super) precision: &'static str,
    #[serde(rename = "problem.severity")]
    pub(super) problem_severity: &'static str,
}

#[derive(Serialize)]
pub(super) struct AutomationDetails {
    pub(super) id: &'static str,
}

#[derive(Serialize)]
pub(super) struct Bases {
    #[serde(rename = "%SRCROOT%")]
    pub(super) root: Base,
}

#[derive(Serialize)]
pub(super) struct Base {
    pub(super) description: Text,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub(super) execution_successful: bool,
    pub(super) tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
pub(super) struct Notification {
    pub(super) descriptor: DescriptorId,
    pub(super) level: Level,
    pub(super) message: Text,
}

#[derive(Serialize)]
pub(super) struct DescriptorId {
    pub(super) id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifResult {
    pub(super) rule_id: &'static str,
    pub(super) rule_index: usize,
    pub(super) level: Level,
    pub(super) message: Text,
    pub(super) locations: [Location; 1],
    pub(super) partial_fingerprints: Fingerprints,
    pub(super) properties: Properties,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    pub(super) physical_location: PhysicalLocation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub(super) artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) region: Option<Region>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactLocation {
    pub(super) uri: String,
    pub(super) uri_base_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub(super) start_line: u64,
}

/// What makes a result the same one in the next log. Code scanning looks at its own key only.
#[derive(Serialize)]
pub(super) struct Fingerprints {
    #[serde(rename = "processIntegrity/v1")]
    pub(super) own: String,
    #[serde(rename = "primaryLocationLineHash")]
    pub(super) code_scanning: String,
}

#[derive(Serialize)]
pub(super) struct Properties {
    pub(super) deployment: String,
    pub(super) verdict: &'static str,
    pub(super) class: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct RunProperties {
    pub(super) deployments: Vec<Deployment>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Deployment {
    pub(super) deployment: String,
    pub(super) folder: Option<String>,
    pub(super) verdict: &'static str,
    pub(super) false_success: bool,
    pub(super) covered: usize,
    pub(super) essential: usize,
}
