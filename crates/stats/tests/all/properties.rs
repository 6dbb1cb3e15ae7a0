//! Properties that must hold for every sample. Cases come from a fixed seed, so a run never fails by chance.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tolok_stats::{BlockCounts, GeometricOutcome, Level, Rng, Sample, geometric_ratio, median_interval_interpolated};

fn config() -> ProptestConfig {
    ProptestConfig { cases: 256, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() }
}

/// Values of any sign over many orders of magnitude, with ties.
fn values() -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![4 => -1e6..1e6f64, 1 => -1e-6..1e-6f64, 1 => (-3..3i32).prop_map(f64::from)];
    prop::collection::vec(value, 5..40)
}

fn levels() -> impl Strategy<Value = Level> {
    (0.5..0.95f64).prop_map(|level| Level::new(level).unwrap())
}

/// Two series of the same length with gaps and, sometimes, zeros.
fn series() -> impl Strategy<Value = (Vec<Option<f64>>, Vec<Option<f64>>)> {
    let amount = prop_oneof![40 => (1e-3..1e6f64).boxed(), 1 => Just(0.0).boxed(), 2 => Just(7.0).boxed()];
    let entry = prop::option::weighted(0.9, amount);
    prop::collection::vec((entry.clone(), entry), 0..30).prop_map(|pairs| pairs.into_iter().unzip())
}

fn sample(values: &[f64]) -> Sample {
    Sample::new(values).unwrap()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// A permutation of the values that depends on the seed (Fisher and Yates).
fn shuffled(values: &[f64], seed: u64) -> Vec<f64> {
    let (mut values, mut rng) = (values.to_vec(), Rng::seeded(seed));
    for last in (1..values.len()).rev() {
        values.swap(last, rng.below(last as u64 + 1) as usize);
    }
    values
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_interval_of_the_median_contains_it(values in values(), level in levels()) {
        let sample = sample(&values);
        let median = sample.median();
        let interval = median_interval_interpolated(&sample, level).unwrap();
        prop_assert!(interval.contains(median), "{interval:?} without {median}");
        prop_assert!(sample.min() <= interval.low && interval.high <= sample.max());
    }

    #[test]
    fn a_higher_level_never_gives_a_narrower_interval(values in values(), a in levels(), b in levels()) {
        let sample = sample(&values);
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        let [narrow, wide] = [low, high].map(|level| median_interval_interpolated(&sample, level).unwrap());
        let rounding = 1e-9 * (wide.high - wide.low);
        prop_assert!(wide.low <= narrow.low + rounding && narrow.high <= wide.high + rounding, "{narrow:?} {wide:?}");
    }

    #[test]
    fn quantiles_rise_with_the_probability(values in values(), p in 0.0..=1.0f64, q in 0.0..=1.0f64) {
        let sample = sample(&values);
        let at = |p: f64| sample.quantile(p).unwrap();
        prop_assert!(at(p.min(q)) <= at(p.max(q)));
        prop_assert_eq!((at(0.0), at(1.0)), (sample.min(), sample.max()));
        prop_assert!((at(0.5) - sample.median()).abs() <= 1e-9 * sample.max().abs().max(sample.min().abs()));
    }

    #[test]
    fn everything_scales_with_the_unit(values in values(), scale in 1e-3..1e3f64, level in levels()) {
        let plain = sample(&values);
        let scaled = sample(&values.iter().map(|value| value * scale).collect::<Vec<_>>());
        // Sums of both signs cancel, so rounding is measured against the largest value.
        let size = scaled.max().abs().max(scaled.min().abs());
        let same = |before: f64, after: f64| (before * scale - after).abs() <= 1e-9 * size;
        prop_assert!(same(plain.median(), scaled.median()));
        prop_assert!(same(plain.mean(), scaled.mean()));
        prop_assert!(same(plain.quantile(0.9).unwrap(), scaled.quantile(0.9).unwrap()));
        prop_assert!(close(plain.standard_deviation().unwrap() * scale, scaled.standard_deviation().unwrap()));
        let interval = |sample: &Sample| median_interval_interpolated(sample, level).unwrap();
        let (before, after) = (interval(&plain), interval(&scaled));
        prop_assert!(same(before.low, after.low) && same(before.high, after.high), "{before:?} {after:?}");
    }

    #[test]
    fn the_order_of_the_values_changes_no_bit(values in values(), order: u64) {
        let (plain, other) = (sample(&values), sample(&shuffled(&values, order)));
        let bits = |s: &Sample| [s.median(), s.mean(), s.variance().unwrap(), s.quantile(0.3).unwrap()].map(f64::to_bits);
        prop_assert_eq!(bits(&plain), bits(&other));
        let interval = |sample: &Sample| median_interval_interpolated(sample, Level::P95);
        prop_assert_eq!(interval(&plain), interval(&other));
    }

    #[test]
    fn exchanging_the_series_inverts_the_outcome_and_swaps_the_counts((a, b) in series()) {
        let forward = geometric_ratio(&a, &b, Level::P95).unwrap();
        let backward = geometric_ratio(&b, &a, Level::P95).unwrap();
        match (forward.outcome, backward.outcome) {
            (GeometricOutcome::Estimated { ratio, .. }, GeometricOutcome::Estimated { ratio: inverse, .. }) => {
                prop_assert!(close(ratio, 1.0 / inverse));
            }
            (
                GeometricOutcome::Censored { numerator_zeros, denominator_zeros },
                GeometricOutcome::Censored { numerator_zeros: other_denominator, denominator_zeros: other_numerator },
            ) => prop_assert_eq!((numerator_zeros, denominator_zeros), (other_numerator, other_denominator)),
            (forward, backward) => prop_assert_eq!(forward, backward),
        }
        let blocks = backward.blocks;
        let mirrored = BlockCounts {
            numerator_larger: blocks.denominator_larger,
            denominator_larger: blocks.numerator_larger,
            numerator_missing: blocks.denominator_missing,
            denominator_missing: blocks.numerator_missing,
            ..blocks
        };
        prop_assert_eq!(forward.blocks, mirrored);
    }

    #[test]
    fn every_block_is_counted_once((a, b) in series()) {
        let blocks = geometric_ratio(&a, &b, Level::P95).unwrap().blocks;
        let missing = blocks.numerator_missing + blocks.denominator_missing + blocks.both_missing;
        prop_assert_eq!(blocks.pairs() + missing, a.len());
        prop_assert_eq!(blocks.pairs(), a.iter().zip(&b).filter(|(a, b)| a.is_some() && b.is_some()).count());
    }
}
