//! Which deployments are validated where: folders, spread over shards by how long they take. Schema:
//! `docs/schemas/process-integrity-plan.v1.schema.json`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::escape;
use crate::json;

/// The schema of a plan.
pub const SCHEMA: &str = "process-integrity-plan/v1";
/// The folders that are planned where nobody says: where git-ape keeps its deployments.
pub const FOLDERS: &str = ".azure/deployments/*";
/// A matrix of GitHub has at most so many jobs.
pub const SHARDS_CAP: usize = 256;
/// What a folder takes whatever lies in it: as long as reading so many bytes of a trace (docs/performance.md).
pub const FOLDER_WEIGHT: u64 = 64 << 10;
/// Folders, of the size that is usual, that are worth a shard of their own: to start a job takes longer than to check them.
pub const FOLDERS_A_SHARD: u64 = 5_000;

/// A deployment folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// Its path in the repository, with `/`.
    pub path: String,
    /// The bytes of the files in it.
    pub bytes: u64,
}

impl Folder {
    fn weight(&self) -> u64 {
        self.bytes.saturating_add(FOLDER_WEIGHT)
    }
}

/// Folders by shard. No shard is empty, and no folder is in two.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    shards: Vec<Vec<Folder>>,
}

#[derive(Serialize, Deserialize)]
struct Document {
    schema: String,
    folders: usize,
    shards: Vec<DocumentShard>,
}

#[derive(Serialize, Deserialize)]
struct DocumentShard {
    shard: usize,
    folders: Vec<Folder>,
}

#[derive(Serialize)]
struct Matrix {
    include: Vec<Job>,
}

#[derive(Serialize)]
struct Job {
    shard: usize,
    shards: usize,
    folders: usize,
    bytes: u64,
}

impl Plan {
    /// Spreads folders over so many shards, or over as many as they are worth. The heaviest goes first, each to the lightest
    /// shard so far (Graham's LPT): no shard is heavier than the mean and one folder. The order of the folders and what is
    /// in there twice change nothing.
    #[must_use]
    pub fn of(mut folders: Vec<Folder>, shards: Option<usize>) -> Self {
        folders.sort_by(|a, b| a.path.cmp(&b.path));
        folders.dedup_by(|a, b| a.path == b.path);
        let worth = || {
            let weight = folders.iter().fold(0_u64, |sum, folder| sum.saturating_add(folder.weight()));
            usize::try_from(weight.div_ceil(FOLDERS_A_SHARD * FOLDER_WEIGHT)).unwrap_or(SHARDS_CAP)
        };
        let count = shards.unwrap_or_else(worth).min(SHARDS_CAP).min(folders.len());
        if count == 0 {
            return Self::default();
        }
        // The sort is stable, so of equal ones the first path comes first.
        folders.sort_by_key(|folder| Reverse(folder.weight()));
        let mut shards: Vec<Vec<Folder>> = vec![Vec::new(); count];
        let mut lightest: BinaryHeap<Reverse<(u64, usize)>> = (0..count).map(|at| Reverse((0, at))).collect();
        for folder in folders {
            let Some(Reverse((weight, at))) = lightest.pop() else { break };
            lightest.push(Reverse((weight.saturating_add(folder.weight()), at)));
            if let Some(shard) = shards.get_mut(at) {
                shard.push(folder);
            }
        }
        for shard in &mut shards {
            shard.sort_by(|a, b| a.path.cmp(&b.path));
        }
        Self { shards }
    }

    /// How many folders there are in all.
    #[must_use]
    pub fn folders(&self) -> usize {
        self.shards.iter().map(Vec::len).sum()
    }

    /// How many shards there are.
    #[must_use]
    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    /// The folders of a shard, counted from 1.
    #[must_use]
    pub fn shard(&self, number: usize) -> Option<&[Folder]> {
        self.shards.get(number.checked_sub(1)?).map(Vec::as_slice)
    }

    /// The matrix of a workflow's jobs, one a shard, as JSON without a line break.
    #[must_use]
    pub fn matrix(&self) -> String {
        let job = |(at, folders): (usize, &Vec<Folder>)| Job {
            shard: at + 1,
            shards: self.shards.len(),
            folders: folders.len(),
            bytes: folders.iter().fold(0, |sum, folder| sum.saturating_add(folder.bytes)),
        };
        let matrix = Matrix { include: self.shards.iter().enumerate().map(job).collect() };
        // Numbers always serialize.
        serde_json::to_string(&matrix).unwrap_or_default()
    }

    /// The plan as JSON, ending with a line break.
    #[must_use]
    pub fn document(&self) -> String {
        let shard =
            |(at, folders): (usize, &Vec<Folder>)| DocumentShard { shard: at + 1, folders: folders.clone() };
        let document = Document {
            schema: SCHEMA.to_owned(),
            folders: self.folders(),
            shards: self.shards.iter().enumerate().map(shard).collect(),
        };
        // Texts and numbers always serialize.
        let mut text = escape::json(&serde_json::to_string(&document).unwrap_or_default());
        text.push('\n');
        text
    }

    /// Reads a plan. Unknown keys are for a later version, and passed over.
    ///
    /// # Errors
    /// It is no plan, or contradicts itself; the reason.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let value = json::parse(bytes).map_err(|error| error.to_string())?;
        if value.get("schema").and_then(Value::as_str) != Some(SCHEMA) {
            return Err(format!("its schema is not {SCHEMA}"));
        }
        let document: Document = serde_json::from_value(value).map_err(|error| json::reason(&error))?;
        if document.shards.len() > SHARDS_CAP {
            return Err(format!("it has more than {SHARDS_CAP} shards"));
        }
        let mut seen = HashSet::new();
        for (at, shard) in document.shards.iter().enumerate() {
            if shard.shard != at + 1 {
                return Err(format!("/shards/{at}/shard is not {}", at + 1));
            }
            if shard.folders.is_empty() {
                return Err(format!("/shards/{at}/folders is empty"));
            }
            for (index, folder) in shard.folders.iter().enumerate() {
                if folder.path.is_empty() || !seen.insert(folder.path.as_str()) {
                    return Err(format!("/shards/{at}/folders/{index}/path is empty or there twice"));
                }
            }
        }
        if document.folders != seen.len() {
            // Something of it was lost.
            return Err(format!(
                "it says that it has {} folders, but lists {}",
                document.folders,
                seen.len()
            ));
        }
        drop(seen);
        Ok(Self { shards: document.shards.into_iter().map(|shard| shard.folders).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn folders(sizes: &[u64]) -> Vec<Folder> {
        let folder = |(at, bytes): (usize, &u64)| Folder { path: format!("d{at:04}"), bytes: *bytes };
        sizes.iter().enumerate().map(folder).collect()
    }

    fn weights(plan: &Plan) -> Vec<u64> {
        plan.shards.iter().map(|shard| shard.iter().map(Folder::weight).sum()).collect()
    }

    proptest! {
        #[test]
        fn every_folder_is_in_one_shard_none_is_empty_and_none_is_much_too_heavy(
            sizes in prop::collection::vec(prop_oneof![Just(0), 0..100_000_u64, 0..1_u64 << 30], 1..200),
            shards in 1..=SHARDS_CAP,
        ) {
            let plan = Plan::of(folders(&sizes), Some(shards));
            prop_assert_eq!(plan.shards(), shards.min(sizes.len()));
            prop_assert!(plan.shards.iter().all(|shard| !shard.is_empty()));
            let mut all: Vec<Folder> = plan.shards.concat();
            all.sort_by(|a, b| a.path.cmp(&b.path));
            prop_assert_eq!(all, folders(&sizes));
            let weights = weights(&plan);
            let total: u64 = weights.iter().sum();
            let heaviest = folders(&sizes).iter().map(Folder::weight).max().unwrap_or(0);
            let bound = total / weights.len() as u64 + heaviest;
            prop_assert!(weights.iter().all(|weight| *weight <= bound), "{:?} over {}", weights, bound);
        }

        #[test]
        fn the_order_of_the_folders_and_doubles_change_nothing(
            sizes in prop::collection::vec(0..5_000_000_u64, 1..60),
            turn in 0..60_usize,
        ) {
            let sorted = folders(&sizes);
            let mut mixed = sorted.clone();
            mixed.rotate_left(turn % sizes.len());
            mixed.reverse();
            mixed.push(sorted[0].clone());
            prop_assert_eq!(Plan::of(sorted, Some(7)).document(), Plan::of(mixed, Some(7)).document());
        }

        #[test]
        fn a_plan_is_read_as_it_was_written(paths in prop::collection::hash_set("\\PC{1,9}|[\\n\\r\"\\\\ -]{1,4}", 0..20)) {
            let folders: Vec<Folder> = paths.into_iter().map(|path| Folder { path, bytes: u64::MAX }).collect();
            let plan = Plan::of(folders, Some(3));
            let text = plan.document();
            prop_assert_eq!(text.lines().count(), 1);
            prop_assert_eq!(Plan::parse(text.as_bytes()), Ok(plan));
        }
    }

    #[test]
    fn the_number_of_shards_follows_from_the_size() {
        let usual = |count: usize| folders(&vec![8_000; count]);
        for (count, shards) in [(0, 0), (1, 1), (4_000, 1), (6_000, 2), (100_000, 23)] {
            assert_eq!(Plan::of(usual(count), None).shards(), shards, "{count}");
        }
        assert_eq!(Plan::of(folders(&vec![1 << 30; 2_000]), None).shards(), SHARDS_CAP);
        assert_eq!(Plan::of(folders(&[u64::MAX; 3]), None).shards(), 3);
    }

    #[test]
    fn nothing_is_an_empty_matrix() {
        assert_eq!(Plan::default().matrix(), r#"{"include":[]}"#);
        let plan = Plan::of(folders(&[5, 7]), Some(1));
        assert_eq!(plan.matrix(), r#"{"include":[{"shard":1,"shards":1,"folders":2,"bytes":12}]}"#);
        let full = Plan::of(folders(&vec![1 << 30; 1_000]), Some(256)).matrix();
        assert!(full.len() < 20_000, "{}", full.len());
    }

    #[test]
    fn what_is_no_plan_is_refused_with_its_place() {
        let plan = |shards: &str| format!(r#"{{"schema":"{SCHEMA}","folders":1,"shards":{shards}}}"#);
        for (text, part) in [
            ("", "EOF"),
            ("[]", "its schema is not"),
            (r#"{"schema":"x","folders":0,"shards":[]}"#, "schema"),
            (&plan("[]"), "it says that it has 1 folders, but lists 0"),
            (&plan(r#"[{"shard":2,"folders":[]}]"#), "/shards/0/shard is not 1"),
            (&plan(r#"[{"shard":1,"folders":[]}]"#), "/shards/0/folders is empty"),
            (&plan(r#"[{"shard":1,"folders":[{"path":"","bytes":1}]}]"#), "/shards/0/folders/0/path"),
            (&plan(r#"[{"shard":1,"folders":[{"path":"a","bytes":-1}]}]"#), "invalid value"),
            (&plan(r#"[{"shard":1,"shard":1,"folders":[{"path":"a","bytes":1}]}]"#), "duplicate key"),
            (
                &plan(r#"[{"shard":1,"folders":[{"path":"a","bytes":1},{"path":"a","bytes":1}]}]"#),
                "/shards/0/folders/1/path",
            ),
        ] {
            let error = Plan::parse(text.as_bytes()).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let many: Vec<String> = (1..=257)
            .map(|at| format!(r#"{{"shard":{at},"folders":[{{"path":"{at}","bytes":1}}]}}"#))
            .collect();
        assert!(Plan::parse(plan(&format!("[{}]", many.join(","))).as_bytes()).is_err());
        assert!(
            Plan::parse(plan(r#"[{"shard":1,"folders":[{"path":"a","bytes":1,"x":1}]}]"#).as_bytes()).is_ok()
        );
    }
}
