//! A chain of digests through the lines of `trace.jsonl`: a line may carry the digest of the line before it, so that nobody
//! can change, remove, insert or move a line without breaking the link behind it. As in any hash chain, what it cannot see is
//! a new end: lines that were cut off, or written anew from some line to the last. Whoever kept the head of the chain can.

use super::lines::Line;
use super::{Capped, Place};
use crate::digest::digest;

/// The key of a link.
pub const KEY: &str = "prev";
/// What a link begins with. Any other text under the key is of somebody else, and means nothing.
const MARK: &str = "sha256:";

/// A link that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The line whose link it is.
    pub place: Place,
    /// The line before it that holds anything; `None` at the beginning of the file.
    pub before: Option<u64>,
}

/// What was found of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chain {
    /// Lines that carry a link.
    pub links: u64,
    /// Links that do not hold.
    pub broken: Capped<Broken>,
    /// The link to the last line that holds anything: what the next line would carry. `None` where nothing was read, or the
    /// last line is too long to be kept.
    pub head: Option<String>,
}

/// The link to a line, for the line that is written behind it: the digest of what the line holds, without its line break,
/// blanks and NULs at its ends, or a byte order mark. At the beginning of a file it is the digest of nothing.
#[must_use]
pub fn link(line: &[u8]) -> String {
    digest(content(line))
}

/// What harmless bytes around a line are not part of.
#[must_use]
pub fn content(line: &[u8]) -> &[u8] {
    let line = held(line);
    held(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line))
}

/// Without NULs and blanks at both ends.
fn held(line: &[u8]) -> &[u8] {
    let held = |byte: &u8| *byte != 0 && !byte.is_ascii_whitespace();
    let start = line.iter().position(held).unwrap_or(line.len());
    let end = line.iter().rposition(held).map_or(start, |last| last + 1);
    line.get(start..end).unwrap_or_default()
}

/// Follows a chain line by line. Only the last line is kept, in the same memory.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    last: Vec<u8>,
    number: Option<u64>,
    /// The last line was too long to be kept, so that no link to it can be shown to hold.
    lost: bool,
    chain: Chain,
}

impl Follower {
    /// Takes the next line, and the text under its key, if it is a whole record with one.
    pub(crate) fn follow(&mut self, line: &Line<'_>, said: Option<&str>, place: Place) {
        if let Some(said) = said.filter(|said| said.starts_with(MARK)) {
            self.chain.links += 1;
            if self.lost || said != digest(&self.last) {
                self.chain.broken.push(Broken { place, before: self.number });
            }
        }
        let held = content(line.text);
        if held.is_empty() && !line.too_long {
            return;
        }
        self.lost = line.too_long;
        self.number = Some(line.number);
        self.last.clear();
        self.last.extend_from_slice(held);
    }

    pub(crate) fn end(self) -> Chain {
        let head = self.number.filter(|_| !self.lost).map(|_| digest(&self.last));
        Chain { head, ..self.chain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_the_digest_of_what_the_line_holds() {
        let held = link(b"{\"state\":\"a\"}");
        for line in
            [&b"{\"state\":\"a\"}\r\n"[..], b"\xef\xbb\xbf {\"state\":\"a\"}\t\0\0", b"\0{\"state\":\"a\"}"]
        {
            assert_eq!(link(line), held, "{line:?}");
        }
        assert_ne!(link(b"{\"state\": \"a\"}"), held);
        assert_eq!(link(b" \r\0"), digest(b""));
    }
}
