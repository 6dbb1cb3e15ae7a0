//! Invented pairs of runs: the same study before and after a change.

use tolok_analysis::{
    CompareRefusal, CompareRequest, ComparedRun, LeftOutRun, Records, RunComparison, RunHistory, compare_runs, history,
};
use tolok_model::{Executor, SplitMix64, Timer};

use super::programs::{BUN_QUEUE, GO_QUEUE};
use super::{BUN, CEILING, FPM, GO, InventedRun, NODE, Server, fail_requests};

/// The properties of a run in a pair.
#[derive(Clone, Copy)]
pub struct Life {
    /// Seed of its noise.
    pub seed: u64,
    /// The largest deviation of a trial, as a share.
    pub noise: f64,
    /// Factor of every goodput, including the ceiling's.
    pub machine: f64,
    /// Factor of Go's goodput.
    pub go: f64,
    /// Digest of the ceiling's build.
    pub ceiling: &'static str,
    /// Trials of each case.
    pub blocks: u32,
}

pub const BEFORE: Life = Life { seed: 1, noise: 0.012, machine: 1.0, go: 1.0, ceiling: "00c0ffee00c0ffee", blocks: 10 };
pub const AFTER: Life = Life { seed: 2, ..BEFORE };

impl InventedRun {
    /// Adds a case whose trials deviate by up to `noise`, differently in each run.
    pub fn noisy(&mut self, server: Server, goodput_rps: f64, life: &Life) -> &mut Self {
        let mut random = SplitMix64::new(life.seed * 7_919 + self.trials.len() as u64);
        let mut off = || 1.0 + life.noise * (random.below(2001) as f64 / 1000.0 - 1.0);
        let trials: Vec<f64> = (0..life.blocks).map(|_| goodput_rps * life.machine * off()).collect();
        self.case(server, &trials)
    }

    /// The same for a program and its wall time.
    pub fn noisily(&mut self, program: super::programs::Program, wall_s: f64, life: &Life) -> &mut Self {
        let mut random = SplitMix64::new(life.seed * 104_729 + self.trials.len() as u64);
        let mut off = || 1.0 + life.noise * (random.below(2001) as f64 / 1000.0 - 1.0);
        let trials: Vec<f64> = (0..life.blocks).map(|_| wall_s / life.machine * off()).collect();
        self.timed(program, &trials)
    }

    /// Records a build in the commands of the last case, as the lab does.
    pub fn built(&mut self, name: &str, digest: &str) -> &mut Self {
        let command =
            format!("/home/someone/.cache/tolok/builds/{name}-{digest}/target/release/server --host 127.0.0.1");
        self.change_records(|trial| trial.commands = vec![command.clone()])
    }
}

/// A closed loop, an open one and programs, each with two or more competitors.
pub fn run(life: Life) -> InventedRun {
    let mut run = InventedRun::new(life.blocks);
    run.run.id = format!("2026-11-{:02}-api-00000{}", 20 + life.seed, life.seed);
    run.run.study = "api".to_owned();
    run.run.started_at = format!("2026-11-{:02}T10:00:00Z", 20 + life.seed);
    run.run.command = "tolok run studies/api.toml --seed 83850".to_owned();
    run.plan.title = "Is the API as fast as it was?".to_owned();
    run.scenario("json-c64", "json", "JSON", 64)
        .noisy(CEILING, 60_700.0, &life)
        .built("rust-ceiling", life.ceiling)
        .noisy(GO, 34_300.0 * life.go, &life)
        .built("go-nethttp", if life.go == 1.0 { "60600000000000aa" } else { "60600000000000bb" })
        .noisy(BUN, 39_600.0, &life)
        .noisy(NODE, 17_200.0, &life);
    let rate = Executor::ConstantArrivalRate { rate_rps: 2_000.0, arrivals: Default::default() };
    run.scenario_with("hello-r2000", "hello", "Hello", rate, &[])
        .noisy(CEILING, 60_000.0, &life)
        .built("rust-ceiling", life.ceiling)
        .change(at_the_rate)
        .noisy(GO, 30_000.0 * life.go, &life)
        .built("go-nethttp", if life.go == 1.0 { "60600000000000aa" } else { "60600000000000bb" })
        .change(at_the_rate)
        .noisy(FPM, 5_300.0, &life)
        .change(at_the_rate);
    run.program("queue-n1000", "queue?n=1000", "A queue of tasks, n = 1,000", Timer::Tolok);
    run.noisily(GO_QUEUE, 0.120 / life.go, &life).noisily(BUN_QUEUE, 0.071, &life);
    run
}

/// Converts an invented maximum throughput into the figures of a server that keeps up with a rate.
fn at_the_rate(_: u32, trial: &mut tolok_model::Measurement) {
    trial.goodput_rps = 2_000.0 + (trial.goodput_rps / 1e3).fract();
    let good = (trial.goodput_rps * trial.window_s).round() as u64;
    trial.ledger.good = good;
    trial.ledger.scheduled = Some(good + 64);
    trial.ledger.sent = Some(good + 64);
    trial.body_bytes = good * 27;
}

/// A week later, with another version of Go and a tenth less goodput of the application.
pub fn regressed() -> (InventedRun, InventedRun) {
    let (before, mut after) = (run(BEFORE), run(Life { go: 0.9, ..AFTER }));
    after.run.programs[0].version = "1.27.0".to_owned();
    after.run.git = Some("9d2e7f0".to_owned());
    (before, after)
}

/// Two runs of the same, one after the other.
pub fn unchanged() -> (InventedRun, InventedRun) {
    (run(BEFORE), run(AFTER))
}

/// The machine became 8% slower between the runs.
pub fn drifted() -> (InventedRun, InventedRun) {
    (run(BEFORE), run(Life { machine: 0.92, ..AFTER }))
}

/// Another machine, other limits, another load: everything that must not differ.
pub fn elsewhere() -> (InventedRun, InventedRun) {
    let (before, mut after) = unchanged();
    let machine = &mut after.run.machine;
    machine.cpu = "Other CPU 9".to_owned();
    machine.cpus = 8;
    machine.virtualisation = None;
    machine.memory_bytes = 64 * 1024 * 1024 * 1024;
    machine.kernel = "6.19.0".to_owned();
    after.run.cpus.values_mut().for_each(|cpus| (cpus.subject, cpus.generator) = (vec![2], vec![3]));
    after.plan.environments[0].subject.memory_bytes = Some(512 << 20);
    after.plan.scenarios[0].load.duration_s = 10.0;
    (before, after)
}

/// Unranked cases, and cases that only one of the runs has.
pub fn ragged() -> (InventedRun, InventedRun) {
    let life = Life { blocks: 5, ..BEFORE };
    let study = |life: Life| {
        let mut run = InventedRun::new(life.blocks);
        run.run.id = format!("ragged-{}", life.seed);
        run.run.started_at = format!("2026-11-{:02}T10:00:00Z", 20 + life.seed);
        run.scenario("json-c64", "json", "JSON", 64).noisy(GO, 34_300.0, &life).noisy(BUN, 39_600.0, &life);
        run
    };
    let (mut before, mut after) = (study(life), study(Life { seed: 2, ..life }));
    after.change(|_, trial| fail_requests(trial, 2_000));
    before.noisy(NODE, 17_200.0, &life);
    after.noisy(FPM, 5_300.0, &Life { seed: 2, ..life });
    (before, after)
}

/// This many runs of the same. Each deviates by up to this share as a whole, like on another day or with another build. `go` is
/// the factor of the changed subject.
pub fn several(runs: u64, between: f64, go: f64, first_seed: u64) -> Vec<InventedRun> {
    let mut random = SplitMix64::new(first_seed);
    let mut off = || 1.0 + between * (random.below(2001) as f64 / 1000.0 - 1.0);
    let life = |seed: u64, machine: f64| Life { seed, machine, go, blocks: 5, ..BEFORE };
    (0..runs).map(|run_number| run(life(first_seed + run_number, off()))).collect()
}

/// Compares a pair of runs.
pub fn compared(
    (before, after): &(InventedRun, InventedRun),
    request: &CompareRequest,
) -> Result<RunComparison, CompareRefusal> {
    compared_sides([std::slice::from_ref(before), std::slice::from_ref(after)], request)
}

/// Compares runs before with runs after.
pub fn compared_sides(sides: [&[InventedRun]; 2], request: &CompareRequest) -> Result<RunComparison, CompareRefusal> {
    let records = sides.map(|runs| runs.iter().map(records).collect::<Vec<Records>>());
    let findings = sides.map(|runs| runs.iter().map(InventedRun::findings).collect::<Vec<_>>());
    let side = |side: usize| {
        let both = records[side].iter().zip(&findings[side]);
        both.map(|(records, findings)| ComparedRun { records, findings }).collect::<Vec<ComparedRun>>()
    };
    compare_runs(&side(0), &side(1), request)
}

/// The history of runs.
pub fn over_time(runs: &[InventedRun], request: &CompareRequest) -> Result<RunHistory, Vec<LeftOutRun>> {
    let records: Vec<Records> = runs.iter().map(records).collect();
    let findings: Vec<_> = runs.iter().map(InventedRun::findings).collect();
    let both = records.iter().zip(&findings);
    let runs: Vec<ComparedRun> = both.map(|(records, findings)| ComparedRun { records, findings }).collect();
    history(&runs, request)
}

/// The records of a run.
fn records(run: &InventedRun) -> Records<'_> {
    Records {
        run: &run.run,
        plan: &run.plan,
        names: &run.names,
        trials: &run.trials,
        diagnoses: &run.diagnoses,
        records_sha256: None,
    }
}

/// The same comparison with six significant digits, because the last ones depend on the machine's math library.
pub fn with_six_digits(mut found: RunComparison) -> RunComparison {
    let short = |value: f64| format!("{value:.5e}").parse::<f64>().expect("a number that was just written");
    let ratio = |ratio: &mut tolok_analysis::ChangeRatio| {
        ratio.value = short(ratio.value);
        (ratio.low, ratio.high) = (ratio.low.map(short), ratio.high.map(short));
    };
    for scenario in &mut found.scenarios {
        for shift in scenario.control.iter_mut().flat_map(|control| &mut control.shifts) {
            ratio(&mut shift.ratio);
            shift.size = short(shift.size);
        }
        for figure in scenario.cases.iter_mut().flat_map(|case| &mut case.figures) {
            figure.between_runs = figure.between_runs.map(short);
            figure.ratio.iter_mut().chain(&mut figure.beside_control).for_each(ratio);
            let chances =
                [&mut figure.p_adjusted, &mut figure.p_equivalence_adjusted, &mut figure.p_beside_control_adjusted];
            for p in chances.into_iter().flatten() {
                // Extremely small p values differ between machines.
                *p = if *p < 1e-9 { 0.0 } else { short(*p) };
            }
            for estimate in [&mut figure.before, &mut figure.after].into_iter().flatten() {
                estimate.value = short(estimate.value);
                (estimate.low, estimate.high) = (estimate.low.map(short), estimate.high.map(short));
                estimate.trials.iter_mut().for_each(|value| *value = short(*value));
            }
        }
    }
    found
}
