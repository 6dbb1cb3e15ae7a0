//! A study's objectives as k6's thresholds, and their outcomes.

use tolok_model::{Connection, Limit, Metric, Objective, ObjectiveOutcome, ObjectiveRecord, Part, Relation};

use super::script::{DURATION, figure};
use super::summary::Summary;
use crate::driver::{LoadJob, ToolReport};

/// Share of the window's requests that failed according to k6: no complete response, or another status.
pub(super) const FAILED: &str = "http_req_failed{scenario:window}";
/// The same, where bodies of another length are failures too. It costs a value for each request, so it is recorded only
/// if an objective needs it.
pub(super) const WITH_FAILED_BODIES: &str = "tolok_failed";
/// Number of failures with the lab's script.
const FAILURES: &str = "tolok_failures";
/// Number of failures with a user's script.
const FAILURES_OF_USER: &str = "http_reqs{scenario:window,expected_response:false}";

/// An objective in k6's terms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Threshold {
    pub(super) metric: String,
    pub(super) figure: String,
    relation: Relation,
    limit: f64,
    /// Whether the figure is a time, in milliseconds.
    is_time: bool,
}

impl Threshold {
    /// `p(95)<200`
    pub(super) fn condition(&self) -> String {
        format!("{}{}{}", self.figure, self.relation.sign(), self.limit)
    }
}

/// Every objective that k6 can judge.
pub(super) fn thresholds(job: &LoadJob<'_>) -> Vec<Threshold> {
    job.scenario.objectives.iter().filter_map(|objective| threshold(objective, job)).collect()
}

fn threshold(objective: &Objective, job: &LoadJob<'_>) -> Option<Threshold> {
    let Objective { part, metric, comparison: relation, value } = *objective;
    let is_own = job.scenario.tool.script.is_none();
    let share_of_failed = if is_own && job.body_bytes.is_some() { WITH_FAILED_BODIES } else { FAILED };
    let failures = if is_own { FAILURES } else { FAILURES_OF_USER };
    let (of, figure, relation, limit) = match (metric, value) {
        (Metric::Failed, Limit::Share(share)) => (share_of_failed, "rate".to_owned(), relation, share),
        (Metric::Failed, Limit::Count(number)) => (failures, "count".to_owned(), relation, number as f64),
        // k6 does not count dropped iterations, so in an open loop this is not the whole objective.
        (Metric::Goodput, Limit::Share(share)) => (share_of_failed, "rate".to_owned(), mirrored(relation), 1.0 - share),
        // k6's rates count from the beginning of the run, including the warm-up.
        (_, Limit::Seconds(limit)) => (metric_of_time(part?, metric, job)?, figure(metric), relation, limit * 1e3),
        _ => return None,
    };
    let limit = (limit * 1e9).round() / 1e9;
    Some(Threshold { metric: of.to_owned(), figure, relation, limit, is_time: metric.is_time() })
}

/// k6's metric for a part of a request's time.
fn metric_of_time(part: Part, metric: Metric, job: &LoadJob<'_>) -> Option<&'static str> {
    // k6 records a time of zero for every request on an existing connection. Among these only the maximum stays
    // correct.
    let has_connect_times = job.scenario.load.connection == Connection::PerRequest || metric == Metric::Max;
    match part {
        Part::Response | Part::Service => Some(DURATION),
        Part::FirstByte => Some("http_req_waiting{scenario:window,expected_response:true}"),
        Part::Connect if has_connect_times => Some("http_req_connecting{scenario:window}"),
        Part::Connect | Part::Lateness | Part::Queue | Part::Failure => None,
    }
}

/// The relation for a share, given the relation for the rest of one.
fn mirrored(relation: Relation) -> Relation {
    match relation {
        Relation::Below => Relation::Above,
        Relation::AtMost => Relation::AtLeast,
        Relation::Above => Relation::Below,
        Relation::AtLeast => Relation::AtMost,
    }
}

/// The outcome of every objective: k6's judgement, or that of the counts in `report` where k6 cannot judge it.
pub(super) fn judged(job: &LoadJob<'_>, summary: &Summary, report: &ToolReport) -> Vec<ObjectiveRecord> {
    let judge = |objective: &Objective| {
        let of_k6 = threshold(objective, job).map(|threshold| said(&threshold, summary));
        let (value, holds) = match (of_k6, counted(objective, report)) {
            (Some((_, kept)), Some(counted)) => {
                let holds = if report.ledger.unsent == 0 { kept } else { Some(objective.holds(counted)) };
                (Some(counted), holds)
            }
            (Some((value, kept)), None) => (value, value.and(kept)),
            (None, counted) => (counted, counted.map(|counted| objective.holds(counted))),
        };
        let outcome = match holds {
            Some(true) => ObjectiveOutcome::Kept,
            Some(false) => ObjectiveOutcome::Crossed,
            None => ObjectiveOutcome::Unknown,
        };
        ObjectiveRecord { objective: objective.to_string(), value, outcome }
    };
    job.scenario.objectives.iter().map(judge).collect()
}

/// k6's figure in base units, if it has any values, and whether it reports that the threshold was kept.
fn said(threshold: &Threshold, summary: &Summary) -> (Option<f64>, Option<bool>) {
    let kept = summary.kept(&threshold.metric, &threshold.condition());
    let figure = summary.figure(&threshold.metric, &threshold.figure);
    // Without values k6 reports zero. No connection opens in zero time, so zero means that none was opened in the
    // window.
    let was_measured = |figure: &f64| match (threshold.is_time, threshold.figure.as_str()) {
        (true, _) => {
            let has_values = summary.figure(&threshold.metric, "count").is_some_and(|count| count > 0.0);
            has_values && (*figure > 0.0 || !threshold.metric.contains("connecting"))
        }
        (false, "count") => true,
        (false, _) => summary.has_requests(),
    };
    let value = figure.filter(was_measured).map(|figure| if threshold.is_time { figure / 1e3 } else { figure });
    (value, kept)
}

/// The figure of an objective that follows from counts alone.
fn counted(objective: &Objective, report: &ToolReport) -> Option<f64> {
    let ledger = &report.ledger;
    let finished = ledger.finished();
    match (objective.metric, objective.value) {
        (Metric::Goodput, Limit::Share(_)) => {
            let all = finished + ledger.unsent;
            (all > 0).then(|| ledger.good as f64 / all as f64)
        }
        (Metric::Goodput, Limit::PerSecond(_)) => Some(report.goodput_rps),
        (Metric::Rate, _) => Some(finished as f64 / report.window_s),
        _ => None,
    }
}
