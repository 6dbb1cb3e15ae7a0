//! Tests and intervals of means by Student's t: one sample of differences, or two independent samples.
//!
//! They assume values drawn independently from a normal distribution. Heavy tails on both sides cost no coverage, even
//! at five values; outliers on one side do. `docs/coverage.md` has the coverage, and `tests/coverage.rs` checks it.

use crate::student::{both_tails, student_t_quantile};
use crate::{Interval, Level, Sample};

/// A two-sided t test of a mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TTest {
    /// (mean − null) / standard error. Infinite if the values are all equal and their mean is not the null.
    pub statistic: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Probability of a statistic at least as far from 0 if the null is true. 0 for an infinite statistic.
    pub p: f64,
}

/// Welch's comparison of the means of two independent samples whose variances may differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WelchDifference {
    /// mean(a) − mean(b), in the values' unit.
    pub difference: f64,
    /// Interval of that difference. `None` if either sample has fewer than [`Level::LEAST_SAMPLE`] values.
    pub interval: Option<Interval>,
    /// Degrees of freedom by Welch and Satterthwaite; not an integer.
    pub df: f64,
    /// Two-sided probability of a difference at least as far from the null if the null is true.
    pub p: f64,
    /// Standard error of the difference, in the values' unit.
    pub standard_error: f64,
}

/// Student's interval of the mean: mean ± t · s / √n. `level` in the result is the requested level, which is exact for
/// normal values.
///
/// `None` below [`Level::LEAST_SAMPLE`] values, whatever the level: t reaches the level at any n, so
/// [`Level::least_sample`] does not apply. Equal values give an interval of zero width.
///
/// ```
/// use tolok_stats::{Level, Sample, mean_interval};
///
/// let sample = Sample::new(&[1.0, 2.0, 3.0, 4.0, 5.0])?;
/// let interval = mean_interval(&sample, Level::P95).expect("five values are enough");
/// assert!((interval.high - (3.0 + 2.776445 * (2.5f64 / 5.0).sqrt())).abs() < 1e-6);
/// # Ok::<(), tolok_stats::StatsError>(())
/// ```
pub fn mean_interval(sample: &Sample, level: Level) -> Option<Interval> {
    if sample.len() < Level::LEAST_SAMPLE {
        return None;
    }
    let MeanError { mean, standard_error, df } = MeanError::of(sample)?;
    Some(around(mean, standard_error, df, level))
}

/// The t test of the mean of differences against `null`: the paired t test if the values are differences of pairs.
///
/// `None` for a single value or a `null` that is not finite. For fewer than [`Level::LEAST_SAMPLE`] values the test is
/// correct but relies on normal values, and there is no interval to go with it. Equal values give p = 1 if they equal
/// the null, and p = 0 if not.
pub fn paired_t(differences: &Sample, null: f64) -> Option<TTest> {
    let MeanError { mean, standard_error, df } = MeanError::of(differences)?;
    let statistic = in_standard_errors(mean - null, standard_error)?;
    Some(TTest { statistic, df, p: both_tails(statistic, df) })
}

/// Compares the means of two independent samples: a − b, against `null`.
///
/// `None` if either has a single value, or for a `null` that is not finite. If neither sample has any spread, `df` is
/// that of equal variances, and p is 1 or 0 as in [`paired_t`].
///
/// Source: B. L. Welch, "The generalization of 'Student's' problem when several different population variances are
/// involved", Biometrika 34(1–2), 1947.
pub fn welch(a: &Sample, b: &Sample, null: f64, level: Level) -> Option<WelchDifference> {
    let MeanError { mean: difference, standard_error, df } = MeanError::of_difference(a, b)?;
    let statistic = in_standard_errors(difference - null, standard_error)?;
    let enough = a.len().min(b.len()) >= Level::LEAST_SAMPLE;
    let interval = enough.then(|| around(difference, standard_error, df, level));
    Some(WelchDifference { difference, interval, df, p: both_tails(statistic, df), standard_error })
}

/// An estimated mean, or difference of means, and how uncertain it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MeanError {
    pub(crate) mean: f64,
    pub(crate) standard_error: f64,
    pub(crate) df: f64,
}

impl MeanError {
    /// `None` for a single value.
    pub(crate) fn of(sample: &Sample) -> Option<Self> {
        let n = sample.len() as f64;
        Some(Self { mean: sample.mean(), standard_error: (sample.variance()? / n).sqrt(), df: n - 1.0 })
    }

    /// The error of mean(a) − mean(b). `None` if either is a single value.
    pub(crate) fn of_difference(a: &Sample, b: &Sample) -> Option<Self> {
        let (n, m) = (a.len() as f64, b.len() as f64);
        let (from_a, from_b) = (a.variance()? / n, b.variance()? / m);
        let both = from_a + from_b;
        // Shares of the whole, because the squares of very small or large variances leave the range of f64.
        let (share_a, share_b) = (from_a / both, from_b / both);
        let df = 1.0 / (share_a * share_a / (n - 1.0) + share_b * share_b / (m - 1.0));
        let df = if both > 0.0 { df } else { n + m - 2.0 };
        Some(Self { mean: a.mean() - b.mean(), standard_error: both.sqrt(), df })
    }
}

/// How many standard errors `distance` is. `None` for a distance that is not finite.
pub(crate) fn in_standard_errors(distance: f64, standard_error: f64) -> Option<f64> {
    match (distance.is_finite(), distance == 0.0) {
        (false, _) => None,
        // Also if the standard error is 0.
        (true, true) => Some(0.0),
        (true, false) => Some(distance / standard_error),
    }
}

fn around(mean: f64, standard_error: f64, df: f64, level: Level) -> Interval {
    let reach = student_t_quantile(1.0 - level.miss() / 2.0, df) * standard_error;
    Interval { low: mean - reach, high: mean + reach, level: level.fraction() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values).unwrap()
    }

    #[test]
    fn four_values_have_a_test_but_no_interval() {
        let four = sample(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(mean_interval(&four, Level::P95), None);
        assert!(paired_t(&four, 0.0).is_some());
        assert_eq!(welch(&four, &sample(&[1.0, 2.0, 2.0, 3.0, 1.0]), 0.0, Level::P95).unwrap().interval, None);
        assert_eq!(paired_t(&sample(&[1.0]), 0.0), None);
        assert_eq!(welch(&four, &sample(&[1.0]), 0.0, Level::P95), None);
    }

    #[test]
    fn values_that_do_not_differ_are_certain() {
        let equal = sample(&[0.25; 6]);
        assert_eq!(paired_t(&equal, 0.25), Some(TTest { statistic: 0.0, df: 5.0, p: 1.0 }));
        assert_eq!(paired_t(&equal, 0.0), Some(TTest { statistic: f64::INFINITY, df: 5.0, p: 0.0 }));
        assert_eq!(mean_interval(&equal, Level::P95).map(|i| (i.low, i.high)), Some((0.25, 0.25)));
        let found = welch(&equal, &sample(&[0.5; 8]), 0.0, Level::P95).unwrap();
        assert_eq!((found.difference, found.df, found.p, found.standard_error), (-0.25, 12.0, 0.0, 0.0));
    }

    #[test]
    fn a_null_that_is_no_number_is_not_tested() {
        let values = sample(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((paired_t(&values, f64::NAN), paired_t(&values, f64::INFINITY)), (None, None));
        assert_eq!(welch(&values, &values, f64::NAN, Level::P95), None);
    }

    #[test]
    fn variances_of_very_unequal_size_keep_the_degrees_of_freedom() {
        let (tiny, huge) = (sample(&[1e-120, 2e-120, 3e-120]), sample(&[1e120, 2e120, 4e120, 5e120]));
        assert_eq!(welch(&tiny, &huge, 0.0, Level::P95).unwrap().df, 3.0);
    }
}
