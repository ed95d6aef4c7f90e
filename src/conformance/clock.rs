//! What the timestamps of a run say of its order.

use crate::trace::{Capped, Event, Place, Time};

/// A clock may step back by this much without a finding: one second, in microseconds.
const TOLERANCE: i64 = 1_000_000;

/// Something wrong with a timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anomaly {
    /// It cannot be read.
    Unreadable,
    /// It lies before its predecessor's, by so many microseconds.
    Backwards(i64),
    /// It has a zone where earlier ones had none, or the other way round.
    Mixed,
}

/// Looks at one timestamp after the other.
#[derive(Debug, Default)]
pub struct Clock {
    anomalies: Capped<(Place, Anomaly)>,
    zoned: Option<i64>,
    naive: Option<i64>,
    mixed: bool,
    first: Option<Time>,
    differ: bool,
    count: u64,
}

impl Clock {
    /// Takes the next event of the run.
    pub fn tick(&mut self, event: &Event<'_>) {
        self.tick_at(event.time, event.place);
    }

    /// Takes the next timestamp of the run.
    pub fn tick_at(&mut self, time: Time, place: Place) {
        self.count += 1;
        match time {
            Time::Absent => return,
            Time::Unreadable => {
                self.anomalies.push((place, Anomaly::Unreadable));
                // It says something, if only nobody knows what.
                self.differ = true;
            }
            Time::Zoned(now) => self.forward(now, true, place),
            Time::Naive(now) => self.forward(now, false, place),
        }
        match self.first {
            None => self.first = Some(time),
            Some(first) => self.differ |= first != time,
        }
    }

    fn forward(&mut self, now: i64, zoned: bool, place: Place) {
        let (own, other) = if zoned { (&mut self.zoned, self.naive) } else { (&mut self.naive, self.zoned) };
        // Times with and without a zone cannot be compared, so each kind has a predecessor of its own.
        if let Some(back) = own.map(|before| before.saturating_sub(now)).filter(|back| *back > TOLERANCE) {
            self.anomalies.push((place, Anomaly::Backwards(back)));
        }
        *own = Some(now);
        if other.is_some() && !self.mixed {
            self.mixed = true;
            self.anomalies.push((place, Anomaly::Mixed));
        }
    }

    /// What was wrong, in order.
    #[must_use]
    pub fn anomalies(&self) -> &Capped<(Place, Anomaly)> {
        &self.anomalies
    }

    /// All timestamps are equal or absent, so that only the order of the file speaks. A single event has no order.
    #[must_use]
    pub fn proves_nothing(&self) -> bool {
        self.count > 1 && !self.differ
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(times: &[Time]) -> (Vec<Anomaly>, bool) {
        let mut clock = Clock::default();
        times.iter().for_each(|time| clock.tick_at(*time, Place::default()));
        (clock.anomalies().kept().iter().map(|(_, anomaly)| *anomaly).collect(), clock.proves_nothing())
    }

    #[test]
    fn a_second_back_is_forgiven_and_more_is_not() {
        let s = 1_000_000;
        assert_eq!(run(&[Time::Zoned(5 * s), Time::Zoned(4 * s)]), (vec![], false));
        let back = run(&[Time::Zoned(5 * s), Time::Zoned(4 * s - 1), Time::Zoned(4 * s)]);
        assert_eq!(back.0, [Anomaly::Backwards(s + 1)]);
        assert_eq!(run(&[Time::Zoned(1), Time::Absent, Time::Zoned(1)]), (vec![], true));
        assert_eq!(run(&[Time::Absent, Time::Absent]), (vec![], true));
        assert_eq!(run(&[Time::Absent]), (vec![], false));
        assert_eq!(run(&[Time::Zoned(1), Time::Naive(2), Time::Zoned(3)]).0, [Anomaly::Mixed]);
        assert_eq!(run(&[Time::Unreadable, Time::Zoned(3)]).0, [Anomaly::Unreadable]);
        assert_eq!(run(&[Time::Zoned(i64::MAX), Time::Zoned(i64::MIN)]).0.len(), 1);
    }
}
