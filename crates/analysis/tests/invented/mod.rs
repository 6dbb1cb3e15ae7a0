//! Invented runs: records as the lab would write them, with figures that a test chooses.
//!
//! Also used by the tests and the example of `tolok-report`.

#![allow(dead_code, reason = "each test file uses its own part of this")]

pub mod courses;
pub mod factors;
pub mod judgement;
mod normal;
pub mod programs;
pub mod published;
mod records;
pub mod replications;
pub mod slices;
pub mod tools;
pub mod two_runs;

use std::collections::BTreeMap;

use tolok_analysis::{Estimate, Findings, Names, Records, SubjectName, analyse};
use tolok_model::{
    Case, Connection, CpuMap, CpuSource, DatabaseWindow, Diagnosis, DiagnosisRecord, Disturbance, Environment,
    Executor, Failure, FailureKind, Isolation, LinkDirection, LinkWindow, LoadProfile, LoadTool, Measurement,
    MemoryUse, Objective, Outcome, Plan, PlannedTrial, Pool, PoolWindow, RECORD_FORMAT, Resources, Role, RunRecord,
    Scenario, Skipped, SplitMix64, SubjectChoice, Throttling, ToolChoice, TrialRecord,
};

use records::{empty_plan, measurement, run_record, trial};

const MIB: f64 = 1024.0 * 1024.0;

/// A run whose records tests can change before the analysis.
#[derive(Clone)]
pub struct InventedRun {
    pub run: RunRecord,
    pub plan: Plan,
    pub names: Names,
    pub trials: Vec<TrialRecord>,
    pub diagnoses: Vec<DiagnosisRecord>,
}

/// A subject with its displayed title and runtime.
#[derive(Clone, Copy)]
pub struct Server {
    pub label: &'static str,
    pub title: &'static str,
    pub runtime: &'static str,
    pub role: Role,
    pub memory_mib: f64,
    pub processes: u32,
}

const fn server(
    label: &'static str,
    title: &'static str,
    runtime: &'static str,
    memory_mib: f64,
    processes: u32,
) -> Server {
    Server { label, title, runtime, role: Role::Subject, memory_mib, processes }
}

pub const GO: Server = server("go/nethttp:encoder", "Go net/http", "go", 14.2, 1);
pub const BUN: Server = server("bun/serve:default", "Bun.serve", "bun", 61.8, 1);
pub const NODE: Server = server("node/http:single", "Node http", "node", 74.5, 1);
pub const NODE_CLUSTER: Server = server("node/http:cluster", "Node http", "node", 131.0, 3);
pub const FPM: Server = server("php/fpm:default", "PHP-FPM + nginx", "php-fpm", 48.3, 11);
pub const APACHE: Server = server("php/apache:default", "Apache + mod_php", "apache", 92.1, 12);
pub const SWOOLE: Server = server("php/swoole:default", "PHP Swoole", "swoole", 38.9, 3);
pub const CEILING: Server =
    Server { role: Role::Ceiling, ..server("rust/ceiling:default", "Minimal server", "rust", 2.1, 1) };

impl InventedRun {
    /// A run without scenarios, on a machine with two CPUs.
    pub fn new(blocks: u32) -> Self {
        let (trials, diagnoses) = (Vec::new(), Vec::new());
        Self { run: run_record(), plan: empty_plan(blocks), names: Names::default(), trials, diagnoses }
    }

    /// Sets the environment for all scenarios that are added after this.
    pub fn environment(&mut self, environment: Environment) -> &mut Self {
        let is_first = self.plan.scenarios.is_empty() && self.plan.environments == [Environment::default()];
        if is_first {
            self.plan.environments.clear();
            self.run.cpus.clear();
        }
        let link = if environment.link.is_local() { Vec::new() } else { vec![1] };
        let database = if environment.database.is_some() { vec![1] } else { Vec::new() };
        let cpus = CpuMap { subject: vec![0], generator: vec![1], link, database, ..CpuMap::default() };
        self.run.cpus.insert(environment.id.clone(), cpus);
        self.plan.environments.push(environment);
        self
    }

    /// Adds a scenario with windows of 2 seconds in a closed loop.
    pub fn scenario(&mut self, id: &str, workload: &str, title: &str, vus: u32) -> &mut Self {
        self.scenario_with(id, workload, title, Executor::ConstantVus { vus }, &[])
    }

    /// Adds a scenario with windows of 2 seconds and objectives.
    pub fn scenario_with(
        &mut self,
        id: &str,
        workload: &str,
        title: &str,
        executor: Executor,
        objectives: &[&str],
    ) -> &mut Self {
        let load = LoadProfile {
            pool: executor.is_open().then_some(Pool::DEFAULT),
            executor,
            duration_s: 2.0,
            warmup_s: 0.4,
            connection: Connection::KeepAlive,
            timeout_s: 10.0,
            think_time: None,
            pace: tolok_model::Pace::default(),
        };
        let objectives = objectives.iter().map(|text| Objective::parse(text).expect("a sound objective")).collect();
        let (id, workload) = (id.to_owned(), workload.to_owned());
        let environment = self.plan.environments.last().expect("a plan has one").id.clone();
        let scenario = Scenario {
            id,
            environment,
            workload: workload.clone(),
            database: false,
            load,
            protocol: tolok_model::Protocol::Http1,
            streams: 1,
            tool: ToolChoice::default(),
            objectives,
            abort: false,
            slices: None,
        };
        self.plan.scenarios.push(scenario);
        self.names.workloads.insert(workload, title.to_owned());
        self
    }

    /// Adds a scenario like [`InventedRun::scenario`] whose workload uses the database of the last environment.
    pub fn asking(&mut self, id: &str, workload: &str, title: &str, vus: u32) -> &mut Self {
        self.scenario(id, workload, title, vus);
        self.plan.scenarios.last_mut().expect("it was just added").database = true;
        self
    }

    /// Adds a case to the last scenario, with the goodput of each of its blocks.
    pub fn case(&mut self, server: Server, goodput_rps: &[f64]) -> &mut Self {
        let scenario = self.plan.scenarios.last().expect("a scenario comes first").clone();
        let (subject, variant) = server.label.split_once(':').expect("a label names its variant");
        let title = SubjectName {
            title: server.title.to_owned(),
            runtime: server.runtime.to_owned(),
            default_variant: if subject == "node/http" { "single".to_owned() } else { variant.to_owned() },
            ..self.names.subjects.get(subject).cloned().unwrap_or_default()
        };
        self.names.subjects.insert(subject.to_owned(), title);
        let id = format!("{}--{}", scenario.id, server.label.replace(['/', ':'], "-"));
        let choice = SubjectChoice {
            subject: subject.to_owned(),
            variant: variant.to_owned(),
            parameters: BTreeMap::new(),
            label: server.label.to_owned(),
        };
        self.plan.cases.push(Case {
            id: id.clone(),
            scenario: scenario.id.clone(),
            subject: choice,
            role: server.role,
            twin_of: None,
        });
        for (block, &goodput_rps) in (1..).zip(goodput_rps) {
            let number = self.plan.trials.len() as u32 + 1;
            self.plan.trials.push(PlannedTrial { number, block, case: id.clone(), launch: None });
            let mut measured = measurement(&scenario, &server, goodput_rps);
            if scenario.tool.name != LoadTool::Tolok {
                tools::tell_less(&mut measured, scenario.tool.name);
            }
            let outcome = Outcome::Completed(Box::new(measured));
            self.trials.push(trial(number, block, &id, outcome));
        }
        self
    }

    /// Adds a case to the last scenario whose blocks vary by a few per cent around `goodput_rps`.
    pub fn steady(&mut self, server: Server, goodput_rps: f64) -> &mut Self {
        let mut random = SplitMix64::new(self.trials.len() as u64 + 1);
        let mut near = || goodput_rps * (0.975 + random.below(51) as f64 / 1000.0);
        let blocks: Vec<f64> = (0..self.plan.blocks).map(|_| near()).collect();
        self.case(server, &blocks)
    }

    /// Changes the measurement of every trial of the last case.
    pub fn change(&mut self, change: impl Fn(u32, &mut Measurement)) -> &mut Self {
        let last = self.plan.cases.last().expect("a case comes first").id.clone();
        for trial in self.trials.iter_mut().filter(|trial| trial.case == last) {
            if let Outcome::Completed(measurement) = &mut trial.outcome {
                change(trial.block, measurement);
            }
        }
        self
    }

    /// Makes the trial of the last case in `block` fail.
    pub fn fail(&mut self, block: u32, reason: FailureKind, message: &str) -> &mut Self {
        let last = self.plan.cases.last().expect("a case comes first").id.clone();
        for trial in self.trials.iter_mut().filter(|trial| trial.case == last && trial.block == block) {
            let log_tail = vec!["[emerg] bind() to 127.0.0.1:40123 failed (98: Address already in use)".to_owned()];
            trial.outcome = Outcome::Failed(Failure { reason, message: message.to_owned(), log_tail });
        }
        self
    }

    /// Changes the records of all trials of the last case.
    pub fn change_records(&mut self, change: impl Fn(&mut TrialRecord)) -> &mut Self {
        let last = self.plan.cases.last().expect("a case comes first").id.clone();
        self.trials.iter_mut().filter(|trial| trial.case == last).for_each(change);
        self
    }

    /// Marks the trial of the last case in `block` as disturbed in every attempt.
    pub fn disturb(&mut self, block: u32, kind: &str, value: f64, text: &str) -> &mut Self {
        let cause = Disturbance { kind: kind.to_owned(), value, text: text.to_owned() };
        self.change(|of, trial| trial.disturbances.extend((of == block).then(|| cause.clone())));
        self.change_timing(|of, timing| timing.disturbances.extend((of == block).then(|| cause.clone())));
        self.change_records(|trial| trial.attempts = if trial.block == block { 3 } else { trial.attempts })
    }

    /// Adds the result of an unscored trial to the last case.
    pub fn diagnose(&mut self, outcome: Result<Diagnosis, &str>) -> &mut Self {
        let case = self.plan.cases.last().expect("a case comes first").id.clone();
        let outcome = outcome.map_err(str::to_owned);
        self.diagnoses.push(DiagnosisRecord { format: RECORD_FORMAT, case, outcome });
        self
    }

    /// Leaves out a subject.
    pub fn skip(&mut self, subject: &str, reason: &str) -> &mut Self {
        self.plan.skipped.push(Skipped::new(subject, reason));
        self
    }

    /// Leaves out an environment or a tool, and a scenario with it.
    pub fn skip_scenario(&mut self, what: &str, reason: &str, scenario: &str) -> &mut Self {
        self.plan.skipped.push(Skipped { scenarios: vec![scenario.to_owned()], ..Skipped::new(what, reason) });
        self
    }

    /// The findings of the run.
    pub fn findings(&self) -> Findings {
        analyse(&self.records())
    }

    /// The records of the run.
    pub fn records(&self) -> Records<'_> {
        let Self { run, plan, names, trials, diagnoses } = self;
        Records { run, plan, names, trials, diagnoses, records_sha256: None }
    }
}

/// An ordinary run with everything that occurs in one: ties, a clear difference, a flagged case, failed trials.
pub fn ordinary() -> InventedRun {
    let mut run = InventedRun::new(5);
    run.scenario("hello-c64", "hello", "Hello", 64)
        .steady(CEILING, 61_200.0)
        .change(|_, trial| trial.subject.as_mut().expect("tolok started it").cpu_s = 0.81 * trial.window_s)
        .steady(GO, 43_900.0)
        .steady(BUN, 45_100.0)
        .steady(NODE, 19_800.0)
        .steady(NODE_CLUSTER, 18_900.0)
        .steady(FPM, 5_310.0)
        .steady(APACHE, 7_840.0)
        .steady(SWOOLE, 31_400.0);
    run.scenario("json-c64", "json", "JSON", 64)
        .steady(CEILING, 60_700.0)
        .steady(GO, 34_300.0)
        .steady(BUN, 39_600.0)
        .steady(NODE, 17_200.0)
        .steady(FPM, 4_960.0)
        .fail(2, FailureKind::DidNotStart, "nginx ended before its first good answer (exit status 1)")
        .steady(APACHE, 7_120.0)
        .change(|block, trial| fail_requests(trial, if block == 3 { 9 } else { 0 }));
    run.scenario("file-534k-c16", "file-534k", "PNG file, 534 KB", 16)
        .steady(CEILING, 5_900.0)
        .case(GO, &[4_710.0, 5_320.0, 4_460.0, 5_010.0, 4_120.0])
        .case(BUN, &[4_630.0, 4_480.0, 5_150.0, 4_290.0, 5_060.0])
        .change(|block, trial| trial.host.foreign_cpu_s = if block < 3 { 0.17 } else { 0.04 })
        .change_records(|trial| trial.attempts = if trial.block == 2 { 2 } else { 1 })
        .steady(FPM, 5_230.0)
        .change(|_, trial| {
            trial.subject.as_mut().expect("tolok started it").cpu_s = 0.71 * trial.window_s;
            trial.generator.cpu_s = 0.973 * trial.window_s;
        })
        .steady(APACHE, 3_870.0)
        .change(|_, trial| fail_requests(trial, 212));
    run.skip("php/swoole", "swoole.so is not installed; `pecl install swoole` builds it");
    run
}

/// The same findings with six significant digits, because the last ones depend on the machine's math library.
pub fn with_six_digits(mut findings: Findings) -> Findings {
    let short = |value: f64| format!("{value:.5e}").parse::<f64>().expect("a number that was just written");
    let shorten = |estimate: &mut Estimate| {
        estimate.value = short(estimate.value);
        estimate.low = estimate.low.map(short);
        estimate.high = estimate.high.map(short);
        estimate.trials.iter_mut().for_each(|value| *value = short(*value));
    };
    for scenario in &mut findings.scenarios {
        for case in scenario.cases.iter_mut().chain(&mut scenario.ceiling) {
            let case = &mut case.figures;
            let estimates = [
                &mut case.goodput_rps,
                &mut case.body_bytes_per_s,
                &mut case.offered_rps,
                &mut case.of_ceiling,
                &mut case.of_first,
                &mut case.cpu_s_per_good,
                &mut case.memory_bytes,
                &mut case.latency_p50_s,
                &mut case.latency_p99_s,
                &mut case.cold_start_s,
            ];
            let database = case.database.iter_mut().flat_map(|database| {
                [
                    &mut database.rows_per_s,
                    &mut database.subject_cpu_s_per_row,
                    &mut database.cpu_s_per_row,
                    &mut database.cpu_s_per_good,
                    &mut database.memory_bytes,
                ]
            });
            estimates.into_iter().chain(database).flatten().for_each(shorten);
        }
    }
    programs::shorten_programs(&mut findings, &shorten);
    judgement::shorten_judgement(&mut findings, &short, &shorten);
    factors::shorten_factors(&mut findings, &shorten, &short);
    findings.tools.iter_mut().flat_map(|found| &mut found.rows).flat_map(tools::estimates).for_each(shorten);
    findings
}

/// Turns this many correct responses into resets.
pub fn fail_requests(trial: &mut Measurement, requests: u64) {
    if requests > 0 {
        trial.ledger.good -= requests;
        trial.ledger.failed.insert("reset".to_owned(), requests);
    }
}

/// The isolation that remains on a machine that allows neither namespaces nor control groups.
pub fn unprivileged(trial: &mut TrialRecord) {
    trial.isolation = Some(Isolation {
        network: "host".to_owned(),
        fallbacks: vec![
            "no control groups, so resources are counted less exactly (permission denied)".to_owned(),
            "namespaces are not allowed here, so the subject shares the machine's network and a kill -9 of the keeper \
             can leave servers behind"
                .to_owned(),
        ],
        ..Isolation::default()
    });
    let Outcome::Completed(measurement) = &mut trial.outcome else { return };
    let subject = measurement.subject.as_mut().expect("tolok started it");
    subject.cpu_source = CpuSource::Threads;
    (subject.user_s, subject.system_s, subject.memory) = (None, None, None);
    (subject.network, subject.disk_read_bytes, subject.disk_written_bytes) = (None, None, None);
}

/// A quota that was exhausted in this many of 20 periods.
pub fn throttle(trial: &mut Measurement, quota_cpus: f64, throttled_periods: u64) {
    trial.subject.as_mut().expect("tolok started it").cpu_s = quota_cpus * trial.window_s;
    let throttled_s = throttled_periods as f64 * 0.061;
    trial.subject.as_mut().expect("tolok started it").throttling =
        Some(Throttling { periods: 20, throttled_periods, throttled_s });
}

/// A link that carried the trial's responses, with this largest lateness.
pub fn carry(trial: &mut Measurement, bytes_per_answer: f64, lateness_s_max: f64) {
    let answers = trial.goodput_rps * trial.window_s;
    let direction = |packets: f64, bytes: f64| LinkDirection {
        packets: (packets * answers) as u64,
        bytes: (bytes * answers) as u64,
        dropped_queue: 0,
        dropped_loss: 0,
        dropped_refused: 0,
        dropped_before: 0,
        lateness_s_mean: lateness_s_max / 10.0,
        lateness_s_max,
    };
    trial.link = Some(LinkWindow {
        to_subject: direction(1.6, 211.0),
        to_client: direction(1.0 + bytes_per_answer / 1448.0, bytes_per_answer),
        realtime: true,
        cpu_s: 0.14 * trial.window_s,
    });
}

/// A database that used this share of its CPU for this many statements per response, whose rows total this many bytes.
pub fn ask(trial: &mut Measurement, busy: f64, queries_per_answer: u64, bytes_per_answer: u64) {
    let answers = (trial.goodput_rps * trial.window_s).round() as u64;
    trial.body_bytes = answers * bytes_per_answer;
    trial.database = Some(DatabaseWindow {
        version: "10.11.19-MariaDB".to_owned(),
        resources: Some(Resources {
            cpu_s: busy * trial.window_s,
            cpu_source: CpuSource::Group,
            processes_max: 1,
            threads_max: 23,
            memory: Some(MemoryUse {
                anonymous_and_kernel_bytes_max: (171.0 * MIB) as u64,
                usage_bytes_max: (214.0 * MIB) as u64,
                peak_bytes: Some((231.0 * MIB) as u64),
                oom_kills: 0,
            }),
            ..Resources::default()
        }),
        queries: Some(answers * queries_per_answer),
        connections_opened: Some(0),
        connections_max: Some(16),
        running_max: Some(6),
        running_mean: Some(2.4),
        refused_connections: Some(0),
        rows_sent: None,
        sent_bytes: Some(answers * bytes_per_answer * 9 / 10),
        link: None,
        outage: None,
    });
    trial.pool = Some(PoolWindow { size: 16, waits: Some(answers / 50), wait_s: Some(answers as f64 / 50.0 * 0.0012) });
}
