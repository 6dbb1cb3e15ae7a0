//! tolok's own load engine as a tool: `tolok load … --events --format json`.

use serde::Serialize;
use tolok_load::histogram::HistogramError;
use tolok_load::record::{ClientRecord, ClientRecords, LoopModel, PartRecord, Record, SecondRow, ThreadSummary};
use tolok_load::schedule::Phase;
use tolok_load::threshold::{Judged, KeptOrCrossed};
use tolok_load::verdict::{Doubt, Reason, Verdict};
use tolok_model::{
    Arrivals, ClientFigures, Clients, Connection, Executor, LatePercentile, Latency, LedgerCounts, LoadChecks,
    LoadProfile, LoadTool, Objective, ObjectiveOutcome, ObjectiveRecord, PartFigures, Percentile, Pool, Resources,
    Scenario, SecondSeries, Stage, ToolWarning, percent_words,
};

use super::driver::{Answers, Borders, Driver, Invocation, LoadJob, NotUnderstood, Requests, ToolOutput, ToolReport};
use super::tail::tail;

/// In an open loop, a stall at the end of the window shows in no percentile unless the tool waits for pending
/// responses. Responses that take longer than this wait count in the percentiles as at least that long. In a closed loop
/// at most one request per user is in flight at the end.
const OPEN_GRACE: &str = "1s";
/// If responses are numbers of a counter, all must arrive before their sum is known.
const COUNTED_GRACE: &str = "5s";
#[derive(Debug)]
pub struct Tolok;

impl Driver for Tolok {
    fn tool(&self) -> LoadTool {
        LoadTool::Tolok
    }

    fn invocation(&self, job: &LoadJob<'_>) -> Invocation {
        Invocation { arguments: arguments(job), borders: Borders::Told, ..Invocation::default() }
    }

    fn report(&self, output: &ToolOutput, _: &LoadJob<'_>) -> Result<ToolReport, NotUnderstood> {
        let record = serde_json::from_str::<Record>(&output.stdout);
        let record = record.map_err(|error| NotUnderstood(format!("it gave no record: {error}")))?;
        report(record).map_err(NotUnderstood)
    }
}

/// Arguments of `tolok load` for a job.
pub(super) fn arguments(job: &LoadJob<'_>) -> Vec<String> {
    let load = &job.scenario.load;
    let mut arguments = vec!["load".to_owned(), url(job).to_owned()];
    arguments.extend(when(load));
    arguments.extend([
        format!("--warmup={}", duration(load.warmup_s)),
        format!("--timeout={}", duration(load.timeout_s)),
        format!("--grace={}", grace(job)),
        format!("--expect-status={}", job.status),
    ]);
    arguments.extend(what(job));
    arguments.extend(["--format=json".to_owned(), "--events".to_owned()]);
    match load.connection {
        Connection::KeepAlive => {}
        Connection::PerRequest => arguments.push("--no-keepalive".to_owned()),
        Connection::Requests(requests) => arguments.push(format!("--requests-per-connection={requests}")),
    }
    if draws_at_random(load) || matches!(job.answers, Answers::Requests(_)) {
        arguments.push(format!("--seed={}", job.seed));
    }
    arguments.extend(spoken(job.scenario));
    arguments.extend(job.scenario.objectives.iter().map(|objective| format!("--threshold={objective}")));
    if job.scenario.abort {
        arguments.push("--abort".to_owned());
    }
    arguments.extend(job.generators.iter().map(|generator| format!("--generator={generator}")));
    arguments
}

/// The arguments for the protocol. The certificate is the lab's own, made for the run, so verifying it would prove
/// nothing.
fn spoken(Scenario { protocol, streams, .. }: &Scenario) -> Vec<String> {
    let shared = if protocol.is_http2() { "streams" } else { "pipeline" };
    let streams = (*streams > 1).then(|| format!("--{shared}={streams}"));
    let parts = [protocol.is_encrypted().then_some("--insecure"), protocol.is_http2().then_some("--http2")];
    parts.into_iter().flatten().map(str::to_owned).chain(streams).collect()
}

fn grace(job: &LoadJob<'_>) -> &'static str {
    match job.answers {
        Answers::Status => COUNTED_GRACE,
        _ if job.scenario.load.executor.is_open() => OPEN_GRACE,
        _ => "0s",
    }
}

/// The URL. Without its path if requests have their own, because `tolok load` would reject that as a contradiction.
fn url<'a>(job: &'a LoadJob<'_>) -> &'a str {
    let after_scheme = job.url.find("://").map_or(0, |at| at + 3);
    match (&job.answers, job.url[after_scheme..].find('/')) {
        (Answers::Requests(_), Some(path)) => &job.url[..after_scheme + path],
        _ => &job.url,
    }
}

/// What to send, and what to compare responses with.
fn what(job: &LoadJob<'_>) -> Vec<String> {
    if let Answers::Requests(requests) = &job.answers {
        return listed(requests);
    }
    let method = (job.method != "GET").then(|| format!("--method={}", job.method));
    let body = match &job.answers {
        Answers::Body(file) => Some(format!("--expect-body={}", file.display())),
        Answers::Length(bytes) => Some(format!("--expect-length={bytes}")),
        Answers::Requests(_) | Answers::Status => None,
    };
    let sent = job.sent.iter().flat_map(|(file, content_type)| {
        [format!("--body=@{}", file.display()), format!("--header=Content-Type: {content_type}")]
    });
    method.into_iter().chain(sent).chain(body).collect()
}

fn listed(Requests { file, data, sequence }: &Requests) -> Vec<String> {
    let data = data
        .iter()
        .flat_map(|(file, order)| [format!("--data={}", file.display()), format!("--data-order={}", word(order))]);
    let sequence = sequence.then(|| "--sequence".to_owned());
    [format!("--request-file={}", file.display())].into_iter().chain(data).chain(sequence).collect()
}

/// When requests start: the executor and its options.
fn when(load: &LoadProfile) -> Vec<String> {
    let window = format!("--duration={}", duration(load.duration_s));
    let stages = |stages: &[Stage]| -> Vec<String> {
        stages.iter().map(|stage| format!("--stage={}:{}", stage.target, duration(stage.duration_s))).collect()
    };
    let mut arguments = match &load.executor {
        Executor::ConstantVus { vus } => vec![format!("--vus={vus}"), window],
        Executor::RampingVus { start_vus, stages: up_and_down } => {
            [vec![format!("--vus={start_vus}")], stages(up_and_down)].concat()
        }
        Executor::PerVuIterations { vus, iterations } => {
            vec![format!("--vus={vus}"), format!("--iterations-per-vu={iterations}"), window]
        }
        Executor::SharedIterations { vus, iterations } => {
            vec![format!("--vus={vus}"), format!("--iterations={iterations}"), window]
        }
        Executor::ConstantArrivalRate { rate_rps, arrivals } => {
            vec![format!("--rate={rate_rps}"), format!("--arrivals={}", arrivals.word()), window]
        }
        Executor::RampingArrivalRate { start_rate_rps, stages: up_and_down, arrivals } => {
            let start = vec![format!("--rate={start_rate_rps}"), format!("--arrivals={}", arrivals.word())];
            [start, stages(up_and_down)].concat()
        }
    };
    arguments.extend(load.pool.map(|pool| match pool {
        Pool::Bounded(connections) => format!("--pool={connections}"),
        Pool::Unbounded => "--pool=unbounded".to_owned(),
    }));
    arguments.extend(load.think_time.map(|pause| match (duration(pause.least_s), duration(pause.most_s)) {
        (least, most) if least == most => format!("--think={least}"),
        (least, most) => format!("--think={least}..{most}"),
    }));
    let pace = [("read", load.pace.read_bytes_per_s), ("write", load.pace.write_bytes_per_s)];
    arguments.extend(pace.into_iter().filter_map(|(what, rate)| Some(format!("--{what}-rate={}B/s", rate?))));
    arguments.extend(load.pace.slow_share.map(|share| format!("--slow-share={}%", percent_words(share))));
    arguments
}

fn duration(seconds: f64) -> String {
    format!("{}us", (seconds * 1e6).round() as u64)
}

fn draws_at_random(load: &LoadProfile) -> bool {
    let drawn_pause = load.think_time.is_some_and(|pause| pause.least_s < pause.most_s);
    let drawn_arrivals = match load.executor {
        Executor::ConstantArrivalRate { arrivals, .. } | Executor::RampingArrivalRate { arrivals, .. } => {
            arrivals == Arrivals::Poisson
        }
        _ => false,
    };
    drawn_pause || drawn_arrivals
}

/// Converts the engine's record into the report that every tool has.
fn report(record: Record) -> Result<ToolReport, String> {
    if record.format != Record::FORMAT {
        return Err(format!("its record has format {}, and {} is known", record.format, Record::FORMAT));
    }
    if record.interrupted && !record.aborted {
        return Err("it was interrupted".to_owned());
    }
    // No sound record has an empty window, over which a rate would not be finite.
    if record.window_s <= 0.0 {
        return Err("it measured no window".to_owned());
    }
    let failed = record.ledger.failed_by_class.iter().map(|(class, count)| (class.name().to_owned(), *count));
    // Responses in the window to requests of the warm-up are work done in the window. Without them the goodput of slow
    // subjects would be too low by up to one request for each connection.
    let answered = record.ledger.good + record.warm_up.carried_over_good;
    let checks = checks(&record);
    let is_apart = !record.generator.nodes.is_empty();
    let series = series(&record.timeline).map_err(|error| format!("a second of its record: {error}"))?;
    Ok(ToolReport {
        window_s: record.window_s,
        generators: is_apart.then(|| used_by(&record)),
        goodput_rps: answered as f64 / record.window_s,
        body_bytes: answered * record.plan.expected_body_bytes.unwrap_or_default(),
        last_good_s: record.last_good_s,
        // A request from the warm-up waits like one from the window, and so does an arrival without a connection.
        waiting_at_end: Some(
            record.ledger.in_flight_at_end + record.ledger.unsent + record.warm_up.carried_over_waiting,
        ),
        carried_over: record.warm_up.carried_over,
        carried_over_good: record.warm_up.carried_over_good,
        sent_in_all: Some(record.whole_run.sent),
        answered_in_all: Some(record.whole_run.good),
        ledger: LedgerCounts {
            scheduled: Some(record.ledger.scheduled),
            unsent: record.ledger.unsent,
            sent: Some(record.ledger.sent),
            good: record.ledger.good,
            failed: failed.collect(),
            in_flight_at_end: Some(record.ledger.in_flight_at_end),
            connections: Some(record.connections.opened),
            connections_unanswered: Some(record.connections.never_answered),
        },
        latency: Latency {
            model: loop_model(record.plan.loop_model),
            percentiles: record.response_time.percentiles.iter().map(|it| of_target(it, &record.verdict)).collect(),
            mean_s: record.response_time.mean_s,
            max_s: record.response_time.max_s,
            histogram: Some(record.response_time.histogram),
            marks: Vec::new(),
        },
        parts: record.parts.iter().map(part).collect(),
        clients: record.clients.map(|clients| Box::new(clients_of(clients, record.plan.loop_model))),
        offered_rps: record.offered_rps,
        tool_warnings: tool_warnings(&record.verdict),
        objectives: record.thresholds.iter().map(objective).collect(),
        aborted: record.aborted,
        examples: record.error_examples.iter().map(|example| example.text.clone()).collect(),
        checks: Some(checks),
        series: Some(series),
        timeline: record.timeline.iter().filter_map(without_histograms).collect(),
    })
}

/// The total use of the engine's threads.
fn used_by(record: &Record) -> Resources {
    let threads = &record.generator.threads;
    let cpu_s = |thread: &ThreadSummary| thread.cpu_user_s + thread.cpu_system_s;
    Resources {
        cpu_s: threads.iter().map(cpu_s).sum(),
        user_s: Some(record.cpu_user_s),
        system_s: Some(record.cpu_system_s),
        run_queue_wait_s: threads.iter().filter_map(|thread| thread.run_queue_wait_s).sum(),
        busiest_thread_cpu_s: threads.iter().map(cpu_s).reduce(f64::max),
        processes_max: record.generator.nodes.len() as u32,
        threads_max: threads.len() as u32,
        ..Resources::default()
    }
}

/// What the record can be checked with.
fn checks(record: &Record) -> LoadChecks {
    let lateness = |quantile: f64| {
        let is_it = |percentile: &&tolok_load::record::Percentile| (percentile.quantile - quantile).abs() < 1e-9;
        record.lateness.percentiles.iter().find(is_it).and_then(|percentile| percentile.latency_s)
    };
    LoadChecks {
        in_flight_mean: record.in_flight_mean,
        service_mean_s: record.service_time.mean_s,
        lateness_p50_s: lateness(0.5),
        lateness_p99_s: lateness(0.99),
        late_percentiles: record.punctual_time.as_ref().map(|_| {
            let late = |doubt: &Doubt| LatePercentile { quantile: doubt.quantile, moved: doubt.moved };
            record.verdict.doubted.iter().map(late).collect()
        }),
        busiest_thread: record.generator_busy,
        body_check: Some(record.plan.body_check.clone()),
    }
}

/// The whole seconds of the window with the tail of its responses, and those of the warm-up before it.
fn series(timeline: &[SecondRow]) -> Result<SecondSeries, HistogramError> {
    let warm_up = seconds_of(&whole_seconds(Phase::WarmUp, timeline));
    let warm_up = (!warm_up.good.is_empty()).then(|| Box::new(warm_up));
    let window = whole_seconds(Phase::Measure, timeline);
    Ok(SecondSeries { warm_up, tail: tail(&window)?, ..seconds_of(&window) })
}

/// The whole seconds of a phase. Only its last second may be shorter, so they are consecutive.
fn whole_seconds(phase: Phase, timeline: &[SecondRow]) -> Vec<&SecondRow> {
    timeline.iter().filter(|row| row.phase == phase && row.duration_s > 0.999).collect()
}

fn seconds_of(whole: &[&SecondRow]) -> SecondSeries {
    let rows = || whole.iter();
    SecondSeries {
        start_s: whole.first().map_or(0.0, |row| row.start_s),
        good: rows().map(|row| row.good).collect(),
        failed: rows().map(|row| row.failed).collect(),
        latency_p50_s: rows().map(|row| row.p50_s).collect(),
        ..SecondSeries::default()
    }
}

/// A row for the timeline of the trial, without histograms. They take most space, and the tool's own record has them.
fn without_histograms(row: &SecondRow) -> Option<serde_json::Value> {
    let mut value = serde_json::to_value(row).ok()?;
    let fields = value.as_object_mut()?;
    for histogram in ["response_time", "service_time", "lateness"] {
        fields.remove(histogram);
    }
    Some(value)
}

/// Why the tool does not trust its own figures.
fn tool_warnings(verdict: &Verdict) -> Vec<ToolWarning> {
    let warning = |reason: &Reason| ToolWarning { gate: word(&reason.gate), text: reason.text.clone() };
    let warnings: Vec<ToolWarning> = verdict.reasons.iter().map(warning).collect();
    if verdict.trusted || !warnings.is_empty() {
        return warnings;
    }
    vec![ToolWarning { gate: "unknown".to_owned(), text: "the load tool gave no reason".to_owned() }]
}

/// A threshold is the tool's form of an objective. Converts it to tolok's canonical form.
fn objective(threshold: &Judged) -> ObjectiveRecord {
    let text = &threshold.text;
    ObjectiveRecord {
        objective: Objective::parse(text).map_or_else(|_| text.clone(), |objective| objective.to_string()),
        value: threshold.value,
        outcome: match threshold.outcome {
            KeptOrCrossed::Kept => ObjectiveOutcome::Kept,
            KeptOrCrossed::Crossed => ObjectiveOutcome::Crossed,
            KeptOrCrossed::Unknown => ObjectiveOutcome::Unknown,
        },
    }
}

/// The serialised form of a value that is a single word.
fn word(value: &impl Serialize) -> String {
    let written = serde_json::to_value(value).unwrap_or_default();
    written.as_str().unwrap_or_default().to_owned()
}

/// A part of a mixed workload.
pub(super) fn part(found: &PartRecord) -> PartFigures {
    PartFigures {
        part: found.part.clone(),
        asked_share: found.asked_share,
        sent: found.sent,
        good: found.good,
        failed: found.failed,
        percentiles: found.response_time.percentiles.iter().map(percentile).collect(),
    }
}

fn loop_model(model: LoopModel) -> String {
    match model {
        LoopModel::Closed => "closed".to_owned(),
        LoopModel::Open => "open".to_owned(),
    }
}

fn clients_of(found: ClientRecords, model: LoopModel) -> Clients {
    let of = |clients: ClientRecord| ClientFigures {
        users: clients.users,
        goodput_rps: clients.goodput_rps.unwrap_or_default(),
        sent: clients.sent,
        good: clients.good,
        failed: clients.failed,
        latency: Latency {
            model: loop_model(model),
            percentiles: clients.response_time.percentiles.iter().map(percentile).collect(),
            mean_s: clients.response_time.mean_s,
            max_s: clients.response_time.max_s,
            histogram: Some(clients.response_time.histogram),
            marks: Vec::new(),
        },
    };
    Clients { fast: of(found.fast), slow: of(found.slow) }
}

pub(super) fn percentile(found: &tolok_load::record::Percentile) -> Percentile {
    Percentile { at_least_s: found.at_least_s, ..Percentile::new(found.quantile, found.latency_s) }
}

/// The percentile, without a value if the generator's lateness makes up too much of it.
fn of_target(found: &tolok_load::record::Percentile, verdict: &Verdict) -> Percentile {
    let is_doubted = verdict.doubted.iter().any(|doubt| (doubt.quantile - found.quantile).abs() < 1e-9);
    if is_doubted { Percentile::new(found.quantile, None) } else { percentile(found) }
}

#[cfg(test)]
mod tests;
