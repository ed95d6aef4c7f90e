//! SHA-256, as reports name it: `sha256:<64 hex>`.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// `sha256:…` of some bytes.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A file that was read, and its digest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Material {
    /// The file, as reports show it.
    pub file: String,
    /// `sha256:…` of its bytes.
    pub digest: String,
}

impl Material {
    /// Of a file's bytes.
    #[must_use]
    pub fn of(file: &str, bytes: &[u8]) -> Self {
        Self { file: file.to_owned(), digest: digest(bytes) }
    }
}

fn hex(hash: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("sha256:");
    for byte in hash {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Hashes what is read through it, unless the digest is known.
#[derive(Debug)]
pub struct Hashed<R> {
    input: R,
    hash: Option<Sha256>,
}

impl<R: Read> Hashed<R> {
    /// Around an input.
    #[must_use]
    pub fn new(input: R) -> Self {
        Self { input, hash: Some(Sha256::new()) }
    }

    /// Around an input whose digest is known, or nobody asks for.
    #[must_use]
    pub fn off(input: R) -> Self {
        Self { input, hash: None }
    }

    /// The digest of the whole input: what was not read yet is read now. `None` where it was not asked for.
    #[must_use]
    pub fn finish(mut self) -> Option<String> {
        self.hash.as_ref()?;
        let _ = io::copy(&mut self, &mut io::sink());
        self.hash.map(|hash| hex(&hash.finalize()))
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        if let Some(hash) = &mut self.hash {
            hash.update(buffer.get(..count).unwrap_or_default());
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_whole_input_however_much_was_read() {
        let mut input = Hashed::new(&b"abc"[..]);
        let mut one = [0; 1];
        input.read_exact(&mut one).unwrap();
        assert_eq!(input.finish(), Some(digest(b"abc")));
        assert_eq!(Hashed::off(&b"abc"[..]).finish(), None);
        assert_eq!(digest(b"abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
