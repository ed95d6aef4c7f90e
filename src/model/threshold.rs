//! How much of a model must be covered.

/// A share of the essential states in percent, 1 to 100, exact to a millionth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Threshold(u64);

impl Threshold {
    /// Everything.
    pub const FULL: Self = Self(100_000_000);

    /// A percentage, if it lies in 1..=100.
    #[must_use]
    pub fn of_percent(percent: f64) -> Option<Self> {
        if (1.0..=100.0).contains(&percent) {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            Some(Self((percent * 1e6).round() as u64))
        } else {
            None
        }
    }

    /// The percentage.
    #[must_use]
    pub fn percent(self) -> f64 {
        #[allow(clippy::cast_precision_loss)]
        let micro = self.0 as f64;
        micro / 1e6
    }

    /// `covered` of `essential` states are enough. Whole numbers only: 99.6 % is not 100 %.
    #[must_use]
    pub fn is_met(self, covered: usize, essential: usize) -> bool {
        covered as u128 * 100_000_000 >= u128::from(self.0) * essential as u128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_met_in_whole_numbers() {
        let threshold = |percent| Threshold::of_percent(percent).unwrap();
        assert!(threshold(66.5).is_met(2, 3));
        assert!(!threshold(66.7).is_met(2, 3));
        assert!(!threshold(100.0).is_met(249, 250));
        assert!(threshold(33.3).is_met(333, 1000));
        for bad in [0.0, 0.99, 100.01, f64::NAN, -5.0] {
            assert_eq!(Threshold::of_percent(bad), None);
        }
    }
}
