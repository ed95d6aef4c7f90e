//! One function a sink. All text from traces, models, results and GitHub passes through one of them on its way out.

use std::fmt::Write as _;

/// Breaks a word apart without showing.
const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// What no sink may see as it is: control characters, line separators, and what turns or hides the text around it.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{feff}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Writes one character so that it can be seen.
fn push_visible(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if is_hidden(c) => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

/// One line without hidden characters. The base of all sinks, and by itself for a name in a file that no runner reads.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push_visible(&mut out, c));
    out
}

/// The old command form of the runner, `##[name]`, counts anywhere in a line.
fn break_old_commands(text: &str) -> String {
    text.replace("##[", "#\u{200b}#[")
}

/// For a line of stdout or stderr, of which the runner reads both: no command, no escape sequence, one line.
#[must_use]
pub fn line(text: &str) -> String {
    // Two breaks: in `:::` the second pair begins where the first one ended.
    let broken = visible(text).replace("::", ":\u{200b}:").replace("::", ":\u{200b}:");
    break_old_commands(&broken)
}

/// For the message of a workflow command. Lines of our own are joined with [`ANNOTATION_BREAK`].
#[must_use]
pub fn annotation(text: &str) -> String {
    break_old_commands(&visible(text)).replace('%', "%25")
}

/// A line break in the message of a workflow command.
pub const ANNOTATION_BREAK: &str = "%0A";

/// For a property of a workflow command.
#[must_use]
pub fn annotation_property(text: &str) -> String {
    annotation(text).replace(':', "%3A").replace(',', "%2C")
}

/// For a value in `GITHUB_OUTPUT`: one line, so that no second output can follow.
#[must_use]
pub fn output(text: &str) -> String {
    visible(text)
}

/// For HTML, as text or in a quoted attribute: no mark-up. What is printed may be read by the runner as well, so it is no
/// command either.
#[must_use]
pub fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = None;
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            ':' if before == Some(':') => out.push_str("&#58;"),
            '#' if before == Some('#') => out.push_str("&#35;"),
            c => out.push(c),
        }
        before = Some(c);
    }
    out
}

/// For Markdown prose and table cells: no mark-up, no link, no mention, no reference.
#[must_use]
pub fn markdown(text: &str) -> String {
    let text = visible(text);
    let mut out = String::with_capacity(text.len() + 8);
    let mut before: Option<char> = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let after = rest.as_str();
        let next = after.chars().next();
        match c {
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '^' | '$' => {
                out.push('\\');
                out.push(c);
            }
            '_' if before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric) => {
                out.push(c)
            }
            '_' => out.push_str("\\_"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => {
                out.push(c);
                out.push(ZERO_WIDTH_SPACE);
            }
            '#' => {
                out.push(c);
                if next.is_some_and(|next| next.is_ascii_digit()) {
                    out.push(ZERO_WIDTH_SPACE);
                }
            }
            ':' if next == Some('/') => {
                out.push(c);
                out.push(ZERO_WIDTH_SPACE);
            }
            '.' if ends_with(&out, "www") => {
                out.push(ZERO_WIDTH_SPACE);
                out.push(c);
            }
            '-' if ends_with(&out, "gh") && next.is_some_and(|next| next.is_ascii_digit()) => {
                out.push(c);
                out.push(ZERO_WIDTH_SPACE);
            }
            c => out.push(c),
        }
        before = Some(c);
    }
    out
}

fn ends_with(text: &str, word: &str) -> bool {
    let start = text.len().checked_sub(word.len());
    start.and_then(|start| text.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(word))
}

/// For Markdown: a code span, in which nothing is mark-up. Not for a table cell.
#[must_use]
pub fn markdown_code(text: &str) -> String {
    // No comment would begin there, but a search for hidden markers must not find one either.
    let text = break_old_commands(&visible(text)).replace("<!--", "<\u{200b}!--");
    if text.trim().is_empty() {
        return "(empty)".to_owned();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // A blank at each end is taken away again; without it a backtick would join the fence.
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// For a cell of a Markdown table: a code span in which a pipe ends no cell.
#[must_use]
pub fn markdown_cell_code(text: &str) -> String {
    markdown_code(text).replace('|', "\\|")
}

/// For a quoted label of a Mermaid diagram.
#[must_use]
pub fn mermaid(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            // Mermaid's own entity codes. `%%{` would be a directive even inside of a label.
            '"' | '#' | ';' | '<' | '>' | '&' | '`' | '%' | '\\' | '|' => {
                let _ = write!(out, "#{};", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// For JSON that was written by a serializer: the same value, but no hidden character and no command of the runner.
#[must_use]
pub fn json(document: &str) -> String {
    let document = document.replace("##[", "#\\u0023[");
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        // Line breaks between keys are the serializer's; within a string it has escaped them.
        if is_hidden(c) && c != '\n' {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// For the text of a message in a SARIF log: no placeholder (3.11.5), no link (3.11.6), no address and no mention that a
/// reader of it makes a link of.
#[must_use]
pub fn sarif(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text = break_old_commands(&visible(text));
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let next = rest.as_str().chars().next();
        out.push(c);
        match c {
            '{' | '}' => out.push(c),
            ']' if next == Some('(') => out.push(ZERO_WIDTH_SPACE),
            ':' if next == Some('/') => out.push(ZERO_WIDTH_SPACE),
            '@' => out.push(ZERO_WIDTH_SPACE),
            _ => {}
        }
    }
    out
}

/// For text and attributes of XML: no mark-up, and no character that XML 1.0 does not know.
#[must_use]
pub fn xml(text: &str) -> String {
    let text = break_old_commands(&visible(text));
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// Percent-encodes every byte that is not kept (RFC 3986, section 2.1). `keep` sees the bytes in order.
#[must_use]
pub fn percent(text: &str, mut keep: impl FnMut(u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii() && keep(byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The beginning of a text: at most so many characters, with an ellipsis where something was cut.
#[must_use]
pub fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some(_) => {
            let kept: String = text.chars().take(characters.saturating_sub(1)).collect();
            format!("{kept}…")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_no_command() {
        assert_eq!(line("::set-env name=a::b"), ":\u{200b}:set-env name=a:\u{200b}:b");
        assert_eq!(line("::::"), ":\u{200b}:\u{200b}:\u{200b}:");
        assert_eq!(line("a ##[error]b\n::c"), "a #\u{200b}#[error]b\\n:\u{200b}:c");
        assert_eq!(line("\u{1b}[31m\u{202e}x\u{85}"), "\\u{1b}[31m\\u{202e}x\\u{85}");
    }

    #[test]
    fn annotations_are_escaped_as_the_runner_unescapes_them() {
        assert_eq!(annotation("50% of a::b\nc"), "50%25 of a::b\\nc");
        assert_eq!(annotation_property("a:b,c%"), "a%3Ab%2Cc%25");
    }

    #[test]
    fn plain_names_stay_as_they_are_in_markdown() {
        for plain in
            ["func-api-dev-eastus", "HTTP 200, runtime healthy", "storage_account_01", "a/b.c (d)", "12:00"]
        {
            assert_eq!(markdown(plain), plain);
        }
        assert_eq!(
            markdown("@octo #12 GH-3 https://x www.x"),
            "@\u{200b}octo #\u{200b}12 GH-\u{200b}3 https:\u{200b}//x www\u{200b}.x"
        );
        assert_eq!(markdown("<!-- **a** | [b](c) _d_"), "&lt;!-- \\*\\*a\\*\\* \\| \\[b\\](c) \\_d\\_");
    }

    #[test]
    fn a_code_span_cannot_be_left() {
        assert_eq!(markdown_code("a"), "`a`");
        assert_eq!(markdown_code("a``b"), "```a``b```");
        assert_eq!(markdown_code("`a"), "`` `a ``");
        assert_eq!(markdown_code("\n"), "`\\n`");
        assert_eq!(markdown_code(""), "(empty)");
        assert_eq!(markdown_cell_code("a|b"), "`a\\|b`");
    }

    #[test]
    fn html_shows_what_was_written_and_nothing_else() {
        assert_eq!(
            html("<b a='x' b=\"y\">&amp;\n\u{202e}</b>"),
            "&lt;b a=&#39;x&#39; b=&quot;y&quot;&gt;&amp;amp;\\n\\u{202e}&lt;/b&gt;"
        );
        assert_eq!(html(":::a ##[group] ###"), ":&#58;&#58;a #&#35;[group] #&#35;&#35;");
        assert_eq!(html("deploy-1 (ä/b)"), "deploy-1 (ä/b)");
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({"a": "##[error]\u{1b}\u{85}\u{2028}\u{e0041}\n"});
        let written = json(&value.to_string());
        assert!(written.is_ascii() && !written.contains("##["));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), value);
    }

    #[test]
    fn a_sarif_message_holds_no_link_and_no_placeholder() {
        assert_eq!(sarif("[a](b) {0} a[0] (c)"), "[a]\u{200b}(b) {{0}} a[0] (c)");
        assert_eq!(sarif("https://x @y\n##[z]"), "https:\u{200b}//x @\u{200b}y\\n#\u{200b}#[z]");
    }

    #[test]
    fn xml_holds_no_mark_up_and_no_character_that_it_does_not_know() {
        assert_eq!(xml("a<b> & \"c\" 'd' ]]>"), "a&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos; ]]&gt;");
        assert_eq!(xml("\0\u{1b}\n\u{fffe}\u{ffff}é😀"), "\\u{0}\\u{1b}\\n\\u{fffe}\\u{ffff}é😀");
    }

    #[test]
    fn a_cut_is_shown() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("äbcd", 3), "äb…");
    }
}
