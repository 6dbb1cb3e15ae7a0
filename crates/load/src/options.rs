//! The options of a load run. Input becomes types here, once; the engine trusts them.

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

/// Everything that decides how a run goes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Options {
    /// Where the requests go.
    pub target: Target,
    /// What is sent; at least one.
    pub requests: Vec<Request>,
    /// How an iteration is made of the requests.
    pub mix: Mix,
    /// Values that requests are filled with.
    #[serde(with = "written::data")]
    pub data: Option<Arc<Data>>,
    /// When iterations start.
    pub executor: Executor,
    /// Pause of a virtual user after each iteration. Not for executors with arrivals by the clock.
    pub think_time: ThinkTime,
    /// Load before the window whose requests are discarded. Zero for none.
    pub warm_up: Duration,
    /// Connections of the executors with arrivals by the clock; with the others every virtual user has one.
    pub pool: Pool,
    /// What is spoken on a connection.
    pub protocol: Protocol,
    /// How long a connection lives.
    pub connection: ConnectionPolicy,
    /// Deadline of one request, from the moment the engine acts on it, connecting included.
    pub timeout: Duration,
    /// Deadline for establishing a connection, with TLS its handshake included.
    pub connect_timeout: Duration,
    /// How long requests in flight at the end of the window, and arrivals that still wait for a connection, may take to
    /// finish; by default the request timeout, capped at [`Options::GRACE_CAP`].
    pub grace: Option<Duration>,
    /// Where connections come from.
    pub sources: Sources,
    /// Clients that read or write slowly.
    pub pace: Pace,
    /// An answer with a longer body is malformed. Only matters where the length is not known in advance.
    pub body_limit_bytes: u64,
    /// How an `https://` target proves who it is.
    pub tls: Tls,
    /// The engine's own threads and how they wait.
    pub generator: Generator,
    /// Whether each second of the timeline keeps its three histograms, which is nearly all of its memory: some ten to thirty kilobytes
    /// a second. Without them a run may last for days; the histograms of the whole are there either way.
    pub second_histograms: bool,
    /// Seeds what is drawn at random: Poisson arrivals, the choice between weighted requests, think times.
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

    /// The grace period in force.
    pub fn grace_period(&self) -> Duration {
        self.grace.unwrap_or_else(|| self.timeout.min(Options::GRACE_CAP))
    }
}

/// How an iteration is made of several requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mix {
    /// An iteration is one request, drawn at random by the weights.
    #[default]
    Weighted,
    /// An iteration is all of them in order, one after the other on the same connection.
    Sequence,
}

/// When iterations start. The names and their meaning are k6's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "executor", rename_all = "kebab-case")]
pub enum Executor {
    /// A fixed number of virtual users, each starting its next iteration as soon as it has finished one: a closed loop.
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
        /// Each goes linearly from where the one before it ended to its target.
        stages: Vec<Stage>,
    },
    /// Each of the users does a fixed number of iterations, however long each takes.
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
        /// How many iterations all together.
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
        /// How they are spaced.
        arrivals: Arrivals,
    },
    /// An open loop whose rate follows the stages.
    RampingArrivalRate {
        /// Iterations a second at the start of the window.
        start_rate_rps: f64,
        /// Each goes linearly from where the one before it ended to its target.
        stages: Vec<Stage>,
        /// How they are spaced.
        arrivals: Arrivals,
    },
}

/// A straight line: to `target` (users, or iterations a second) within `duration`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// How long it takes; zero is a jump.
    #[serde(rename = "duration_s", with = "as_seconds")]
    pub duration: Duration,
    /// Where it ends.
    pub target: f64,
}

/// Durations as seconds.
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

/// How arrivals by the clock are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Uniform,
    /// As a Poisson process: independently of each other, as independent users do.
    Poisson,
}

impl Executor {
    /// k6's name.
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

    /// Largest number of virtual users at a time; 0 for arrivals by the clock, which have a pool of connections instead.
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

    /// Whether iterations start by the clock.
    pub fn is_open(&self) -> bool {
        matches!(self, Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. })
    }

    /// Highest rate of arrivals by the clock; 0 in a closed loop.
    pub fn most_rps(&self) -> f64 {
        match self {
            Executor::ConstantArrivalRate { rate_rps, .. } => *rate_rps,
            Executor::RampingArrivalRate { start_rate_rps, stages, .. } => {
                stages.iter().map(|stage| stage.target).fold(*start_rate_rps, f64::max)
            }
            _ => 0.0,
        }
    }

    /// Length of the measured window; with a number of iterations, the longest it may become.
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

/// Pause of a virtual user between two iterations: drawn evenly from this range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThinkTime {
    /// Shortest.
    pub least: Duration,
    /// Longest; equal to `least` for a pause that is always the same.
    pub most: Duration,
}

impl ThinkTime {
    /// No pause.
    pub const NONE: ThinkTime = ThinkTime { least: Duration::ZERO, most: Duration::ZERO };
}

/// What happens to an arrival that finds no free connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pool {
    /// It waits in a queue until one of this many connections is free. The wait is part of the response time.
    Bounded(u32),
    /// A new connection is opened for it, up to this many; beyond that it waits.
    Unbounded {
        /// Most connections, or `None` for as many as the process may open.
        at_most: Option<u32>,
    },
}

/// What is spoken on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Protocol {
    /// HTTP/1.1: one request at a time.
    #[default]
    Http1,
    /// HTTP/1.1 with several requests in line on a connection (RFC 9112 §9.3.2).
    Pipelined {
        /// How many virtual users, or places of the pool, share a connection, each with one request at a time; at least 1.
        requests_in_flight: u32,
    },
    /// HTTP/2: towards `http://` without asking whether the target speaks it, towards `https://` if the target chooses it in
    /// the handshake.
    Http2 {
        /// How many virtual users, or places of the pool, share a connection, each with one request at a time; at least 1.
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
    /// As long as the target lets it.
    KeepAlive,
    /// For one request, sent with `Connection: close`.
    PerRequest,
    /// For this many requests, the last of them sent with `Connection: close`.
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

/// The local ends of connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sources {
    /// The system chooses.
    System,
    /// Towards a target on the loopback whose connections are closed again, 127.0.0.1 to 127.0.0.N in turn, so that the
    /// local ports of one address never run out; otherwise the system chooses.
    Rotated(u8),
    /// These addresses in turn.
    Listed(Vec<std::net::IpAddr>),
}

impl Sources {
    /// 32 addresses hold 900,000 ports in the default range.
    pub const DEFAULT_ADDRESSES: u8 = 32;
}

/// How an `https://` target proves who it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// Its certificate must be trusted and be for its name. Without that, any server may answer in its place; the handshake
    /// costs the same but for looking at the certificate's issuers.
    pub verify: bool,
    /// A PEM file of the only certificates to trust, instead of the machine's store: authorities, or the target's own.
    pub ca_file: Option<PathBuf>,
    /// The name that is requested and that the certificate must be for, or `None` for the URL's host.
    pub server_name: Option<String>,
}

impl Default for Tls {
    fn default() -> Tls {
        Tls { verify: true, ca_file: None, server_name: None }
    }
}

/// The engine's own side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generator {
    /// Threads, each with a share of users, connections and arrivals.
    pub threads: u32,
    /// CPUs that the threads are pinned to in turn; none leaves them to the system.
    pub cpus: Vec<u32>,
    /// How a thread waits for a planned instant, or `None` to choose by the executor.
    pub timer: Option<Timer>,
    /// Congestion control of the engine's sockets, or `None` for the system's.
    pub congestion_control: Option<String>,
    /// Instead of TCP to the target's host and port: a socket in the file system.
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
    /// The kernel wakes it: late by the price of a wake-up (5 to 50 µs), and cheap.
    Sleep,
    /// The kernel wakes it a little too early and it looks at the clock for the rest: late by less than a microsecond. How much too
    /// early follows what waking up takes, up to a third of the time between two instants.
    Hybrid,
    /// It never sleeps: a whole CPU, whatever the rate.
    Spin,
}

impl Options {
    /// The timer in force: hybrid where requests start by the clock, sleep where they start by answers.
    pub fn timer(&self) -> Timer {
        self.generator.timer.unwrap_or(if self.executor.is_open() { Timer::Hybrid } else { Timer::Sleep })
    }
}

/// A day: longer phases are a slip of the pen.
const LONGEST_PHASE: Duration = Duration::from_secs(24 * 3600);

/// More than any machine has ports and memory for.
const MOST_VUS: f64 = 1e6;

const MOST_RPS: f64 = 1e7;

/// Most parts of a mix.
const MOST_PARTS: usize = 64;

impl Options {
    /// Refuses options that contradict themselves, with the reason.
    pub(crate) fn check(&self) -> Result<(), LoadError> {
        self.check_for(self.generator.threads)
    }

    /// The same for so many threads in all, on however many machines.
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

    /// What shared connections have no room for: users share a socket, and between two bodies comes a frame, or a head.
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
        // The sums of instants in the engine saturate, so that this bound is one of sense rather than of safety.
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
