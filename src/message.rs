//! Sentences of ours with words of others in them.
//!
//! All text from traces, models and results is hostile. A message keeps it apart from our own words, so that each sink
//! can quote it in its own way.

use std::fmt;

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Our words.
    Say(String),
    /// Words from a file: hostile.
    Quote(String),
}

/// A sentence. Its [`Display`](fmt::Display) is plain text with the quotations in backticks; it is not safe for any sink.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Message(Vec<Part>);

impl Message {
    /// A sentence in which each `{}` stands for the next quotation.
    #[must_use]
    pub fn new(template: &str, quotes: &[&str]) -> Self {
        let mut parts = Vec::new();
        let mut quotes = quotes.iter();
        let mut pieces = template.split("{}");
        if let Some(first) = pieces.next().filter(|first| !first.is_empty()) {
            parts.push(Part::Say(first.to_owned()));
        }
        for piece in pieces {
            parts.push(Part::Quote(quotes.next().copied().unwrap_or_default().to_owned()));
            if !piece.is_empty() {
                parts.push(Part::Say(piece.to_owned()));
            }
        }
        Self(parts)
    }

    /// The same with a further sentence behind it.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The same with every quotation changed.
    #[must_use]
    pub fn map_quotes(self, change: impl Fn(&str) -> String) -> Self {
        let parts = self.0.into_iter().map(|part| match part {
            Part::Say(text) => Part::Say(text),
            Part::Quote(text) => Part::Quote(change(&text)),
        });
        Self(parts.collect())
    }

    /// The pieces, in order.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.0
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Say(text) => f.write_str(text),
            Part::Quote(text) => write!(f, "`{text}`"),
        })
    }
}

/// A list of quotations, separated by commas: the template for as many of them.
#[must_use]
pub fn list(count: usize) -> String {
    vec!["{}"; count].join(", ")
}

/// Names that [`some`] lists.
const NAMED: usize = 10;

/// A sentence whose first `{}` becomes a few names and the number of the others.
#[must_use]
pub fn some(template: &str, names: &[&str]) -> Message {
    let shown = names.get(..NAMED).unwrap_or(names);
    let mut listed = list(shown.len());
    if names.len() > shown.len() {
        listed.push_str(&format!(" and {} more", names.len() - shown.len()));
    }
    Message::new(&template.replacen("{}", &listed, 1), shown)
}

/// Names that are proposed in place of an unknown one.
const PROPOSED: usize = 3;
/// How alike names have to be to be proposed, from 0 to 1.
const ALIKE: f64 = 0.7;

/// Of the names that are known, the few that somebody may have meant; the likest first.
#[must_use]
pub fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let plain = |name: &str| name.trim().to_lowercase().replace('_', "-");
    let wanted = plain(name);
    let mut near: Vec<(f64, &str)> = known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(&plain(known), &wanted), known))
        .filter(|(alike, _)| *alike >= ALIKE)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.into_iter().take(PROPOSED).map(|(_, known)| known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_are_kept_apart() {
        let message = Message::new("{} before {}", &["a {}", "b"]);
        assert_eq!(message.to_string(), "`a {}` before `b`");
        assert_eq!(message.parts().len(), 3);
        assert_eq!(Message::new("plain", &[]).and(Message::new(", {}", &["x"])).to_string(), "plain, `x`");
        assert_eq!(list(2), "{}, {}");
        assert_eq!(some("of {} here", &["a", "b"]).to_string(), "of `a`, `b` here");
        assert!(some("of {}", &["x"; 12]).to_string().ends_with("`x`, `x` and 2 more"));
    }
}
