//! An invented study of three factors: distance to the database, connections to it, and users.

use tolok_analysis::{Estimate, Findings};
use tolok_model::{Database, Environment, Link};

use super::{BUN, FPM, GO, InventedRun, NODE, SWOOLE, Server, ask};

/// A server with this many responses per second per dedicated CPU, and this many round trips per response.
#[derive(Clone, Copy)]
pub struct Asking {
    pub server: Server,
    pub cpu_rps: f64,
    pub round_trips: f64,
}

pub const ASKING: [Asking; 5] = [
    Asking { server: GO, cpu_rps: 141.0, round_trips: 1.0 },
    Asking { server: BUN, cpu_rps: 168.0, round_trips: 2.0 },
    Asking { server: NODE, cpu_rps: 96.0, round_trips: 1.0 },
    Asking { server: FPM, cpu_rps: 71.0, round_trips: 3.0 },
    Asking { server: SWOOLE, cpu_rps: 112.0, round_trips: 2.0 },
];

/// The rate by what limits it first: its CPU, or the round trips of the requests that can be under way.
pub fn rate(of: Asking, users: u32, pool: u32, rtt_s: f64) -> f64 {
    let at_once = f64::from(users.min(pool));
    let by_distance = at_once / (0.02 + of.round_trips * rtt_s);
    (of.cpu_rps.powi(-4) + by_distance.powi(-4)).powf(-0.25)
}

/// Every subject with every number of users, pool and distance.
pub fn distances(blocks: u32, users: &[u32], pools: &[u32], rtts_ms: &[u32]) -> InventedRun {
    let mut run = InventedRun::new(blocks);
    run.plan.title = "Large results: runtime, pool, or distance?".to_owned();
    run.plan.question = "What decides how many answers of 1,000 rows are given?".to_owned();
    for (pool, rtt_ms) in pools.iter().flat_map(|pool| rtts_ms.iter().map(move |rtt_ms| (*pool, *rtt_ms))) {
        let link = Link { rtt_s: f64::from(rtt_ms) / 1e3, ..Link::default() };
        let id = format!("pool{pool}-rtt{rtt_ms}ms");
        run.environment(Environment {
            id: id.clone(),
            database: Some(Database { pool, link, ..Database::default() }),
            ..Environment::default()
        });
        for users in users {
            let scenario = format!("rows-1000-c{users}-{id}");
            run.asking(&scenario, "rows?fields=40&limit=1000", "1,000 rows of 40 fields", *users);
            for of in ASKING {
                run.steady(of.server, rate(of, *users, pool, f64::from(rtt_ms) / 1e3));
                run.change(|_, trial| {
                    ask(trial, 0.3, 1, 960_412);
                    trial.subject.as_mut().expect("tolok started it").cpu_s =
                        trial.window_s * (trial.goodput_rps / of.cpu_rps).min(1.0);
                });
            }
        }
    }
    run
}

/// Shortens every figure of factors to fewer digits.
pub fn shorten_factors(findings: &mut Findings, shorten: &dyn Fn(&mut Estimate), short: &dyn Fn(f64) -> f64) {
    for panel in &mut findings.sensitivity {
        for point in panel.lines.iter_mut().flat_map(|line| &mut line.points) {
            shorten(&mut point.goodput_rps);
            point.of_lowest.iter_mut().for_each(shorten);
        }
        for crossing in &mut panel.crossovers {
            crossing.at = short(crossing.at);
            crossing.at_low = crossing.at_low.map(short);
            crossing.at_high = crossing.at_high.map(short);
        }
    }
    for share in findings.variance.iter_mut().flat_map(|finding| &mut finding.shares) {
        shorten(&mut share.share);
        share.range_ratio = share.range_ratio.map(short);
    }
}
