//! The calls that are made, each with the few fields that are used. Fields that GitHub may leave out are optional, and new
//! values of its enums change nothing.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Again, GitHub, Method, Number, Refusal, encode};

/// Pages of a list that are read: 3,000 entries.
const PAGES: u32 = 30;
/// What GraphQL may cost; identity then comes from REST.
const GRAPHQL: Duration = Duration::from_secs(5);
/// The account behind `GITHUB_TOKEN`.
const ACTIONS_BOT: &str = "github-actions[bot]";

/// An account.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct User {
    /// Its login.
    #[serde(default)]
    pub login: String,
    /// `User`, `Bot`, …
    #[serde(default, rename = "type")]
    pub kind: String,
}

/// A comment on a pull request or issue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Comment {
    /// Its id: the lower, the older.
    pub id: u64,
    /// Its text.
    #[serde(default)]
    pub body: Option<String>,
    /// Its author; `None` for an account that was deleted.
    #[serde(default)]
    pub user: Option<User>,
    /// Where it can be seen.
    #[serde(default)]
    pub html_url: Option<String>,
}

/// An issue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Issue {
    /// Its number.
    pub number: u64,
    /// Its text.
    #[serde(default)]
    pub body: Option<String>,
    /// Its author.
    #[serde(default)]
    pub user: Option<User>,
    /// Where it can be seen.
    #[serde(default)]
    pub html_url: Option<String>,
    /// It is a pull request, which the same route lists.
    #[serde(default)]
    pub pull_request: Option<Value>,
}

/// A pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Pull {
    /// Its number.
    pub number: u64,
    /// The branch that is merged.
    #[serde(default)]
    pub head: Branch,
    /// The branch that it is merged into.
    #[serde(default)]
    pub base: Branch,
    /// The commit of the merge.
    #[serde(default)]
    pub merge_commit_sha: Option<String>,
}

/// One side of a pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Branch {
    /// Its commit.
    #[serde(default)]
    pub sha: String,
    /// Its repository; `None` for a fork that was deleted.
    #[serde(default)]
    pub repo: Option<Named>,
}

/// A repository by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Named {
    /// `owner/name`.
    #[serde(default)]
    pub full_name: String,
}

/// Who we are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    login: String,
    /// Nobody could tell, and this is why: it is assumed that the token is the workflow's own.
    pub doubt: Option<Refusal>,
}

impl Identity {
    /// An entry is ours. GraphQL and REST name a bot differently: with and without `[bot]`. Where the name says bot, the
    /// account must be one.
    #[must_use]
    pub fn is(&self, user: Option<&User>) -> bool {
        user.is_some_and(|user| match user.login.strip_suffix("[bot]") {
            Some(name) => user.kind == "Bot" && (user.login == self.login || name == self.login),
            None => user.login == self.login,
        })
    }
}

/// A list, and whether all of it was read.
#[derive(Debug)]
pub struct Listing<T> {
    /// The entries.
    pub items: Vec<T>,
    /// There are no more.
    pub complete: bool,
}

impl GitHub {
    async fn list<T: serde::de::DeserializeOwned>(&self, route: &str) -> Result<Listing<T>, Refusal> {
        let mut items = Vec::new();
        let joint = if route.contains('?') { '&' } else { '?' };
        for page in 1..=PAGES {
            let route = format!("{route}{joint}per_page=100&page={page}");
            let answer = self.send(Method::Get, &route, None, Again::Yes).await?;
            items.extend(answer.read::<Vec<T>>()?);
            if !answer.next {
                return Ok(Listing { items, complete: true });
            }
        }
        Ok(Listing { items, complete: false })
    }

    /// All comments on a pull request or issue.
    ///
    /// # Errors
    /// GitHub's refusal.
    pub async fn comments(&self, number: Number) -> Result<Listing<Comment>, Refusal> {
        self.list(&self.route(&format!("issues/{}/comments", number.0))).await
    }

    /// Writes a comment. Sent once only: after a failure its caller has to look whether it was written.
    ///
    /// # Errors
    /// GitHub's refusal.
    pub async fn create_comment(&self, number: Number, body: &str) -> Result<Comment, Refusal> {
        let route = self.route(&format!("issues/{}/comments", number.0));
        self.send(Method::Post, &route, Some(&json!({ "body": body })), Again::No).await?.read()
    }

    /// Replaces a comment's text. Sent once only: before it is sent again its caller has to look whether a newer run has
    /// written in between.
    ///
    /// # Errors
    /// GitHub's refusal; [`Refusal::NotFound`] where it was deleted.
    pub async fn replace_comment(&self, id: u64, body: &str) -> Result<Comment, Refusal> {
        let route = self.route(&format!("issues/comments/{id}"));
        self.send(Method::Patch, &route, Some(&json!({ "body": body })), Again::No).await?.read()
    }

    /// Removes a comment. One that is gone already is no refusal.
    ///
    /// # Errors
    /// GitHub's refusal.
    pub async fn delete_comment(&self, id: u64) -> Result<(), Refusal> {
        let route = self.route(&format!("issues/comments/{id}"));
        match self.send(Method::Delete, &route, None, Again::Yes).await {
            Ok(_) | Err(Refusal::NotFound) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }

    /// The open issues, the newest first; pull requests are left out.
    ///
    /// # Errors
    /// GitHub's refusal.
    pub async fn open_issues(&self) -> Result<Listing<Issue>, Refusal> {
        let mut listing: Listing<Issue> = self.list(&self.route("issues?state=open")).await?;
        listing.items.retain(|issue| issue.pull_request.is_none());
        Ok(listing)
    }

    /// Opens an issue. Sent once only, as [`GitHub::create_comment`].
    ///
    /// # Errors
    /// GitHub's refusal.
    pub async fn create_issue(&self, fields: &Value) -> Result<Issue, Refusal> {
        self.send(Method::Post, &self.route("issues"), Some(fields), Again::No).await?.read()
    }

    /// Closes an issue that was opened twice at the same moment.
    ///
    /// # Errors
    /// GitHub's refusal.
    pub async fn close_issue(&self, number: Number) -> Result<(), Refusal> {
        let fields = json!({"state": "closed", "state_reason": "not_planned"});
        let route = self.route(&format!("issues/{}", number.0));
        self.send(Method::Patch, &route, Some(&fields), Again::Yes).await.map(|_| ())
    }

    /// The pull requests that a commit belongs to.
    ///
    /// # Errors
    /// GitHub's refusal.
    pub async fn pulls_of_commit(&self, sha: &str) -> Result<Vec<Pull>, Refusal> {
        let listing = self.list(&self.route(&format!("commits/{}/pulls", encode(sha)))).await?;
        if listing.complete { Ok(listing.items) } else { Err(Refusal::TooMany) }
    }

    /// The open pull requests of a branch, which may be a fork's.
    ///
    /// # Errors
    /// GitHub's refusal.
    pub async fn pulls_of_branch(&self, owner: &str, branch: &str) -> Result<Vec<Pull>, Refusal> {
        let head = encode(&format!("{owner}:{branch}"));
        let listing = self.list(&self.route(&format!("pulls?state=open&head={head}"))).await?;
        if listing.complete { Ok(listing.items) } else { Err(Refusal::TooMany) }
    }

    /// The first commit that touched a path, seen from a commit.
    ///
    /// # Errors
    /// GitHub's refusal.
    pub async fn first_commit_of(&self, path: &str, from: &str) -> Result<Option<String>, Refusal> {
        #[derive(Deserialize)]
        struct Commit {
            sha: String,
        }
        let mut route = format!("commits?path={}&per_page=100", encode(path));
        if !from.is_empty() {
            route.push_str(&format!("&sha={}", encode(from)));
        }
        let mut answer = self.send(Method::Get, &self.route(&route), None, Again::Yes).await?;
        // The newest come first; the oldest is the last one of the last page.
        if let Some(last) = answer.last.filter(|last| *last > 1) {
            answer = self
                .send(Method::Get, &self.route(&format!("{route}&page={last}")), None, Again::Yes)
                .await?;
        }
        Ok(answer.read::<Vec<Commit>>()?.pop().map(|commit| commit.sha))
    }

    /// The files that a commit changed; of a large one the first few hundred.
    ///
    /// # Errors
    /// GitHub's refusal.
    pub async fn files_of_commit(&self, sha: &str) -> Result<Vec<String>, Refusal> {
        #[derive(Deserialize)]
        struct Changed {
            filename: String,
        }
        #[derive(Deserialize)]
        struct Commit {
            #[serde(default)]
            files: Vec<Changed>,
        }
        let route = self.route(&format!("commits/{}", encode(sha)));
        let commit: Commit = self.send(Method::Get, &route, None, Again::Yes).await?.read()?;
        Ok(commit.files.into_iter().map(|file| file.filename).collect())
    }

    /// Who we are, asked once: GraphQL knows it for every token; else REST; else the account of `GITHUB_TOKEN`, which REST
    /// refuses to tell.
    pub async fn identity(&self) -> Identity {
        if let Some(known) = self.identity.get() {
            return known.clone();
        }
        let found = self.ask_identity().await;
        self.identity.get_or_init(|| found).clone()
    }

    async fn ask_identity(&self) -> Identity {
        #[derive(Deserialize)]
        struct Reply {
            data: Option<Data>,
        }
        #[derive(Deserialize)]
        struct Data {
            viewer: Option<User>,
        }
        let certain = |login| Identity { login, doubt: None };
        if let Some((client, route)) = &self.graphql {
            let query = json!({"query": "query { viewer { login } }"});
            let reply = self.once(client, Method::Post, route, Some(&query));
            let reply = tokio::time::timeout(GRAPHQL, reply).await.ok().and_then(Result::ok);
            let reply: Option<Reply> = reply.and_then(|answer| answer.read().ok());
            if let Some(viewer) =
                reply.and_then(|reply| reply.data?.viewer).filter(|viewer| !viewer.login.is_empty())
            {
                return certain(viewer.login);
            }
        }
        let user: Result<User, Refusal> =
            self.send(Method::Get, "/user", None, Again::Yes).await.and_then(|answer| answer.read());
        match user {
            Ok(user) if !user.login.is_empty() => certain(user.login),
            Ok(_) => certain(ACTIONS_BOT.to_owned()),
            Err(refusal) => {
                let doubt = Some(refusal).filter(Refusal::is_passing);
                Identity { login: ACTIONS_BOT.to_owned(), doubt }
            }
        }
    }

    /// Waits for the next try of something that may not be sent twice. False where no further try is due.
    pub(super) async fn wait(&self, refusal: &Refusal, tries: u32) -> bool {
        tries < super::TRIES && refusal.is_passing() && self.pause(refusal, tries).await
    }

    /// Lets others that write at the same moment finish.
    pub(super) async fn settle(&self) {
        let jitter = getrandom::u32().map_or(0, |random| u64::from(random % 200));
        tokio::time::sleep(Duration::from_millis(300 + jitter).min(self.left())).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_is_told_by_login_and_kind() {
        let user = |login: &str, kind: &str| Some(User { login: login.to_owned(), kind: kind.to_owned() });
        let of = |login: &str| Identity { login: login.to_owned(), doubt: None };
        let bot = of("github-actions");
        assert!(bot.is(user("github-actions[bot]", "Bot").as_ref()));
        assert!(!bot.is(user("github-actions[bot]", "User").as_ref()));
        assert!(of(ACTIONS_BOT).is(user(ACTIONS_BOT, "Bot").as_ref()));
        assert!(!of(ACTIONS_BOT).is(user(ACTIONS_BOT, "User").as_ref()));
        assert!(!of("octo").is(user("Octo2", "User").as_ref()));
        assert!(!bot.is(None));
    }
}
