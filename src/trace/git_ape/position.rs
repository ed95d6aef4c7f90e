//! How an entry knows where it stands in its document.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, Read};

use crate::json::Key;
use crate::trace::Place;

/// Tells places while a document is parsed. The parser itself tells none before it ends or fails.
pub(super) trait Position {
    /// Behind what the parser has taken so far.
    fn now(&self) -> Option<Place>;

    /// Of the object whose `{` the parser has just taken.
    fn of_opened(&self) -> Option<Place> {
        self.now().map(|here| Place { line: here.line, offset: here.offset.saturating_sub(1) })
    }

    /// Of the object whose first key this is.
    fn of_first_key(&mut self, key: &Key<'_>) -> Option<Place>;
}

/// The position of a [`Counting`] input.
impl Position for &Cell<Place> {
    fn now(&self) -> Option<Place> {
        Some(self.get())
    }

    fn of_first_key(&mut self, _: &Key<'_>) -> Option<Place> {
        None
    }
}

/// Counts lines and bytes as the parser takes them, one by one.
pub(super) struct Counting<'a, R> {
    pub(super) input: R,
    pub(super) position: &'a Cell<Place>,
    /// Nothing but white space so far.
    pub(super) blank: &'a Cell<bool>,
}

impl<R: Read> Read for Counting<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        let mut place = self.position.get();
        place.offset += count as u64;
        place.line += buffer.iter().take(count).filter(|b| **b == b'\n').count() as u64;
        self.position.set(place);
        if self.blank.get() && !buffer.iter().take(count).all(u8::is_ascii_whitespace) {
            self.blank.set(false);
        }
        Ok(count)
    }
}

/// What follows the bytes of an input that could not be read to its end: the reason, once.
pub(super) struct Broken(pub(super) Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// A text that lies in memory as a whole: the keys of its objects are borrowed from it, so their addresses tell where they
/// stand.
pub(super) struct Borrowed<'de> {
    text: &'de str,
    begin: Place,
    /// Where the last entry begins in the text, and its line. Lines are counted from there.
    last: usize,
    line: u64,
}

impl<'de> Borrowed<'de> {
    /// A text and the place where it begins.
    pub(super) fn new(text: &'de str, begin: Place) -> Self {
        Self { text, begin, last: 0, line: begin.line }
    }
}

impl Position for Borrowed<'_> {
    fn now(&self) -> Option<Place> {
        None
    }

    fn of_first_key(&mut self, key: &Key<'_>) -> Option<Place> {
        // A key with an escape is a copy, whose address tells nothing.
        let Key(Cow::Borrowed(key)) = key else { return None };
        let at = key.as_ptr().addr().checked_sub(self.text.as_ptr().addr())?;
        let text = self.text.as_bytes();
        let before = text.get(..at)?.strip_suffix(b"\"")?.trim_ascii_end().strip_suffix(b"{")?;
        let between = before.get(self.last..)?;
        self.line += memchr::memchr_iter(b'\n', between).count() as u64;
        self.last = before.len();
        Some(Place { line: self.line, offset: self.begin.offset + before.len() as u64 })
    }
}
