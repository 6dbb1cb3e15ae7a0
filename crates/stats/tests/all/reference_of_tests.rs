//! Tests, their intervals and power agree with SciPy and statsmodels. `fixtures/generate_tests.py` makes the figures in
//! `fixtures/tests.json`.

use serde::Deserialize;
use tolok_stats::{
    GeometricOutcome, Interval, Level, Naming, Sample, equivalence_paired, equivalence_welch, geometric_ratio, holm,
    mean_interval, normal_cdf, normal_quantile, paired_t, student_t_cdf, student_t_quantile, welch,
};

#[derive(Deserialize)]
struct Fixtures {
    student: Vec<Student>,
    normal: Normal,
    one_sample: Vec<OneSample>,
    ratios: Vec<Ratio>,
    two_samples: Vec<TwoSamples>,
    families: Vec<Family>,
    powers: Vec<Power>,
    smallest_effects: Vec<SmallestEffect>,
}

#[derive(Deserialize)]
struct Student {
    df: f64,
    cdf: Vec<(f64, f64)>,
    quantiles: Vec<(f64, f64)>,
}

#[derive(Deserialize)]
struct Normal {
    cdf: Vec<(f64, f64)>,
    quantiles: Vec<(f64, f64)>,
}

/// Level, low, high.
type Bounds = (f64, f64, f64);

#[derive(Deserialize)]
struct OneSample {
    values: Vec<f64>,
    null: f64,
    statistic: f64,
    p: f64,
    intervals: Vec<Bounds>,
    margin: f64,
    equivalence: f64,
}

#[derive(Deserialize)]
struct Ratio {
    numerator: Vec<f64>,
    denominator: Vec<f64>,
    ratio: f64,
    statistic: f64,
    p: f64,
    intervals: Vec<Bounds>,
}

#[derive(Deserialize)]
struct TwoSamples {
    a: Vec<f64>,
    b: Vec<f64>,
    difference: f64,
    df: f64,
    p: f64,
    standard_error: f64,
    intervals: Vec<Bounds>,
    margin: f64,
    equivalence: f64,
}

#[derive(Deserialize)]
struct Family {
    p: Vec<f64>,
    holm: Vec<f64>,
}

#[derive(Deserialize)]
struct Power {
    sd: f64,
    effect: f64,
    comparisons: usize,
    power: f64,
    blocks: u32,
}

#[derive(Deserialize)]
struct SmallestEffect {
    n: u32,
    comparisons: usize,
    power: f64,
    effect: f64,
}

fn fixtures() -> Fixtures {
    serde_json::from_str(include_str!("../../fixtures/tests.json")).unwrap()
}

fn sample(values: &[f64]) -> Sample {
    Sample::new(values).unwrap()
}

fn level(level: f64) -> Level {
    Level::new(level).unwrap()
}

/// Equal to within 1e-9 of the figure.
#[track_caller]
fn check(ours: f64, theirs: f64, what: &str) {
    assert!((ours - theirs).abs() <= 1e-9 * theirs.abs(), "{what}: {ours} here, {theirs} there");
}

#[track_caller]
fn check_bounds(ours: Option<Interval>, theirs: &Bounds, values: usize, what: &str) {
    let Some(ours) = ours else { return assert!(values < Level::LEAST_SAMPLE, "{what}: no interval") };
    // A bound near 0 is the small difference of mean and reach, so it is compared relative to the width.
    for (bound, expected) in [(ours.low, theirs.1), (ours.high, theirs.2)] {
        assert!((bound - expected).abs() <= 1e-9 * (theirs.2 - theirs.1), "{what}: {ours:?} here, {theirs:?} there");
    }
    check(ours.level, theirs.0, what);
}

#[test]
fn students_distribution_agrees_with_scipy() {
    for Student { df, cdf, quantiles } in fixtures().student {
        for (t, theirs) in cdf {
            check(student_t_cdf(t, df), theirs, &format!("P(T <= {t}), {df} degrees of freedom"));
        }
        for (p, theirs) in quantiles {
            check(student_t_quantile(p, df), theirs, &format!("quantile {p}, {df} degrees of freedom"));
        }
    }
}

#[test]
fn the_normal_distribution_agrees_with_scipy() {
    let Normal { cdf, quantiles } = fixtures().normal;
    for (z, theirs) in cdf {
        check(normal_cdf(z), theirs, &format!("P(Z <= {z})"));
    }
    for (p, theirs) in quantiles {
        check(normal_quantile(p), theirs, &format!("quantile {p}"));
    }
}

#[test]
fn one_sample_t_tests_and_intervals_agree_with_scipy_and_statsmodels() {
    for theirs in fixtures().one_sample {
        let (values, n) = (sample(&theirs.values), theirs.values.len());
        let what = format!("{n} values");
        let test = paired_t(&values, theirs.null).unwrap();
        assert_eq!(test.df, (n - 1) as f64, "{what}");
        check(test.statistic, theirs.statistic, &what);
        check(test.p, theirs.p, &what);
        for bounds in &theirs.intervals {
            check_bounds(mean_interval(&values, level(bounds.0)), bounds, n, &what);
        }
        match equivalence_paired(&values, theirs.margin) {
            Some(p) => check(p, theirs.equivalence, &what),
            None => assert!(n < Level::LEAST_SAMPLE, "{what}"),
        }
    }
}

#[test]
fn geometric_ratios_agree_with_scipy() {
    for theirs in fixtures().ratios {
        let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
        let what = format!("{} blocks", theirs.numerator.len());
        for bounds in &theirs.intervals {
            let found = geometric_ratio(&some(&theirs.numerator), &some(&theirs.denominator), level(bounds.0)).unwrap();
            let GeometricOutcome::Estimated { ratio, interval, log_differences } = found.outcome else {
                panic!("{what}: {found:?}")
            };
            check(ratio, theirs.ratio, &what);
            check_bounds(interval, bounds, theirs.numerator.len(), &what);
            let test = paired_t(&log_differences, 0.0).unwrap();
            check(test.statistic, theirs.statistic, &what);
            check(test.p, theirs.p, &what);
        }
    }
}

#[test]
fn welchs_test_agrees_with_scipy_and_statsmodels() {
    for theirs in fixtures().two_samples {
        let (a, b) = (sample(&theirs.a), sample(&theirs.b));
        let fewest = a.len().min(b.len());
        let what = format!("{} and {} values", a.len(), b.len());
        for bounds in &theirs.intervals {
            let found = welch(&a, &b, 0.0, level(bounds.0)).unwrap();
            assert!((found.difference - theirs.difference).abs() < 1e-9 * found.standard_error, "{what}");
            check(found.df, theirs.df, &what);
            check(found.p, theirs.p, &what);
            check(found.standard_error, theirs.standard_error, &what);
            check_bounds(found.interval, bounds, fewest, &what);
        }
        match equivalence_welch(&a, &b, theirs.margin) {
            Some(p) => check(p, theirs.equivalence, &what),
            None => assert!(fewest < Level::LEAST_SAMPLE, "{what}"),
        }
    }
}

#[test]
fn holms_adjustment_agrees_with_statsmodels() {
    for theirs in fixtures().families {
        for (ours, theirs) in holm(&theirs.p).iter().zip(&theirs.holm) {
            check(*ours, *theirs, "adjusted p");
        }
    }
}

/// The paired t test with this many blocks. Every difference that it finds is named.
fn paired_t_test(sd: f64, blocks: u32, comparisons: usize) -> Naming {
    Naming { sd, df: f64::from(blocks) - 1.0, blocks, level: Level::P95, comparisons, least_size: 0.0 }
}

#[test]
fn power_agrees_with_statsmodels_and_the_noncentral_t() {
    for theirs in fixtures().powers {
        let blocks = paired_t_test(theirs.sd, 10, theirs.comparisons).blocks_needed(theirs.effect, theirs.power);
        assert_eq!(blocks, Some(theirs.blocks), "{} over {}", theirs.effect, theirs.sd);
    }
    for theirs in fixtures().smallest_effects {
        let effect = paired_t_test(1.0, theirs.n, theirs.comparisons).smallest_named(theirs.power);
        check(effect, theirs.effect, &format!("{} blocks", theirs.n));
    }
}
