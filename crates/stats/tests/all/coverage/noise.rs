//! Studies of equal cases under realistic machine noise. All is on the log scale: a value is ln(responses per second).

use tolok_stats::Rng;

use crate::normal::normal;

/// Standard deviation of a trial, for noise that has one.
pub const SPREAD: f64 = 0.05;
/// By how much the machine's slow state slows each case, as a difference of logarithms, from the least to the most
/// sensitive.
const LEAST_AND_MOST_SLOWED: [f64; 2] = [0.1, 1.2];
/// The remaining noise within a state.
const WITHIN_STATE: f64 = 0.02;
/// A block of `quick`: the number of trials, and the seconds of each trial and of its window.
const TRIALS_OF_BLOCK: u64 = 19;
const TRIAL_S: f64 = 1.3;
const WINDOW_S: f64 = 0.7;
/// A slice with its overhead.
const SLICE_S: f64 = 0.15;

/// What disturbs single trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Independent, and the same for all.
    Lognormal,
    /// Much heavier tails on both sides.
    Laplace,
    /// One trial in ten is slower by a quarter: six times the usual spread.
    Outliers,
    /// The machine alternates between fast and slow, for exponential times with these means, and slows each case by its
    /// own factor.
    TwoStates { fast_s: f64, slow_s: f64 },
    /// Resampled residuals of a stored run. Each case has those of one subject.
    Redrawn,
    /// Only the first of six cases has slow trials: one in ten, by half.
    RareOfOne,
}

impl Noise {
    /// Equal cases: by case, then by block. Each has a long-run mean of 0.
    pub fn study(self, cases: usize, blocks: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
        let sensitivities: Vec<f64> = (0..cases).map(|case| sensitivity(case, cases)).collect();
        self.study_of(&sensitivities, blocks, rng)
    }

    /// The same for cases with these sensitivities to the state of the machine.
    pub fn study_of(self, sensitivities: &[f64], blocks: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
        let cases = sensitivities.len();
        let shared: Vec<f64> = (0..blocks).map(|_| 0.3 * normal(rng)).collect();
        let mut rows = match self {
            Self::TwoStates { fast_s, slow_s } => {
                let shares = slow_shares(cases, blocks, [fast_s, slow_s], rng);
                let expected = slow_s / (fast_s + slow_s);
                let of =
                    |(row, slowed): (&Vec<f64>, &f64)| row.iter().map(|share| slowed * (expected - share)).collect();
                let mut rows: Vec<Vec<f64>> = shares.iter().zip(sensitivities).map(of).collect();
                rows.iter_mut().flatten().for_each(|value| *value += WITHIN_STATE * normal(rng));
                rows
            }
            _ => (0..cases).map(|case| (0..blocks).map(|_| self.draw(case, rng)).collect()).collect(),
        };
        rows.iter_mut().for_each(|row| row.iter_mut().zip(&shared).for_each(|(value, shared)| *value += shared));
        rows
    }

    /// A launch of equal cases that take turns in this many slices of 0.15 s, in their order. Every server has its own
    /// level in the launch.
    pub fn slices(self, cases: usize, number: usize, rng: &mut Rng) -> Vec<f64> {
        let levels: Vec<f64> = (0..cases).map(|_| WITHIN_STATE * normal(rng)).collect();
        let mut speed = match self {
            Self::TwoStates { fast_s, slow_s } => Some(Speed::new([fast_s, slow_s], rng)),
            _ => None,
        };
        let value = |at: usize| {
            let case = rng.below(cases as u64) as usize;
            let from_s = at as f64 * SLICE_S;
            let own = match &mut speed {
                None => self.draw(case, rng),
                Some(speed) => {
                    WITHIN_STATE * normal(rng)
                        - speed.slow_share(from_s, from_s + SLICE_S, rng) * sensitivity(case, cases)
                }
            };
            own + levels[case]
        };
        (0..number).map(value).collect()
    }

    /// A trial whose noise does not depend on others.
    fn draw(self, case: usize, rng: &mut Rng) -> f64 {
        let slowed = |spreads: f64, rng: &mut Rng| {
            let slowed = rng.below(10) == 0;
            SPREAD * (normal(rng) + 0.1 * spreads - if slowed { spreads } else { 0.0 })
        };
        match self {
            Self::Laplace => {
                let (u, v) = (1.0 - rng.unit(), 1.0 - rng.unit());
                SPREAD * (u.ln() - v.ln()) / std::f64::consts::SQRT_2
            }
            Self::Outliers => slowed(6.0, rng),
            Self::RareOfOne if case.is_multiple_of(6) => slowed(14.0, rng),
            Self::Redrawn => {
                let pools = residuals();
                let pool = &pools[case % pools.len()];
                pool[rng.below(pool.len() as u64) as usize]
            }
            _ => SPREAD * normal(rng),
        }
    }
}

/// How sensitive a case is, evenly spaced from the least to the most.
pub fn sensitivity(case: usize, cases: usize) -> f64 {
    let [least, most] = LEAST_AND_MOST_SLOWED;
    least + (most - least) * case as f64 / (cases - 1).max(1) as f64
}

fn exponential(mean: f64, rng: &mut Rng) -> f64 {
    -mean * (1.0 - rng.unit()).ln()
}

/// A machine that alternates between fast and slow.
struct Speed {
    means_s: [f64; 2],
    is_slow: bool,
    begun_s: f64,
    ends_s: f64,
}

impl Speed {
    fn new(means_s: [f64; 2], rng: &mut Rng) -> Self {
        let is_slow = rng.unit() < means_s[1] / (means_s[0] + means_s[1]);
        Self { means_s, is_slow, begun_s: 0.0, ends_s: exponential(means_s[usize::from(is_slow)], rng) }
    }

    /// The share of this time in which it was slow. Calls must be in the order of time.
    fn slow_share(&mut self, from_s: f64, to_s: f64, rng: &mut Rng) -> f64 {
        let mut slow_s = 0.0;
        loop {
            if self.is_slow {
                slow_s += (self.ends_s.min(to_s) - self.begun_s.max(from_s)).max(0.0);
            }
            if self.ends_s >= to_s {
                return slow_s / (to_s - from_s);
            }
            (self.is_slow, self.begun_s) = (!self.is_slow, self.ends_s);
            self.ends_s += exponential(self.means_s[usize::from(self.is_slow)], rng);
        }
    }
}

/// By case, then by block: the share of the window in which the machine was slow. Each block has a random order among trials
/// of other scenarios.
fn slow_shares(cases: usize, blocks: usize, means_s: [f64; 2], rng: &mut Rng) -> Vec<Vec<f64>> {
    let mut speed = Speed::new(means_s, rng);
    let mut by_block = vec![vec![0.0; cases]; blocks];
    for (block, shares) in by_block.iter_mut().enumerate() {
        let mut order: Vec<usize> = (0..TRIALS_OF_BLOCK as usize).collect();
        (1..order.len()).rev().for_each(|at| order.swap(at, rng.below(at as u64 + 1) as usize));
        for (place, case) in order.into_iter().enumerate().filter(|(_, case)| *case < cases) {
            let from_s = (block as f64 * TRIALS_OF_BLOCK as f64 + place as f64) * TRIAL_S;
            shares[case] = speed.slow_share(from_s, from_s + WINDOW_S, rng);
        }
    }
    (0..cases).map(|case| by_block.iter().map(|shares| shares[case]).collect()).collect()
}

/// Residuals of six subjects of a `quick` run, made by `fixtures/generate_residuals.py`.
fn residuals() -> &'static [Vec<f64>] {
    static POOLS: std::sync::OnceLock<Vec<Vec<f64>>> = std::sync::OnceLock::new();
    POOLS.get_or_init(|| {
        let all: std::collections::BTreeMap<String, Vec<f64>> =
            serde_json::from_str(include_str!("../../../fixtures/residuals.json")).unwrap_or_default();
        // A file server has no case of its own in a study of programs.
        let pools: Vec<Vec<f64>> =
            all.into_iter().filter(|(subject, _)| !subject.starts_with("nginx")).map(centred).collect();
        assert_eq!(pools.len(), 6, "fixtures/residuals.json");
        pools
    })
}

fn centred((_, values): (String, Vec<f64>)) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| value - mean).collect()
}
