//! What a finding means, as text for a terminal and as Markdown: for the command `explain`, for `docs/findings.md`, and for
//! the help of a rule in a SARIF log. All words are our own.

use crate::conformance::sequence::Code;
use crate::findings::explain::{codes, explain};
use crate::verdict::{Class, FindingId, Verdict};

/// Where the product lives.
pub const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
/// Columns of a terminal that are used.
const WIDTH: usize = 90;
/// Columns of a line of the page.
const PAGE_WIDTH: usize = 118;
/// The classes, worst first.
const CLASSES: [Class; 4] = [Class::Failure, Class::Violation, Class::Agent, Class::Notice];

/// The page on which a finding is explained.
#[must_use]
pub fn address(id: FindingId) -> String {
    format!("{REPOSITORY}/blob/main/docs/findings.md#{}", id.id())
}

/// What a class does to the verdict.
fn effect(class: Class) -> String {
    match class {
        Class::Failure => format!("the verdict is {}", Verdict::DeploymentFailure.title()),
        Class::Violation => {
            format!("the verdict is {} or worse", Verdict::ProcessViolation.title())
        }
        Class::Agent => {
            format!("the verdict is {} or worse", Verdict::AgentIssue.title())
        }
        Class::Notice => "the verdict does not change".to_owned(),
    }
}

/// Text in lines of so many columns, each after an indent.
fn wrap(text: &str, indent: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let columns = indent.chars().count() + line.chars().count() + word.chars().count() + 1;
        if !line.is_empty() && columns > width {
            lines.push_str(&format!("{indent}{line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push_str(&format!("{indent}{line}\n"));
    lines
}

fn names(id: FindingId) -> String {
    codes(id).map(Code::id).collect::<Vec<_>>().join(", ")
}

/// One finding, for a terminal.
#[must_use]
pub fn text(id: FindingId) -> String {
    let explanation = explain(id);
    let class = id.class();
    let mut text = format!("{}  ({}: {})\n", id.id(), class.id(), effect(class));
    text.push_str(&wrap(id.summary(), "", WIDTH));
    for (heading, words) in [
        ("What it means", explanation.meaning),
        ("For example", explanation.example),
        ("What to do", explanation.remedy),
    ] {
        text.push_str(&format!("\n{heading}\n{}", wrap(words, "  ", WIDTH)));
    }
    let codes = names(id);
    if !codes.is_empty() {
        text.push_str(&format!("\ngit-ape's codes\n{}", wrap(&codes, "  ", WIDTH)));
    }
    text.push_str(&format!("\n{}\n", address(id)));
    text
}

/// All findings by class, each with its summary, for a terminal.
#[must_use]
pub fn list() -> String {
    let widest = FindingId::ALL.iter().map(|id| id.id().len()).max().unwrap_or(0);
    let mut text = String::new();
    for class in CLASSES {
        text.push_str(&format!("{}: {}\n", class.id(), effect(class)));
        for id in FindingId::ALL.iter().filter(|id| id.class() == class) {
            let rest = " ".repeat(widest + 4);
            let summary = wrap(id.summary(), &rest, WIDTH);
            text.push_str(&format!("  {:widest$}  {}", id.id(), summary.trim_start()));
        }
        text.push('\n');
    }
    text.push_str("process-integrity explain FINDING tells what one means and what to do.\n");
    text
}

/// One finding without its name, as Markdown.
#[must_use]
pub fn markdown(id: FindingId) -> String {
    let explanation = explain(id);
    let mut text = format!("{}\n\n{}\n\n", id.summary(), explanation.meaning);
    text.push_str(&format!("**For example:** {}\n\n", explanation.example));
    text.push_str(&format!("**What to do:** {}\n", explanation.remedy));
    text
}

/// The page on all findings, as Markdown. `example` is the folder of a deployment that shows one, relative to the page.
#[must_use]
pub fn page(example: impl Fn(FindingId) -> Option<String>) -> String {
    let mut page = "# What the findings mean\n\n".to_owned();
    page.push_str(&wrap(
        "`process-integrity explain FINDING` prints what is here for one finding, by its id or by one of git-ape's \
         codes. This page is written by the tests from the same words. The class decides the verdict; \
         [verdicts](verdicts.md) tells how the findings are arrived at.",
        "",
        PAGE_WIDTH,
    ));
    for class in CLASSES {
        page.push_str(&format!("\n## Class {}\n\n", class.id()));
        page.push_str(&wrap(&format!("With such a finding {}.", effect(class)), "", PAGE_WIDTH));
        for id in FindingId::ALL.iter().copied().filter(|id| id.class() == class) {
            page.push_str(&format!("\n### {}\n", id.id()));
            for paragraph in markdown(id).split("\n\n") {
                page.push_str(&format!("\n{}", wrap(paragraph.trim_end(), "", PAGE_WIDTH)));
            }
            let codes = names(id);
            if !codes.is_empty() {
                let codes = format!("**git-ape's codes:** `{}`", codes.replace(", ", "`, `"));
                page.push_str(&format!("\n{}", wrap(&codes, "", PAGE_WIDTH)));
            }
            if let Some(folder) = example(id) {
                page.push_str(&format!("\n[A deployment that shows it]({folder})\n"));
            }
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_long_as_they_may_be_and_no_longer() {
        assert_eq!(wrap("aa bb cc", "", 5), "aa bb\ncc\n");
        assert_eq!(wrap("aa bb cc", "  ", 5), "  aa\n  bb\n  cc\n");
        assert_eq!(wrap("toolong a", "", 3), "toolong\na\n");
    }

    #[test]
    fn the_class_of_a_finding_alone_is_the_verdict_that_is_told() {
        use crate::message::Message;
        use crate::verdict::Finding;
        for id in FindingId::ALL {
            let verdict = Verdict::of(&[Finding::new(*id, Message::default(), "")]);
            let told = effect(id.class());
            let expected = match verdict {
                Verdict::VerifiedSuccess => "does not change",
                Verdict::AgentIssue | Verdict::ProcessViolation | Verdict::DeploymentFailure => {
                    verdict.title()
                }
            };
            assert!(told.contains(expected), "{told}");
        }
    }
}
