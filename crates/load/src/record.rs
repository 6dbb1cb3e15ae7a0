//! The record of one load run: what the engine hands back, and what is written as JSON.
//!
//! Every quantity carries its unit at the end of its name. The histograms are kept whole (base64 of the HdrHistogram V2
//! encoding, values in nanoseconds), so that every figure here can be recomputed and runs can be merged. An unknown
//! `format` must be refused by readers: see [`Record::FORMAT`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fault::ErrorClass;
use crate::schedule::Phase;

/// What happened in one load run.
///
/// ```text
/// response time = lateness + (connecting, if a connection had to be opened) + service time
///                 ^ intended start                                          ^ first byte handed to the kernel
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of this format; see [`Record::FORMAT`].
    pub format: u32,
    /// Name and version of the engine, such as `tolok-load 0.1.0`.
    pub engine: String,
    /// What was asked for.
    pub plan: PlanSummary,
    /// The run was stopped from outside before its planned end.
    pub interrupted: bool,
    /// Seconds of warm-up that took place before the window.
    pub warm_up_s: f64,
    /// Length of the measured window as it really was (shorter than planned only when `interrupted`).
    pub window_s: f64,
    /// Start of the window on `CLOCK_MONOTONIC`, which every process of the machine shares.
    pub window_start_monotonic_ns: u64,
    /// End of the window on `CLOCK_MONOTONIC`.
    pub window_end_monotonic_ns: u64,
    /// Valid answers per second that the target gave in the window: `(ledger.good + warm_up.carried_over_good) /
    /// window_s`; null when there was no window at all. Answers to requests of the warm-up are the target's work in the
    /// window as well; without them the rate of slow targets would be too low by up to one answer a connection.
    pub goodput_rps: Option<f64>,
    /// When the last good answer of the window came, in seconds after the window's start, whichever phase its request was
    /// sent in; null if none came. Tells a target that fell silent in the midst of the window from one that is slow.
    pub last_good_s: Option<f64>,
    /// Account of every request of the window.
    pub ledger: Ledger,
    /// Account of the requests of the warm-up, none of which is in `ledger`.
    pub warm_up: WarmUpLedger,
    /// What became of the requests that were in flight when the window ended.
    pub drain: Drain,
    /// Good answers: from the intended start to the last byte.
    pub response_time: Distribution,
    /// Good answers: from the moment the request was first handed to the kernel to the last byte.
    pub service_time: Distribution,
    /// Every request sent: from the intended start to the moment the engine acted on it (opening a connection included in
    /// the act, not in the lateness). A large lateness means that the generator, not the target, was the limit.
    pub lateness: Distribution,
    /// Failed requests: from the intended start to the failure.
    pub failure_time: Distribution,
    /// Time to establish a connection, over the whole run, warm-up included.
    pub connect_time: Distribution,
    /// One row a second, warm-up first. Rows with phase `measure` add up to the ledger.
    pub timeline: Vec<SecondRow>,
    /// Connections over the whole run.
    pub connections: Connections,
    /// Bytes received inside the window, heads included.
    pub received_bytes: u64,
    /// Bytes sent inside the window, heads included.
    pub sent_bytes: u64,
    /// The first error of each class seen anywhere in the run, warm-up and drain included.
    pub error_examples: Vec<ErrorExample>,
    /// CPU time the engine's thread spent in user mode inside the window.
    pub cpu_user_s: f64,
    /// CPU time the engine's thread spent in the kernel inside the window.
    pub cpu_system_s: f64,
    /// `(cpu_user_s + cpu_system_s) / window_s`: 1.0 means the generator had no time left. Null without a window.
    pub generator_busy: Option<f64>,
}

impl Record {
    /// The version written by this crate.
    pub const FORMAT: u32 = 1;
}

/// What was asked for, as far as a reader of the record needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanSummary {
    /// The target as a URL.
    pub url: String,
    /// The socket address the host was resolved to.
    pub address: String,
    /// Request method.
    pub method: String,
    /// Name of the executor, k6's words: `constant-vus`.
    pub executor: String,
    /// `closed`: a slow answer delays the next request, so percentiles hold for this many users only.
    pub loop_model: LoopModel,
    /// Number of virtual users.
    pub vus: u32,
    /// Planned warm-up.
    pub warm_up_s: f64,
    /// Planned window.
    pub window_s: f64,
    /// Deadline of one request.
    pub timeout_s: f64,
    /// Deadline for establishing a connection.
    pub connect_timeout_s: f64,
    /// Longest wait for requests in flight when the window ended.
    pub grace_s: f64,
    /// Keep-alive or a connection per request.
    pub connection: crate::options::ConnectionPolicy,
    /// Number of source addresses the connections were spread over; 0 when the system chose.
    pub source_addresses: u32,
    /// Length of the body every answer was compared with; null when bodies were not compared.
    pub expected_body_bytes: Option<u64>,
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

/// Account of the requests whose intended start lay in the window. It closes to zero: see [`Ledger::closes`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Requests the schedule asked for.
    pub scheduled: u64,
    /// Requests the engine acted on; opening the connection, where one was needed, is part of the act.
    pub sent: u64,
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
    /// Whether every request is accounted for: sent = good + failed + in flight, and the classes add up.
    pub fn closes(&self) -> bool {
        let by_class: u64 = self.failed_by_class.values().sum();
        self.sent <= self.scheduled
            && self.failed == by_class
            && self.sent == self.good + self.failed + self.in_flight_at_end
    }
}

/// Account of the warm-up: `sent = good + failed + carried_over`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmUpLedger {
    /// Requests the engine acted on before the window.
    pub sent: u64,
    /// Good answers before the window.
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

/// What became of the requests in flight at the end of the window; the three add up to `ledger.in_flight_at_end`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drain {
    /// Answered as expected within the grace period.
    pub good: u64,
    /// Failed within the grace period.
    pub failed: u64,
    /// Still without an outcome when the grace period was over.
    pub abandoned: u64,
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
    /// Quantiles; null where fewer than ten values lie beyond, because such a figure is luck. Each is the upper end of its
    /// bucket, so where nearly all values are the same it may exceed `max_s`, which is exact, by up to 0.1 %.
    pub percentiles: Vec<Percentile>,
    /// All values, in nanoseconds: base64 of the HdrHistogram V2 encoding (not compressed), 3 significant digits.
    pub histogram: String,
}

/// One quantile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// Between 0 and 1.
    pub quantile: f64,
    /// The value, or null when too few values lie beyond it.
    pub latency_s: Option<f64>,
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
    /// Good answers.
    pub good: u64,
    /// Failures of every class.
    pub failed: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Median response time of this row's good answers; null with too few of them (the rule of [`Percentile`]).
    pub p50_s: Option<f64>,
    /// 99th percentile, by the same rule.
    pub p99_s: Option<f64>,
    /// Longest response time; null without good answers.
    pub max_s: Option<f64>,
    /// Connections established.
    pub new_connections: u64,
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
