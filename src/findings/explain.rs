//! What a finding means, for people. The one source of the command `explain`, of `docs/findings.md` and of the help in a
//! SARIF log.

use crate::conformance::sequence::Code;
use crate::message::near;
use crate::verdict::FindingId;

mod texts;

/// What a finding means, shown by an example, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    /// What it says of the deployment, and why that matters.
    pub meaning: &'static str,
    /// A case of it.
    pub example: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

/// Explains a finding. Its one-line summary is [`FindingId::summary`].
#[must_use]
pub fn explain(id: FindingId) -> Explanation {
    texts::of(id)
}

/// The findings that stand for one of git-ape's codes, the usual one first.
#[must_use]
pub fn of_code(code: Code) -> &'static [FindingId] {
    match code {
        Code::InvalidTraceSchema => &[FindingId::TraceCorrupt],
        Code::GraphDigestMismatch => &[FindingId::TraceMismatch],
        Code::UndeclaredNode => &[FindingId::UndeclaredState],
        Code::UndeclaredTransition => &[FindingId::UndeclaredTransition],
        Code::MissingRequiredEvidence => &[FindingId::EvidenceRequired],
        Code::MissingRequiredNode | Code::MissingSuccessTerminal => {
            &[FindingId::StateMissing, FindingId::StateFailed, FindingId::BelowFullCoverage]
        }
        Code::InvalidSuccessTerminal => &[FindingId::IncompleteWorkflow],
        Code::InvalidEntryNode
        | Code::InvalidEventSequence
        | Code::TransitionNodeMismatch
        | Code::MissingFailedTerminal => &[FindingId::EventSequence],
    }
}

/// git-ape's codes that a finding may carry.
pub fn codes(id: FindingId) -> impl Iterator<Item = Code> {
    Code::ALL.into_iter().filter(move |code| of_code(*code).contains(&id))
}

/// What a person asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A finding.
    Finding(FindingId),
    /// One of git-ape's codes.
    Code(Code),
    /// Neither; the ids and codes that look most like it, at most three.
    Unknown(Vec<&'static str>),
}

/// Understands a name. Case does not matter, and `_` and `-` are alike.
#[must_use]
pub fn find(name: &str) -> Asked {
    let plain = |name: &str| name.trim().to_lowercase().replace('_', "-");
    let wanted = plain(name);
    if let Some(id) = FindingId::ALL.iter().find(|id| id.id() == wanted) {
        return Asked::Finding(*id);
    }
    if let Some(code) = Code::ALL.into_iter().find(|code| plain(code.id()) == wanted) {
        return Asked::Code(code);
    }
    let known = FindingId::ALL.iter().map(|id| id.id()).chain(Code::ALL.into_iter().map(Code::id));
    Asked::Unknown(near(name, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_whole_sentences_in_plain_text() {
        for id in FindingId::ALL {
            let Explanation { meaning, example, remedy } = explain(*id);
            for text in [id.summary(), meaning, example, remedy] {
                assert!(text.ends_with('.') && text.trim() == text && text.len() > 5, "{}: {text}", id.id());
                assert!(!text.contains(['\n', '<', '|', '*']) && !text.contains("  "), "{}: {text}", id.id());
                assert_eq!(text.matches('`').count() % 2, 0, "{}: {text}", id.id());
            }
            assert!(id.summary().len() <= 100, "{}", id.id());
        }
    }

    #[test]
    fn a_name_is_found_however_it_is_written() {
        for name in ["state-missing", "STATE_MISSING", " State-Missing "] {
            assert_eq!(find(name), Asked::Finding(FindingId::StateMissing));
        }
        for name in ["GRAPH_DIGEST_MISMATCH", "graph-digest-mismatch"] {
            assert_eq!(find(name), Asked::Code(Code::GraphDigestMismatch));
        }
    }

    #[test]
    fn what_is_not_known_has_its_neighbours_named() {
        let near = |name: &str| match find(name) {
            Asked::Unknown(near) => near,
            other @ (Asked::Finding(_) | Asked::Code(_)) => panic!("{other:?}"),
        };
        assert_eq!(near("state-mising").first(), Some(&"state-missing"));
        assert_eq!(near("retries").first(), Some(&"retry"));
        assert_eq!(near("UNDECLARED_NOD").first(), Some(&"UNDECLARED_NODE"));
        assert_eq!(near("xyzzy"), Vec::<&str>::new());
        assert_eq!(near(""), Vec::<&str>::new());
    }

    #[test]
    fn no_code_is_left_out() {
        let codes: std::collections::BTreeSet<&str> = Code::ALL.iter().map(|code| code.id()).collect();
        assert_eq!(codes.len(), 12);
        assert_eq!(codes_of_all(), codes);
    }

    fn codes_of_all() -> std::collections::BTreeSet<&'static str> {
        FindingId::ALL.iter().flat_map(|id| super::codes(*id)).map(Code::id).collect()
    }
}
