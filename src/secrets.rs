//! Blanks out what must not be repeated: given values, and text in the shape of a credential.
//!
//! It works on the data, before anything is cut or escaped, so that a secret cannot slip through in pieces.

use std::fmt;

use regex_lite::Regex;

/// What stands in place of a secret.
pub const BLANK: &str = "***";

/// The usual shapes of credentials, each with bytes that it always holds. Sources: the token formats published by GitHub,
/// AWS, Azure and Slack, RFC 7519 (JWT), RFC 7468 (private keys).
const SHAPES: [(&str, &str); 10] = [
    ("_", r"gh[pousr]_[A-Za-z0-9_]{20,}"),
    ("github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    ("IA", r"(?:AKIA|ASIA)[0-9A-Z]{16}"),
    ("eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.?[A-Za-z0-9_-]*"),
    ("-----BEGIN", r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?s:.)*?-----END [A-Z ]*PRIVATE KEY-----|(?s:.)*)"),
    (
        "=",
        r"(?i)(?:AccountKey|SharedAccessKey|SharedAccessSignature|Password|Pwd|ClientSecret|client_secret)\s*=\s*[^;\s]{4,}",
    ),
    ("=", r"(?i)\bsig=[A-Za-z0-9%+/=_-]{16,}"),
    (" ", r"(?i)\bbearer\s+[A-Za-z0-9._~+/=-]{16,}"),
    ("Q~", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}"),
    ("xox", r"xox[abprs]-[A-Za-z0-9-]{10,}"),
];

/// Finds secrets in text.
#[derive(Debug, Clone)]
pub struct Secrets {
    values: Vec<String>,
    shapes: Vec<(&'static str, Regex)>,
}

impl Default for Secrets {
    fn default() -> Self {
        Self::new([])
    }
}

impl Secrets {
    /// With values to blank out besides the usual shapes: a token, the lines of the `mask` input.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let trimmed = values.into_iter().map(|value| value.trim().to_owned());
        let mut values: Vec<String> = trimmed.filter(|value| !value.is_empty()).collect();
        // A longer value may hold a shorter one.
        values.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        values.dedup();
        Self {
            values,
            shapes: SHAPES
                .iter()
                .filter_map(|(hint, shape)| Some((*hint, Regex::new(shape).ok()?)))
                .collect(),
        }
    }

    /// The text without its secrets.
    #[must_use]
    pub fn blank(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for value in &self.values {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), BLANK);
            }
        }
        for (hint, shape) in &self.shapes {
            // Most texts hold nothing of the kind, and a search for a few bytes is far quicker than an expression.
            if text.contains(hint) && shape.is_match(&text) {
                text = shape.replace_all(&text, BLANK).into_owned();
            }
        }
        text
    }
}

/// A secret. It shows itself to nobody by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token, if the text can be one: it has to fit into a header.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    /// The secret itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_shapes_are_blanked() {
        let secrets = Secrets::default();
        assert_eq!(secrets.shapes.len(), SHAPES.len());
        let g = "ghs_"; // In pieces, so that no scanner takes this file for a leak.
        for secret in [
            format!("{g}0123456789abcdefghijABCDEFGHIJ012345"),
            format!("github_{}_11ABCDEFG0123456789_abcdefghij", "pat"),
            format!("AK{}ABCDEFGHIJKLMNOP", "IA"),
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl".to_owned(),
            format!("-----BEGIN RSA {} KEY-----\nMIIE\n-----END RSA {} KEY-----", "PRIVATE", "PRIVATE"),
            format!("-----BEGIN {} KEY-----\nMIIE", "PRIVATE"),
            "AccountKey=abcd1234==".to_owned(),
            "password = hunter22".to_owned(),
            "sig=abcdefghijklmnop%2F".to_owned(),
            "Bearer abcdefghijklmnopqrst".to_owned(),
            format!("abc8Q~{}", "x".repeat(34)),
        ] {
            let blanked = secrets.blank(&format!("before {secret} after"));
            assert_eq!(blanked.replace(" after", ""), format!("before {BLANK}"), "{secret}");
        }
        for plain in
            ["security_gate_evaluated", "HTTP 200", "sha256:0123456789abcdef", "eyJ", "password policy"]
        {
            assert_eq!(secrets.blank(plain), plain);
        }
    }

    #[test]
    fn given_values_are_blanked_the_longer_first() {
        let secrets = Secrets::new([
            "hunter2".to_owned(),
            " hunter2-long \n".to_owned(),
            "xyz".to_owned(),
            String::new(),
        ]);
        assert_eq!(secrets.blank("hunter2-long hunter2 abc"), "*** *** abc");
    }

    #[test]
    fn a_token_shows_itself_to_nobody() {
        let token = Token::of(" secret \n").unwrap();
        assert_eq!(format!("{token:?}"), "Token(***)");
        assert_eq!(token.reveal(), "secret");
        assert_eq!(Token::of("a\nb"), None);
        assert_eq!(Token::of(""), None);
    }
}
