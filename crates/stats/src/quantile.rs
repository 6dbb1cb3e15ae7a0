//! A checked, ordered sample and its plain statistics; logarithms of ratios that never become infinite.

use crate::StatsError;

/// The factor from a median absolute deviation to a standard deviation, for normally distributed values.
pub const SD_OF_MAD: f64 = 1.4826;

/// The greatest absolute value allowed, 10¹⁴⁰. Beyond it squares and exponentials could overflow to infinity unnoticed.
pub const LARGEST: f64 = 1e140;

/// The least positive value a ratio accepts, 10⁻¹⁴⁰, for the same reason.
pub const LEAST_POSITIVE: f64 = 1e-140;

/// A sample of at least one value, each finite and at most [`LARGEST`] in absolute value, in ascending order.
///
/// Sorting once makes quantiles cheap, and every result independent of the original order. Statistics that depend on
/// that order (trends, autocorrelation) cannot be computed from a `Sample`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    sorted: Vec<f64>,
}

impl Sample {
    /// Checks and sorts the values. Cost: one copy and one sort.
    ///
    /// # Errors
    /// [`StatsError::Empty`] for no values; [`StatsError::OutOfRange`] for the first value that is NaN, infinite or
    /// larger than [`LARGEST`] in absolute value, with its position.
    pub fn new(values: &[f64]) -> Result<Self, StatsError> {
        Self::from_vec(values.to_vec())
    }

    pub(crate) fn from_vec(mut values: Vec<f64>) -> Result<Self, StatsError> {
        if values.is_empty() {
            return Err(StatsError::Empty);
        }
        if let Some(index) = values.iter().position(|&value| !in_range(value)) {
            return Err(StatsError::OutOfRange { index, value: values[index] });
        }
        values.sort_unstable_by(f64::total_cmp);
        Ok(Self { sorted: values })
    }

    /// The values in ascending order.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// Number of values, at least 1.
    #[allow(clippy::len_without_is_empty, reason = "a sample is never empty")]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// The least value.
    pub fn min(&self) -> f64 {
        self.sorted[0]
    }

    /// The greatest value.
    pub fn max(&self) -> f64 {
        self.sorted[self.sorted.len() - 1]
    }

    /// The middle value, or the mean of the two middle values when the number of values is even.
    pub fn median(&self) -> f64 {
        let n = self.sorted.len();
        // For odd n both are the same value, and averaging a value with itself is exact.
        (self.sorted[(n - 1) / 2] + self.sorted[n / 2]) / 2.0
    }

    /// The quantile of type 7: linear between the order statistics, where the value of rank k (from 1) of n is at
    /// probability (k − 1) / (n − 1). The default of NumPy, R, Julia and spreadsheets.
    ///
    /// Source: R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The American Statistician 50(4),
    /// 1996, definition 7.
    ///
    /// # Errors
    /// [`StatsError::Probability`] unless `0 <= probability <= 1`.
    pub fn quantile(&self, probability: f64) -> Result<f64, StatsError> {
        if !(0.0..=1.0).contains(&probability) {
            return Err(StatsError::Probability { value: probability });
        }
        let position = probability * (self.sorted.len() - 1) as f64;
        let below = position as usize;
        let above = (below + 1).min(self.sorted.len() - 1);
        Ok(between(self.sorted[below], self.sorted[above], position - below as f64))
    }

    /// The arithmetic mean.
    ///
    /// Two passes: the second adds back what the first lost to rounding. So the result is correct to the last digits,
    /// even for values that differ little relative to their size.
    pub fn mean(&self) -> f64 {
        let n = self.sorted.len() as f64;
        let rough = self.sorted.iter().sum::<f64>() / n;
        rough + self.sorted.iter().map(|value| value - rough).sum::<f64>() / n
    }

    /// The unbiased sample variance, with n − 1 in the denominator, in the square of the values' unit. `None` for a
    /// single value, which shows no spread.
    ///
    /// The corrected two-pass algorithm of T. F. Chan, G. H. Golub and R. J. LeVeque, "Algorithms for computing the
    /// sample variance: analysis and recommendations", The American Statistician 37(3), 1983.
    pub fn variance(&self) -> Option<f64> {
        if self.sorted.len() < 2 {
            return None;
        }
        let n = self.sorted.len() as f64;
        let mean = self.mean();
        let (deviations, squares) = self.sorted.iter().fold((0.0, 0.0), |(deviations, squares), value| {
            let deviation = value - mean;
            (deviations + deviation, squares + deviation * deviation)
        });
        Some(((squares - deviations * deviations / n) / (n - 1.0)).max(0.0))
    }

    /// The square root of [`Sample::variance`], in the values' unit. `None` for a single value.
    pub fn standard_deviation(&self) -> Option<f64> {
        self.variance().map(f64::sqrt)
    }
}

/// The natural logarithm of a ratio of two non-negative values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LogRatio {
    /// ln(numerator / denominator). Exactly 0 for equal values, and exactly negated when the two are swapped.
    Finite(f64),
    /// Zero over something: the ratio is only known to be below every other.
    NumeratorZero,
    /// Something over zero: the ratio is only known to be above every other.
    DenominatorZero,
    /// Zero over zero: nothing is known.
    BothZero,
}

/// The logarithm of `numerator / denominator`. Zeros get a name instead of an infinity or NaN.
///
/// `None` if a value is negative, NaN, above [`LARGEST`], or positive but below [`LEAST_POSITIVE`].
///
/// ```
/// use tolok_stats::{LogRatio, log_ratio};
///
/// assert_eq!(log_ratio(3.0, 3.0), Some(LogRatio::Finite(0.0)));
/// assert_eq!(log_ratio(0.0, 3.0), Some(LogRatio::NumeratorZero));
/// assert_eq!(log_ratio(-1.0, 3.0), None);
/// ```
pub fn log_ratio(numerator: f64, denominator: f64) -> Option<LogRatio> {
    if !is_amount(numerator) || !is_amount(denominator) {
        return None;
    }
    Some(match (numerator == 0.0, denominator == 0.0) {
        // The difference of logarithms, not the logarithm of the quotient: it changes sign exactly when the values are
        // swapped, and it cannot overflow.
        (false, false) => LogRatio::Finite(numerator.ln() - denominator.ln()),
        (true, false) => LogRatio::NumeratorZero,
        (false, true) => LogRatio::DenominatorZero,
        (true, true) => LogRatio::BothZero,
    })
}

/// Whether a value can be one side of a ratio: zero, or within [`LEAST_POSITIVE`]..=[`LARGEST`].
pub(crate) fn is_amount(value: f64) -> bool {
    value == 0.0 || (LEAST_POSITIVE..=LARGEST).contains(&value)
}

/// Whether a value can be ranked and averaged. False for NaN, which fails every comparison.
pub(crate) fn in_range(value: f64) -> bool {
    value.abs() <= LARGEST
}

/// The point at `fraction` of the way from `low` to `high`, never outside the two. It is computed from the nearer end,
/// and equal ends give exactly that value.
pub(crate) fn between(low: f64, high: f64, fraction: f64) -> f64 {
    if fraction < 0.5 { low + (high - low) * fraction } else { high - (high - low) * (1.0 - fraction) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values).unwrap()
    }

    #[test]
    fn one_value_is_its_own_quantile_and_has_no_variance() {
        let one = sample(&[3.25]);
        assert_eq!((one.median(), one.mean(), one.min(), one.max()), (3.25, 3.25, 3.25, 3.25));
        for probability in [0.0, 0.3, 1.0] {
            assert_eq!(one.quantile(probability), Ok(3.25));
        }
        assert_eq!(one.variance(), None);
        assert_eq!(one.standard_deviation(), None);
    }

    #[test]
    fn values_that_cannot_be_ranked_are_refused_with_their_position() {
        assert_eq!(Sample::new(&[]), Err(StatsError::Empty));
        for value in [f64::INFINITY, f64::NEG_INFINITY, 2e140, -2e140] {
            assert_eq!(Sample::new(&[1.0, 2.0, value]), Err(StatsError::OutOfRange { index: 2, value }));
        }
        let nan = Sample::new(&[1.0, f64::NAN, f64::INFINITY]);
        assert!(matches!(nan, Err(StatsError::OutOfRange { index: 1, value }) if value.is_nan()));
    }

    #[test]
    fn the_largest_values_accepted_do_not_overflow() {
        let extremes = sample(&[-LARGEST, LARGEST, LARGEST]);
        assert!(extremes.variance().unwrap().is_finite());
        assert!(extremes.quantile(0.3).unwrap().is_finite());
    }

    #[test]
    fn variance_survives_a_large_common_offset() {
        // The sum of squares formula gives 0 or nonsense here. The true variance is that of 4, 7, 13, 16.
        assert_eq!(sample(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]).variance(), Some(30.0));
    }

    #[test]
    fn the_mean_of_equal_values_is_that_value() {
        // Ten times 0.1 adds up to 0.9999999999999999.
        assert_eq!(sample(&[0.1; 10]).mean(), 0.1);
    }

    #[test]
    fn equal_values_have_no_spread_at_all() {
        assert_eq!(sample(&[0.1; 7]).variance(), Some(0.0));
        assert_eq!(sample(&[0.1; 7]).quantile(0.37), Ok(0.1));
    }

    #[test]
    fn probabilities_outside_zero_to_one_are_refused() {
        for probability in [-0.01, 1.01, 95.0] {
            assert_eq!(sample(&[1.0]).quantile(probability), Err(StatsError::Probability { value: probability }));
        }
        assert!(sample(&[1.0]).quantile(f64::NAN).is_err());
    }

    #[test]
    fn zeros_in_a_ratio_are_named() {
        assert_eq!(log_ratio(2.0, 0.0), Some(LogRatio::DenominatorZero));
        assert_eq!(log_ratio(-0.0, 2.0), Some(LogRatio::NumeratorZero));
        assert_eq!(log_ratio(0.0, 0.0), Some(LogRatio::BothZero));
        for bad in [f64::NAN, f64::INFINITY, -1.0, 1e-300] {
            assert_eq!((log_ratio(bad, 1.0), log_ratio(1.0, bad)), (None, None), "{bad}");
        }
    }
}
