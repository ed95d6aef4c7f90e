//! Reads files, but only regular ones inside the workspace, and never more than a cap. The only reader of the product.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::digest::Hashed;

/// Most files are held whole: 16 MiB at most.
pub const FILE_CAP: u64 = 16 << 20;
/// Traces are streamed: 1 GiB at most.
pub const TRACE_CAP: u64 = 1 << 30;
/// A trace is read in pieces of this many bytes.
const BUFFER: usize = 64 << 10;
/// Entries of a folder that are looked at.
const ENTRIES_CAP: usize = 10_000;

/// Why a file was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// There is none.
    Absent,
    /// It, or a link on the way to it, leads out of the workspace.
    Outside,
    /// It is a folder, a device, a pipe.
    NotAFile,
    /// It is over the cap, in bytes.
    TooLarge(u64),
    /// The system said no.
    Failed(io::ErrorKind),
}

impl Refusal {
    /// It counts as absent.
    #[must_use]
    pub fn is_absence(self) -> bool {
        match self {
            Self::Absent | Self::Outside => true,
            Self::NotAFile | Self::TooLarge(_) | Self::Failed(_) => false,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("no such file"),
            Self::Outside => f.write_str("it leads out of the workspace, so it counts as absent"),
            Self::NotAFile => f.write_str("it is no regular file"),
            Self::TooLarge(cap) => write!(f, "it is larger than {} MiB", cap >> 20),
            Self::Failed(kind) => write!(f, "{kind}"),
        }
    }
}

/// The folder beyond which nothing is read.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// A workspace.
    ///
    /// # Errors
    /// The folder does not exist or cannot be resolved.
    pub fn new(root: &Path) -> io::Result<Self> {
        Ok(Self { root: fs::canonicalize(root)? })
    }

    /// A workspace in which nothing is.
    #[must_use]
    pub fn nothing() -> Self {
        Self { root: PathBuf::from("/dev/null/nothing") }
    }

    /// The folder, with all links resolved.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path with all links resolved, if it stays inside.
    ///
    /// # Errors
    /// It is absent, leads out, or cannot be resolved.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, Refusal> {
        let path = if path.is_absolute() { path.to_owned() } else { self.root.join(path) };
        let real = fs::canonicalize(path).map_err(|error| {
            let kind = error.kind();
            let absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&kind);
            if absent { Refusal::Absent } else { Refusal::Failed(kind) }
        })?;
        if real.starts_with(&self.root) { Ok(real) } else { Err(Refusal::Outside) }
    }

    /// Opens a regular file.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub fn open(&self, path: &Path, cap: u64) -> Result<File, Refusal> {
        open_regular(&self.resolve(path)?, cap)
    }

    /// Something has this name, be it a link that leads nowhere.
    #[must_use]
    pub fn has(&self, path: &Path) -> bool {
        self.root.join(path).symlink_metadata().is_ok()
    }

    /// Opens a trace, to be hashed while it is read.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub fn stream(&self, path: &Path) -> Result<Stream, Refusal> {
        Ok(BufReader::with_capacity(BUFFER, Hashed::new(self.open(path, TRACE_CAP)?)))
    }

    /// Opens a trace whose digest is known.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub fn stream_again(&self, path: &Path) -> Result<Stream, Refusal> {
        Ok(BufReader::with_capacity(BUFFER, Hashed::off(self.open(path, TRACE_CAP)?)))
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, Refusal> {
        let file = self.open(path, FILE_CAP)?;
        let mut bytes = Vec::new();
        // It may grow while it is read.
        match file.take(FILE_CAP + 1).read_to_end(&mut bytes) {
            Ok(size) if size as u64 > FILE_CAP => Err(Refusal::TooLarge(FILE_CAP)),
            Ok(_) => Ok(bytes),
            Err(error) => Err(Refusal::Failed(error.kind())),
        }
    }

    /// The names of a folder's entries that are wanted, sorted. Empty where there is no such folder.
    #[must_use]
    pub fn list(&self, folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let Ok(real) = self.resolve(folder) else { return Vec::new() };
        let Ok(entries) = fs::read_dir(real) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| wanted(name)).collect();
        names.sort();
        names.truncate(ENTRIES_CAP);
        names
    }

    /// The bytes of the regular files in a folder and its folders. Links are not followed, and what cannot be read has none.
    #[must_use]
    pub fn size(&self, folder: &Path) -> u64 {
        let mut bytes: u64 = 0;
        let mut left = ENTRIES_CAP;
        let mut folders: Vec<PathBuf> = self.resolve(folder).into_iter().collect();
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            for entry in entries.flatten() {
                // A folder of folders without end is as heavy as this.
                left -= 1;
                if left == 0 {
                    return bytes;
                }
                match entry.metadata() {
                    Ok(found) if found.is_file() => bytes = bytes.saturating_add(found.len()),
                    Ok(found) if found.is_dir() => folders.push(entry.path()),
                    Ok(_) | Err(_) => {}
                }
            }
        }
        bytes
    }

    /// A path as it is in the repository, if it lies there.
    #[must_use]
    pub fn relative(&self, path: &Path) -> Option<String> {
        let real = self.resolve(path).ok()?;
        real.strip_prefix(&self.root).ok()?.to_str().map(str::to_owned)
    }
}

/// Opens what must be a regular file. Looked at before it is opened, since opening a pipe would wait for its writer, and
/// afterwards, since it may have been replaced.
fn open_regular(path: &Path, cap: u64) -> Result<File, Refusal> {
    let failed = |error: io::Error| Refusal::Failed(error.kind());
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(Refusal::NotAFile);
    }
    let file = File::open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() {
        return Err(Refusal::NotAFile);
    }
    if found.len() > cap { Err(Refusal::TooLarge(cap)) } else { Ok(file) }
}

/// A trace that is read.
pub type Stream = BufReader<Hashed<File>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn only_regular_files_inside_are_read() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(outer.path().join("secret"), "x").unwrap();
        fs::write(root.join("file"), "y").unwrap();
        std::os::unix::fs::symlink(outer.path().join("secret"), root.join("link")).unwrap();
        std::os::unix::fs::symlink(root.join("file"), root.join("sub/inner")).unwrap();
        let workspace = Workspace::new(&root).unwrap();
        let read = |path: &str| workspace.read(Path::new(path));
        assert_eq!(read("file"), Ok(b"y".to_vec()));
        assert_eq!(read("sub/inner"), Ok(b"y".to_vec()));
        assert_eq!(read("link"), Err(Refusal::Outside));
        assert_eq!(read("../secret"), Err(Refusal::Outside));
        assert_eq!(read("sub"), Err(Refusal::NotAFile));
        assert_eq!(read("nothing"), Err(Refusal::Absent));
        assert_eq!(read("file/below"), Err(Refusal::Absent));
        assert_eq!(read("/dev/null"), Err(Refusal::Outside));
        let everywhere = Workspace::new(Path::new("/")).unwrap();
        assert_eq!(everywhere.read(Path::new("/dev/null")), Err(Refusal::NotAFile));
        File::create(root.join("large")).unwrap().set_len(FILE_CAP + 1).unwrap();
        assert_eq!(read("large"), Err(Refusal::TooLarge(FILE_CAP)));
        assert_eq!(workspace.relative(Path::new("sub/inner")).as_deref(), Some("file"));
    }
}
