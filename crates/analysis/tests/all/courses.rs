//! Findings on response times and on each second.

use crate::invented::courses::{Course, with_histogram, with_seconds};
use crate::invented::{GO, InventedRun, NODE, fail_requests};
use tolok_analysis::CaseFinding;
use tolok_model::{Executor, FailureKind, SecondSeries};

const COURSE: Course = Course { warm_up: 3, cpus: [0.98, 0.6, 0.0], growth_bytes: 0 };

/// A run of 5 blocks of one case with windows of 6 s and a p50 of about 1.7 ms.
fn six_seconds(objectives: &[&str]) -> InventedRun {
    let mut run = InventedRun::new(5);
    run.scenario_with("json-c64", "json", "JSON", Executor::ConstantVus { vus: 64 }, objectives);
    run.plan.scenarios[0].load.duration_s = 6.0;
    run.steady(GO, 34_300.0).change(|block, trial| {
        with_histogram(block, trial);
        with_seconds(block, trial, COURSE);
    });
    run
}

fn only(run: &InventedRun) -> CaseFinding {
    run.findings().scenarios.remove(0).cases.remove(0)
}

mod latency {
    use super::*;

    #[test]
    fn a_curve_rises_within_its_band_and_agrees_with_the_histogram() {
        let case = only(&six_seconds(&[]));
        let curve = case.figures.latency_curve.unwrap();
        assert_eq!(curve.trials, 5);
        assert!(curve.points.windows(2).all(|pair| pair[0].quantile < pair[1].quantile));
        assert!(curve.points.windows(2).all(|pair| pair[0].latency_s <= pair[1].latency_s));
        assert!(curve.points.iter().all(|point| point.low_s <= point.latency_s && point.latency_s <= point.high_s));
        // 200,000 responses in each trial: 10 of them are one in 20,000.
        let last = curve.points.last().unwrap().quantile;
        assert!((0.999_9..0.999_96).contains(&last), "{last}");
    }

    #[test]
    fn without_histograms_the_percentiles_that_all_trials_have_are_a_curve() {
        let mut run = InventedRun::new(5);
        run.scenario("json-c64", "json", "JSON", 64).steady(GO, 34_300.0);
        let case = only(&run);
        let quantiles: Vec<f64> =
            case.figures.latency_curve.unwrap().points.iter().map(|point| point.quantile).collect();
        assert_eq!((quantiles, case.figures.slow), (vec![0.5, 0.9, 0.99, 0.999], None));
        // One of the trials has too few responses beyond p99.9 and beyond p99.
        run.change(|block, trial| {
            let too_few = block == 3;
            trial.latency.percentiles[2..].iter_mut().for_each(|it| it.latency_s = it.latency_s.filter(|_| !too_few));
        });
        assert_eq!(only(&run).latency_curve, None, "two points are too few for a curve");
    }

    #[test]
    fn a_histogram_that_cannot_be_read_leaves_no_curve() {
        let mut run = six_seconds(&[]);
        run.change(|block, trial| {
            if block == 2 {
                trial.latency.histogram = Some("HISTFAAA".to_owned());
            }
        });
        let case = only(&run);
        assert_eq!((case.figures.latency_curve, case.figures.slow), (None, None));
        assert!(case.figures.latency_p50_s.is_some(), "the tool's own figure is kept");
    }

    #[test]
    fn late_is_what_the_objectives_call_so_and_else_a_second() {
        let slow = |objectives: &[&str]| only(&six_seconds(objectives)).figures.slow.unwrap();
        let none = slow(&[]);
        assert_eq!((none.bound_s, none.answers, none.share), (1.0, 0, 0.0));
        let some = slow(&["p50 < 2ms", "p99 < 3ms", "goodput >= 99%", "mean < 10ms"]);
        assert_eq!(some.bound_s, 0.003, "the highest bound on response times");
        assert!(some.answers > 0 && some.share < 0.2, "{some:?}");
        assert_eq!(slow(&["service.p95 < 1ms"]).bound_s, 1.0, "bounds on service times do not count");
    }
}

mod seconds {
    use super::*;

    #[test]
    fn the_warm_up_stands_before_the_window() {
        let seconds = only(&six_seconds(&[])).figures.seconds.unwrap();
        assert_eq!(seconds.start_s, [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let good = |place: usize| seconds.good_rps[place].value.unwrap();
        assert!(good(0) < 0.6 * good(5), "it warmed up: {} and {}", good(0), good(5));
        assert!(seconds.good_rps.iter().all(|band| band.low <= band.value && band.value <= band.high));
        assert_eq!(seconds.generator_cpus.len(), 9);
        let nobody_read = [&seconds.failed_rps, &seconds.database_cpus, &seconds.database_memory_bytes];
        assert!(nobody_read.iter().all(|list| list.is_empty()));
    }

    #[test]
    fn failures_have_a_course_where_there_are_any() {
        let mut run = six_seconds(&[]);
        run.change(|block, trial| {
            fail_requests(trial, 600);
            with_seconds(block, trial, COURSE);
        });
        assert_eq!(only(&run).figures.seconds.unwrap().failed_rps[4].value, Some(100.0));
    }

    #[test]
    fn a_single_second_and_a_trial_that_failed_are_none() {
        let mut run = six_seconds(&[]);
        run.change(|_, trial| trial.series = Some(SecondSeries { good: vec![9], ..SecondSeries::default() }));
        assert_eq!(only(&run).seconds, None);
        run.steady(NODE, 17_200.0);
        (1..=5).for_each(|block| _ = run.fail(block, FailureKind::Crashed, "it ended"));
        assert!(run.findings().scenarios[0].cases.iter().all(|case| case.seconds.is_none()));
    }
}
