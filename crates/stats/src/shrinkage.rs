//! Variances of several figures, each estimated from a few values only, drawn towards what they have in common.
//!
//! Two or three runs show almost nothing about a variance, but the figures of a comparison vary for the same reasons.
//! In the model, their true variances are spread around a common one as if each had been observed `df` times before.
//! Both parameters of this prior are estimated from the spread of the logarithms of the variances.
//!
//! Source: G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray
//! experiments", Statistical Applications in Genetics and Molecular Biology 3(1), 2004, section 6.2.

use crate::gamma::{digamma, trigamma, trigamma_inverse};

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
        if df.is_nan() || df <= 0.0 {
            return None;
        }
        let is_known = |variance: &f64| *variance > 0.0 && variance.is_finite();
        let known: Vec<(f64, f64)> =
            variances.iter().copied().filter(is_known).map(|variance| (variance, df)).collect();
        Self::of_each(&known)
    }

    /// The prior of variances above zero, each given with its own degrees of freedom. `None` for fewer than two.
    pub(crate) fn of_each(variances: &[(f64, f64)]) -> Option<Self> {
        if variances.len() < 2 {
            return None;
        }
        let number = variances.len() as f64;
        // Logarithms, corrected for their bias at few degrees of freedom.
        let logs: Vec<f64> =
            variances.iter().map(|(variance, df)| variance.ln() - digamma(df / 2.0) + (df / 2.0).ln()).collect();
        let mean = logs.iter().sum::<f64>() / number;
        let scatter = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (number - 1.0);
        let by_chance = variances.iter().map(|(_, df)| trigamma(df / 2.0)).sum::<f64>() / number;
        let excess = scatter - by_chance;
        if excess > 0.0 {
            let half = trigamma_inverse(excess);
            Some(Self { variance: (mean + digamma(half) - half.ln()).exp(), df: 2.0 * half })
        } else {
            Some(Self { variance: mean.exp(), df: f64::INFINITY })
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variances_that_differ_more_than_by_chance_keep_more_of_their_own() {
        let alike = VariancePrior::estimated(&[0.5, 1.0, 2.0, 0.8, 1.4, 0.3], 2.0).unwrap();
        assert!(alike.df.is_infinite() && (0.5..3.0).contains(&alike.variance), "{alike:?}");
        let apart = VariancePrior::estimated(&[0.001, 10.0, 0.02, 3.0, 0.0005, 40.0], 8.0).unwrap();
        assert!(apart.df < 2.0, "{apart:?}");
        assert!(apart.shrunk(40.0, 8.0) > 30.0 && alike.at_most(2.0).shrunk(4.0, 2.0) > 2.0);
    }

    #[test]
    fn equal_variances_have_an_infinite_prior_and_different_ones_a_weak_one() {
        let df = |variances: &[(f64, f64)]| VariancePrior::of_each(variances).map(|prior| prior.df);
        assert_eq!(df(&[(1.0, 4.0), (1.1, 4.0), (0.9, 4.0)]), Some(f64::INFINITY));
        assert_eq!(df(&[(1.0, 4.0)]), None);
        let different = df(&[(1.0, 19.0), (100.0, 19.0), (0.01, 19.0)]).unwrap();
        assert!(different > 0.0 && different < 1.0, "{different}");
    }

    #[test]
    fn no_values_give_no_estimate() {
        assert_eq!(VariancePrior::estimated(&[], 2.0), None);
        assert_eq!(VariancePrior::estimated(&[1.0, 2.0], 0.0), None);
        assert_eq!(VariancePrior::estimated(&[0.0, 0.0, 0.0], 2.0), None);
    }
}
