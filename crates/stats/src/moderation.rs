//! How similar the variances of several cases are: the degrees of freedom of their common prior.
//!
//! Source: G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray
//! experiments", Statistical Applications in Genetics and Molecular Biology 3(1), 2004, section 6.2.

/// The prior degrees of freedom of these variances, each given with its own degrees of freedom. Infinite if they differ
/// no more than by chance, or if there are fewer than two.
pub(crate) fn prior_df(variances: &[(f64, f64)]) -> f64 {
    let number = variances.len() as f64;
    if variances.len() < 2 {
        return f64::INFINITY;
    }
    // Logarithms, corrected for the bias of few degrees of freedom.
    let logs: Vec<f64> =
        variances.iter().map(|(variance, df)| variance.ln() - digamma(df / 2.0) + (df / 2.0).ln()).collect();
    let mean = logs.iter().sum::<f64>() / number;
    let scatter = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (number - 1.0);
    let by_chance = variances.iter().map(|(_, df)| trigamma(df / 2.0)).sum::<f64>() / number;
    let excess = scatter - by_chance;
    if excess > 0.0 { 2.0 * trigamma_inverse(excess) } else { f64::INFINITY }
}

/// The derivative of ln Γ, for x > 0.
fn digamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 12.0 {
        below -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = square
        * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square * (1.0 / 240.0 - square / 132.0))));
    below + x.ln() - 0.5 / x - series
}

/// The second derivative of ln Γ, for x > 0.
fn trigamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 12.0 {
        below += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = square
        * (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square * (1.0 / 30.0 - square * 5.0 / 66.0))));
    below + 1.0 / x + square / 2.0 + series / x
}

/// The x at which the trigamma function is `value` > 0. The function falls, so bisection finds it.
fn trigamma_inverse(value: f64) -> f64 {
    let (mut low, mut high) = (-40.0f64, 40.0f64);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if trigamma(middle.exp()) > value { low = middle } else { high = middle }
    }
    ((low + high) / 2.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ψ(1) = −γ, ψ(1/2) = −γ − 2 ln 2, ψ′(1) = π²/6, ψ′(1/2) = π²/2.
    #[test]
    fn the_functions_have_their_known_values() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        let pi = std::f64::consts::PI;
        assert!((digamma(1.0) + EULER).abs() < 1e-12);
        assert!((digamma(0.5) + EULER + 2.0 * 2f64.ln()).abs() < 1e-12);
        assert!((trigamma(1.0) - pi * pi / 6.0).abs() < 1e-12);
        assert!((trigamma(0.5) - pi * pi / 2.0).abs() < 1e-12);
        for value in [1e-6, 0.3, 1.0, 250.0] {
            assert!((trigamma(trigamma_inverse(value)) / value - 1.0).abs() < 1e-9, "{value}");
        }
    }

    #[test]
    fn equal_variances_have_an_infinite_prior_and_different_ones_a_weak_one() {
        assert_eq!(prior_df(&[(1.0, 4.0), (1.1, 4.0), (0.9, 4.0)]), f64::INFINITY);
        assert_eq!(prior_df(&[(1.0, 4.0)]), f64::INFINITY);
        let different = prior_df(&[(1.0, 19.0), (100.0, 19.0), (0.01, 19.0)]);
        assert!(different > 0.0 && different < 1.0, "{different}");
    }
}
