//! Which pull request a run belongs to. The event decides by which rule it is looked for, and where that rule finds none, no
//! other one is tried: a comment on the wrong pull request is worse than none.

use serde_json::Value;

use super::api::Pull;
use super::{GitHub, Number, Refusal, Repository};

/// What is known of the event that started the run.
#[derive(Debug, Clone, Default)]
pub struct Trigger {
    /// `GITHUB_EVENT_NAME`.
    pub name: String,
    /// The event itself.
    pub event: Value,
    /// `GITHUB_SHA`.
    pub sha: String,
    /// `GITHUB_REF`.
    pub reference: String,
    /// The deployment's folder in the repository.
    pub folder: Option<String>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// This one.
    One(Number),
    /// None, and why.
    None(&'static str),
    /// Several, and nothing tells which.
    Ambiguous,
}

/// How a pull request is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    Known(Found),
    /// The pull requests that a commit belongs to.
    OfCommit(String),
    /// Those of the commit that added the deployment's folder.
    OfFolder(String),
    /// The open ones of a branch with a commit.
    OfBranch {
        owner: String,
        branch: String,
        sha: String,
    },
}

/// Looks for the pull request.
///
/// # Errors
/// GitHub's refusal to tell.
pub async fn find(github: &GitHub, trigger: &Trigger) -> Result<Found, Refusal> {
    let of_commit = |sha: String| async move {
        let pulls = github.pulls_of_commit(&sha).await?;
        let matches =
            |pull: &Pull| pull.head.sha == sha || pull.merge_commit_sha.as_deref() == Some(sha.as_str());
        Ok(choose(&pulls, github.repository(), matches))
    };
    match rule(trigger, github.repository()) {
        Rule::Known(found) => Ok(found),
        Rule::OfCommit(sha) => of_commit(sha).await,
        Rule::OfFolder(folder) => match github.first_commit_of(&folder, &trigger.sha).await? {
            Some(sha) => of_commit(sha).await,
            None => Ok(Found::None("no commit added the deployment's folder")),
        },
        Rule::OfBranch { owner, branch, sha } => {
            let pulls = github.pulls_of_branch(&owner, &branch).await?;
            Ok(choose(&pulls, github.repository(), |pull| pull.head.sha == sha))
        }
    }
}

fn choose(pulls: &[Pull], repository: &Repository, matches: impl Fn(&Pull) -> bool) -> Found {
    let base = |pull: &Pull| pull.base.repo.as_ref().is_some_and(|repo| repository.is(&repo.full_name));
    let mut numbers: Vec<u64> =
        pulls.iter().filter(|pull| base(pull) && matches(pull)).map(|pull| pull.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    match numbers.as_slice() {
        [] => Found::None("no pull request has this commit"),
        [one] => Found::One(Number(*one)),
        _ => Found::Ambiguous,
    }
}

fn rule(trigger: &Trigger, repository: &Repository) -> Rule {
    let event = &trigger.event;
    let none = |why| Rule::Known(Found::None(why));
    let number = |value: &Value| value.get("number").and_then(Value::as_u64);
    match trigger.name.as_str() {
        "push" => Rule::OfCommit(trigger.sha.clone()),
        "workflow_dispatch" | "schedule" => match &trigger.folder {
            Some(folder) => Rule::OfFolder(folder.clone()),
            None => Rule::OfCommit(trigger.sha.clone()),
        },
        "issue_comment" => match event.get("issue") {
            Some(issue) if issue.get("pull_request").is_some_and(|link| !link.is_null()) => number(issue)
                .map_or(none("the event names no number"), |n| Rule::Known(Found::One(Number(n)))),
            _ => none("the comment is on an issue, not on a pull request"),
        },
        "merge_group" => {
            let head = event.pointer("/merge_group/head_ref").and_then(Value::as_str);
            let queued = head.or(Some(trigger.reference.as_str())).and_then(of_queue);
            queued.map_or(none("the merge group names no pull request"), |n| Rule::Known(Found::One(n)))
        }
        "workflow_run" => workflow_run(event, repository),
        _ => match event.get("pull_request") {
            Some(pull) if !pull.is_null() => {
                let base = pull.pointer("/base/repo/full_name").and_then(Value::as_str);
                match number(pull) {
                    Some(_) if base.is_some_and(|base| !repository.is(base)) => {
                        none("the pull request is of another repository")
                    }
                    Some(n) => Rule::Known(Found::One(Number(n))),
                    None => none("the event names no number"),
                }
            }
            _ => none("the event has no pull request"),
        },
    }
}

/// `refs/heads/gh-readonly-queue/<base>/pr-<number>-<sha>`.
fn of_queue(reference: &str) -> Option<Number> {
    let queue =
        reference.strip_prefix("refs/heads/").unwrap_or(reference).strip_prefix("gh-readonly-queue/")?;
    let (number, sha) = queue.rsplit('/').next()?.strip_prefix("pr-")?.split_once('-')?;
    let is_sha = sha.len() >= 7 && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    number.parse().ok().filter(|_| is_sha).map(Number)
}

fn workflow_run(event: &Value, repository: &Repository) -> Rule {
    let run = event.get("workflow_run").unwrap_or(&Value::Null);
    let text = |pointer: &str| run.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let sha = text("/head_sha");
    let own = event.pointer("/repository/id").and_then(Value::as_u64);
    let listed = run.get("pull_requests").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    // The short form here names the repository by id only.
    let is_ours = |pull: &Value| {
        let base = pull.pointer("/base/repo");
        let id = base.and_then(|base| base.get("id")).and_then(Value::as_u64);
        let name = base.and_then(|base| base.get("full_name")).and_then(Value::as_str);
        let matches = name.map_or(id.is_none() || own.is_none() || id == own, |name| repository.is(name));
        matches && pull.pointer("/head/sha").and_then(Value::as_str) == Some(sha.as_str())
    };
    let mut numbers: Vec<u64> =
        listed.iter().filter(|pull| is_ours(pull)).filter_map(|pull| pull.get("number")?.as_u64()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    match (numbers.as_slice(), listed) {
        ([one], _) => Rule::Known(Found::One(Number(*one))),
        ([_, _, ..], _) => Rule::Known(Found::Ambiguous),
        // The list is always empty for a fork.
        ([], []) => {
            let (owner, branch) = (text("/head_repository/owner/login"), text("/head_branch"));
            if owner.is_empty() || branch.is_empty() || sha.is_empty() {
                return Rule::Known(Found::None("the event names no branch"));
            }
            Rule::OfBranch { owner, branch, sha }
        }
        ([], _) => Rule::Known(Found::None("no pull request has this commit")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(name: &str, event: Value) -> Rule {
        let trigger = Trigger { name: name.to_owned(), event, sha: "s".to_owned(), ..Trigger::default() };
        rule(&trigger, &Repository::of("o/r").unwrap())
    }

    fn one(number: u64) -> Rule {
        Rule::Known(Found::One(Number(number)))
    }

    #[test]
    fn each_event_has_its_rule() {
        let pull = json!({"pull_request": {"number": 7, "base": {"repo": {"full_name": "O/R"}}}});
        assert_eq!(of("pull_request", pull.clone()), one(7));
        assert_eq!(of("pull_request_target", pull), one(7));
        let other = json!({"pull_request": {"number": 7, "base": {"repo": {"full_name": "x/y"}}}});
        assert!(matches!(of("pull_request", other), Rule::Known(Found::None(_))));
        assert_eq!(
            of("issue_comment", json!({"issue": {"number": 3, "pull_request": {"url": "x"}}})),
            one(3)
        );
        assert!(matches!(of("issue_comment", json!({"issue": {"number": 3}})), Rule::Known(Found::None(_))));
        let queue = "refs/heads/gh-readonly-queue/release/1.0/pr-12-0123456789abcdef";
        assert_eq!(of("merge_group", json!({"merge_group": {"head_ref": queue}})), one(12));
        assert!(matches!(of("merge_group", json!({})), Rule::Known(Found::None(_))));
        assert_eq!(of("push", json!({})), Rule::OfCommit("s".to_owned()));
        assert_eq!(of("workflow_dispatch", json!({})), Rule::OfCommit("s".to_owned()));
        assert!(matches!(of("schedule", json!({})), Rule::OfCommit(_)));
        assert!(matches!(of("repository_dispatch", json!({})), Rule::Known(Found::None(_))));
    }

    #[test]
    fn a_workflow_run_is_looked_for_by_its_branch_where_the_event_lists_none() {
        let fork = json!({"workflow_run": {"head_sha": "h", "head_branch": "b", "head_repository": {"owner": {"login": "f"}}, "pull_requests": []}});
        let by_branch = Rule::OfBranch { owner: "f".to_owned(), branch: "b".to_owned(), sha: "h".to_owned() };
        assert_eq!(of("workflow_run", fork), by_branch);
        let listed = |sha: &str| {
            json!({"repository": {"id": 1}, "workflow_run": {"head_sha": "h", "pull_requests": [
            {"number": 4, "head": {"sha": sha}, "base": {"repo": {"id": 1}}},
            {"number": 5, "head": {"sha": sha}, "base": {"repo": {"id": 2}}}]}})
        };
        assert_eq!(of("workflow_run", listed("h")), one(4));
        assert!(matches!(of("workflow_run", listed("old")), Rule::Known(Found::None(_))));
    }

    #[test]
    fn base_and_commit_must_match_and_several_are_ambiguous() {
        let pull = |number: u64, base: &str, head: &str, merge: &str| -> Pull {
            serde_json::from_value(json!({"number": number, "base": {"repo": {"full_name": base}}, "head": {"sha": head}, "merge_commit_sha": merge})).unwrap()
        };
        let repository = Repository::of("o/r").unwrap();
        let found = |pulls: &[Pull]| {
            choose(pulls, &repository, |pull| {
                pull.head.sha == "s" || pull.merge_commit_sha.as_deref() == Some("s")
            })
        };
        assert_eq!(
            found(&[pull(1, "o/r", "s", ""), pull(2, "x/y", "s", ""), pull(3, "o/r", "t", "u")]),
            Found::One(Number(1))
        );
        assert_eq!(found(&[pull(1, "o/r", "t", "s")]), Found::One(Number(1)));
        assert_eq!(found(&[pull(1, "o/r", "s", ""), pull(2, "o/r", "s", "")]), Found::Ambiguous);
        assert!(matches!(found(&[]), Found::None(_)));
    }
}
