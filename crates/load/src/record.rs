//! The record of one load run: what the engine returns, and its JSON form.
//!
//! Every quantity ends its name with its unit. Histograms are complete (base64 of the HdrHistogram V2 encoding, values in nanoseconds), so
//! every figure can be recomputed and runs can be merged. Readers must refuse an unknown `format`: see [`Record::FORMAT`].

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
    /// Actual length of the measured window (shorter than planned if the run was `interrupted`, `aborted`, or out of iterations).
    pub window_s: f64,
    /// Start of the window on `CLOCK_MONOTONIC`, which all processes of the machine share.
    pub window_start_monotonic_ns: u64,
    /// End of the window on `CLOCK_MONOTONIC`.
    pub window_end_monotonic_ns: u64,
    /// Correct responses per second of the window: `(ledger.good + warm_up.carried_over_good) / window_s`; null when there was no window at
    /// all. Answers to requests of the warm-up count because the target gave them in the window. Without them the rate of slow targets
    /// would be too low by up to one answer a connection.
    pub goodput_rps: Option<f64>,
    /// When the last correct response of the window came, in seconds after the window's start, whichever phase its request was sent in;
    /// null if none came. Distinguishes a target that fell silent during the window from a slow one.
    pub last_good_s: Option<f64>,
    /// Requests per second that the schedule planned in the window; null in a closed loop, which has no planned rate.
    pub offered_rps: Option<f64>,
    /// Whether these figures can be trusted, and if not, why.
    pub verdict: Verdict,
    /// The thresholds that were set, and their results.
    pub thresholds: Vec<Judged>,
    /// The run ended early because a threshold was crossed.
    pub aborted: bool,
    /// Account of every request of the window.
    pub ledger: Ledger,
    /// Account of the requests of the warm-up, none of which is in `ledger`.
    pub warm_up: WarmUpLedger,
    /// What became of the requests that were in flight, or not yet sent, when the window ended.
    pub drain: Drain,
    /// Every request of the run, in any phase.
    pub whole_run: WholeRun,
    /// Correct responses to requests of the window, drain included: from the intended start to the last byte.
    pub response_time: Distribution,
    /// The same answers: from the moment the first byte of the request was handed to the kernel to the last byte of the answer.
    pub service_time: Distribution,
    /// Every request sent: how long the engine took to act on it once it could (its planned instant had come and, in a bounded pool, a
    /// connection was free). A large lateness means that the generator, not the target, was the limit.
    pub lateness: Distribution,
    /// Arrivals that found no free connection in a bounded pool: how long they waited. Part of the response time.
    pub queue_time: Distribution,
    /// Good and bad answers: from the moment the first byte of the request was handed to the kernel to the first byte of the answer.
    pub time_to_first_byte: Distribution,
    /// Open loops: the answers of `response_time` without the lateness of their own requests. If a quantile of `response_time` is more than
    /// 5% larger, the generator caused part of it; `verdict.doubted` names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub punctual_time: Option<Distribution>,
    /// Failed requests of the window, drain included: from the intended start to the failure.
    pub failure_time: Distribution,
    /// Requests of the window that had neither answer nor failure when the run ended, sent or not: from the intended start to then. Their
    /// response times are longer. In an open loop the quantiles of `response_time` take them into account; in a closed loop there is at
    /// most one a user. Absent without such requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unanswered_time: Option<Distribution>,
    /// Time to establish a connection, including the TLS handshake. Covers the whole run, warm-up included.
    pub connect_time: Distribution,
    /// The parts of the mix, if requests name their part. `sent` adds up to `ledger.sent + drain.sent`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartRecord>,
    /// Fast and slow clients separately, if only a share of them is slow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<ClientRecords>,
    /// Requests in flight, on average over the window.
    pub in_flight_mean: Option<f64>,
    /// Users without a request in flight, on average over the window; absent unless their number is constant and they never pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_users_mean: Option<f64>,
    /// Most arrivals in the window that waited for a connection at the same time.
    pub queue_max: u64,
    /// One row a second, warm-up first. Rows with phase `measure` add up to the ledger.
    pub timeline: Vec<SecondRow>,
    /// Connections over the whole run.
    pub connections: Connections,
    /// Bytes received inside the window, heads included; with HTTP/2 as on the connection, frames included.
    pub received_bytes: u64,
    /// Bytes sent inside the window, heads included.
    pub sent_bytes: u64,
    /// The first error of each class seen anywhere in the run, warm-up and drain included.
    pub error_examples: Vec<ErrorExample>,
    /// CPU time the engine's threads spent in user mode inside the window.
    pub cpu_user_s: f64,
    /// CPU time the engine's threads spent in the kernel inside the window.
    pub cpu_system_s: f64,
    /// Share of the window in which the busiest thread had work to do; waiting by polling the clock does not count. 1.0 means that it had
    /// no time left. Null without a window.
    pub generator_busy: Option<f64>,
    /// The engine's threads, one by one.
    pub generator: GeneratorSummary,
}

impl Record {
    /// The version that this crate writes.
    pub const FORMAT: u32 = 2;
}

/// The requested load, as far as readers of the record need it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanSummary {
    /// The target as a URL.
    pub url: String,
    /// The socket address that the host resolved to.
    pub address: String,
    /// The requests; empty if there are more than [`PlanSummary::MOST_REQUESTS`] kinds.
    pub requests: Vec<RequestSummary>,
    /// How many kinds of requests there were.
    pub request_count: u64,
    /// Requests of an iteration: 1, or with [`Mix::Sequence`] the sum of the weights.
    pub iteration_requests: u64,
    /// How the bodies of all answers were checked: a value of [`RequestSummary::body_check`], or `mixed`.
    pub body_check: String,
    /// How several requests make up an iteration.
    pub mix: Mix,
    /// What requests were filled with; absent without such values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataSummary>,
    /// k6's name of the executor, such as `constant-vus`.
    pub executor: String,
    /// Its parameters.
    pub profile: Executor,
    /// `closed`: a slow answer delays the next request, so percentiles hold for this many users only. `open`: requests
    /// start by the clock, and the response time runs from the planned instant.
    pub loop_model: LoopModel,
    /// Largest number of virtual users; in an open loop the size of the pool, 0 if it is unbounded.
    pub vus: u32,
    /// Whether arrivals open a new connection when none is free. False in a closed loop.
    pub pool_unbounded: bool,
    /// Shortest and longest pause of a virtual user after an iteration.
    pub think_time_s: [f64; 2],
    /// Planned length of the warm-up.
    pub warm_up_s: f64,
    /// Planned length of the window; with a number of iterations, its upper limit.
    pub window_s: f64,
    /// Deadline of one request.
    pub timeout_s: f64,
    /// Deadline for establishing a connection.
    pub connect_timeout_s: f64,
    /// Longest wait for requests in flight when the window ended.
    pub grace_s: f64,
    /// `1.1` or `2`.
    pub http_version: String,
    /// With HTTP/2, the most users, or places of the pool, that shared a connection; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams_per_connection: Option<u32>,
    /// With pipelining, the same; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<u32>,
    /// How long connections live.
    pub connection: ConnectionPolicy,
    /// Number of source addresses that the connections were spread over; 0 if the system chose.
    pub source_addresses: u32,
    /// Whether the target's certificate had to be trusted; null without encryption.
    pub tls_verified: Option<bool>,
    /// Congestion control of the engine's sockets; null if the target is not a TCP socket or the system does not report it.
    pub congestion_control: Option<String>,
    /// Limit on the bytes read of an answer per second; null for no limit.
    pub read_bytes_per_s: Option<u64>,
    /// Limit on the bytes written of a request per second; null for no limit.
    pub write_bytes_per_s: Option<u64>,
    /// Number of virtual users that these limits apply to, if others have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_users: Option<u32>,
    /// Length of the body that every answer was compared with; null if bodies were not compared, or if requests differ in it.
    pub expected_body_bytes: Option<u64>,
    /// Seed of all random draws.
    pub seed: u64,
}

impl PlanSummary {
    /// Most kinds of requests to describe one by one.
    pub const MOST_REQUESTS: usize = 20;
}

/// One kind of request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestSummary {
    /// Its method.
    pub method: String,
    /// Its path and query.
    pub path: String,
    /// Its weight among the others.
    pub weight: u32,
    /// Length of its body.
    pub body_bytes: u64,
    /// How the bodies of answers were checked: `anything`, `length`, `exactly`, `gzip`, `json` or `discard`.
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

/// Settings and threads of the generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GeneratorSummary {
    /// How threads waited for planned instants.
    pub timer: Timer,
    /// Its threads.
    pub threads: Vec<ThreadSummary>,
    /// The machines that the threads ran on, in the order of `threads`, with equally many each; absent if that was this machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<GeneratorNode>,
}

/// A machine that generated load. Instants of a record are on the clock of the machine that wrote it.
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
    /// The CPU it was pinned to; null if it was not pinned.
    pub cpu: Option<u32>,
    /// CPU time in user mode.
    pub cpu_user_s: f64,
    /// CPU time in the kernel.
    pub cpu_system_s: f64,
    /// Time it waited by polling the clock: CPU time that no request needed.
    pub spin_s: f64,
    /// Time it was ready to run but did not, because something else had its CPU; null if the kernel does not report it.
    pub run_queue_wait_s: Option<f64>,
}

impl ThreadSummary {
    /// CPU time that requests needed: all except polling the clock. A polling thread that loses its CPU uses no CPU time meanwhile, so such
    /// waits are not subtracted. Waits at other times make the result too large, never too small.
    pub fn worked_s(&self) -> f64 {
        let cpu_s = self.cpu_user_s + self.cpu_system_s;
        let spun_s = (self.spin_s - self.run_queue_wait_s.unwrap_or_default()).max(0.0);
        (cpu_s - spun_s).max(0.0)
    }
}

/// Whether new requests wait for earlier answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopModel {
    /// A virtual user sends its next request once it has the answer to the last one.
    Closed,
    /// Requests start by the clock.
    Open,
}

/// Account of the requests whose intended start was in the window, at the window's end. It balances: see [`Ledger::closes`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Requests that the schedule planned.
    pub scheduled: u64,
    /// Requests the engine acted on within the window; acting includes opening a connection if necessary.
    pub sent: u64,
    /// Requests that were due and still waited for a connection when the window ended.
    pub unsent: u64,
    /// Answers that were complete and correct within the window.
    pub good: u64,
    /// Requests that failed within the window.
    pub failed: u64,
    /// The failures by class; classes without failures are absent.
    pub failed_by_class: BTreeMap<ErrorClass, u64>,
    /// Requests sent in the window that had no outcome when it ended.
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
    /// Requests planned before the window that the engine acted on.
    pub sent: u64,
    /// Correct responses before the window.
    pub good: u64,
    /// Failures before the window.
    pub failed: u64,
    /// Requests of the warm-up still in flight when the window started.
    pub carried_over: u64,
    /// Those of them with a correct response inside the window. `goodput_rps` counts them, because the target answered in the window. No
    /// ledger and no histogram does, because they were sent before it.
    pub carried_over_good: u64,
    /// Those of them that had no outcome when the window ended.
    pub carried_over_waiting: u64,
}

sum_of_counts!(WarmUpLedger: sent, good, failed, carried_over, carried_over_good, carried_over_waiting);

/// Outcomes of the requests that were in flight or unsent when the window ended:
/// `ledger.in_flight_at_end + ledger.unsent = good + failed + abandoned + never_sent`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drain {
    /// Requests of the window sent within the grace period.
    pub sent: u64,
    /// Correct responses within the grace period.
    pub good: u64,
    /// Failures within the grace period.
    pub failed: u64,
    /// Requests sent, but without an outcome when the grace period was over.
    pub abandoned: u64,
    /// Requests that still waited for a connection when the grace period was over.
    pub never_sent: u64,
}

sum_of_counts!(Drain: sent, good, failed, abandoned, never_sent);

/// Account of the whole run, from its first request to the end of the grace period, for comparison with a count at the target. A target
/// that handles each request once has handled at least `good` and at most `sent`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholeRun {
    /// Requests of which at least one byte was handed to the kernel, whatever their outcome.
    pub sent: u64,
    /// Those of them with a correct response, even after the window.
    pub good: u64,
}

sum_of_counts!(WholeRun: sent, good);

/// One part of a mix: its requests of the window, including those that ended after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartRecord {
    /// Its name.
    pub part: String,
    /// Share of the requests according to its weight.
    pub asked_share: f64,
    /// Its share of the requests sent by all parts; null if none was sent.
    pub sent_share: Option<f64>,
    /// Requests sent.
    pub sent: u64,
    /// Correct responses, each judged by the expectation of its own request.
    pub good: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Response times of its correct responses. Separate instants are not counted.
    pub response_time: Distribution,
}

/// The two kinds of clients. Their counts add up to the totals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientRecords {
    /// Clients that read and write without a limit.
    pub fast: ClientRecord,
    /// Clients that read or write at the limits of the plan.
    pub slow: ClientRecord,
}

/// Clients of one kind: their requests of the window, including those that ended after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientRecord {
    /// Number of virtual users.
    pub users: u32,
    /// Their part of the record's `goodput_rps`; null when there was no window at all.
    pub goodput_rps: Option<f64>,
    /// Requests sent.
    pub sent: u64,
    /// Correct responses.
    pub good: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Response times of the correct responses. Separate instants are not counted.
    pub response_time: Distribution,
}

/// A set of durations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of values.
    pub count: u64,
    /// Smallest value; null without values.
    pub min_s: Option<f64>,
    /// Arithmetic mean, from the exact sum rather than from the buckets.
    pub mean_s: Option<f64>,
    /// Largest value; null without values.
    pub max_s: Option<f64>,
    /// Quantiles, by the rules of [`Percentile`]. Each is the upper end of its bucket. Where nearly all values are equal, it may exceed the
    /// exact `max_s` by up to 0.1%.
    pub percentiles: Vec<Percentile>,
    /// All values, in nanoseconds: base64 of the HdrHistogram V2 encoding (not compressed), 3 significant digits.
    pub histogram: String,
}

/// One quantile. At most one of `latency_s`, `at_least_s` and `once_s` has a value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// Between 0 and 1.
    pub quantile: f64,
    /// The value; null if fewer than ten values lie beyond it, or if one of the next two is given.
    pub latency_s: Option<f64>,
    /// Censored: the true value is at least this, because requests beyond it had no answer when the run ended. Their answers could move it
    /// by more than 5%.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least_s: Option<f64>,
    /// A value that another run may not repeat: ten values lie beyond it, but from fewer than ten separate instants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub once_s: Option<f64>,
    /// Separate instants beyond the value: the largest number of values no two of which were beyond it at the same time. Absent if they
    /// were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instants: Option<u64>,
}

/// One row of the timeline. Requests count in the second they were sent in, outcomes in the second they came in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SecondRow {
    /// Number of the row in the run, from 0, warm-up included.
    pub second: u32,
    /// Warm-up rows are shown but never counted in the results.
    pub phase: Phase,
    /// Start of the row relative to the planned start of the window; negative in the warm-up.
    pub start_s: f64,
    /// 1.0, except for the last row of a phase whose length is not a whole number of seconds.
    pub duration_s: f64,
    /// Requests sent.
    pub sent: u64,
    /// Correct responses.
    pub good: u64,
    /// Failures of every class.
    pub failed: u64,
    /// The failures by class; classes without failures are absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed_by_class: BTreeMap<ErrorClass, u64>,
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Median response time of this row's correct responses; null with too few of them (see [`Percentile`]).
    pub p50_s: Option<f64>,
    /// 99th percentile, by the same rule.
    pub p99_s: Option<f64>,
    /// Longest response time; null without correct responses.
    pub max_s: Option<f64>,
    /// Median time from sending to the first byte of an answer, by the same rule. This and the next four quantities of its kind are absent
    /// instead of null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_p50_s: Option<f64>,
    /// 99th percentile of the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_p99_s: Option<f64>,
    /// Longest of the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_max_s: Option<f64>,
    /// Connections established.
    pub new_connections: u64,
    /// Median time to establish one of them, by the same rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_p50_s: Option<f64>,
    /// Longest of the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_max_s: Option<f64>,
    /// Requests in flight at the end of the row.
    pub in_flight: u64,
    /// Arrivals waiting for a connection at the end of the row.
    pub queued: u64,
    /// Response times of this row's correct responses, encoded like [`Distribution::histogram`]. This and the next two are empty if the run
    /// kept no histograms of seconds.
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
    /// Connections that the target announced to close but did not close in the allowed time.
    pub not_closed_by_target: u64,
    /// Bytes that came after the last answer of a connection that was about to close.
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
    /// When, in seconds since the start of the run.
    pub at_s: f64,
}
