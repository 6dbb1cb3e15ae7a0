//! The options of a load run. Input is converted to types once, here; the engine trusts them.

mod data;
mod pace;
mod request;
mod written;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use crate::engine::problems_of_values;
use crate::error::LoadError;
use crate::target::Target;
pub use data::{Capture, Data, DataOrder, is_name, without_blanks_in_braces};
pub use pace::Pace;
pub(crate) use request::parts;
pub use request::{Expect, ExpectBody, ExpectStatus, Method, Request};

/// Everything that determines a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Options {
    /// Where the requests go.
    pub target: Target,
    /// What is sent; at least one.
    pub requests: Vec<Request>,
    /// How the requests make up an iteration.
    pub mix: Mix,
    /// Values to fill requests with.
    #[serde(with = "written::data")]
    pub data: Option<Arc<Data>>,
    /// When iterations start.
    pub executor: Executor,
    /// Pause of a virtual user after each iteration. Closed loops only.
    pub think_time: ThinkTime,
    /// Load before the window; its requests are discarded. Zero for none.
    pub warm_up: Duration,
    /// Connections of an open loop. In a closed loop every virtual user has its own.
    pub pool: Pool,
    /// The protocol on a connection.
    pub protocol: Protocol,
    /// How long a connection lives.
    pub connection: ConnectionPolicy,
    /// Deadline of one request, from the moment the engine acts on it; includes connecting.
    pub timeout: Duration,
    /// Deadline for establishing a connection, including the TLS handshake.
    pub connect_timeout: Duration,
    /// Time to finish for requests in flight at the end of the window, and for arrivals that still wait for a connection. By default the
    /// request timeout, capped at [`Options::GRACE_CAP`].
    pub grace: Option<Duration>,
    /// Where connections come from.
    pub sources: Sources,
    /// Clients that read or write slowly.
    pub pace: Pace,
    /// An answer with a longer body is malformed. Matters only where the length is not known in advance.
    pub body_limit_bytes: u64,
    /// How an `https://` target proves its identity.
    pub tls: Tls,
    /// The engine's own threads and how they wait.
    pub generator: Generator,
    /// Whether each second of the timeline keeps its three histograms. They make up nearly all of its memory: ten to thirty kilobytes a
    /// second. Without them a run may last for days; the histograms of the whole run are always kept.
    pub second_histograms: bool,
    /// Seeds all random draws: Poisson arrivals, the choice between weighted requests, think times.
    pub seed: u64,
}

impl Options {
    /// Longest default grace period.
    pub const GRACE_CAP: Duration = Duration::from_secs(5);

    /// Options for a URL such as `http://127.0.0.1:8080/hello`: 1 virtual user for 10 s, keep-alive, any 2xx is good.
    pub fn new(url: &str) -> Result<Options, LoadError> {
        let target = Target::parse(url)?;
        Ok(Options {
            requests: vec![Request::get(target.path())],
            target,
            mix: Mix::Weighted,
            data: None,
            executor: Executor::ConstantVus { vus: 1, duration: Duration::from_secs(10) },
            think_time: ThinkTime::NONE,
            warm_up: Duration::ZERO,
            pool: Pool::Bounded(64),
            protocol: Protocol::Http1,
            connection: ConnectionPolicy::KeepAlive,
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            grace: None,
            sources: Sources::Rotated(Sources::DEFAULT_ADDRESSES),
            pace: Pace::default(),
            body_limit_bytes: 1 << 30,
            tls: Tls::default(),
            generator: Generator::default(),
            second_histograms: true,
            seed: 0,
        })
    }

    /// The effective grace period.
    pub fn grace_period(&self) -> Duration {
        self.grace.unwrap_or_else(|| self.timeout.min(Options::GRACE_CAP))
    }
}

/// How several requests make up an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mix {
    /// An iteration is one request, drawn at random by the weights.
    #[default]
    Weighted,
    /// An iteration is all of them in order, one after another on the same connection.
    Sequence,
}

/// When iterations start. Names and meanings are k6's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "executor", rename_all = "kebab-case")]
pub enum Executor {
    /// A closed loop: each of a fixed number of virtual users starts its next iteration as soon as it has finished one.
    ConstantVus {
        /// How many.
        vus: u32,
        /// Length of the measured window.
        #[serde(rename = "duration_s", with = "as_seconds")]
        duration: Duration,
    },
    /// A closed loop whose number of users follows the stages.
    RampingVus {
        /// Users at the start of the window.
        start_vus: u32,
        /// Each goes linearly from the target of the one before to its own.
        stages: Vec<Stage>,
    },
    /// Each user does a fixed number of iterations, however long they take.
    PerVuIterations {
        /// How many users.
        vus: u32,
        /// How many iterations each.
        iterations: u64,
        /// The window ends here, even if iterations are left.
        #[serde(rename = "max_duration_s", with = "as_seconds")]
        max_duration: Duration,
    },
    /// The users share a fixed number of iterations: a free user takes the next one.
    SharedIterations {
        /// How many users.
        vus: u32,
        /// How many iterations in total.
        iterations: u64,
        /// The window ends here, even if iterations are left.
        #[serde(rename = "max_duration_s", with = "as_seconds")]
        max_duration: Duration,
    },
    /// Iterations start by the clock, whether or not earlier ones are finished: an open loop.
    ConstantArrivalRate {
        /// Iterations a second.
        rate_rps: f64,
        /// Length of the measured window.
        #[serde(rename = "duration_s", with = "as_seconds")]
        duration: Duration,
        /// How arrivals are spaced.
        arrivals: Arrivals,
    },
    /// An open loop whose rate follows the stages.
    RampingArrivalRate {
        /// Iterations a second at the start of the window.
        start_rate_rps: f64,
        /// Each goes linearly from the target of the one before to its own.
        stages: Vec<Stage>,
        /// How arrivals are spaced.
        arrivals: Arrivals,
    },
}

/// A straight line to `target` (users, or iterations a second) within `duration`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// How long it takes; zero is a step.
    #[serde(rename = "duration_s", with = "as_seconds")]
    pub duration: Duration,
    /// Where it ends.
    pub target: f64,
}

/// Serialises durations as seconds.
mod as_seconds {
    use std::time::Duration;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(duration.as_secs_f64())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(Error::custom)
    }
}

/// How the arrivals of an open loop are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Uniform,
    /// As a Poisson process: independent of each other, like independent users.
    Poisson,
}

impl Executor {
    /// Its name in k6.
    pub fn name(&self) -> &'static str {
        match self {
            Executor::ConstantVus { .. } => "constant-vus",
            Executor::RampingVus { .. } => "ramping-vus",
            Executor::PerVuIterations { .. } => "per-vu-iterations",
            Executor::SharedIterations { .. } => "shared-iterations",
            Executor::ConstantArrivalRate { .. } => "constant-arrival-rate",
            Executor::RampingArrivalRate { .. } => "ramping-arrival-rate",
        }
    }

    /// Largest number of virtual users at a time; 0 in an open loop, which has a pool of connections instead.
    pub fn vus(&self) -> u32 {
        match self {
            Executor::ConstantVus { vus, .. }
            | Executor::PerVuIterations { vus, .. }
            | Executor::SharedIterations { vus, .. } => *vus,
            Executor::RampingVus { start_vus, stages } => {
                stages.iter().map(|stage| stage.target as u32).fold(*start_vus, u32::max)
            }
            Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. } => 0,
        }
    }

    /// Whether it is an open loop: iterations start by the clock.
    pub fn is_open(&self) -> bool {
        matches!(self, Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. })
    }

    /// Highest arrival rate of an open loop; 0 in a closed loop.
    pub fn most_rps(&self) -> f64 {
        match self {
            Executor::ConstantArrivalRate { rate_rps, .. } => *rate_rps,
            Executor::RampingArrivalRate { start_rate_rps, stages, .. } => {
                stages.iter().map(|stage| stage.target).fold(*start_rate_rps, f64::max)
            }
            _ => 0.0,
        }
    }

    /// Length of the measured window; with a number of iterations, its upper limit.
    pub fn window(&self) -> Duration {
        match self {
            Executor::ConstantVus { duration, .. } | Executor::ConstantArrivalRate { duration, .. } => *duration,
            Executor::PerVuIterations { max_duration, .. } | Executor::SharedIterations { max_duration, .. } => {
                *max_duration
            }
            Executor::RampingVus { stages, .. } | Executor::RampingArrivalRate { stages, .. } => {
                stages.iter().fold(Duration::ZERO, |sum, stage| sum.saturating_add(stage.duration))
            }
        }
    }
}

/// Pause of a virtual user between two iterations, drawn uniformly from this range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThinkTime {
    /// Shortest.
    pub least: Duration,
    /// Longest; equal to `least` for a constant pause.
    pub most: Duration,
}

impl ThinkTime {
    /// No pause.
    pub const NONE: ThinkTime = ThinkTime { least: Duration::ZERO, most: Duration::ZERO };
}

/// What happens to an arrival that finds no free connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pool {
    /// It queues until one of this many connections is free. The wait is part of the response time.
    Bounded(u32),
    /// It opens a new connection, up to this many; beyond that it waits.
    Unbounded {
        /// Most connections, or `None` for as many as the process may open.
        at_most: Option<u32>,
    },
}

/// The protocol on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Protocol {
    /// HTTP/1.1: one request at a time.
    #[default]
    Http1,
    /// HTTP/1.1 with pipelining: several requests in line on a connection (RFC 9112 §9.3.2).
    Pipelined {
        /// How many virtual users, or places of the pool, share a connection. Each has one request at a time; at least 1.
        requests_in_flight: u32,
    },
    /// HTTP/2. For `http://` without negotiation (prior knowledge); for `https://` only if the target selects it in the handshake.
    Http2 {
        /// How many virtual users, or places of the pool, share a connection. Each has one request at a time; at least 1.
        streams_per_connection: u32,
    },
}

impl Protocol {
    /// Virtual users, or places of the pool, that share a connection.
    pub fn users_per_connection(self) -> u32 {
        match self {
            Protocol::Http1 => 1,
            Protocol::Pipelined { requests_in_flight } => requests_in_flight,
            Protocol::Http2 { streams_per_connection } => streams_per_connection,
        }
    }
}

/// How long a connection lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionPolicy {
    /// As long as the target keeps it open.
    KeepAlive,
    /// For one request, sent with `Connection: close`.
    PerRequest,
    /// For this many requests; the last is sent with `Connection: close`.
    #[serde(untagged)]
    Requests {
        /// At least 1.
        requests_per_connection: u32,
    },
}

impl ConnectionPolicy {
    /// Requests after which a connection is closed, or `None` if it never is.
    pub fn requests_per_connection(self) -> Option<u32> {
        match self {
            ConnectionPolicy::KeepAlive => None,
            ConnectionPolicy::PerRequest => Some(1),
            ConnectionPolicy::Requests { requests_per_connection } => Some(requests_per_connection),
        }
    }
}

/// The local addresses of connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sources {
    /// The system chooses.
    System,
    /// For a loopback target whose connections are closed again: 127.0.0.1 to 127.0.0.N in rotation, once the system runs out of local
    /// ports. Otherwise the system chooses.
    Rotated(u8),
    /// These addresses in rotation.
    Listed(Vec<std::net::IpAddr>),
}

impl Sources {
    /// 32 addresses hold 900,000 ports in the default range.
    pub const DEFAULT_ADDRESSES: u8 = 32;
}

/// How an `https://` target proves its identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// Whether its certificate must be trusted and match its name. Without this, any server may answer in its place. The handshake costs
    /// the same, except for the check of the issuers.
    pub verify: bool,
    /// A PEM file with the only certificates to trust, instead of the machine's store: authorities, or the target's own certificate.
    pub ca_file: Option<PathBuf>,
    /// The name to request and to match with the certificate, or `None` for the URL's host.
    pub server_name: Option<String>,
}

impl Default for Tls {
    fn default() -> Tls {
        Tls { verify: true, ca_file: None, server_name: None }
    }
}

/// Settings of the engine itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generator {
    /// Threads, each with a share of users, connections and arrivals.
    pub threads: u32,
    /// CPUs to pin the threads to, in turn; if empty, the system chooses.
    pub cpus: Vec<u32>,
    /// How a thread waits for a planned instant, or `None` for the executor's default.
    pub timer: Option<Timer>,
    /// Congestion control of the engine's sockets, or `None` for the system's.
    pub congestion_control: Option<String>,
    /// A Unix socket to use instead of TCP to the target's host and port.
    pub unix_socket: Option<PathBuf>,
}

impl Default for Generator {
    fn default() -> Generator {
        Generator { threads: 1, cpus: Vec::new(), timer: None, congestion_control: None, unix_socket: None }
    }
}

/// How a thread waits for a planned instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// The kernel wakes it. Late by the cost of a wake-up (5 to 50 µs), and cheap.
    Sleep,
    /// The kernel wakes it a little early, and it polls the clock for the rest. Late by less than a microsecond. The margin follows the
    /// cost of a wake-up, up to a third of the time between two instants.
    Hybrid,
    /// It never sleeps: uses a whole CPU at any rate.
    Spin,
}

impl Options {
    /// The effective timer: hybrid in an open loop, sleep in a closed loop.
    pub fn timer(&self) -> Timer {
        self.generator.timer.unwrap_or(if self.executor.is_open() { Timer::Hybrid } else { Timer::Sleep })
    }
}

/// A day: a longer phase is a mistake.
const LONGEST_PHASE: Duration = Duration::from_secs(24 * 3600);

/// More than any machine has ports and memory for.
const MOST_VUS: f64 = 1e6;

const MOST_RPS: f64 = 1e7;

/// Most parts in a mix.
const MOST_PARTS: usize = 64;

impl Options {
    /// Rejects options that contradict each other, with the reason.
    pub(crate) fn check(&self) -> Result<(), LoadError> {
        self.check_for(self.generator.threads)
    }

    /// The same for this many threads in total, on any number of machines.
    pub(crate) fn check_for(&self, threads: u32) -> Result<(), LoadError> {
        self.check_executor()?;
        self.check_times()?;
        self.check_requests()?;
        let generator = &self.generator;
        if threads == 0 {
            return refuse("threads", "a run needs at least 1 thread");
        }
        let (places, option) = match (self.executor.is_open(), self.pool) {
            (false, _) => (self.executor.vus(), "vus"),
            (true, Pool::Bounded(connections)) => (connections, "pool"),
            (true, Pool::Unbounded { at_most }) => (at_most.unwrap_or(u32::MAX), "pool"),
        };
        if places < threads {
            return refuse(option, "each thread needs at least one connection; use fewer threads or more connections");
        }
        if self.connection.requests_per_connection() == Some(0) {
            return refuse("requests-per-connection", "a connection carries at least 1 request");
        }
        self.check_pace()?;
        self.check_protocol()?;
        if self.tls != Tls::default() && !self.target.is_secure() {
            return refuse("tls", "the target is not encrypted; its URL must begin with https://");
        }
        if generator.unix_socket.is_some() && (self.target.is_secure() || matches!(self.sources, Sources::Listed(_))) {
            return refuse("unix-socket", "a socket in the file system has neither TLS nor source addresses");
        }
        Ok(())
    }

    /// Rejects what shared connections cannot do: several users share a socket, and a frame or a head separates two bodies.
    fn check_protocol(&self) -> Result<(), LoadError> {
        let is_pipelined = match self.protocol {
            Protocol::Http1 => return Ok(()),
            Protocol::Pipelined { .. } => true,
            Protocol::Http2 { .. } => false,
        };
        let (option, what) = if is_pipelined { ("pipeline", "pipelining") } else { ("streams", "HTTP/2") };
        if self.protocol.users_per_connection() == 0 {
            return refuse(option, "a connection carries at least 1 request at a time");
        }
        if is_pipelined && self.connection != ConnectionPolicy::KeepAlive {
            return refuse(
                option,
                "requests stand in line on a connection that stays open, so each has none of its own",
            );
        }
        if self.pace != Pace::default() {
            let reason = format!("with {what} several requests share a connection, whose pace none of them has alone");
            return refuse("read-rate", &reason);
        }
        if self.requests.iter().any(|request| matches!(request.expect.body, ExpectBody::Discard { .. })) {
            let reason = format!(
                "with {what} other bytes come behind a body, which the kernel would throw away with it; \
                 without it bodies are counted and not compared"
            );
            return refuse("discard", &reason);
        }
        Ok(())
    }

    fn check_executor(&self) -> Result<(), LoadError> {
        let open = self.executor.is_open();
        if !open && self.executor.vus() == 0 {
            return refuse("vus", "a run needs at least 1 virtual user");
        }
        if self.executor.window().is_zero() {
            return refuse("duration", "the window must be longer than 0 s");
        }
        if open && self.think_time != ThinkTime::NONE {
            return refuse("think", "arrivals by the clock wait for no user; a pause of the users changes nothing");
        }
        let rates: Vec<f64> = match &self.executor {
            Executor::PerVuIterations { iterations: 0, .. } | Executor::SharedIterations { iterations: 0, .. } => {
                return refuse("iterations", "a run needs at least 1 iteration");
            }
            Executor::ConstantArrivalRate { rate_rps, .. } => vec![*rate_rps],
            Executor::RampingArrivalRate { start_rate_rps, stages, .. } => {
                stages.iter().map(|stage| stage.target).chain([*start_rate_rps]).collect()
            }
            Executor::RampingVus { stages, .. } => {
                let possible = |stage: &Stage| (0.0..=MOST_VUS).contains(&stage.target);
                if !stages.iter().all(possible) {
                    return refuse("stage", "users are a number from 0 to a million");
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        if !rates.iter().all(|rate| (0.0..=MOST_RPS).contains(rate)) {
            return refuse("rate", "a rate is a number from 0 to 10 million a second");
        }
        if !rates.iter().any(|rate| *rate > 0.0) {
            return refuse("rate", "the rate must be more than 0 at some time");
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), LoadError> {
        if self.timeout.is_zero() || self.connect_timeout.is_zero() {
            return refuse("timeout", "no answer comes within 0 s");
        }
        // The engine's sums of instants saturate, so this bound is for plausibility, not for safety.
        if self.warm_up > LONGEST_PHASE || self.executor.window() > LONGEST_PHASE {
            return refuse("duration", "a phase may not be longer than a day");
        }
        if self.think_time.least > self.think_time.most || self.think_time.most > LONGEST_PHASE {
            return refuse("think", "the shortest pause comes first, and none is longer than a day");
        }
        Ok(())
    }

    fn check_requests(&self) -> Result<(), LoadError> {
        let weights: u64 = self.requests.iter().map(|request| u64::from(request.weight)).sum();
        if weights == 0 || weights > 1_000_000 {
            return refuse("request", "at least one request with a weight is needed, and at most a million in all");
        }
        if parts(&self.requests).len() > MOST_PARTS {
            return refuse("request", "requests have at most 64 parts, because each has a histogram of its own");
        }
        Ok(())
    }
}

fn refuse<T>(option: &'static str, reason: &str) -> Result<T, LoadError> {
    Err(LoadError::Option { option, reason: reason.to_owned() })
}
