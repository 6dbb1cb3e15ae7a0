//! The record of one load run: what the engine returns, and its JSON.
//!
//! Every quantity has its unit at the end of its name. Histograms are whole (base64 of the HdrHistogram V2 encoding, values in
//! nanoseconds), so every figure here can be recomputed and runs can be merged. Readers must refuse an unknown `format`: see
//! [`Record::FORMAT`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fault::ErrorClass;
use crate::generators::clocks::ClockOffset;
use crate::options::{ConnectionPolicy, DataOrder, Executor, Mix, Timer};
use crate::schedule::Phase;
use crate::threshold::Judged;
use crate::verdict::Verdict;

/// What happened in one load run.
///
/// ```text
/// response time = queue time + lateness + (connecting, if a connection had to be opened) + service time
///                 ^ intended start        ^ the engine acts on it                          ^ first byte handed to the kernel
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of this format; see [`Record::FORMAT`].
    pub format: u32,
    /// Name and version of the engine, such as `tolok-load 0.1.0`.
    pub engine: String,
    /// The requested load.
    pub plan: PlanSummary,
    /// The run was stopped from outside before its planned end.
    pub interrupted: bool,
    /// Seconds of warm-up that took place before the window.
    pub warm_up_s: f64,
    /// Length of the measured window as it really was (shorter than planned when the run was `interrupted` or `aborted`, or out of iterations).
    pub window_s: f64,
    /// Start of the window on `CLOCK_MONOTONIC`, which every process of the machine shares.
    pub window_start_monotonic_ns: u64,
    /// End of the window on `CLOCK_MONOTONIC`.
    pub window_end_monotonic_ns: u64,
    /// Valid answers per second that the target gave in the window: `(ledger.good + warm_up.carried_over_good) /
    /// window_s`; null when there was no window at all. Answers to requests of the warm-up are the target's work in the
    /// window as well; without them the rate of slow targets would be too low by up to one answer a connection.
    pub goodput_rps: Option<f64>,
    /// When the last correct response of the window came, in seconds after the window's start, whichever phase its request was
    /// sent in; null if none came. Tells a target that fell silent in the midst of the window from one that is slow.
    pub last_good_s: Option<f64>,
    /// Requests per second that the schedule planned in the window; null in a closed loop, which has no rate of its own.
    pub offered_rps: Option<f64>,
    /// Whether these figures can be trusted, and if not, why.
    pub verdict: Verdict,
    /// The thresholds that were set, and what became of them.
    pub thresholds: Vec<Judged>,
    /// The run was ended because a threshold was crossed.
    pub aborted: bool,
    /// Account of every request of the window.
    pub ledger: Ledger,
    /// Account of the requests of the warm-up, none of which is in `ledger`.
    pub warm_up: WarmUpLedger,
    /// What became of the requests that were in flight, or not yet sent, when the window ended.
    pub drain: Drain,
    /// Every request of the run, whichever phase it belongs to.
    pub whole_run: WholeRun,
    /// Correct responses to requests of the window, drain included: from the intended start to the last byte.
    pub response_time: Distribution,
    /// The same answers: from the moment the request was first handed to the kernel to the last byte.
    pub service_time: Distribution,
    /// Every request sent: how long the engine took to act on it once it could (its planned instant had come and, in a
    /// bounded pool, a connection was free). A large lateness means that the generator, not the target, was the limit.
    pub lateness: Distribution,
    /// Arrivals that found no free connection in a bounded pool: how long they waited for one. Part of the response time.
    pub queue_time: Distribution,
    /// Good and bad answers: from the moment the request was first handed to the kernel to the first byte of the answer.
    pub time_to_first_byte: Distribution,
    /// Open loops: the answers of `response_time` without the lateness of their own requests. A quantile of `response_time` that is more
    /// than 5% larger is the generator's as much as the target's; `verdict.doubted` names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub punctual_time: Option<Distribution>,
    /// Failed requests of the window, drain included: from the intended start to the failure.
    pub failure_time: Distribution,
    /// Requests of the window that had neither answer nor failure when the run ended, sent or not: from the intended start to then.
    /// Their response times are longer. In an open loop the quantiles of `response_time` heed them; in a closed loop they are at most
    /// one a user. Absent without such requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unanswered_time: Option<Distribution>,
    /// Time to establish a connection, over the whole run, warm-up included; with TLS until its handshake is over.
    pub connect_time: Distribution,
    /// The parts of the mix, where requests say what they are a part of. `sent` adds up to `ledger.sent + drain.sent`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartRecord>,
    /// Fast and slow clients apart, where only a share of them is slow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<ClientRecords>,
    /// Requests in flight, on average over the window.
    pub in_flight_mean: Option<f64>,
    /// Users without a request in flight, on average over the window; absent unless they are constant in number and never pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_users_mean: Option<f64>,
    /// Most arrivals that waited for a connection at a time in the window.
    pub queue_max: u64,
    /// One row a second, warm-up first. Rows with phase `measure` add up to the ledger.
    pub timeline: Vec<SecondRow>,
    /// Connections over the whole run.
    pub connections: Connections,
    /// Bytes received inside the window, heads included; with HTTP/2 as they were on the connection, frames and all.
    pub received_bytes: u64,
    /// Bytes sent inside the window, heads included.
    pub sent_bytes: u64,
    /// The first error of each class seen anywhere in the run, warm-up and drain included.
    pub error_examples: Vec<ErrorExample>,
    /// CPU time the engine's threads spent in user mode inside the window.
    pub cpu_user_s: f64,
    /// CPU time the engine's threads spent in the kernel inside the window.
    pub cpu_system_s: f64,
    /// Share of the window in which the busiest thread had work to do, waiting by looking at the clock not counted: 1.0
    /// means that it had no time left. Null without a window.
    pub generator_busy: Option<f64>,
    /// The engine's threads, one by one.
    pub generator: GeneratorSummary,
}

impl Record {
    /// The version written by this crate.
    pub const FORMAT: u32 = 2;
}

/// The requested load, as far as a reader of the record needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanSummary {
    /// The target as a URL.
    pub url: String,
    /// The socket address the host was resolved to.
    pub address: String,
    /// What is sent; empty if that is more than [`PlanSummary::MOST_REQUESTS`] kinds of requests.
    pub requests: Vec<RequestSummary>,
    /// How many kinds of requests there were.
    pub request_count: u64,
    /// Requests of an iteration: 1, or with [`Mix::Sequence`] the sum of the weights.
    pub iteration_requests: u64,
    /// How all answers' bodies were checked, in the words of [`RequestSummary::body_check`], or `mixed`.
    pub body_check: String,
    /// How an iteration is made of several requests.
    pub mix: Mix,
    /// What requests were filled with; absent without such values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataSummary>,
    /// Name of the executor, k6's words: `constant-vus`.
    pub executor: String,
    /// Its parameters.
    pub profile: Executor,
    /// `closed`: a slow answer delays the next request, so percentiles hold for this many users only. `open`: requests
    /// start by the clock, and the response time runs from the planned instant.
    pub loop_model: LoopModel,
    /// Largest number of virtual users; in an open loop the size of the pool, 0 for one without bounds.
    pub vus: u32,
    /// Whether arrivals open a new connection when none is free. False in a closed loop.
    pub pool_unbounded: bool,
    /// Shortest and longest pause of a virtual user after an iteration.
    pub think_time_s: [f64; 2],
    /// Planned warm-up.
    pub warm_up_s: f64,
    /// Planned window; with a number of iterations, the longest it could become.
    pub window_s: f64,
    /// Deadline of one request.
    pub timeout_s: f64,
    /// Deadline for establishing a connection.
    pub connect_timeout_s: f64,
    /// Longest wait for requests in flight when the window ended.
    pub grace_s: f64,
    /// `1.1` or `2`.
    pub http_version: String,
    /// With HTTP/2, how many users, or places of the pool, shared a connection at most; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams_per_connection: Option<u32>,
    /// With pipelining, the same; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<u32>,
    /// How long connections live.
    pub connection: ConnectionPolicy,
    /// Number of source addresses the connections were spread over; 0 when the system chose.
    pub source_addresses: u32,
    /// Whether connections were encrypted, and whether the target's certificate had to be a trusted one; null for http.
    pub tls_verified: Option<bool>,
    /// Congestion control of the engine's sockets; null where the target is no TCP socket or the system does not tell.
    pub congestion_control: Option<String>,
    /// Most bytes a second read of an answer; null for no limit.
    pub read_bytes_per_s: Option<u64>,
    /// Most bytes a second written of a request; null for no limit.
    pub write_bytes_per_s: Option<u64>,
    /// Virtual users whose limits those are, where others have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_users: Option<u32>,
    /// Length of the body every answer was compared with; null when bodies were not compared, or where
    /// requests differ in it.
    pub expected_body_bytes: Option<u64>,
    /// Seeds what was drawn at random.
    pub seed: u64,
}

impl PlanSummary {
    /// Most kinds of requests that are described one by one.
    pub const MOST_REQUESTS: usize = 20;
}

/// One kind of request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestSummary {
    /// Request method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Its weight among the others.
    pub weight: u32,
    /// Length of its body.
    pub body_bytes: u64,
    /// How answers' bodies were checked: `anything`, `length`, `exactly`, `json` or `discard`.
    pub body_check: String,
}

/// The values that requests were filled with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataSummary {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// How many rows there were.
    pub rows: u64,
    /// Which row came next.
    pub order: DataOrder,
}

/// The generator's own side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GeneratorSummary {
    /// How threads waited for planned instants.
    pub timer: Timer,
    /// Its threads.
    pub threads: Vec<ThreadSummary>,
    /// The machines that they ran on, each with as many, one machine after the other; absent where that was this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<GeneratorNode>,
}

/// A machine that generated load. Instants of a record are those of the clock of the machine that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorNode {
    /// Its name.
    pub name: String,
    /// How far its clock was off before the run.
    pub clock: ClockOffset,
    /// The same after the run.
    pub clock_after: ClockOffset,
}

/// One thread of the generator, inside the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThreadSummary {
    /// The CPU it was pinned to; null if it was not.
    pub cpu: Option<u32>,
    /// CPU time in user mode.
    pub cpu_user_s: f64,
    /// CPU time in the kernel.
    pub cpu_system_s: f64,
    /// Time it waited by looking at the clock, which is CPU time that no request needed.
    pub spin_s: f64,
    /// Time it was ready to run and did not, because something else had its CPU; null where the kernel does not tell.
    pub run_queue_wait_s: Option<f64>,
}

impl ThreadSummary {
    /// CPU time that requests needed: all but that of looking at the clock. A thread that looks at the clock while something else has
    /// its CPU takes no CPU time for that, so its waits are no part of what is taken off. Waits at other times make this too large,
    /// never too small.
    pub fn worked_s(&self) -> f64 {
        let cpu_s = self.cpu_user_s + self.cpu_system_s;
        let spun_s = (self.spin_s - self.run_queue_wait_s.unwrap_or_default()).max(0.0);
        (cpu_s - spun_s).max(0.0)
    }
}

/// Whether new requests wait for old answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopModel {
    /// A virtual user sends its next request when it has the answer to the last one.
    Closed,
    /// Requests start by the clock.
    Open,
}

/// Account of the requests whose intended start lay in the window, at the window's end. It closes to zero: see
/// [`Ledger::closes`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Requests that the schedule planned.
    pub scheduled: u64,
    /// Requests the engine acted on within the window; opening the connection, where one was needed, is part of the act.
    pub sent: u64,
    /// Requests that were due and still waited for a connection when the window ended.
    pub unsent: u64,
    /// Answers that were complete and as expected within the window.
    pub good: u64,
    /// Requests that failed within the window.
    pub failed: u64,
    /// The failures by class; a class that was not seen is absent.
    pub failed_by_class: BTreeMap<ErrorClass, u64>,
    /// Requests sent in the window without an outcome when it ended.
    pub in_flight_at_end: u64,
}

impl Ledger {
    /// Whether every request is accounted for: scheduled = sent + unsent, sent = good + failed + in flight, and the classes
    /// add up.
    pub fn closes(&self) -> bool {
        let by_class: u64 = self.failed_by_class.values().sum();
        self.scheduled == self.sent + self.unsent
            && self.failed == by_class
            && self.sent == self.good + self.failed + self.in_flight_at_end
    }

    /// Adds the account of another thread.
    pub(crate) fn add(&mut self, other: &Ledger) {
        self.scheduled += other.scheduled;
        self.sent += other.sent;
        self.unsent += other.unsent;
        self.good += other.good;
        self.failed += other.failed;
        for (class, count) in &other.failed_by_class {
            *self.failed_by_class.entry(*class).or_default() += count;
        }
        self.in_flight_at_end += other.in_flight_at_end;
    }
}

/// Adds the account of another thread, count by count.
macro_rules! sum_of_counts {
    ($account:ident: $($count:ident),+) => {
        impl $account {
            pub(crate) fn add(&mut self, other: &$account) {
                $(self.$count += other.$count;)+
            }
        }
    };
}

/// Account of the warm-up: `sent = good + failed + carried_over`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmUpLedger {
    /// Requests planned for before the window that the engine acted on.
    pub sent: u64,
    /// Correct responses before the window.
    pub good: u64,
    /// Failures before the window.
    pub failed: u64,
    /// Requests of the warm-up still in flight when the window started.
    pub carried_over: u64,
    /// Those of them that were answered as expected inside the window. They are in `goodput_rps`, as answers that the
    /// target gave in the window, and in no ledger and no histogram, as requests that were sent before it.
    pub carried_over_good: u64,
    /// Those of them that were still without an outcome when the window ended.
    pub carried_over_waiting: u64,
}

sum_of_counts!(WarmUpLedger: sent, good, failed, carried_over, carried_over_good, carried_over_waiting);

/// What became of the requests that were in flight or unsent when the window ended: `ledger.in_flight_at_end +
/// ledger.unsent = good + failed + abandoned + never_sent`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drain {
    /// Requests of the window sent within the grace period.
    pub sent: u64,
    /// Answered as expected within the grace period.
    pub good: u64,
    /// Failed within the grace period.
    pub failed: u64,
    /// Sent, and still without an outcome when the grace period was over.
    pub abandoned: u64,
    /// Still waiting for a connection when the grace period was over.
    pub never_sent: u64,
}

sum_of_counts!(Drain: sent, good, failed, abandoned, never_sent);

/// Account of the whole run, from its first request to the end of the grace period, for a count at the target. A target
/// that does each request once has done at least `good` and at most `sent`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholeRun {
    /// Requests of which at least a byte was handed to the kernel, whatever became of them.
    pub sent: u64,
    /// Those of them that were answered as expected, even if that was too late for the window.
    pub good: u64,
}

sum_of_counts!(WholeRun: sent, good);

/// One part of a mix: its requests of the window, those included that ended after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartRecord {
    /// Its name.
    pub part: String,
    /// Share of the requests that its weight asks for.
    pub asked_share: f64,
    /// Its share of the requests of all parts that were sent; null where none was.
    pub sent_share: Option<f64>,
    /// Requests sent.
    pub sent: u64,
    /// Correct responses, each judged by the rules of its own request.
    pub good: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Its correct responses. No separate instants are counted.
    pub response_time: Distribution,
}

/// The two sorts of clients. Their counts add up to those of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientRecords {
    /// Clients that read and write at once.
    pub fast: ClientRecord,
    /// Clients that read or write at the rates of the plan.
    pub slow: ClientRecord,
}

/// Clients of one sort: their requests of the window, those included that ended after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientRecord {
    /// Virtual users.
    pub users: u32,
    /// Their part of the record's `goodput_rps`; null when there was no window at all.
    pub goodput_rps: Option<f64>,
    /// Requests sent.
    pub sent: u64,
    /// Correct responses.
    pub good: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Of the correct responses. No separate instants are counted.
    pub response_time: Distribution,
}

/// A set of durations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of values.
    pub count: u64,
    /// Smallest value, null without values.
    pub min_s: Option<f64>,
    /// Arithmetic mean, from an exact sum rather than from the buckets.
    pub mean_s: Option<f64>,
    /// Largest value.
    pub max_s: Option<f64>,
    /// Quantiles, by the rules of [`Percentile`]. Each is the upper end of its
    /// bucket, so where nearly all values are the same it may exceed `max_s`, which is exact, by up to 0.1%.
    pub percentiles: Vec<Percentile>,
    /// All values, in nanoseconds: base64 of the HdrHistogram V2 encoding (not compressed), 3 significant digits.
    pub histogram: String,
}

/// One quantile. At most one of `latency_s`, `at_least_s` and `once_s` has a value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// Between 0 and 1.
    pub quantile: f64,
    /// The value, or null when fewer than ten values lie beyond it, or one of the two below holds.
    pub latency_s: Option<f64>,
    /// Censored: the true value is at least this, because requests beyond it had no answer when the run ended. Their answers could
    /// move it by more than 5%.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least_s: Option<f64>,
    /// The value of this run that another need not have: ten values lie beyond it, and fewer than ten separate instants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub once_s: Option<f64>,
    /// Separate instants beyond the value: the most values of which no two were beyond it at the same time. Absent where they were not
    /// counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instants: Option<u64>,
}

/// One row of the timeline. Requests count in the second in which they were sent, outcomes in the second in which they came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SecondRow {
    /// Number of the row in the run, from 0, warm-up included.
    pub second: u32,
    /// Warm-up rows are shown but never counted.
    pub phase: Phase,
    /// Start of the row relative to the planned start of the window; negative in the warm-up.
    pub start_s: f64,
    /// 1.0, except for the last row of a phase whose length is no whole number of seconds.
    pub duration_s: f64,
    /// Requests sent.
    pub sent: u64,
    /// Correct responses.
    pub good: u64,
    /// Failures of every class.
    pub failed: u64,
    /// The failures by class; a class that was not seen is absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed_by_class: BTreeMap<ErrorClass, u64>,
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Median response time of this row's correct responses; null with too few of them (the rule of [`Percentile`]).
    pub p50_s: Option<f64>,
    /// 99th percentile, by the same rule.
    pub p99_s: Option<f64>,
    /// Longest response time; null without correct responses.
    pub max_s: Option<f64>,
    /// Median time from the send to the first byte of an answer, by the same rule; absent instead of null, as are the four
    /// others of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_p50_s: Option<f64>,
    /// Its 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_p99_s: Option<f64>,
    /// The longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_max_s: Option<f64>,
    /// Connections established.
    pub new_connections: u64,
    /// Median time to establish one of them, by the rule of percentiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_p50_s: Option<f64>,
    /// The longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_max_s: Option<f64>,
    /// Requests in flight at the end of the row.
    pub in_flight: u64,
    /// Arrivals waiting for a connection at the end of the row.
    pub queued: u64,
    /// Response times of this row's correct responses, encoded as [`Distribution::histogram`] is; empty, as the two below, without
    /// histograms of seconds.
    pub response_time: String,
    /// Service times of the same answers.
    pub service_time: String,
    /// Lateness of this row's requests.
    pub lateness: String,
}

/// Connections over the whole run, warm-up and drain included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connections {
    /// Connections established.
    pub opened: u64,
    /// Connections established inside the window.
    pub opened_in_window: u64,
    /// Attempts that did not lead to a connection.
    pub failed: u64,
    /// Established connections that ended without an answer. One with a wrong status or body is an answer.
    pub never_answered: u64,
    /// Connections the target had announced to close, and did not within the time it was given.
    pub not_closed_by_target: u64,
    /// Bytes that came after the last answer of a connection that was to be closed.
    pub unasked_bytes: u64,
}

sum_of_counts!(Connections: opened, opened_in_window, failed, never_answered, not_closed_by_target, unasked_bytes);

/// The first error of a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorExample {
    /// Its class.
    pub class: ErrorClass,
    /// What happened, in words.
    pub text: String,
    /// When, relative to the start of the run.
    pub at_s: f64,
}
