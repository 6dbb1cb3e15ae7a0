//! Invented programs, and what a timer would report about them.

use std::collections::BTreeMap;

use tolok_analysis::{Estimate, Findings, SubjectName};
use tolok_model::{
    Case, HostWindow, Outcome, PlannedTrial, ProgramRun, ProgramScenario, ProgramTiming, ProgramTurns, Role, Runs,
    SplitMix64, SubjectChoice, Timer, TimerSummary, ToolUsed,
};

use super::InventedRun;
use super::records::trial;

/// A program with its displayed title and runtime, and its start-up time.
#[derive(Clone, Copy)]
pub struct Program {
    pub label: &'static str,
    pub title: &'static str,
    pub runtime: &'static str,
    pub start_s: f64,
    pub rss_mib: f64,
}

const fn program(
    label: &'static str,
    title: &'static str,
    runtime: &'static str,
    start_s: f64,
    rss_mib: f64,
) -> Program {
    Program { label, title, runtime, start_s, rss_mib }
}

pub const GO_QUEUE: Program = program("go/queue:channel", "Go queue", "go", 0.002, 4.0);
pub const GO_MUTEX: Program = program("go/queue:mutex", "Go queue", "go", 0.002, 4.0);
pub const BUN_QUEUE: Program = program("bun/queue:default", "Bun queue", "bun", 0.012, 31.0);
pub const NODE_QUEUE: Program = program("node/queue:default", "Node queue", "node", 0.040, 44.0);

/// Deviations of a trial's runs from their median, as shares of the start-up time.
const OFF: [f64; 9] = [0.02, -0.01, 0.0, 0.04, -0.03, 0.01, -0.02, 0.03, -0.04];

impl InventedRun {
    /// Adds a scenario of programs with 9 runs per trial.
    pub fn program(&mut self, id: &str, workload: &str, title: &str, timer: Timer) -> &mut Self {
        let environment = self.plan.environments.last().expect("a plan has one").id.clone();
        self.plan.programs.push(ProgramScenario {
            id: id.to_owned(),
            environment,
            workload: workload.to_owned(),
            runs: Runs { runs: 9, warmup_runs: 1, at_most_s: 10.0, timeout_s: 60.0 },
            timer,
            in_turns: false,
        });
        self.names.workloads.insert(workload.to_owned(), title.to_owned());
        self
    }

    /// Adds a case to the last scenario of programs, with the median wall time of each of its blocks.
    pub fn timed(&mut self, program: Program, wall_s: &[f64]) -> &mut Self {
        let scenario = self.plan.programs.last().expect("a scenario comes first").clone();
        let (subject, variant) = program.label.split_once(':').expect("a label names its variant");
        let name = SubjectName {
            title: program.title.to_owned(),
            runtime: program.runtime.to_owned(),
            default_variant: if subject == "go/queue" { "channel".to_owned() } else { variant.to_owned() },
            ..SubjectName::default()
        };
        self.names.subjects.insert(subject.to_owned(), name);
        let id = format!("{}--{}", scenario.id, program.label.replace(['/', ':'], "-"));
        let (subject, variant) = (subject.to_owned(), variant.to_owned());
        let choice = SubjectChoice { subject, variant, parameters: BTreeMap::new(), label: program.label.to_owned() };
        self.plan.cases.push(Case {
            id: id.clone(),
            scenario: scenario.id.clone(),
            subject: choice,
            role: Role::Subject,
            twin_of: None,
        });
        for (block, wall_s) in (1..).zip(wall_s) {
            let number = self.plan.trials.len() as u32 + 1;
            self.plan.trials.push(PlannedTrial { number, block, case: id.clone(), launch: None });
            let outcome = Outcome::Timed(Box::new(timing(&scenario, &program, *wall_s)));
            self.trials.push(trial(number, block, &id, outcome));
        }
        self
    }

    /// Adds a case whose blocks vary by 1% around `wall_s`.
    pub fn steadily(&mut self, program: Program, wall_s: f64) -> &mut Self {
        let near = |block: u32| wall_s * [1.0, 1.01, 0.99, 1.005, 0.995][block as usize % 5];
        let blocks: Vec<f64> = (0..self.plan.blocks).map(near).collect();
        self.timed(program, &blocks)
    }

    /// Adds a case whose blocks vary by 1% around `wall_s`, differently for each case.
    pub fn wavering(&mut self, program: Program, wall_s: f64) -> &mut Self {
        let mut random = SplitMix64::new(self.trials.len() as u64 + 1);
        let blocks: Vec<f64> =
            (0..self.plan.blocks).map(|_| wall_s * (0.99 + random.below(21) as f64 / 1000.0)).collect();
        self.timed(program, &blocks)
    }

    /// Times the last scenario in turns.
    pub fn in_turns(&mut self) -> &mut Self {
        self.plan.programs.last_mut().expect("a scenario comes first").in_turns = true;
        self
    }

    /// Adds a case with this many runs in each launch. `run` gives the time of one by its launch, round and half.
    pub fn turning(&mut self, program: Program, runs: u32, run: &dyn Fn(u32, u32, u32) -> f64) -> &mut Self {
        let blocks = self.plan.blocks as usize;
        self.timed(program, &vec![1.0; blocks]);
        for trial in &mut self.plan.trials {
            trial.launch = Some(trial.block);
        }
        self.change_timing(|launch, timing| {
            let places: Vec<(u32, u32)> = (0..runs).map(|nth| (nth / 2 + 1, nth % 2 + 1)).collect();
            let (of_run, of_floor) = (timing.runs[0], timing.floor[0]);
            let made = |(round, half): &(u32, u32)| {
                let wall_s = run(launch, *round, *half);
                ProgramRun { wall_s, user_s: Some(0.8 * wall_s), system_s: Some(0.1 * wall_s), ..of_run }
            };
            timing.runs = places.iter().map(made).collect();
            timing.floor = places.iter().map(|_| of_floor).collect();
            timing.turns = Some(ProgramTurns { launch, places });
            timing.window_s = 20.0;
            timing.host = HostWindow { foreign_cpu_s: 5.0, ..HostWindow::default() };
        })
    }

    /// Changes the timing of every trial of the last case.
    pub fn change_timing(&mut self, change: impl Fn(u32, &mut ProgramTiming)) -> &mut Self {
        self.change_records(|trial| {
            let block = trial.block;
            if let Outcome::Timed(timing) = &mut trial.outcome {
                change(block, timing);
            }
        })
    }
}

/// Queues in three sizes, with almost only the start-up in the smallest, and under three timers in one of them.
pub fn queues() -> InventedRun {
    let mut run = InventedRun::new(6);
    run.names.workloads.insert("queue".to_owned(), "A queue of tasks".to_owned());
    for (n, words, [go, mutex, bun, node]) in [
        (100, "100", [0.00201, 0.00202, 0.01205, 0.0402]),
        (100_000, "100,000", [0.0120, 0.0090, 0.0190, 0.0520]),
        (10_000_000, "10,000,000", [1.020, 0.720, 0.251, 1.340]),
    ] {
        let (id, workload) = (format!("queue-n{n}"), format!("queue?n={n}"));
        run.program(&id, &workload, &format!("A queue of tasks, n = {words}"), Timer::Tolok);
        run.wavering(GO_QUEUE, go).wavering(GO_MUTEX, mutex).wavering(BUN_QUEUE, bun).wavering(NODE_QUEUE, node);
    }
    run.change_timing(|block, timing| {
        if block == 2 {
            timing.runs[4].wall_s *= 1.9;
        }
    });
    for timer in [Timer::Hyperfine, Timer::Time] {
        let id = format!("queue-n100000-{}", timer.word());
        run.program(&id, "queue?n=100000", "A queue of tasks, n = 100,000", timer);
        run.wavering(GO_QUEUE, 0.0121).wavering(BUN_QUEUE, 0.0194).wavering(NODE_QUEUE, 0.2560);
    }
    run
}

/// The same findings with six significant digits.
pub fn shorten_programs(findings: &mut Findings, shorten: &dyn Fn(&mut Estimate)) {
    for program in &mut findings.programs {
        for case in &mut program.cases {
            let case = &mut case.figures;
            let estimates = [
                &mut case.wall_s,
                &mut case.cpu_s,
                &mut case.user_s,
                &mut case.system_s,
                &mut case.rss_bytes,
                &mut case.floor_s,
                &mut case.floor_cpu_s,
                &mut case.floor_rss_bytes,
                &mut case.above_floor_s,
                &mut case.above_floor_cpu_s,
                &mut case.busy,
                &mut case.of_first,
            ];
            estimates.into_iter().flatten().for_each(shorten);
        }
    }
    for series in &mut findings.program_series {
        let points = series.lines.iter_mut().flat_map(|line| &mut line.points);
        points.flat_map(|point| [&mut point.wall_s, &mut point.above_floor_s]).flatten().for_each(shorten);
        let crossovers = series.crossovers.iter_mut();
        crossovers.flat_map(|it| [&mut it.ratio_below, &mut it.ratio_above]).for_each(shorten);
    }
    for reading in findings.timers.iter_mut().flat_map(|timers| &mut timers.readings) {
        let estimates =
            [&mut reading.wall_s, &mut reading.mean_s, &mut reading.cpu_s, &mut reading.rss_bytes, &mut reading.of_own];
        estimates.into_iter().flatten().for_each(shorten);
    }
}

/// What the scenario's timer can report about a program with this wall time.
fn timing(scenario: &ProgramScenario, program: &Program, wall_s: f64) -> ProgramTiming {
    let rss_bytes = program.rss_mib * 1024.0 * 1024.0;
    let at = |wall_s: f64, off: f64, busy: f64| {
        let wall_s = wall_s + off * program.start_s;
        let rss_bytes_max = Some(rss_bytes as u64);
        ProgramRun { wall_s, user_s: Some(wall_s * busy), system_s: Some(wall_s * 0.1), rss_bytes_max }
    };
    let runs: Vec<ProgramRun> = OFF.iter().map(|off| at(wall_s, *off, 0.8)).collect();
    // A run and its floor share half of the machine's effect, so their difference has the same median.
    let floor = OFF.iter().map(|off| at(program.start_s, off / 2.0, 0.6)).collect();
    let (version, resolution_s) = match scenario.timer {
        Timer::Tolok => ("0.1.0", 1e-9),
        Timer::Hyperfine => ("1.18.0", 1e-9),
        Timer::Time => ("1.9", 0.01),
    };
    let mut timing = ProgramTiming {
        timer: ToolUsed { name: scenario.timer.word().to_owned(), version: version.to_owned() },
        resolution_s,
        runs,
        floor,
        warmup_runs: 1,
        said: None,
        window_s: 9.0 * (wall_s + program.start_s),
        host: HostWindow::default(),
        disturbances: Vec::new(),
        turns: None,
    };
    match scenario.timer {
        Timer::Tolok => {}
        Timer::Hyperfine => as_hyperfine(&mut timing, wall_s),
        Timer::Time => as_gnu_time(&mut timing),
    }
    timing
}

/// hyperfine reports only the wall time of a single run.
fn as_hyperfine(timing: &mut ProgramTiming, mean_s: f64) {
    timing.floor.clear();
    for run in &mut timing.runs {
        *run = ProgramRun { wall_s: run.wall_s, ..ProgramRun::default() };
    }
    let (user_s, system_s) = (Some(0.8 * mean_s), Some(0.1 * mean_s));
    timing.said = Some(TimerSummary { mean_s, sd_s: Some(0.01 * mean_s), user_s, system_s });
}

/// GNU time truncates everything to hundredths of a second.
fn as_gnu_time(timing: &mut ProgramTiming) {
    let cut = |seconds: f64| (seconds * 100.0).floor() / 100.0;
    timing.floor.clear();
    for run in &mut timing.runs {
        run.wall_s = cut(run.wall_s);
        run.user_s = run.user_s.map(cut);
        run.system_s = run.system_s.map(cut);
    }
}
