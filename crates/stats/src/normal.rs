//! The standard normal distribution.

use crate::special::{error_functions, symmetric_quantile};

/// P(Z ≤ z) for a standard normal Z. Precise in the lower tail. NaN for NaN.
///
/// ```
/// assert!((tolok_stats::normal_cdf(-1.959963984540054) - 0.025).abs() < 1e-15);
/// ```
pub fn normal_cdf(z: f64) -> f64 {
    let (within, beyond) = masses(z.abs());
    if z < 0.0 { beyond } else { 0.5 + within }
}

/// The z with P(Z ≤ z) = `p` for a standard normal Z. ∓∞ at 0 and 1, NaN outside \[0, 1\].
///
/// ```
/// assert!((tolok_stats::normal_quantile(0.975) - 1.959963984540054).abs() < 1e-14);
/// ```
pub fn normal_quantile(p: f64) -> f64 {
    symmetric_quantile(p, masses)
}

/// The probabilities that a standard normal value is between 0 and `z`, and beyond `z`, for `z >= 0`.
pub(crate) fn masses(z: f64) -> (f64, f64) {
    let (erf, erfc) = error_functions(z * std::f64::consts::FRAC_1_SQRT_2);
    (erf / 2.0, erfc / 2.0)
}
