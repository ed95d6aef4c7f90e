//! The plan of a fleet: which deployments there have to be reports on, and which shard was to write them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::Lost;
use super::row::{FOLDER_CAP, key};
use crate::escape::cut;
use crate::json;

/// The schema of the plan.
pub const SCHEMA: &str = "process-integrity-plan/v1";

/// What a plan says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// How many shards it has.
    pub shards: usize,
    /// Every folder, by its key.
    pub(super) folders: BTreeMap<Box<str>, Lost>,
}

#[derive(Deserialize)]
struct Document {
    folders: usize,
    shards: Vec<Shard>,
}

#[derive(Deserialize)]
struct Shard {
    shard: u64,
    folders: Vec<Folder>,
}

#[derive(Deserialize)]
struct Folder {
    path: String,
}

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// It is no plan of this version, or its number of folders is not the number of those that it lists: something of it
    /// was lost, and it proves nothing. The reason may quote the file.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let value = json::parse(bytes).map_err(|error| error.to_string())?;
        match value.get("schema").and_then(Value::as_str) {
            Some(SCHEMA) => {}
            Some(other) => return Err(format!("it is no {SCHEMA} but {}", cut(other, 60))),
            None => return Err(format!("it is no {SCHEMA}: it has no schema")),
        }
        let document: Document =
            serde_json::from_value(value).map_err(|error| cut(&json::reason(&error), 200))?;
        let listed: usize = document.shards.iter().map(|shard| shard.folders.len()).sum();
        if listed != document.folders {
            return Err(format!("it says that it has {} folders, but lists {listed}", document.folders));
        }
        let shards = document.shards.len();
        let mut folders = BTreeMap::new();
        for Shard { shard, folders: of_shard } in document.shards {
            for Folder { path } in of_shard {
                if path.len() > FOLDER_CAP {
                    return Err(format!("the name of a folder is longer than {FOLDER_CAP} bytes"));
                }
                // A folder that is planned twice is the first shard's.
                let lost = Lost { shard, folder: path.into() };
                folders.entry(key(Some(&lost.folder), "")).or_insert(lost);
            }
        }
        Ok(Self { shards, folders })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_contradicts_itself_is_refused() {
        let plan = |folders: usize| {
            format!(
                r#"{{"schema":"{SCHEMA}","folders":{folders},"more":1,
                "shards":[{{"shard":1,"folders":[{{"path":"./a//b/","bytes":5}}]}},{{"shard":2,"folders":[{{"path":"c"}}]}}]}}"#
            )
        };
        let read = Plan::parse(plan(2).as_bytes()).unwrap();
        let keys: Vec<&str> = read.folders.keys().map(|key| &**key).collect();
        assert_eq!((read.shards, keys), (2, vec!["a/b", "c"]));
        assert!(Plan::parse(plan(3).as_bytes()).unwrap_err().contains("lists 2"));
        for bad in ["", "[]", "{}", r#"{"schema":"process-integrity-plan/v2","folders":0,"shards":[]}"#] {
            assert!(Plan::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
