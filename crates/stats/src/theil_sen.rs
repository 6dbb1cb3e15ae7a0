//! A slope that is robust against single far-off points.

use crate::quantile::in_range;
use crate::{Interval, Level, Sample, normal_quantile};

/// More points are refused: each pair of points has a slope, and these would fill the memory.
const MOST_POINTS: usize = 5_000;

/// A line through points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// Units of y per unit of x: the median of the slopes of all pairs of points that differ in x.
    pub slope: f64,
    /// Median of y − slope · median of x.
    pub intercept: f64,
    /// Interval of the slope at the requested level. `None` below [`Level::least_sample`] points, or if so few points,
    /// or too many ties, cannot reach the level.
    pub interval: Option<Interval>,
}

/// The slope of Theil and Sen. Up to 29% of the points may be anywhere without moving it far. `None` if x and y differ
/// in length, a value is not finite or too large, all points have the same x, or there are more than 5,000.
///
/// The interval consists of the slopes of the ranks (N ∓ z · σ) / 2. N is the number of slopes and σ² the variance of
/// Kendall's S with ties in x and in y: [n (n − 1) (2n + 5) − Σ t (t − 1) (2t + 5)] / 18. It assumes that the points
/// scatter independently about the line. If neighbours are correlated, as seconds of a server are, it is too narrow.
///
/// Source: P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", Journal of the American
/// Statistical Association 63(324), 1968; ties in y as in M. G. Kendall, *Rank Correlation Methods*, 4th ed., 1970. The
/// results, including the intercept, equal those of SciPy's `theilslopes`, except where SciPy cuts off intervals at the
/// extreme slopes.
///
/// ```
/// use tolok_stats::{Level, theil_sen};
///
/// let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
/// let y = [1.0, 3.0, 5.0, 7.0, 900.0, 11.0, 13.0, 15.0];
/// let found = theil_sen(&x, &y, Level::P95).expect("eight points");
/// assert_eq!((found.slope, found.intercept), (2.0, 2.0));
/// ```
pub fn theil_sen(x: &[f64], y: &[f64], level: Level) -> Option<Slope> {
    if x.len() != y.len() || x.len() > MOST_POINTS || !x.iter().chain(y).all(|&value| in_range(value)) {
        return None;
    }
    let slopes = Sample::from_vec(slopes(x, y)).ok()?;
    let (x, y) = (Sample::new(x).ok()?, Sample::new(y).ok()?);
    let slope = slopes.median();
    Some(Slope { slope, intercept: y.median() - slope * x.median(), interval: interval(&slopes, &x, &y, level) })
}

/// The slope of every pair of points that differ in x.
fn slopes(x: &[f64], y: &[f64]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(x.len() * x.len().saturating_sub(1) / 2);
    for first in 0..x.len() {
        for second in first + 1..x.len() {
            let run = x[second] - x[first];
            if run != 0.0 {
                slopes.push((y[second] - y[first]) / run);
            }
        }
    }
    slopes
}

fn interval(slopes: &Sample, x: &Sample, y: &Sample, level: Level) -> Option<Interval> {
    if x.len() < level.least_sample() {
        return None;
    }
    let spread = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
    let ties =
        |sample: &Sample| sample.sorted().chunk_by(|a, b| a == b).map(|run| spread(run.len() as f64)).sum::<f64>();
    let variance = (spread(x.len() as f64) - ties(x) - ties(y)) / 18.0;
    let n = slopes.len() as f64;
    let reach = normal_quantile(1.0 - level.miss() / 2.0) * variance.max(0.0).sqrt();
    let (low, high) = (((n - reach) / 2.0).round_ties_even() - 1.0, ((n + reach) / 2.0).round_ties_even());
    // Ranks beyond the extreme slopes: not even the whole range of slopes reaches the level.
    if low < 0.0 || high > n - 1.0 {
        return None;
    }
    let at = |rank: f64| slopes.sorted()[rank as usize];
    Some(Interval { low: at(low), high: at(high), level: level.fraction() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_line_is_refused() {
        assert_eq!(theil_sen(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0], Level::P95), None);
        assert_eq!(theil_sen(&[1.0, 2.0], &[1.0], Level::P95), None);
        assert_eq!(theil_sen(&[], &[], Level::P95), None);
        assert_eq!(theil_sen(&[1.0, 2.0], &[1.0, f64::NAN], Level::P95), None);
        assert_eq!(theil_sen(&[0.0; MOST_POINTS + 1], &[0.0; MOST_POINTS + 1], Level::P95), None);
    }

    #[test]
    fn few_points_have_a_slope_but_no_interval() {
        let found = theil_sen(&[0.0, 1.0, 2.0, 3.0], &[0.0, 1.0, 2.0, 3.0], Level::P95).unwrap();
        assert_eq!((found.slope, found.interval), (1.0, None));
    }

    #[test]
    fn a_sixth_of_the_points_may_lie_anywhere() {
        let x: Vec<f64> = (0..12).map(f64::from).collect();
        let mut y: Vec<f64> = x.iter().map(|x| 3.0 - 0.5 * x).collect();
        (y[2], y[9]) = (1e6, -1e6);
        assert_eq!(theil_sen(&x, &y, Level::P95).unwrap().slope, -0.5);
    }
}
