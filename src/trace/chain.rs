//! A chain of digests through the lines of `trace.jsonl`: a line may carry the digest of the line before it, so that nobody
//! can change, remove, insert or move a line without breaking the link behind it. As in any hash chain, what it cannot see is
//! a new end: lines that were cut off, or written anew from some line to the last. Whoever kept the head of the chain can.

use super::lines::Line;
use super::{Capped, Place};
use crate::digest::digest;

/// The key of a link.
pub const KEY: &str = "prev";
/// What a link of ours begins with.
const MARK: &str = "sha256:";
/// Digits of a SHA-256.
const DIGITS: usize = 64;

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

/// Where a line stands in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// It begins the file, where a byte order mark is harmless.
    First,
    /// Something stands before it.
    Later,
}

/// What a line holds, without what readers call harmless: its line break, blanks and NULs at its ends, and a byte order mark
/// at the beginning of the file. Whatever else is put there makes the line unreadable, and has to break the chain.
#[must_use]
pub fn content(line: &[u8], position: Position) -> &[u8] {
    let line = match position {
        Position::First => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
        Position::Later => line,
    };
    let held = |byte: &u8| !matches!(byte, 0 | b' ' | b'\t' | b'\r' | b'\n');
    let start = line.iter().position(held).unwrap_or(line.len());
    let end = line.iter().rposition(held).map_or(start, |last| last + 1);
    line.get(start..end).unwrap_or_default()
}

/// The link to a line, for the line that is written behind it: the digest of its content. At the beginning of a file it is the
/// digest of nothing.
#[must_use]
pub fn link(content: &[u8]) -> String {
    digest(content)
}

/// The digits of a text that is a link: behind our mark whatever stands there, else as many digits as it takes. Any other text
/// under the key is of somebody else, and means nothing.
fn digits(said: &str) -> Option<&str> {
    let is_bare = said.len() == DIGITS && said.bytes().all(|byte| byte.is_ascii_hexdigit());
    said.strip_prefix(MARK).or(Some(said).filter(|_| is_bare))
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
        if let Some(said) = said.and_then(digits) {
            self.chain.links += 1;
            if !self.holds(said) {
                self.chain.broken.push(Broken { place, before: self.number });
            }
        }
        // NULs before a byte order mark were counted away, and are damage.
        let is_first = line.number == 1 && line.leading_nuls == 0;
        let held = content(line.text, if is_first { Position::First } else { Position::Later });
        if held.is_empty() && !line.too_long {
            return;
        }
        self.lost = line.too_long;
        self.number = Some(line.number);
        self.last.clear();
        self.last.extend_from_slice(held);
    }

    /// The digits are those of the line before. Other writers than ours may hash its line break as well, which is as good, or
    /// write zeros where there is no line before.
    fn holds(&mut self, digits: &str) -> bool {
        let is =
            |digest: String| digest.strip_prefix(MARK).is_some_and(|own| own.eq_ignore_ascii_case(digits));
        if self.lost {
            return false;
        }
        if self.number.is_none() {
            let is_zero = digits.len() == DIGITS && digits.bytes().all(|digit| digit == b'0');
            return is_zero || is(link(&[]));
        }
        if is(link(&self.last)) {
            return true;
        }
        self.last.push(b'\n');
        let with_break = is(link(&self.last));
        self.last.pop();
        with_break
    }

    pub(crate) fn end(self) -> Chain {
        let head = self.number.filter(|_| !self.lost).map(|_| link(&self.last));
        Chain { head, ..self.chain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_harmless_at_the_ends_of_a_line_is_no_part_of_it() {
        let held = b"{\"state\":\"a\"}";
        for line in [&b"{\"state\":\"a\"}\r\n"[..], b" {\"state\":\"a\"}\t\0\0", b"\0{\"state\":\"a\"}"] {
            assert_eq!(content(line, Position::Later), held, "{line:?}");
        }
        let marked = b"\xef\xbb\xbf{\"state\":\"a\"}";
        assert_eq!(content(marked, Position::First), held);
        for line in [&marked[..], b"\x0c{\"state\":\"a\"}", b"{\"state\":\"a\"}\x0b"] {
            assert_eq!(content(line, Position::Later), line, "the reader takes it for damage");
        }
        assert_eq!(content(b" \r\0", Position::First), b"");
    }
}
