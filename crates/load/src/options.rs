//! What a load run is asked to do. Input becomes types here, once; the engine trusts them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::LoadError;
use crate::target::Target;

/// Everything that decides how a run goes.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the requests go.
    pub target: Target,
    /// What is sent.
    pub method: Method,
    /// Additional request headers; `Host` and `Connection` are the engine's own.
    pub headers: Vec<(String, String)>,
    /// When requests start.
    pub executor: Executor,
    /// Load before the window whose requests are discarded. Zero for none.
    pub warm_up: Duration,
    /// Keep-alive or a connection per request.
    pub connection: ConnectionPolicy,
    /// What a good answer is.
    pub expect: Expect,
    /// Deadline of one request, from the moment the engine acts on it, connecting included.
    pub timeout: Duration,
    /// Deadline for establishing a connection.
    pub connect_timeout: Duration,
    /// How long requests in flight at the end of the window may take to finish; by default the request timeout, capped at
    /// [`Options::GRACE_CAP`].
    pub grace: Option<Duration>,
    /// With a connection per request and a target on the loopback, connections come from 127.0.0.1 to 127.0.0.N in turn,
    /// so that the local ports of one address never run out. 0 leaves the choice to the system.
    pub source_addresses: u8,
    /// An answer with a longer body is malformed. Only matters where the body is not compared.
    pub body_limit_bytes: u64,
}

impl Options {
    /// Longest default grace period.
    pub const GRACE_CAP: Duration = Duration::from_secs(5);

    /// Options for a URL such as `http://127.0.0.1:8080/hello`: 1 virtual user for 10 s, keep-alive, any 2xx is good.
    pub fn new(url: &str) -> Result<Options, LoadError> {
        Ok(Options {
            target: Target::parse(url)?,
            method: Method::Get,
            headers: Vec::new(),
            executor: Executor::ConstantVus { vus: 1, duration: Duration::from_secs(10) },
            warm_up: Duration::ZERO,
            connection: ConnectionPolicy::KeepAlive,
            expect: Expect { status: ExpectStatus::Success, body: ExpectBody::Anything },
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            grace: None,
            source_addresses: 32,
            body_limit_bytes: 1 << 30,
        })
    }

    /// The grace period in force.
    pub fn grace_period(&self) -> Duration {
        self.grace.unwrap_or_else(|| self.timeout.min(Options::GRACE_CAP))
    }
}

/// Request methods of the workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The answer has a body.
    Get,
    /// The answer has a head only; an expected body is not compared.
    Head,
}

impl Method {
    /// As it stands in the request line.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
        }
    }
}

/// When requests start. The names are k6's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executor {
    /// A fixed number of virtual users, each sending its next request as soon as it has an answer: a closed loop.
    ConstantVus {
        /// How many.
        vus: u32,
        /// Length of the measured window.
        duration: Duration,
    },
}

impl Executor {
    /// k6's name.
    pub fn name(&self) -> &'static str {
        match self {
            Executor::ConstantVus { .. } => "constant-vus",
        }
    }

    /// Number of virtual users.
    pub fn vus(&self) -> u32 {
        match self {
            Executor::ConstantVus { vus, .. } => *vus,
        }
    }

    /// Length of the measured window.
    pub fn window(&self) -> Duration {
        match self {
            Executor::ConstantVus { duration, .. } => *duration,
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
}

/// What a good answer is.
#[derive(Debug, Clone)]
pub struct Expect {
    /// Its status.
    pub status: ExpectStatus,
    /// Its body.
    pub body: ExpectBody,
}

/// Which statuses are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectStatus {
    /// Any 2xx.
    Success,
    /// This one only.
    Exactly(u16),
}

impl ExpectStatus {
    /// Whether an answer with this status is good.
    pub fn accepts(self, status: u16) -> bool {
        match self {
            ExpectStatus::Success => (200..300).contains(&status),
            ExpectStatus::Exactly(expected) => status == expected,
        }
    }
}

/// Which bodies are good.
#[derive(Debug, Clone)]
pub enum ExpectBody {
    /// Any body within the limit; its bytes are counted and dropped.
    Anything,
    /// These bytes, all of them, each compared while it streams in.
    Exactly(Vec<u8>),
}
