//! Draws the blocks of a bootstrap: the same draws for every statistic of a run, from a fixed seed.
//!
//! Blocks are the unit of repetition, so the bootstrap draws blocks, each with all its measurements. With few blocks, the
//! intervals of a plain bootstrap are too narrow: it uses the spread of n values as that of the population, without Student's t.
//! So the tails are narrowed to Φ(−√(n ÷ (n − 1)) · t), with t the quantile of Student's distribution with n − 1 degrees of
//! freedom. Then the interval of a mean of normal values is as wide as Student's.
//!
//! Source: T. C. Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician 69(4), 2015.

use std::collections::BTreeMap;
use std::rc::Rc;

use tolok_stats::{Level, Rng, normal_cdf, student_t_quantile};

/// The seed of all draws. It never changes, so the same records give the same findings.
const SEED: u64 = 0x7461_6b65_2062_6c6b;
/// Draws for each interval. With five blocks, the narrowed tails leave about ten of them on either side.
const DRAWS: usize = 10_000;

/// How often each draw contains each block.
pub(crate) struct Draws {
    blocks: usize,
    counts: Vec<f64>,
    /// The share of draws outside an interval on either side.
    tail: f64,
}

impl Draws {
    fn of(blocks: usize, draws: usize) -> Self {
        let mut rng = Rng::seeded(SEED ^ blocks as u64);
        let mut counts = vec![0.0; blocks * draws];
        for draw in counts.chunks_exact_mut(blocks) {
            for _ in 0..blocks {
                draw[rng.below(blocks as u64) as usize] += 1.0;
            }
        }
        Self { blocks, counts, tail: tail(blocks) }
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = &[f64]> {
        self.counts.chunks_exact(self.blocks)
    }

    /// The lower end of the interval, from one value for each draw.
    pub(crate) fn low(&self, values: &mut [f64]) -> f64 {
        let place = (self.tail * (values.len() - 1) as f64).floor() as usize;
        *values.select_nth_unstable_by(place, f64::total_cmp).1
    }

    /// The upper end of the interval.
    pub(crate) fn high(&self, values: &mut [f64]) -> f64 {
        let place = ((1.0 - self.tail) * (values.len() - 1) as f64).ceil() as usize;
        *values.select_nth_unstable_by(place, f64::total_cmp).1
    }

    pub(crate) fn middle(values: &mut [f64]) -> f64 {
        let place = values.len() / 2;
        *values.select_nth_unstable_by(place, f64::total_cmp).1
    }
}

fn tail(blocks: usize) -> f64 {
    let blocks = blocks as f64;
    let t = student_t_quantile(1.0 - (1.0 - Level::P95.fraction()) / 2.0, blocks - 1.0);
    normal_cdf(-(blocks / (blocks - 1.0)).sqrt() * t)
}

/// The draws by the number of blocks, made on first use.
#[derive(Default)]
pub(crate) struct Resampling {
    known: BTreeMap<usize, Rc<Draws>>,
}

impl Resampling {
    /// `None` with fewer blocks than an interval needs.
    pub(crate) fn of(&mut self, blocks: usize) -> Option<Rc<Draws>> {
        let is_enough = blocks >= Level::P95.least_sample();
        is_enough.then(|| Rc::clone(self.known.entry(blocks).or_insert_with(|| Rc::new(Draws::of(blocks, DRAWS)))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_draw_has_as_many_blocks_as_there_are() {
        let draws = Resampling::default().of(6).unwrap();
        assert_eq!(draws.each().count(), DRAWS);
        assert!(draws.each().all(|counts| counts.len() == 6 && counts.iter().sum::<f64>() == 6.0));
    }

    #[test]
    fn the_tails_are_those_of_student() {
        // SciPy 1.17.1: norm.cdf(-sqrt(n / (n - 1)) * t.ppf(0.975, n - 1)).
        let check = |blocks, expected: f64| assert!((tail(blocks) / expected - 1.0).abs() < 1e-6, "{}", tail(blocks));
        check(5, 9.541_005_518_8e-4);
        check(10, 8.550_639_024_4e-3);
        check(30, 1.875_390_027_8e-2);
    }

    #[test]
    fn fewer_than_five_blocks_have_no_draws() {
        assert!(Resampling::default().of(4).is_none());
        assert!(Resampling::default().of(5).is_some());
    }
}
