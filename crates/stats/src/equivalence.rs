//! Tests that a difference is smaller than what matters: two one-sided t tests (TOST).
//!
//! A test of difference that finds nothing proves nothing. Here the burden of proof is reversed: the claim is that the
//! true difference lies within ±margin. It holds only if both "it is −margin or less" and "it is +margin or more" are
//! refuted.
//!
//! Source: D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power approach for assessing
//! the equivalence of average bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15(6), 1987.

use crate::means::{MeanError, in_standard_errors};
use crate::student::upper_tail;
use crate::{Level, Sample};

/// p of "the true mean of these differences lies outside (−margin, margin)": the larger p of two one-sided t tests. It
/// is below 0.05 exactly when the 90% interval of the mean lies within the margins.
///
/// `None` below [`Level::LEAST_SAMPLE`] values, or unless the margin is positive and finite. Equal values give 0 inside
/// the margins and 1 outside. A mean on a margin gives at least 0.5.
pub fn equivalence_paired(differences: &Sample, margin: f64) -> Option<f64> {
    if differences.len() < Level::LEAST_SAMPLE {
        return None;
    }
    one_sided_both(MeanError::of(differences)?, margin)
}

/// p of "the true means of two independent samples differ by the margin or more", by Welch's t in both directions.
///
/// `None` if either sample has fewer than [`Level::LEAST_SAMPLE`] values, or unless the margin is positive and finite.
pub fn equivalence_welch(a: &Sample, b: &Sample, margin: f64) -> Option<f64> {
    if a.len().min(b.len()) < Level::LEAST_SAMPLE {
        return None;
    }
    one_sided_both(MeanError::of_difference(a, b)?, margin)
}

/// Of the two one-sided tests, the one towards the nearer margin has the larger p.
fn one_sided_both(found: MeanError, margin: f64) -> Option<f64> {
    if !(margin > 0.0 && margin.is_finite()) {
        return None;
    }
    let inside = in_standard_errors(margin - found.mean.abs(), found.standard_error)?;
    Some(upper_tail(inside, found.df))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values).unwrap()
    }

    #[test]
    fn a_mean_on_the_margin_is_never_equivalent() {
        let on_the_margin = sample(&[2.0, 2.5, 3.0, 3.5, 4.0]);
        assert_eq!(equivalence_paired(&on_the_margin, 3.0), Some(0.5));
        assert!(equivalence_paired(&on_the_margin, 2.0).unwrap() > 0.9);
    }

    #[test]
    fn values_that_do_not_differ_are_inside_or_outside() {
        assert_eq!(equivalence_paired(&sample(&[0.5; 5]), 0.6), Some(0.0));
        assert_eq!(equivalence_paired(&sample(&[0.5; 5]), 0.4), Some(1.0));
        assert_eq!(equivalence_paired(&sample(&[0.5; 5]), 0.5), Some(0.5));
    }

    #[test]
    fn nothing_is_said_of_four_values_or_without_a_margin() {
        let (four, five) = (sample(&[0.0, 0.1, 0.0, 0.1]), sample(&[0.0, 0.1, 0.0, 0.1, 0.2]));
        assert_eq!((equivalence_paired(&four, 1.0), equivalence_welch(&four, &five, 1.0)), (None, None));
        for margin in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!((equivalence_paired(&five, margin), equivalence_welch(&five, &five, margin)), (None, None));
        }
    }
}
