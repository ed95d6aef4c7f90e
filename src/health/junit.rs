//! JUnit XML, as every test runner writes it.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{Check, CheckStatus, Health, Outcome, Said};

/// Reads one or several files of results, each with its name.
#[must_use]
pub fn read<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Health {
    let mut results = Vec::new();
    for (name, bytes) in files {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match suite(bytes) {
            Ok(outcome) => results.push(outcome),
            Err(reason) => return Health::unreadable(format!("{name}: {reason}")),
        }
    }
    Health::weigh(results, None)
}

/// A `testsuite` or `testsuites` that is open: what it says it holds, and what was found in it.
#[derive(Default)]
struct Suite {
    said_tests: Option<u64>,
    said_failed: Option<u64>,
    said_skipped: Option<u64>,
    tests: u64,
    failed: u64,
    skipped: u64,
}

fn suite(bytes: &[u8]) -> Result<Outcome, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text =
        std::str::from_utf8(bytes).map_err(|error| format!("not UTF-8 at byte {}", error.valid_up_to()))?;
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let mut outcome = Outcome::new(Said::Nothing, Vec::new());
    let mut suites: Vec<Suite> = Vec::new();
    let mut case: Option<Check> = None;
    let (mut depth, mut any) = (0_usize, false);
    loop {
        let at = reader.buffer_position();
        let event = reader.read_event().map_err(|error| format!("{error} (byte {at})"))?;
        match event {
            Event::Start(ref tag) | Event::Empty(ref tag) => {
                let empty = matches!(event, Event::Empty(_));
                match tag.local_name().as_ref() {
                    "testsuites" | "testsuite" => {
                        any = true;
                        if !empty {
                            suites.push(Suite {
                                said_tests: number(tag, "tests"),
                                said_failed: failures(tag),
                                said_skipped: number(tag, "skipped"),
                                ..Suite::default()
                            });
                        } else if failures(tag).is_some_and(|failed| failed > 0) {
                            outcome.hidden_failures =
                                Some("a test suite counts failures that it does not list".to_owned());
                        }
                    }
                    "testcase" if case.is_some() => return Err("a testcase inside of a testcase".to_owned()),
                    "testcase" => {
                        let test = Check {
                            resource: title(tag),
                            status: CheckStatus::Pass,
                            check: "test passed".to_owned(),
                        };
                        let test = by_status(test, tag);
                        if empty {
                            settle(test, &mut suites, &mut outcome);
                        } else {
                            case = Some(test);
                        }
                    }
                    "failure" | "error" if case.is_none() => {
                        outcome.hidden_failures =
                            Some("a test suite reports an error outside of its tests".to_owned());
                    }
                    "failure" | "error" => mark(&mut case, CheckStatus::Fail, tag),
                    "skipped" => mark(&mut case, CheckStatus::Skip, tag),
                    _ => {}
                }
                depth += usize::from(!empty);
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                match tag.local_name().as_ref() {
                    "testcase" => {
                        if let Some(test) = case.take() {
                            settle(test, &mut suites, &mut outcome);
                        }
                    }
                    "testsuites" | "testsuite" => close(&mut suites, &mut outcome),
                    _ => {}
                }
            }
            Event::Eof if depth > 0 => return Err("the file ends inside an element".to_owned()),
            Event::Eof if !any => return Err("no `testsuite` in it".to_owned()),
            Event::Eof => return Ok(outcome),
            Event::Text(_) | Event::CData(_) | Event::Comment(_) | Event::Decl(_) => {}
            Event::PI(_) | Event::DocType(_) | Event::GeneralRef(_) => {}
        }
    }
}

fn settle(test: Check, suites: &mut [Suite], outcome: &mut Outcome) {
    if let Some(suite) = suites.last_mut() {
        suite.tests += 1;
        suite.failed += u64::from(test.status == CheckStatus::Fail);
        suite.skipped += u64::from(test.status == CheckStatus::Skip);
    }
    outcome.checks.push(test);
}

/// Compares what a suite says with what was found in it, and adds it to the one around it.
fn close(suites: &mut Vec<Suite>, outcome: &mut Outcome) {
    let Some(suite) = suites.pop() else { return };
    if let Some(said) = suite.said_failed.filter(|said| *said > suite.failed) {
        outcome.hidden_failures =
            Some(format!("a test suite counts {said} failures and lists {}", suite.failed));
    }
    if let Some(said) = suite.said_tests.filter(|said| *said > suite.tests) {
        outcome.disagreement = Some(format!("a test suite counts {said} tests and lists {}", suite.tests));
    }
    if let Some(said) = suite.said_skipped.filter(|said| *said > suite.skipped) {
        outcome.disagreement =
            Some(format!("a test suite counts {said} skipped tests and lists {}", suite.skipped));
    }
    if let Some(around) = suites.last_mut() {
        around.skipped += suite.skipped;
        around.tests += suite.tests;
        around.failed += suite.failed;
    }
}

fn mark(case: &mut Option<Check>, status: CheckStatus, tag: &BytesStart<'_>) {
    let Some(test) = case else { return };
    if status < test.status {
        test.status = status;
        let word = if status == CheckStatus::Fail { "test failed" } else { "test skipped" };
        test.check = match attribute(tag, "message") {
            Some(message) => format!("{word}: {message}"),
            None => word.to_owned(),
        };
    }
}

/// Some runners say in an attribute what others say in an element.
fn by_status(test: Check, tag: &BytesStart<'_>) -> Check {
    let word = attribute(tag, "status").unwrap_or_default();
    match CheckStatus::of_word(&word) {
        CheckStatus::Fail => Check { status: CheckStatus::Fail, check: "test failed".to_owned(), ..test },
        CheckStatus::Skip => Check { status: CheckStatus::Skip, check: "test skipped".to_owned(), ..test },
        CheckStatus::Unknown
            if word.eq_ignore_ascii_case("notrun") || word.eq_ignore_ascii_case("disabled") =>
        {
            Check { status: CheckStatus::Skip, check: "test skipped".to_owned(), ..test }
        }
        CheckStatus::Pass | CheckStatus::Warn | CheckStatus::Unknown => test,
    }
}

fn title(tag: &BytesStart<'_>) -> String {
    let name = attribute(tag, "name").unwrap_or_else(|| "(unnamed)".to_owned());
    match attribute(tag, "classname").filter(|class| !class.is_empty()) {
        Some(class) => format!("{class} {name}"),
        None => name,
    }
}

fn failures(tag: &BytesStart<'_>) -> Option<u64> {
    let counts = [number(tag, "failures"), number(tag, "errors")];
    counts.iter().any(Option::is_some).then(|| counts.into_iter().flatten().fold(0, u64::saturating_add))
}

fn number(tag: &BytesStart<'_>, name: &str) -> Option<u64> {
    attribute(tag, name)?.trim().parse().ok()
}

/// An attribute's text. One that cannot be unescaped (an entity of one's own) is taken as it stands.
fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.try_get_attribute(name).ok().flatten()?;
    let raw: &str = &attribute.value;
    Some(quick_xml::escape::unescape(raw).map_or_else(|_| raw.to_owned(), std::borrow::Cow::into_owned))
}

#[cfg(test)]
mod tests {
    use super::super::HealthStatus;
    use super::*;

    fn health(text: &str) -> Health {
        read([("junit.xml", text.as_bytes())])
    }

    #[test]
    fn every_file_has_its_answer() {
        use HealthStatus::{Healthy, NotTested, Unhealthy, Unreadable};
        for (text, expected) in [
            ("<testsuite><testcase name='a'/></testsuite>", Healthy),
            (
                "<?xml version='1.0'?><!-- x --><testsuites><testsuite><testcase name='a'></testcase></testsuite></testsuites>",
                Healthy,
            ),
            ("<testsuite><testcase name='a'/><testcase name='b'><skipped/></testcase></testsuite>", Healthy),
            ("<testsuite><testcase name='b'><skipped/></testcase></testsuite>", NotTested),
            ("<testsuite></testsuite>", NotTested),
            ("<testsuite/>", NotTested),
            (
                "<testsuite><testcase name='a'><failure message='x'>no</failure></testcase></testsuite>",
                Unhealthy,
            ),
            ("<testsuite><testcase name='a'><skipped/><error/></testcase></testsuite>", Unhealthy),
            ("<testsuite failures='1'><testcase name='a'/></testsuite>", Unhealthy),
            ("<testsuites errors='1'><testsuite><testcase name='a'/></testsuite></testsuites>", Unhealthy),
            ("<testsuite failures='2'/>", Unhealthy),
            (
                "<testsuite><testcase name='a'><failure/><testcase name='b'/></testcase></testsuite>",
                Unreadable,
            ),
            ("<testsuite><testcase name='a' status='notrun'/></testsuite>", NotTested),
            (
                "<testsuite><testcase name='a' status='run'/><testcase name='b' status='failed'/></testsuite>",
                Unhealthy,
            ),
            ("<testsuite><testcase name='a'/><error/></testsuite>", Unhealthy),
            ("<testsuite tests='1' skipped='1'><testcase name='a'/></testsuite>", NotTested),
            (
                "<testsuites tests='2'><testsuite tests='1'><testcase name='a'/></testsuite></testsuites>",
                NotTested,
            ),
            ("<testsuite><testcase name='a'/>", Unreadable),
            ("<testsuite><testcase name='a'></testsuite>", Unreadable),
            ("<html></html>", Unreadable),
            ("", NotTested),
        ] {
            assert_eq!(health(text).status, expected, "{text}");
        }
        assert_eq!(read([("a", &b"\xff"[..])]).status, Unreadable);
        assert_eq!(read([]).status, NotTested);
    }

    #[test]
    fn names_and_messages_are_shown() {
        let text = "<testsuite><testcase classname='api' name='a &amp; b'><failure message='HTTP &own; 503'/></testcase></testsuite>";
        let check = &health(text).checks[0];
        assert_eq!(
            (check.resource.as_str(), check.check.as_str()),
            ("api a & b", "test failed: HTTP &own; 503")
        );
    }
}
