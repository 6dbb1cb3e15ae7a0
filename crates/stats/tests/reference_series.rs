//! Agreement with SciPy, and for changes in the mean with a table that holds every cut. The figures in
//! `fixtures/series.json` are made by `fixtures/generate_series.py`.

#![allow(clippy::unwrap_used, reason = "test code; clippy takes only functions marked #[test] for it")]

use serde::Deserialize;
use tolok_stats::{
    Bootstrap, Interval, Level, Sample, ScalabilityRefusal, changepoints, percentile_interval, scalability, theil_sen,
};

#[derive(Deserialize)]
struct Fixtures {
    cuts: Vec<Cut>,
    slopes: Vec<Slope>,
    percentiles: Vec<Percentiles>,
    scalabilities: Vec<Curve>,
    accelerated: Vec<Accelerated>,
}

#[derive(Deserialize)]
struct Cut {
    name: String,
    series: Vec<f64>,
    penalty: f64,
    changes: Vec<usize>,
    criterion: f64,
}

#[derive(Deserialize)]
struct Slope {
    name: String,
    x: Vec<f64>,
    y: Vec<f64>,
    slope: f64,
    intercept: f64,
    intervals: Vec<(f64, f64, f64)>,
}

#[derive(Deserialize)]
struct Percentiles {
    values: Vec<f64>,
    intervals: Vec<(f64, f64, Option<Covering>)>,
}

/// Low, high, and what it covers.
type Covering = (f64, f64, f64);

#[derive(Deserialize)]
struct Curve {
    name: String,
    concurrencies: Vec<f64>,
    blocks: Vec<Vec<Option<f64>>>,
    lambda: f64,
    sigma: f64,
    kappa: f64,
    squares: f64,
    bend_p: f64,
}

#[derive(Deserialize)]
struct Accelerated {
    statistic: String,
    values: Vec<f64>,
    bounds: (f64, f64),
    spread: (f64, f64),
}

fn fixtures() -> Fixtures {
    serde_json::from_str(include_str!("../fixtures/series.json")).unwrap()
}

/// Equal to within `tolerance` of the size of the figure.
#[track_caller]
fn check_within(tolerance: f64, ours: f64, theirs: f64, what: &str) {
    assert!((ours - theirs).abs() <= tolerance * theirs.abs(), "{what}: {ours} here, {theirs} there");
}

#[track_caller]
fn check(ours: f64, theirs: f64, what: &str) {
    check_within(1e-9, ours, theirs, what);
}

/// n ln(RSS) + penalty · changes, written down again from its definition.
fn criterion(series: &[f64], changes: &[usize], penalty: f64) -> f64 {
    let squares = |level: &[f64]| {
        let mean = level.iter().sum::<f64>() / level.len() as f64;
        level.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let bounds: Vec<usize> = [0].into_iter().chain(changes.iter().copied()).chain([series.len()]).collect();
    let rss: f64 = bounds.windows(2).map(|pair| squares(&series[pair[0]..pair[1]])).sum();
    series.len() as f64 * (rss + 1e-12 * squares(series)).ln() + penalty * changes.len() as f64
}

#[test]
fn changes_are_those_of_the_table_of_all_cuts() {
    let (mut compared, mut with_changes) = (0, 0);
    for theirs in fixtures().cuts {
        let ours = changepoints(&theirs.series, theirs.penalty).unwrap();
        let what = format!("{} at penalty {}: {ours:?} here, {:?} there", theirs.name, theirs.penalty, theirs.changes);
        // Whole numbers have cuts that are equally good; any of them will do.
        let found = criterion(&theirs.series, &ours, theirs.penalty);
        assert!((found - theirs.criterion).abs() < 1e-6 * theirs.criterion.abs().max(1.0), "{what}");
        if !theirs.name.starts_with("whole numbers") {
            assert_eq!(ours, theirs.changes, "{what}");
        }
        (compared, with_changes) = (compared + 1, with_changes + usize::from(!ours.is_empty()));
    }
    assert!(compared > 150 && with_changes > 80, "{with_changes} of {compared} with changes");
}

#[test]
fn slopes_agree_with_scipy() {
    let mut intervals = 0;
    for theirs in fixtures().slopes {
        for (level, low, high) in theirs.intervals {
            let what = format!("{} at {level}", theirs.name);
            let ours = theil_sen(&theirs.x, &theirs.y, Level::new(level).unwrap()).unwrap();
            assert!((ours.slope - theirs.slope).abs() <= 1e-9 * theirs.slope.abs(), "{what}");
            assert!((ours.intercept - theirs.intercept).abs() <= 1e-9 * theirs.intercept.abs().max(1.0), "{what}");
            let Some(interval) = ours.interval else {
                // SciPy gives the extreme slopes where they do not reach the level; here there is none.
                assert!(theirs.x.len() <= 10, "{what}");
                continue;
            };
            assert!((interval.low - low).abs() <= 1e-9 * low.abs(), "{what}: {interval:?}");
            assert!((interval.high - high).abs() <= 1e-9 * high.abs(), "{what}: {interval:?}");
            intervals += 1;
        }
    }
    assert!(intervals > 70, "only {intervals} intervals were compared");
}

#[test]
fn intervals_of_percentiles_agree_with_scipy() {
    let (mut given, mut refused) = (0, 0);
    for theirs in fixtures().percentiles {
        let sample = Sample::new(&theirs.values).unwrap();
        for (quantile, level, interval) in theirs.intervals {
            let what = format!("p{} of {} at {level}", 100.0 * quantile, sample.len());
            let ours = percentile_interval(&sample, quantile, Level::new(level).unwrap()).unwrap();
            assert_eq!(ours.is_some(), interval.is_some(), "{what}: {ours:?}");
            let (Some(ours), Some((low, high, covers))) = (ours, interval) else {
                refused += 1;
                continue;
            };
            check(ours.low, low, &what);
            check(ours.high, high, &what);
            check(ours.level, covers, &what);
            assert!(ours.level >= level - 1e-12, "{what}: {}", ours.level);
            given += 1;
        }
    }
    assert!(given > 80 && refused > 40, "{given} given, {refused} refused");
}

/// The sum of squares that both fits minimise.
fn squares(curve: &Curve, lambda: f64, sigma: f64, kappa: f64) -> f64 {
    let difference = |n: f64, x: f64| (lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))).ln() - x.ln();
    let rows = curve.blocks.iter().flat_map(|row| curve.concurrencies.iter().zip(row));
    rows.map(|(&n, x)| difference(n, x.unwrap()).powi(2)).sum()
}

#[test]
fn scalability_agrees_with_scipy() {
    // The intervals are not compared, and at 50 % few resamples do.
    let bootstrap = Bootstrap::new(Level::new(0.5).unwrap(), 1).with_resamples(400).unwrap();
    for theirs in fixtures().scalabilities {
        let what = &theirs.name;
        let ours = match scalability(&theirs.concurrencies, &theirs.blocks, bootstrap) {
            Ok(ours) => ours,
            Err(ScalabilityRefusal::NoBend { p }) => {
                assert!(theirs.bend_p > 0.05 && (p - theirs.bend_p).abs() < 1e-6, "{what}: {p}");
                continue;
            }
            Err(other) => panic!("{what}: {other:?}"),
        };
        check_within(1e-5, ours.lambda, theirs.lambda, what);
        assert!((ours.sigma - theirs.sigma).abs() <= 1e-5 * theirs.sigma + 1e-9, "{what}: {}", ours.sigma);
        assert!((ours.kappa - theirs.kappa).abs() <= 1e-5 * theirs.kappa + 1e-9, "{what}: {}", ours.kappa);
        let found = squares(&theirs, ours.lambda, ours.sigma, ours.kappa);
        assert!(found <= theirs.squares * (1.0 + 1e-9), "{what}: {found} here, {} there", theirs.squares);
        check_within(1e-3, ours.bend_p, theirs.bend_p, what);
    }
}

#[test]
fn bca_intervals_agree_with_scipy_within_monte_carlo_error() {
    const SEEDS: u64 = 3;
    for theirs in fixtures().accelerated {
        let sample = Sample::new(&theirs.values).unwrap();
        let statistic: fn(&Sample) -> f64 = match theirs.statistic.as_str() {
            "mean" => Sample::mean,
            "standard deviation" => |sample| sample.standard_deviation().unwrap(),
            other => panic!("no statistic {other}"),
        };
        let ours: Vec<Interval> = (0..SEEDS)
            .map(|seed| Bootstrap::new(Level::P95, seed).bca_interval(&sample, statistic).unwrap().unwrap())
            .collect();
        let mean = |bound: fn(&Interval) -> f64| ours.iter().map(bound).sum::<f64>() / SEEDS as f64;
        // Five standard errors of the difference between a mean over our seeds and one over SciPy's twenty.
        let errors = 5.0 * (1.0 / SEEDS as f64 + 1.0 / 20.0).sqrt();
        for (ours, theirs_at, spread) in [
            (mean(|interval| interval.low), theirs.bounds.0, theirs.spread.0),
            (mean(|interval| interval.high), theirs.bounds.1, theirs.spread.1),
        ] {
            let (n, what) = (theirs.values.len(), &theirs.statistic);
            let far = (ours - theirs_at).abs();
            assert!(far <= errors * spread, "{what} of {n}: {ours} here, {theirs_at} ± {spread} there");
        }
    }
}
