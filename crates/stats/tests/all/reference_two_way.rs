//! The fit of cases and blocks agrees with a dense one by NumPy and SciPy. `fixtures/generate_two_way.py` makes the
//! figures in `fixtures/two_way.json`.

use serde::Deserialize;
use tolok_stats::{Level, TwoWay};

#[derive(Deserialize)]
struct Study {
    values: Vec<Vec<Option<f64>>>,
    pooled: f64,
    df: f64,
    variances: Vec<f64>,
    differences: Vec<Difference>,
}

#[derive(Deserialize)]
struct Difference {
    a: usize,
    b: usize,
    value: f64,
    standard_error: f64,
    p: f64,
    margin: f64,
    p_equivalence: f64,
    low: f64,
    high: f64,
}

fn check(is: f64, theirs: f64, what: &str) {
    assert!((is - theirs).abs() <= 1e-8 * theirs.abs().max(1e-4), "{what}: {is} is not {theirs}");
}

#[test]
fn fits_agree_with_a_dense_design() {
    let studies: Vec<Study> = serde_json::from_str(include_str!("../../fixtures/two_way.json")).unwrap();
    assert_eq!(studies.len(), 8);
    for study in studies {
        let what = format!("{} cases, {} blocks", study.values.len(), study.values[0].len());
        let fitted = TwoWay::of(&study.values).unwrap();
        check(fitted.pooled_variance(), study.pooled, &what);
        check(fitted.df(), study.df, &what);
        for (case, variance) in study.variances.iter().enumerate() {
            check(fitted.variance(case).unwrap(), *variance, &format!("{what}, variance of case {case}"));
        }
        for theirs in study.differences {
            let what = format!("{what}, {} less {}", theirs.a, theirs.b);
            let found = fitted.difference(theirs.a, theirs.b).unwrap();
            let interval = found.interval(Level::P95);
            check(found.value, theirs.value, &what);
            check(found.standard_error, theirs.standard_error, &what);
            check(found.p(0.0).unwrap(), theirs.p, &what);
            check(found.p_equivalence(theirs.margin).unwrap(), theirs.p_equivalence, &what);
            check(interval.low, theirs.low, &what);
            check(interval.high, theirs.high, &what);
        }
    }
}
