//! Variances of several figures, each estimated from a few values only, drawn towards what they have in common.
//!
//! Two or three runs show almost nothing about a variance, but the figures of a comparison vary for the same reasons.
//! In the model, their true variances are spread around a common one as if each had been observed `df` times before.
//! Both parameters of this prior are estimated from the spread of the logarithms of the variances.
//!
//! Source: G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray
//! experiments", Statistical Applications in Genetics and Molecular Biology 3(1), 2004, section 6.2.

/// The prior of figures' variances: what they have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VariancePrior {
    /// The common variance.
    pub variance: f64,
    /// How many degrees of freedom it counts for. Infinite if the variances differ no more than by chance.
    pub df: f64,
}

impl VariancePrior {
    /// Estimates the prior of variances with `df` degrees of freedom each. Variances of zero have no logarithm and are
    /// left out. `None` for fewer than two others, or unless `df` is above zero.
    ///
    /// ```
    /// use tolok_stats::VariancePrior;
    ///
    /// let alike = VariancePrior::estimated(&[1.0, 1.1, 0.9, 1.0], 4.0).expect("four variances are enough");
    /// assert!(alike.df.is_infinite());
    /// assert_eq!(VariancePrior::estimated(&[1.0, 0.0], 4.0), None);
    /// ```
    pub fn estimated(variances: &[f64], df: f64) -> Option<Self> {
        let is_known = |variance: &f64| *variance > 0.0 && variance.is_finite();
        let logarithms: Vec<f64> = variances.iter().copied().filter(is_known).map(f64::ln).collect();
        if logarithms.len() < 2 || df.is_nan() || df <= 0.0 {
            return None;
        }
        let n = logarithms.len() as f64;
        let mean = logarithms.iter().sum::<f64>() / n;
        let spread = logarithms.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let centre = mean - digamma(df / 2.0) + (df / 2.0).ln();
        let beyond_chance = spread - trigamma(df / 2.0);
        if beyond_chance <= 0.0 {
            return Some(Self { variance: centre.exp(), df: f64::INFINITY });
        }
        let half = inverse_trigamma(beyond_chance);
        Some(Self { variance: (centre + digamma(half) - half.ln()).exp(), df: 2.0 * half })
    }

    /// A variance with `df` degrees of freedom, drawn towards the common one.
    pub fn shrunk(self, variance: f64, df: f64) -> f64 {
        if self.df.is_infinite() { self.variance } else { (self.df * self.variance + df * variance) / (self.df + df) }
    }

    /// The same prior, counting for at most this many degrees of freedom.
    pub fn at_most(self, df: f64) -> Self {
        Self { df: self.df.min(df), ..self }
    }
}

/// From here on, the asymptotic series below have errors of less than 10⁻¹².
const FAR_ENOUGH: f64 = 10.0;

/// ψ(x), the derivative of ln Γ, for x > 0. Source: NIST Digital Library of Mathematical Functions, 5.11.2.
fn digamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < FAR_ENOUGH {
        shift -= 1.0 / x;
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = r * (1.0 / 12.0 - r * (1.0 / 120.0 - r * (1.0 / 252.0 - r * (1.0 / 240.0 - r * (1.0 / 132.0)))));
    shift + x.ln() - 0.5 / x - series
}

/// ψ′(x) for x > 0, from the derivative of the same series.
fn trigamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < FAR_ENOUGH {
        shift += 1.0 / (x * x);
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = r * (1.0 / 6.0 - r * (1.0 / 30.0 - r * (1.0 / 42.0 - r * (1.0 / 30.0 - r * (5.0 / 66.0)))));
    shift + (1.0 + 0.5 / x + series) / x
}

/// The x with ψ′(x) = `value`, for a value above zero. ψ′ falls from infinity to zero, so bisection finds it.
fn inverse_trigamma(value: f64) -> f64 {
    let (mut low, mut high) = (1e-8f64.ln(), 1e8f64.ln());
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if trigamma(middle.exp()) > value { low = middle } else { high = middle }
    }
    f64::midpoint(low, high).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_derivatives_of_ln_gamma_have_their_known_values() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-11, "{value} is not {expected}");
        near(digamma(1.0), -EULER);
        near(digamma(0.5), -EULER - 2.0 * 2f64.ln());
        near(trigamma(1.0), std::f64::consts::PI.powi(2) / 6.0);
        near(trigamma(0.5), std::f64::consts::PI.powi(2) / 2.0);
        near(trigamma(inverse_trigamma(0.37)), 0.37);
    }

    #[test]
    fn variances_that_differ_more_than_by_chance_keep_more_of_their_own() {
        let alike = VariancePrior::estimated(&[0.5, 1.0, 2.0, 0.8, 1.4, 0.3], 2.0).unwrap();
        assert!(alike.df.is_infinite() && (0.5..3.0).contains(&alike.variance), "{alike:?}");
        let apart = VariancePrior::estimated(&[0.001, 10.0, 0.02, 3.0, 0.0005, 40.0], 8.0).unwrap();
        assert!(apart.df < 2.0, "{apart:?}");
        assert!(apart.shrunk(40.0, 8.0) > 30.0 && alike.at_most(2.0).shrunk(4.0, 2.0) > 2.0);
    }

    #[test]
    fn no_values_give_no_estimate() {
        assert_eq!(VariancePrior::estimated(&[], 2.0), None);
        assert_eq!(VariancePrior::estimated(&[1.0, 2.0], 0.0), None);
        assert_eq!(VariancePrior::estimated(&[0.0, 0.0, 0.0], 2.0), None);
    }
}
