//! How often the intervals are right, by simulation. Seeds are fixed, so the counts are the same in every run; the
//! bounds are nevertheless four standard errors wide, so that another seed would pass too.

#![allow(clippy::unwrap_used, reason = "test code; clippy takes only functions marked #[test] for it")]

use tolok_stats::{
    Interval, Level, RatioOutcome, Rng, Sample, median_interval, median_interval_interpolated, paired_ratio,
};

const REPETITIONS: u64 = 4_000;

/// exp(σ Z) with Z standard normal by Box and Muller: skewed, positive, with the true median 1.
fn lognormal(rng: &mut Rng, sigma: f64) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    (sigma * radius * (std::f64::consts::TAU * rng.unit()).cos()).exp()
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

/// `expected` plus or minus four standard errors of a fraction of so many repetitions.
#[track_caller]
fn check(found: f64, expected: f64) {
    let error = (expected * (1.0 - expected) / REPETITIONS as f64).sqrt();
    assert!((found - expected).abs() < 4.0 * error, "{found} instead of {expected} ± {error}");
}

#[test]
fn the_exact_interval_covers_what_it_says() {
    for (n, level) in [(5, 0.9375), (6, 0.96875), (10, 1.0 - 22.0 / 1024.0)] {
        let interval = |sample: &Sample, _| {
            let interval = median_interval(sample, Level::P95);
            assert!((interval.unwrap().level - level).abs() < 1e-12);
            interval
        };
        check(coverage(n, 1, interval), level);
    }
}

#[test]
fn the_interpolated_interval_covers_what_was_asked() {
    let interval = |sample: &Sample, _| median_interval_interpolated(sample, Level::P95);
    check(coverage(5, 2, interval), 0.9375);
    check(coverage(10, 2, interval), 0.95);
    check(coverage(20, 2, interval), 0.95);
}

/// The fraction of repetitions in which (`interval`, `exact`) exclude 1 although both series are the same thing, seen
/// in blocks that differ widely from each other.
fn false_positives(blocks: usize, seed: u64) -> (f64, f64) {
    let mut rng = Rng::seeded(seed);
    let (mut interpolated, mut exactly) = (0, 0);
    for _ in 0..REPETITIONS {
        let (a, b): (Vec<_>, Vec<_>) = (0..blocks)
            .map(|_| {
                let block = 1_000.0 * lognormal(&mut rng, 0.5);
                (Some(block * lognormal(&mut rng, 0.05)), Some(block * lognormal(&mut rng, 0.05)))
            })
            .unzip();
        match paired_ratio(&a, &b, Level::P95).unwrap().outcome {
            RatioOutcome::Estimated { interval: Some(interval), exact: Some(exact), .. } => {
                interpolated += u64::from(!interval.contains(1.0));
                exactly += u64::from(!exact.contains(1.0));
            }
            other => panic!("no interval for {blocks} blocks: {other:?}"),
        }
    }
    (interpolated as f64 / REPETITIONS as f64, exactly as f64 / REPETITIONS as f64)
}

#[test]
fn a_thing_compared_with_itself_differs_as_rarely_as_the_level_says() {
    for (blocks, sign_test) in [(5, 0.0625), (6, 0.03125), (10, 22.0 / 1024.0), (20, 1.0 - 0.958_610_534_667_968_8)] {
        let (interpolated, exactly) = false_positives(blocks, 4);
        check(exactly, sign_test);
        check(interpolated, if blocks == 5 { 0.0625 } else { 0.05 });
    }
}

#[test]
fn a_real_difference_is_found() {
    // 10 % faster in ten blocks of 5 % noise: the difference is three times the noise of one ratio's median.
    let mut rng = Rng::seeded(5);
    let found = (0..500)
        .filter(|_| {
            let (a, b): (Vec<_>, Vec<_>) =
                (0..10).map(|_| (Some(1.1 * lognormal(&mut rng, 0.05)), Some(lognormal(&mut rng, 0.05)))).unzip();
            let outcome = paired_ratio(&a, &b, Level::P95).unwrap().outcome;
            matches!(outcome, RatioOutcome::Estimated { interval: Some(interval), .. } if interval.low > 1.0)
        })
        .count();
    assert!(found > 400, "found in {found} of 500");
}
