//! How often the intervals are right, by simulation. Seeds are fixed, so the counts are the same in every run. The
//! bounds are nevertheless four standard errors wide, so that another seed would pass too.

use tolok_stats::{GeometricOutcome, Interval, Level, Rng, Sample, geometric_ratio, median_interval_interpolated};

use crate::normal::normal;

const REPETITIONS: u64 = 4_000;

/// exp(σ Z) with Z standard normal: skewed and positive, with the true median 1.
fn lognormal(rng: &mut Rng, sigma: f64) -> f64 {
    (sigma * normal(rng)).exp()
}

/// The fraction of lognormal samples of `n` whose interval contains the true median.
fn coverage(n: usize, seed: u64, interval: impl Fn(&Sample, u64) -> Option<Interval>) -> f64 {
    let mut rng = Rng::seeded(seed);
    let covered = (0..REPETITIONS)
        .filter(|&repetition| {
            let values: Vec<f64> = (0..n).map(|_| lognormal(&mut rng, 0.8)).collect();
            interval(&Sample::new(&values).unwrap(), repetition).unwrap().contains(1.0)
        })
        .count();
    covered as f64 / REPETITIONS as f64
}

/// `expected` plus or minus four standard errors of a fraction over this many repetitions.
#[track_caller]
fn check(found: f64, expected: f64) {
    let error = (expected * (1.0 - expected) / REPETITIONS as f64).sqrt();
    assert!((found - expected).abs() < 4.0 * error, "{found} instead of {expected} ± {error}");
}

#[test]
fn the_interpolated_interval_covers_what_was_asked() {
    let interval = |sample: &Sample, _| median_interval_interpolated(sample, Level::P95);
    check(coverage(5, 2, interval), 0.9375);
    check(coverage(10, 2, interval), 0.95);
    check(coverage(20, 2, interval), 0.95);
}

/// The fraction of repetitions in which the interval excludes 1 although both series are equal. Their blocks differ
/// widely from each other.
fn false_positives(blocks: usize, seed: u64) -> f64 {
    let mut rng = Rng::seeded(seed);
    let mut excluded = 0;
    for _ in 0..REPETITIONS {
        let (a, b): (Vec<_>, Vec<_>) = (0..blocks)
            .map(|_| {
                let block = 1_000.0 * lognormal(&mut rng, 0.5);
                (Some(block * lognormal(&mut rng, 0.05)), Some(block * lognormal(&mut rng, 0.05)))
            })
            .unzip();
        match geometric_ratio(&a, &b, Level::P95).unwrap().outcome {
            GeometricOutcome::Estimated { interval: Some(interval), .. } => {
                excluded += u64::from(!interval.contains(1.0));
            }
            other => panic!("no interval for {blocks} blocks: {other:?}"),
        }
    }
    excluded as f64 / REPETITIONS as f64
}

#[test]
fn a_thing_compared_with_itself_differs_as_rarely_as_the_level_says() {
    for blocks in [5, 6, 10, 20] {
        check(false_positives(blocks, 4), 0.05);
    }
}

#[test]
fn a_real_difference_is_found() {
    // 10% faster in ten blocks with 5% noise: the difference is four times the standard error of the ratio.
    let mut rng = Rng::seeded(5);
    let found = (0..500)
        .filter(|_| {
            let (a, b): (Vec<_>, Vec<_>) =
                (0..10).map(|_| (Some(1.1 * lognormal(&mut rng, 0.05)), Some(lognormal(&mut rng, 0.05)))).unzip();
            let outcome = geometric_ratio(&a, &b, Level::P95).unwrap().outcome;
            matches!(outcome, GeometricOutcome::Estimated { interval: Some(interval), .. } if interval.low > 1.0)
        })
        .count();
    assert!(found > 400, "found in {found} of 500");
}
