//! Measures a published quantity in a trial, in base units.

use tolok_model::transcription::{Moment, Quantity, Row};
use tolok_model::{Measurement, ProgramTiming};

use crate::findings::MemorySource;
use crate::observations::{answers, goodput, per_answer};
use crate::programs::timings;

/// How two cases are compared by a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// The first over the second.
    Ratio,
    /// The first minus the second, for shares, which may be 0.
    Difference,
}

/// The measured quantity for a published one, or `None` if the lab measures nothing of that kind.
///
/// Throughput and requests become correct responses. Counts of failures become the share of requests that failed. Memory and CPU
/// have one figure each, whatever statistic was published.
pub(super) fn measured_as(published: &Quantity) -> Option<Quantity> {
    Some(match published {
        Quantity::Throughput | Quantity::Goodput | Quantity::Requests => Quantity::Goodput,
        Quantity::Failures | Quantity::ErrorRate | Quantity::HttpFailRate => Quantity::ErrorRate,
        Quantity::Timeouts => Quantity::Timeouts,
        Quantity::Latency(Moment::Whole) => Quantity::Latency(Moment::Mean),
        Quantity::Latency(Moment::Min | Moment::Sd) => return None,
        Quantity::Memory(Moment::Min | Moment::Sd) | Quantity::Cpu(Moment::Min | Moment::Sd) => return None,
        Quantity::Memory(_) => Quantity::Memory(Moment::Whole),
        Quantity::Cpu(_) => Quantity::Cpu(Moment::Whole),
        Quantity::Latency(_) | Quantity::Time(_) | Quantity::Runs => published.clone(),
        Quantity::Bandwidth | Quantity::Body | Quantity::CpuPerRequest => published.clone(),
        Quantity::Offered | Quantity::Successes | Quantity::Transferred | Quantity::Other(_) => return None,
    })
}

/// Whether this quantity judges the ratios that a table implies. A number of requests does so if the row has no rate and no
/// preset number of requests. It is then the rate of runs of one length.
pub(super) fn is_judged(published: &Quantity, row: &Row) -> bool {
    let is_typical = |moment: &Moment| matches!(moment, Moment::Whole | Moment::Mean | Moment::Percentile(_));
    match published {
        Quantity::Throughput | Quantity::Goodput | Quantity::CpuPerRequest => true,
        Quantity::Requests => {
            let has_rate = [Quantity::Throughput, Quantity::Goodput].iter().any(|rate| row.figure(rate).is_some());
            !has_rate && row.conditions.requests.is_none()
        }
        Quantity::Latency(moment) | Quantity::Time(moment) | Quantity::Cpu(moment) => is_typical(moment),
        Quantity::Memory(moment) => is_typical(moment) || *moment == Moment::Max,
        _ => false,
    }
}

pub(super) fn scale(measured: &Quantity) -> Scale {
    match measured {
        Quantity::ErrorRate | Quantity::Timeouts => Scale::Difference,
        _ => Scale::Ratio,
    }
}

/// The quantity in the window of a server.
pub(super) fn of_server(measured: &Quantity, memory: Option<MemorySource>, trial: &Measurement) -> Option<f64> {
    let value = match measured {
        Quantity::Goodput => goodput(trial)?,
        Quantity::ErrorRate | Quantity::Timeouts => {
            let (failed, finished) = failed_of(measured, trial)?;
            (finished > 0).then(|| failed as f64 / finished as f64)?
        }
        Quantity::Latency(Moment::Mean) => trial.compared_latency().mean_s?,
        Quantity::Latency(Moment::Max) => trial.compared_latency().max_s?,
        Quantity::Latency(Moment::Percentile(hundredths)) => {
            trial.compared_latency().at(f64::from(*hundredths) / 1e4)?
        }
        Quantity::Bandwidth => trial.body_bytes as f64 / trial.window_s,
        Quantity::Body => trial.body_bytes as f64 / answers(trial)?,
        Quantity::Memory(_) => memory?.bytes(trial)?,
        Quantity::Cpu(_) => trial.subject.as_ref()?.cpu_s / trial.window_s,
        Quantity::CpuPerRequest => per_answer(trial)?,
        _ => return None,
    };
    Some(value).filter(|value| value.is_finite())
}

/// Requests that failed in the specified way, and all finished requests. `None` for a quantity that is not such a share.
pub(super) fn failed_of(measured: &Quantity, trial: &Measurement) -> Option<(u64, u64)> {
    let failed = match measured {
        Quantity::ErrorRate => trial.ledger.failed_total(),
        Quantity::Timeouts => *trial.ledger.failed.get("timeout").unwrap_or(&0),
        _ => return None,
    };
    Some((failed, trial.ledger.finished()))
}

/// Whether a published quantity depends on the length of the load: memory grows, and requests fail when something is full.
pub(super) fn takes_time(measured: &Quantity) -> bool {
    matches!(measured, Quantity::ErrorRate | Quantity::Timeouts | Quantity::Memory(_))
}

/// The quantity in the runs of a program.
pub(super) fn of_program(measured: &Quantity, timing: &ProgramTiming) -> Option<f64> {
    let walls = || timing.runs.iter().map(|run| run.wall_s);
    match measured {
        Quantity::Time(Moment::Mean) => timings::mean_s(timing),
        Quantity::Time(Moment::Whole | Moment::Percentile(5000)) => timings::wall_s(timing),
        Quantity::Time(Moment::Min) => walls().reduce(f64::min),
        Quantity::Time(Moment::Max) => walls().reduce(f64::max),
        Quantity::Time(Moment::Sd) => spread(&walls().collect::<Vec<f64>>()),
        Quantity::Runs => Some(timing.runs.len() as f64),
        Quantity::Memory(_) => timings::rss_bytes(timing),
        Quantity::Cpu(_) => timings::busy(timing),
        _ => None,
    }
}

fn spread(values: &[f64]) -> Option<f64> {
    tolok_stats::Sample::new(values).ok()?.standard_deviation()
}
