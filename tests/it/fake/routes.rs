//! What the fake GitHub answers.

use serde_json::{Value, json};

use super::state::{Issue, REPOSITORY, State, Viewer};
use super::{Account, Comment, Reply, Request};

impl State {
    /// `base` is the address that was asked, for the links to other pages.
    pub(super) fn handle(&mut self, request: &Request, base: &str) -> Reply {
        if request.path == "graphql" {
            return self.graphql(request);
        }
        if request.path == "/user" {
            return match &self.user {
                Some(login) => Reply::json(200, &json!({"login": login, "type": "User"})),
                None => Reply::message(403, "Resource not accessible by integration"),
            };
        }
        let Some(rest) = request.path.strip_prefix(&format!("/repos/{REPOSITORY}/")) else {
            return self.unexpected(request);
        };
        let parts: Vec<&str> = rest.split('/').collect();
        let number = |text: &str| text.parse::<u64>().unwrap_or_default();
        match (request.method.as_str(), parts.as_slice()) {
            ("GET", ["issues", n, "comments"]) => {
                let all = self.comments(number(n)).iter().map(|comment| show(comment, number(n))).collect();
                page(request, base, all)
            }
            ("POST", ["issues", n, "comments"]) => {
                let body = text(&request.body, "body");
                if let Some(refusal) = too_long(&body) {
                    return refusal;
                }
                let id = self.say(number(n), Some(self.author.clone()), &body);
                let comment = self.find(id).unwrap();
                Reply::json(201, &show(comment, number(n)))
            }
            ("GET", ["issues", "comments", id]) => match self.find(number(id)) {
                Some(comment) => Reply::json(200, &show(comment, 0)),
                None => Reply::message(404, "Not Found"),
            },
            ("PATCH", ["issues", "comments", id]) => {
                let body = text(&request.body, "body");
                if let Some(refusal) = too_long(&body) {
                    return refusal;
                }
                let Some(comment) = self.find(number(id)) else { return Reply::message(404, "Not Found") };
                comment.body = body;
                Reply::json(200, &show(comment, 0))
            }
            ("DELETE", ["issues", "comments", id]) => match self.delete(number(id)) {
                true => Reply::json(204, &Value::Null),
                false => Reply::message(404, "Not Found"),
            },
            ("GET", ["issues"]) => {
                assert_eq!(request.query("state"), Some("open"));
                let open = self.issues.iter().rev().filter(|issue| issue.open).map(show_issue);
                let pulls = self.pulls.iter().map(|pull| {
                    json!({"number": pull["number"], "body": "x", "user": null, "pull_request": {"url": "x"}})
                });
                page(request, base, open.chain(pulls).collect())
            }
            ("POST", ["issues"]) => self.open_issue(&request.body),
            ("PATCH", ["issues", n]) => match self.issues.iter_mut().find(|i| i.number == number(n)) {
                Some(issue) => {
                    issue.open = request.body["state"] == "open";
                    Reply::json(200, &show_issue(issue))
                }
                None => Reply::message(404, "Not Found"),
            },
            ("GET", ["commits", sha, "pulls"]) => match self.commits.get(*sha) {
                Some(pulls) => page(request, base, pulls.clone()),
                None => Reply::message(422, "No commit found for SHA"),
            },
            ("GET", ["commits", sha]) => match self.files.get(*sha) {
                Some(files) => {
                    let files: Vec<Value> = files.iter().map(|name| json!({"filename": name})).collect();
                    Reply::json(200, &json!({"sha": sha, "files": files}))
                }
                None => Reply::message(404, "Not Found"),
            },
            ("GET", ["commits"]) => {
                let commits = self.history.get(request.query("path").unwrap_or_default());
                let commits = commits.into_iter().flatten().map(|sha| json!({ "sha": sha })).collect();
                page(request, base, commits)
            }
            ("GET", ["pulls"]) => {
                let (owner, branch) = request.query("head").and_then(|head| head.split_once(':')).unwrap();
                assert_eq!(request.query("state"), Some("open"));
                let fits = |pull: &&Value| {
                    pull["head"]["owner"] == owner && pull["head"]["ref"] == branch && pull["state"] == "open"
                };
                page(request, base, self.pulls.iter().filter(fits).cloned().collect())
            }
            _ => self.unexpected(request),
        }
    }

    fn unexpected(&mut self, request: &Request) -> Reply {
        self.unexpected.push(request.line());
        Reply::message(404, "Not Found")
    }

    fn graphql(&mut self, request: &Request) -> Reply {
        if !text(&request.body, "query").contains("viewer") {
            return self.unexpected(request);
        }
        match &self.viewer {
            Viewer::Is(login) => Reply::json(200, &json!({"data": {"viewer": {"login": login}}})),
            Viewer::Absent => Reply::message(404, "Not Found"),
        }
    }

    fn open_issue(&mut self, fields: &Value) -> Reply {
        let list = |name: &str| -> Vec<String> {
            let values = fields[name].as_array().cloned().unwrap_or_default();
            values.iter().map(|value| value.as_str().unwrap().to_owned()).collect()
        };
        let (labels, assignees) = (list("labels"), list("assignees"));
        if let (Some(status), false) = (self.no_labels, labels.is_empty() && assignees.is_empty()) {
            return Reply::message(status, "Validation Failed");
        }
        let body = text(fields, "body");
        if let Some(refusal) = too_long(&body) {
            return refusal;
        }
        let (number, author) = (self.id(), self.author.clone());
        let issue =
            Issue { number, title: text(fields, "title"), body, author, open: true, labels, assignees };
        let reply = Reply::json(201, &show_issue(&issue));
        self.issues.push(issue);
        reply
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn too_long(body: &str) -> Option<Reply> {
    let long = body.encode_utf16().count() > 65_536;
    long.then(|| Reply::message(422, "Validation Failed: body is too long (maximum is 65536 characters)"))
}

fn account(author: &Account) -> Value {
    json!({"login": author.0, "type": author.1, "id": 1, "node_id": "x"})
}

fn show(comment: &Comment, number: u64) -> Value {
    json!({
        "id": comment.id, "body": comment.body, "user": comment.author.as_ref().map(account),
        "html_url": format!("https://github.example/{REPOSITORY}/pull/{number}#issuecomment-{}", comment.id),
        "author_association": "A_NEW_WORD", "performed_via_github_app": null,
    })
}

fn show_issue(issue: &Issue) -> Value {
    json!({
        "number": issue.number, "title": issue.title, "body": issue.body, "user": account(&issue.author),
        "state": if issue.open { "open" } else { "closed" }, "state_reason": "a_new_word",
        "html_url": format!("https://github.example/{REPOSITORY}/issues/{}", issue.number),
    })
}

/// A page of a list, with the links that GitHub gives.
fn page(request: &Request, base: &str, all: Vec<Value>) -> Reply {
    let number = |name: &str, default: usize| {
        request.query(name).and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let (size, at) = (number("per_page", 30).clamp(1, 100), number("page", 1).max(1));
    let last = all.len().div_ceil(size).max(1);
    let shown: Vec<Value> = all.into_iter().skip((at - 1) * size).take(size).collect();
    let mut reply = Reply::json(200, &Value::from(shown));
    if at < last {
        let link = |to: usize, rel: &str| format!("<{base}?per_page={size}&page={to}>; rel=\"{rel}\"");
        let links = format!("{}, {}", link(at + 1, "next"), link(last, "last"));
        reply.headers.push(("link".to_owned(), links));
    }
    reply
}
