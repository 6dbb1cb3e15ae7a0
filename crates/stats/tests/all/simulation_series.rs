//! How often series and slopes are judged correctly, by simulation. Seeds are fixed, so the counts are the same in
//! every run.

use tolok_stats::{Level, Rng, STEADY_TOLERANCE, SteadyClass, changepoint_penalty, changepoints, steady, theil_sen};

use crate::normal::normal;

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
            // 99.1% to 100% in 20,000 series. Three standard errors of 600 are 1.2%, and of 60 series one may be cut.
            assert!(uncut >= 0.98, "n = {n}, rho = {rho}: {uncut}");
        }
    }
}

#[test]
fn a_step_of_ten_percent_is_found() {
    // Total seconds, seconds before the step, noise, and the share of series in which the step must be found within a
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
