//! Agreement with NumPy and SciPy, and with an independent implementation of the generators. `fixtures/generate.py`
//! makes the figures in `fixtures/fixtures.json`.

use serde::Deserialize;
use tolok_stats::{Level, Rng, Sample, median_interval_interpolated};

#[derive(Deserialize)]
struct Fixtures {
    samples: Vec<Described>,
    streams: Vec<Stream>,
}

#[derive(Deserialize)]
struct Described {
    name: String,
    values: Vec<f64>,
    median: f64,
    mean: f64,
    variance: Option<f64>,
    quantiles: Vec<(f64, f64)>,
    median_intervals: Vec<MedianIntervals>,
}

#[derive(Deserialize)]
struct MedianIntervals {
    asked: f64,
    interpolated: Option<Bounds>,
}

#[derive(Deserialize)]
struct Bounds {
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct Stream {
    seed: u64,
    words: Vec<u64>,
    below: Vec<(u64, Vec<u64>)>,
    units: Vec<f64>,
}

fn fixtures() -> Fixtures {
    serde_json::from_str(include_str!("../../fixtures/fixtures.json")).unwrap()
}

/// Equal to within 1e-9 of the figure.
#[track_caller]
fn check(ours: f64, theirs: f64, what: &str) {
    assert!((ours - theirs).abs() <= 1e-9 * theirs.abs(), "{what}: {ours} here, {theirs} there");
}

#[test]
fn plain_statistics_agree_with_numpy() {
    for fixture in fixtures().samples {
        let sample = Sample::new(&fixture.values).unwrap();
        let name = &fixture.name;
        check(sample.median(), fixture.median, name);
        check(sample.mean(), fixture.mean, name);
        assert_eq!(sample.variance().is_some(), fixture.variance.is_some(), "{name}");
        if let (Some(ours), Some(theirs)) = (sample.variance(), fixture.variance) {
            check(ours, theirs, name);
            check(sample.standard_deviation().unwrap(), theirs.sqrt(), name);
        }
    }
}

#[test]
fn quantiles_agree_with_numpy_type_7() {
    for fixture in fixtures().samples {
        let sample = Sample::new(&fixture.values).unwrap();
        for (probability, theirs) in fixture.quantiles {
            check(sample.quantile(probability).unwrap(), theirs, &format!("{} at {probability}", fixture.name));
        }
    }
}

#[test]
fn intervals_of_the_median_agree_with_scipy() {
    let mut compared = 0;
    for fixture in fixtures().samples {
        let sample = Sample::new(&fixture.values).unwrap();
        for theirs in fixture.median_intervals {
            let what = format!("{} at {}", fixture.name, theirs.asked);
            let level = Level::new(theirs.asked).unwrap();
            let ours = median_interval_interpolated(&sample, level);
            // The reference has none if [least, greatest] falls short. Within the tolerance this crate returns that
            // range.
            let Some(interpolated) = theirs.interpolated else {
                assert_eq!(ours.is_some(), sample.len() >= level.least_sample(), "{what}");
                assert!(ours.is_none_or(|interval| interval.level < theirs.asked), "{what}: {ours:?}");
                continue;
            };
            let Some(ours) = ours else { panic!("{what}: no interval") };
            check(ours.low, interpolated.low, &what);
            check(ours.high, interpolated.high, &what);
            check(ours.level, theirs.asked, &what);
            compared += 1;
        }
    }
    assert!(compared >= 30, "only {compared} intervals were compared");
}

#[test]
fn streams_are_the_ones_of_the_published_algorithms() {
    for theirs in fixtures().streams {
        let mut rng = Rng::seeded(theirs.seed);
        let what = format!("seed {}", theirs.seed);
        assert_eq!(theirs.words.iter().map(|_| rng.next_u64()).collect::<Vec<_>>(), theirs.words, "{what}");
        for (bound, integers) in theirs.below {
            assert_eq!(integers.iter().map(|_| rng.below(bound)).collect::<Vec<_>>(), integers, "{what} below {bound}");
        }
        assert_eq!(theirs.units.iter().map(|_| rng.unit()).collect::<Vec<_>>(), theirs.units, "{what}");
    }
}
