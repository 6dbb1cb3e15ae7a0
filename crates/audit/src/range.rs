//! What a printed number can stand for: an interval of true values.
//!
//! A plain number may have been rounded, by half a unit of its last digit at most. A number said to be "about" something may be
//! off by 5 % besides. "At least" and "at most" are open on one side. Arithmetic on such intervals (Moore 1966) keeps every value
//! that the printed numbers allow; a law contradicts only where none of them obeys it.

use tolok_model::transcription::{Figure, Mark, Number};

/// How far a number that is marked as "about" may be off, as a share of it.
const ABOUT: f64 = 0.05;

/// All values from `low` to `high`; quantities are never negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    /// The smallest.
    pub low: f64,
    /// The largest; may be infinite.
    pub high: f64,
}

impl Range {
    /// One value, known exactly.
    pub fn exact(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// What a printed number can stand for.
    pub fn of_number(number: &Number) -> Self {
        let (value, rounding) = (number.value, number.half_unit);
        let (low, high) = match number.mark {
            Mark::Plain => (value - rounding, value + rounding),
            Mark::About => {
                let off = rounding.max(ABOUT * value.abs());
                (value - off, value + off)
            }
            Mark::AtLeast => (value - rounding, f64::INFINITY),
            Mark::AtMost => (0.0, value + rounding),
            Mark::Between { low, high } => (low - rounding, high + rounding),
        };
        Self { low: low.max(0.0), high: high.max(0.0) }
    }

    /// What a figure can stand for; of several repetitions, their mean.
    pub fn of(figure: &Figure) -> Self {
        let ranges: Vec<Self> = figure.numbers.iter().map(Self::of_number).collect();
        let mean = |end: fn(&Self) -> f64| ranges.iter().map(end).sum::<f64>() / ranges.len().max(1) as f64;
        Self { low: mean(|range| range.low), high: mean(|range| range.high) }
    }

    /// What a figure can stand for where nobody says how repetitions were summed up: from the smallest to the largest of them.
    pub fn spanning(figure: &Figure) -> Self {
        let ranges = figure.numbers.iter().map(Self::of_number);
        let wider = |all: Self, one: Self| Self { low: all.low.min(one.low), high: all.high.max(one.high) };
        ranges.reduce(wider).unwrap_or(Self { low: 0.0, high: f64::INFINITY })
    }

    /// Sum.
    pub fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }

    /// Product.
    pub fn times(self, other: Self) -> Self {
        Self { low: product(self.low, other.low), high: product(self.high, other.high) }
    }

    /// Quotient; what cannot be told for want of a divisor above 0 has no upper end.
    pub fn over(self, other: Self) -> Self {
        let low = if other.high > 0.0 { self.low / other.high } else { 0.0 };
        let high = if other.low > 0.0 { self.high / other.low } else { f64::INFINITY };
        Self { low: if low.is_finite() { low } else { 0.0 }, high }
    }

    /// 1 less a share.
    pub fn complement(self) -> Self {
        Self { low: (1.0 - self.high).max(0.0), high: (1.0 - self.low).max(0.0) }
    }

    /// Widened by a share of its ends.
    pub fn widened(self, share: f64) -> Self {
        Self { low: self.low * (1.0 - share), high: self.high * (1.0 + share) }
    }

    /// Whether every value lies above every one of `other`.
    pub fn is_above(self, other: Self) -> bool {
        self.low > other.high
    }

    /// Whether the two have a value in common.
    pub fn meets(self, other: Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// A product in which nothing of something endless is nothing.
fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64, half_unit: f64, mark: Mark) -> Number {
        Number { value, half_unit, printed: value.to_string(), decimals: 1, mark }
    }

    #[test]
    fn a_rounded_number_is_known_to_half_a_unit_and_a_marked_one_to_what_its_mark_says() {
        let range = |mark| Range::of_number(&number(20.0, 0.5, mark));
        assert_eq!(range(Mark::Plain), Range { low: 19.5, high: 20.5 });
        assert_eq!(range(Mark::About), Range { low: 19.0, high: 21.0 });
        assert_eq!(range(Mark::AtLeast), Range { low: 19.5, high: f64::INFINITY });
        assert_eq!(range(Mark::AtMost), Range { low: 0.0, high: 20.5 });
        assert_eq!(range(Mark::Between { low: 10.0, high: 30.0 }), Range { low: 9.5, high: 30.5 });
    }

    #[test]
    fn quotients_keep_every_value_that_the_numbers_allow() {
        let quotient = Range { low: 9.0, high: 11.0 }.over(Range { low: 0.0, high: 2.0 });
        assert_eq!(quotient, Range { low: 4.5, high: f64::INFINITY });
        assert_eq!(Range::exact(0.0).times(Range { low: 0.0, high: f64::INFINITY }), Range::exact(0.0));
    }
}
