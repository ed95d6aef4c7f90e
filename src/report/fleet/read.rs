//! Report files: one report a line, or one laid out over several lines, or any mixture of both.
//!
//! A file is read line by line, so that its size does not matter. What cannot be read is counted and named, and the rest
//! of the file is read all the same: a shard that was killed leaves a torn last line.

use std::collections::BTreeMap;
use std::io::BufRead;

use super::row::{self, Names, Refused, Row};
use crate::escape::cut;
use crate::trace::lines::{self, LINE_CAP, Line, Stopped};

/// Damaged places of a file that are named; all are counted.
const DAMAGE_KEPT: usize = 20;

/// A place that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The line; `None` where it is the file as a whole.
    pub line: Option<u64>,
    /// Why. May quote the file.
    pub reason: Box<str>,
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRead {
    /// Its name, as it was given.
    pub name: Box<str>,
    /// Reports that it holds.
    pub reports: u64,
    /// Places that could not be read.
    pub unreadable: u64,
    /// The first of them.
    pub damage: Vec<Unreadable>,
}

impl FileRead {
    fn damaged(&mut self, line: Option<u64>, reason: &str) {
        self.unreadable += 1;
        if self.damage.len() < DAMAGE_KEPT {
            self.damage.push(Unreadable { line, reason: cut(reason, 300).into() });
        }
    }
}

/// What was read so far. The order in which files are read only matters for which of two equal reports is named.
#[derive(Debug, Clone, Default)]
pub struct Gathering {
    pub(super) rows: BTreeMap<Box<str>, Row>,
    pub(super) names: Names,
    pub(super) files: Vec<FileRead>,
}

impl Gathering {
    /// A file that could not be opened.
    pub fn refused(&mut self, name: &str, reason: &str) {
        let mut file = FileRead { name: name.into(), reports: 0, unreadable: 0, damage: Vec::new() };
        file.damaged(None, reason);
        self.files.push(file);
    }

    /// Reads a file to its end, whatever is in it.
    pub fn read(&mut self, name: &str, input: impl BufRead) {
        let file = FileRead { name: name.into(), reports: 0, unreadable: 0, damage: Vec::new() };
        let mut reader = Reader { gathering: self, file, begun: None };
        let end = lines::each(input, &mut |line| reader.line(line));
        reader.torn();
        if let Err(Stopped { line, error, .. }) = end {
            let reason = format!("the file could not be read any further: {}", error.kind());
            reader.file.damaged(Some(line), &reason);
        }
        let file = reader.file;
        self.files.push(file);
    }

    /// Whether any report was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The files so far, with what could not be read of them.
    #[must_use]
    pub fn files(&self) -> &[FileRead] {
        &self.files
    }

    fn take(&mut self, key: Box<str>, row: Row) {
        let Some(known) = self.rows.get_mut(&key) else {
            self.rows.insert(key, row);
            return;
        };
        if known.digest == row.digest || known.others.contains(&row.digest) {
            return;
        }
        // Of two that are equally bad the digest decides, so that the order of the files does not.
        let worse = row.worse_than(known).then_with(|| row.digest.cmp(&known.digest)).is_gt();
        if worse {
            let better = std::mem::replace(known, row);
            known.others = better.others;
            known.others.insert(better.digest);
        } else {
            known.others.insert(row.digest);
        }
    }
}

/// A report over several lines whose end was not seen yet.
struct Begun {
    line: u64,
    text: Vec<u8>,
}

struct Reader<'a> {
    gathering: &'a mut Gathering,
    file: FileRead,
    begun: Option<Begun>,
}

impl Reader<'_> {
    fn line(&mut self, line: &Line<'_>) {
        if line.leading_nuls + line.trailing_nuls > 0 {
            self.file.damaged(Some(line.number), "NUL bytes; a write was lost here");
        }
        if line.too_long {
            self.torn();
            return self.file.damaged(Some(line.number), "the line is longer than 16 MiB");
        }
        let text = match line.text.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if line.number == 1 => rest,
            Some(_) | None => line.text,
        };
        let text = text.trim_ascii_end();
        if let Some(begun) = &mut self.begun {
            let inside = text.first().is_none_or(u8::is_ascii_whitespace);
            let end = text == b"}";
            if (inside || end) && begun.text.len() + text.len() < LINE_CAP {
                begun.text.push(b'\n');
                begun.text.extend_from_slice(text);
                if end {
                    self.ended();
                }
                return;
            }
            // What begins in the first column belongs to another report.
            self.torn();
        }
        match text.trim_ascii_start() {
            b"" => {}
            b"{" => self.begun = Some(Begun { line: line.number, text: b"{".to_vec() }),
            text => self.report(line.number, text),
        }
    }

    /// The report that began earlier is whole.
    fn ended(&mut self) {
        if let Some(Begun { line, text }) = self.begun.take() {
            self.report(line, &text);
        }
    }

    /// The report that began earlier, if there is one, has no end.
    fn torn(&mut self) {
        if let Some(Begun { line, .. }) = self.begun.take() {
            self.file.damaged(Some(line), "the report that begins here has no end");
        }
    }

    fn report(&mut self, line: u64, text: &[u8]) {
        match row::parse(text, &mut self.gathering.names) {
            Ok((key, row)) => {
                self.file.reports += 1;
                let file = self.gathering.files.len();
                self.gathering.take(key, Row { file, line, ..row });
            }
            Err(Refused { line: inner, reason }) => {
                self.file.damaged(Some(line.saturating_add(inner - 1)), &reason);
            }
        }
    }
}
