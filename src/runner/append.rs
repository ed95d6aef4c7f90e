//! Appends one line to a file to which others append at the same time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{own, target_inside};
use crate::trace::LINE_CAP;
use crate::trace::chain::{Position, content};
use crate::workspace::Workspace;

/// Writers hold the lock for the time of one write to the disk.
const PATIENCE: Duration = Duration::from_secs(15);
/// Between two looks at the lock.
const PAUSE: Duration = Duration::from_millis(5);
/// The end of a file is read backwards in pieces of this many bytes.
const PIECE: usize = 8 << 10;

/// Appends the line that `make` makes of the last line of the file, with its line break. The file is locked meanwhile, so
/// that of several writers each sees the line of the other; it is written with one call, and is on the disk afterwards. What
/// could not be written as a whole is taken back.
///
/// # Errors
/// The path leads out of the workspace or is no regular file, the last line is too long, or the system's.
pub fn append_inside(
    workspace: &Workspace,
    path: &Path,
    make: impl FnOnce(&[u8]) -> String,
) -> io::Result<PathBuf> {
    let target = target_inside(workspace, path)?;
    let is_new = !target.exists();
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(&target)?;
    // Released when the file is closed, also by a crash.
    lock(&file)?;
    let size = file.metadata()?.len();
    let (last, is_whole) = last_line(&mut file, size)?;
    let line = make(&last);
    // A line that somebody else has not finished stays a damaged line of its own.
    let text = if is_whole { line } else { format!("\n{line}") };
    if let Err(error) = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()) {
        // What was not kept was not written: the next line would be chained to it.
        let _ = file.set_len(size);
        return Err(error);
    }
    if is_new {
        own(&target, workspace);
        sync_folders(&target, workspace);
    }
    Ok(target)
}

/// Waits for the lock, but not for ever: somebody may hold it and do nothing.
fn lock(file: &File) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begun.elapsed() > PATIENCE => {
                return Err(io::Error::other("another program holds its lock; nothing was written"));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
    }
}

/// The last line that holds anything, and whether the file ends with a line break or is empty.
fn last_line(file: &mut File, size: u64) -> io::Result<(Vec<u8>, bool)> {
    let mut tail: Vec<u8> = Vec::new();
    let mut start = size;
    loop {
        // The line is there as a whole once something stands before its beginning, or the file begins.
        let trimmed = tail.len() - tail.iter().rev().take_while(|byte| is_blank(**byte)).count();
        let held = tail.get(..trimmed).unwrap_or_default();
        let line_start = held.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        if start == 0 || (line_start.is_some() && trimmed > 0) {
            let is_whole = tail.last().is_none_or(|last| *last == b'\n');
            let line = held.get(line_start.unwrap_or(0)..).unwrap_or_default();
            if line.len() > LINE_CAP {
                // Readers refuse it, so that no link to it could be shown to hold.
                return Err(io::Error::other("its last line is longer than 16 MiB"));
            }
            let is_first = start == 0 && line_start.is_none();
            let position = if is_first { Position::First } else { Position::Later };
            return Ok((content(line, position).to_vec(), is_whole));
        }
        if held.len() > LINE_CAP {
            return Err(io::Error::other("its last line is longer than 16 MiB"));
        }
        let piece = start.min(PIECE.max(tail.len()) as u64);
        start -= piece;
        let mut read = vec![0; usize::try_from(piece).map_err(io::Error::other)?];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut read)?;
        read.append(&mut tail);
        tail = read;
    }
}

fn is_blank(byte: u8) -> bool {
    byte == 0 || byte.is_ascii_whitespace()
}

/// A new file is on the disk only when its folder is, and those that were made on the way to it.
#[cfg(unix)]
fn sync_folders(file: &Path, workspace: &Workspace) {
    for folder in file.ancestors().skip(1).take_while(|folder| folder.starts_with(workspace.root())) {
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
    }
}

#[cfg(not(unix))]
fn sync_folders(_: &Path, _: &Workspace) {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn last(bytes: &[u8]) -> (Vec<u8>, bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, bytes).unwrap();
        last_line(&mut File::open(&path).unwrap(), bytes.len() as u64).unwrap()
    }

    #[test]
    fn the_last_line_is_found_however_long_it_is() {
        for (bytes, line, is_whole) in [
            (&b""[..], &b""[..], true),
            (b"\n\n", b"", true),
            (b"a\n", b"a", true),
            (b"a\nb", b"b", false),
            (b"a\nb\r\n\n \t\n", b"b", true),
            (b"a\n\0\0", b"a", false),
            (b"\xef\xbb\xbfa\n", b"a", true),
        ] {
            assert_eq!(last(bytes), (line.to_vec(), is_whole), "{bytes:?}");
        }
        for size in [PIECE - 1, PIECE, PIECE + 1, 5 * PIECE + 3] {
            let long = vec![b'x'; size];
            assert_eq!(last(&[b"a\n", long.as_slice(), b"\n"].concat()), (long.clone(), true), "{size}");
            assert_eq!(last(&long), (long.clone(), false), "{size}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_made_and_nothing_is_written_outside() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        fs::create_dir(&root).unwrap();
        let workspace = Workspace::new(&root).unwrap();
        let append = |path: &str| append_inside(&workspace, Path::new(path), |_| "x\n".to_owned());
        assert!(append("a/b/t").is_ok() && append("a/b/t").is_ok());
        assert_eq!(fs::read(root.join("a/b/t")).unwrap(), b"x\nx\n");
        assert!(append("../t").is_err() && append("a/b").is_err());
        assert!(!outer.path().join("t").exists());
    }
}
