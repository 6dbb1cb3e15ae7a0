//! What requests wait for if no CPU is full: connections, workers, round trips.

use tolok_model::{Executor, LoadTool, Measurement, bytes_words};

use super::{POOL_WAITS_CONSIDERABLE, found, said};
use crate::case_inputs::CaseInputs;
use crate::case_inputs::{unsent_share, waiting_connections};
use crate::estimate::middle;
use crate::figures::{Quantity, amount, counted, small_share};
use crate::findings::{Bottleneck, BottleneckKind};
use crate::flag::BACKLOG_TOLERATED;
use crate::flag::SATURATED;

/// Round trips that take at least this share of the median response are what it waits for. The same share of the mean response
/// applies to the client's pace.
pub const LATENCY_OF_ANSWER: f64 = 0.50;
/// If the subject holds more requests than it has connections, and nothing else is at its limit, requests may wait for
/// connections. They do if connections are known to be at work for this share of the time. The subject holds them unseen for the
/// rest.
pub const POOL_AT_WORK: f64 = 0.50;

/// A client that reads slowly occupies its connection, and what the subject keeps for it, until it has read the whole response.
pub(super) fn client_pace(inputs: &CaseInputs) -> Option<Bottleneck> {
    // The mean response over slow and fast clients describes neither group.
    let pace = Some(inputs.scenario.load.pace).filter(|pace| pace.slow_share.is_none())?;
    let rate = pace.read_bytes_per_s?;
    let read_s = |trial: &Measurement| {
        let bytes_per_answer = trial.body_bytes as f64 / (trial.goodput_rps * trial.window_s);
        Some(bytes_per_answer / rate as f64).filter(|seconds| seconds.is_finite())
    };
    let read_s = middle(&inputs.observations.every(read_s))?;
    let answer_s = middle(&inputs.observations.every(|trial| inputs.sent_to_answer_s(trial)))?;
    if read_s < LATENCY_OF_ANSWER * answer_s {
        return None;
    }
    let [read, answer] = [read_s, answer_s].map(|seconds| amount(Quantity::Seconds, seconds));
    let evidence = format!(
        "at {}/s a client needs {read} to read a response, which took {answer} in all; {}",
        bytes_words(rate),
        inputs.idle()
    );
    said(BottleneckKind::ClientPace, evidence)
}

/// No part is busy, but the connections are. The evidence is the subject's own count, or what the database and the network show,
/// or that many more requests are in the subject.
pub(super) fn pool(inputs: &CaseInputs) -> Option<Bottleneck> {
    let (asked, database) = inputs.asked.zip(inputs.database())?;
    let size = database.pool.map_or(asked.pool, |pool| pool.size);
    let connections = format!("its {}", counted(u64::from(size), "connection"));
    let waits = database.pool.and_then(|pool| Some((pool.waits_per_good?, pool.wait_s_mean)));
    if let Some((waits, wait_s)) = waits.filter(|(waits, _)| *waits >= POOL_WAITS_CONSIDERABLE) {
        let each = wait_s.map(|wait_s| format!(", {} each", amount(Quantity::Seconds, wait_s))).unwrap_or_default();
        let waits = amount(Quantity::Number, waits);
        let evidence = format!("{waits} waits per response for one of {connections}{each}; {}", inputs.idle());
        return found(BottleneckKind::Pool, "There were", evidence);
    }
    let has_more_users = inputs.scenario.load.connections_max().is_none_or(|users| users > size);
    if size == 0 || !has_more_users {
        return None;
    }
    let of_size = |taken_s: f64, trial: &Measurement| taken_s / (f64::from(size) * trial.window_s);
    let taken = |trial: &Measurement| Some(of_size(inputs.connections_taken_s(trial)?, trial));
    let taken = middle(&inputs.observations.every(taken))?;
    let busy = small_share(taken.min(1.0));
    if taken >= SATURATED {
        let by = match (database.running_mean, asked.rtt_s > 0.0) {
            (Some(_), true) => "statements and their round trips",
            (Some(_), false) => "statements",
            (None, _) => "round trips",
        };
        let evidence = format!("{connections} were taken by {by} for {busy} of the time at least; {}", inputs.idle());
        return said(BottleneckKind::Pool, evidence);
    }
    let is_crowded = |inside: &f64| *inside > f64::from(size) && taken >= POOL_AT_WORK;
    let inside = inputs.in_subject().filter(|inside| is_crowded(inside) && !inputs.has_one_connection_each(size))?;
    let evidence = format!(
        "by Little’s law {} requests were in the subject at a time, and {connections} were taken for {busy} of the time at \
         least; {}",
        amount(Quantity::Number, inside),
        inputs.idle()
    );
    said(BottleneckKind::Pool, evidence)
}

/// A server with a process per connection or per request serves as many at a time as it has processes.
pub(super) fn workers(inputs: &CaseInputs) -> Option<Bottleneck> {
    held(inputs).or_else(|| one_connection_each(inputs))
}

/// A kept-alive connection occupies the process that serves it.
fn held(inputs: &CaseInputs) -> Option<Bottleneck> {
    let processes = inputs.processes();
    let load = &inputs.scenario.load;
    let Executor::ConstantVus { vus } = load.executor else { return None };
    if inputs.is_external() {
        return None;
    }
    let waiting = waiting_connections(inputs.observations, load)?;
    let served = u64::from(vus) - waiting;
    let evidence = || {
        let by = if processes == 1 { "1 process".to_owned() } else { format!("{processes} processes") };
        format!("{served} of {vus} connections were served by {by}, and {waiting} had no answer; {}", inputs.idle())
    };
    (served <= u64::from(processes)).then(|| said(BottleneckKind::Workers, evidence()))?
}

/// A process with one connection to the database serves no other request while it computes or queries.
fn one_connection_each(inputs: &CaseInputs) -> Option<Bottleneck> {
    let workers = inputs.database()?.pool?.size;
    let at_work = |trial: &Measurement| {
        Some(
            (trial.subject.as_ref()?.cpu_s + inputs.connections_taken_s(trial)?)
                / (f64::from(workers) * trial.window_s),
        )
    };
    let at_work = middle(&inputs.observations.every(at_work)).filter(|share| *share >= POOL_AT_WORK)?;
    inputs.has_one_connection_each(workers).then_some(())?;
    let inside = inputs.in_subject().filter(|inside| *inside > f64::from(workers))?;
    let evidence = format!(
        "its {workers} processes with a connection each computed or asked for {} of the time, and by Little’s law {} requests \
         were in the subject at a time; {}",
        small_share(at_work.min(1.0)),
        amount(Quantity::Number, inside),
        inputs.idle()
    );
    said(BottleneckKind::Workers, evidence)
}

/// In an open loop, requests that cannot be sent wait.
pub(super) fn backlog(inputs: &CaseInputs) -> Option<Bottleneck> {
    let load = &inputs.scenario.load;
    let unsent = middle(&inputs.observations.each(|trial| Some(unsent_share(trial))))?;
    if !load.executor.is_open() || unsent < BACKLOG_TOLERATED {
        return None;
    }
    let (unsent, idle) = (small_share(unsent), inputs.idle());
    let one = load.connections_max().map(|most| format!("one of {}", counted(u64::from(most), "connection")));
    let evidence = match (inputs.scenario.tool.name, one) {
        (LoadTool::K6, _) => {
            format!("k6 dropped {unsent} of the scheduled requests, as no virtual user was free; {idle}")
        }
        (_, one) => format!(
            "{unsent} of the scheduled requests still waited for {} when the window ended; {idle}",
            one.unwrap_or_else(|| "a connection".to_owned())
        ),
    };
    said(BottleneckKind::Backlog, evidence)
}

/// In a closed loop, a user sends nothing until its response has arrived.
pub(super) fn latency(inputs: &CaseInputs) -> Option<Bottleneck> {
    let load = &inputs.scenario.load;
    if load.executor.is_open() {
        return None;
    }
    let median_s = middle(&inputs.observations.every(|trial| trial.latency.at(0.5)));
    let waits = median_s.map(|median_s| (inputs.round_trips_s(), median_s));
    if let Some((trips_s, median_s)) = waits.filter(|(trips_s, median_s)| *trips_s >= LATENCY_OF_ANSWER * median_s) {
        let [trips, median] = [trips_s, median_s].map(|seconds| amount(Quantity::Seconds, seconds));
        let evidence = format!("{trips} of round trips in a median response of {median}; {}", inputs.idle());
        return found(BottleneckKind::Latency, "There were", evidence);
    }
    let is_alone = load.executor.vus_max() == Some(1);
    let evidence = format!("one user, who waits while one part after the other works; {}", inputs.idle());
    is_alone.then(|| found(BottleneckKind::Latency, "There was", evidence))?
}

impl CaseInputs<'_> {
    /// The most processes of the subject seen at once.
    fn processes(&self) -> u32 {
        self.observations.used().map(|used| used.processes_max).max().unwrap_or_default()
    }

    /// Whether the subject has several processes, each with at most one of `connections`.
    fn has_one_connection_each(&self, connections: u32) -> bool {
        connections > 1 && connections <= self.processes()
    }

    /// Mean number of requests in the subject, by Little's law: responses per second × (mean time from send to response − the
    /// link's round trip).
    fn in_subject(&self) -> Option<f64> {
        let inside = |trial: &Measurement| {
            let mean_s = self.sent_to_answer_s(trial)?;
            Some(trial.goodput_rps * (mean_s - self.around.environment.link.rtt_s).max(0.0))
        };
        middle(&self.observations.every(inside))
    }

    /// Mean time from sending a request to the end of its response.
    fn sent_to_answer_s(&self, trial: &Measurement) -> Option<f64> {
        let is_open = self.scenario.load.executor.is_open();
        let told_s = trial.checks.as_ref().and_then(|checks| checks.service_mean_s);
        // In a closed loop, the planned start of a request is the instant of its sending.
        told_s.or(trial.latency.mean_s.filter(|_| !is_open))
    }
}
