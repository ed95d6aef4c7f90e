//! GitHub: octocrab inside, our own types outside.
//!
//! octocrab is used for its connection, its headers and its authentication. Its models, its paging and its retries are not:
//! one comment without an author fails its whole list, and its retry of a POST makes a second comment (both with 0.54.9).
//! So answers are small structs of our own, and what is tried again is decided here.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Limited};
use octocrab::Octocrab;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::escape::percent;
use crate::secrets::Token;

pub mod api;
pub mod comment;
pub mod pull_request;
pub mod refusal;
pub mod tracking_issue;

pub use refusal::Refusal;

/// Time to connect.
const CONNECT: Duration = Duration::from_secs(5);
/// Time for one read, and for one write.
const TRANSFER: Duration = Duration::from_secs(10);
/// Time for one request with its answer.
const REQUEST: Duration = Duration::from_secs(20);
/// Tries of one request, the first one included.
const TRIES: u32 = 3;
/// An answer that is larger is refused.
const ANSWER_CAP: usize = 32 << 20;
/// GitHub asks for at least this pause where it names none after too many requests.
const RATE_PAUSE: Duration = Duration::from_secs(60);

/// The number of a pull request or issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number(pub u64);

/// `owner/name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository(String);

impl Repository {
    /// A repository, if the text names one.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let fits = |part: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            !part.is_empty() && part.bytes().all(plain) && part.bytes().any(|byte| byte != b'.')
        };
        let (owner, name) = text.split_once('/')?;
        (fits(owner) && fits(name)).then(|| Self(text.to_owned()))
    }

    /// GitHub's names do not depend on case.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.0.eq_ignore_ascii_case(name)
    }
}

/// Where the API is, and who asks.
#[derive(Debug, Clone)]
pub struct Access {
    /// `GITHUB_API_URL`.
    pub api_url: String,
    /// `GITHUB_GRAPHQL_URL`; without it only REST is used.
    pub graphql_url: Option<String>,
    /// The repository.
    pub repository: Repository,
    /// The token.
    pub token: Token,
}

/// A connection to GitHub with one deadline for everything.
pub struct GitHub {
    rest: Octocrab,
    graphql: Option<(Octocrab, String)>,
    repository: Repository,
    identity: OnceLock<api::Identity>,
    deadline: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Get,
    Post,
    Patch,
    Delete,
}

/// Whether a request may be sent again after it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    /// It may: sent twice it does the same as once.
    Yes,
    /// Only its caller knows whether the first one was carried out.
    No,
}

/// An answer that is no refusal.
struct Answer {
    bytes: Vec<u8>,
    /// There is a next page.
    next: bool,
    /// The number of the last page, where there are several.
    last: Option<u32>,
}

impl Answer {
    fn read<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        serde_json::from_slice(&self.bytes).map_err(|_| Refusal::Unreadable)
    }
}

impl GitHub {
    /// Connects lazily: nothing is sent yet. Must be called inside of a tokio runtime.
    ///
    /// # Errors
    /// An address that is none, or no root certificates.
    pub fn new(access: &Access, deadline: Instant) -> Result<Self, Refusal> {
        let client = |base: &str| {
            let builder = Octocrab::builder()
                .base_uri(base.trim_end_matches('/'))
                .map_err(|_| Refusal::Setup("the address of the API cannot be read"))?
                .personal_token(access.token.reveal().to_owned())
                .set_connect_timeout(Some(CONNECT))
                .set_read_timeout(Some(TRANSFER))
                .set_write_timeout(Some(TRANSFER));
            builder.build().map_err(|_| Refusal::Setup("no root certificates were found; set SSL_CERT_FILE"))
        };
        // The base of octocrab's requests keeps its path, and GraphQL has another one than REST.
        let graphql = access.graphql_url.as_deref().and_then(|url| {
            let start = url.find("://")? + 3;
            let (base, route) = url.split_at(start + url.get(start..)?.find('/')?);
            Some((client(base).ok()?, route.to_owned()))
        });
        let (rest, repository) = (client(&access.api_url)?, access.repository.clone());
        Ok(Self { rest, graphql, repository, identity: OnceLock::new(), deadline })
    }

    /// The repository.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    fn route(&self, rest: &str) -> String {
        format!("/repos/{}/{rest}", self.repository.0)
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Sends a request, and sends it again where that is allowed and fits.
    async fn send(
        &self,
        method: Method,
        route: &str,
        body: Option<&Value>,
        again: Again,
    ) -> Result<Answer, Refusal> {
        let mut tries = 0;
        loop {
            tries += 1;
            let refusal = match self.once(&self.rest, method, route, body).await {
                Ok(answer) => return Ok(answer),
                Err(refusal) => refusal,
            };
            tracing::debug!(?method, route, tries, word = refusal.word(), "refused");
            let may = again == Again::Yes && tries < TRIES && refusal.is_passing();
            if !may || !self.pause(&refusal, tries).await {
                return Err(refusal);
            }
        }
    }

    /// Waits as long as the refusal asks for. False where that does not fit before the deadline.
    async fn pause(&self, refusal: &Refusal, tries: u32) -> bool {
        let own = Duration::from_secs(1 << tries.saturating_sub(1).min(4));
        let pause = refusal.pause().unwrap_or(own);
        let jitter = Duration::from_millis(getrandom::u32().map_or(0, |random| u64::from(random % 250)));
        if pause + jitter + Duration::from_millis(500) > self.left() {
            return false;
        }
        tokio::time::sleep(pause + jitter).await;
        true
    }

    async fn once(
        &self,
        client: &Octocrab,
        method: Method,
        route: &str,
        body: Option<&Value>,
    ) -> Result<Answer, Refusal> {
        let request = async {
            let response = match method {
                Method::Get => client._get(route).await,
                Method::Post => client._post(route, body).await,
                Method::Patch => client._patch(route, body).await,
                Method::Delete => client._delete(route, body).await,
            };
            let response = response.map_err(|error| refusal::of_error(&error))?;
            let status = response.status().as_u16();
            let header = |name: &str| {
                let value = response.headers().get(name).and_then(|value| value.to_str().ok());
                value.map(str::to_owned)
            };
            let link = header("link").unwrap_or_default();
            let retry_after = header("retry-after").and_then(|seconds| seconds.trim().parse().ok());
            let exhausted = header("x-ratelimit-remaining").as_deref() == Some("0");
            let body = Limited::new(response.into_body(), ANSWER_CAP).collect().await;
            let bytes = body.map_err(|_| Refusal::Broken)?.to_bytes().to_vec();
            if (200..300).contains(&status) {
                return Ok(Answer { bytes, next: link.contains("rel=\"next\""), last: last_page(&link) });
            }
            Err(refusal::of_answer(status, &bytes, retry_after.map(Duration::from_secs), exhausted))
        };
        let time = REQUEST.min(self.left());
        tokio::time::timeout(time, request).await.unwrap_or(Err(Refusal::Timeout))
    }
}

/// The number of the page that a `Link` header calls the last one (RFC 8288).
fn last_page(link: &str) -> Option<u32> {
    let last = link.split(',').find(|part| part.contains("rel=\"last\""))?;
    let address = last.split('<').nth(1)?.split('>').next()?;
    let query = address.split('?').nth(1)?;
    query.split('&').find_map(|pair| pair.strip_prefix("page="))?.parse().ok()
}

/// Percent-encodes a text as a value in a query or a segment of a path.
fn encode(text: &str) -> String {
    percent(text, |byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_an_owner_and_a_name() {
        assert!(Repository::of("octo/orders").is_some_and(|repository| repository.is("Octo/Orders")));
        for bad in ["", "octo", "octo/", "/orders", "octo/or/ders", "octo/or?ders", "../..", "o/..", "o/ r"] {
            assert_eq!(Repository::of(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_last_page_is_read_from_the_links() {
        let link = "<https://api.github.example/x?per_page=100&page=2>; rel=\"next\", \
                    <https://api.github.example/x?per_page=100&page=7>; rel=\"last\"";
        assert_eq!(last_page(link), Some(7));
        assert_eq!(last_page(""), None);
        assert_eq!(encode("a b/ü"), "a%20b%2F%C3%BC");
    }
}
