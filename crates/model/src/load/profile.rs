//! A load profile: an executor, with k6's names and meaning, and its parameters.

use serde::{Deserialize, Serialize};

use crate::JsonSchema;
use crate::reading::wording::words;
use crate::units::{bytes_words, duration_words, format_bytes, format_duration, percent_words};

/// How requests are sent in one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadProfile {
    /// What decides when the next request is sent.
    pub executor: Executor,
    /// Length of the measured window in seconds; with iterations, its maximum.
    pub duration_s: f64,
    /// Length of the discarded load before the window, in seconds.
    pub warmup_s: f64,
    /// How many requests a connection serves.
    pub connection: Connection,
    /// An unanswered request fails after this many seconds.
    pub timeout_s: f64,
    /// What happens to an arrival without a free connection; only for open loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<Pool>,
    /// Pause of a virtual user after each iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_time: Option<ThinkTime>,
    /// Maximum rates at which each connection is read and written.
    #[serde(default, skip_serializing_if = "Pace::is_unlimited")]
    pub pace: Pace,
}

/// What decides when the next request is sent. An iteration is one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Executor {
    /// A closed loop: each of `vus` virtual users sends its next request after the last response.
    ConstantVus {
        /// Number of virtual users, each with one connection.
        vus: u32,
    },
    /// A closed loop whose number of users follows the stages.
    RampingVus {
        /// Users when the window begins.
        start_vus: u32,
        stages: Vec<Stage>,
    },
    /// A closed loop in which each user sends a fixed number of requests.
    PerVuIterations {
        vus: u32,
        /// Requests per user.
        iterations: u64,
    },
    /// A closed loop whose users share a fixed number of requests: each free user sends the next.
    SharedIterations {
        vus: u32,
        /// Requests in total.
        iterations: u64,
    },
    /// An open loop: requests start by the clock, regardless of earlier ones.
    ConstantArrivalRate {
        /// Requests per second.
        rate_rps: f64,
        arrivals: Arrivals,
    },
    /// An open loop whose rate follows the stages.
    RampingArrivalRate {
        /// Requests per second when the window begins.
        start_rate_rps: f64,
        /// Their targets are requests per second.
        stages: Vec<Stage>,
        arrivals: Arrivals,
    },
}

/// A linear change from the end of the previous stage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Its target: users, or requests per second.
    pub target: f64,
    /// Its length in seconds; zero is a jump.
    pub duration_s: f64,
}

/// How an open loop's arrivals are spaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Uniform,
    /// As a Poisson process: many independent users.
    Poisson,
}

/// How many requests a connection serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Connection {
    /// As many as the server allows.
    KeepAlive,
    PerRequest,
    Requests(u32),
}

/// What happens to an arrival without a free connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// It waits until one of this many connections is free; the wait counts towards its response time.
    Bounded(u32),
    /// It opens a new connection.
    Unbounded,
}

impl Pool {
    /// The pool of a study without the key.
    pub const DEFAULT: Self = Self::Bounded(64);
}

/// Pause of a virtual user after each iteration, drawn uniformly between the two.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ThinkTime {
    /// Shortest, in seconds.
    pub least_s: f64,
    /// Longest, in seconds; equal to `least_s` for a constant pause.
    pub most_s: f64,
}

/// Maximum rates at which a client reads and writes on each connection, or `None` without a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Bytes of a response read per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes_per_s: Option<u64>,
    /// Bytes of a request written per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_s: Option<u64>,
    /// The share of users that these rates apply to, or `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_share: Option<f64>,
}

impl Executor {
    /// k6's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ConstantVus { .. } => "constant-vus",
            Self::RampingVus { .. } => "ramping-vus",
            Self::PerVuIterations { .. } => "per-vu-iterations",
            Self::SharedIterations { .. } => "shared-iterations",
            Self::ConstantArrivalRate { .. } => "constant-arrival-rate",
            Self::RampingArrivalRate { .. } => "ramping-arrival-rate",
        }
    }

    /// Whether requests start by the clock (an open loop) instead of after responses (a closed one).
    pub fn is_open(&self) -> bool {
        matches!(self, Self::ConstantArrivalRate { .. } | Self::RampingArrivalRate { .. })
    }

    /// `open` or `closed`.
    pub fn loop_model(&self) -> &'static str {
        if self.is_open() { "open" } else { "closed" }
    }

    /// Whether users or rate change during the window.
    pub fn is_ramp(&self) -> bool {
        matches!(self, Self::RampingVus { .. } | Self::RampingArrivalRate { .. })
    }

    /// Whether it ends after a number of requests instead of a time.
    pub fn has_iterations(&self) -> bool {
        matches!(self, Self::PerVuIterations { .. } | Self::SharedIterations { .. })
    }

    /// Most simultaneous virtual users, or `None` for open loops, which have no users.
    pub fn vus_max(&self) -> Option<u32> {
        match self {
            Self::ConstantVus { vus } | Self::PerVuIterations { vus, .. } | Self::SharedIterations { vus, .. } => {
                Some(*vus)
            }
            Self::RampingVus { start_vus, stages } => {
                Some(stages.iter().map(|stage| stage.target as u32).fold(*start_vus, u32::max))
            }
            Self::ConstantArrivalRate { .. } | Self::RampingArrivalRate { .. } => None,
        }
    }

    /// Users, or requests per second, when the window begins, and the stages after it.
    fn ramp(&self) -> (f64, &[Stage]) {
        match self {
            Self::ConstantVus { vus } | Self::PerVuIterations { vus, .. } | Self::SharedIterations { vus, .. } => {
                (f64::from(*vus), &[])
            }
            Self::ConstantArrivalRate { rate_rps, .. } => (*rate_rps, &[]),
            Self::RampingVus { start_vus, stages } => (f64::from(*start_vus), stages),
            Self::RampingArrivalRate { start_rate_rps, stages, .. } => (*start_rate_rps, stages),
        }
    }

    /// Users, or requests per second, at this time in the window.
    pub fn level_at(&self, at_s: f64) -> f64 {
        let (mut level, stages) = self.ramp();
        let mut start_s = 0.0;
        for stage in stages {
            if at_s < start_s + stage.duration_s {
                return level + (stage.target - level) * (at_s - start_s) / stage.duration_s;
            }
            (level, start_s) = (stage.target, start_s + stage.duration_s);
        }
        level
    }
}

impl LoadProfile {
    /// Most simultaneous connections, or `None` for an unbounded pool.
    pub fn connections_max(&self) -> Option<u32> {
        match (self.executor.vus_max(), self.pool) {
            (Some(vus), _) => Some(vus),
            (None, Some(Pool::Bounded(connections))) => Some(connections),
            (None, _) => None,
        }
    }

    /// How many requests are waiting when the window ends, if the subject was silent for the last `silent_s` of it.
    /// `None` if too few requests were sent for the silence to prove anything.
    ///
    /// In a closed loop, that is one per user at the end. In an open loop, it is at least half of the arrivals in that
    /// time, because the other half may have timed out. It never exceeds the number of connections.
    pub fn waiting_if_silent(&self, silent_s: f64) -> Option<u64> {
        let end_s = self.duration_s;
        if !self.executor.is_open() {
            return Some(self.executor.level_at(end_s) as u64).filter(|users| *users > 0);
        }
        // The end of a ramp has few corners, and we need only half of its arrivals, so midpoint sums are exact enough.
        const STEPS: u32 = 100;
        let step_s = silent_s / f64::from(STEPS);
        let middle = |step: u32| end_s - silent_s + (f64::from(step) + 0.5) * step_s;
        let arrivals: f64 = (0..STEPS).map(|step| self.executor.level_at(middle(step)) * step_s).sum();
        let most = self.connections_max().map_or(u64::MAX, u64::from);
        (arrivals >= 2.0).then(|| ((arrivals / 2.0) as u64).min(most))
    }

    /// A short description for tables: `closed loop, 64 virtual users, keep-alive, 1 s`.
    pub fn describe(&self) -> String {
        let duration = duration_words(self.duration_s);
        let duration = if self.executor.has_iterations() { format!("at most {duration}") } else { duration };
        let pool = match self.pool {
            None => String::new(),
            Some(Pool::Bounded(1)) => ", 1 connection".to_owned(),
            Some(Pool::Bounded(connections)) => format!(", {connections} connections"),
            Some(Pool::Unbounded) => ", as many connections as it takes".to_owned(),
        };
        let connection = match self.connection {
            Connection::KeepAlive => "keep-alive".to_owned(),
            Connection::PerRequest => "a connection per request".to_owned(),
            Connection::Requests(requests) => format!("a connection per {requests} requests"),
        };
        let pause = self.think_time.map(|think_time| format!(", {} after each", think_time.describe()));
        format!(
            "{} loop, {}{}{pool}, {connection}{}, {duration}",
            self.executor.loop_model(),
            self.executor.describe(),
            pause.unwrap_or_default(),
            self.describe_pace()
        )
    }

    /// Number of slow users, if only some are slow.
    pub fn slow_users(&self) -> Option<u32> {
        let users = f64::from(self.executor.vus_max()?);
        self.pace.slow_share.map(|share| (share * users).round() as u32)
    }

    fn describe_pace(&self) -> String {
        let Pace { read_bytes_per_s, write_bytes_per_s, .. } = self.pace;
        let part = |verb: &str, rate: Option<u64>| rate.map(|rate| format!(", {verb} {}/s at most", bytes_words(rate)));
        let parts = [part("reading", read_bytes_per_s), part("writing", write_bytes_per_s)];
        let slow = self.slow_users().map(|users| format!(", {users} of them slow"));
        slow.into_iter().chain(parts.into_iter().flatten()).collect()
    }

    /// What distinguishes scenarios of one workload, as part of a folder name: `c64`, `r2000-poisson`, `ramp0-300`.
    pub fn id(&self) -> String {
        let pool = match self.pool {
            None | Some(Pool::DEFAULT) => String::new(),
            Some(Pool::Bounded(connections)) => format!("-pool{connections}"),
            Some(Pool::Unbounded) => "-unbounded".to_owned(),
        };
        let pause = self.think_time.map(|think_time| format!("-think{}", think_time.id())).unwrap_or_default();
        let connection = match self.connection {
            Connection::KeepAlive => String::new(),
            Connection::PerRequest => "-per-request".to_owned(),
            Connection::Requests(requests) => format!("-reuse{requests}"),
        };
        format!("{}{pool}{pause}{connection}{}", self.executor.id(), self.pace.id())
    }
}

impl Executor {
    fn describe(&self) -> String {
        match self {
            Self::ConstantVus { vus } => users(*vus),
            Self::RampingVus { start_vus, stages } => {
                format!("virtual users {start_vus}{}", steps(stages, |target| format!("{target}")))
            }
            Self::PerVuIterations { vus, iterations } => format!("{}, {} each", users(*vus), requests(*iterations)),
            Self::SharedIterations { vus, iterations } => {
                let verb = if *vus == 1 { "sends" } else { "share" };
                format!("{} {verb} {}", users(*vus), requests(*iterations))
            }
            Self::ConstantArrivalRate { rate_rps, arrivals } => {
                format!("{} {}", rate(*rate_rps), arrivals.describe())
            }
            Self::RampingArrivalRate { start_rate_rps, stages, arrivals } => {
                format!("{}{} {}", rate(*start_rate_rps), steps(stages, rate), arrivals.describe())
            }
        }
    }

    fn id(&self) -> String {
        let arrivals = |arrivals: Arrivals| if arrivals == Arrivals::Poisson { "-poisson" } else { "" };
        match self {
            Self::ConstantVus { vus } => format!("c{vus}"),
            Self::RampingVus { start_vus, stages } => format!("ramp{}", corners(f64::from(*start_vus), stages)),
            Self::PerVuIterations { vus, iterations } => format!("c{vus}-i{iterations}-each"),
            Self::SharedIterations { vus, iterations } => format!("c{vus}-i{iterations}"),
            Self::ConstantArrivalRate { rate_rps, arrivals: spaced } => {
                format!("r{}{}", rounded(*rate_rps), arrivals(*spaced))
            }
            Self::RampingArrivalRate { start_rate_rps, stages, arrivals: spaced } => {
                format!("r{}{}", corners(*start_rate_rps, stages), arrivals(*spaced))
            }
        }
    }
}

fn users(vus: u32) -> String {
    if vus == 1 { "1 virtual user".to_owned() } else { format!("{vus} virtual users") }
}

fn requests(number: u64) -> String {
    if number == 1 { "1 request".to_owned() } else { format!("{number} requests") }
}

fn rate(per_s: f64) -> String {
    format!("{}/s", rounded(per_s))
}

/// ` → 300 in 30 s → 300 in 1 min`
fn steps(stages: &[Stage], target: impl Fn(f64) -> String) -> String {
    stages.iter().map(|stage| format!(" → {} in {}", target(stage.target), duration_words(stage.duration_s))).collect()
}

/// `0-300-100`: a ramp's start and targets; a held level appears once.
fn corners(start: f64, stages: &[Stage]) -> String {
    let mut levels = vec![start];
    levels.extend(stages.iter().map(|stage| stage.target));
    levels.dedup();
    levels.iter().map(|level| rounded(*level).to_string()).collect::<Vec<_>>().join("-")
}

/// Rounds for people: 2000 per minute is 33.333 per second.
fn rounded(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

words!(Arrivals { Uniform: "uniform", Poisson: "poisson" });

impl Arrivals {
    fn describe(self) -> &'static str {
        match self {
            Self::Uniform => "evenly spaced",
            Self::Poisson => "as a Poisson process",
        }
    }
}

impl Pace {
    /// Whether clients read and write without a limit.
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    fn id(self) -> String {
        let part = |verb: &str, rate: Option<u64>| rate.map(|rate| format!("-{verb}{}", format_bytes(rate)));
        let slow = self.slow_share.map(|share| format!("-slow{}", percent_words(share)));
        let parts = [slow, part("read", self.read_bytes_per_s), part("write", self.write_bytes_per_s)];
        parts.into_iter().flatten().collect()
    }
}

impl ThinkTime {
    fn describe(self) -> String {
        match (duration_words(self.least_s), duration_words(self.most_s)) {
            (least, most) if least == most => format!("a pause of {least}"),
            (least, most) => format!("a pause of {least} to {most}"),
        }
    }

    fn id(self) -> String {
        let (least, most) = (format_duration(self.least_s), format_duration(self.most_s));
        let id = if least == most { least } else { format!("{least}-{most}") };
        id.replace(' ', "")
    }
}
