//! Records of a sound run, which tests then change.

use std::collections::BTreeMap;

use tolok_model::{
    CpuMap, CpuSource, Environment, Executor, HostWindow, Isolation, Latency, LedgerCounts, MachineSummary,
    Measurement, MemoryUse, NetworkBytes, Objective, ObjectiveOutcome, ObjectiveRecord, Outcome, Percentile, Plan,
    ProgramUsed, RECORD_FORMAT, Resources, RunRecord, Scenario, SchedulerCounts, TrialRecord,
};

use super::{MIB, Server};

pub(super) fn trial(number: u32, block: u32, case: &str, outcome: Outcome) -> TrialRecord {
    TrialRecord {
        format: RECORD_FORMAT,
        number,
        block,
        case: case.to_owned(),
        started_at: "2026-11-21T10:00:00Z".to_owned(),
        took_s: 3.1,
        commands: vec!["server -port 40123".to_owned()],
        attempts: 1,
        isolation: Some(Isolation {
            namespaces: ["pid", "mount", "net", "ipc"].map(str::to_owned).to_vec(),
            groups: Some("v2".to_owned()),
            controllers: ["cpu", "cpuset", "memory", "pids"].map(str::to_owned).to_vec(),
            weights: None,
            database_network: None,
            network: "private".to_owned(),
            sysctls: [("net.ipv4.tcp_congestion_control".to_owned(), "cubic".to_owned())].into(),
            fallbacks: Vec::new(),
        }),
        outcome,
    }
}

/// A sound window in which the subject was the limit. All figures follow from the goodput.
pub(super) fn measurement(scenario: &Scenario, server: &Server, goodput_rps: f64) -> Measurement {
    let load = &scenario.load;
    let vus = load.connections_max().expect("a bounded pool");
    let good = (goodput_rps * load.duration_s).round() as u64;
    let in_flight_at_end = u64::from(vus);
    let mean_s = f64::from(vus) / goodput_rps.max(0.5);
    let percentile = |quantile: f64, of_mean: f64| {
        Percentile::new(quantile, (good as f64 * (1.0 - quantile) >= 10.0).then_some(mean_s * of_mean))
    };
    Measurement {
        cold_start_s: Some(0.021 + server.memory_mib / 900.0),
        window_s: load.duration_s,
        goodput_rps,
        body_bytes: good * 27,
        ledger: LedgerCounts {
            scheduled: Some(good + in_flight_at_end),
            unsent: 0,
            sent: Some(good + in_flight_at_end),
            good,
            failed: BTreeMap::new(),
            in_flight_at_end: Some(in_flight_at_end),
            connections: Some(u64::from(vus)),
            connections_unanswered: Some(0),
        },
        latency: Latency {
            model: load.executor.loop_model().to_owned(),
            percentiles: vec![
                percentile(0.5, 0.91),
                percentile(0.9, 1.4),
                percentile(0.99, 2.6),
                percentile(0.999, 4.8),
            ],
            mean_s: Some(mean_s),
            max_s: Some(mean_s * 9.0),
            histogram: None,
            marks: Vec::new(),
        },
        parts: Vec::new(),
        clients: None,
        checks: None,
        series: None,
        slices: None,
        tool: None,
        wire: None,
        subject: Some(Resources {
            refused_tasks: None,
            busiest_thread_cpu_s: None,
            cpu_s: 0.985 * load.duration_s,
            cpu_source: CpuSource::Group,
            user_s: Some(0.31 * load.duration_s),
            system_s: Some(0.675 * load.duration_s),
            run_queue_wait_s: 0.01,
            processes_max: server.processes,
            threads_max: server.processes * 5,
            rss_sum_bytes_max: (server.memory_mib * 1.3 * MIB) as u64,
            pss_bytes: Some((server.memory_mib * 1.12 * MIB) as u64),
            throttling: None,
            memory: Some(MemoryUse {
                anonymous_and_kernel_bytes_max: (server.memory_mib * MIB) as u64,
                usage_bytes_max: (server.memory_mib * 1.4 * MIB) as u64,
                peak_bytes: Some((server.memory_mib * 1.5 * MIB) as u64),
                oom_kills: 0,
            }),
            scheduler: Some(SchedulerCounts {
                timeslices: good / 3,
                context_switches: Some(good / 4),
                migrations: Some(u64::from(server.processes) * 7),
                page_faults: Some(good / 90),
            }),
            disk_read_bytes: Some(0),
            disk_written_bytes: Some(4_096),
            network: Some(NetworkBytes { received_bytes: good * 152, sent_bytes: good * 193 }),
        }),
        generator: Resources {
            cpu_s: 0.52 * load.duration_s,
            processes_max: 1,
            threads_max: 1,
            ..Resources::default()
        },
        host: HostWindow {
            foreign_cpu_s: 0.021,
            steal_s: 0.002,
            load_average: 0.4,
            cpu_pressure: Some(0.013),
            memory_pressure: Some(0.0),
            io_pressure: Some(0.0002),
            runnable_max: Some(3),
            frequency_hz_min: Some(2.95e9),
            frequency_hz_max: Some(3.1e9),
        },
        link: None,
        database: None,
        pool: None,
        counter: None,
        disturbances: Vec::new(),
        offered_rps: match load.executor {
            Executor::ConstantArrivalRate { rate_rps, .. } => Some(rate_rps),
            _ => None,
        },
        tool_warnings: Vec::new(),
        objectives: scenario.objectives.iter().map(|objective| objective_record(objective, mean_s)).collect(),
        aborted: false,
    }
}

/// A simplified judgement of the engine: times are the mean, whatever the percentile, and shares are 1.
fn objective_record(objective: &Objective, mean_s: f64) -> ObjectiveRecord {
    let value = if objective.metric.is_time() { mean_s } else { 1.0 };
    let outcome = if objective.holds(value) { ObjectiveOutcome::Kept } else { ObjectiveOutcome::Crossed };
    ObjectiveRecord { objective: objective.to_string(), value: Some(value), outcome }
}

pub(super) fn run_record() -> RunRecord {
    let program = |name: &str, version: &str| ProgramUsed {
        name: name.to_owned(),
        version: version.to_owned(),
        path: format!("/usr/bin/{name}"),
        source: "system".to_owned(),
        sha256: None,
    };
    RunRecord {
        format: RECORD_FORMAT,
        id: "2026-11-21-quick-7f3a".to_owned(),
        study: "quick".to_owned(),
        started_at: "2026-11-21T10:00:00Z".to_owned(),
        tolok_version: "0.1.0".to_owned(),
        git: Some("4f1c2aa".to_owned()),
        seed: 83850,
        plan_sha256: "9b1f0c7d5e3a48266f0d8c1b7a9e5d3f2c4b6a8091e7d5c3b1a2f4e6d8c0b9a7".to_owned(),
        machine: MachineSummary {
            cpu: "Example CPU 3000".to_owned(),
            cpus: 2,
            memory_bytes: 23 * 1024 * 1024 * 1024,
            kernel: "6.18.5".to_owned(),
            distribution: "Debian 12".to_owned(),
            virtualisation: Some("KVM".to_owned()),
            remarks: vec!["This is a virtual machine: its CPUs may be shared with others.".to_owned()],
        },
        fingerprint: serde_json::json!({
            "network": { "congestion_control": "bbr", "somaxconn": 4096 },
            "scheduler": { "autogroup": { "enabled": true } },
        }),
        programs: vec![program("go", "1.26.1"), program("bun", "1.3.4"), program("node", "20.20.2")],
        cpus: [(String::new(), CpuMap { subject: vec![0], generator: vec![1], ..CpuMap::default() })].into(),
        command: "tolok run studies/quick.toml --seed 83850".to_owned(),
        pool: None,
        nodes: Default::default(),
    }
}

pub(super) fn empty_plan(blocks: u32) -> Plan {
    Plan {
        format: RECORD_FORMAT,
        title: "Which runtime serves small answers best?".to_owned(),
        question: "How do the runtimes compare on one CPU each, and how far are they from the machine's limit?"
            .to_owned(),
        seed: 83850,
        stopping: None,
        budget_s: None,
        blocks,
        smallest_effect: 0.03,
        judge: Default::default(),
        reruns: 2,
        diagnose: false,
        rebuild: false,
        scale: 1.0,
        environments: vec![Environment::default()],
        scenarios: Vec::new(),
        programs: Vec::new(),
        published: Vec::new(),
        cases: Vec::new(),
        trials: Vec::new(),
        skipped: Vec::new(),
        brought: Default::default(),
    }
}
