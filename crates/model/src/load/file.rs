//! `load` of a scenario, as written.
//!
//! One table has the keys of all executors, so that a misplaced key gets a specific message.

use serde::Deserialize;

use crate::JsonSchema;
use crate::load::profile::{Arrivals, Pool};
use crate::reading::kinds::read_kinds;
use crate::reading::several::Several;
use crate::reading::table::{Spanned, Table};
use crate::units::{ByteRate, Percent, Rate, Seconds};

/// `load` of a scenario. Each executor has its own keys; all share those from `warmup` to `write-rate`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoadFile {
    /// The executor, by k6's name.
    // Read as text, so that k6's one executor without an equivalent here gets a specific message.
    #[schemars(with = "ExecutorName")]
    pub executor: Option<Spanned<String>>,
    /// Virtual users, one number or several: `constant-vus`, `per-vu-iterations`, `shared-iterations`.
    #[schemars(with = "Option<Several<VirtualUsers>>")]
    pub vus: Option<Spanned<Several<u32>>>,
    /// Virtual users at the start: `ramping-vus`. Default 0.
    #[schemars(range(max = crate::load::reading::MOST_CONNECTIONS))]
    pub start_vus: Option<Spanned<u32>>,
    /// Requests per second, one rate or several: `constant-arrival-rate`.
    pub rate: Option<Spanned<Several<Rate>>>,
    /// Requests per second at the start: `ramping-arrival-rate`. Default 0.
    pub start_rate: Option<Spanned<Rate>>,
    /// Each stage is a straight line from the end of the previous one to its target: `ramping-vus`,
    /// `ramping-arrival-rate`.
    #[schemars(length(min = 1))]
    pub stages: Option<Spanned<Vec<Table<StageFile>>>>,
    /// Requests, per user (`per-vu-iterations`) or in total (`shared-iterations`).
    #[schemars(range(min = 1))]
    pub iterations: Option<Spanned<u64>>,
    /// Length of the measured window: `constant-vus`, `constant-arrival-rate`.
    pub duration: Option<Spanned<Seconds>>,
    /// Maximum length of the window, even if requests are left: `per-vu-iterations`, `shared-iterations`.
    pub max_duration: Option<Spanned<Seconds>>,
    /// How arrivals are spaced: `constant-arrival-rate`, `ramping-arrival-rate`. Default `uniform`.
    pub arrivals: Option<Spanned<Arrivals>>,
    /// Connections for arrivals, or `unbounded`: `constant-arrival-rate`, `ramping-arrival-rate`. Default 64.
    pub pool: Option<Spanned<PoolFile>>,
    /// Pause of a virtual user after each request: one duration, or the shortest and the longest. Closed loops only.
    /// Default none.
    pub think_time: Option<Spanned<Several<Seconds>>>,
    /// Length of the discarded load before the window. Default: a fifth of the window, at least `300ms`; `1s` with
    /// `iterations`; `0s` for a ramp that begins at 0.
    pub warmup: Option<Seconds>,
    /// How long a connection lives. Default `keep-alive`.
    pub connection: Option<Spanned<ConnectionWord>>,
    /// Close each connection after this number of requests.
    #[schemars(range(min = 1))]
    pub requests_per_connection: Option<Spanned<u32>>,
    /// Over HTTP/2: virtual users, or pool connections, that share a connection, each with one request at a time.
    /// Default 1.
    #[schemars(range(min = 1))]
    pub streams: Option<Spanned<u32>>,
    /// A request without a response fails after this time. Default `10s`.
    pub timeout: Option<Spanned<Seconds>>,
    /// The highest rate at which each connection is read, as over a slow link; with `tool = "tolok"` only. Default no
    /// limit.
    pub read_rate: Option<ByteRate>,
    /// The highest rate at which each connection is written; with `tool = "tolok"` only. Default no limit.
    pub write_rate: Option<ByteRate>,
    /// The share of virtual users that `read-rate` and `write-rate` slow down: `constant-vus`, `ramping-vus`. Cases are
    /// compared by the other users. Default all.
    pub slow_share: Option<Spanned<Percent>>,
}

/// One stage of a ramp.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StageFile {
    /// Virtual users, or a rate, at its end.
    #[schemars(with = "Rate")]
    pub target: Option<Spanned<Rate>>,
    /// How long it takes; `0s` is a jump.
    #[schemars(with = "Seconds")]
    pub duration: Option<Spanned<Seconds>>,
}

/// The executors that a study can name.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is used; the value is read as text")]
pub enum ExecutorName {
    /// A closed loop with a constant number of virtual users.
    ConstantVus,
    /// A closed loop whose number of virtual users follows the stages.
    RampingVus,
    /// A closed loop in which each virtual user sends a fixed number of requests.
    PerVuIterations,
    /// A closed loop whose virtual users share a fixed number of requests.
    SharedIterations,
    /// An open loop: requests start by the clock.
    ConstantArrivalRate,
    /// An open loop whose rate follows the stages.
    RampingArrivalRate,
}

/// A number of virtual users.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used; the value is read as a number")]
pub struct VirtualUsers(#[schemars(range(min = 1, max = crate::load::reading::MOST_CONNECTIONS))] u32);

/// How long a connection lives, as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionWord {
    /// As long as the server allows.
    KeepAlive,
    /// Each request opens a connection of its own.
    PerRequest,
}

/// A number of connections, or `unbounded`.
#[derive(Debug, Clone, Copy)]
pub struct PoolFile(pub Pool);

pub(crate) const POOL: &str = "a number of connections, or \"unbounded\"";

read_kinds!(PoolFile, POOL,
    visit_i64(number: i64) u32::try_from(number).ok().map(|number| PoolFile(Pool::Bounded(number)));
    visit_str(text: &str) (text == "unbounded").then_some(PoolFile(Pool::Unbounded));
);
