//! What a plan says of a fleet: which deployments there have to be reports on, and which shard was to write them.

use std::collections::BTreeMap;

use super::Lost;
use super::row::{FOLDER_CAP, key};
use crate::plan::Plan;

/// The reports that there have to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// How many shards the plan has.
    pub shards: usize,
    /// Every folder, by its key.
    pub(super) folders: BTreeMap<Box<str>, Lost>,
}

impl Expected {
    /// What a plan expects.
    ///
    /// # Errors
    /// The name of a folder is longer than any report keeps it.
    pub fn of(plan: &Plan) -> Result<Self, String> {
        let mut folders = BTreeMap::new();
        for shard in 1..=plan.shards() {
            for folder in plan.shard(shard).unwrap_or_default() {
                if folder.path.len() > FOLDER_CAP {
                    return Err(format!("the name of a folder is longer than {FOLDER_CAP} bytes"));
                }
                let lost = Lost { shard: shard as u64, folder: folder.path.as_str().into() };
                // A folder that is planned under two names is the first shard's.
                folders.entry(key(Some(&lost.folder), "")).or_insert(lost);
            }
        }
        Ok(Self { shards: plan.shards(), folders })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_known_by_its_key_however_it_is_written() {
        let plan = format!(
            r#"{{"schema":"{}","folders":2,"more":1,"shards":[{{"shard":1,"folders":[{{"path":"./a//b/","bytes":5}}]}},
            {{"shard":2,"folders":[{{"path":"c","bytes":1}}]}}]}}"#,
            crate::plan::SCHEMA
        );
        let expected = Expected::of(&Plan::parse(plan.as_bytes()).unwrap()).unwrap();
        let keys: Vec<&str> = expected.folders.keys().map(|key| &**key).collect();
        assert_eq!((expected.shards, keys), (2, vec!["a/b", "c"]));
    }
}
