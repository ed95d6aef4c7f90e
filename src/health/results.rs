//! `tests.json` in the shapes that are found: as git-ape's workflow writes it, as git-ape documents it, and plain.

use serde_json::Value;

use super::{Check, CheckStatus, Health, Outcome, Said};
use crate::json;

/// Reads results.
#[must_use]
pub fn read(bytes: &[u8]) -> Health {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Health::absent("the results are empty");
    }
    let document = match json::parse(bytes) {
        Ok(document) => document,
        Err(error) => return Health::unreadable(error.to_string()),
    };
    let mut results = Vec::new();
    match collect(&document, &mut results) {
        Ok(()) => Health::weigh_each(results),
        Err(reason) => Health::unreadable(reason),
    }
}

fn collect(document: &Value, results: &mut Vec<Outcome>) -> Result<(), String> {
    match document {
        Value::Null => Ok(()),
        Value::Array(documents) => documents.iter().try_for_each(|document| {
            if document.is_object() {
                collect(document, results)
            } else {
                Err("an entry of the results is no object".to_owned())
            }
        }),
        Value::Object(fields) if fields.is_empty() => Ok(()),
        Value::Object(_) => {
            results.push(outcome(document)?);
            Ok(())
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Err("the results are no object".to_owned()),
    }
}

fn outcome(document: &Value) -> Result<Outcome, String> {
    let has = |key| json::present(document, key).is_some();
    let documents =
        has("tests") || has("overallStatus") || document.get("summary").is_some_and(Value::is_object);
    let workflow = ["status", "resources", "endpoints"].into_iter().any(has);
    if documents {
        let mut outcome = documented(document)?;
        if workflow {
            // Both shapes in one: what either holds counts, and the worse of what they say.
            let other = workflow_shape(document)?;
            let spoken = [Said::Failed, Said::Skipped, Said::Unclear, Said::Passed];
            let silent = json::present(document, "status").is_none();
            let both = [Some(outcome.said), Some(other.said).filter(|_| !silent)];
            outcome.said =
                spoken.into_iter().find(|said| both.contains(&Some(*said))).unwrap_or(outcome.said);
            outcome.checks.extend(other.checks);
        }
        return Ok(outcome);
    }
    workflow_shape(document)
}

fn workflow_shape(document: &Value) -> Result<Outcome, String> {
    let resources = list(document, "resources")?;
    let endpoints = endpoints(document)?;
    let mut plain = json::present(document, "status").is_none() && endpoints.is_empty();
    let mut checks = Vec::new();
    for resource in resources {
        let (check, is_plain) = resource_check(resource)?;
        plain &= is_plain;
        checks.push(check);
    }
    checks.extend(endpoints);
    let said = match json::present(document, "status") {
        // The plain shape has no word for the whole.
        None if plain && !checks.is_empty() => Said::Nothing,
        status => said(status),
    };
    Ok(Outcome::new(said, checks))
}

fn said(status: Option<&Value>) -> Said {
    match status.and_then(Value::as_str).map(CheckStatus::of_word) {
        Some(CheckStatus::Pass | CheckStatus::Warn) => Said::Passed,
        Some(CheckStatus::Fail) => Said::Failed,
        Some(CheckStatus::Skip) => Said::Skipped,
        Some(CheckStatus::Unknown) | None => Said::Unclear,
    }
}

fn list<'a>(document: &'a Value, key: &str) -> Result<&'a [Value], String> {
    match json::present(document, key) {
        None => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(format!("`{key}` is no array")),
    }
}

fn name(entry: &Value, keys: &[&str]) -> String {
    let named = keys.iter().find_map(|key| json::text(entry, key)).filter(|name| !name.is_empty());
    named.unwrap_or("(unnamed)").to_owned()
}

/// A resource, and whether it is of the plain shape: `status` in place of `provisioningState`.
fn resource_check(entry: &Value) -> Result<(Check, bool), String> {
    if !entry.is_object() {
        return Err("an entry of `resources` is no object".to_owned());
    }
    let resource = name(entry, &["resource", "name", "id"]);
    let own = json::present(entry, "status").map(|status| status.as_str().map(CheckStatus::of_word));
    if let (Some(status), None) = (own, entry.get("provisioningState")) {
        let status = status.unwrap_or(CheckStatus::Unknown);
        let seen = json::text(entry, "check").or_else(|| json::text(entry, "status"));
        return Ok((Check { resource, status, check: seen.unwrap_or_default().to_owned() }, true));
    }
    let state = json::present(entry, "provisioningState");
    let provisioned =
        state.and_then(Value::as_str).is_some_and(|state| state.eq_ignore_ascii_case("Succeeded"));
    let worse =
        own.map(|status| status.unwrap_or(CheckStatus::Unknown)).filter(|own| *own != CheckStatus::Pass);
    let status = match (provisioned, worse) {
        (false, _) => CheckStatus::Fail,
        (true, Some(worse)) => worse,
        (true, None) => CheckStatus::Pass,
    };
    let shown = match state {
        None => "no provisioning state".to_owned(),
        Some(Value::String(state)) => format!("provisioning {state}"),
        Some(other) => format!("provisioning {other}"),
    };
    let check = match json::text(entry, "type") {
        Some(kind) => format!("{shown} ({kind})"),
        None => shown,
    };
    Ok((Check { resource, status, check }, false))
}

/// `endpoints`: lines `- NAME: URL → HTTP CODE`, whose breaks may be real or the two characters `\n`.
fn endpoints(document: &Value) -> Result<Vec<Check>, String> {
    let text = match json::present(document, "endpoints") {
        None => return Ok(Vec::new()),
        Some(Value::String(text)) => text.replace("\\n", "\n"),
        Some(Value::Array(lines)) if lines.iter().all(Value::is_string) => {
            lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
        }
        Some(_) => return Err("`endpoints` is no text".to_owned()),
    };
    // "none" and the like are no endpoints.
    let is_endpoint =
        |line: &&str| line.starts_with('-') || ["→", "://", "HTTP"].iter().any(|part| line.contains(part));
    Ok(text.lines().map(str::trim).filter(is_endpoint).map(endpoint).collect())
}

fn endpoint(line: &str) -> Check {
    let entry = line.strip_prefix('-').unwrap_or(line).trim();
    // The URL may hold anything, so codes are looked for behind the arrow, where there is one.
    let (before, codes) = match entry.split_once('→') {
        Some((before, codes)) => (before, codes),
        None => entry.find(" HTTP").map_or((entry, ""), |at| entry.split_at(at)),
    };
    let code = |code: &str| {
        // `HTTP/1.1 200` as well.
        let version = |text: &str| text.starts_with('/').then(|| text.find(' ')).flatten();
        let code = version(code).and_then(|end| code.get(end..)).unwrap_or(code).trim_start();
        let digits = code.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().to_owned();
        let status = match digits.parse::<u32>() {
            // curl writes 000 where it reached nobody, and again for each try.
            Ok(0 | 429 | 500..=599) => CheckStatus::Fail,
            Ok(200..=499) => CheckStatus::Pass,
            Ok(_) | Err(_) => CheckStatus::Unknown,
        };
        (status, digits)
    };
    // Of several tries the worst counts.
    let worst = codes.split("HTTP").skip(1).map(code).min_by_key(|(status, _)| *status);
    let (status, digits) = worst.unwrap_or((CheckStatus::Unknown, String::new()));
    let target = before.trim_end().trim_end_matches('→').trim_end();
    let resource = target.split(": ").next().filter(|name| !name.is_empty()).unwrap_or("(unnamed)");
    let seen = match (status, digits.as_str()) {
        (_, "") => "no HTTP status".to_owned(),
        (CheckStatus::Fail, digits) if digits.bytes().all(|digit| digit == b'0') => {
            format!("HTTP {digits}, unreachable")
        }
        (_, digits) => format!("HTTP {digits}"),
    };
    Check { resource: resource.to_owned(), status, check: seen }
}

fn documented(document: &Value) -> Result<Outcome, String> {
    let resource = name(document, &["resourceName", "resourceType", "deploymentId"]);
    let mut checks = Vec::new();
    for test in list(document, "tests")? {
        if !test.is_object() {
            return Err("an entry of `tests` is no object".to_owned());
        }
        let status = json::text(test, "status").map_or(CheckStatus::Unknown, CheckStatus::of_word);
        let name = name(test, &["name", "category"]);
        let check = match json::text(test, "details").filter(|details| !details.is_empty()) {
            Some(details) => format!("{name}: {details}"),
            None => name,
        };
        checks.push(Check { resource: resource.clone(), status, check });
    }
    let mut outcome = Outcome::new(said(json::present(document, "overallStatus")), checks);
    let summary = match json::present(document, "summary") {
        None => return Ok(outcome),
        Some(summary @ Value::Object(_)) => summary,
        Some(_) => return Err("`summary` is no object".to_owned()),
    };
    let count = |status| outcome.checks.iter().filter(|check| check.status == status).count() as u64;
    let listed = [
        ("failed", count(CheckStatus::Fail)),
        ("total", outcome.checks.len() as u64),
        ("passed", count(CheckStatus::Pass)),
        ("warnings", count(CheckStatus::Warn)),
        ("skipped", count(CheckStatus::Skip)),
    ];
    for (key, listed) in listed {
        let Some(said) = json::present(summary, key) else { continue };
        if said.as_u64() == Some(listed) {
            continue;
        }
        let text = format!("the summary counts {said} {key}, the results list {listed}");
        if key == "failed" && said.as_f64().is_some_and(|said| said > 0.0 && said.round() as u64 > listed) {
            outcome.hidden_failures = Some(text);
        } else {
            outcome.disagreement.get_or_insert(text);
        }
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::super::HealthStatus;
    use super::*;

    fn status(text: &str) -> HealthStatus {
        read(text.as_bytes()).status
    }

    #[test]
    fn codes_of_endpoints_are_read_as_curl_writes_them() {
        for (code, expected) in [
            ("HTTP 200", CheckStatus::Pass),
            ("HTTP 301", CheckStatus::Pass),
            ("HTTP/1.1 200 OK", CheckStatus::Pass),
            ("HTTP/2 503", CheckStatus::Fail),
            ("HTTP 404", CheckStatus::Pass),
            ("HTTP 429", CheckStatus::Fail),
            ("HTTP 503", CheckStatus::Fail),
            ("HTTP 000", CheckStatus::Fail),
            ("HTTP 000000", CheckStatus::Fail),
            ("HTTP 100", CheckStatus::Unknown),
            ("HTTP 600", CheckStatus::Unknown),
            ("HTTP 503000", CheckStatus::Unknown),
            ("HTTP ", CheckStatus::Unknown),
            ("", CheckStatus::Unknown),
        ] {
            let check = endpoint(&format!("- api: https://api.example/HTTP/1 → {code}"));
            let expected = if code.is_empty() { CheckStatus::Unknown } else { expected };
            assert_eq!((check.resource.as_str(), check.status), ("api", expected), "{code}");
        }
    }

    #[test]
    fn every_shape_has_its_answer() {
        use HealthStatus::{Healthy, NotTested, Unhealthy, Unreadable};
        let ok = r#""resources":[{"name":"a","provisioningState":"Succeeded"}]"#;
        for (text, expected) in [
            (format!(r#"{{"status":"passed",{ok},"endpoints":"\n- a: https://a → HTTP 200\n"}}"#), Healthy),
            (format!(r#"{{"status":"passed",{ok},"endpoints":"\\n- a: https://a → HTTP 200\\n- b: x → HTTP 500"}}"#), Unhealthy),
            (format!(r#"{{"status":"passed",{ok},"endpoints":"- a: https://a → HTTP 700"}}"#), NotTested),
            (format!(r#"{{"status":"skipped",{ok}}}"#), NotTested),
            (format!(r#"{{"status":"weird",{ok}}}"#), NotTested),
            (format!(r#"{{{ok}}}"#), NotTested),
            (r#"{"status":"passed","resources":[{"name":"a","provisioningState":null}]}"#.into(), Unhealthy),
            (r#"{"status":"passed","resources":[{"name":"a"}]}"#.into(), Unhealthy),
            (r#"{"status":"failed","resources":[]}"#.into(), Unhealthy),
            (r#"{"status":"passed","resources":[]}"#.into(), NotTested),
            (r#"{"resources":[{"resource":"a","status":"pass","check":"HTTP 200"}]}"#.into(), Healthy),
            (r#"{"resources":[{"resource":"a","status":"pass"},{"resource":"b","status":"fail"}]}"#.into(), Unhealthy),
            (r#"{"resources":[{"resource":"a","status":"hm"},{"resource":"b","status":"pass"}]}"#.into(), NotTested),
            (r#"{"tests":[{"name":"t","status":"warning"}],"overallStatus":"healthy"}"#.into(), Healthy),
            (r#"{"tests":[{"name":"t","status":"skipped"}],"overallStatus":"healthy"}"#.into(), NotTested),
            (r#"{"tests":[],"overallStatus":"healthy"}"#.into(), NotTested),
            (r#"{"tests":[{"name":"t","status":"passed"}],"overallStatus":"unhealthy"}"#.into(), Unhealthy),
            (r#"{"tests":[{"name":"t","status":"passed"}],"overallStatus":"healthy","summary":{"total":2}}"#.into(), NotTested),
            (r#"{"tests":[{"name":"t","status":"passed"}],"overallStatus":"healthy","summary":{"failed":1}}"#.into(), Unhealthy),
            (r#"[{"tests":[{"name":"t","status":"passed"}],"overallStatus":"healthy"},{"status":"failed"}]"#.into(), Unhealthy),
            (r#"[{"tests":[{"name":"t","status":"passed"}],"overallStatus":"healthy"},{"tests":[],"overallStatus":"healthy"}]"#.into(), NotTested),
            (format!(r#"{{"status":"passed",{ok},"endpoints":"N/A"}}"#), Healthy),
            ("".into(), NotTested),
            ("{}".into(), NotTested),
            ("[]".into(), NotTested),
            ("null".into(), NotTested),
            ("{".into(), Unreadable),
            ("7".into(), Unreadable),
            (r#"{"status":"passed","status":"failed"}"#.into(), Unreadable),
            (r#"{"status":"passed","resources":"a"}"#.into(), Unreadable),
            (format!(r#"{{"status":"failed",{ok},"tests":[{{"name":"t","status":"passed"}}],"overallStatus":"healthy"}}"#), Unhealthy),
            (r#"{"resources":[{"name":"a","provisioningState":"Failed"}],"tests":[{"name":"t","status":"passed"}],"overallStatus":"healthy"}"#.into(), Unhealthy),
            (format!(r#"{{"status":"passed",{ok},"summary":"all well","endpoints":"- a: x → HTTP 200"}}"#), Healthy),
            (format!(r#"{{"status":"passed",{ok},"endpoints":"- a: x → HTTP 503 then HTTP 200"}}"#), Unhealthy),
        ] {
            assert_eq!(status(&text), expected, "{text}");
        }
    }

    #[test]
    fn passed_over_a_failed_check_is_a_contradiction() {
        let health =
            read(br#"{"status":"passed","resources":[],"endpoints":"- a: https://a \u2192 HTTP 503"}"#);
        assert!(health.contradiction && health.failed.is_none());
        assert!(
            !read(br#"{"status":"skipped","resources":[{"name":"a","provisioningState":"Failed"}]}"#)
                .contradiction
        );
        assert!(read(br#"{"status":"failed","resources":[]}"#).failed.is_some());
    }
}
