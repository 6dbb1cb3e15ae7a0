//! Whether a series, one value a second, has settled.

use crate::changepoints::{changepoint_penalty, changepoints, levels};
use crate::quantile::SD_OF_MAD;
use crate::quantile::in_range;
use crate::{Level, Sample, theil_sen};

/// Series with fewer values cannot be judged.
pub const LEAST_STEADY_SECONDS: usize = 10;

/// The default tolerance: levels that differ by no more than this share are one level. It equals the default smallest
/// effect of studies: what is no difference between two servers is none between two parts of a window.
pub const STEADY_TOLERANCE: f64 = 0.03;

/// A slope uses at most this many values.
const MOST_FOR_SLOPE: usize = 300;

/// How far a second must be from both its neighbours to be left out, in standard deviations of the noise.
const SPIKE: f64 = 5.0;

/// The shape of a series in which higher is better, such as correct responses in each second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteadyClass {
    /// One level throughout.
    Flat,
    /// It reached its last level from lower ones only, and stayed there.
    WarmUp,
    /// It reached its last level, and stayed there, but an earlier one was higher.
    Slowdown,
    /// It has no level at its end: it changed within its last quarter, or rises or falls there.
    NoSteadyState,
}

/// A stretch of a series at one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyLevel {
    /// The position of its first value.
    pub from: usize,
    /// Mean of its values without spikes, in the unit of the series.
    pub mean: f64,
}

/// What [`steady`] finds.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyState {
    /// The shape of the series.
    pub class: SteadyClass,
    /// The position from which the last level was kept: 0 for a flat series. With [`SteadyClass::NoSteadyState`] it is
    /// where the series changed last, and nothing after it is steady.
    pub steady_from: usize,
    /// The levels in their order, at least one. Neighbours differ by more than the tolerance.
    pub levels: Vec<SteadyLevel>,
    /// Positions of single values far from both their neighbours, which count for no level.
    pub spikes: Vec<usize>,
}

/// Classifies a series in which **higher is better**. `None` below [`LEAST_STEADY_SECONDS`] values, for a value that is
/// not finite or too large, and for a tolerance outside 0 to 1.
///
/// 1. A single value is left out if it is above both its neighbours, or below both, by more than 5 standard deviations
///    of the noise and by more than the tolerance: a pause of one second is not a level. The noise is 1.4826 / √2 times
///    the median distance of neighbours. The last value has only one neighbour, and the value before that replaces the
///    other. The first value stays: a low first second is typical of a warm-up.
/// 2. The series is cut by [`changepoints`] with [`changepoint_penalty`].
/// 3. Neighbouring levels that differ by no more than `tolerance`, as a share of the larger one, are merged, the
///    nearest first.
/// 4. A change within the last quarter: [`SteadyClass::NoSteadyState`]. The same holds for a last level that rises or
///    falls: the interval of its Theil–Sen slope at 99.9% excludes 0, and the slope changes it by more than the
///    tolerance from its beginning to its end. This applies to last levels of at least [`LEAST_STEADY_SECONDS`] values.
/// 5. One level: flat. An earlier level that is higher than the last by more than the tolerance: slowdown. Else:
///    warm-up.
///
/// Source: E. Barrett, C. F. Bolz-Tereick, R. Killick, S. Mount and L. Tratt, "Virtual machine warmup blows hot and
/// cold", OOPSLA 2017, section 4. Taken from there: changepoints, merging of equivalent levels, the classes, and the
/// quarter (500 of their 2,000 iterations). Different here: the noise (one variance, see [`changepoints`]), the
/// tolerance (a share instead of 1 ms and the variance), and spikes instead of their outliers in windows of 200. The
/// slope is added, because a slow rise in a short series has too few values to become steps. Their fifth class,
/// *inconsistent*, concerns several series.
///
/// How often a flat series with normal noise, each value correlated with its neighbour by ρ, is classified as something
/// else at a tolerance of 3% (3,000 series per cell):
///
/// | n | 10 | 15 | 20 | 30 | 60 | 120 |
/// |---|---|---|---|---|---|---|
/// | noise 1%, ρ = 0 | 0.0% | 0.0% | 0.0% | 0.0% | 0.0% | 0.0% |
/// | noise 1%, ρ = 0.3 | 0.0% | 0.1% | 0.1% | 0.0% | 0.0% | 0.0% |
/// | noise 2%, ρ = 0.3 | 0.8% | 0.9% | 1.4% | 1.0% | 1.0% | 0.1% |
/// | noise 5%, ρ = 0.3 | 1.2% | 1.1% | 1.6% | 1.1% | 1.5% | 1.7% |
///
/// ```
/// use tolok_stats::{STEADY_TOLERANCE, SteadyClass, steady};
///
/// let series = [810.0, 830.0, 820.0, 1001.0, 999.0, 1000.0, 1008.0, 1003.0, 996.0, 1000.0];
/// let found = steady(&series, STEADY_TOLERANCE).expect("ten seconds can be judged");
/// assert_eq!((found.class, found.steady_from), (SteadyClass::WarmUp, 3));
/// ```
pub fn steady(series: &[f64], tolerance: f64) -> Option<SteadyState> {
    let judged = series.len() >= LEAST_STEADY_SECONDS && (0.0..=1.0).contains(&tolerance);
    if !judged || !series.iter().all(|&value| in_range(value)) {
        return None;
    }
    let spikes = spikes(series, tolerance);
    let mut calm = series.to_vec();
    for &at in &spikes {
        // The neighbour is not a spike: two in a row never are.
        calm[at] = series[at - 1];
    }
    let changes = changepoints(&calm, changepoint_penalty(calm.len())).ok()?;
    let levels = merged(&calm, &spikes, &changes, tolerance);
    let last = levels.last()?;
    let class = class(&levels, &calm[last.from..], series.len(), tolerance);
    Some(SteadyState { class, steady_from: last.from, levels, spikes })
}

fn alike(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

fn class(levels: &[SteadyLevel], last_values: &[f64], n: usize, tolerance: f64) -> SteadyClass {
    let last = levels[levels.len() - 1].mean;
    if 4 * last_values.len() < n || drifts(last_values, last, tolerance) {
        return SteadyClass::NoSteadyState;
    }
    if levels.len() == 1 {
        return SteadyClass::Flat;
    }
    let higher = levels.iter().any(|level| level.mean > last && !alike(level.mean, last, tolerance));
    if higher { SteadyClass::Slowdown } else { SteadyClass::WarmUp }
}

/// Whether a level rises or falls by more than the tolerance from its beginning to its end, and not by chance.
fn drifts(values: &[f64], mean: f64, tolerance: f64) -> bool {
    if values.len() < LEAST_STEADY_SECONDS {
        return false;
    }
    // Each pair of values has a slope, so means of neighbours replace the values of a long level.
    let apart = values.len().div_ceil(MOST_FOR_SLOPE);
    let values: Vec<f64> =
        values.chunks(apart).map(|values| values.iter().sum::<f64>() / values.len() as f64).collect();
    let places: Vec<f64> = (0..values.len()).map(|place| place as f64).collect();
    let Some(line) = Level::new(0.999).ok().and_then(|level| theil_sen(&places, &values, level)) else { return false };
    let change = line.slope.abs() * (values.len() - 1) as f64;
    line.interval.is_some_and(|interval| !interval.contains(0.0)) && change > tolerance * mean.abs()
}

/// Single values far from both their neighbours, on the same side. Never the first value, and never two in a row.
fn spikes(series: &[f64], tolerance: f64) -> Vec<usize> {
    let distances = series.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    let noise =
        Sample::from_vec(distances).map_or(0.0, |sample| SD_OF_MAD * sample.median() / std::f64::consts::SQRT_2);
    let mut found: Vec<usize> = Vec::new();
    for at in 1..series.len() {
        let before = series[at - 1];
        let after = if at + 1 < series.len() { series[at + 1] } else { series[at - 2] };
        let (from_before, from_after) = (series[at] - before, series[at] - after);
        let least = from_before.abs().min(from_after.abs());
        let beyond = |neighbour: f64| !alike(series[at], neighbour, tolerance);
        let away = from_before * from_after > 0.0 && least > SPIKE * noise && beyond(before) && beyond(after);
        if away && found.last() != Some(&(at - 1)) {
            found.push(at);
        }
    }
    found
}

/// The levels between the changes. Repeatedly merges the two nearest neighbours within the tolerance.
fn merged(calm: &[f64], spikes: &[usize], changes: &[usize], tolerance: f64) -> Vec<SteadyLevel> {
    let mut bounds: Vec<(usize, usize)> = levels(changes, calm.len()).collect();
    let mean = |&(from, to): &(usize, usize)| {
        let kept = (from..to).filter(|at| !spikes.contains(at)).map(|at| calm[at]).collect();
        Sample::from_vec(kept).map_or(calm[from], |sample| sample.mean())
    };
    loop {
        let means: Vec<f64> = bounds.iter().map(mean).collect();
        let apart = |at: &usize| (means[*at] - means[at + 1]).abs() / means[*at].abs().max(means[at + 1].abs());
        let alike = (0..means.len() - 1).filter(|&at| alike(means[at], means[at + 1], tolerance));
        let Some(nearest) = alike.min_by(|a, b| apart(a).total_cmp(&apart(b))) else {
            return bounds.iter().zip(means).map(|(&(from, _), mean)| SteadyLevel { from, mean }).collect();
        };
        bounds[nearest].1 = bounds[nearest + 1].1;
        bounds.remove(nearest + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels with small, regular fluctuations of ±0.5%.
    fn series(levels: &[(usize, f64)]) -> Vec<f64> {
        let values = levels.iter().flat_map(|&(seconds, level)| std::iter::repeat_n(level, seconds));
        values.enumerate().map(|(second, level)| level * [1.0, 1.005, 0.997, 1.002, 0.995][second % 5]).collect()
    }

    fn classified(levels: &[(usize, f64)]) -> (SteadyClass, usize) {
        let found = steady(&series(levels), STEADY_TOLERANCE).unwrap();
        (found.class, found.steady_from)
    }

    #[test]
    fn the_classes() {
        assert_eq!(classified(&[(30, 1000.0)]), (SteadyClass::Flat, 0));
        assert_eq!(classified(&[(10, 800.0), (20, 1000.0)]), (SteadyClass::WarmUp, 10));
        assert_eq!(classified(&[(10, 1000.0), (20, 800.0)]), (SteadyClass::Slowdown, 10));
        assert_eq!(classified(&[(25, 1000.0), (5, 800.0)]), (SteadyClass::NoSteadyState, 25));
        assert_eq!(classified(&[(25, 1000.0), (5, 1200.0)]), (SteadyClass::NoSteadyState, 25));
    }

    #[test]
    fn a_dip_that_is_over_is_a_warm_up_and_a_peak_that_is_over_a_slowdown() {
        assert_eq!(classified(&[(10, 1000.0), (10, 800.0), (20, 1000.0)]), (SteadyClass::WarmUp, 20));
        assert_eq!(classified(&[(10, 800.0), (10, 1200.0), (20, 1000.0)]), (SteadyClass::Slowdown, 20));
    }

    #[test]
    fn the_last_quarter_is_enough_and_less_is_not() {
        assert_eq!(classified(&[(30, 800.0), (10, 1000.0)]), (SteadyClass::WarmUp, 30));
        assert_eq!(classified(&[(31, 800.0), (9, 1000.0)]), (SteadyClass::NoSteadyState, 31));
    }

    #[test]
    fn levels_within_the_tolerance_are_one() {
        assert_eq!(classified(&[(15, 1000.0), (15, 1025.0)]), (SteadyClass::Flat, 0));
        let found = steady(&series(&[(15, 1000.0), (15, 1025.0)]), 0.01).unwrap();
        assert_eq!((found.class, found.steady_from), (SteadyClass::WarmUp, 15));
    }

    #[test]
    fn a_pause_of_one_second_is_named_and_counts_for_no_level() {
        for at in [7, 29] {
            let mut paused = series(&[(30, 1000.0)]);
            paused[at] = 300.0;
            let found = steady(&paused, STEADY_TOLERANCE).unwrap();
            assert_eq!((found.class, found.spikes), (SteadyClass::Flat, vec![at]));
            assert!((found.levels[0].mean - 1000.0).abs() < 2.0, "{:?}", found.levels);
        }
    }

    #[test]
    fn low_first_seconds_are_a_warm_up() {
        assert_eq!(classified(&[(2, 500.0), (28, 1000.0)]), (SteadyClass::WarmUp, 2));
    }

    #[test]
    fn a_slow_fall_is_not_steady_although_it_has_no_step() {
        let falling: Vec<f64> = series(&[(30, 1000.0)]).iter().zip(0..).map(|(v, s)| v - 1.2 * f64::from(s)).collect();
        let found = steady(&falling, STEADY_TOLERANCE).unwrap();
        assert_eq!(found.class, SteadyClass::NoSteadyState);
    }

    #[test]
    fn an_hour_is_judged_like_half_a_minute() {
        assert_eq!(classified(&[(3_600, 1000.0)]), (SteadyClass::Flat, 0));
        assert_eq!(classified(&[(1_200, 800.0), (2_400, 1000.0)]), (SteadyClass::WarmUp, 1_200));
        let falling: Vec<f64> =
            series(&[(3_600, 1000.0)]).iter().zip(0..).map(|(v, s)| v - 0.012 * f64::from(s)).collect();
        let found = steady(&falling, STEADY_TOLERANCE).unwrap();
        assert_eq!(found.class, SteadyClass::NoSteadyState);
    }

    #[test]
    fn what_cannot_be_judged_is_not() {
        assert_eq!(steady(&[1.0; 9], STEADY_TOLERANCE), None);
        assert_eq!(steady(&[f64::NAN; 12], STEADY_TOLERANCE), None);
        assert_eq!(steady(&[1.0; 12], -0.1), None);
        assert_eq!(steady(&[1.0; 12], f64::NAN), None);
    }

    #[test]
    fn a_server_that_answers_nothing_is_flat_and_one_that_stops_slows_down() {
        assert_eq!(classified(&[(12, 0.0)]), (SteadyClass::Flat, 0));
        assert_eq!(classified(&[(12, 1000.0), (12, 0.0)]), (SteadyClass::Slowdown, 12));
    }
}
