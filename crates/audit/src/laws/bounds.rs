//! Where the true value of a printed number lies.
//!
//! A number printed as 3.04 stands for anything from 3.035 to 3.045; one marked as *about* for 5 % more on both sides; one
//! marked *at least* or *at most* for all that lies beyond. Interval arithmetic carries this through ratios and differences, so
//! that two figures are called different only if no values that round to what is printed could agree.

use tolok_model::transcription::{Figure, Mark, Number};

use crate::AuditVerdict;

/// How far a number that is marked as *about* may be off.
pub(crate) const ABOUT: f64 = 0.05;

/// Rounding in the last bits of f64 decides nothing.
const LAST_BITS: f64 = 1e-9;

/// From where to where the true value may lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    /// The least.
    pub(crate) low: f64,
    /// The largest.
    pub(crate) high: f64,
    /// Whether a mark other than *about* made them wide, so that figures that overlap need not agree.
    pub(crate) vague: bool,
}

impl Bounds {
    /// Of a figure's number.
    pub(crate) fn of(number: &Number) -> Self {
        Self::read(number, |_| number.half_unit)
    }

    /// Of a number in a text. A whole number that ends in zeros is read as rounded there, to 5 % at most: "6000" may be 6,300.
    /// A limit ("more than 1") is not rounded: it says which side figures are on.
    pub(crate) fn of_text(number: &Number, unit_factor: f64) -> Self {
        let is_limit = matches!(number.mark, Mark::AtLeast | Mark::AtMost);
        let rounded = |value: f64| number.half_unit.max(rounded_zeros(value / unit_factor) * unit_factor);
        Self::read(number, |value| if is_limit { 0.0 } else { rounded(value) })
    }

    /// Of the ends of a range in a text.
    pub(crate) fn ends_of_text(low: f64, high: f64, half_unit: f64, unit_factor: f64) -> (Self, Self) {
        let end = |value: f64| {
            let half = half_unit.max(rounded_zeros(value / unit_factor) * unit_factor);
            Self::between(value - half, value + half)
        };
        (end(low), end(high))
    }

    /// Of a figure: of its number, or of the mean of those of the repetitions.
    pub(crate) fn of_figure(figure: &Figure) -> Self {
        let all: Vec<Self> = figure.numbers.iter().map(Self::of).collect();
        let n = all.len() as f64;
        Self {
            low: all.iter().map(|bounds| bounds.low).sum::<f64>() / n,
            high: all.iter().map(|bounds| bounds.high).sum::<f64>() / n,
            vague: all.iter().any(|bounds| bounds.vague),
        }
    }

    fn read(number: &Number, half_unit: impl Fn(f64) -> f64) -> Self {
        let value = number.value;
        let half = half_unit(value);
        let wide = |low, high| Self { vague: true, ..Self::between(low, high) };
        match number.mark {
            Mark::Plain => Self::between(value - half, value + half),
            Mark::About => Self::between(value - value.abs() * ABOUT - half, value + value.abs() * ABOUT + half),
            Mark::AtLeast => wide(value - half, f64::INFINITY),
            Mark::AtMost => wide(f64::NEG_INFINITY, value + half),
            Mark::Between { low, high } => wide(low - half_unit(low), high + half_unit(high)),
        }
    }

    /// From one value to another.
    pub(crate) fn between(low: f64, high: f64) -> Self {
        Self { low: low - low.abs() * LAST_BITS, high: high + high.abs() * LAST_BITS, vague: false }
    }

    /// These divided by others, for figures that cannot be negative. None if the others are nothing but 0.
    pub(crate) fn over(self, below: Self) -> Option<Self> {
        if below.high <= 0.0 {
            return None;
        }
        let low = if below.high.is_finite() { self.low.max(0.0) / below.high } else { 0.0 };
        let high = if below.low > 0.0 { self.high / below.low } else { f64::INFINITY };
        // Below the line may be 0: then the ratio may be anything.
        let vague = self.vague || below.vague || below.low <= 0.0;
        Some(Self { vague, ..Self::between(low, high) })
    }

    /// These less others.
    pub(crate) fn less(self, other: Self) -> Self {
        Self { vague: self.vague || other.vague, ..Self::between(self.low - other.high, self.high - other.low) }
    }

    /// Multiplied by a positive number that is exactly known.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, high: self.high * factor, vague: self.vague }
    }

    /// Whether no value lies in both.
    pub(crate) fn apart(self, other: Self) -> bool {
        self.low > other.high || other.low > self.high
    }

    /// Whether all of these lie within others.
    pub(crate) fn within(self, outer: Self) -> bool {
        outer.low <= self.low && self.high <= outer.high
    }

    /// Whether figures with these bounds are what a text with those says. Bounds that a mark made wide and that reach beyond
    /// allow both.
    pub(crate) fn agree(self, said: Self) -> AuditVerdict {
        match (self.apart(said), self.vague && !self.within(said)) {
            (true, _) => AuditVerdict::Contradicted,
            (false, true) => AuditVerdict::CannotTell,
            (false, false) => AuditVerdict::Holds,
        }
    }
}

/// By how much a whole number that ends in zeros may be rounded: half of the place of its last digit that is not 0, and at most
/// 5 % of it. 0 for any other number.
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

/// The verdict on a statement about several things: contradicted by one, or not to be told because of one.
pub(crate) fn of_all(verdicts: impl IntoIterator<Item = AuditVerdict>) -> AuditVerdict {
    let mut worst = AuditVerdict::Holds;
    for verdict in verdicts {
        match verdict {
            AuditVerdict::Contradicted => return AuditVerdict::Contradicted,
            AuditVerdict::CannotTell => worst = AuditVerdict::CannotTell,
            AuditVerdict::Holds => {}
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64, half_unit: f64, mark: Mark) -> Number {
        Number { value, half_unit, printed: value.to_string(), decimals: 0, mark }
    }

    #[test]
    fn rounding_and_marks_widen() {
        let close = |a: Bounds, low: f64, high: f64| (a.low - low).abs() < 1e-6 && (a.high - high).abs() < 1e-6;
        assert!(close(Bounds::of(&number(3.04, 0.005, Mark::Plain)), 3.035, 3.045));
        assert!(close(Bounds::of(&number(100.0, 0.5, Mark::About)), 94.5, 105.5));
        assert_eq!(Bounds::of(&number(400.0, 0.5, Mark::AtLeast)).high, f64::INFINITY);
        assert_eq!(Bounds::of(&number(0.5, 0.05, Mark::AtMost)).low, f64::NEG_INFINITY);
    }

    #[test]
    fn zeros_at_the_end_of_a_text_are_rounded_to_five_percent_at_most() {
        assert_eq!(
            [6000.0, 430.0, 100.0, 93.0, 7.0, 0.0, 4.5].map(rounded_zeros),
            [300.0, 5.0, 5.0, 0.0, 0.0, 0.0, 0.0]
        );
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        let zero = Bounds::of(&number(0.0, 0.0, Mark::Plain));
        let one = Bounds::of(&number(1.0, 0.5, Mark::Plain));
        assert_eq!(one.over(zero), None);
        assert_eq!(one.over(Bounds::between(0.0, 0.05)).map(|ratio| ratio.high), Some(f64::INFINITY));
    }

    #[test]
    fn wide_marks_allow_both() {
        let some = Bounds::of(&number(5.0, 0.5, Mark::AtLeast));
        assert_eq!(some.agree(Bounds::between(7.0, 9.0)), AuditVerdict::CannotTell);
        assert_eq!(some.agree(Bounds::between(1.0, 2.0)), AuditVerdict::Contradicted);
        assert_eq!(some.agree(Bounds::between(2.0, f64::INFINITY)), AuditVerdict::Holds);
    }
}
