//! Runs with a database.

use tolok_analysis::Findings;
use tolok_model::{
    CounterCheck, Database, Environment, FailureKind, Link, LinkDirection, LinkWindow, Measurement, Outage,
    OutageRecord, PoolWindow,
};

use crate::invented::{BUN, CEILING, FPM, GO, InventedRun, NODE, SWOOLE, ask, fail_requests};

/// Subjects that use a database, at a tenth of the study's windows: rows, many statements per response, a counter.
pub fn database() -> Findings {
    let busy = |subject: f64, generator: f64| {
        move |_: u32, trial: &mut Measurement| {
            (trial.subject.as_mut().expect("tolok started it").cpu_s, trial.generator.cpu_s) =
                (subject * trial.window_s, generator * trial.window_s);
        }
    };
    let mut run = InventedRun::new(5);
    run.plan.scale = 0.1;
    run.environment(Environment { database: Some(Database::default()), ..Environment::default() });
    run.scenario("hello-c64", "hello", "Hello", 64).steady(CEILING, 61_200.0).steady(GO, 43_900.0);
    run.asking("rows-1000-c64", "rows?fields=40&limit=1000", "1,000 rows of 40 fields", 64);
    run.steady(CEILING, 2_400.0).change(|_, trial| trial.body_bytes = 960_412 * 4_800);
    let rows = |run: &mut InventedRun, server, goodput_rps, [subject, database, generator]: [f64; 3]| {
        run.steady(server, goodput_rps).change(|_, trial| ask(trial, database, 1, 960_412));
        run.change(busy(subject, generator));
    };
    rows(&mut run, GO, 141.0, [0.86, 0.71, 0.21]);
    rows(&mut run, BUN, 128.0, [0.984, 0.62, 0.19]);
    rows(&mut run, NODE, 96.0, [0.991, 0.47, 0.15]);
    rows(&mut run, FPM, 71.0, [0.979, 0.38, 0.12]);
    run.change(|block, trial| {
        let refused = if block == 2 { 31 } else { 0 };
        trial.database.as_mut().expect("it uses a database").refused_connections = Some(refused);
        trial.pool = None;
    });
    run.fail(4, FailureKind::DatabaseFailed, "mariadbd ended with signal 9 while load was on it");
    run.steady(SWOOLE, 2.0);
    (1..=5).for_each(|block| {
        run.fail(block, FailureKind::Hung, "64 requests were sent, none was answered correctly");
    });
    let link = Link { rtt_s: 0.02, ..Link::default() };
    run.environment(Environment {
        id: "rtt-20ms".to_owned(),
        database: Some(Database { pool: 5, link, ..Database::default() }),
        ..Environment::default()
    });
    run.asking("queries-20-c64-rtt-20ms", "queries?n=20", "20 queries, one after the other", 64);
    run.steady(GO, 12.1).change(|_, trial| ask(trial, 0.11, 20, 19_208)).change(busy(0.07, 0.01));
    run.change(|_, trial| {
        let waits = (trial.goodput_rps * trial.window_s).round();
        trial.pool = Some(PoolWindow { size: 5, waits: Some(waits as u64), wait_s: Some(waits * 4.7) });
        let way = LinkDirection {
            packets: 520,
            bytes: 41_000,
            dropped_refused: 0,
            dropped_before: 0,
            lateness_s_mean: 0.000_04,
            lateness_s_max: 0.000_3,
            ..Default::default()
        };
        let link = LinkWindow { to_subject: way, to_client: way, realtime: true, cpu_s: 0.01 };
        trial.database.as_mut().expect("it uses a database").link = Some(link);
    });
    run.steady(NODE, 11.6).change(|_, trial| ask(trial, 0.1, 20, 19_208)).change(busy(0.12, 0.01));
    run.asking("counter-c64-rtt-20ms", "counter", "A counter that must be right", 64);
    let sound = |trial: &mut Measurement| {
        let load = trial.ledger.good;
        trial.counter = Some(CounterCheck {
            asked: 500,
            grew: 500,
            wrong_answers: 0,
            load,
            load_least: load,
            load_most: load + 64,
        });
    };
    run.steady(GO, 740.0).change(|_, trial| ask(trial, 0.31, 1, 6)).change(|_, trial| sound(trial));
    run.steady(BUN, 910.0).change(|_, trial| ask(trial, 0.34, 2, 6)).change(|block, trial| {
        sound(trial);
        let counter = trial.counter.as_mut().expect("it was just set");
        (counter.grew, counter.wrong_answers) = if block == 3 { (488, 12) } else { (500, 0) };
    });
    run.findings()
}

/// A database that is killed in the window, and subjects that meet all, half or none of their requirements.
pub fn outage() -> Findings {
    let outage = Some(Outage { at_s: 0.6, for_s: 0.5 });
    let mut run = InventedRun::new(5);
    run.environment(Environment {
        database: Some(Database { outage, ..Database::default() }),
        ..Environment::default()
    });
    run.asking("rows-10-c16", "rows?fields=40&limit=10", "10 rows of 40 fields", 16);
    let record = |block: u32| OutageRecord {
        began_s: 0.601,
        ended_s: Some(1.32 + 0.01 * f64::from(block)),
        first_error_s: Some(0.603 + 0.004 * f64::from(block)),
        error_status: Some(503),
        longest_silence_s: 0.031 + 0.002 * f64::from(block),
        recovered_s: Some(1.41 + 0.01 * f64::from(block)),
    };
    let mut gone = |server, goodput_rps, change: &dyn Fn(u32, &mut OutageRecord)| {
        run.steady(server, goodput_rps).change(|block, trial| {
            ask(trial, 0.3, 1, 9_604);
            fail_requests(trial, 400);
            let mut outage = record(block);
            change(block, &mut outage);
            trial.database.as_mut().expect("it uses a database").outage = Some(outage);
        });
    };
    gone(GO, 4_310.0, &|_, _| ());
    gone(NODE, 3_120.0, &|block, outage| {
        outage.longest_silence_s = 0.71;
        if block < 3 {
            (outage.first_error_s, outage.error_status) = (None, None);
        }
    });
    gone(FPM, 2_240.0, &|_, outage| {
        (outage.first_error_s, outage.error_status, outage.recovered_s) = (None, None, None);
        outage.longest_silence_s = 1.38;
    });
    run.findings()
}
