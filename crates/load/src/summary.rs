//! Builds the record.

use std::mem;
use std::time::Duration;

use crate::engine::Usage;
use crate::fault::ErrorClass;
use crate::histogram::{Durations, seconds};
use crate::options::{Executor, ExpectBody, Mix, Options, Pool, Protocol, Request, ThinkTime};
use crate::record::{
    DataSummary, GeneratorSummary, Ledger, LoopModel, PlanSummary, Record, RequestSummary, SecondRow, ThreadSummary,
};
use crate::recording::{Recorded, Times, part_records};
use crate::schedule::Phase;
use crate::threads::{Collected, cpu_of};
use crate::threshold::{Figures, Judged, Threshold};
use crate::transport::Connector;
use crate::verdict::{self, Evidence, Verdict};

/// CPU time is read shortly after the window's borders, so it is meaningless for a shorter window.
const SHORTEST_FOR_BUSY_S: f64 = 0.1;

/// A shorter silence may be chance.
const SHORTEST_SILENCE_S: f64 = 0.5;

pub(crate) fn plan(options: &Options, connector: &Connector, congestion_control: Option<String>) -> PlanSummary {
    let open = options.executor.is_open();
    let (vus, pool_unbounded) = match options.pool {
        _ if !open => (options.executor.vus(), false),
        Pool::Bounded(connections) => (connections, false),
        Pool::Unbounded { at_most } => (at_most.unwrap_or(0), true),
    };
    PlanSummary {
        url: options.target.url(),
        address: connector.target().to_string(),
        requests: described(&options.requests),
        request_count: options.requests.len() as u64,
        iteration_requests: match options.mix {
            Mix::Weighted => 1,
            Mix::Sequence => options.requests.iter().map(|request| u64::from(request.weight)).sum(),
        },
        body_check: body_checks(options),
        mix: options.mix,
        data: options.data.as_ref().map(|data| DataSummary {
            columns: data.columns.clone(),
            rows: data.rows() as u64,
            order: data.order,
        }),
        executor: options.executor.name().to_owned(),
        profile: options.executor.clone(),
        loop_model: if open { LoopModel::Open } else { LoopModel::Closed },
        vus,
        pool_unbounded,
        think_time_s: [options.think_time.least.as_secs_f64(), options.think_time.most.as_secs_f64()],
        warm_up_s: options.warm_up.as_secs_f64(),
        window_s: options.executor.window().as_secs_f64(),
        timeout_s: options.timeout.as_secs_f64(),
        connect_timeout_s: options.connect_timeout.as_secs_f64(),
        grace_s: options.grace_period().as_secs_f64(),
        http_version: if matches!(options.protocol, Protocol::Http2 { .. }) { "2" } else { "1.1" }.to_owned(),
        streams_per_connection: match options.protocol {
            Protocol::Http2 { streams_per_connection } => Some(streams_per_connection),
            _ => None,
        },
        pipeline: match options.protocol {
            Protocol::Pipelined { requests_in_flight } => Some(requests_in_flight),
            _ => None,
        },
        connection: options.connection,
        source_addresses: connector.source_addresses(),
        tls_verified: options.target.is_secure().then_some(options.tls.verify),
        congestion_control,
        read_bytes_per_s: options.pace.read_bytes_per_s,
        write_bytes_per_s: options.pace.write_bytes_per_s,
        slow_users: options.slow_users().map(|users| users.slow),
        expected_body_bytes: expected_body_bytes(options),
        seed: options.seed,
    }
}

fn described(requests: &[Request]) -> Vec<RequestSummary> {
    let described = if requests.len() > PlanSummary::MOST_REQUESTS { &[] } else { requests };
    described.iter().map(request_summary).collect()
}

fn request_summary(request: &Request) -> RequestSummary {
    RequestSummary {
        method: request.method.as_str().to_owned(),
        path: request.path.clone(),
        weight: request.weight,
        body_bytes: request.body.len() as u64,
        body_check: body_check(request).to_owned(),
    }
}

/// How bodies are checked, if all requests agree, or `mixed`.
pub(crate) fn body_checks(options: &Options) -> String {
    the_same(options.requests.iter().map(body_check)).unwrap_or("mixed").to_owned()
}

fn body_check(request: &Request) -> &'static str {
    match request.expect.body {
        ExpectBody::Anything => "anything",
        ExpectBody::Length(_) => "length",
        ExpectBody::Exactly(_) => "exactly",
        ExpectBody::Gzip(_) => "gzip",
        ExpectBody::Json { .. } => "json",
        ExpectBody::Discard { .. } => "discard",
    }
}

pub(crate) fn expected_body_bytes(options: &Options) -> Option<u64> {
    the_same(options.requests.iter().map(Request::expected_body_bytes)).flatten()
}

/// The common value, if all are equal.
fn the_same<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

pub(crate) fn record(options: &Options, plan: PlanSummary, thresholds: &[Threshold], collected: Collected) -> Record {
    let Collected { mut recorded, mut totals, timeline, usage, interrupted, aborted, start } = collected;
    let span = recorded.span;
    let window_s = span.window().as_secs_f64();
    // Computed from the figures of the record, so that recomputing them gives the same result to the last bit.
    let per_window = |amount: f64| (window_s > 0.0).then(|| amount / window_s);
    let generator = generator(options, &usage);
    let cpu = |part: fn(&ThreadSummary) -> f64| generator.threads.iter().map(part).sum::<f64>();
    let open = options.executor.is_open();
    let (busy, run_queue_wait) = busiest(&generator, window_s);
    let users = users(options).filter(|_| busy.is_some());
    let evidence = Evidence {
        users,
        threads_at_work: at_work(&generator, window_s),
        busy,
        run_queue_wait,
        in_flight: in_flight(options, &timeline),
        ..evidence(&recorded, &totals)
    };
    let unanswered_time = (recorded.unanswered.count() > 0).then(|| recorded.unanswered.summary());
    let never_sent = (open && recorded.drain.never_sent > 0).then_some(&recorded.unanswered);
    let parts = part_records(mem::take(&mut recorded.parts), options, never_sent);
    let clients = recorded.clients.take().and_then(|clients| clients.records(options, window_s));
    // In a closed loop, a missing answer held back an unknown number of requests.
    if open {
        totals.punctual.set_unanswered(recorded.unanswered.clone());
        totals.response.set_unanswered(mem::replace(&mut recorded.unanswered, Durations::new()));
    }
    let response_time = totals.response.summary();
    let punctual_time = open.then(|| totals.punctual.summary());
    let doubted = punctual_time.as_ref().map(|punctual| verdict::doubted(&response_time, punctual));
    Record {
        format: Record::FORMAT,
        engine: concat!("tolok-load ", env!("CARGO_PKG_VERSION")).to_owned(),
        plan,
        interrupted,
        warm_up_s: span.window_start.since(start).as_secs_f64(),
        window_s,
        window_start_monotonic_ns: span.window_start.0,
        window_end_monotonic_ns: span.window_end.0,
        goodput_rps: per_window((recorded.ledger.good + recorded.warm_up.carried_over_good) as f64),
        last_good_s: recorded.last_good.map(|at| seconds(at.ns_since(span.window_start))),
        offered_rps: if open { per_window(recorded.ledger.scheduled as f64) } else { None },
        verdict: Verdict { doubted: doubted.unwrap_or_default(), ..verdict::judge(&evidence) },
        thresholds: judge(thresholds, &recorded, &totals, window_s),
        aborted,
        response_time,
        punctual_time,
        unanswered_time,
        service_time: totals.service.summary(),
        lateness: totals.lateness.summary(),
        queue_time: totals.queue.summary(),
        time_to_first_byte: totals.first_byte.summary(),
        failure_time: totals.failure.summary(),
        connect_time: totals.connect.summary(),
        parts,
        clients,
        in_flight_mean: per_window(recorded.occupancy.area_ns as f64 / 1e9),
        idle_users_mean: users.zip(per_window(recorded.occupancy.area_ns as f64 / 1e9)).map(|(all, busy)| all - busy),
        queue_max: recorded.queue_max,
        timeline,
        connections: recorded.connections,
        received_bytes: recorded.received_bytes,
        sent_bytes: recorded.sent_bytes,
        error_examples: recorded.error_examples.into_values().collect(),
        cpu_user_s: cpu(|thread| thread.cpu_user_s),
        cpu_system_s: cpu(|thread| thread.cpu_system_s),
        generator_busy: busy,
        generator,
        whole_run: recorded.whole_run,
        ledger: recorded.ledger,
        warm_up: recorded.warm_up,
        drain: recorded.drain,
    }
}

fn generator(options: &Options, usage: &[Usage]) -> GeneratorSummary {
    let thread = |(number, usage): (u32, &Usage)| ThreadSummary {
        cpu: cpu_of(&options.generator.cpus, number),
        cpu_user_s: usage.cpu.user.as_secs_f64(),
        cpu_system_s: usage.cpu.system.as_secs_f64(),
        spin_s: usage.spin.as_secs_f64(),
        run_queue_wait_s: usage.run_queue_wait.map(|wait: Duration| wait.as_secs_f64()),
    };
    GeneratorSummary { timer: options.timer(), threads: (0..).zip(usage).map(thread).collect(), nodes: Vec::new() }
}

/// How busy the thread with the least time left was, and for which share of the window something else had its CPU. Polling the clock does
/// not count: it stops as soon as there is work. `None` if the window is too short to tell.
fn busiest(generator: &GeneratorSummary, window_s: f64) -> (Option<f64>, f64) {
    if window_s < SHORTEST_FOR_BUSY_S {
        return (None, 0.0);
    }
    let load = |thread: &ThreadSummary| {
        let busy = thread.worked_s() / window_s;
        (busy, thread.run_queue_wait_s.unwrap_or_default() / window_s)
    };
    let most = generator.threads.iter().map(load).max_by(|a, b| (a.0 + a.1).total_cmp(&(b.0 + b.1)));
    most.map_or((None, 0.0), |(busy, wait)| (Some(busy), wait))
}

/// Users that should always have a request in flight, if users neither pause nor come and go.
fn users(options: &Options) -> Option<f64> {
    match options.executor {
        Executor::ConstantVus { vus, .. } if options.think_time == ThinkTime::NONE => Some(f64::from(vus)),
        _ => None,
    }
}

/// Threads that worked or waited for a CPU, on average.
fn at_work(generator: &GeneratorSummary, window_s: f64) -> f64 {
    let of = |thread: &ThreadSummary| thread.worked_s() + thread.run_queue_wait_s.unwrap_or_default();
    generator.threads.iter().map(|thread| (of(thread) / window_s).min(1.0)).sum()
}

/// Requests in flight in the middle of the window and at its end, for arrivals at a constant rate: with a rising rate, a rising level means
/// nothing. A window of one row has no middle.
fn in_flight(options: &Options, timeline: &[SecondRow]) -> Option<(u64, u64)> {
    let Executor::ConstantArrivalRate { .. } = options.executor else { return None };
    let rows: Vec<&SecondRow> = timeline.iter().filter(|row| row.phase == Phase::Measure).collect();
    let end = rows.last()?.in_flight;
    let middle = rows.get((rows.len() / 2).checked_sub(1)?)?.in_flight;
    Some((middle, end))
}

fn evidence(recorded: &Recorded, totals: &Times) -> Evidence {
    let Ledger { scheduled, unsent, good, failed, .. } = recorded.ledger;
    let window_s = recorded.span.window().as_secs_f64();
    Evidence {
        scheduled,
        // Requests that had a free connection when the window's end cut them off were not waiting.
        unsent: unsent - recorded.cut_off,
        good: good + recorded.warm_up.carried_over_good,
        finished: good + failed + recorded.warm_up.carried_over_good,
        local_errors: recorded.ledger.failed_by_class.get(&ErrorClass::Local).copied().unwrap_or_default(),
        ledger_closes: recorded.ledger.closes(),
        in_flight_mean: recorded.occupancy.area_ns as f64 / 1e9 / window_s,
        time_in_flight_s: recorded.occupancy.time_ns as f64 / 1e9,
        window_s,
        silent_s: silence(recorded, totals, window_s),
        ..Evidence::default()
    }
}

/// How long no correct response had come when the window ended, if not by chance. It must exceed the last third of the window and the
/// longest answer, while requests failed or waited.
fn silence(recorded: &Recorded, totals: &Times, window_s: f64) -> Option<f64> {
    let last_s = seconds(recorded.last_good?.ns_since(recorded.span.window_start));
    let silent_s = window_s - last_s;
    let longest_s = totals.response.max_s().unwrap_or_default();
    let ledger = &recorded.ledger;
    let wanted = ledger.failed + ledger.in_flight_at_end + ledger.unsent > 0;
    (wanted && silent_s > longest_s.max(SHORTEST_SILENCE_S) && silent_s > window_s / 3.0).then_some(silent_s)
}

fn judge(thresholds: &[Threshold], recorded: &Recorded, totals: &Times, window_s: f64) -> Vec<Judged> {
    let (ledger, drain) = (&recorded.ledger, &recorded.drain);
    let figures = Figures {
        window_s,
        good_in_window: ledger.good + recorded.warm_up.carried_over_good,
        failed_in_window: ledger.failed,
        good: ledger.good + drain.good,
        failed: ledger.failed + drain.failed,
        never_sent: drain.never_sent,
        times: totals,
    };
    thresholds.iter().map(|threshold| threshold.judge(&figures)).collect()
}

#[cfg(test)]
mod tests;
