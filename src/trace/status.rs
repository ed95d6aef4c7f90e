//! Status words, and what several of them in one record amount to.

use std::borrow::Cow;

/// What became of a state, from best to worst: of several in one record the worst counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// It was done. Nothing else covers a state.
    Completed,
    /// It began.
    Started,
    /// It was left out.
    Skipped,
    /// A word outside of the table.
    Unknown,
    /// It did not succeed: failed, blocked, denied, cancelled, ran out of time.
    Failed,
    /// It broke.
    Error,
}

impl Status {
    /// The word of our own for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Started => "started",
            Self::Skipped => "skipped",
            Self::Unknown => "unknown",
            Self::Failed => "failed",
            Self::Error => "error",
        }
    }

    /// `error` counts wherever `failed` does.
    #[must_use]
    pub fn is_failure(self) -> bool {
        match self {
            Self::Failed | Self::Error => true,
            Self::Completed | Self::Started | Self::Skipped | Self::Unknown => false,
        }
    }

    /// The status that a whole text stands for, if it is a word of the table. Case does not matter; hyphens,
    /// underscores and blanks are alike.
    #[must_use]
    pub fn of_word(text: &str) -> Option<Self> {
        // Longest word of the table: `not_applicable`. All are ASCII, so bytes are enough, and they need no allocation.
        let text = text.trim().as_bytes();
        let mut room = [0; 14];
        let word = room.get_mut(..text.len())?;
        for (byte, own) in word.iter_mut().zip(text) {
            *byte = if matches!(own, b'-' | b' ') { b'_' } else { own.to_ascii_lowercase() };
        }
        Some(match &*word {
            b"completed" | b"complete" | b"passed" | b"pass" | b"succeeded" | b"success" | b"ok"
            | b"done" | b"approved" | b"confirmed" | b"evaluated" | b"validated" | b"overridden"
            | b"true" => Self::Completed,
            b"failed" | b"fail" | b"failure" | b"blocked" | b"rejected" | b"denied" | b"unhealthy"
            | b"timeout" | b"timed_out" | b"cancelled" | b"canceled" | b"aborted" | b"declined"
            | b"false" => Self::Failed,
            b"skipped" | b"skip" | b"not_run" | b"not_applicable" | b"n/a" | b"none" => Self::Skipped,
            b"started" | b"start" | b"running" | b"in_progress" | b"pending" | b"queued" | b"delegated" => {
                Self::Started
            }
            b"error" | b"errored" | b"exception" | b"crashed" => Self::Error,
            _ => return None,
        })
    }

    /// What a free text beside a status says against it: `rejected-no-pull-request` is a rejection, `draft` and
    /// `2 medium findings` are nothing. `None` where it says nothing.
    #[must_use]
    pub fn of_free_text(text: &str) -> Option<Self> {
        match Self::of_first_word(text) {
            // "error budget kept" and "started late" are no status unless that word is all there is.
            Some(Self::Started | Self::Error) => Self::of_word(text),
            other => other,
        }
    }

    /// As [`Status::of_free_text`], but a first word of the started and error rows counts as well: the `result` of a
    /// git-ape node.
    #[must_use]
    pub fn of_first_word(text: &str) -> Option<Self> {
        match Self::of_word(text) {
            Some(Self::Completed) => return None,
            Some(worse) => return Some(worse),
            None => {}
        }
        let first = first_word(text);
        match Self::of_word(first) {
            // "none of the findings block" says nothing of the state.
            Some(Self::Skipped) if first.eq_ignore_ascii_case("none") => None,
            Some(Self::Completed) | None => None,
            worse => worse,
        }
    }

    /// The word is the one by which a person overrides a gate.
    #[must_use]
    pub fn is_override(text: &str) -> bool {
        // As `first_word`, which would run through a long text to that word's end.
        const WORD: &str = "overridden";
        let from_first = text.trim_start_matches(|c: char| !c.is_alphanumeric());
        let Some((head, rest)) = from_first.split_at_checked(WORD.len()) else { return false };
        head.eq_ignore_ascii_case(WORD) && !rest.starts_with(char::is_alphanumeric)
    }
}

/// The first word of a text, whatever sign stands before it: `❌ BLOCKED` is blocked.
fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or("")
}

/// What a record says of its status, key by key. Absent is absent or null.
#[derive(Debug, Default)]
pub(crate) struct Said<'a> {
    /// `status`, `outcome`: words that must be of the table.
    pub(crate) words: [Option<Word<'a>>; 2],
    /// `result`: a word where it stands alone, free text beside a status.
    pub(crate) result: Option<Word<'a>>,
    /// `success`.
    pub(crate) success: Option<Word<'a>>,
    /// `level` is `error`.
    pub(crate) level_error: bool,
    /// `action` or `phase`.
    pub(crate) action: Option<Word<'a>>,
    /// `error` is there and not empty.
    pub(crate) error_text: bool,
}

/// The value of a key that bears a status.
#[derive(Debug, Clone)]
pub(crate) enum Word<'a> {
    /// A string.
    Text(Cow<'a, str>),
    /// A bool.
    Bool(bool),
    /// Anything else, which no table has.
    Other,
}

impl Word<'_> {
    fn status(&self) -> Status {
        match self {
            Self::Text(text) => Status::of_word(text).unwrap_or(Status::Unknown),
            Self::Bool(true) => Status::Completed,
            Self::Bool(false) => Status::Failed,
            Self::Other => Status::Unknown,
        }
    }

    fn known(&self) -> Option<Status> {
        Some(self.status()).filter(|status| *status != Status::Unknown)
    }

    /// What it says against another status, where it may be free text.
    fn against(&self) -> Option<Status> {
        match self {
            Self::Text(text) => Status::of_free_text(text),
            Self::Bool(false) => Some(Status::Failed),
            Self::Bool(true) | Self::Other => None,
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Bool(_) | Self::Other => None,
        }
    }
}

/// The verdict over a record's status keys.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Resolved<'a> {
    pub(crate) status: Status,
    pub(crate) unknown_word: Option<Cow<'a, str>>,
    pub(crate) overridden: bool,
    /// The record has no status at all but was an invocation.
    pub(crate) invoked: bool,
}

impl<'a> Said<'a> {
    /// Weighs all keys: the worst counts.
    pub(crate) fn resolve(self) -> Resolved<'a> {
        let mut worst: Option<(Status, Option<&Word<'a>>)> = None;
        let mut take = |status: Status, word| {
            if worst.is_none_or(|(known, _)| status > known) {
                worst = Some((status, word));
            }
        };
        for word in self.words.iter().flatten() {
            take(word.status(), Some(word));
        }
        if let Some(success) = &self.success {
            take(
                if matches!(success, Word::Bool(_)) { success.status() } else { Status::Unknown },
                Some(success),
            );
        }
        if self.level_error {
            take(Status::Error, None);
        }
        let beside = self.words.iter().any(Option::is_some) || self.success.is_some();
        let action = self.action.as_ref().and_then(Word::known);
        // Alone, `result` is the status. Beside one it is free text; so it is beside an action that is a word of the
        // table, unless it is such a word itself.
        let result_alone = match &self.result {
            Some(result) if !beside => (action.is_none() || result.known().is_some()).then_some(result),
            _ => None,
        };
        if let Some(result) = result_alone {
            take(result.status(), Some(result));
        } else if let Some(status) = self.result.as_ref().and_then(Word::against) {
            take(status, self.result.as_ref());
        }
        let any = beside || self.level_error || result_alone.is_some();
        let mut invoked = false;
        if !any && self.error_text {
            take(Status::Failed, None);
            if action == Some(Status::Error) {
                take(Status::Error, self.action.as_ref());
            }
        } else if let Some(status) = action {
            if !any || status.is_failure() {
                take(status, self.action.as_ref());
            }
        } else if !any {
            let action = self.action.as_ref().and_then(Word::text).unwrap_or("");
            if ["delegate", "start", "enter", "begin"].iter().any(|word| action.eq_ignore_ascii_case(word)) {
                take(Status::Started, None);
            } else {
                invoked = action.eq_ignore_ascii_case("skill_invoke");
                take(Status::Completed, None);
            }
        }
        let (status, word) = worst.unwrap_or((Status::Completed, None));
        let unknown_word = match (status, word) {
            (Status::Unknown, Some(Word::Text(text))) => Some(text.clone()),
            (Status::Unknown, Some(Word::Bool(_) | Word::Other)) => Some(Cow::Borrowed("(no text)")),
            _ => None,
        };
        let words = self.words.iter().flatten().chain(&self.result).chain(&self.action);
        let overridden = words.filter_map(Word::text).any(Status::is_override);
        Resolved { status, unknown_word, overridden, invoked }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_match_whatever_their_case_and_joints() {
        for (word, status) in [
            ("Timed Out", Status::Failed),
            ("NOT-RUN", Status::Skipped),
            ("n/a", Status::Skipped),
            ("In_Progress", Status::Started),
            ("Crashed", Status::Error),
            ("overridden", Status::Completed),
        ] {
            assert_eq!(Status::of_word(word), Some(status), "{word}");
        }
        assert_eq!(Status::of_word("completed successfully"), None);
        assert_eq!(Status::of_word(""), None);
    }

    #[test]
    fn free_text_speaks_only_against_a_status() {
        assert_eq!(Status::of_free_text("rejected-no-pull-request"), Some(Status::Failed));
        assert_eq!(Status::of_free_text("Skipped: no change"), Some(Status::Skipped));
        assert_eq!(Status::of_free_text("running"), Some(Status::Started));
        assert_eq!(Status::of_free_text("❌ BLOCKED: 2 critical"), Some(Status::Failed));
        for nothing in
            ["draft", "2 medium findings", "none blocking", "error budget kept", "passed", "started late", ""]
        {
            assert_eq!(Status::of_free_text(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn words_of_any_length_and_script_are_read() {
        assert_eq!(Status::of_word("\u{a0}Not Applicable\u{2003}"), Some(Status::Skipped));
        assert_eq!(Status::of_word("not_applicable_"), None);
        assert_eq!(Status::of_word("ƒailed"), None);
        assert_eq!(Status::of_word("passed\0"), None);
    }

    proptest! {
        #[test]
        fn a_text_is_an_override_when_its_first_word_says_so(
            before in "[ -_é✅0]{0,2}", word in "(overridden|OverRidden|overridde|overriddén)", after in "([ _:é0].{0,3})?",
        ) {
            let text = format!("{before}{word}{after}");
            let says_so = first_word(&text).eq_ignore_ascii_case("overridden");
            prop_assert_eq!(Status::is_override(&text), says_so);
        }
    }
}
