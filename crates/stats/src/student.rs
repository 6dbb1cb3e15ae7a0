//! Student's t distribution.

use crate::normal;
use crate::special::{incomplete_beta_with_half, symmetric_quantile};

/// P(T ≤ t) for Student's t distribution with `df` degrees of freedom, which need not be an integer. Precise in the
/// lower tail. NaN unless `df > 0`; the normal distribution for infinite `df`.
///
/// ```
/// assert!((tolok_stats::student_t_cdf(-2.570581835636305, 5.0) - 0.025).abs() < 1e-14);
/// ```
pub fn student_t_cdf(t: f64, df: f64) -> f64 {
    let (within, beyond) = masses(t.abs(), df);
    if t < 0.0 { beyond } else { 0.5 + within }
}

/// The t with P(T ≤ t) = `p`. ∓∞ at 0 and 1; NaN for `p` outside \[0, 1\] or unless `df > 0`.
///
/// ```
/// assert!((tolok_stats::student_t_quantile(0.975, 5.0) - 2.570581835636305).abs() < 1e-13);
/// ```
pub fn student_t_quantile(p: f64, df: f64) -> f64 {
    // The comparison is false for NaN too.
    if df > 0.0 { symmetric_quantile(p, |t| masses(t, df)) } else { f64::NAN }
}

/// P(T > t), precise even far above 0.
pub(crate) fn upper_tail(t: f64, df: f64) -> f64 {
    student_t_cdf(-t, df)
}

/// P(|T| > |t|).
pub(crate) fn both_tails(t: f64, df: f64) -> f64 {
    2.0 * masses(t.abs(), df).1
}

/// The probabilities that T is between 0 and `t`, and beyond `t`, for `t >= 0`.
fn masses(t: f64, df: f64) -> (f64, f64) {
    /// From here on, Hill's expansion has a relative error below 10⁻¹² up to t = 20.
    const MANY: f64 = 10_000.0;
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return (f64::NAN, f64::NAN);
    }
    if df > MANY {
        return normal::masses(normal_equivalent(t, df));
    }
    let square = t * t / df;
    let (beyond, within) = if square < 1.0 {
        incomplete_beta_with_half(df / 2.0, 1.0 / (1.0 + square), square / (1.0 + square))
    } else {
        incomplete_beta_with_half(df / 2.0, 1.0 / square / (1.0 + 1.0 / square), 1.0 / (1.0 + 1.0 / square))
    };
    (within / 2.0, beyond / 2.0)
}

/// The normal value with the same tail probability as `t`, for many degrees of freedom.
///
/// Source: G. W. Hill, "Algorithm 395: Student's t-distribution", Communications of the ACM 13(10), 1970.
fn normal_equivalent(t: f64, df: f64) -> f64 {
    if df.is_infinite() {
        return t;
    }
    let a = df - 0.5;
    let b = 48.0 * a * a;
    let y = a * (t / df * t).ln_1p();
    let correction = ((-0.4 * y - 3.3) * y - 24.0) * y - 85.5;
    ((correction / (0.8 * y * y + 100.0 + b) + y + 3.0) / b + 1.0) * y.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_and_what_lies_beyond_them() {
        assert_eq!((student_t_cdf(f64::INFINITY, 3.0), student_t_cdf(f64::NEG_INFINITY, 3.0)), (1.0, 0.0));
        assert_eq!((student_t_quantile(0.0, 3.0), student_t_quantile(1.0, 3.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(student_t_quantile(0.5, 3.0), 0.0);
        for (t, df) in [(f64::NAN, 3.0), (1.0, 0.0), (1.0, -1.0), (1.0, f64::NAN)] {
            assert!(student_t_cdf(t, df).is_nan(), "t = {t}, df = {df}");
        }
        assert!(student_t_quantile(1.1, 3.0).is_nan() && student_t_quantile(f64::NAN, 3.0).is_nan());
        assert!(student_t_quantile(0.9, 0.0).is_nan() && student_t_quantile(0.9, f64::NAN).is_nan());
    }

    #[test]
    fn one_degree_of_freedom_is_cauchys_distribution() {
        for t in [1e-12f64, 0.3, 1.0, 40.0, 1e100] {
            let tail = (1.0 / t).atan() / std::f64::consts::PI;
            assert!((student_t_cdf(-t, 1.0) / tail - 1.0).abs() < 1e-13, "t = {t}");
        }
    }

    #[test]
    fn where_the_expansion_takes_over_nothing_jumps() {
        for t in [0.1, 2.0, 6.0] {
            let (before, after) = (student_t_cdf(-t, 9_999.999), student_t_cdf(-t, 10_000.001));
            assert!((before / after - 1.0).abs() < 1e-8, "t = {t}");
        }
    }
}
