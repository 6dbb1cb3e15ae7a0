//! Runs with the figures of a queueing network, so the right forecast is known.

use tolok_model::{Database, Environment, Link, Measurement};
use tolok_stats::queueing::{Network, Station, limited_pool};

use crate::invented::{GO, InventedRun, NODE, ask};

/// CPU time of the subject per response.
pub const SUBJECT_S: f64 = 23e-6;
/// CPU time of the database per response.
pub const DATABASE_S: f64 = 400e-6;
/// Time between the parts.
const OTHER_S: f64 = 31e-6;
/// A number of users between the measured ones.
pub const RATED: u64 = 32;

/// A run of a small response with these numbers of users, in six blocks.
pub fn with_users(users: &[u32]) -> InventedRun {
    let mut run = InventedRun::new(6);
    for users in users {
        let stations = vec![Station::servers(SUBJECT_S, 1), Station::delay(OTHER_S)];
        let rps = solved(stations, *users);
        run.scenario(&format!("hello-c{users}"), "hello", "Hello", *users).steady(GO, rps);
        run.change(|_, trial| as_solved(trial, SUBJECT_S, *users));
    }
    run
}

/// A run that is small enough to store: one subject with three numbers of users, and another with one.
pub fn small() -> InventedRun {
    let mut run = InventedRun::new(5);
    for users in [1, 8, 64] {
        let rps = solved(vec![Station::servers(SUBJECT_S, 1), Station::delay(OTHER_S)], users);
        run.scenario(&format!("hello-c{users}"), "hello", "Hello", users).steady(GO, rps);
        run.change(|_, trial| as_solved(trial, SUBJECT_S, users));
    }
    run.steady(NODE, 19_800.0);
    (run.run.id, run.run.study) = ("2026-11-21-users-7f3a".to_owned(), "users".to_owned());
    run
}

/// A run of a row from a database with 16 and 64 users, for each pool and each distance.
pub fn with_database(pools: &[u32], rtts_s: &[f64]) -> InventedRun {
    let mut run = InventedRun::new(6);
    for (pool, rtt_s) in pools.iter().flat_map(|pool| rtts_s.iter().map(move |rtt_s| (*pool, *rtt_s))) {
        let id = format!("pool{pool}-rtt{}ms", (rtt_s * 1e3).round());
        let link = Link { rtt_s, ..Link::default() };
        let database = Some(Database { pool, link, ..Database::default() });
        run.environment(Environment { id: id.clone(), database, ..Environment::default() });
        for users in [16, 64] {
            let rps = with_database_rps(users, pool, rtt_s);
            run.asking(&format!("query-c{users}-{id}"), "query", "One row", users).steady(GO, rps);
            run.change(|_, trial| {
                ask(trial, DATABASE_S * trial.goodput_rps, 1, 800);
                trial.pool = None;
                as_solved(trial, 3.0 * SUBJECT_S, users);
            });
        }
    }
    run
}

/// Responses per second in such a run.
pub fn with_database_rps(users: u32, pool: u32, rtt_s: f64) -> f64 {
    let inside = Network::new(0.0, vec![Station::servers(DATABASE_S, 1), Station::delay(rtt_s)]).expect("sound times");
    let pool = limited_pool(&inside, u64::from(pool)).expect("sound rates");
    solved(vec![Station::servers(3.0 * SUBJECT_S, 1), Station::delay(OTHER_S), pool], users)
}

fn solved(stations: Vec<Station>, users: u32) -> f64 {
    Network::new(0.0, stations).expect("sound times").solve(u64::from(users)).throughput_rps
}

fn as_solved(trial: &mut Measurement, subject_s: f64, users: u32) {
    trial.subject.as_mut().expect("tolok started it").cpu_s = subject_s * trial.goodput_rps * trial.window_s;
    trial.latency.mean_s = Some(f64::from(users) / trial.goodput_rps);
}
