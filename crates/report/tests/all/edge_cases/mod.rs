//! Runs for edge cases of reports, by name.

mod databases;
mod ledger;
pub mod replications;
mod sliced;

use tolok_analysis::Findings;
use tolok_model::{
    Arrivals, CpuMode, Database, Diagnosis, Environment, Executor, FailureKind, GarbageCollection, Limits, Link,
    LoadChecks, Measurement, Network, ObjectiveOutcome, PublishedMetric, SecondSeries, Stage, Stopping, Timer,
    ToolWarning,
};

use crate::invented::courses::{Course, with_histogram, with_seconds};
use crate::invented::factors::distances;
use crate::invented::programs::{BUN_QUEUE, GO_MUTEX, GO_QUEUE, NODE_QUEUE, Program, queues};
use crate::invented::tools::{seven_tools, tools_at_a_rate};
use crate::invented::{
    self, APACHE, BUN, CEILING, FPM, GO, InventedRun, NODE, NODE_CLUSTER, SWOOLE, Server, ask, carry, fail_requests,
    ordinary, throttle,
};

/// Every edge case with its name.
pub fn all() -> Vec<(&'static str, Findings)> {
    vec![
        ("ordinary", ordinary().findings()),
        ("one-scenario", one_scenario(5)),
        ("ten-blocks", one_scenario(10)),
        ("two-blocks", one_scenario(2)),
        ("one-subject", one_subject()),
        ("nothing-ranked", nothing_ranked()),
        ("all-failed", all_failed()),
        ("no-ceiling", no_ceiling()),
        ("huge-names", huge_names()),
        ("shared-cpus", shared_cpus()),
        ("above-ceiling", json(5).steady(CEILING, 30_000.0).steady(GO, 34_300.0).findings()),
        ("open-loop", open_loop()),
        ("boxed", boxed()),
        ("unprivileged", unprivileged()),
        ("database", databases::database()),
        ("outage", databases::outage()),
        ("programs", queues().findings()),
        ("programs-and-servers", programs_and_servers()),
        ("one-program", one_program()),
        ("programs-at-odds", programs_at_odds()),
        ("tools", seven_tools().findings()),
        ("tools-at-a-rate", tools_at_a_rate().findings()),
        ("checked", checked()),
        ("aa-pair", aa_pair(&[1.01, 0.99, 1.0, 1.005, 1.0, 0.995])),
        ("aa-told-apart", aa_pair(&[1.06, 1.07, 1.05, 1.06, 1.06, 1.07])),
        ("factors", distances(5, &[16, 64], &[5, 16], &[0, 100]).findings()),
        ("one-factor", distances(6, &[16], &[16], &[0, 20, 100]).findings()),
        ("published", published()),
        ("ledger", ledger::declared()),
        ("many-verdicts", ledger::many_scenarios()),
        ("nothing-at-all", InventedRun::new(5).findings()),
        ("slices", sliced::slices()),
        ("by-cpu", sliced::by_cpu()),
        ("duel", sliced::duel()),
        ("courses", courses()),
        ("one-trial", one_trial()),
        ("many-scenarios", many_scenarios()),
        ("many-subjects", many_subjects()),
    ]
}

/// Windows of 14 s after 3 s of warm-up, with a histogram and every second of subject, generator and database. A closed and an open
/// loop, and variants of one runtime.
fn courses() -> Findings {
    let plain = Course { warm_up: 3, cpus: [0.98, 0.61, 0.0], growth_bytes: 40_000 };
    let asking = Course { warm_up: 3, cpus: [0.86, 0.21, 0.71], growth_bytes: 260_000 };
    let recorded = |course: Course| {
        move |block: u32, trial: &mut Measurement| {
            trial.cold_start_s = trial.cold_start_s.map(|cold| cold * (0.9 + 0.05 * f64::from(block)));
            with_histogram(block, trial);
            with_seconds(block, trial, course);
        }
    };
    let mut run = InventedRun::new(5);
    run.environment(Environment { database: Some(Database::default()), ..Environment::default() });
    run.scenario("json-c64", "json", "JSON", 64);
    run.plan.scenarios[0].load.duration_s = 14.0;
    run.steady(CEILING, 60_000.0).change(recorded(plain));
    for (server, goodput_rps) in [(GO, 34_300.0), (BUN, 39_600.0), (NODE, 17_200.0), (NODE_CLUSTER, 18_900.0)] {
        run.steady(server, goodput_rps).change(recorded(plain));
    }
    run.steady(FPM, 4_960.0).change(|_, trial| fail_requests(trial, 2_800)).change(recorded(plain));
    run.asking("rows-1000-c64", "rows?fields=40&limit=1000", "1,000 rows of 40 fields", 64);
    run.plan.scenarios[1].load.duration_s = 14.0;
    for (server, goodput_rps) in [(GO, 141.0), (BUN, 128.0), (NODE, 96.0), (FPM, 71.0)] {
        run.steady(server, goodput_rps).change(|_, trial| ask(trial, 0.71, 1, 960_412)).change(recorded(asking));
    }
    let rate = Executor::ConstantArrivalRate { rate_rps: 2_000.0, arrivals: Arrivals::Poisson };
    run.scenario_with("hello-r2000-poisson", "hello", "Hello", rate, &["p95 < 50ms"]);
    run.plan.scenarios[2].load.duration_s = 14.0;
    for server in [GO, SWOOLE, APACHE] {
        run.steady(server, 2_000.0).change(recorded(plain));
    }
    run.change(|_, trial| {
        trial.ledger.unsent = 310;
        trial.ledger.scheduled = trial.ledger.sent.map(|sent| sent + 310);
    });
    run.findings()
}

/// A single trial of each case: lines without bands, and no interval anywhere.
fn one_trial() -> Findings {
    let course = Course { warm_up: 0, cpus: [0.98, 0.61, 0.0], growth_bytes: 0 };
    let mut run = json(1);
    run.plan.scenarios[0].load.duration_s = 4.0;
    for (server, goodput_rps) in [(GO, 34_300.0), (BUN, 39_600.0)] {
        run.steady(server, goodput_rps).change(|block, trial| {
            with_histogram(block, trial);
            with_seconds(block, trial, course);
        });
    }
    run.findings()
}

/// So many scenarios that most are folded away: three times what any list shows at a glance.
fn many_scenarios() -> Findings {
    let course = Course { warm_up: 2, cpus: [0.98, 0.61, 0.0], growth_bytes: 20_000 };
    let mut run = InventedRun::new(3);
    for number in 1..=40u32 {
        run.scenario(&format!("json-c{number}"), "json", &format!("JSON for {number}"), number);
        run.plan.scenarios.last_mut().expect("it was just added").load.duration_s = 5.0;
        for (server, goodput_rps) in [(GO, 34_300.0), (BUN, 39_600.0)] {
            run.steady(server, goodput_rps).change(|block, trial| {
                with_histogram(block, trial);
                with_seconds(block, trial, course);
            });
        }
    }
    run.findings()
}

/// More subjects than a chart has lines for.
fn many_subjects() -> Findings {
    let course = Course { warm_up: 2, cpus: [0.98, 0.61, 0.0], growth_bytes: 20_000 };
    let labels = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"];
    let mut run = json(5);
    run.plan.scenarios[0].load.duration_s = 6.0;
    for (place, label) in (1..).zip(labels) {
        let title: &'static str = Box::leak(format!("Server {label} of a kind").into_boxed_str());
        let label: &'static str = Box::leak(format!("go/{label}:default").into_boxed_str());
        let server = Server { label, title, ..if place % 3 == 0 { BUN } else { GO } };
        run.steady(server, 40_000.0 / f64::from(place)).change(|block, trial| {
            with_histogram(block, trial);
            with_seconds(block, trial, course);
        });
    }
    run.findings()
}

/// Fully recorded windows of 20 s. One case is steady, one warms up in some trials, one grows, one has wrong
/// accounts, and one slows down.
fn checked() -> Findings {
    let mut run = json(6);
    run.plan.scenarios[0].load.duration_s = 20.0;
    let flat = |_: u32, _: u64| 1.0;
    run.steady(CEILING, 60_000.0).change(|block, trial| recorded(block, trial, flat));
    run.steady(GO, 34_300.0).change(|block, trial| recorded(block, trial, flat));
    let warming = |block: u32, second: u64| if block < 3 && second < 5 { 0.7 } else { 1.0 };
    run.steady(NODE, 17_200.0).change(|block, trial| recorded(block, trial, warming));
    run.steady(BUN, 30_000.0).change(|block, trial| {
        recorded(block, trial, flat);
        let memory = |(second, bytes): (u64, &mut Option<u64>)| *bytes = bytes.map(|bytes| bytes + second * 90_000);
        trial.series.iter_mut().flat_map(|series| (0..).zip(&mut series.subject_memory_bytes)).for_each(memory);
    });
    run.steady(APACHE, 7_120.0).change(|block, trial| {
        recorded(block, trial, flat);
        trial.latency.mean_s = trial.latency.mean_s.map(|mean_s| mean_s * 1.3);
        trial.subject.as_mut().expect("tolok started it").cpu_s *= if block == 4 { 1.5 } else { 1.0 };
    });
    let slowing = |_: u32, second: u64| if second < 10 { 1.0 } else { 0.8 };
    run.steady(FPM, 4_960.0).change(|block, trial| {
        recorded(block, trial, slowing);
        trial.checks = Some(LoadChecks { body_check: Some("discard".to_owned()), ..LoadChecks::default() });
    });
    run.findings()
}

/// A window as the lab records it, with the correct responses of each second as a share of the goodput.
fn recorded(block: u32, trial: &mut Measurement, share: impl Fn(u32, u64) -> f64) {
    let unrest = |second: u64| [1.0, 1.004, 0.997, 1.002, 0.998][second as usize % 5];
    let good = (0..20).map(|second| (trial.goodput_rps * share(block, second) * unrest(second)) as u64).collect();
    let memory =
        trial.subject.as_mut().expect("tolok started it").memory.map(|memory| memory.anonymous_and_kernel_bytes_max);
    trial.series = Some(SecondSeries { good, subject_memory_bytes: vec![memory; 20], ..SecondSeries::default() });
    trial.checks = Some(LoadChecks { body_check: Some("exactly".to_owned()), ..LoadChecks::default() });
}

/// A server and a program that are entered twice, in a run that may end before its last block.
fn aa_pair(times: &[f64]) -> Findings {
    let mut run = json(20);
    run.plan.stopping = Some(Stopping { until: 0.05, at_least: 6 });
    run.steady(CEILING, 60_000.0).steady(GO, 34_300.0).again(times).steady(BUN, 32_900.0).steady(NODE, 32_800.0);
    run.steady(APACHE, 9_100.0);
    run.program("queue-n1000", "queue?n=1000", "A queue of tasks, n = 1,000", Timer::Tolok);
    run.wavering(GO_QUEUE, 0.120).again(times).wavering(GO_MUTEX, 0.1205).wavering(BUN_QUEUE, 0.071);
    run.trials.retain(|trial| trial.block <= 6);
    run.findings()
}

/// Every reading of published ratios, in a run whose figures can be quoted: ten blocks of 20 s.
fn published() -> Findings {
    let mut run = InventedRun::new(10);
    for (id, title, times) in [("json", "JSON", 1.0), ("hello", "Hello", 1.3)] {
        run.scenario(&format!("{id}-c64"), id, title, 64);
        run.plan.scenarios.last_mut().expect("it was just added").load.duration_s = 20.0;
        run.steady(CEILING, 60_000.0).steady(GO, 34_300.0 * times).steady(BUN, 42_600.0 * times);
        run.steady(NODE, 17_200.0 * times).steady(FPM, 17_300.0 * times);
        run.steady(APACHE, 7_100.0).change(|block, trial| fail_requests(trial, if block < 4 { 40_000 } else { 0 }));
    }
    run.published(PublishedMetric::Goodput, BUN, GO, 1.25);
    run.published(PublishedMetric::Goodput, BUN, NODE, 6.4);
    run.published(PublishedMetric::Goodput, NODE, FPM, 2.1);
    run.published(PublishedMetric::Goodput, GO, NODE, 1.0);
    run.published(PublishedMetric::Memory, GO, NODE, 1.8);
    run.published(PublishedMetric::Goodput, GO, APACHE, 12.0);
    run.published(PublishedMetric::LatencyP99, SWOOLE, GO, 0.9);
    run.skip("php/swoole", "swoole.so is not installed; `pecl install swoole` builds it");
    run.findings()
}

/// Servers and programs in one study.
fn programs_and_servers() -> Findings {
    let mut run = json(5);
    run.steady(CEILING, 60_000.0).steady(GO, 34_300.0).steady(BUN, 39_600.0);
    run.program("queue-n1000", "queue?n=1000", "A queue of tasks, n = 1,000", Timer::Tolok);
    run.steadily(GO_QUEUE, 0.120).steadily(BUN_QUEUE, 0.071);
    run.findings()
}

/// A single program with one run per trial.
fn one_program() -> Findings {
    let mut run = InventedRun::new(5);
    run.program("queue-n1000", "queue?n=1000", "A queue of tasks, n = 1,000", Timer::Tolok).steadily(GO_QUEUE, 1.20);
    run.change_timing(|_, timing| {
        timing.runs.truncate(1);
        timing.floor.truncate(1);
    });
    run.findings()
}

/// Failures, disturbances, nothing above the start, two blocks, and names that are long or contain markup.
fn programs_at_odds() -> Findings {
    let mut run = InventedRun::new(5);
    run.program("queue-n1000", "queue?n=1000", "A <b>queue</b> | of tasks", Timer::Tolok);
    run.steadily(GO_QUEUE, 0.0021).steadily(BUN_QUEUE, 0.0124);
    let long = Program { title: "A program whose name is longer than any column of a table could be", ..NODE_QUEUE };
    run.steadily(long, 0.0415).disturb(2, "steal", 0.04, "the hypervisor took 4% of the CPUs.");
    run.steadily(GO_MUTEX, 0.5);
    (1..=5).for_each(|block| _ = run.fail(block, FailureKind::WrongAnswer, "it wrote \u{1b}[31m12 and not 15"));
    run.program("queue-n5000", "queue?n=5000", "A <b>queue</b> | of tasks", Timer::Tolok);
    run.timed(GO_QUEUE, &[0.01, 0.02]).timed(BUN_QUEUE, &[0.02, 0.01]);
    run.findings()
}

fn json(blocks: u32) -> InventedRun {
    let mut run = InventedRun::new(blocks);
    run.scenario("json-c64", "json", "JSON", 64);
    run
}

fn one_scenario(blocks: u32) -> Findings {
    json(blocks).steady(CEILING, 60_000.0).steady(GO, 34_300.0).steady(BUN, 39_600.0).steady(NODE, 17_200.0).findings()
}

fn one_subject() -> Findings {
    json(5).steady(CEILING, 60_000.0).steady(GO, 34_300.0).findings()
}

fn nothing_ranked() -> Findings {
    let errors_in =
        |run: &mut InventedRun, server| _ = run.steady(server, 9_000.0).change(|_, it| fail_requests(it, 2_000));
    let mut run = json(5);
    run.steady(CEILING, 60_000.0);
    errors_in(&mut run, APACHE);
    errors_in(&mut run, FPM);
    run.findings()
}

fn all_failed() -> Findings {
    let mut run = json(5);
    for server in [CEILING, GO, BUN] {
        run.steady(server, 30_000.0);
        for block in 1..=5 {
            run.fail(
                block,
                FailureKind::DidNotStart,
                "no good answer within 10 s; last lines of its log: \u{1b}[31mpanic\u{1b}[0m",
            );
        }
    }
    run.findings()
}

fn no_ceiling() -> Findings {
    json(5).steady(GO, 34_300.0).steady(BUN, 39_600.0).findings()
}

/// One rate that all keep up with, one that is too high for two of them, and a ramp; with objectives.
fn open_loop() -> Findings {
    let arrivals = Arrivals::Poisson;
    let mut run = InventedRun::new(5);
    let at = |rate_rps| Executor::ConstantArrivalRate { rate_rps, arrivals };
    let objectives = ["p95 < 33ms", "goodput >= 99.9%"];
    run.scenario_with("hello-r2000-poisson", "hello", "Hello", at(2_000.0), &objectives)
        .steady(CEILING, 2_000.0)
        .steady(GO, 2_000.0)
        .steady(FPM, 1_990.0)
        .change(|block, trial| {
            if block == 4 {
                trial.objectives[1].value = Some(0.9931);
                trial.objectives[1].outcome = ObjectiveOutcome::Crossed;
            }
        });
    run.scenario_with("hello-r9000-poisson", "hello", "Hello", at(9_000.0), &objectives[..1])
        .steady(CEILING, 9_000.0)
        .steady(GO, 9_000.0)
        .change(|_, trial| {
            let gate = "lateness".to_owned();
            trial.tool_warnings = vec![ToolWarning { gate, text: "requests were sent up to 14 ms late".to_owned() }];
        })
        .steady(FPM, 5_300.0)
        .change(|_, trial| {
            trial.ledger.unsent = 7_000;
            trial.ledger.scheduled = trial.ledger.sent.map(|sent| sent + 7_000);
            trial.objectives[0].value = Some(0.684);
            trial.objectives[0].outcome = ObjectiveOutcome::Crossed;
        })
        .steady(APACHE, 7_800.0)
        .fail(2, FailureKind::Crashed, "process apache2 ended with signal 11 while load was on it");
    let stages = vec![Stage { target: 300.0, duration_s: 2.0 }];
    run.scenario_with("hello-ramp0-300", "hello", "Hello", Executor::RampingVus { start_vus: 0, stages }, &[])
        .steady(GO, 43_000.0)
        .steady(FPM, 5_300.0);
    run.findings()
}

fn huge_names() -> Findings {
    const LONG: Server = Server {
        title: "The <script>alert(1)</script> | *subject* whose title \"never\" ends & goes on, on one worker for each CPU",
        label: "somebody/a-subject-with-a-very-long-name-indeed:a-variant-with-a-very-long-name-too",
        runtime: "somebody",
        ..GO
    };
    const OTHER: Server = Server { label: "somebody/a-subject-with-a-very-long-name-indeed:another", ..LONG };
    let mut run = InventedRun::new(5);
    run.plan.title =
        "A study with <b>markup</b>, \"quotes\", and_a_word_that_is_far_too_long_to_be_put_on_one_line_of_a_telephone"
            .into();
    run.scenario(
        "rows-limit-10000-fields-40-c250",
        "rows",
        "Ten thousand rows of forty fields <i>each</i>, from a database",
        250,
    );
    run.steady(LONG, 21.4).steady(OTHER, 12.2).steady(GO, 1_234_567.0);
    run.skip("somebody/else", "its program prints no version: \"<none>\"");
    run.findings()
}

fn shared_cpus() -> Findings {
    let mut run = json(5);
    let cpus = run.run.cpus.get_mut("").expect("the run has one environment");
    (cpus.generator, cpus.shared) = (vec![0], true);
    run.steady(GO, 34_300.0).steady(BUN, 33_600.0).findings()
}

/// Two environments with everything that limits, links and neighbours can do to a figure; with a diagnosis.
fn boxed() -> Findings {
    let memory = |mib: u64| Some(mib << 20);
    let limits = |mode, cpus, memory_bytes| Limits { mode, cpus, memory_bytes, pids: None };
    let mut run = InventedRun::new(6);
    run.environment(Environment {
        id: "1cpu".to_owned(),
        subject: limits(CpuMode::Dedicated, 1.0, memory(512)),
        ..Environment::default()
    });
    run.scenario("json-c64-1cpu", "json", "JSON", 64).steady(CEILING, 60_000.0).steady(GO, 34_300.0);
    run.diagnose(Ok(go_diagnosis())).steady(BUN, 39_600.0);
    run.disturb(3, "foreign-cpu", 0.12, "other programs used 12% of the CPUs (limit 5%)");
    run.disturb(5, "foreign-cpu", 0.07, "other programs used 7% of the CPUs (limit 5%)");
    run.disturb(5, "steal", 0.02, "the hypervisor took 2 % of the machine's CPUs, of which 1 % is tolerated");
    let unavailable = vec!["the kernel does not allow hardware counters here (perf_event_paranoid is 3)".to_owned()];
    run.diagnose(Ok(Diagnosis {
        answers: 70_000,
        window_s: 2.0,
        goodput_rps: 35_000.0,
        unavailable,
        ..Diagnosis::default()
    }));
    run.steady(NODE, 17_200.0).change(|_, trial| {
        trial
            .subject
            .as_mut()
            .expect("tolok started it")
            .memory
            .as_mut()
            .expect("control groups count memory")
            .peak_bytes = Some(509 << 20);
    });
    run.diagnose(Err("the subject gave no good answer within 20 s"));

    run.environment(Environment {
        id: "half-wifi".to_owned(),
        subject: limits(CpuMode::Quota, 0.5, memory(128)),
        link: Link::preset("lan-wifi").expect("a preset"),
        network: Network { congestion: "reno".to_owned(), ..Network::default() },
        ..Environment::default()
    });
    let over_wifi = |run: &mut InventedRun, throttled: u64, lateness_s_max: f64| {
        run.change(|_, trial| {
            throttle(trial, 0.5, throttled);
            carry(trial, 780.0, lateness_s_max);
        });
        run.change_records(|trial| {
            let isolation = trial.isolation.as_mut().expect("the trial got that far");
            isolation.network = "emulator".to_owned();
            isolation.sysctls.insert("net.ipv4.tcp_congestion_control".to_owned(), "reno".to_owned());
            let text = "the emulator could not have the priority of real-time work, so it may be late (not permitted)";
            isolation.fallbacks.extend((trial.block == 1).then(|| text.to_owned()));
        });
    };
    run.scenario("json-c64-half-wifi", "json", "JSON", 64).steady(CEILING, 8_500.0);
    over_wifi(&mut run, 9, 0.000_31);
    run.steady(GO, 8_200.0);
    over_wifi(&mut run, 19, 0.000_42);
    run.change(|_, trial| trial.link.as_mut().expect("it has a link").to_client.dropped_queue = 31);
    run.steady(BUN, 7_900.0);
    over_wifi(&mut run, 20, 0.000_38);
    run.fail(2, FailureKind::OutOfMemory, "the kernel killed bun when its 128 MiB were used up");
    run.steady(NODE, 6_100.0);
    over_wifi(&mut run, 20, 0.042);
    run.findings()
}

fn go_diagnosis() -> Diagnosis {
    Diagnosis {
        answers: 46_800,
        window_s: 2.0,
        goodput_rps: 23_400.0,
        cycles: Some(2_901_600_000),
        instructions: Some(2_433_600_000),
        branch_misses: Some(11_232_000),
        cache_misses: Some(1_404_000),
        syscalls: Some(144_144),
        garbage_collection: Some(GarbageCollection { collections: 88, pause_s_total: 0.0071, pause_s_max: 0.000_31 }),
        unavailable: Vec::new(),
    }
}

/// A machine that allows neither namespaces nor control groups.
fn unprivileged() -> Findings {
    let mut run = json(5);
    run.steady(CEILING, 60_000.0).change_records(invented::unprivileged);
    run.steady(GO, 34_300.0).change_records(invented::unprivileged);
    run.steady(FPM, 4_960.0).change_records(invented::unprivileged).findings()
}
