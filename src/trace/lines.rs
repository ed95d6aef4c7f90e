//! Lines of a file of any size: one at a time, none longer than a cap.

use std::io::{self, BufRead};

/// A longer line is refused: 16 MiB.
pub(crate) const LINE_CAP: usize = 16 << 20;

/// One line, without its LF. NULs at both ends are counted, not kept: a crash can leave gigabytes of them.
#[derive(Debug, Default)]
pub(crate) struct Line {
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
    pub(crate) text: Vec<u8>,
}

impl Line {
    /// Where the text begins in the file.
    pub(crate) fn text_offset(&self) -> u64 {
        self.offset + self.leading_nuls
    }

    fn push(&mut self, bytes: &[u8]) {
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
}

/// Splits an input at LF, and only there.
pub(crate) struct Lines<R> {
    input: R,
    line: Line,
    offset: u64,
    ended: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, line: Line::default(), offset: 0, ended: false }
    }

    /// The next line, if there is one. The piece after the last LF is a line if it has a byte.
    ///
    /// # Errors
    /// The input's own; nothing more can be read then.
    pub(crate) fn next(&mut self) -> io::Result<Option<&Line>> {
        if self.ended {
            return Ok(None);
        }
        let line = &mut self.line;
        line.text.clear();
        *line = Line {
            number: line.number + 1,
            offset: self.offset,
            text: std::mem::take(&mut line.text),
            ..Line::default()
        };
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            };
            if buffer.is_empty() {
                self.ended = true;
                line.last = true;
                return Ok((self.offset > line.offset).then_some(line));
            }
            let end = buffer.iter().position(|b| *b == b'\n');
            line.push(buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default());
            let used = end.map_or(buffer.len(), |end| end + 1);
            self.input.consume(used);
            self.offset += used as u64;
            if end.is_some() {
                return Ok(Some(line));
            }
        }
    }

    /// Line number and offset that come next; where reading stopped after an error.
    pub(crate) fn position(&self) -> (u64, u64) {
        (self.line.number, self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn split(bytes: &[u8], capacity: usize) -> Vec<(u64, u64, u64, Vec<u8>, u64, bool)> {
        let mut lines = Lines::new(BufReader::with_capacity(capacity, bytes));
        let mut all = Vec::new();
        while let Some(l) = lines.next().unwrap() {
            all.push((l.number, l.offset, l.leading_nuls, l.text.clone(), l.trailing_nuls, l.last));
        }
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

    #[test]
    fn a_line_over_the_cap_is_told_and_the_next_one_is_read() {
        let mut bytes = vec![b'x'; LINE_CAP + 1];
        bytes.extend(b"\nshort\n");
        let mut lines = Lines::new(&bytes[..]);
        assert!(lines.next().unwrap().unwrap().too_long);
        let next = lines.next().unwrap().unwrap();
        assert_eq!((next.text.as_slice(), next.too_long), (&b"short"[..], false));
    }
}
