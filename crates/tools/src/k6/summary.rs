//! Reads k6's summary: the object that it passes to a script's `handleSummary`, of which our scripts print `metrics`.

use std::collections::BTreeMap;

use serde::Deserialize;
use tolok_load::histogram::QUANTILES;
use tolok_model::{Connection, Executor, Latency, LatencyMark, LedgerCounts, LoadProfile, Metric, Percentile, Stage};

use super::objectives::{self, FAILED};
use super::script::{DROPPED, DURATION, OTHER, REQUESTS, classes, figure, warmup_s};
use crate::driver::{LoadJob, NotUnderstood, ToolOutput, ToolReport};

/// When the load began and ended, in milliseconds of the wall clock. k6's own times include the script's preparations.
const BEGAN: &str = "tolok_began_ms";
const ENDED: &str = "tolok_ended_ms";
/// What k6 prints when it stops at a threshold.
const ABORTED: &str = "abortOnFail enabled";
/// How much earlier than planned a load must end for its window to be shorter. k6 takes some time for its own work.
const EARLY_S: f64 = 0.1;

#[derive(Debug, Deserialize)]
pub(super) struct Summary {
    metrics: BTreeMap<String, MetricSaid>,
}

#[derive(Debug, Deserialize)]
struct MetricSaid {
    /// `None` for values that JSON cannot represent.
    values: BTreeMap<String, Option<f64>>,
    #[serde(default)]
    thresholds: BTreeMap<String, Verdict>,
}

#[derive(Debug, Deserialize)]
struct Verdict {
    ok: bool,
}

impl Summary {
    fn read(output: &ToolOutput) -> Result<Self, NotUnderstood> {
        let stdout = output.stdout.trim();
        if stdout.is_empty() {
            let last = last_error(&output.stderr).map(|words| format!(": {words}")).unwrap_or_default();
            return Err(NotUnderstood(format!("k6 gave no summary{last}")));
        }
        serde_json::from_str(stdout)
            .map_err(|error| NotUnderstood(format!("k6's summary is not what its script prints: {error}")))
    }

    /// A figure of a metric, if the metric exists and its figure is a number.
    pub(super) fn figure(&self, metric: &str, name: &str) -> Option<f64> {
        self.metrics.get(metric)?.values.get(name).copied().flatten()
    }

    /// k6's judgement of a threshold.
    pub(super) fn kept(&self, metric: &str, condition: &str) -> Option<bool> {
        Some(self.metrics.get(metric)?.thresholds.get(condition)?.ok)
    }

    /// Whether any request of the window was finished.
    pub(super) fn has_requests(&self) -> bool {
        self.figure(REQUESTS, "count").is_some_and(|count| count > 0.0)
    }

    /// A number that must exist.
    fn count(&self, metric: &str, name: &str) -> Result<u64, NotUnderstood> {
        let number = self.figure(metric, name).filter(|number| *number >= 0.0);
        number.map(|number| number as u64).ok_or_else(|| NotUnderstood(format!("k6's summary lacks {metric}: {name}")))
    }
}

/// Converts what k6 left into the report that every tool has.
pub(super) fn report(output: &ToolOutput, job: &LoadJob<'_>) -> Result<ToolReport, NotUnderstood> {
    let load = &job.scenario.load;
    let summary = Summary::read(output)?;
    let aborted = output.stderr.contains(ABORTED);
    let window_s = window_s(&summary, load, aborted)?;
    // An iteration of a user's script is not a request, and k6's rates count iterations.
    let arrivals = (job.scenario.tool.script.is_none()).then(|| arrivals(&load.executor, window_s)).flatten();
    let ledger = ledger(&summary, job, arrivals)?;
    let mut report = ToolReport {
        window_s,
        goodput_rps: ledger.good as f64 / window_s,
        body_bytes: body_bytes(job, ledger.good),
        latency: latency(&summary, job, &ledger),
        offered_rps: arrivals.map(|arrivals| arrivals / window_s),
        examples: examples(&output.stderr, &ledger.failed),
        ledger,
        aborted,
        ..ToolReport::default()
    };
    report.objectives = objectives::judged(job, &summary, &report);
    Ok(report)
}

/// Bytes of correct bodies, if all have the same length. The requests of a user's script may return anything.
fn body_bytes(job: &LoadJob<'_>, good: u64) -> u64 {
    let each = job.body_bytes.filter(|_| job.scenario.tool.script.is_none());
    good.saturating_mul(each.unwrap_or_default())
}

/// Length of the window: as planned, unless the load ended earlier.
fn window_s(summary: &Summary, load: &LoadProfile, aborted: bool) -> Result<f64, NotUnderstood> {
    let moment =
        |name| summary.figure(name, "value").ok_or_else(|| NotUnderstood(format!("k6's summary lacks {name}: value")));
    let lasted_s = (moment(ENDED)? - moment(BEGAN)?) / 1e3 - warmup_s(load);
    if lasted_s <= 0.0 {
        return Err(NotUnderstood("k6 ended before its window began".to_owned()));
    }
    // In an open loop k6 ends with the last arrival, which may be well before the end of the schedule.
    let ends_early = !load.executor.is_open() && lasted_s < load.duration_s - EARLY_S;
    match aborted || ends_early || load.executor.has_iterations() {
        true => Ok(lasted_s.min(load.duration_s)),
        false => Ok(load.duration_s),
    }
}

/// Iterations that the schedule starts within the window.
fn arrivals(executor: &Executor, window_s: f64) -> Option<f64> {
    match executor {
        Executor::ConstantArrivalRate { rate_rps, .. } => Some(rate_rps * window_s),
        Executor::RampingArrivalRate { start_rate_rps, stages, .. } => {
            Some(below_the_ramp(*start_rate_rps, stages, window_s))
        }
        _ => None,
    }
}

fn below_the_ramp(start: f64, stages: &[Stage], window_s: f64) -> f64 {
    let (mut level, mut rest_s, mut arrivals) = (start, window_s, 0.0);
    for stage in stages {
        let length_s = stage.duration_s.min(rest_s);
        let share = if stage.duration_s > 0.0 { length_s / stage.duration_s } else { 1.0 };
        let end = level + (stage.target - level) * share;
        arrivals += (level + end) / 2.0 * length_s;
        (level, rest_s) = (end, rest_s - length_s);
    }
    arrivals
}

/// What k6 and the script counted. Requests that the window's end interrupted are in none of k6's counts.
fn ledger(summary: &Summary, job: &LoadJob<'_>, arrivals: Option<f64>) -> Result<LedgerCounts, NotUnderstood> {
    let requests = summary.count(REQUESTS, "count")?;
    // k6 counts failures as passes.
    let (failed, not_failed) = match requests {
        0 => (0, 0),
        _ => (summary.count(FAILED, "passes")?, summary.count(FAILED, "fails")?),
    };
    if requests > 0 && failed + not_failed == 0 {
        let message = format!("k6 finished {requests} requests and judged none: the script has no response callback");
        return Err(NotUnderstood(message));
    }
    let told = |class: &&str| summary.figure(&format!("tolok_failed_{class}"), "count").map(|count| count as u64);
    let mut classes: BTreeMap<String, u64> =
        classes().filter_map(|class| Some((class.to_owned(), told(&class)?))).filter(|(_, count)| *count > 0).collect();
    let bad_bodies = classes.get("bad_body").copied().unwrap_or_default();
    // Failures according to k6 that have no class: all failures of a user's script, and those of ours whose user was
    // interrupted before the script could count them.
    let classed: u64 = classes.values().sum();
    let unclassed = (failed + bad_bodies).saturating_sub(classed);
    if unclassed > 0 {
        *classes.entry(OTHER.to_owned()).or_default() += unclassed;
    }
    let unsent = match job.scenario.load.executor.is_open() {
        true => summary.count(DROPPED, "count")?,
        false => 0,
    };
    Ok(LedgerCounts {
        scheduled: arrivals.map(|arrivals| arrivals.round() as u64),
        unsent,
        good: not_failed.saturating_sub(bad_bodies),
        failed: classes,
        ..LedgerCounts::default()
    })
}

/// Times of requests with the expected status.
fn latency(summary: &Summary, job: &LoadJob<'_>, ledger: &LedgerCounts) -> Latency {
    let load = &job.scenario.load;
    let count = summary.figure(DURATION, "count").unwrap_or_default();
    let seconds = |metric| summary.figure(DURATION, &figure(metric)).filter(|_| count > 0.0).map(|ms| ms / 1e3);
    let percentile = |quantile: f64| {
        let told_s = seconds(Metric::Quantile(quantile)).filter(|_| Percentile::is_told_by(quantile, count as u64));
        Percentile::new(quantile, told_s)
    };
    // k6 does not record how late an arrival is, and its duration excludes connecting.
    let from_send = load.executor.is_open() || load.connection == Connection::PerRequest;
    let with_failures = ledger.failed.contains_key("bad_body");
    let marks = [(from_send, LatencyMark::FromSend), (with_failures, LatencyMark::WithFailures)];
    Latency {
        model: load.executor.loop_model().to_owned(),
        percentiles: QUANTILES.map(percentile).into(),
        mean_s: seconds(Metric::Mean),
        max_s: seconds(Metric::Max),
        histogram: None,
        marks: marks.into_iter().filter(|(holds, _)| *holds).map(|(_, mark)| mark).collect(),
    }
}

/// The first failure of each class, as the script reported it. An iteration that the end interrupted may have reported
/// a timeout that k6 did not count.
fn examples(log: &str, failed: &BTreeMap<String, u64>) -> Vec<String> {
    let mut examples: BTreeMap<String, String> = BTreeMap::new();
    for message in log.lines().filter_map(message) {
        if let Some((class, words)) =
            message.strip_prefix("tolok: failed as ").and_then(|failure| failure.split_once(": "))
        {
            examples.entry(class.to_owned()).or_insert_with(|| words.to_owned());
        }
    }
    examples.into_iter().filter(|(class, _)| failed.contains_key(class)).map(|(_, words)| words).collect()
}

/// The message of the last line that k6 logs as an error.
fn last_error(log: &str) -> Option<String> {
    log.lines().rev().find(|line| line.contains("level=error")).and_then(message)
}

/// The message of a line of k6's log: `time="…" level=info msg="…" source=console`.
fn message(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("msg=")?;
    // A message of one word is not quoted. Quoted ones are escaped as in Go, which is like JSON except for rare
    // characters.
    let Some(quoted) = rest.strip_prefix('"') else { return rest.split(' ').next().map(str::to_owned) };
    let mut is_escaped = false;
    let end = quoted.find(|letter| {
        let is_end = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    })?;
    let written = &rest[..end + 2];
    Some(serde_json::from_str(written).unwrap_or_else(|_| quoted[..end].to_owned()))
}
