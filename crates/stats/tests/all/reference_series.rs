//! Agreement with SciPy and, for changes in the mean, with an exhaustive search over all cuts.
//! `fixtures/generate_series.py` makes the figures in `fixtures/series.json`.

use serde::Deserialize;
use tolok_stats::{Level, changepoints, theil_sen};

#[derive(Deserialize)]
struct Fixtures {
    cuts: Vec<Cut>,
    slopes: Vec<Slope>,
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

fn fixtures() -> Fixtures {
    serde_json::from_str(include_str!("../../fixtures/series.json")).unwrap()
}

/// n ln(RSS) + penalty · changes, reimplemented from its definition.
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
        // Whole numbers have several equally good cuts. Any of them will do.
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
                // SciPy returns the extreme slopes where they do not reach the level. This crate returns no interval.
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
