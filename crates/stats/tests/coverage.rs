//! What comparisons of cases within blocks hold to, by simulation: how often intervals cover, how often a family of
//! identical cases gives a false difference, how often a difference at the margin is called none, and whether power is
//! as foretold. Seeds are fixed, so the counts are the same in every run; the bounds are four standard errors wide, so
//! that another seed would pass too.
//!
//! The tables of `METHODOLOGY.md` come from the same functions with more repetitions:
//! `cargo test --release -p tolok-stats --test coverage -- --ignored --nocapture`

#![allow(clippy::unwrap_used, reason = "test code; clippy takes only functions marked #[test] for it")]

use tolok_stats::{
    GeometricOutcome, Level, Rng, Sample, blocks_needed, equivalence_paired, geometric_ratio, holm, paired_t,
    smallest_effect_found,
};

/// Standard normal, by Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// What disturbs a single trial; on the log scale.
#[derive(Debug, Clone, Copy)]
enum Noise {
    Lognormal,
    /// Much heavier tails on both sides.
    Laplace,
    /// Lognormal, and one trial in ten is slower by a quarter: six times the usual spread.
    Outliers,
    /// The values of a case are lognormal, of the other with outliers that lie so many spreads out: their ratios are
    /// skewed.
    OutliersOfOne(f64),
}

impl Noise {
    const SPREAD: f64 = 0.05;

    /// Of one trial; `first` says of which of the two cases.
    fn draw(self, first: bool, rng: &mut Rng) -> f64 {
        match self {
            Self::Laplace => {
                let (u, v) = (1.0 - rng.unit(), 1.0 - rng.unit());
                Self::SPREAD * (u.ln() - v.ln()) / std::f64::consts::SQRT_2
            }
            Self::Lognormal => Self::SPREAD * normal(rng),
            Self::OutliersOfOne(_) if first => Self::SPREAD * normal(rng),
            Self::Outliers => Self::sometimes_slowed(6.0, rng),
            Self::OutliersOfOne(spreads) => Self::sometimes_slowed(spreads, rng),
        }
    }

    fn sometimes_slowed(spreads: f64, rng: &mut Rng) -> f64 {
        let slowed = rng.below(10) == 0;
        Self::SPREAD * (normal(rng) - if slowed { spreads } else { 0.0 })
    }

    /// The mean of the logarithm of the ratio of two cases that are the same but for this noise.
    fn mean_of_log_ratio(self) -> f64 {
        if let Self::OutliersOfOne(spreads) = self { 0.1 * spreads * Self::SPREAD } else { 0.0 }
    }
}

/// Throughputs of one case: what the block does to all of them, and its own noise.
fn throughputs(blocks: &[f64], noise: Noise, first: bool, rng: &mut Rng) -> Vec<Option<f64>> {
    blocks.iter().map(|block| Some((block + noise.draw(first, rng)).exp())).collect()
}

/// The effects that a block has on all its cases: six times as large as the noise.
fn block_effects(blocks: usize, rng: &mut Rng) -> Vec<f64> {
    (0..blocks).map(|_| 8.0 + 0.3 * normal(rng)).collect()
}

fn log_differences(a: &[Option<f64>], b: &[Option<f64>]) -> Sample {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a.unwrap().ln() - b.unwrap().ln()).collect();
    Sample::new(&differences).unwrap()
}

/// The fraction of repetitions in which the 95 % interval of the ratio holds the true one.
fn coverage(blocks: usize, noise: Noise, repetitions: u32) -> f64 {
    let mut rng = Rng::seeded(blocks as u64);
    let truth = noise.mean_of_log_ratio().exp();
    let covered = (0..repetitions).filter(|_| {
        let effects = block_effects(blocks, &mut rng);
        let (a, b) = (throughputs(&effects, noise, true, &mut rng), throughputs(&effects, noise, false, &mut rng));
        match geometric_ratio(&a, &b, Level::P95).unwrap().outcome {
            GeometricOutcome::Estimated { interval: Some(interval), .. } => interval.contains(truth),
            other => panic!("no interval for {blocks} blocks: {other:?}"),
        }
    });
    covered.count() as f64 / f64::from(repetitions)
}

/// The fraction of repetitions in which any of the 15 pairs of six identical cases is told apart after Holm.
fn false_family(blocks: usize, noise: Noise, repetitions: u32) -> f64 {
    let mut rng = Rng::seeded(100 + blocks as u64);
    let wrong = (0..repetitions).filter(|_| {
        let effects = block_effects(blocks, &mut rng);
        let cases: Vec<_> = (0..6).map(|_| throughputs(&effects, noise, true, &mut rng)).collect();
        let p: Vec<f64> = (0..6)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| paired_t(&log_differences(&cases[i], &cases[j]), 0.0).unwrap().p)
            .collect();
        holm(&p).iter().any(|&p| p < 0.05)
    });
    wrong.count() as f64 / f64::from(repetitions)
}

/// The fraction of repetitions in which a case that is faster by exactly the margin is called equivalent. The noise is
/// so low that equivalence could often be shown, were it there.
fn false_equivalence(blocks: usize, repetitions: u32) -> f64 {
    let margin = 1.03f64.ln();
    let mut rng = Rng::seeded(200 + blocks as u64);
    let wrong = (0..repetitions).filter(|_| {
        let differences: Vec<f64> = (0..blocks).map(|_| margin + 0.01 * normal(&mut rng)).collect();
        equivalence_paired(&Sample::new(&differences).unwrap(), margin).unwrap() < 0.05
    });
    wrong.count() as f64 / f64::from(repetitions)
}

/// The fraction of repetitions in which a true mean difference is found at 5 % shared by so many comparisons.
fn simulated_power(sd: f64, effect: f64, blocks: u32, comparisons: usize, repetitions: u32) -> f64 {
    let mut rng = Rng::seeded(300 + u64::from(blocks));
    let found = (0..repetitions).filter(|_| {
        let differences: Vec<f64> = (0..blocks).map(|_| effect + sd * normal(&mut rng)).collect();
        paired_t(&Sample::new(&differences).unwrap(), 0.0).unwrap().p < 0.05 / comparisons as f64
    });
    found.count() as f64 / f64::from(repetitions)
}

/// Four standard errors of a fraction of so many repetitions.
fn four_errors(fraction: f64, repetitions: u32) -> f64 {
    4.0 * (fraction * (1.0 - fraction) / f64::from(repetitions)).sqrt()
}

#[test]
fn an_interval_of_a_lognormal_ratio_covers_95_percent() {
    for blocks in [5, 6, 8, 10, 20] {
        let found = coverage(blocks, Noise::Lognormal, 2_500);
        assert!((found - 0.95).abs() < four_errors(0.95, 2_500), "{found} for {blocks} blocks");
    }
}

#[test]
fn heavy_tails_and_outliers_cost_no_coverage() {
    for noise in [Noise::Laplace, Noise::Outliers] {
        for blocks in [5, 10, 20] {
            let found = coverage(blocks, noise, 1_500);
            assert!(found > 0.93, "{found} for {blocks} blocks with {noise:?}");
        }
    }
}

#[test]
fn outliers_of_only_one_case_do_cost_coverage() {
    // Ten blocks without a slowed trial, as one study in three has, know nothing of what a slowed one would do.
    for (spreads, expected) in [(6.0, 0.916), (12.0, 0.764)] {
        let found = coverage(10, Noise::OutliersOfOne(spreads), 1_500);
        assert!((found - expected).abs() < four_errors(expected, 1_500), "{found} at {spreads} spreads");
    }
}

#[test]
fn six_identical_cases_are_rarely_told_apart_in_any_pair() {
    for blocks in [5, 6, 10, 20] {
        let found = false_family(blocks, Noise::Lognormal, 2_000);
        assert!(found < 0.05 + four_errors(0.05, 2_000), "{found} for {blocks} blocks");
    }
}

#[test]
fn a_difference_at_the_margin_is_rarely_called_equivalent() {
    for blocks in [5, 6, 10, 20] {
        let found = false_equivalence(blocks, 2_000);
        assert!((found - 0.05).abs() < four_errors(0.05, 2_000), "{found} for {blocks} blocks");
    }
}

#[test]
fn power_is_as_foretold() {
    for (sd, effect, comparisons) in [(0.03, 0.03, 1), (0.02, 0.03, 15), (0.05, 0.06, 6)] {
        let blocks = blocks_needed(sd, effect, Level::P95, 0.8, comparisons).unwrap();
        let (enough, fewer) = (
            simulated_power(sd, effect, blocks, comparisons, 3_000),
            simulated_power(sd, effect, blocks - 1, comparisons, 3_000),
        );
        assert!(enough > 0.8 - four_errors(0.8, 3_000), "{enough} with {blocks} blocks");
        assert!(fewer < 0.8 + four_errors(0.8, 3_000), "{fewer} with one block less than {blocks}");
    }
}

#[test]
#[ignore = "prints the tables of METHODOLOGY.md, in minutes"]
fn tables() {
    const REPETITIONS: u32 = 100_000;
    for noise in
        [Noise::Lognormal, Noise::Laplace, Noise::Outliers, Noise::OutliersOfOne(6.0), Noise::OutliersOfOne(12.0)]
    {
        let row = [5, 6, 8, 10, 20].map(|blocks| format!("{:.1} %", 100.0 * coverage(blocks, noise, REPETITIONS)));
        println!("covered, {noise:?}: {}", row.join(" | "));
    }
    for noise in [Noise::Lognormal, Noise::Laplace, Noise::Outliers] {
        let row =
            [5, 6, 8, 10, 20].map(|blocks| format!("{:.1} %", 100.0 * false_family(blocks, noise, REPETITIONS / 4)));
        println!("false in a family, {noise:?}: {}", row.join(" | "));
    }
    let row = [5, 6, 8, 10, 20].map(|blocks| format!("{:.1} %", 100.0 * false_equivalence(blocks, REPETITIONS)));
    println!("false equivalence: {}", row.join(" | "));
    for comparisons in [1, 15] {
        let found = |blocks| smallest_effect_found(1.0, blocks, Level::P95, 0.8, comparisons);
        let row = [5, 6, 8, 10, 20].map(|blocks| format!("{:.2}", found(blocks)));
        println!("smallest effect, one of {comparisons}: {}", row.join(" | "));
        let row = [5, 6, 8, 10, 20].map(|blocks| {
            format!("{:.1} %", 100.0 * simulated_power(1.0, found(blocks), blocks, comparisons, REPETITIONS))
        });
        println!("found by simulation: {}", row.join(" | "));
    }
}
