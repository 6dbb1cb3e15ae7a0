//! Cases that were entered twice: whether they scatter as the fit of all cases expects.
//!
//! Both halves of such a pair are equal, so their differences show what the method makes of equals. Their mean is 0
//! except for chance. Their variance is that of the fit, or else the fit underestimates the noise.

use crate::binomial::incomplete_beta;
use crate::two_way::{Difference, TwoWay};

/// If the fit's own noise explains the scatter of pairs with at most this probability, the pairs count more than the
/// fit.
const BELIEVED_BELOW: f64 = 0.05;

/// A case that was entered twice in a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Twin {
    /// Row of the case in the fit. Its second half has no row, because that would hide its own scatter.
    pub case: usize,
    /// The second half minus the first.
    pub difference: f64,
}

/// What several such pairs show together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Twins {
    /// The mean of their differences. The true one is 0.
    pub mean: Difference,
    /// Root mean square of their differences: how far two equals are apart in one block.
    pub scatter: f64,
    /// The ratio of their variance to the one that the fit expects.
    pub excess: f64,
    /// How often pairs would scatter as much if the fit were right: Fisher's F test, one-sided.
    pub p: f64,
}

impl Twins {
    /// The factor by which standard errors of the fit are too small: 1 unless the pairs scatter significantly more than it
    /// expects.
    pub fn widening(&self) -> f64 {
        if self.p < BELIEVED_BELOW { self.excess.max(1.0).sqrt() } else { 1.0 }
    }
}

impl TwoWay {
    /// Judges pairs of equals. `None` without any, or if nothing scatters.
    pub fn twins(&self, pairs: &[Twin]) -> Option<Twins> {
        let n = pairs.len() as f64;
        let mean = pairs.iter().map(|pair| pair.difference).sum::<f64>() / n;
        let square = pairs.iter().map(|pair| pair.difference.powi(2)).sum::<f64>() / n;
        // Both halves have the noise of their case.
        let expected = pairs.iter().map(|pair| Some(2.0 * self.variance(pair.case)?)).collect::<Option<Vec<f64>>>()?;
        let in_variances = |(pair, variance): (&Twin, &f64)| (pair.difference - mean).powi(2) / variance;
        let sum: f64 = pairs.iter().zip(&expected).map(in_variances).sum();
        let (excess, p) = match pairs.len() {
            0 | 1 => (1.0, 1.0),
            _ => (sum / (n - 1.0), f_upper_tail(sum / (n - 1.0), n - 1.0, self.df())),
        };
        let standard_error = expected.iter().sum::<f64>().sqrt() / n;
        let found = Twins {
            mean: Difference { value: mean, standard_error, df: self.df() },
            scatter: square.sqrt(),
            excess,
            p,
        };
        let standard_error = standard_error * found.widening();
        let is_known = standard_error > 0.0 && standard_error.is_finite();
        is_known.then_some(Twins { mean: Difference { standard_error, ..found.mean }, ..found })
    }
}

/// How often Fisher's F with these degrees of freedom is at least `f`. NIST DLMF 8.17.
pub(crate) fn f_upper_tail(f: f64, numerator: f64, denominator: f64) -> f64 {
    incomplete_beta(denominator / 2.0, numerator / 2.0, denominator / (denominator + numerator * f))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted() -> TwoWay {
        let row = |values: [f64; 6]| values.map(Some).to_vec();
        let rows = [
            row([1.0, 2.1, 3.0, 4.2, 5.0, 6.1]),
            row([1.5, 2.5, 3.6, 4.5, 5.4, 6.6]),
            row([0.9, 2.0, 3.1, 4.0, 5.1, 6.0]),
        ];
        TwoWay::of(&rows).unwrap()
    }

    fn twins(differences: &[f64]) -> Twins {
        let pairs: Vec<Twin> = differences.iter().map(|difference| Twin { case: 0, difference: *difference }).collect();
        fitted().twins(&pairs).unwrap()
    }

    /// From tables of F: 4.39 at 4 and 10 degrees of freedom has 2.6%, 3.48 has 5%, 1 at equal ones has a half.
    #[test]
    fn the_tail_of_f_is_that_of_tables() {
        assert!((f_upper_tail(3.478_05, 4.0, 10.0) - 0.05).abs() < 1e-5);
        assert!((f_upper_tail(1.0, 7.0, 7.0) - 0.5).abs() < 1e-12);
        assert_eq!(f_upper_tail(0.0, 3.0, 9.0), 1.0);
    }

    #[test]
    fn pairs_that_scatter_as_expected_change_nothing_and_wild_ones_widen() {
        let expected = (2.0 * fitted().pooled_variance()).sqrt();
        let usual = twins(&[expected, -expected, expected, -expected]);
        assert!((0.5..2.0).contains(&usual.excess), "{usual:?}");
        assert_eq!((usual.mean.value, usual.widening()), (0.0, 1.0));
        let wild = twins(&[9.0 * expected, -9.0 * expected, 9.0 * expected, -9.0 * expected]);
        assert!(wild.p < 0.01 && wild.widening() > 5.0, "{wild:?}");
        assert!((wild.scatter - 9.0 * expected).abs() < 1e-12);
        assert!((wild.mean.standard_error / usual.mean.standard_error - wild.widening()).abs() < 1e-9);
    }

    /// A difference that all pairs share is not scatter: the mean shows it.
    #[test]
    fn a_bias_widens_nothing() {
        let found = twins(&[1.0, 1.001, 0.999, 1.0]);
        assert_eq!((found.widening(), found.mean.p(0.0).unwrap() < 0.001), (1.0, true));
    }

    #[test]
    fn nothing_is_judged_without_pairs_or_without_noise() {
        assert_eq!(fitted().twins(&[]), None);
        let exact = TwoWay::of(&[vec![Some(1.0); 5], vec![Some(2.0); 5]]).unwrap();
        assert_eq!(exact.twins(&[Twin { case: 0, difference: 1.0 }]), None);
    }
}
