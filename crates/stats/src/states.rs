//! Whether a series of values alternates between two levels, each kept for a while: a machine that is sometimes fast
//! and sometimes slow.
//!
//! A hidden Markov model with two states and normal noise is fitted by expectation maximisation (Baum et al. 1970).
//! Schwarz's criterion (BIC, 1978) compares it with a single normal distribution. Two modes alone are not states:
//! single slow values also make two modes. So a state must also last.
//!
//! Sources: L. E. Baum, T. Petrie, G. Soules, N. Weiss, "A maximization technique occurring in the statistical analysis of
//! probabilistic functions of Markov chains", Annals of Mathematical Statistics 41(1), 1970; G. Schwarz, "Estimating the dimension
//! of a model", Annals of Statistics 6(2), 1978; K. M. Ashman, C. M. Bird, S. E. Zepf, "Detecting bimodality in astronomical
//! datasets", Astronomical Journal 108(6), 1994, for the least separation.

use crate::{SD_OF_MAD, Sample};

/// Fewer values show nothing about states.
pub const LEAST_FOR_STATES: usize = 24;
/// By how much Schwarz's criterion must prefer two states.
const LEAST_PREFERENCE: f64 = 10.0;
/// Closer levels are one level. In standard deviations within them (the root mean square of both).
const LEAST_SEPARATION: f64 = 2.0;
/// States must last at least this many values on average.
const LEAST_STAY: f64 = 3.0;
/// Values further from the median than this many robust standard deviations count as that far: a stall is not a state.
const FURTHEST: f64 = 5.0;
/// What two states have in addition to one: a level, its noise, and two probabilities of a change.
const MORE_PARAMETERS: f64 = 4.0;
/// The noise of a level has at least this share of the variance of all values: a few equal values are not a level.
const LEAST_NOISE: f64 = 1e-3;
const ITERATIONS: usize = 60;
/// Limits the probability of a change to this distance from 0 and 1.
const LEAST_CHANCE: f64 = 1e-4;

/// Two levels of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct States {
    /// By piece, then by value: whether the value belongs to the lower level.
    pub is_low: Vec<Vec<bool>>,
    /// The distance between the medians of the two levels.
    pub apart: f64,
    /// The same in standard deviations of the fitted noise within a level.
    pub separation: f64,
    /// How many values the lower level lasts on average.
    pub low_stay: f64,
}

impl States {
    /// The share of values in the lower level.
    pub fn low_share(&self) -> f64 {
        let all = || self.is_low.iter().flatten();
        all().filter(|is_low| **is_low).count() as f64 / all().count().max(1) as f64
    }
}

/// The two levels of pieces of a series, each in the order of time. `None` if one level explains them as well.
pub fn states(pieces: &[Vec<f64>]) -> Option<States> {
    let values: Vec<f64> = pieces.iter().flatten().copied().collect();
    if values.len() < LEAST_FOR_STATES {
        return None;
    }
    let bounded = bounded(pieces, &Sample::new(&values).ok()?)?;
    // From several starting points, because the likelihood has several maxima.
    let begin = |share: f64| Model::beginning(&bounded, share).and_then(|model| model.fitted(&bounded));
    let (model, likelihood) =
        [0.05, 0.15, 0.3, 0.5, 0.75, 0.9].into_iter().filter_map(begin).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let preference = 2.0 * (likelihood - of_one(&bounded)) - MORE_PARAMETERS * (values.len() as f64).ln();
    let within = ((model.variances[0] + model.variances[1]) / 2.0).sqrt();
    let separation = (model.levels[1] - model.levels[0]) / within;
    let stays = model.leaves.map(f64::recip);
    if preference < LEAST_PREFERENCE || separation < LEAST_SEPARATION || stays[0] < LEAST_STAY || stays[1] < LEAST_STAY
    {
        return None;
    }
    let is_low: Vec<Vec<bool>> =
        bounded.iter().map(|piece| model.passed(piece).low.iter().map(|chance| *chance > 0.5).collect()).collect();
    let level = |low: bool| {
        let of = pieces.iter().flatten().zip(is_low.iter().flatten()).filter(|(_, is_low)| **is_low == low);
        Some(Sample::new(&of.map(|(value, _)| *value).collect::<Vec<f64>>()).ok()?.median())
    };
    Some(States { apart: level(false)? - level(true)?, separation, low_stay: stays[0], is_low })
}

fn bounded(pieces: &[Vec<f64>], all: &Sample) -> Option<Vec<Vec<f64>>> {
    let off: Vec<f64> = pieces.iter().flatten().map(|value| (value - all.median()).abs()).collect();
    let reach = FURTHEST * Sample::new(&off).ok()?.median() * SD_OF_MAD;
    let within = |value: &f64| value.clamp(all.median() - reach, all.median() + reach);
    (reach > 0.0).then(|| pieces.iter().map(|piece| piece.iter().map(within).collect()).collect())
}

/// The log-likelihood of a single normal distribution.
fn of_one(pieces: &[Vec<f64>]) -> f64 {
    let (number, mean) = mean_of(pieces.iter().flatten().map(|value| (1.0, *value)));
    let variance = mean_of(pieces.iter().flatten().map(|value| (1.0, (value - mean).powi(2)))).1;
    -0.5 * number * ((std::f64::consts::TAU * variance).ln() + 1.0)
}

/// The sum of weights, and the weighted mean.
fn mean_of(weighted: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let (weight, sum) = weighted.fold((0.0, 0.0), |(all, sum), (weight, value)| (all + weight, sum + weight * value));
    (weight, sum / weight)
}

/// Two levels, each with its own noise, because a slow machine slows some cases more than others. The first level
/// starts as the lower one.
#[derive(Debug, Clone, Copy)]
struct Model {
    levels: [f64; 2],
    variances: [f64; 2],
    /// The probability that a level is left after a value.
    leaves: [f64; 2],
}

/// What a model implies for a piece.
struct Passed {
    /// By value: the probability that it belongs to the lower level.
    low: Vec<f64>,
    /// Expected number of changes from the lower level to the upper one, and back.
    changes: [f64; 2],
    likelihood: f64,
}

impl Model {
    /// A starting model in which this share of the values belongs to the lower level.
    fn beginning(pieces: &[Vec<f64>], share: f64) -> Option<Self> {
        let mut sorted: Vec<f64> = pieces.iter().flatten().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = sorted.split_at((share * sorted.len() as f64).ceil() as usize);
        let mean = |part: &[f64]| mean_of(part.iter().map(|value| (1.0, *value))).1;
        let levels = [mean(low), mean(high)];
        let squares = |part: &[f64], level: f64| part.iter().map(|value| (value - level).powi(2)).sum::<f64>();
        let variance = (squares(low, levels[0]) + squares(high, levels[1])) / sorted.len() as f64;
        let leaves = [0.1, 0.1 * share / (1.0 - share)];
        (variance > 0.0).then_some(Self { levels, variances: [variance; 2], leaves })
    }

    /// The long-run share of time in the lower level.
    fn low_share(&self) -> f64 {
        self.leaves[1] / (self.leaves[0] + self.leaves[1])
    }

    /// The most likely model reached from this one, and its log-likelihood.
    fn fitted(mut self, pieces: &[Vec<f64>]) -> Option<(Self, f64)> {
        let middle = mean_of(pieces.iter().flatten().map(|value| (1.0, *value))).1;
        let least = LEAST_NOISE * mean_of(pieces.iter().flatten().map(|value| (1.0, (value - middle).powi(2)))).1;
        for _ in 0..ITERATIONS {
            let passed: Vec<Passed> = pieces.iter().map(|piece| self.passed(piece)).collect();
            let all = || pieces.iter().flatten().copied().zip(passed.iter().flat_map(|it| it.low.iter().copied()));
            let low = mean_of(all().map(|(value, low)| (low, value)));
            let high = mean_of(all().map(|(value, low)| (1.0 - low, value)));
            let levels = [low.1, high.1];
            let variances = [
                mean_of(all().map(|(value, low)| (low, (value - levels[0]).powi(2)))).1.max(least),
                mean_of(all().map(|(value, low)| (1.0 - low, (value - levels[1]).powi(2)))).1.max(least),
            ];
            // Nothing is known of what follows the last value of a piece.
            let last: Vec<f64> = passed.iter().filter_map(|it| it.low.last().copied()).collect();
            let last_low: f64 = last.iter().sum();
            let left = [low.0 - last_low, high.0 - (last.len() as f64 - last_low)];
            let leaves = [0, 1].map(|state: usize| {
                let changes: f64 = passed.iter().map(|it| it.changes[state]).sum();
                (changes / left[state]).clamp(LEAST_CHANCE, 1.0 - LEAST_CHANCE)
            });
            if !levels.iter().chain(&leaves).all(|it| it.is_finite()) {
                return None;
            }
            self = Self { levels, variances, leaves };
        }
        let likelihood = pieces.iter().map(|piece| self.passed(piece).likelihood).sum();
        Some((self, likelihood))
    }

    /// The forward and backward passes over a piece.
    fn passed(&self, piece: &[f64]) -> Passed {
        let density = |value: f64| {
            [0, 1].map(|state: usize| {
                let variance = self.variances[state];
                let distance = (value - self.levels[state]).powi(2) / variance;
                (-0.5 * distance).exp() / (std::f64::consts::TAU * variance).sqrt()
            })
        };
        // Far from both levels a density may vanish.
        let densities: Vec<[f64; 2]> =
            piece.iter().map(|value| density(*value).map(|density| density.max(f64::MIN_POSITIVE))).collect();
        let stays = |from: [f64; 2]| {
            [
                from[0] * (1.0 - self.leaves[0]) + from[1] * self.leaves[1],
                from[0] * self.leaves[0] + from[1] * (1.0 - self.leaves[1]),
            ]
        };
        let (mut forwards, mut likelihood) = (Vec::with_capacity(piece.len()), 0.0);
        let mut before = [self.low_share(), 1.0 - self.low_share()];
        for density in &densities {
            let joint = [before[0] * density[0], before[1] * density[1]];
            let sum = joint[0] + joint[1];
            likelihood += sum.ln();
            let here = joint.map(|it| it / sum);
            forwards.push(here);
            before = stays(here);
        }
        let (mut low, mut changes) = (vec![0.0; piece.len()], [0.0; 2]);
        let mut after = [1.0, 1.0];
        for place in (0..piece.len()).rev() {
            let both = [forwards[place][0] * after[0], forwards[place][1] * after[1]];
            low[place] = both[0] / (both[0] + both[1]);
            let seen = [densities[place][0] * after[0], densities[place][1] * after[1]];
            if let Some(previous) = place.checked_sub(1).map(|it| forwards[it]) {
                let [stay, leave] = [
                    [previous[0] * (1.0 - self.leaves[0]) * seen[0], previous[1] * (1.0 - self.leaves[1]) * seen[1]],
                    [previous[0] * self.leaves[0] * seen[1], previous[1] * self.leaves[1] * seen[0]],
                ];
                let sum = stay[0] + stay[1] + leave[0] + leave[1];
                changes[0] += leave[0] / sum;
                changes[1] += leave[1] / sum;
            }
            let back = [
                (1.0 - self.leaves[0]) * seen[0] + self.leaves[0] * seen[1],
                self.leaves[1] * seen[0] + (1.0 - self.leaves[1]) * seen[1],
            ];
            after = back.map(|it| it / (back[0] + back[1]));
        }
        Passed { low, changes, likelihood }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deterministic noise whose period is unrelated to the stretches in the tests.
    fn noise(at: usize) -> f64 {
        0.02 * ((at * 7 + at * at * 3) % 11) as f64 / 5.0 - 0.02
    }

    #[test]
    fn a_slow_stretch_is_found_with_its_length_and_depth() {
        let piece = |slow: std::ops::Range<usize>| -> Vec<f64> {
            (0..60).map(|at| noise(at) - if slow.contains(&at) { 0.3 } else { 0.0 }).collect()
        };
        let found = states(&[piece(20..35), piece(0..0), piece(50..60)]).unwrap();
        assert!((found.low_share() - 25.0 / 180.0).abs() < 1e-9, "{}", found.low_share());
        assert!((found.apart - 0.3).abs() < 0.02 && found.separation > 5.0, "{found:?}");
        assert!(found.is_low[0][20..35].iter().all(|is_low| *is_low) && !found.is_low[1].contains(&true));
    }

    #[test]
    fn single_slow_values_are_no_state_however_many() {
        let every_sixth: Vec<f64> = (0..240).map(|at| noise(at) - if at % 6 == 0 { 0.3 } else { 0.0 }).collect();
        assert_eq!(states(&[every_sixth]), None);
    }

    #[test]
    fn nothing_is_found_in_few_values_or_in_equal_ones() {
        let short: Vec<f64> = (0..20).map(|at| if at < 10 { 0.0 } else { 1.0 } + noise(at)).collect();
        assert_eq!(states(&[short]), None);
        assert_eq!(states(&[vec![1.0; 100]]), None);
        assert_eq!(states(&[]), None);
    }
}
