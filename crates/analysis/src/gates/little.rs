//! Checks Little's law with independent figures: the number of users, the rate of responses, and their time.

use tolok_model::{Connection, Executor, LatencyMark, LoadTool, Measurement};

use super::{Judged, SHORTEST_JUDGED_S, Seen, taken_by_others, warning};
use crate::case_inputs::CaseInputs;
use crate::figures::{in_column, small_share};
use crate::flag::{ERRORS_TOLERATED, FlagKind};
use crate::observations::answers;
use crate::usage::share;

/// The two sides may differ by this share, besides what the ends of the window explain.
pub const LITTLE_OFF: f64 = 0.03;
/// Fewer responses than this mostly cross the window's ends.
pub const FEWEST_ANSWERS_FOR_LITTLE: u64 = 100;
/// Above this share of the window spent waiting for a CPU, the generator delays users.
const WAITING_EXPLAINS: f64 = 0.05;

/// Both sides of the law in one trial.
struct Law {
    /// Users, or requests in flight. The second value leaves out those that never got a response.
    there: f64,
    there_least: f64,
    /// Rate × time. The second value assumes that every failed request lasted until its timeout.
    by_rate: f64,
    by_rate_most: f64,
    tolerated: f64,
    /// What `there` counts.
    noun: &'static str,
}

pub(super) fn judge(trial: &Measurement, inputs: &CaseInputs) -> Judged {
    if let Some(warned) = warning("little", trial, inputs) {
        return warned;
    }
    match law(trial, inputs) {
        Ok(law) => law.judged(cause(trial, inputs)),
        Err(reason) => Judged::Unknown(reason.to_owned()),
    }
}

/// What delays users between a response and their next request, when no count includes them. `None` if the generator got its CPU time.
fn cause(trial: &Measurement, inputs: &CaseInputs) -> Option<String> {
    // The record has the sum over threads. Those that load have a CPU each, and the others hardly wait.
    let waited = share(trial.generator.run_queue_wait_s, inputs.cpus.generator.max(1.0) * trial.window_s)?;
    if waited <= WAITING_EXPLAINS {
        return None;
    }
    let others = taken_by_others(trial, inputs).map(|_| "other programs took the CPU, and ").unwrap_or_default();
    Some(format!("{others}the generator waited {} of the time for a CPU", small_share(waited)))
}

/// The law for the scenario's loop, or why it does not apply.
fn law(trial: &Measurement, inputs: &CaseInputs) -> Result<Law, &'static str> {
    let load = &inputs.scenario.load;
    if trial.slices.is_some() {
        return Err("responses at the borders of slices are in no window");
    }
    if trial.window_s < SHORTEST_JUDGED_S {
        return Err("the window is too short");
    }
    if answers(trial).unwrap_or_default() < FEWEST_ANSWERS_FOR_LITTLE as f64 {
        return Err("there were too few responses");
    }
    let failed = trial.ledger.failed_total() as f64;
    if failed > ERRORS_TOLERATED * trial.ledger.finished() as f64 {
        return Err("too many requests failed, and how long those took is unknown");
    }
    // The latency of another tool may not cover all of the time between two requests of a user.
    if inputs.scenario.tool.name != LoadTool::Tolok {
        return Err("the tool's latencies need not be all of the time between two requests");
    }
    if trial.latency.marks.contains(&LatencyMark::DerivedMean) {
        return Err("the mean latency was not measured");
    }
    match &load.executor {
        Executor::ConstantVus { vus } => closed(trial, inputs, f64::from(*vus)),
        Executor::ConstantArrivalRate { .. } => open(trial, inputs),
        _ => Err("the load has more than one level"),
    }
}

/// N = X · (R + Z). `there_least` leaves out users who never got a response.
fn closed(trial: &Measurement, inputs: &CaseInputs, users: f64) -> Result<Law, &'static str> {
    let load = &inputs.scenario.load;
    let mean_s = trial.latency.mean_s.ok_or("the mean latency is not reported")?;
    let pause_s = load.think_time.map_or(0.0, |pause| f64::midpoint(pause.least_s, pause.most_s));
    let unanswered = trial.ledger.connections_unanswered.unwrap_or_default() as f64;
    let failed_per_s = trial.ledger.failed_total() as f64 / trial.window_s;
    let by_rate = trial.goodput_rps * (mean_s + pause_s) + failed_per_s * pause_s;
    Ok(Law {
        there: users,
        there_least: users - unanswered,
        by_rate,
        by_rate_most: by_rate + failed_per_s * load.timeout_s.min(trial.window_s),
        tolerated: tolerated(trial, mean_s, pause_s),
        noun: "users",
    })
}

/// L = X · S, where the generator measured L as a mean over time.
fn open(trial: &Measurement, inputs: &CaseInputs) -> Result<Law, &'static str> {
    let load = &inputs.scenario.load;
    if load.connection != Connection::KeepAlive {
        return Err("requests in flight connect as well, and for how long is unknown");
    }
    let checks = trial.checks.as_ref().ok_or("the record does not say how many requests were in flight")?;
    let in_flight = checks.in_flight_mean.ok_or("the record does not say how many requests were in flight")?;
    let mean_s = checks.service_mean_s.ok_or("the record does not say how long requests were in flight")?;
    let unanswered = trial.ledger.connections_unanswered.unwrap_or_default() as f64;
    let failed_per_s = trial.ledger.failed_total() as f64 / trial.window_s;
    let by_rate = trial.goodput_rps * mean_s;
    Ok(Law {
        there: in_flight,
        there_least: (in_flight - unanswered).max(0.0),
        by_rate,
        by_rate_most: by_rate + failed_per_s * load.timeout_s.min(trial.window_s),
        tolerated: tolerated(trial, mean_s, 0.0),
        noun: "requests in flight",
    })
}

/// Requests that cross an end of the window count on only one side of the law. An instant is more likely to fall into a long
/// request: the mean length of those under way is E\[R²\] ÷ E\[R\]. The ends can explain a difference of that length, plus a
/// pause, over the window. If all requests take the same time, this is requests in flight over responses.
fn tolerated(trial: &Measurement, mean_s: f64, pause_s: f64) -> f64 {
    let at_ends_s = if mean_s > 0.0 { mean_of_squares(trial, mean_s) / mean_s } else { 0.0 };
    LITTLE_OFF.max((at_ends_s + pause_s) / trial.window_s)
}

/// An upper bound of the mean squared latency: each latency is at most the next known percentile.
fn mean_of_squares(trial: &Measurement, mean_s: f64) -> f64 {
    let mut below: Vec<(f64, f64)> = trial
        .latency
        .percentiles
        .iter()
        .filter_map(|percentile| Some((percentile.quantile, percentile.latency_s?)))
        .chain(trial.latency.max_s.map(|max_s| (1.0, max_s)))
        .collect();
    below.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut from = 0.0;
    let of_step = |(quantile, latency_s): &(f64, f64)| {
        let share = quantile - from;
        from = *quantile;
        share * latency_s * latency_s
    };
    below.iter().map(of_step).sum::<f64>().max(mean_s * mean_s)
}

impl Law {
    fn judged(&self, cause: Option<String>) -> Judged {
        let above = if self.there > 0.0 { self.by_rate / self.there - 1.0 } else { 0.0 };
        let below = if self.there_least > 0.0 { 1.0 - self.by_rate_most / self.there_least } else { 0.0 };
        let off = above.max(below).max(0.0);
        let (there, by_rate) = (in_column(self.there), in_column(self.by_rate));
        let text = format!("{there} {}, and rate × time gives {by_rate}", self.noun);
        let text = match off {
            // Clocks are not exact enough to show less.
            none if none < 0.000_5 => text,
            off => format!("{text}: {} apart", small_share(off)),
        };
        if off <= self.tolerated {
            return Judged::Passed(Seen::number(text, off, self.tolerated));
        }
        let because = cause.map(|cause| format!(", probably because {cause}")).unwrap_or_default();
        let allowed = small_share(self.tolerated);
        let text = format!("Little’s law does not hold{because}: {text}, and {allowed} can be explained");
        Judged::Failed(Seen::number(text, off, self.tolerated), Some(FlagKind::Little))
    }
}
