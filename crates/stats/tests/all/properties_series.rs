//! Properties that must hold for every series and line. Cases come from a fixed seed, so a run never fails by chance.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tolok_stats::{LEAST_SEGMENT, Level, SteadyClass, changepoint_penalty, changepoints, steady, theil_sen};

fn config() -> ProptestConfig {
    ProptestConfig { cases: 128, rng_seed: RngSeed::Fixed(2), failure_persistence: None, ..ProptestConfig::default() }
}

/// Levels of some seconds each, with fluctuations.
fn series() -> impl Strategy<Value = Vec<f64>> {
    let level = (2..15usize, 100.0..2_000.0f64);
    let unrest = prop::collection::vec(-0.02..0.02f64, 60);
    (prop::collection::vec(level, 1..5), unrest).prop_map(|(levels, unrest)| {
        let values = levels.iter().flat_map(|&(seconds, level)| std::iter::repeat_n(level, seconds));
        values.zip(unrest).map(|(level, unrest)| level * (1.0 + unrest)).collect()
    })
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
        let plain = theil_sen(&x, &y, Level::new(0.9).unwrap()).unwrap();
        let moved: Vec<f64> = x.iter().zip(&y).map(|(x, y)| scale * y + added * x).collect();
        let moved = theil_sen(&x, &moved, Level::new(0.9).unwrap()).unwrap();
        prop_assert!((moved.slope - (scale * plain.slope + added)).abs() < 1e-8);
        if let (Some(plain), Some(moved)) = (plain.interval, moved.interval) {
            prop_assert!((moved.low - (scale * plain.low + added)).abs() < 1e-8);
            prop_assert!(moved.contains(scale * (plain.low + plain.high) / 2.0 + added));
        }
    }
}
