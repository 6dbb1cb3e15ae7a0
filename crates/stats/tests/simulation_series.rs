//! How often series, slopes, curves and small samples are judged rightly, by simulation. Seeds are fixed, so the counts
//! are the same in every run.

#![allow(clippy::unwrap_used, reason = "test code; clippy takes only functions marked #[test] for it")]

use tolok_stats::{
    Bootstrap, Interval, Level, Rng, STEADY_TOLERANCE, Sample, ScalabilityRefusal, SteadyClass, changepoint_penalty,
    changepoints, percentile_interval, scalability, steady, theil_sen,
};

/// Standard normal by Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// Normal values of variance 1, each correlated with its neighbour by `rho`.
fn autoregressive(rng: &mut Rng, n: usize, rho: f64) -> Vec<f64> {
    let mut value = normal(rng);
    let values = std::iter::repeat_with(|| {
        let this = value;
        value = rho * value + (1.0 - rho * rho).sqrt() * normal(rng);
        this
    });
    values.take(n).collect()
}

fn share(repetitions: u32, mut holds: impl FnMut(u32) -> bool) -> f64 {
    let held = (0..repetitions).filter(|&repetition| holds(repetition)).count();
    held as f64 / f64::from(repetitions)
}

#[test]
fn noise_is_not_cut_in_99_percent_of_series() {
    for (n, repetitions) in [(10, 1_000), (20, 600), (60, 60)] {
        for rho in [0.0, 0.3] {
            let mut rng = Rng::seeded(11);
            let uncut = share(repetitions, |_| {
                changepoints(&autoregressive(&mut rng, n, rho), changepoint_penalty(n)).unwrap().is_empty()
            });
            // 99.1 % to 100 % in 20,000 series; three standard errors of 600 are 1.2 %, and of 60 series one may be
            // cut.
            assert!(uncut >= 0.98, "n = {n}, rho = {rho}: {uncut}");
        }
    }
}

#[test]
fn a_step_of_ten_percent_is_found() {
    // Seconds in all, seconds before the step, noise, and the share of series in which it must be found within a
    // second.
    for (n, at, noise, least) in [
        (10, 5, 0.01, 0.99),
        (10, 2, 0.01, 0.98),
        (10, 5, 0.02, 0.72),
        (15, 7, 0.02, 0.96),
        (30, 7, 0.02, 0.98),
        (30, 15, 0.02, 0.98),
        (60, 15, 0.02, 0.98),
    ] {
        let mut rng = Rng::seeded(12);
        let found = share(300, |_| {
            let noise: Vec<f64> = autoregressive(&mut rng, n, 0.0).iter().map(|e| 1.0 + noise * e).collect();
            let series: Vec<f64> =
                noise.iter().zip(0..).map(|(e, s)| if s < at { 100.0 * e } else { 110.0 * e }).collect();
            changepoints(&series, changepoint_penalty(n)).unwrap().iter().any(|change| change.abs_diff(at) <= 1)
        });
        assert!(found >= least, "n = {n}, step at {at}, noise {noise}: {found}");
    }
}

#[test]
fn steady_servers_are_called_flat_and_those_that_warm_up_so() {
    for n in [10, 30] {
        let mut rng = Rng::seeded(13);
        let mut seconds = |level: f64, n: usize| -> Vec<f64> {
            autoregressive(&mut rng, n, 0.3).iter().map(|e| level * (1.0 + 0.01 * e)).collect()
        };
        let flat = share(400, |_| steady(&seconds(1_000.0, n), STEADY_TOLERANCE).unwrap().class == SteadyClass::Flat);
        assert!(flat >= 0.985, "n = {n}: {flat}");
        let warm = share(400, |_| {
            let series = [seconds(850.0, n / 3), seconds(1_000.0, n - n / 3)].concat();
            let found = steady(&series, STEADY_TOLERANCE).unwrap();
            found.class == SteadyClass::WarmUp && found.steady_from == n / 3
        });
        assert!(warm >= 0.97, "n = {n}: {warm}");
    }
}

/// The share of samples whose interval of the mean contains the true one, 0.
fn coverage(n: usize, interval: impl Fn(&Sample, u64) -> Interval) -> f64 {
    let mut rng = Rng::seeded(14);
    share(250, |repetition| {
        let values: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
        interval(&Sample::new(&values).unwrap(), u64::from(repetition)).contains(0.0)
    })
}

#[test]
fn expanded_intervals_of_a_mean_cover_what_was_asked_where_plain_ones_do_not() {
    let bootstrap = |seed| Bootstrap::new(Level::P95, seed).with_resamples(1_000).unwrap();
    for n in [10, 20] {
        let plain = coverage(n, |sample, seed| bootstrap(seed).interval(sample, Sample::mean).unwrap().unwrap());
        let expanded =
            |sample: &Sample, seed| bootstrap(seed).expanded().interval(sample, Sample::mean).unwrap().unwrap();
        let expanded = coverage(n, expanded);
        assert!((0.91..0.99).contains(&expanded), "n = {n}: {expanded}");
        assert!(plain < expanded, "n = {n}: {plain} and {expanded}");
    }
}

#[test]
fn groups_that_differ_are_covered_and_groups_that_do_not_more_than_that() {
    let coverage = |between: f64| {
        let mut rng = Rng::seeded(15);
        share(60, |repetition| {
            let groups: Vec<Sample> = (0..10)
                .map(|_| {
                    let level = between * normal(&mut rng);
                    let members: Vec<f64> = (0..4).map(|_| level + normal(&mut rng)).collect();
                    Sample::new(&members).unwrap()
                })
                .collect();
            let mean = |groups: &[Sample]| groups.iter().map(Sample::mean).sum::<f64>() / groups.len() as f64;
            let bootstrap = Bootstrap::new(Level::P95, u64::from(repetition)).with_resamples(400).unwrap().expanded();
            bootstrap.hierarchical_interval(&groups, mean).unwrap().unwrap().contains(0.0)
        })
    };
    let (apart, alike) = (coverage(3.0), coverage(0.0));
    assert!((0.85..1.0).contains(&apart), "{apart}");
    assert!(alike >= 0.95, "{alike}");
}

#[test]
fn the_interval_of_a_percentile_covers_at_least_what_it_says() {
    let truth = 0.9;
    let mut rng = Rng::seeded(16);
    let mut achieved = 0.0;
    let covered = share(4_000, |_| {
        let values: Vec<f64> = (0..60).map(|_| rng.unit()).collect();
        let interval = percentile_interval(&Sample::new(&values).unwrap(), 0.9, Level::P95).unwrap().unwrap();
        achieved = interval.level;
        interval.contains(truth)
    });
    assert!((covered - achieved).abs() < 4.0 * (achieved * (1.0 - achieved) / 4_000.0).sqrt(), "{covered}, {achieved}");
}

#[test]
fn the_interval_of_a_slope_covers_what_was_asked() {
    let x: Vec<f64> = (0..20).map(f64::from).collect();
    let mut rng = Rng::seeded(17);
    let covered = share(1_000, |_| {
        let y: Vec<f64> = x.iter().map(|x| 2.0 * x + normal(&mut rng)).collect();
        theil_sen(&x, &y, Level::P95).unwrap().interval.unwrap().contains(2.0)
    });
    assert!((0.93..0.975).contains(&covered), "{covered}");
}

const CONCURRENCIES: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// Six blocks on a curve, each with a level of its own, and with noise.
fn blocks(rng: &mut Rng, sigma: f64, kappa: f64, noise: f64) -> Vec<Vec<Option<f64>>> {
    let mut block = || {
        let level = 1_000.0 * (0.05 * normal(rng)).exp();
        let slowing = |n: f64| 1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0);
        CONCURRENCIES.iter().map(|&n| Some(level * n / slowing(n) * (noise * normal(rng)).exp())).collect()
    };
    (0..6).map(|_| block()).collect()
}

#[test]
fn throughput_in_proportion_is_refused_and_a_bend_is_found() {
    let bootstrap = Bootstrap::new(Level::P95, 1).with_resamples(400).unwrap();
    let mut rng = Rng::seeded(18);
    let refused = share(40, |_| {
        let found = scalability(&CONCURRENCIES, &blocks(&mut rng, 0.0, 0.0, 0.03)[..4], bootstrap);
        matches!(found, Err(ScalabilityRefusal::NoBend { .. }))
    });
    assert!(refused >= 0.9, "{refused}");
    let covered = share(5, |_| {
        let found = scalability(&CONCURRENCIES, &blocks(&mut rng, 0.05, 1e-3, 0.03), bootstrap).unwrap();
        let peak = found.peak.unwrap();
        assert!(peak.observed, "{peak:?}");
        found.intervals.unwrap().sigma.contains(0.05) && peak.interval.is_some_and(|interval| interval.contains(30.8))
    });
    assert!(covered >= 0.6, "{covered}");
}
