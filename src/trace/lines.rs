//! Lines of a file of any size: one at a time, none longer than a cap.

use std::io::{self, BufRead};

/// A longer line is refused: 16 MiB.
pub(crate) const LINE_CAP: usize = 16 << 20;

/// One line, without its LF. NULs at both ends are counted, not kept: a crash can leave gigabytes of them.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    /// From 1.
    pub(crate) number: u64,
    /// Where its first byte stands in the file.
    pub(crate) offset: u64,
    /// NULs before the text.
    pub(crate) leading_nuls: u64,
    /// NULs after the text.
    pub(crate) trailing_nuls: u64,
    /// No LF follows: the file ends here.
    pub(crate) last: bool,
    /// It was over the cap: the text holds only its beginning.
    pub(crate) too_long: bool,
    /// What lies between the NULs.
    pub(crate) text: &'a [u8],
}

impl<'a> Line<'a> {
    /// A line that lies in the buffer as a whole, which is lent and not copied.
    fn whole(bytes: &'a [u8], number: u64, offset: u64) -> Self {
        let start = bytes.iter().position(|b| *b != 0).unwrap_or(bytes.len());
        let end = bytes.iter().rposition(|b| *b != 0).map_or(start, |last| last + 1);
        Self {
            number,
            offset,
            leading_nuls: start as u64,
            trailing_nuls: (bytes.len() - end) as u64,
            last: false,
            too_long: end - start > LINE_CAP,
            text: bytes.get(start..end).unwrap_or_default(),
        }
    }

    /// Where the text begins in the file.
    pub(crate) fn text_offset(&self) -> u64 {
        self.offset + self.leading_nuls
    }
}

/// The beginning of a line whose end is not in the buffer yet.
#[derive(Debug, Default)]
struct Begun {
    text: Vec<u8>,
    /// Of the line so far.
    bytes: u64,
    leading_nuls: u64,
    trailing_nuls: u64,
    too_long: bool,
}

impl Begun {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let Some(start) = bytes.iter().position(|b| *b != 0) else {
            self.add_nuls(bytes.len());
            return;
        };
        let end = bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
        self.add_nuls(start);
        let inner = self.trailing_nuls;
        let body = bytes.get(start..end).unwrap_or_default();
        // Saturating: a hole of NULs can be larger than what a 32-bit machine can address.
        let hole = usize::try_from(inner).unwrap_or(usize::MAX);
        if self.text.len().saturating_add(hole).saturating_add(body.len()) > LINE_CAP {
            self.too_long = true;
        } else {
            self.text.resize(self.text.len() + hole, 0);
            self.text.extend_from_slice(body);
        }
        self.trailing_nuls = 0;
        self.add_nuls(bytes.len() - end);
    }

    fn add_nuls(&mut self, count: usize) {
        let count = count as u64;
        if self.text.is_empty() && !self.too_long {
            self.leading_nuls += count;
        } else {
            self.trailing_nuls += count;
        }
    }

    fn line(&self, number: u64, offset: u64, last: bool) -> Line<'_> {
        Line {
            number,
            offset,
            leading_nuls: self.leading_nuls,
            trailing_nuls: self.trailing_nuls,
            last,
            too_long: self.too_long,
            text: &self.text,
        }
    }

    /// Makes room for the next line, in the same memory.
    fn clear(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        *self = Self { text, ..Self::default() };
    }
}

/// Where and why nothing more could be read.
#[derive(Debug)]
pub(crate) struct Stopped {
    /// The line that comes next, or is not whole.
    pub(crate) line: u64,
    /// Bytes that were read.
    pub(crate) offset: u64,
    /// What the input said.
    pub(crate) error: io::Error,
}

/// Splits an input at LF, and only there, and hands each line on. The piece after the last LF is a line if it has a byte.
///
/// # Errors
/// The input's own.
pub(crate) fn each(mut input: impl BufRead, sink: &mut dyn FnMut(&Line<'_>)) -> Result<(), Stopped> {
    let mut begun = Begun::default();
    let mut number = 1;
    // Of the first byte of the buffer.
    let mut offset = 0;
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Stopped { line: number, offset, error }),
        };
        if buffer.is_empty() {
            if begun.bytes > 0 {
                sink(&begun.line(number, offset - begun.bytes, true));
            }
            return Ok(());
        }
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', buffer) {
            let bytes = buffer.get(start..end).unwrap_or_default();
            if begun.bytes == 0 {
                sink(&Line::whole(bytes, number, offset + start as u64));
            } else {
                // Only the first LF of a buffer can end a line that began before it.
                let line_offset = offset - begun.bytes;
                begun.push(bytes);
                sink(&begun.line(number, line_offset, false));
                begun.clear();
            }
            number += 1;
            start = end + 1;
        }
        begun.push(buffer.get(start..).unwrap_or_default());
        let used = buffer.len();
        input.consume(used);
        offset += used as u64;
    }
}

/// Takes a byte order mark, even from an input that gives a byte at a time. Its length, else what was taken and is none.
pub(super) fn skip_mark(input: &mut impl BufRead) -> (u64, &'static [u8]) {
    let mark = b"\xef\xbb\xbf";
    for (at, byte) in mark.iter().enumerate() {
        if !input.fill_buf().is_ok_and(|head| head.first() == Some(byte)) {
            return (0, mark.get(..at).unwrap_or_default());
        }
        input.consume(1);
    }
    (mark.len() as u64, &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::BufReader;

    type Seen = (u64, u64, u64, Vec<u8>, u64, bool);

    fn split(bytes: &[u8], capacity: usize) -> Vec<Seen> {
        let mut all = Vec::new();
        each(BufReader::with_capacity(capacity, bytes), &mut |l| {
            all.push((l.number, l.offset, l.leading_nuls, l.text.to_vec(), l.trailing_nuls, l.last));
        })
        .unwrap();
        all
    }

    #[test]
    fn lines_are_the_same_whatever_the_size_of_the_buffer() {
        let bytes = b"ab\n\n\0\0c\0d\0\ne\r\n\0\0";
        let expected = vec![
            (1, 0, 0, b"ab".to_vec(), 0, false),
            (2, 3, 0, b"".to_vec(), 0, false),
            (3, 4, 2, b"c\0d".to_vec(), 1, false),
            (4, 11, 0, b"e\r".to_vec(), 0, false),
            (5, 14, 2, b"".to_vec(), 0, true),
        ];
        for capacity in [1, 2, 3, 7, 100] {
            assert_eq!(split(bytes, capacity), expected, "capacity {capacity}");
        }
    }

    proptest! {
        // A line that is lent from the buffer is the line that is put together from pieces.
        #[test]
        fn a_lent_line_is_the_line_put_together(
            bytes in proptest::collection::vec(prop_oneof![Just(0), Just(b'\n'), Just(b'x')], 0..60),
            capacity in 1_usize..20,
        ) {
            prop_assert_eq!(split(&bytes, capacity), split(&bytes, 1));
            prop_assert_eq!(split(&bytes, 100), split(&bytes, 1));
        }
    }

    #[test]
    fn a_line_over_the_cap_is_told_and_the_next_one_is_read() {
        let mut bytes = vec![b'x'; LINE_CAP + 1];
        bytes.extend(b"\nshort\n");
        for capacity in [64 << 10, bytes.len()] {
            let mut all = Vec::new();
            each(BufReader::with_capacity(capacity, &bytes[..]), &mut |line| {
                all.push((line.too_long, line.number, line.text == b"short"));
            })
            .unwrap();
            assert_eq!(all, [(true, 1, false), (false, 2, true)]);
        }
    }

    #[test]
    fn an_input_that_fails_tells_how_far_it_was_read() {
        struct Failing;
        impl io::Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::Other.into())
            }
        }
        let mut lines = 0;
        let input = BufReader::new(io::Read::chain(&b"a\nb\ncd"[..], Failing));
        let stopped = each(input, &mut |_| lines += 1).unwrap_err();
        assert_eq!((lines, stopped.line, stopped.offset), (2, 3, 6));
        assert_eq!(stopped.error.kind(), io::ErrorKind::Other);
    }
}
