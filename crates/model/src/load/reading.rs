//! Turns a written `load` into load profiles.
//!
//! It first reads every value, for any executor, so that all mistakes are reported. It then checks each key against the
//! executor, and finally reports missing keys.

use crate::figures::count;
use crate::load::file::{ConnectionWord, LoadFile, PoolFile, StageFile};
use crate::load::profile::{Connection, Executor, LoadProfile, Pace, Pool, Stage, ThinkTime};
use crate::reading::several::Several;
use crate::reading::table::{Spanned, Table};
use crate::reading::text::{Reading, Span};
use crate::units::{Rate, Seconds};

const CONSTANT_VUS: &str = "constant-vus";
const RAMPING_VUS: &str = "ramping-vus";
const PER_VU: &str = "per-vu-iterations";
const SHARED: &str = "shared-iterations";
const CONSTANT_RATE: &str = "constant-arrival-rate";
const RAMPING_RATE: &str = "ramping-arrival-rate";
const EXECUTORS: [&str; 6] = [CONSTANT_VUS, RAMPING_VUS, PER_VU, SHARED, CONSTANT_RATE, RAMPING_RATE];

/// Each virtual user holds a connection and so a local port. Linux has 28,232 ports for one server address.
pub(crate) const MOST_CONNECTIONS: u32 = 28_000;
/// No server on one machine answers more, so a larger rate is a typo.
const MOST_PER_SECOND: f64 = 1e6;
/// Warm-up for executors whose window has no fixed length, in seconds.
const WARMUP_OF_ITERATIONS_S: f64 = 1.0;

/// Returns one load profile for each number of virtual users or each rate.
pub fn read_load(load: Table<LoadFile>, reading: &mut Reading) -> Vec<LoadProfile> {
    let Table { span, entries: mut load } = load;
    let written = reading.require(load.executor.take(), &span, "executor", "executor = \"constant-vus\"");
    let executor = written.and_then(|name| known_executor(&name, reading));
    if let Some(executor) = executor {
        refuse_keys_of_others(&load, executor, reading);
    }
    let common = Common::read(&mut load, reading);
    let slow_share = Spanned::place(&load.slow_share);
    let values = Values::read(load, &span, reading);
    let Some(executor) = executor else { return Vec::new() };
    let shapes = values.shapes(executor, &span, reading);
    let is_open = matches!(executor, CONSTANT_RATE | RAMPING_RATE);
    let profiles: Vec<LoadProfile> = shapes
        .into_iter()
        .map(|(executor, duration_s)| LoadProfile {
            warmup_s: common.warmup_s.unwrap_or_else(|| default_warmup_s(&executor, duration_s)),
            executor,
            duration_s,
            connection: common.connection,
            timeout_s: common.timeout_s,
            pool: is_open.then(|| values.pool.unwrap_or(Pool::DEFAULT)),
            think_time: values.think_time,
            pace: common.pace,
        })
        .collect();
    slow_share.into_iter().for_each(|place| check_slow_users(&profiles, &place, reading));
    profiles
}

fn default_warmup_s(executor: &Executor, duration_s: f64) -> f64 {
    match executor {
        // An empty load needs no warm-up.
        Executor::RampingVus { start_vus: 0, .. } => 0.0,
        Executor::RampingArrivalRate { start_rate_rps, .. } if *start_rate_rps <= 0.0 => 0.0,
        _ if executor.has_iterations() => WARMUP_OF_ITERATIONS_S,
        _ => (duration_s / 5.0).max(0.3),
    }
}

fn known_executor(name: &Spanned<String>, reading: &mut Reading) -> Option<&'static str> {
    let written = name.get_ref().as_str();
    let found = EXECUTORS.into_iter().find(|executor| *executor == written);
    if written == "externally-controlled" {
        let message = "k6's executor `externally-controlled` is interactive and cannot be used in a study";
        reading.note(name.span(), message, format!("known here: {}", EXECUTORS.join(", ")));
    } else if found.is_none() {
        reading.note_unknown(name, "there is no executor", &EXECUTORS);
    }
    found
}

/// Reports each key that the executor does not have.
fn refuse_keys_of_others(load: &LoadFile, executor: &str, reading: &mut Reading) {
    let closed = [CONSTANT_VUS, RAMPING_VUS, PER_VU, SHARED];
    let ramps = [RAMPING_VUS, RAMPING_RATE];
    let open = [CONSTANT_RATE, RAMPING_RATE];
    let iterations = [PER_VU, SHARED];
    let keys: [(&str, Option<Span>, &[&str]); 12] = [
        ("vus", Spanned::place(&load.vus), &[CONSTANT_VUS, PER_VU, SHARED]),
        ("start-vus", Spanned::place(&load.start_vus), &[RAMPING_VUS]),
        ("rate", Spanned::place(&load.rate), &[CONSTANT_RATE]),
        ("start-rate", Spanned::place(&load.start_rate), &[RAMPING_RATE]),
        ("stages", Spanned::place(&load.stages), &ramps),
        ("iterations", Spanned::place(&load.iterations), &iterations),
        ("duration", Spanned::place(&load.duration), &[CONSTANT_VUS, CONSTANT_RATE]),
        ("max-duration", Spanned::place(&load.max_duration), &iterations),
        ("arrivals", Spanned::place(&load.arrivals), &open),
        ("pool", Spanned::place(&load.pool), &open),
        ("think-time", Spanned::place(&load.think_time), &closed),
        ("slow-share", Spanned::place(&load.slow_share), &[CONSTANT_VUS, RAMPING_VUS]),
    ];
    for (key, span, owners) in keys {
        if let Some(span) = span.filter(|_| !owners.contains(&executor)) {
            let message = format!("`{executor}` has no `{key}`");
            reading.note(span, message, format!("`{key}` belongs to {}", owners.join(", ")));
        }
    }
}

struct Common {
    warmup_s: Option<f64>,
    connection: Connection,
    timeout_s: f64,
    pace: Pace,
}

impl Common {
    fn read(load: &mut LoadFile, reading: &mut Reading) -> Self {
        let word = load.connection.take();
        let requests = load.requests_per_connection.take();
        if let Some(requests) = &requests {
            if *requests.get_ref() == 0 {
                reading.note(requests.span(), "`requests-per-connection` must be at least 1", None);
            }
            if word.as_ref().is_some_and(|word| *word.get_ref() == ConnectionWord::PerRequest) {
                let help = "leave out one of `connection` and `requests-per-connection`";
                reading.note(requests.span(), "a connection for each request serves one request", help);
            }
        }
        let connection = match (requests.map(Spanned::into_inner), word.map(Spanned::into_inner)) {
            (Some(1), _) | (None, Some(ConnectionWord::PerRequest)) => Connection::PerRequest,
            (Some(requests), _) => Connection::Requests(requests),
            (None, _) => Connection::KeepAlive,
        };
        Self {
            warmup_s: load.warmup.take().map(|warmup| warmup.0),
            connection,
            timeout_s: load.timeout.take().map_or(10.0, |timeout| reading.positive(&timeout, "timeout")),
            pace: Pace {
                read_bytes_per_s: load.read_rate.take().map(|rate| rate.0),
                write_bytes_per_s: load.write_rate.take().map(|rate| rate.0),
                slow_share: load.slow_share.as_ref().map(|share| share.get_ref().0),
            },
        }
    }
}

/// Slow users need a rate, and there must also be fast users.
fn check_slow_users(profiles: &[LoadProfile], place: &Span, reading: &mut Reading) {
    let Some(first) = profiles.first().filter(|load| load.executor.vus_max().is_some()) else { return };
    let Pace { read_bytes_per_s: None, write_bytes_per_s: None, .. } = first.pace else {
        let lacks = |load: &&LoadProfile| load.slow_users() == Some(0) || load.slow_users() == load.executor.vus_max();
        let Some(load) = profiles.iter().find(lacks) else { return };
        let (slow, all) = (load.slow_users().unwrap_or_default(), load.executor.vus_max().unwrap_or_default());
        let message = format!("of {all} users {slow} would be slow, and there must be slow and fast ones");
        return reading.note(place.clone(), message, "give more users, or another share");
    };
    reading.note(place.clone(), "slow users need a rate", "give `read-rate` or `write-rate`");
}

/// Keys that only some executors have, if present and valid.
struct Values {
    vus: Option<Vec<u32>>,
    start_vus: Option<u32>,
    rates_rps: Option<Vec<f64>>,
    start_rate_rps: Option<f64>,
    stages: Option<Vec<WrittenStage>>,
    iterations: Option<Spanned<u64>>,
    duration_s: Option<f64>,
    max_duration_s: Option<f64>,
    arrivals: crate::load::profile::Arrivals,
    pool: Option<Pool>,
    think_time: Option<ThinkTime>,
}

/// A stage whose target is a number of users or a rate.
struct WrittenStage {
    target: Spanned<Rate>,
    duration_s: f64,
}

impl Values {
    fn read(load: LoadFile, span: &Span, reading: &mut Reading) -> Self {
        Self {
            vus: load.vus.map(|vus| read_vus(vus, span, reading)),
            start_vus: load.start_vus.map(|vus| at_most_connections(&vus, reading)),
            rates_rps: load.rate.map(|rates| read_rates(rates, span, reading)),
            start_rate_rps: load.start_rate.map(|rate| read_rate(&rate, reading)),
            stages: load.stages.map(|stages| read_stages(stages, span, reading)),
            iterations: load.iterations.inspect(|iterations| {
                reading.note_if(*iterations.get_ref() == 0, iterations.span(), "`iterations` must be at least 1", None);
            }),
            duration_s: load.duration.map(|duration| reading.positive(&duration, "duration")),
            max_duration_s: load.max_duration.map(|duration| reading.positive(&duration, "max-duration")),
            arrivals: load.arrivals.map(Spanned::into_inner).unwrap_or_default(),
            pool: load.pool.map(|pool| read_pool(&pool, reading)),
            think_time: load.think_time.and_then(|pause| read_think_time(pause, reading)),
        }
    }

    /// The executors, each with the length of its window. Empty if a key is missing.
    fn shapes(&self, executor: &str, span: &Span, reading: &mut Reading) -> Vec<(Executor, f64)> {
        let needs: &[&str] = match executor {
            CONSTANT_VUS => &["vus", "duration"],
            PER_VU | SHARED => &["vus", "iterations", "max-duration"],
            CONSTANT_RATE => &["rate", "duration"],
            _ => &["stages"],
        };
        needs.iter().for_each(|key| self.require(key, executor, span, reading));
        match executor {
            CONSTANT_VUS => self.each_number(|vus| Executor::ConstantVus { vus }, self.duration_s),
            PER_VU => self.with_iterations(|vus, iterations| Executor::PerVuIterations { vus, iterations }),
            SHARED => {
                self.refuse_idle_users(reading);
                self.with_iterations(|vus, iterations| Executor::SharedIterations { vus, iterations })
            }
            CONSTANT_RATE => {
                let rates = self.rates_rps.iter().flatten().zip(std::iter::repeat(self.duration_s));
                let shape = |rate_rps| Executor::ConstantArrivalRate { rate_rps, arrivals: self.arrivals };
                rates.filter_map(|(rate_rps, duration_s)| Some((shape(*rate_rps), duration_s?))).collect()
            }
            _ => self.ramp(executor == RAMPING_VUS, reading).into_iter().collect(),
        }
    }

    fn require(&self, key: &str, executor: &str, span: &Span, reading: &mut Reading) {
        let (there, example) = match key {
            "vus" => (self.vus.is_some(), "vus = 64"),
            "duration" => (self.duration_s.is_some(), "duration = \"10s\""),
            "iterations" => (self.iterations.is_some(), "iterations = 10000"),
            "max-duration" => (self.max_duration_s.is_some(), "max-duration = \"30s\""),
            "rate" => (self.rates_rps.is_some(), "rate = 1000"),
            _ if executor == RAMPING_VUS => (self.stages.is_some(), "stages = [{ target = 250, duration = \"10s\" }]"),
            _ => (self.stages.is_some(), "stages = [{ target = 5000, duration = \"10s\" }]"),
        };
        reading.require(there.then_some(()), span, key, example);
    }

    fn each_number(&self, shape: impl Fn(u32) -> Executor, duration_s: Option<f64>) -> Vec<(Executor, f64)> {
        let numbers = self.vus.iter().flatten();
        numbers.filter_map(|vus| Some((shape(*vus), duration_s?))).collect()
    }

    fn with_iterations(&self, shape: impl Fn(u32, u64) -> Executor) -> Vec<(Executor, f64)> {
        let Some(iterations) = self.iterations.as_ref().map(|iterations| *iterations.get_ref()) else {
            return Vec::new();
        };
        self.each_number(|vus| shape(vus, iterations), self.max_duration_s)
    }

    /// Refuses more users than shared requests, as k6 does: the rest would be idle.
    fn refuse_idle_users(&self, reading: &mut Reading) {
        let Some(iterations) = &self.iterations else { return };
        let most = self.vus.iter().flatten().max().copied().unwrap_or_default();
        if *iterations.get_ref() > 0 && *iterations.get_ref() < u64::from(most) {
            let message = format!("{most} users cannot share {} iterations", iterations.get_ref());
            reading.note(iterations.span(), message, "give each user one at least");
        }
    }

    fn ramp(&self, of_users: bool, reading: &mut Reading) -> Option<(Executor, f64)> {
        let written = self.stages.as_ref()?;
        for WrittenStage { target, .. } in written {
            if of_users {
                check_users(target, reading);
            } else {
                read_rate(target, reading);
            }
        }
        let stage = |stage: &WrittenStage| Stage { target: stage.target.get_ref().per_s, duration_s: stage.duration_s };
        let stages: Vec<Stage> = written.iter().map(stage).collect();
        let duration_s = stages.iter().map(|stage| stage.duration_s).sum();
        let start = if of_users { self.start_vus.map(f64::from) } else { self.start_rate_rps };
        if start.unwrap_or(0.0) <= 0.0 && stages.iter().all(|stage| stage.target <= 0.0) {
            let first = written.first()?.target.span();
            reading.note(first, "a ramp that stays at 0 is no load", "give a `target` of more");
        }
        let executor = if of_users {
            Executor::RampingVus { start_vus: self.start_vus.unwrap_or(0), stages }
        } else {
            let start_rate_rps = self.start_rate_rps.unwrap_or(0.0);
            Executor::RampingArrivalRate { start_rate_rps, stages, arrivals: self.arrivals }
        };
        Some((executor, duration_s))
    }
}

fn read_vus(vus: Spanned<Several<u32>>, load: &Span, reading: &mut Reading) -> Vec<u32> {
    let span = vus.span();
    let numbers = vus.into_inner().0;
    if numbers.is_empty() && !reading.is_damaged(load, "vus") {
        reading.note(span, "no number of virtual users is listed", None);
    }
    for number in &numbers {
        match *number.get_ref() {
            0 => reading.note(number.span(), "at least one virtual user is needed", None),
            _ => drop(at_most_connections(number, reading)),
        }
    }
    numbers.into_iter().map(Spanned::into_inner).collect()
}

fn at_most_connections(number: &Spanned<u32>, reading: &mut Reading) -> u32 {
    if *number.get_ref() > MOST_CONNECTIONS {
        too_many("virtual users", number.span(), reading);
    }
    *number.get_ref()
}

fn too_many(what: &str, span: Span, reading: &mut Reading) {
    let message = format!("at most {} {what} are possible", count(MOST_CONNECTIONS.into()));
    reading.note(span, message, "each needs a local port of its own, and Linux has about that many");
}

fn read_rates(rates: Spanned<Several<Rate>>, load: &Span, reading: &mut Reading) -> Vec<f64> {
    let span = rates.span();
    let rates = rates.into_inner().0;
    reading.note_if(rates.is_empty() && !reading.is_damaged(load, "rate"), span, "no rate is listed", None);
    for rate in &rates {
        reading.note_if(rate.get_ref().per_s <= 0.0, rate.span(), "`rate` must be more than nothing", None);
    }
    rates.iter().map(|rate| read_rate(rate, reading)).collect()
}

fn read_rate(rate: &Spanned<Rate>, reading: &mut Reading) -> f64 {
    if rate.get_ref().per_s > MOST_PER_SECOND {
        reading.note(rate.span(), "at most 1,000,000 requests per second are possible", None);
    }
    rate.get_ref().per_s
}

/// Checks a target of users. It was read as a rate, because a stage's table does not contain its executor.
fn check_users(target: &Spanned<Rate>, reading: &mut Reading) {
    let Rate { per_s: users, has_unit } = *target.get_ref();
    if has_unit {
        let help = "rates belong to ramping-arrival-rate";
        reading.note(target.span(), "a target of `ramping-vus` is a number of users and no rate", help);
    } else if users.fract() != 0.0 {
        reading.note(target.span(), "a number of users is a whole number", None);
    } else if users > f64::from(MOST_CONNECTIONS) {
        too_many("virtual users", target.span(), reading);
    }
}

fn read_stages(stages: Spanned<Vec<Table<StageFile>>>, load: &Span, reading: &mut Reading) -> Vec<WrittenStage> {
    let span = stages.span();
    let written = stages.into_inner();
    let is_damaged = reading.is_damaged(load, "stages");
    reading.note_if(written.is_empty() && !is_damaged, span.clone(), "no stage is listed", None);
    let count = written.len();
    let stages: Vec<WrittenStage> = written.into_iter().filter_map(|stage| read_stage(stage, reading)).collect();
    let is_whole = stages.len() == count && count > 0 && !is_damaged;
    if is_whole && stages.iter().all(|stage| stage.duration_s <= 0.0) {
        reading.note(span, "the stages take no time", None);
    }
    stages
}

fn read_stage(stage: Table<StageFile>, reading: &mut Reading) -> Option<WrittenStage> {
    let Table { span, entries: stage } = stage;
    let target = reading.require(stage.target, &span, "target", "target = 250");
    let duration = reading.require(stage.duration, &span, "duration", "duration = \"10s\"");
    Some(WrittenStage { target: target?, duration_s: duration?.get_ref().0 })
}

fn read_pool(pool: &Spanned<PoolFile>, reading: &mut Reading) -> Pool {
    let PoolFile(read) = *pool.get_ref();
    match read {
        Pool::Bounded(0) => reading.note(pool.span(), "a pool needs at least one connection", None),
        Pool::Bounded(connections) if connections > MOST_CONNECTIONS => {
            too_many("connections", pool.span(), reading);
        }
        Pool::Bounded(_) | Pool::Unbounded => {}
    }
    read
}

fn read_think_time(pause: Spanned<Several<Seconds>>, reading: &mut Reading) -> Option<ThinkTime> {
    let span = pause.span();
    let durations: Vec<f64> = pause.into_inner().0.iter().map(|duration| duration.get_ref().0).collect();
    let (least_s, most_s) = match *durations {
        [pause_s] => (pause_s, pause_s),
        [least_s, most_s] if least_s <= most_s => (least_s, most_s),
        _ => {
            let help = "for example: think-time = [\"50ms\", \"150ms\"]";
            reading.note(span, "`think-time` is one duration, or the shortest and the longest", help);
            return None;
        }
    };
    // A pause of zero is no pause, and is not shown.
    (most_s > 0.0).then_some(ThinkTime { least_s, most_s })
}
