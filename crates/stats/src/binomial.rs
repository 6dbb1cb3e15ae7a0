//! The share of successes, with an interval that accounts for small numbers.

use crate::gamma::ln_gamma;
use crate::special::beta_fraction;
use crate::{Interval, Level};

/// Halvings that find a share to all its digits.
const HALVINGS: u32 = 60;

/// The exact interval of a share by Clopper and Pearson: `successes` of independent `trials`. It covers at least its
/// level for every true share. Five zeros still allow a share of 52%.
///
/// `None` without trials, or with more successes than trials.
///
/// Source: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
/// Biometrika 26(4), 1934.
///
/// ```
/// use tolok_stats::{Level, share_interval};
///
/// let none_of_five = share_interval(0, 5, Level::P95).expect("there are trials");
/// assert!(none_of_five.low == 0.0 && (none_of_five.high - 0.521_823_750).abs() < 1e-8);
/// ```
pub fn share_interval(successes: u64, trials: u64, level: Level) -> Option<Interval> {
    if trials == 0 || successes > trials {
        return None;
    }
    let (k, n) = (successes as f64, trials as f64);
    let miss = level.miss() / 2.0;
    // P(X ≥ k) is I_p(k, n − k + 1), and P(X ≤ k) is 1 − I_p(k + 1, n − k).
    let low = if successes == 0 { 0.0 } else { root(|share| incomplete_beta(k, n - k + 1.0, share) < miss) };
    let high =
        if successes == trials { 1.0 } else { root(|share| incomplete_beta(k + 1.0, n - k, share) < 1.0 - miss) };
    Some(Interval { low, high, level: level.fraction() })
}

/// The largest share below which `is_below` holds.
fn root(is_below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if is_below(middle) { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The regularised incomplete beta function I_x(a, b), for a and b above zero.
pub(crate) fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, 1.0 - x) / b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(successes: u64, trials: u64) -> (f64, f64) {
        let found = share_interval(successes, trials, Level::P95).unwrap();
        (found.low, found.high)
    }

    /// The tail of a binomial distribution, summed term by term.
    fn at_least(k: u64, n: u64, share: f64) -> f64 {
        let mut term = (1.0 - share).powi(n as i32);
        let mut below = 0.0;
        for successes in 0..k {
            below += term;
            term *= (n - successes) as f64 / (successes + 1) as f64 * share / (1.0 - share);
        }
        1.0 - below
    }

    #[test]
    fn none_and_all_have_closed_forms() {
        for n in [1, 5, 90, 10_000] {
            let high = 1.0 - 0.025f64.powf(1.0 / n as f64);
            let (low, found) = ends(0, n);
            assert!(low == 0.0 && (found / high - 1.0).abs() < 1e-9, "{found} is not {high}");
            assert!((ends(n, n).0 - (1.0 - high)).abs() < 1e-9 && ends(n, n).1 == 1.0);
        }
    }

    #[test]
    fn each_end_leaves_half_of_the_miss_beyond_it() {
        for (k, n) in [(1, 10), (3, 250), (40, 90), (70, 1_000)] {
            let (low, high) = ends(k, n);
            assert!((at_least(k, n, low) - 0.025).abs() < 1e-9, "{k} of {n}: {low}");
            assert!((1.0 - at_least(k + 1, n, high) - 0.025).abs() < 1e-9, "{k} of {n}: {high}");
        }
    }

    #[test]
    fn a_million_trials_have_the_interval_of_a_normal_distribution() {
        let (low, high) = ends(10_000, 1_000_000);
        let reach = 1.96 * (0.01f64 * 0.99 / 1e6).sqrt();
        assert!((low - (0.01 - reach)).abs() < 2e-6 && (high - (0.01 + reach)).abs() < 2e-6, "{low} {high}");
    }

    /// At the mean the continued fraction has the most terms. By symmetry, I_x(a, a) is one half at x = 1/2.
    #[test]
    fn half_of_a_hundred_million_trials_have_the_interval_of_a_normal_distribution() {
        let (successes, trials) = (50_000_000, 100_000_000);
        let middle = incomplete_beta(successes as f64, successes as f64, 0.5);
        assert!((middle - 0.5).abs() < 1e-5, "{middle}");
        let (low, high) = ends(successes, trials);
        let reach = 1.959_963_985 * (0.25 / trials as f64).sqrt();
        assert!((low - (0.5 - reach)).abs() < 1e-8 && (high - (0.5 + reach)).abs() < 1e-8, "{low} {high}");
    }

    #[test]
    fn no_trials_have_no_share() {
        assert_eq!(share_interval(0, 0, Level::P95), None);
        assert_eq!(share_interval(3, 2, Level::P95), None);
    }
}
