//! Runs in slices.

use tolok_analysis::Findings;
use tolok_model::Judge;

use crate::invented::slices::jitter;
use crate::invented::{BUN, CEILING, GO, InventedRun, NODE};

/// Two scenarios, one in slices and one in trials: a report must never mix them without saying so.
pub fn slices() -> Findings {
    let mut run = InventedRun::new(8);
    run.scenario("json-c64", "json", "JSON", 64).in_slices();
    run.sliced(CEILING, 150_000.0, 6.6e-6, &jitter(1, 10.0));
    run.sliced(BUN, 60_000.0, 16e-6, &jitter(2, 10.0)).sliced(GO, 40_000.0, 24e-6, &jitter(3, 10.0));
    run.sliced(NODE, 39_000.0, 25e-6, &jitter(4, 10.0));
    run.scenario("hello-c64", "hello", "Hello", 64)
        .steady(CEILING, 160_000.0)
        .steady(GO, 41_000.0)
        .steady(BUN, 61_000.0);
    run.findings()
}

/// A study judged by CPU time, where the server with the most responses is not the most efficient.
pub fn by_cpu() -> Findings {
    let mut run = InventedRun::new(8);
    run.plan.judge = Judge::Cpu;
    run.scenario("json-c64", "json", "JSON", 64).in_slices();
    run.sliced(CEILING, 150_000.0, 6.6e-6, &jitter(1, 10.0)).sliced(GO, 40_000.0, 24e-6, &jitter(2, 10.0));
    run.sliced(BUN, 37_000.0, 16e-6, &jitter(3, 10.0)).sliced(NODE, 30_000.0, 32e-6, &jitter(4, 10.0));
    run.findings()
}

/// A duel of two challengers; one is slower than the base.
pub fn duel() -> Findings {
    let mut run = InventedRun::new(8);
    (run.run.study, run.run.command) =
        ("duel".to_owned(), "tolok duel go bun node --workload json --seed 7".to_owned());
    run.plan.smallest_effect = 0.01;
    run.scenario("json-c64", "json", "JSON", 64).in_slices();
    run.sliced(GO, 40_000.0, 20e-6, &jitter(1, 1.0)).sliced(BUN, 38_600.0, 20.8e-6, &jitter(2, 1.0));
    run.sliced(NODE, 40_100.0, 20.1e-6, &jitter(3, 1.0));
    run.findings()
}
