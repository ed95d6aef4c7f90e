//! Many reports as one picture: what became of every deployment of a fleet, and which checkpoint is skipped most.
//!
//! [`read`] takes report files apart and keeps a compact [`row::Row`] a deployment; [`plan`] says which deployments there
//! had to be. [`Fleet`] is the view of both that every output reads. A deployment of which nothing is known is **not
//! validated**, which is never folded into "fine".

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use crate::conformance::StateStatus;
use crate::verdict::{FindingId, Verdict};

pub mod html;
pub mod json;
pub mod markdown;
pub mod plan;
pub mod read;
pub mod row;
pub mod terminal;

use plan::Expected;
use read::{FileRead, Gathering};
use row::Row;

/// Whether a deployment was to be reported on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planned {
    /// Nobody can tell: there is no plan.
    NoPlan,
    /// By the shard of this number.
    Shard(u64),
    /// No: the plan does not know it.
    Unplanned,
}

impl Planned {
    /// The shard, where it is known.
    #[must_use]
    pub fn shard(self) -> Option<u64> {
        match self {
            Self::Shard(shard) => Some(shard),
            Self::NoPlan | Self::Unplanned => None,
        }
    }
}

/// A deployment that was planned and has no report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The shard that was to report on it.
    pub shard: u64,
    /// Its folder, as the plan names it.
    pub folder: Box<str>,
}

/// What became of one state in all deployments whose model demands it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateTally {
    /// Its name.
    pub id: Box<str>,
    /// How often, in the order of [`StateStatus::ALL`].
    counts: [u64; StateStatus::ALL.len()],
}

impl StateTally {
    /// How often it came to this.
    #[must_use]
    pub fn count(&self, status: StateStatus) -> u64 {
        self.counts.get(position(status)).copied().unwrap_or(0)
    }

    /// How many deployments had to have it.
    #[must_use]
    pub fn deployments(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How many deployments do not have it covered.
    #[must_use]
    pub fn not_covered(&self) -> u64 {
        self.deployments() - self.count(StateStatus::Covered)
    }

    /// How many have it covered, in percent, rounded down.
    #[must_use]
    pub fn percent(&self) -> u64 {
        percent(self.count(StateStatus::Covered), self.deployments())
    }
}

fn position(status: StateStatus) -> usize {
    StateStatus::ALL.iter().position(|other| *other == status).unwrap_or(0)
}

/// A part of a whole in percent, rounded down: what is not all of it is never 100.
fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or(0)
}

/// How often a rule found something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingTally {
    /// The rule.
    pub id: FindingId,
    /// In how many deployments.
    pub deployments: u64,
    /// How often in all of them.
    pub findings: u64,
}

/// The whole picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fleet {
    /// Every deployment that has a report, worst first.
    pub rows: Vec<Row>,
    /// Names of states, by the numbers that rows hold.
    names: Vec<Box<str>>,
    /// Every deployment of the plan that has none, by shard and folder.
    pub lost: Vec<Lost>,
    /// Every state, the one that is not covered most often first.
    pub states: Vec<StateTally>,
    /// Every rule that found something, worst class first.
    pub findings: Vec<FindingTally>,
    /// Every file, as they were read.
    pub files: Vec<FileRead>,
    /// How many shards and folders the plan has, if there is one.
    pub plan: Option<(usize, usize)>,
}

impl Fleet {
    /// Puts together what was read.
    #[must_use]
    pub fn new(gathering: Gathering, plan: Option<&Expected>) -> Self {
        let Gathering { mut rows, names, files } = gathering;
        let mut lost = Vec::new();
        if let Some(plan) = plan {
            for row in rows.values_mut() {
                row.planned = Planned::Unplanned;
            }
            for (key, planned) in &plan.folders {
                match rows.get_mut(key) {
                    Some(row) => row.planned = Planned::Shard(planned.shard),
                    None => lost.push(planned.clone()),
                }
            }
        }
        lost.sort_by(|a, b| (a.shard, &a.folder).cmp(&(b.shard, &b.folder)));
        // By key until here, so that rows that are equally bad stay in the order of their folders: the sort is stable.
        let mut rows: Vec<Row> = rows.into_values().collect();
        rows.sort_by(|a, b| b.worse_than(a));
        let names = names.into_names();
        Self {
            states: state_tallies(&rows, &names),
            findings: finding_tallies(&rows),
            rows,
            names,
            lost,
            files,
            plan: plan.map(|plan| (plan.shards, plan.folders.len())),
        }
    }

    /// How many deployments there are, with and without a report.
    #[must_use]
    pub fn deployments(&self) -> usize {
        self.rows.len() + self.lost.len()
    }

    /// How many have this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    /// How many claim to have succeeded and are not verified.
    #[must_use]
    pub fn false_successes(&self) -> usize {
        self.rows.iter().filter(|row| row.false_success()).count()
    }

    /// How many files, lines and pieces of files could not be read. Each may hide deployments.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        self.files.iter().map(|file| file.unreadable).sum()
    }

    /// How many deployments have several reports that differ.
    #[must_use]
    pub fn contradicted(&self) -> usize {
        self.rows.iter().filter(|row| !row.others.is_empty()).count()
    }

    /// How many reports are of no folder of the plan.
    #[must_use]
    pub fn unplanned(&self) -> usize {
        self.rows.iter().filter(|row| row.planned == Planned::Unplanned).count()
    }

    /// Every deployment is verified, and nothing may have been lost.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        !self.rows.is_empty()
            && self.lost.is_empty()
            && self.unreadable() == 0
            && self.count(Verdict::VerifiedSuccess) == self.rows.len()
    }

    /// The deployments that are not verified, worst first.
    pub fn troubled(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().take_while(|row| row.verdict != Verdict::VerifiedSuccess)
    }

    /// The states of a row that are not covered, in its model's order.
    pub fn not_covered<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = (&'a str, StateStatus)> {
        let open = row.states.iter().filter(|(_, status)| *status != StateStatus::Covered);
        open.map(|(state, status)| (self.name(*state), *status))
    }

    /// The name of a state.
    #[must_use]
    pub fn name(&self, state: u32) -> &str {
        let name = usize::try_from(state).ok().and_then(|at| self.names.get(at));
        name.map_or("", |name| name)
    }

    /// The name of the file that holds a row's report.
    #[must_use]
    pub fn file(&self, row: &Row) -> &str {
        self.files.get(row.file).map_or("", |file| &file.name)
    }

    /// What has to be known before all: in one sentence.
    #[must_use]
    pub fn headline(&self) -> String {
        let (verified, all) = (self.count(Verdict::VerifiedSuccess), self.deployments());
        let mut text = match (verified, all) {
            (0, 0) => "No deployment was reported on".to_owned(),
            (verified, all) if verified == all => match all {
                1 => "The only deployment is verified".to_owned(),
                all => format!("All {all} deployments are verified"),
            },
            (verified, all) => format!("{verified} of {} verified", deployments(all)),
        };
        match self.false_successes() {
            0 => {}
            1 => text.push_str("; 1 is a false success"),
            many => text.push_str(&format!("; {many} are false successes")),
        }
        match self.lost.len() {
            0 => {}
            1 => text.push_str("; 1 was not validated"),
            many => text.push_str(&format!("; {many} were not validated")),
        }
        text.push('.');
        text
    }

    /// What makes the picture less than whole, in sentences. Empty where nothing does.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        match self.unreadable() {
            0 => {}
            1 => doubts
                .push("1 piece of the report files could not be read; it may hide deployments.".to_owned()),
            many => {
                doubts.push(format!(
                    "{many} pieces of the report files could not be read; they may hide deployments."
                ));
            }
        }
        match self.contradicted() {
            0 => {}
            1 => {
                doubts.push("1 deployment has several reports that differ; the worst one counts.".to_owned())
            }
            many => {
                doubts.push(format!(
                    "{many} deployments have several reports that differ; the worst one counts."
                ));
            }
        }
        match self.unplanned() {
            0 => {}
            1 => doubts.push("1 report is of a folder that is not in the plan.".to_owned()),
            many => doubts.push(format!("{many} reports are of folders that are not in the plan.")),
        }
        doubts
    }
}

/// A number of deployments in words.
fn deployments(count: usize) -> String {
    match count {
        1 => "1 deployment".to_owned(),
        many => format!("{many} deployments"),
    }
}

fn state_tallies(rows: &[Row], names: &[Box<str>]) -> Vec<StateTally> {
    let none = [0; StateStatus::ALL.len()];
    let mut tallies: Vec<StateTally> =
        names.iter().map(|id| StateTally { id: id.clone(), counts: none }).collect();
    for (state, status) in rows.iter().flat_map(|row| row.states.iter()) {
        let tally = usize::try_from(*state).ok().and_then(|at| tallies.get_mut(at));
        if let Some(count) = tally.and_then(|tally| tally.counts.get_mut(position(*status))) {
            *count += 1;
        }
    }
    // A name whose only report was replaced by a worse one is nobody's.
    tallies.retain(|tally| tally.deployments() > 0);
    tallies.sort_by(|a, b| {
        let share = || {
            // The larger share of deployments that lack it: compared as fractions.
            let a_of_b = u128::from(a.not_covered()) * u128::from(b.deployments());
            let b_of_a = u128::from(b.not_covered()) * u128::from(a.deployments());
            b_of_a.cmp(&a_of_b)
        };
        b.not_covered().cmp(&a.not_covered()).then_with(share).then_with(|| a.id.cmp(&b.id))
    });
    tallies
}

fn finding_tallies(rows: &[Row]) -> Vec<FindingTally> {
    let mut tallies: BTreeMap<FindingId, FindingTally> = BTreeMap::new();
    for (id, count) in rows.iter().flat_map(|row| row.findings.iter()) {
        let tally = tallies.entry(*id).or_insert(FindingTally { id: *id, deployments: 0, findings: 0 });
        tally.deployments += 1;
        tally.findings += u64::from(*count);
    }
    let mut tallies: Vec<FindingTally> = tallies.into_values().collect();
    tallies.sort_by_key(|tally| (tally.id.class(), Reverse(tally.deployments), tally.id));
    tallies
}

impl Row {
    /// Which of two is the worse one: `Greater` where it is this.
    fn worse_than(&self, other: &Self) -> Ordering {
        let open = |row: &Self| (row.states.len() - row.covered()) as u64;
        let share = (open(self) * other.states.len() as u64).cmp(&(open(other) * self.states.len() as u64));
        (self.verdict.cmp(&other.verdict))
            .then(self.false_success().cmp(&other.false_success()))
            .then(share)
            .then(self.findings.len().cmp(&other.findings.len()))
    }
}
