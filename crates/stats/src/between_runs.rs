//! Compares the means of several runs before and after a change. The run is the unit, since equal runs differ too.
//!
//! Machine, day, memory layout and build affect every trial of a run alike, so trials within a run do not show them.
//! Each run gives one value of a figure: the mean over its trials. The difference of the two sides has the variance V ·
//! (1/n + 1/m), where V is the variance of such values among runs of the same version. Both sides are assumed to vary
//! alike, so V has n + m − 2 degrees of freedom: two for two runs of each.
//!
//! Figures of the same kind share causes of variation. So V is the sum of two parts:
//!
//! - A, the variance of the mean over all figures. It contains what affects the whole machine, and has only n + m − 2
//!   degrees of freedom, however many figures there are.
//! - B, the rest of the figure itself, drawn towards that of the others ([`VariancePrior`]), but never below what the
//!   figure itself showed. The prior counts for at most two other subjects. Without this limit, a subject that varies
//!   five times as much as the others would have a false difference in 16% of comparisons of two runs each. With it, it
//!   has one in 5%.
//!
//! The degrees of freedom of the sum are Welch and Satterthwaite's. With fewer than three subjects, the shared part
//! cannot be separated from their own, and V is the figure's own variance.

use crate::student::{both_tails, student_t_quantile, upper_tail};
use crate::{Interval, Level, VariancePrior};

/// The number of subjects from which on figures are drawn towards each other.
const FEWEST_TO_POOL: usize = 3;

/// The common prior counts for at most this many subjects.
const MOST_OTHERS: usize = 2;

/// A figure in every run: one value per run, on a scale where differences are meaningful, such as logarithms.
#[derive(Debug, Clone, PartialEq)]
pub struct RunValues {
    /// Values of the runs before.
    pub before: Vec<f64>,
    /// Values of the runs after.
    pub after: Vec<f64>,
    /// The subject of the figure.
    pub subject: usize,
}

/// A difference of the two sides with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunDifference {
    /// Mean after − mean before.
    pub difference: f64,
    /// Standard deviation among runs of one side.
    pub deviation: f64,
    /// Standard error of the difference.
    pub standard_error: f64,
    /// Degrees of freedom of the deviation and the standard error.
    pub df: f64,
}

impl RunDifference {
    /// Student's interval of the difference.
    pub fn interval(&self, level: Level) -> Interval {
        let reach = student_t_quantile(1.0 - level.miss() / 2.0, self.df) * self.standard_error;
        Interval { low: self.difference - reach, high: self.difference + reach, level: level.fraction() }
    }

    /// Two-sided probability of a difference at least as far from 0 if there is none.
    pub fn p(&self) -> f64 {
        match () {
            () if self.difference == 0.0 => 1.0,
            () if self.standard_error > 0.0 => both_tails(self.difference / self.standard_error, self.df),
            () => 0.0,
        }
    }

    /// p of "the true difference is `margin` or more, to either side", by two one-sided tests.
    pub fn p_equivalence(&self, margin: f64) -> f64 {
        let inside = margin - self.difference.abs();
        match () {
            () if self.standard_error > 0.0 => upper_tail(inside / self.standard_error, self.df),
            () if inside > 0.0 => 0.0,
            () => 1.0,
        }
    }
}

/// The differences of figures of one kind, in their order. All figures must have the same runs.
///
/// `None` unless both sides have two runs or more, every figure has a value of each run, and all values are finite.
///
/// ```
/// use tolok_stats::{RunValues, run_differences};
///
/// let figure = RunValues { before: vec![1.0, 1.2], after: vec![2.0, 2.2], subject: 0 };
/// let found = run_differences(&[figure]).expect("two runs of each are enough")[0];
/// assert!((found.difference - 1.0).abs() < 1e-12 && found.df == 2.0);
/// ```
pub fn run_differences(figures: &[RunValues]) -> Option<Vec<RunDifference>> {
    let (n, m) = figures.first().map(|first| (first.before.len(), first.after.len()))?;
    let is_whole = |it: &RunValues| it.before.len() == n && it.after.len() == m;
    let are_finite = |it: &RunValues| it.before.iter().chain(&it.after).all(|value| value.is_finite());
    if n < 2 || m < 2 || !figures.iter().all(|figure| is_whole(figure) && are_finite(figure)) {
        return None;
    }
    let df = (n + m - 2) as f64;
    let centred: Vec<Vec<f64>> =
        figures.iter().map(|figure| [centred(&figure.before), centred(&figure.after)].concat()).collect();
    let variances = if subjects(figures) < FEWEST_TO_POOL {
        centred.iter().map(|values| (variance(values, df), df)).collect()
    } else {
        pooled(&centred, df, subjects(figures))
    };
    let runs = 1.0 / n as f64 + 1.0 / m as f64;
    let difference = |(figure, (variance, df)): (&RunValues, (f64, f64))| RunDifference {
        difference: mean(&figure.after) - mean(&figure.before),
        deviation: variance.sqrt(),
        standard_error: (variance * runs).sqrt(),
        df,
    };
    Some(figures.iter().zip(variances).map(difference).collect())
}

/// V of each figure with its degrees of freedom.
fn pooled(centred: &[Vec<f64>], df: f64, subjects: usize) -> Vec<(f64, f64)> {
    let figures = centred.len() as f64;
    let runs = centred.first().map_or(0, Vec::len);
    let common: Vec<f64> =
        (0..runs).map(|run| centred.iter().map(|values| values[run]).sum::<f64>() / figures).collect();
    let shared = variance(&common, df);
    let left =
        |values: &Vec<f64>| values.iter().zip(&common).map(|(value, common)| value - common).collect::<Vec<f64>>();
    let own: Vec<f64> = centred.iter().map(|values| variance(&left(values), df)).collect();
    let others = df * (subjects - 2).min(MOST_OTHERS) as f64;
    let prior = VariancePrior::estimated(&own, df).map(|prior| prior.at_most(others));
    let (own_mean, own_df) = (mean(&own), df + prior.map_or(0.0, |prior| prior.df));
    let of_figure = |own: &f64| {
        let shrunk = prior.map_or(*own, |prior| prior.shrunk(*own, df));
        // Subtracting the common mean reduces a figure that varies more than the others by more.
        let whole = (shrunk - own_mean / (figures - 1.0)) / (1.0 - 2.0 / figures) - own_mean / (figures - 1.0);
        let own = shrunk.max(whole).max(*own);
        let both = shared + own;
        // Uses shares, because the squares of very small variances leave the range of f64.
        let (share, rest) = (shared / both, own / both);
        (both, if both > 0.0 { 1.0 / (share * share / df + rest * rest / own_df) } else { df })
    };
    own.iter().map(of_figure).collect()
}

fn subjects(figures: &[RunValues]) -> usize {
    figures.iter().map(|figure| figure.subject).collect::<std::collections::BTreeSet<usize>>().len()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn centred(values: &[f64]) -> Vec<f64> {
    let mean = mean(values);
    values.iter().map(|value| value - mean).collect()
}

/// The variance of values that have a mean of zero on each side.
fn variance(centred: &[f64], df: f64) -> f64 {
    centred.iter().map(|value| value * value).sum::<f64>() / df
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(before: &[f64], after: &[f64], subject: usize) -> RunValues {
        RunValues { before: before.to_vec(), after: after.to_vec(), subject }
    }

    #[test]
    fn one_subject_has_students_test_of_two_samples() {
        let found = run_differences(&[figure(&[1.0, 1.2, 1.1], &[1.5, 1.3, 1.6, 1.4], 0)]).unwrap()[0];
        // By hand: squares of 0.02 and 0.05 over 5 degrees of freedom; p by Simpson's rule over Student's density.
        let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
        near(found.difference, 0.35);
        near(found.df, 5.0);
        near(found.standard_error, 0.090_369_611_412);
        near(found.p(), 0.011_724_811_004);
        assert!(found.interval(Level::P95).low > 0.0 && found.p_equivalence(0.7) < 0.02);
    }

    #[test]
    fn a_shift_common_to_all_figures_keeps_its_few_degrees_of_freedom() {
        let day = [0.0, 0.02, -0.01, 0.015];
        let of = |subject: usize| {
            let own = [0.0004, -0.0003, 0.0002, -0.0001]
                .map(|it: f64| it * if subject.is_multiple_of(2) { 1.0 } else { -1.0 });
            let value = |run: usize| day[run] + own[run];
            figure(&[value(0), value(1)], &[value(2), value(3)], subject)
        };
        let found = run_differences(&(0..8).map(of).collect::<Vec<_>>()).unwrap();
        assert!(found.iter().all(|it| it.df < 2.1 && it.deviation > 0.01), "{found:?}");
    }

    #[test]
    fn what_each_figure_does_by_itself_is_learnt_from_all() {
        let signs = [[1.0, -1.0, 1.0, -1.0], [1.0, -1.0, -1.0, 1.0], [-1.0, 1.0, 1.0, -1.0], [-1.0, 1.0, -1.0, 1.0]];
        let of = |subject: usize| {
            let value = |run: usize| 0.01 * signs[subject % 4][run];
            figure(&[value(0), value(1)], &[value(2), value(3)], subject)
        };
        let found = run_differences(&(0..8).map(of).collect::<Vec<_>>()).unwrap();
        assert!(found.iter().all(|it| it.df > 5.0), "{found:?}");
    }

    #[test]
    fn a_figure_that_varies_more_than_the_others_is_not_taken_for_quiet() {
        let of = |subject: usize| {
            let own = if subject == 0 { 0.1 } else { 0.001 };
            let sign = if subject.is_multiple_of(2) { 1.0 } else { -1.0 };
            figure(&[own * sign, -own * sign, 0.0, own], &[own, 0.0, -own * sign, own * sign], subject)
        };
        let found = run_differences(&(0..6).map(of).collect::<Vec<_>>()).unwrap();
        let alone = run_differences(&[of(0)]).unwrap()[0];
        assert!(found[0].deviation > 0.8 * alone.deviation, "{} of {}", found[0].deviation, alone.deviation);
    }

    #[test]
    fn a_single_run_has_no_variance() {
        assert_eq!(run_differences(&[figure(&[1.0], &[1.1, 1.2], 0)]), None);
        assert_eq!(run_differences(&[figure(&[1.0, f64::NAN], &[1.1, 1.2], 0)]), None);
        assert_eq!(run_differences(&[]), None);
    }

    #[test]
    fn runs_without_any_difference_are_certain() {
        let found = run_differences(&[figure(&[1.0, 1.0], &[1.0, 1.0], 0)]).unwrap()[0];
        assert_eq!((found.p(), found.p_equivalence(0.03)), (1.0, 0.0));
    }
}
