//! Measures how long it takes to analyse a large run. This is not a check:
//! `cargo test --release -p tolok-analysis --test all speed -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use crate::invented::courses::with_histogram;
use crate::invented::judgement::Noise;
use crate::invented::{GO, InventedRun, Server};
use tolok_model::SecondSeries;

const BLOCKS: u32 = 10;
const WINDOW_S: usize = 10;

/// This many scenarios with this many servers each, with per-second data and a histogram of response times for every window.
fn large(scenarios: u32, cases: u32) -> InventedRun {
    let (mut run, mut noise, mut seconds) = (InventedRun::new(BLOCKS), Noise::new(7, 0.02), Noise::new(8, 0.02));
    for scenario in 0..scenarios {
        run.scenario(&format!("json-{scenario}"), "json", "JSON", 8 * (scenario + 1));
        for case in 0..cases {
            let label: &'static str = Box::leak(format!("go/server{case}:default").into_boxed_str());
            let goodput_rps = 10_000.0 * 1.01f64.powi(case as i32);
            run.case(Server { label, ..GO }, &noise.blocks(goodput_rps, BLOCKS));
            let good: Vec<u64> =
                seconds.blocks(goodput_rps, WINDOW_S as u32).into_iter().map(|rps| rps as u64).collect();
            run.change(|block, trial| {
                with_histogram(block, trial);
                let subject_memory_bytes = (0..WINDOW_S as u64).map(|second| Some(14_000_000 + second)).collect();
                trial.series =
                    Some(SecondSeries { good: good.clone(), subject_memory_bytes, ..SecondSeries::default() });
            });
        }
    }
    run
}

fn least_of_three(run: &InventedRun) -> Duration {
    let once = || {
        let began = Instant::now();
        let findings = run.findings();
        assert!(!findings.scenarios.is_empty());
        began.elapsed()
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stdout, reason = "it prints the measured figure")]
fn a_thousand_trials() {
    for (scenarios, cases) in [(17, 6), (4, 25), (1, 100)] {
        let run = large(scenarios, cases);
        let took = least_of_three(&run);
        println!("{scenarios} scenarios of {cases} cases, {} trials: {took:?}", run.trials.len());
    }
}
