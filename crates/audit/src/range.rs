//! The true values that a printed number can represent, as an interval.
//!
//! A number printed as 3.04 represents anything from 3.035 to 3.045. One marked as *about* represents 5% more on both
//! sides. One marked *at least* or *at most* represents everything beyond. Arithmetic on such intervals (Moore 1966)
//! keeps every value that the printed numbers allow. A law contradicts only if no value obeys it.

use tolok_model::transcription::{Figure, Mark, Number};

use crate::AuditVerdict;

/// How far a number marked as *about* may be off, as a share of it.
pub(crate) const ABOUT: f64 = 0.05;

/// Tolerance for rounding in the last bits of f64.
const LAST_BITS: f64 = 1e-9;

/// All values from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub low: f64,
    /// May be infinite.
    pub high: f64,
    /// Whether a mark other than *about* widened it. Overlapping figures then need not agree.
    pub vague: bool,
}

impl Range {
    /// One value, known exactly.
    pub fn exact(value: f64) -> Self {
        Self { low: value, high: value, vague: false }
    }

    /// From one value to another. Widened slightly, so that rounding in the last bits cannot exclude the ends.
    pub fn between(low: f64, high: f64) -> Self {
        Self { low: low - low.abs() * LAST_BITS, high: high + high.abs() * LAST_BITS, vague: false }
    }

    /// The values that a printed number can represent.
    pub fn of_number(number: &Number) -> Self {
        Self::read(number, |_| number.half_unit)
    }

    /// The values that a figure can represent, or that the mean of its repetitions can.
    pub fn of(figure: &Figure) -> Self {
        let ranges: Vec<Self> = figure.numbers.iter().map(Self::of_number).collect();
        let mean = |end: fn(&Self) -> f64| ranges.iter().map(end).sum::<f64>() / ranges.len().max(1) as f64;
        let vague = ranges.iter().any(|range| range.vague);
        Self { low: mean(|range| range.low), high: mean(|range| range.high), vague }
    }

    /// The values that a figure can represent if the source does not say how it summarised repetitions: from the
    /// smallest to the largest.
    pub fn spanning(figure: &Figure) -> Self {
        let ranges = figure.numbers.iter().map(Self::of_number);
        ranges.reduce(Self::hull).unwrap_or(Self { low: 0.0, high: f64::INFINITY, vague: true })
    }

    /// The values that a number in a text can represent. A whole number that ends in zeros is read as rounded there, to
    /// at most 5%: "6000" may be 6,300. A limit ("more than 1") is not rounded, because it only says which side figures
    /// are on.
    pub fn of_text(number: &Number, unit_factor: f64) -> Self {
        let is_limit = matches!(number.mark, Mark::AtLeast | Mark::AtMost);
        let rounded = |value: f64| number.half_unit.max(rounded_zeros(value / unit_factor) * unit_factor);
        Self::read(number, |value| if is_limit { 0.0 } else { rounded(value) })
    }

    /// The ends of a range in a text. People round these, so each may be off by as much as a number marked as *about*.
    pub fn ends_of_text(low: f64, high: f64, half_unit: f64) -> (Self, Self) {
        let end = |value: f64| {
            let half = half_unit.max(ABOUT * value.abs());
            Self::between(value - half, value + half)
        };
        (end(low), end(high))
    }

    fn read(number: &Number, half_unit: impl Fn(f64) -> f64) -> Self {
        let value = number.value;
        let half = half_unit(value);
        let wide = |low, high| Self { vague: true, ..Self::between(low, high) };
        let range = match number.mark {
            Mark::Plain => Self::between(value - half, value + half),
            Mark::About => Self::between(value - value.abs() * ABOUT - half, value + value.abs() * ABOUT + half),
            Mark::AtLeast => wide(value - half, f64::INFINITY),
            Mark::AtMost => wide(f64::NEG_INFINITY, value + half),
            Mark::Between { low, high } => wide(low - half_unit(low), high + half_unit(high)),
        };
        // Only a number printed with a minus sign, such as a difference, can be negative.
        if value < 0.0 { range } else { Self { low: range.low.max(0.0), ..range } }
    }

    /// The smallest range that contains both.
    pub fn hull(self, other: Self) -> Self {
        let vague = self.vague || other.vague;
        Self { low: self.low.min(other.low), high: self.high.max(other.high), vague }
    }

    pub fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high, vague: self.vague || other.vague }
    }

    pub fn less(self, other: Self) -> Self {
        let vague = self.vague || other.vague;
        Self { vague, ..Self::between(self.low - other.high, self.high - other.low) }
    }

    /// Product of ranges without negative values.
    pub fn times(self, other: Self) -> Self {
        let (low, high) = (product(self.low, other.low), product(self.high, other.high));
        Self { vague: self.vague || other.vague, ..Self::between(low, high) }
    }

    /// Quotient of ranges without negative values. It has no upper end if the divisor may be 0.
    pub fn over(self, other: Self) -> Self {
        let low = if other.high > 0.0 && other.high.is_finite() { self.low.max(0.0) / other.high } else { 0.0 };
        let high = if other.low > 0.0 { self.high / other.low } else { f64::INFINITY };
        let vague = self.vague || other.vague || other.low <= 0.0;
        Self { vague, ..Self::between(low, high) }
    }

    /// 1 minus a share.
    pub fn complement(self) -> Self {
        Self { low: (1.0 - self.high).max(0.0), high: (1.0 - self.low).max(0.0), vague: self.vague }
    }

    /// Widened by a share of its ends.
    pub fn widened(self, share: f64) -> Self {
        Self { low: self.low * (1.0 - share), high: self.high * (1.0 + share), ..self }
    }

    /// The midpoint; if there is no upper end, the lower one.
    pub fn middle(self) -> f64 {
        if self.high.is_finite() { f64::midpoint(self.low, self.high) } else { self.low }
    }

    /// Whether every value is above every value of `other`.
    pub fn is_above(self, other: Self) -> bool {
        self.low > other.high
    }

    /// Whether the two have a value in common.
    pub fn meets(self, other: Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Whether all values are within `outer`.
    pub fn is_within(self, outer: Self) -> bool {
        outer.low <= self.low && self.high <= outer.high
    }

    /// Whether figures of this range match what a text says. A range that a mark widened and that extends beyond allows
    /// both answers.
    pub fn agrees(self, said: Self) -> AuditVerdict {
        match (self.meets(said), self.vague && !self.is_within(said)) {
            (false, _) => AuditVerdict::Contradicted,
            (true, true) => AuditVerdict::CannotTell,
            (true, false) => AuditVerdict::Holds,
        }
    }
}

/// A product in which 0 times infinity is 0.
fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// How much a whole number that ends in zeros may be rounded: half the place of its last non-zero digit, but at most 5%
/// of the number. 0 for any other number.
fn rounded_zeros(value: f64) -> f64 {
    let size = value.abs();
    if size < 10.0 || size.fract() != 0.0 {
        return 0.0;
    }
    let mut place = 1.0;
    while size % (place * 10.0) == 0.0 {
        place *= 10.0;
    }
    if place > 1.0 { (place / 2.0).min(ABOUT * size) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64, half_unit: f64, mark: Mark) -> Number {
        Number { value, half_unit, printed: value.to_string(), decimals: 1, mark }
    }

    fn close(range: Range, low: f64, high: f64) -> bool {
        let near = |a: f64, b: f64| a == b || (a - b).abs() < 1e-6;
        near(range.low, low) && near(range.high, high)
    }

    #[test]
    fn a_rounded_number_is_known_to_half_a_unit_and_a_marked_one_to_what_its_mark_says() {
        let range = |mark| Range::of_number(&number(20.0, 0.5, mark));
        assert!(close(range(Mark::Plain), 19.5, 20.5));
        assert!(close(range(Mark::About), 18.5, 21.5));
        assert!(close(range(Mark::AtLeast), 19.5, f64::INFINITY));
        assert!(close(range(Mark::AtMost), 0.0, 20.5));
        assert!(close(range(Mark::Between { low: 10.0, high: 30.0 }), 9.5, 30.5));
        assert!(close(Range::of_number(&number(-20.0, 0.5, Mark::Plain)), -20.5, -19.5));
    }

    #[test]
    fn zeros_at_the_end_of_a_text_are_rounded_to_five_percent_at_most() {
        assert_eq!(
            [6000.0, 430.0, 100.0, 93.0, 7.0, 0.0, 4.5].map(rounded_zeros),
            [300.0, 5.0, 5.0, 0.0, 0.0, 0.0, 0.0]
        );
    }

    #[test]
    fn quotients_keep_every_value_that_the_numbers_allow() {
        assert!(close(Range::between(9.0, 11.0).over(Range::between(0.0, 2.0)), 4.5, f64::INFINITY));
        assert!(close(Range::exact(1.0).over(Range::exact(0.0)), 0.0, f64::INFINITY));
        assert!(close(Range::exact(0.0).times(Range::between(0.0, f64::INFINITY)), 0.0, 0.0));
    }

    #[test]
    fn wide_marks_allow_both() {
        let some = Range::of_number(&number(5.0, 0.5, Mark::AtLeast));
        assert_eq!(some.agrees(Range::between(7.0, 9.0)), AuditVerdict::CannotTell);
        assert_eq!(some.agrees(Range::between(1.0, 2.0)), AuditVerdict::Contradicted);
        assert_eq!(some.agrees(Range::between(2.0, f64::INFINITY)), AuditVerdict::Holds);
    }
}
