//! The last verdicts, which the comment keeps for the next run to read.

use super::Run;
use crate::report::markdown;
use crate::verdict::Verdict;

/// The verdict of one run, as the comment keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// The verdict.
    pub(super) verdict: Verdict,
    /// Covered states; of several deployments the verified ones.
    pub(super) covered: usize,
    /// Essential states; of several deployments all.
    pub(super) essential: usize,
    /// Which run.
    pub(super) run: Run,
    /// When, in RFC 3339. It informs, it orders nothing.
    pub(super) time: String,
}

impl Row {
    pub(super) fn write(&self) -> String {
        let Self { verdict, covered, essential, run, time } = self;
        format!("{} {covered}/{essential} {} {} {time}", verdict.id(), run.id, run.attempt)
    }

    /// Reads a row. What is not exactly one is none: others can edit a comment.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        let word = parts.next()?;
        let verdict = Verdict::ALL.into_iter().find(|verdict| verdict.id() == word)?;
        let (covered, essential) = parts.next()?.split_once('/')?;
        let (id, attempt, time) = (parts.next()?, parts.next()?, parts.next()?);
        let shape = b"0000-00-00T00:00:00Z";
        let is_time = time.len() == shape.len()
            && time
                .bytes()
                .zip(shape)
                .all(|(byte, form)| if *form == b'0' { byte.is_ascii_digit() } else { byte == *form });
        let row = Self {
            verdict,
            covered: covered.parse().ok()?,
            essential: essential.parse().ok()?,
            run: Run { id: id.parse().ok()?, attempt: attempt.parse().ok()? },
            time: time.to_owned(),
        };
        (is_time && parts.next().is_none()).then_some(row)
    }

    pub(super) fn markdown(&self, runs: Option<&str>) -> (String, String) {
        let verdict = format!("{} {}", self.verdict.sign(), self.verdict.title());
        let coverage = format!("{}/{}", self.covered, self.essential);
        let run = match runs {
            Some(runs) => format!("[{}]({}/{})", self.run.id, markdown::link(runs), self.run.id),
            None => self.run.id.to_string(),
        };
        (
            format!("| {verdict} | {coverage} | {run} | {} |\n", self.time),
            format!("{verdict} ({coverage}) in run {run}"),
        )
    }
}

/// The verdicts that several comments keep, the newest first: where two runs commented at the same moment, each has its own.
pub(super) fn merged<'a>(histories: impl Iterator<Item = &'a [Row]>) -> Vec<Row> {
    let mut rows: Vec<Row> = histories.flatten().cloned().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.run));
    rows.dedup_by_key(|row| row.run);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_only_where_it_is_exactly_one() {
        let run = |id| Run { id, attempt: 1 };
        let time = "2026-10-05T12:00:00Z".to_owned();
        let row = |id| Row {
            verdict: Verdict::AgentIssue,
            covered: 5,
            essential: 6,
            run: run(id),
            time: time.clone(),
        };
        assert_eq!(Row::read(&row(7).write()), Some(row(7)));
        for bad in [
            "",
            "agent-issue 5/6 7 1 2026-10-05T12:00:00Z x",
            "agent-issue 5/6 7 1 today",
            "@octocat 5/6 7 1 2026-10-05T12:00:00Z",
            "agent-issue 5 7 1 2026-10-05T12:00:00Z",
        ] {
            assert_eq!(Row::read(bad), None, "{bad}");
        }
        let (a, b) = ([row(3), row(1)], [row(2), row(1)]);
        let ids: Vec<u64> = merged([&a[..], &b[..]].into_iter()).iter().map(|row| row.run.id).collect();
        assert_eq!(ids, [3, 2, 1]);
    }
}
