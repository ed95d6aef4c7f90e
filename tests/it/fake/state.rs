//! What the fake GitHub holds.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Fault, Request};

/// The repository that exists.
pub(crate) const REPOSITORY: &str = "octo/orders";

/// An account as REST shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account(pub(crate) String, pub(crate) String);

impl Account {
    /// Who writes with `GITHUB_TOKEN`.
    pub(crate) fn actions() -> Self {
        Self("github-actions[bot]".to_owned(), "Bot".to_owned())
    }

    pub(crate) fn person(login: &str) -> Self {
        Self(login.to_owned(), "User".to_owned())
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Comment {
    pub(crate) id: u64,
    pub(crate) body: String,
    /// `None` for an account that was deleted.
    pub(crate) author: Option<Account>,
}

#[derive(Debug, Clone)]
pub(crate) struct Issue {
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) author: Account,
    pub(crate) open: bool,
    pub(crate) labels: Vec<String>,
    pub(crate) assignees: Vec<String>,
}

/// What GraphQL says of the token's account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Viewer {
    Is(String),
    /// There is no GraphQL.
    Absent,
}

pub(crate) struct State {
    pub(crate) comments: BTreeMap<u64, Vec<Comment>>,
    pub(crate) issues: Vec<Issue>,
    pub(crate) pulls: Vec<Value>,
    /// Pull requests that a commit belongs to.
    pub(crate) commits: BTreeMap<String, Vec<Value>>,
    /// Files that a commit changed.
    pub(crate) files: BTreeMap<String, Vec<String>>,
    /// Commits that touched a path, the newest first.
    pub(crate) history: BTreeMap<String, Vec<String>>,
    pub(crate) viewer: Viewer,
    /// `GET /user`; `None` is 403, as for `GITHUB_TOKEN`.
    pub(crate) user: Option<String>,
    /// Who writes.
    pub(crate) author: Account,
    /// The status for an issue with labels or assignees, where the token may not set them.
    pub(crate) no_labels: Option<u16>,
    /// Answers take up to so many milliseconds.
    pub(crate) jitter: u64,
    pub(crate) requests: Vec<Request>,
    pub(crate) unexpected: Vec<String>,
    pub(crate) faults: Vec<Fault>,
    next: u64,
    pub(crate) random: u64,
}

impl Default for State {
    fn default() -> Self {
        Self {
            comments: BTreeMap::new(),
            issues: Vec::new(),
            pulls: Vec::new(),
            commits: BTreeMap::new(),
            files: BTreeMap::new(),
            history: BTreeMap::new(),
            viewer: Viewer::Is("github-actions".to_owned()),
            user: None,
            author: Account::actions(),
            no_labels: None,
            jitter: 0,
            requests: Vec::new(),
            unexpected: Vec::new(),
            faults: Vec::new(),
            next: 1000,
            random: 1,
        }
    }
}

impl State {
    /// A new id or number.
    pub(crate) fn id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(crate) fn comments(&self, number: u64) -> &[Comment] {
        self.comments.get(&number).map(Vec::as_slice).unwrap_or_default()
    }

    /// Somebody says something.
    pub(crate) fn say(&mut self, number: u64, author: Option<Account>, body: &str) -> u64 {
        let id = self.id();
        let comment = Comment { id, body: body.to_owned(), author };
        self.comments.entry(number).or_default().push(comment);
        id
    }

    pub(crate) fn find(&mut self, id: u64) -> Option<&mut Comment> {
        self.comments.values_mut().flatten().find(|comment| comment.id == id)
    }

    pub(crate) fn delete(&mut self, id: u64) -> bool {
        let before: usize = self.comments.values().map(Vec::len).sum();
        self.comments.values_mut().for_each(|comments| comments.retain(|comment| comment.id != id));
        before != self.comments.values().map(Vec::len).sum::<usize>()
    }

    /// Time that passes between a request and what it does; it looks random, but is the same in every run.
    pub(super) fn latency(&mut self) -> Duration {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Duration::from_millis(if self.jitter == 0 { 0 } else { (self.random >> 33) % self.jitter })
    }
}

/// A pull request of the repository, or into another one.
pub(crate) fn pull(number: u64, base: &str, head: &str, merge: Option<&str>) -> Value {
    json!({
        "number": number, "state": if merge.is_some() { "closed" } else { "open" },
        "head": {"sha": head, "repo": {"full_name": base}},
        "base": {"sha": "b", "repo": {"full_name": base}},
        "merge_commit_sha": merge,
    })
}
