//! What an artifact says of the deployment that it is about: the digest of a template, and a commit. A gate that passed another
//! template than the one that was deployed has proven nothing.

use serde_json::Value;

use super::{AUTHORIZATION_FILE, GATE_FILE, STATE_FILE};
use crate::escape::cut;
use crate::json;

/// Keys of a template's digest: of the file's object, or below `template`.
const TEMPLATE_KEYS: [&str; 4] = ["templateDigest", "template_digest", "templateSha256", "template_sha256"];
const IN_TEMPLATE_KEYS: [&str; 2] = ["digest", "sha256"];
/// Keys of a commit: of the file's object, or below `trigger`, where git-ape's authorization has it.
const COMMIT_KEYS: [&str; 3] = ["commit", "commitSha", "commit_sha"];
/// Keys that are used for other things too: what they hold counts where it has the shape of a SHA-256 (Azure's own template
/// hash has not), or of a commit.
const LOOSE_TEMPLATE_KEYS: [&str; 2] = ["templateHash", "template_hash"];
const LOOSE_COMMIT_KEYS: [&str; 5] = ["sha", "commitId", "commit_id", "gitCommit", "git_commit"];
/// A shorter abbreviation of a commit is none: as git's own least is, in practice.
const ABBREVIATED: usize = 7;
/// No digest or commit is longer; what is kept of a longer text equals nothing.
const LENGTH: usize = 200;

/// What a file names. Where it names several of a kind they have to agree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// Templates, as the file writes them.
    pub templates: Vec<String>,
    /// Commits, as the file writes them.
    pub commits: Vec<String>,
}

impl About {
    /// Reads the file's object. A value that is no text equals nothing.
    #[must_use]
    pub fn read(file: &Value) -> Self {
        let of = |object: &Value, keys: &[&str]| -> Vec<String> {
            keys.iter().filter_map(|key| text(json::present(object, key)?)).collect()
        };
        let both = |keys: &[&str], below: &str, keys_below: &[&str]| {
            let mut all = of(file, keys);
            all.extend(json::present(file, below).map(|below| of(below, keys_below)).unwrap_or_default());
            all
        };
        let loose = |keys: &[&str], shape: fn(&str) -> bool| {
            of(file, keys).into_iter().filter(move |text| shape(text)).collect::<Vec<_>>()
        };
        let mut templates = both(&TEMPLATE_KEYS, "template", &IN_TEMPLATE_KEYS);
        templates.extend(loose(&LOOSE_TEMPLATE_KEYS, is_sha256));
        let mut commits = both(&COMMIT_KEYS, "trigger", &COMMIT_KEYS);
        commits.extend(loose(&LOOSE_COMMIT_KEYS, is_commit));
        Self { templates, commits }
    }
}

fn is_sha256(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let hex = text.strip_prefix("sha256:").unwrap_or(&text);
    hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Of SHA-1 or SHA-256, whole or abbreviated.
fn is_commit(text: &str) -> bool {
    (ABBREVIATED..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The text of a value. A digest may also be an object, algorithm → value, as in-toto writes it.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(cut(text.trim(), LENGTH)),
        Value::Object(digests) => match digests.get("sha256") {
            Some(hex @ Value::String(_)) => text(hex),
            Some(_) | None => Some(odd(value)),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => Some(odd(value)),
    }
}

/// What is no text can be no digest and no commit, whatever its digits.
fn odd(value: &Value) -> String {
    format!("no text: {}", cut(&value.to_string(), LENGTH))
}

/// Which artifact names something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Artifact {
    /// The security gate's.
    Gate,
    /// The authorization's.
    Authorization,
    /// The deployment's own.
    State,
}

impl Artifact {
    /// Its file.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Gate => GATE_FILE,
            Self::Authorization => AUTHORIZATION_FILE,
            Self::State => STATE_FILE,
        }
    }
}

/// Which thing a file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thing {
    /// The template.
    Template,
    /// The commit.
    Commit,
}

impl Thing {
    /// The id in reports.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Template => "template",
            Self::Commit => "commit",
        }
    }
}

/// Whether what a file names is what was deployed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tied {
    /// It is.
    Same,
    /// It is another.
    Other,
    /// The file names none: nothing ties it to what was deployed.
    Unnamed,
    /// It names one, but what was deployed is not known.
    Unknown,
}

impl Tied {
    /// The id in reports.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Other => "other",
            Self::Unnamed => "unnamed",
            Self::Unknown => "unknown",
        }
    }
}

/// One comparison of what an artifact names with what was deployed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tie {
    /// The artifact.
    pub artifact: Artifact,
    /// What is compared.
    pub thing: Thing,
    /// What came of it.
    pub tied: Tied,
    /// What the artifact names.
    pub named: Option<String>,
    /// What was deployed, where the artifact names something to compare it with.
    pub deployed: Option<String>,
}

/// What is known of what was deployed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deployed {
    /// Digests by which the template in the folder goes: of its bytes, and of those with the other line breaks, since git may
    /// have changed them. `sha256:…`, the first one is shown.
    pub template: Vec<String>,
    /// The commit.
    pub commit: Option<String>,
}

impl Deployed {
    /// Compares what an artifact names.
    #[must_use]
    pub fn compare(&self, artifact: Artifact, about: &About) -> [Tie; 2] {
        let is_template = |named: &str| self.template.iter().any(|digest| same_digest(named, digest));
        let is_commit = |named: &str| self.commit.as_deref().is_some_and(|commit| same_commit(named, commit));
        let tie = |thing, named: &[String], deployed: Option<&String>, is: &dyn Fn(&str) -> bool| {
            let other = named.iter().find(|named| !is(named));
            let tied = match (named, deployed, other) {
                ([], _, _) => Tied::Unnamed,
                (_, None, _) => Tied::Unknown,
                (_, Some(_), None) => Tied::Same,
                (_, Some(_), Some(_)) => Tied::Other,
            };
            // The one that is wrong, where one is. What nobody names is compared with nothing.
            let shown = other.or(named.first());
            let deployed = deployed.filter(|_| shown.is_some()).cloned();
            Tie { artifact, thing, tied, named: shown.cloned(), deployed }
        };
        [
            tie(Thing::Template, &about.templates, self.template.first(), &is_template),
            tie(Thing::Commit, &about.commits, self.commit.as_ref(), &is_commit),
        ]
    }
}

/// `sha256:` may be left out; case does not matter.
fn same_digest(named: &str, digest: &str) -> bool {
    let named = named.to_ascii_lowercase();
    let hex = named.strip_prefix("sha256:").unwrap_or(&named);
    digest.strip_prefix("sha256:").unwrap_or(digest) == hex
}

/// One is the other, or an abbreviation of it.
fn same_commit(named: &str, deployed: &str) -> bool {
    let (named, deployed) = (named.to_ascii_lowercase(), deployed.to_ascii_lowercase());
    is_commit(&named)
        && is_commit(&deployed)
        && (named.starts_with(&deployed) || deployed.starts_with(&named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn about(file: Value) -> (Vec<String>, Vec<String>) {
        let about = About::read(&file);
        (about.templates, about.commits)
    }

    #[test]
    fn a_template_and_a_commit_are_found_under_their_names() {
        let both = (vec!["sha256:aa".to_owned()], vec!["abc1234".to_owned()]);
        assert_eq!(about(json!({"templateDigest": "sha256:aa", "commit": "abc1234"})), both);
        assert_eq!(
            about(json!({"template": {"digest": "sha256:aa"}, "trigger": {"commitSha": "abc1234"}})),
            both
        );
        assert_eq!(about(json!({"template_sha256": " sha256:aa ", "commit_sha": "abc1234"})), both);
        assert_eq!(about(json!({"templateDigest": {"sha256": " sha256:aa"}, "commitSha": "abc1234"})), both);
        assert_eq!(
            about(json!({"templateDigest": 5, "commit": null})),
            (vec!["no text: 5".to_owned()], vec![])
        );
        assert_eq!(about(json!({"templateDigest": "", "template": "x.json"})), (vec![], vec![]));
        assert_eq!(about(json!({"templateDigest": {"sha256": ""}})), (vec![], vec![]));
        let hash = "ab".repeat(32);
        assert_eq!(
            about(json!({"templateHash": hash, "sha": "abc1234"})),
            (vec![hash], vec!["abc1234".to_owned()])
        );
        assert_eq!(
            about(json!({"templateHash": "14385947302283", "sha": "main", "revision": 5})),
            (vec![], vec![])
        );
        assert_eq!(about(json!({"templateDigest": "a", "template": {"sha256": "b"}})).0, ["a", "b"]);
    }

    #[test]
    fn what_is_named_is_the_same_or_another_or_not_known() {
        let deployed = Deployed {
            template: vec!["sha256:aa01".to_owned(), "sha256:bb02".to_owned()],
            commit: Some("abc1234def".to_owned()),
        };
        let compare = |deployed: &Deployed, templates: &[&str], commits: &[&str]| {
            let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let about = About { templates: all(templates), commits: all(commits) };
            deployed.compare(Artifact::Gate, &about)
        };
        let tied = |deployed: &Deployed, templates: &[&str], commits: &[&str]| {
            compare(deployed, templates, commits).map(|tie| tie.tied)
        };
        assert_eq!(tied(&deployed, &["SHA256:AA01"], &["ABC1234"]), [Tied::Same, Tied::Same]);
        assert_eq!(tied(&deployed, &["bb02", "aa01"], &["abc1234def00"]), [Tied::Same, Tied::Same]);
        assert_eq!(tied(&deployed, &["sha256:cc03"], &["abc12"]), [Tied::Other, Tied::Other]);
        assert_eq!(tied(&deployed, &["sha256:sha256:aa01"], &["abc1234 (main)"]), [Tied::Other, Tied::Other]);
        assert_eq!(tied(&deployed, &["aa01", "cc03"], &["abc1234", "fffffff"]), [Tied::Other, Tied::Other]);
        assert_eq!(compare(&deployed, &["aa01", "cc03"], &[])[0].named.as_deref(), Some("cc03"));
        assert_eq!(tied(&deployed, &[], &[]), [Tied::Unnamed, Tied::Unnamed]);
        assert_eq!(tied(&Deployed::default(), &["aa01"], &["abc1234"]), [Tied::Unknown, Tied::Unknown]);
    }
}
