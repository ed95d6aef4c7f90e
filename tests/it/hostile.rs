//! Hostile text in every field of every input: what comes out is what was meant, in every sink.

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options, parse_document};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Deployment, program, stderr, stdout};
use process_integrity::escape;

/// Texts that mean something to some sink.
pub(crate) const ATTACKS: [&str; 34] = [
    "::set-env name=A::b",
    "\n::error::x",
    "\u{2003}::add-path::/tmp",
    "a ##[error]b",
    "##[group]",
    "]]>",
    "%0A::warning::x",
    "\r\n::stop-commands::t",
    "\u{1b}[2J\u{1b}]0;title\u{7}",
    "\u{202e}gnp.exe",
    "@octocat and @org/team",
    "fixes #12 and GH-7 and o/r#3",
    "https://evil.example/x www.evil.example",
    "| a | b |\n|---|---|",
    "</details></details><script>alert(1)</script>",
    "<!-- hidden",
    "--> <img src=x onerror=alert(1)>",
    "```\n````\n~~~",
    "`a` ``b`` \\`c\\` `",
    "[link](https://evil.example) ![img](x)",
    "**bold** __x__ ~~s~~ # h",
    "$x^2$ $$y$$",
    "%%{init: {\"theme\":\"dark\"}}%%",
    "\"]:::bad --> x[\"",
    "EOF\nverdict=verified-success\nEOF",
    "ghadelimiter_0000",
    "mailto:a@b.example a@b.example",
    "&lt;b&gt; &amp; &#64;user",
    "\u{0}\u{7f}\u{85}\u{2028}\u{2029}",
    "\u{200b}\u{feff}\u{e0041}",
    "'; rm -rf / #",
    "{{7*7}} ${{ github.token }}",
    "\\",
    "\\|",
];

pub(crate) fn attack() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(ATTACKS.to_vec()).prop_map(str::to_owned),
        "[ -~]{0,12}",
        "\\PC{0,6}",
        prop::sample::select(vec!["a", ":", "::", "#", "##[", "`", "|", "\n", "@", "<", ">", "\\"])
            .prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat())
}

/// A deployment whose every text is the attack.
pub(crate) fn deployment(text: &str) -> Deployment {
    let deployment = Deployment::verified();
    let trace = [
        json!({"state": text, "status": text, "timestamp": text, "message": text, "run_id": text}),
        json!({"state": "template_generated", "status": "completed", "agent": text, "run_id": text}),
        json!({"state": "error", "message": text, "run_id": text}),
        json!({"state": text, "status": "failed", "run_id": text}),
        json!({"state": "deployment_executed", "status": text, "deployment_id": text, "run_id": text}),
    ];
    deployment.trace(&trace);
    let mut torn = std::fs::read_to_string(deployment.path().join("trace.jsonl")).unwrap();
    torn.push_str(&format!("{{{}:1,{}:2}}\n", json!(text), json!(text)));
    deployment.write("trace.jsonl", &torn);
    let results = json!({"status": "passed", "resources": [{"name": text, "type": text, "provisioningState": text}], "endpoints": text});
    deployment.write("tests.json", &results.to_string());
    deployment.write("state.json", &json!({"deploymentId": text, "status": text}).to_string());
    deployment.write("security-gate.json", &json!({"gate": text, "overrideReason": text}).to_string());
    // A name of the model that is the attack itself, if a model can hold it.
    let name = if text.is_empty() { "x" } else { text };
    let model = json!({"essential_states": [name, "template_generated", "deployment_executed"], "evidence": {"template_generated": [name]}});
    deployment.write("m.json", &model.to_string());
    deployment
}

fn run(deployment: &Deployment, format: &str) -> std::process::Output {
    let model = deployment.path().join("m.json");
    program()
        .arg("check")
        .arg(deployment.path())
        .args(["--format", format, "--model"])
        .arg(model)
        .output()
        .unwrap()
}

/// What the runner would take for a command, in lines that are not our own annotations.
fn commands(text: &str, own: bool) -> Vec<String> {
    let is_command = |line: &&str| {
        let start = line.trim_start();
        let ours = own
            && ["::warning title=", "::error title=", "::notice title="]
                .iter()
                .any(|word| line.starts_with(word));
        (start.starts_with("::") && !ours) || line.contains("##[")
    };
    text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}', '\u{b}', '\u{c}'])
        .filter(is_command)
        .map(str::to_owned)
        .collect()
}

pub(crate) fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.math_dollars = true;
    options.extension.alerts = true;
    options
}

/// Everything in a document that data may not have put there.
pub(crate) fn intrusions<'a>(node: &'a AstNode<'a>, found: &mut Vec<String>) {
    let is_ours = |html: &str| {
        let text = html.trim();
        let known = ["<details>", "</details>"].contains(&text);
        let summary = text.starts_with("<details>\n<summary>")
            && text.ends_with("</summary>")
            && text.matches('<').count() == 3;
        // A name in it stands in code, where GitHub makes nothing of it.
        let named = text.starts_with("<details>\n<summary>")
            && text.ends_with("</code></summary>")
            && text.matches("<code>").count() == 1
            && text.matches('<').count() == 5;
        known || summary || named
    };
    match &node.data.borrow().value {
        NodeValue::HtmlBlock(block) if !is_ours(&block.literal) => {
            found.push(format!("html block {:?}", block.literal))
        }
        NodeValue::HtmlInline(html) => found.push(format!("html {html:?}")),
        NodeValue::Link(link) => found.push(format!("link {}", link.url)),
        NodeValue::Image(link) => found.push(format!("image {}", link.url)),
        NodeValue::Math(math) => found.push(format!("math {}", math.literal)),
        NodeValue::Strikethrough | NodeValue::FootnoteReference(_) | NodeValue::Emph => {
            found.push("mark-up".to_owned())
        }
        NodeValue::Text(text) => {
            let chars: Vec<char> = text.chars().collect();
            for pair in chars.windows(2) {
                let name = pair[1].is_ascii_alphanumeric();
                if (pair[0] == '@' && name) || (pair[0] == '#' && pair[1].is_ascii_digit()) {
                    found.push(format!("reference in {text:?}"));
                }
            }
            if text.to_ascii_lowercase().contains("gh-1") || text.to_ascii_lowercase().contains("gh-7") {
                found.push(format!("reference in {text:?}"));
            }
        }
        _ => {}
    }
    node.children().for_each(|child| intrusions(child, found));
}

/// Kinds of the blocks at the top, so that two documents can be compared.
fn shape(markdown: &str) -> Vec<String> {
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &options());
    let block = |node: &AstNode<'_>| match &node.data.borrow().value {
        NodeValue::Table(table) => format!("table of {}", table.num_columns),
        NodeValue::Heading(heading) => format!("heading {}", heading.level),
        NodeValue::HtmlBlock(_) => "html".to_owned(),
        NodeValue::CodeBlock(code) => format!("code {}", code.info),
        NodeValue::Paragraph => "paragraph".to_owned(),
        NodeValue::BlockQuote => "quote".to_owned(),
        NodeValue::List(_) => "list".to_owned(),
        other => format!("{other:?}").chars().take(20).collect(),
    };
    root.children().map(block).collect()
}

fn check_markdown(text: &str) {
    let markdown = stdout(&run(&deployment(text), "markdown"));
    let arena = Arena::new();
    let mut found = Vec::new();
    intrusions(parse_document(&arena, &markdown, &options()), &mut found);
    assert!(found.is_empty(), "{text:?}: {found:?}\n{markdown}");
    let harmless = stdout(&run(&deployment("plain"), "markdown"));
    assert_eq!(shape(&markdown), shape(&harmless), "{text:?}\n{markdown}");
    assert!(!markdown.contains('\u{1b}') && !markdown.contains("<!--"));
}

fn check_streams(text: &str) {
    let deployment = deployment(text);
    for format in ["text", "json", "annotations"] {
        let output = run(&deployment, format);
        for stream in [stdout(&output), stderr(&output)] {
            assert_eq!(commands(&stream, format == "annotations"), Vec::<String>::new(), "{text:?} {format}");
            assert!(!stream.chars().any(|c| c.is_control() && c != '\n'), "{text:?} {format}: {stream:?}");
        }
        if format == "json" {
            let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
            let shown = if text.is_empty() { "(unnamed)" } else { text };
            assert_eq!(report["health"]["checks"][0]["resource"], shown, "{report}");
        }
    }
}

#[test]
fn known_attacks_come_out_as_text() {
    for text in ATTACKS {
        check_markdown(text);
        check_streams(text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn hostile_text_stays_text_in_markdown(text in attack()) {
        check_markdown(&text);
    }

    #[test]
    fn hostile_text_is_no_command_on_any_stream(text in attack()) {
        prop_assume!(!secret(&text));
        check_streams(&text);
    }
}

/// Random text may look like a credential, which is blanked.
fn secret(text: &str) -> bool {
    process_integrity::secrets::Secrets::default().blank(text) != text
}

proptest! {
    #[test]
    fn one_value_is_one_output(text in attack()) {
        let value = escape::output(&text);
        prop_assert_eq!(value.lines().count().max(1), 1);
        prop_assert!(!value.contains(['\n', '\r']));
    }

    #[test]
    fn an_annotation_is_one_line_with_its_properties(text in attack()) {
        use process_integrity::report::annotations::{Annotation, Level};
        let mut annotation = Annotation::new(Level::Warning, &text, text.clone());
        annotation.place = Some((text.clone(), Some(1)));
        let command = annotation.command();
        let line = command.strip_suffix('\n').unwrap();
        prop_assert!(!line.contains(['\n', '\r']) && !line.contains("##["));
        let (properties, _) = line.strip_prefix("::warning ").unwrap().split_once("::").unwrap();
        let names: Vec<&str> = properties.split(',').map(|property| property.split_once('=').unwrap().0).collect();
        prop_assert_eq!(names, ["title", "file", "line"]);
    }

    #[test]
    fn a_mermaid_label_stays_in_its_quotes(text in attack()) {
        let label = escape::mermaid(&text);
        prop_assert!(!label.contains(['"', '\n', '`', '<', '>', '%']));
    }
}
