//! Properties that must hold for every test and its interval, whatever the values. Cases come from a fixed seed.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tolok_stats::{
    BlockCounts, GeometricOutcome, Interval, Level, Naming, Sample, equivalence_paired, equivalence_welch,
    geometric_ratio, holm, mean_interval, normal_cdf, normal_quantile, paired_t, student_t_cdf, student_t_quantile,
    welch,
};

fn config() -> ProptestConfig {
    ProptestConfig { cases: 128, rng_seed: RngSeed::Fixed(2), failure_persistence: None, ..ProptestConfig::default() }
}

/// Five to eight values of both signs, sometimes tied.
fn values() -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![4 => -10.0..10.0f64, 1 => (-3..3i32).prop_map(f64::from)];
    prop::collection::vec(value, 5..9)
}

/// Blocks of two series, each with its own effect on both.
fn blocks() -> impl Strategy<Value = Vec<(f64, f64, f64)>> {
    prop::collection::vec((1.0..100.0f64, 1.0..100.0f64, 1e-3..1e3f64), 5..20)
}

fn levels() -> impl Strategy<Value = Level> {
    (0.5..0.9999f64).prop_map(|level| Level::new(level).unwrap())
}

fn sample(values: &[f64]) -> Sample {
    Sample::new(values).unwrap()
}

fn mapped(values: &[f64], by: impl Fn(f64) -> f64) -> Sample {
    sample(&values.iter().map(|&value| by(value)).collect::<Vec<_>>())
}

/// Equal up to rounding, for figures of the size used here.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

fn mirrored(of: Option<Interval>, is: Option<Interval>) -> bool {
    match (of, is) {
        (Some(of), Some(is)) => close(of.low, -is.high) && close(of.high, -is.low) && of.level == is.level,
        (of, is) => of == is,
    }
}

fn ratio_of(a: &[f64], b: &[f64]) -> (f64, Interval, BlockCounts) {
    let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
    let found = geometric_ratio(&some(a), &some(b), Level::P95).unwrap();
    match found.outcome {
        GeometricOutcome::Estimated { ratio, interval: Some(interval), .. } => (ratio, interval, found.blocks),
        other => panic!("five and more positive pairs: {other:?}"),
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn distributions_rise_and_quantiles_take_them_back(t in -30.0..30.0f64, more in 0.01..3.0f64, df in 1.0..3e4f64) {
        prop_assert!(student_t_cdf(t, df) < student_t_cdf(t + more, df) || student_t_cdf(t, df) > 1.0 - 1e-15);
        prop_assert!(close(student_t_cdf(t, df) + student_t_cdf(-t, df), 1.0));
        let (low, z) = (-t.abs(), -t.abs().min(8.0));
        prop_assert!(close(student_t_quantile(student_t_cdf(low, df), df), low));
        prop_assert!(close(normal_quantile(normal_cdf(z)), z));
        // Fewer degrees of freedom give heavier tails.
        prop_assert!(student_t_cdf(low, df) >= normal_cdf(low) * (1.0 - 1e-12));
    }

    #[test]
    fn an_interval_excludes_the_null_exactly_when_the_test_finds_a_difference(
        values in values(), null in -5.0..5.0f64, level in levels()
    ) {
        let sample = sample(&values);
        let (interval, test) = (mean_interval(&sample, level).unwrap(), paired_t(&sample, null).unwrap());
        prop_assert_eq!(!interval.contains(null), test.p < 1.0 - level.fraction(), "{:?} {:?}", interval, test);
        prop_assert!(interval.contains(sample.mean()));
    }

    #[test]
    fn an_interval_of_welch_excludes_the_null_exactly_when_the_test_finds_a_difference(
        a in values(), b in values(), null in -5.0..5.0f64, level in levels()
    ) {
        let found = welch(&sample(&a), &sample(&b), null, level).unwrap();
        prop_assert_eq!(!found.interval.unwrap().contains(null), found.p < 1.0 - level.fraction(), "{:?}", found);
        let fewest = a.len().min(b.len()) as f64 - 1.0;
        prop_assert!(fewest * (1.0 - 1e-12) <= found.df && found.df <= (a.len() + b.len()) as f64 - 2.0 + 1e-9);
    }

    #[test]
    fn equivalent_means_that_the_90_percent_interval_lies_within_the_margins(
        a in values(), b in values(), margin in 0.1..20.0f64
    ) {
        let level = Level::new(0.9).unwrap();
        let within = |interval: Interval| -margin < interval.low && interval.high < margin;
        let differences = sample(&a);
        let p = equivalence_paired(&differences, margin).unwrap();
        prop_assert_eq!(p < 0.05, within(mean_interval(&differences, level).unwrap()));
        prop_assert!(equivalence_paired(&differences, margin * 1.1).unwrap() <= p);
        let b = sample(&b);
        let p = equivalence_welch(&differences, &b, margin).unwrap();
        prop_assert_eq!(p < 0.05, within(welch(&differences, &b, 0.0, level).unwrap().interval.unwrap()));
    }

    #[test]
    fn the_other_sign_turns_everything_round(values in values(), margin in 0.1..20.0f64, level in levels()) {
        let (plain, other) = (sample(&values), mapped(&values, |value| -value));
        let (test, turned) = (paired_t(&plain, 0.5).unwrap(), paired_t(&other, -0.5).unwrap());
        prop_assert!(close(test.statistic, -turned.statistic) && close(test.p, turned.p));
        let equivalent = |s: &Sample| equivalence_paired(s, margin).unwrap();
        prop_assert!(close(equivalent(&plain), equivalent(&other)));
        prop_assert!(mirrored(mean_interval(&plain, level), mean_interval(&other, level)));
    }

    #[test]
    fn exchanging_the_samples_turns_everything_round(a in values(), b in values(), level in levels()) {
        let (a, b) = (sample(&a), sample(&b));
        let (forward, backward) = (welch(&a, &b, 0.0, level).unwrap(), welch(&b, &a, 0.0, level).unwrap());
        prop_assert!(close(forward.difference, -backward.difference) && close(forward.p, backward.p));
        prop_assert!(mirrored(forward.interval, backward.interval));
    }

    #[test]
    fn units_and_offsets_change_no_test(a in values(), b in values(), scale in 0.01..100.0f64, offset in -9.0..9.0f64) {
        let (a2, b2) = (mapped(&a, |v| v * scale + offset), mapped(&b, |v| v * scale + offset));
        let (before, after) = (welch(&sample(&a), &sample(&b), 0.0, Level::P95), welch(&a2, &b2, 0.0, Level::P95));
        let (before, after) = (before.unwrap(), after.unwrap());
        prop_assert!((before.p - after.p).abs() < 1e-6 && (before.df - after.df).abs() < 1e-6 * before.df);
    }

    #[test]
    fn every_p_is_a_probability(a in values(), b in values()) {
        let (a, b) = (sample(&a), sample(&b));
        let all = [
            paired_t(&a, 0.0).unwrap().p, welch(&a, &b, 0.0, Level::P95).unwrap().p,
            equivalence_paired(&a, 1.0).unwrap(), equivalence_welch(&a, &b, 1.0).unwrap(),
        ];
        prop_assert!(all.iter().all(|p| (0.0..=1.0).contains(p)), "{all:?}");
    }

    #[test]
    fn exchanging_the_series_inverts_the_ratio_and_its_interval(blocks in blocks()) {
        let a: Vec<f64> = blocks.iter().map(|block| block.0).collect();
        let b: Vec<f64> = blocks.iter().map(|block| block.1).collect();
        let (ratio, interval, counts) = ratio_of(&a, &b);
        let (inverse, inverted, _) = ratio_of(&b, &a);
        prop_assert!(close(ratio * inverse, 1.0) && close(interval.low * inverted.high, 1.0));
        prop_assert!(close(interval.high * inverted.low, 1.0) && interval.contains(ratio));
        prop_assert_eq!(counts.pairs(), blocks.len());
    }

    #[test]
    fn what_a_block_does_to_both_leaves_the_ratio_alone(blocks in blocks()) {
        let calm = |of: fn(&(f64, f64, f64)) -> f64| blocks.iter().map(of).collect::<Vec<_>>();
        let (ratio, interval, _) = ratio_of(&calm(|b| b.0), &calm(|b| b.1));
        let (rough, rough_interval, _) = ratio_of(&calm(|b| b.0 * b.2), &calm(|b| b.1 * b.2));
        prop_assert!(close(ratio, rough) && close(interval.low, rough_interval.low));
        prop_assert!(close(interval.high, rough_interval.high));
    }

    #[test]
    fn holm_adds_to_every_p_and_keeps_their_order(p in prop::collection::vec(0.0..=1.0f64, 0..20), turn in 0..20usize) {
        let adjusted = holm(&p);
        prop_assert_eq!(adjusted.len(), p.len());
        for (i, raw) in p.iter().enumerate() {
            prop_assert!(*raw <= adjusted[i] && adjusted[i] <= (raw * p.len() as f64).min(1.0));
            prop_assert!(p.iter().zip(&adjusted).all(|(q, other)| q > raw || *other <= adjusted[i]));
        }
        // The order of tests does not matter.
        let mut turned = p.clone();
        turned.rotate_left(turn.min(p.len()));
        let mut expected = adjusted.clone();
        expected.rotate_left(turn.min(p.len()));
        prop_assert_eq!(holm(&turned), expected);
    }
}

proptest! {
    // Each case searches for eight numbers of blocks, which is slow without optimisation.
    #![proptest_config(ProptestConfig { cases: 16, ..config() })]

    #[test]
    fn smaller_effects_need_more_blocks(
        sd in 0.01..0.3f64, effect in 0.02..0.3f64, power in 0.5..0.95f64, family in 1..30usize
    ) {
        let naming = |sd, blocks: u32, comparisons| {
            Naming { sd, df: f64::from(blocks) - 1.0, blocks, level: Level::P95, comparisons, least_size: 0.0 }
        };
        let needed = |sd, effect, power, family| naming(sd, 10, family).blocks_needed(effect, power).unwrap_or(u32::MAX);
        let blocks = needed(sd, effect, power, family);
        prop_assert!(blocks >= 5);
        prop_assert!(needed(sd, effect * 1.2, power, family) <= blocks && needed(sd, -effect, power, family) == blocks);
        prop_assert!(needed(sd * 1.2, effect, power, family) >= blocks);
        prop_assert!(needed(sd, effect, power + 0.04, family) >= blocks);
        prop_assert!(needed(sd, effect, power, family + 5) >= blocks);
        // The smallest difference found with this many blocks is at most this effect, and one block less does not find
        // it.
        let found = |blocks| naming(sd, blocks, family).smallest_named(power);
        prop_assert!(found(blocks) <= effect * (1.0 + 1e-9));
        prop_assert!(blocks == 5 || found(blocks - 1) > effect * (1.0 - 1e-9));
    }
}
