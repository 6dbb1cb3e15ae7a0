//! Noise for tests.

/// The sum of twelve uniform numbers, less its mean: about normal, with a standard deviation of 1.
pub fn normal(uniform: impl FnMut() -> f64) -> f64 {
    std::iter::repeat_with(uniform).take(12).sum::<f64>() - 6.0
}
