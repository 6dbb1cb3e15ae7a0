//! What must hold for every series, line and curve. Cases come from a fixed seed, so a run never fails by chance.

#![allow(clippy::unwrap_used, reason = "test code; clippy takes only functions marked #[test] for it")]

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tolok_stats::{
    Bootstrap, LEAST_SEGMENT, Level, Sample, SteadyClass, changepoint_penalty, changepoints, percentile_interval,
    scalability, steady, theil_sen,
};

fn config() -> ProptestConfig {
    ProptestConfig { cases: 128, rng_seed: RngSeed::Fixed(2), failure_persistence: None, ..ProptestConfig::default() }
}

/// Levels of some seconds each, with unrest.
fn series() -> impl Strategy<Value = Vec<f64>> {
    let level = (2..15usize, 100.0..2_000.0f64);
    let unrest = prop::collection::vec(-0.02..0.02f64, 60);
    (prop::collection::vec(level, 1..5), unrest).prop_map(|(levels, unrest)| {
        let values = levels.iter().flat_map(|&(seconds, level)| std::iter::repeat_n(level, seconds));
        values.zip(unrest).map(|(level, unrest)| level * (1.0 + unrest)).collect()
    })
}

fn rows() -> impl Strategy<Value = Vec<Vec<Option<f64>>>> {
    let throughput = prop::option::weighted(0.95, 50.0..5_000.0f64);
    prop::collection::vec(prop::collection::vec(throughput, 7), 5..8)
}

fn bootstrap(seed: u64) -> Bootstrap {
    Bootstrap::new(Level::P95, seed).with_resamples(400).unwrap()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn changes_leave_levels_of_the_least_length(series in series(), penalty in 0.0..60.0f64) {
        let changes = changepoints(&series, penalty).unwrap();
        let bounds: Vec<usize> = [0].into_iter().chain(changes).chain([series.len()]).collect();
        prop_assert!(bounds.windows(2).all(|pair| pair[1] >= pair[0] + LEAST_SEGMENT), "{bounds:?}");
    }

    #[test]
    fn a_higher_penalty_never_finds_more_changes(series in series(), a in 0.0..60.0f64, b in 0.0..60.0f64) {
        let count = |penalty| changepoints(&series, penalty).unwrap().len();
        prop_assert!(count(a.max(b)) <= count(a.min(b)));
    }

    #[test]
    fn changes_do_not_depend_on_the_unit_nor_on_the_direction_of_time(series in series(), scale in 1e-3..1e3f64) {
        let penalty = changepoint_penalty(series.len());
        let found = changepoints(&series, penalty).unwrap();
        let scaled: Vec<f64> = series.iter().map(|value| value * scale).collect();
        prop_assert_eq!(&found, &changepoints(&scaled, penalty).unwrap());
        let backward: Vec<f64> = series.iter().rev().copied().collect();
        let mirrored: Vec<usize> = changepoints(&backward, penalty).unwrap().iter().rev().map(|at| series.len() - at).collect();
        prop_assert_eq!(found, mirrored);
    }

    #[test]
    fn the_class_follows_from_the_levels(series in series(), tolerance in 0.0..0.2f64) {
        let Some(found) = steady(&series, tolerance) else {
            prop_assert!(series.len() < 10);
            return Ok(());
        };
        let apart = |a: f64, b: f64| (a - b).abs() > tolerance * a.max(b);
        let means: Vec<f64> = found.levels.iter().map(|level| level.mean).collect();
        prop_assert!(means.windows(2).all(|pair| apart(pair[0], pair[1])), "{found:?}");
        prop_assert_eq!(found.steady_from, found.levels.last().unwrap().from);
        let last = *means.last().unwrap();
        match found.class {
            SteadyClass::Flat => prop_assert_eq!(means.len(), 1),
            SteadyClass::WarmUp => prop_assert!(means[means.len() - 2] < last),
            SteadyClass::Slowdown => prop_assert!(means.iter().any(|&mean| mean > last)),
            SteadyClass::NoSteadyState => {}
        }
        if found.class != SteadyClass::NoSteadyState {
            prop_assert!(4 * (series.len() - found.steady_from) >= series.len());
        }
    }

    #[test]
    fn a_slope_follows_what_is_done_to_the_line(
        y in prop::collection::vec(-1e3..1e3f64, 5..30),
        (scale, added) in (0.1..10.0f64, -5.0..5.0f64),
    ) {
        let x: Vec<f64> = (0..y.len()).map(|second| second as f64).collect();
        let plain = theil_sen(&x, &y, Level::P90).unwrap();
        let moved: Vec<f64> = x.iter().zip(&y).map(|(x, y)| scale * y + added * x).collect();
        let moved = theil_sen(&x, &moved, Level::P90).unwrap();
        prop_assert!((moved.slope - (scale * plain.slope + added)).abs() < 1e-8);
        if let (Some(plain), Some(moved)) = (plain.interval, moved.interval) {
            prop_assert!((moved.low - (scale * plain.low + added)).abs() < 1e-8);
            prop_assert!(moved.contains(scale * (plain.low + plain.high) / 2.0 + added));
        }
    }

    #[test]
    fn an_interval_of_a_percentile_holds_it(values in prop::collection::vec(-1e3..1e3f64, 5..200), p in 0.05..0.95f64) {
        let sample = Sample::new(&values).unwrap();
        if let Some(interval) = percentile_interval(&sample, p, Level::P95).unwrap() {
            prop_assert!(interval.level >= 0.95 - 1e-12);
            prop_assert!(interval.low <= sample.quantile(p).unwrap() && sample.quantile(p).unwrap() <= interval.high);
        }
    }

    #[test]
    fn a_curve_never_has_negative_parameters(rows in rows()) {
        let concurrencies = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        // Four blocks: without intervals, whose resamples would take most of the time.
        if let Ok(found) = scalability(&concurrencies, &rows[..4], bootstrap(1)) {
            prop_assert!(found.lambda > 0.0 && found.sigma >= 0.0 && found.kappa >= 0.0, "{found:?}");
            prop_assert!((found.throughput(1.0) - found.lambda).abs() <= 1e-9 * found.lambda);
            if let Some(peak) = found.peak {
                for n in concurrencies {
                    prop_assert!(found.throughput(n) <= peak.throughput * (1.0 + 1e-9), "{found:?}");
                }
            }
        }
    }
}

proptest! {
    // Few cases: each draws many resamples.
    #![proptest_config(ProptestConfig { cases: 24, ..config() })]

    #[test]
    fn the_order_of_blocks_and_values_changes_no_bit(rows in rows(), seed: u64) {
        let backward: Vec<Vec<Option<f64>>> = rows.iter().rev().cloned().collect();
        // Ordered before it is added up: a sum depends on the order of its terms.
        let total = |rows: &[&[Option<f64>]]| {
            Sample::new(&rows.iter().flat_map(|row| row.iter().flatten().copied()).collect::<Vec<_>>()).unwrap().mean()
        };
        let over = |rows: &[Vec<Option<f64>>]| bootstrap(seed).interval_over_blocks(rows, total).ok().flatten();
        prop_assert_eq!(over(&rows), over(&backward));
        let values: Vec<f64> = rows.iter().filter_map(|row| row[0]).collect();
        if values.len() >= 5 {
            let bca = |values: Vec<f64>| bootstrap(seed).bca_interval(&Sample::new(&values).unwrap(), Sample::mean);
            prop_assert_eq!(bca(values.clone()), bca(values.into_iter().rev().collect()));
        }
    }
}
