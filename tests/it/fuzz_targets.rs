//! What the fuzz targets assert, without a fuzzer: over every file of the fixtures, and over damaged copies of them.

use std::path::{Path, PathBuf};

use process_integrity::plan::{Folder, Plan};

use crate::fuzz_bodies::BODIES;
use crate::fuzz_bodies::whole::SEPARATOR;
use crate::support::fixtures;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for parent in [fixtures(), fixtures().join("damaged")] {
        folders.extend(std::fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path()));
    }
    folders.sort();
    folders
}

/// Every file by itself, and the parts of every folder as one input for the whole check.
fn seeds() -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    files(&fixtures(), &mut paths);
    let mut seeds: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    for folder in folders() {
        let part = |name: &str| std::fs::read(folder.join(name)).unwrap_or_default();
        let trace =
            ["trace.jsonl", "traces/run-1.json", "events.jsonl", "spans.otlp.jsonl", "run.otlp.jsonl"]
                .iter()
                .map(|name| part(name))
                .find(|bytes| !bytes.is_empty());
        if let Some(trace) = trace {
            let model = part("execution-graphs/run-1.json");
            let parts = [trace, part("tests.json"), part("state.json"), model, part("security-gate.json")];
            seeds.push(parts.join(&SEPARATOR));
        }
    }
    // No fixture is a plan.
    let folder = |at: u64| Folder { path: format!("d{at}"), bytes: at };
    seeds.push(Plan::of((0..5).map(folder).collect(), Some(2)).document().into_bytes());
    seeds
}

/// Numbers that look like chance and are the same in every run (xorshift, Marsaglia 2003).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (end.max(1) as u64)).unwrap()
    }

    /// A copy with one to four places damaged as files and fuzzers damage them.
    fn damage(&mut self, seed: &[u8]) -> Vec<u8> {
        const PIECES: [&[u8]; 14] = [
            b"\n",
            b"}{",
            b"\0\0\0",
            b"\xff",
            b"\xef\xbb\xbf",
            b"\"",
            b"\\ud83d",
            b"NaN",
            b"[[[[[[[[",
            b"::error::",
            b"##[",
            b"\x1e",
            b"null",
            "\u{2028}\u{202e}".as_bytes(),
        ];
        let mut bytes = seed.to_vec();
        for _ in 0..=self.below(4) {
            let from = self.below(bytes.len() + 1);
            let to = (from + self.below(40)).min(bytes.len());
            match self.below(6) {
                0 => bytes.truncate(from),
                1 => drop(bytes.drain(from..to)),
                2 => bytes[from..to].fill(0),
                3 => bytes.extend_from_within(from..to),
                4 => {
                    let copied = bytes[from..to].to_vec();
                    let at = self.below(bytes.len() + 1);
                    bytes.splice(at..at, copied);
                }
                _ => {
                    let piece = PIECES[self.below(PIECES.len())];
                    bytes.splice(from..from, piece.iter().copied());
                }
            }
        }
        bytes
    }
}

/// Runs a body and tells with which input it failed.
fn run(name: &str, body: fn(&[u8]), input: &[u8]) {
    let failed = std::panic::catch_unwind(|| body(input)).is_err();
    assert!(!failed, "{name} fails for {:?}", String::from_utf8_lossy(input));
}

#[test]
fn every_fuzz_target_holds_for_every_fixture() {
    let seeds = seeds();
    assert!(seeds.len() > 300, "{} seeds", seeds.len());
    for seed in &seeds {
        BODIES.iter().for_each(|(name, body)| run(name, *body, seed));
    }
}

#[test]
fn every_fuzz_target_holds_for_damaged_copies_of_the_fixtures() {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    for seed in seeds() {
        for (name, body) in BODIES {
            run(name, body, &chance.damage(&seed));
        }
    }
}

#[test]
fn every_fuzz_target_is_built_seeded_and_run() {
    let root = fixtures().join("..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let (manifest, seed, run) = (read("fuzz/Cargo.toml"), read("fuzz/seed"), read(".ci/fuzz"));
    for (name, _) in BODIES {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
        let call = read(&format!("fuzz/fuzz_targets/{name}.rs"));
        assert!(call.contains(&format!("::{name}(data)")), "{name}");
        assert!(seed.contains(name) && run.contains(name), "{name}");
    }
}
