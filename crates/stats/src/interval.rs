//! Confidence levels and intervals, and how many values a level needs.

use crate::StatsError;

/// A confidence level strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Level(f64);

impl Level {
    /// 95%.
    pub const P95: Self = Self(0.95);

    /// How far below the requested level an interval may be before it is refused: its probability to miss may be at most
    /// this many times the requested one. 1.25 admits n = 5 at 95% (93.75% covered, so 1.25 × 5% missed), the smallest
    /// number of repetitions used in practice.
    pub const TOLERATED_MISS: f64 = 1.25;

    /// No interval is ever given for fewer values, whatever the level.
    pub const LEAST_SAMPLE: usize = 5;

    /// Accepts a level such as 0.95.
    ///
    /// # Errors
    /// [`StatsError::Level`] unless `0 < level < 1`; NaN is refused too.
    pub fn new(level: f64) -> Result<Self, StatsError> {
        if level > 0.0 && level < 1.0 { Ok(Self(level)) } else { Err(StatsError::Level { value: level }) }
    }

    /// The level as a fraction, 0.95 for 95%.
    pub fn fraction(self) -> f64 {
        self.0
    }

    /// The probability to miss at this level: 0.05 for 95%.
    pub(crate) fn miss(self) -> f64 {
        1.0 - self.0
    }

    /// A level with that probability to miss, which the caller derived from another level's.
    pub(crate) fn with_miss(self, miss: f64) -> Self {
        Self(1.0 - miss)
    }

    /// The smallest number of values for which an interval of this level is given: 5 at 90% and 95%, 8 at 99%.
    ///
    /// The widest interval from order statistics is [least, greatest]. It misses the median of the population when all
    /// n values fall on one side. That has probability 2 · (1/2)ⁿ for every continuous distribution (H. A. David and H.
    /// N. Nagaraja, *Order Statistics*, 3rd ed., 2003, section 7.1). The result is the smallest n whose probability to
    /// miss is within [`Level::TOLERATED_MISS`], but at least [`Level::LEAST_SAMPLE`].
    pub fn least_sample(self) -> usize {
        // The tiny excess makes the rule independent of how 1 - 0.95 is rounded.
        let tolerated = self.miss() * Self::TOLERATED_MISS * (1.0 + 1e-12);
        let mut n = Self::LEAST_SAMPLE;
        while 0.5f64.powi(n as i32 - 1) > tolerated {
            n += 1;
        }
        n
    }
}

/// A closed interval and its confidence. `low <= high`; the units are those of the underlying values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// The fraction of such intervals that cover the true value: the requested one, or the achieved one if a function
    /// says so.
    pub level: f64,
}

impl Interval {
    /// Whether `value` lies in the interval, bounds included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The interval of exp(x) from that of x. exp is monotonic, so the coverage is unchanged.
    pub(crate) fn exponentiated(self) -> Self {
        Self { low: self.low.exp(), high: self.high.exp(), level: self.level }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_sample_follows_the_tolerated_miss() {
        let check = |level: f64, n: usize| assert_eq!(Level::new(level).unwrap().least_sample(), n, "level {level}");
        check(0.50, 5); // the floor, although [least, greatest] of two values would do
        check(0.90, 5); // the floor: four values would miss 12.5 %
        check(0.95, 5); // misses 6.25% = 1.25 × 5%
        check(0.955, 6); // five values would miss 1.39 times as often as asked
        check(0.99, 8); // misses 0.78 %
        check(0.999, 11);
    }

    #[test]
    fn levels_outside_the_open_unit_interval_are_refused() {
        for level in [0.0, 1.0, -0.5, 95.0, f64::INFINITY] {
            assert_eq!(Level::new(level), Err(StatsError::Level { value: level }));
        }
        assert!(Level::new(f64::NAN).is_err());
    }

    #[test]
    fn an_interval_contains_its_bounds() {
        let interval = Interval { low: 1.0, high: 3.5, level: 0.95 };
        assert!(interval.contains(1.0) && interval.contains(3.5));
        assert!(!interval.contains(0.999) && !interval.contains(f64::NAN));
    }
}
