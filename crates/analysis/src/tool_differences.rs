//! Known systematic differences between tools, and which of them affect a row.
//!
//! Each appears only if the tool, the load or the figures make it relevant, because readers skip sentences that appear on every
//! run.

use tolok_model::{Connection, Executor, LatencyMark, LoadProfile, LoadTool, Measurement, Percentile, Scenario};

use crate::figures::{Quantity, amount, counted, figure};
use crate::findings::Estimate;
use crate::findings::{CaseFinding, ToolRow};
use crate::observations::Observations;
use crate::tools::Answerer;

/// A tool's CPU time per response is mentioned from this multiple of that of tolok's own tool on.
const COSTLY: f64 = 2.0;
/// A tool that delivers a smaller share of the requested rate did not create that load.
const DELIVERED: f64 = 0.99;

/// A tool's task, and the figures to compare it with.
pub(crate) struct Asked<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) case: &'a CaseFinding,
    /// tolok's own tool, if the study includes it.
    pub(crate) own: Option<&'a Answerer<'a>>,
}

/// Known differences that affect a row, one sentence each; empty if nothing was measured.
pub(crate) fn notes(row: &ToolRow, asked: &Asked) -> Vec<String> {
    if row.trials_scored == 0 {
        return Vec::new();
    }
    let rules: [fn(&ToolRow, &Asked) -> Option<String>; 12] = [
        script,
        other_request,
        back_filled,
        derived_mean,
        against_little,
        from_send,
        corrected,
        with_failures,
        coarse,
        never_answered,
        undelivered,
        costly,
    ];
    rules.iter().filter_map(|rule| rule(row, asked)).collect()
}

fn has(row: &ToolRow, mark: LatencyMark) -> bool {
    row.latency_marks.contains(&mark)
}

fn script(row: &ToolRow, _: &Asked) -> Option<String> {
    let file = row.script.as_ref()?;
    Some(format!("Its users run {file}, which may send other requests than the other tools."))
}

fn other_request(_: &ToolRow, asked: &Asked) -> Option<String> {
    (asked.scenario.tool.name == LoadTool::Ab)
        .then(|| "It uses HTTP/1.0, which is other work for a server than the HTTP/1.1 of the others.".to_owned())
}

fn back_filled(row: &ToolRow, _: &Asked) -> Option<String> {
    has(row, LatencyMark::BackFilled).then(|| {
        "After the run it adds samples for requests that it should have sent, so its mean and percentiles include times that were never measured."
            .to_owned()
    })
}

fn derived_mean(row: &ToolRow, _: &Asked) -> Option<String> {
    has(row, LatencyMark::DerivedMean)
        .then(|| "Its mean is computed as connections over rate, so it can never contradict its rate.".to_owned())
}

fn against_little(row: &ToolRow, asked: &Asked) -> Option<String> {
    let waiting = waiting(row, &asked.scenario.load)?;
    Some(format!("Its mean cannot come from real responses: {waiting}."))
}

/// What a mean latency that breaks Little's law would imply, or `None` if it does not break it.
pub(crate) fn waiting(row: &ToolRow, load: &LoadProfile) -> Option<String> {
    let little = row.little.as_ref().filter(|_| row.trials_against_little > 0)?;
    let connections = load.connections_max()?;
    // The worst trial counts, because the median may be possible.
    let worst = little.trials.iter().copied().fold(little.value, f64::max);
    let waiting = amount(Quantity::Number, worst * f64::from(connections));
    Some(format!(
        "at its rate {waiting} requests would have waited at once, on {}",
        counted(u64::from(connections), "connection")
    ))
}

/// A latency that starts when the request is sent excludes earlier waits.
fn from_send(row: &ToolRow, asked: &Asked) -> Option<String> {
    let is_open = asked.scenario.load.executor.is_open();
    let before = match asked.scenario.tool.name {
        LoadTool::K6 if is_open => {
            ": it drops an arrival if no virtual user is free, and no latency includes that wait"
        }
        LoadTool::Hey | LoadTool::H2load if is_open => {
            ": each connection first waits for its last response, so no figure shows late arrivals"
        }
        _ if !has(row, LatencyMark::FromSend) => return None,
        _ if is_open => ": no latency includes an arrival’s wait before that",
        _ if asked.scenario.load.connection == Connection::PerRequest => ", when its connection is open already",
        _ => ", and not when its user became free",
    };
    Some(format!("Its latencies begin when a request is sent{before}."))
}

fn corrected(row: &ToolRow, asked: &Asked) -> Option<String> {
    let is_corrected = asked.scenario.tool.name == LoadTool::Oha && asked.scenario.load.executor.is_open();
    (is_corrected && !has(row, LatencyMark::FromSend)).then(|| {
        "Its latencies begin when a request was due only because it runs with --latency-correction.".to_owned()
    })
}

fn with_failures(row: &ToolRow, _: &Asked) -> Option<String> {
    let failed: u64 = row.errors.iter().map(|(_, number)| number).sum();
    (failed > 0 && has(row, LatencyMark::WithFailures))
        .then(|| format!("Its latencies include those of {}.", counted(failed, "failed request")))
}

fn coarse(row: &ToolRow, _: &Asked) -> Option<String> {
    has(row, LatencyMark::Coarse)
        .then(|| "Its times come in coarse steps (whole milliseconds, or tenths), so short ones say little.".to_owned())
}

/// It does not matter if tolok's own tool saw a response to every request.
fn never_answered(_: &ToolRow, asked: &Asked) -> Option<String> {
    if asked.scenario.tool.name != LoadTool::Wrk {
        return None;
    }
    let text = "It counts a request when its response comes, so it misses requests that never get one";
    let Some(own) = asked.own else { return Some(format!("{text}.")) };
    let trials = || own.observations.trials().map(|trial| &trial.ledger);
    let unanswered = trials().filter_map(|ledger| ledger.connections_unanswered).max().unwrap_or_default();
    let timeouts = trials().filter_map(|ledger| ledger.failed.get("timeout")).sum::<u64>();
    match (unanswered, timeouts) {
        (0, 0) => None,
        (0, timeouts) => Some(format!("{text}; tolok saw {}.", counted(timeouts, "time-out"))),
        (most, _) => Some(format!("{text}; tolok saw up to {} without a response.", counted(most, "connection"))),
    }
}

fn undelivered(row: &ToolRow, asked: &Asked) -> Option<String> {
    if asked.scenario.tool.name == LoadTool::Tolok {
        return None;
    }
    let Executor::ConstantArrivalRate { rate_rps, .. } = asked.scenario.load.executor else { return None };
    let said = row.goodput_rps.as_ref()?.value;
    let own = asked.own.and_then(|own| own.case.goodput_rps.as_ref()).map(|goodput| goodput.value);
    // If no tool delivers the rate, the server does not keep up.
    if said >= DELIVERED * rate_rps || own.is_some_and(|own| own < DELIVERED * rate_rps) {
        return None;
    }
    let dropped = asked.case.requests_unsent;
    let dropped = if dropped > 0 { format!(", and left {} out", counted(dropped, "request")) } else { String::new() };
    let [said, rate] = [said, rate_rps].map(|rate| amount(Quantity::Number, rate));
    let by_tolok = if own.is_some() { ", which tolok did deliver" } else { "" };
    Some(format!("It delivered {said} of the {rate} a second that the study asks for{by_tolok}{dropped}."))
}

fn costly(row: &ToolRow, asked: &Asked) -> Option<String> {
    // Only if the interval of the ratio within blocks excludes 1. Without an interval, a difference is not established.
    let is_sure = |ratio: &&Estimate| ratio.low.is_some_and(|low| low > 1.0);
    let of_own = row.generator_cpu_of_own.as_ref().filter(|ratio| ratio.value >= COSTLY).filter(is_sure)?;
    let cost = amount(Quantity::Seconds, row.generator_cpu_s_per_good.as_ref()?.value);
    let why = if asked.scenario.tool.name == LoadTool::K6 { ": its users are JavaScript" } else { "" };
    let times = figure(Quantity::Ratio, of_own).line();
    Some(format!("It spends {cost} of CPU time on a response, {times} of what tolok spends{why}."))
}

/// What a tool does not report, in words. Empty for tolok's own tool, and if nothing was measured.
pub(crate) fn does_not_tell(scenario: &Scenario, observations: &Observations) -> Vec<String> {
    if scenario.tool.name == LoadTool::Tolok || observations.scored.is_empty() {
        return Vec::new();
    }
    let lacks = |what: &dyn Fn(&Measurement) -> bool| observations.trials().any(what);
    let percentile = |quantile: f64| {
        lacks(&move |trial| Percentile::is_told_by(quantile, trial.ledger.good) && trial.latency.at(quantile).is_none())
    };
    let is_open = scenario.load.executor.is_open();
    // These tools are known to check only the status.
    let by_status = matches!(scenario.tool.name, LoadTool::Wrk | LoadTool::H2load | LoadTool::Hey | LoadTool::Oha);
    let told = [
        (lacks(&|trial| trial.ledger.unaccounted().is_none()), "what became of every request"),
        (by_status, "whether bodies were right"),
        (lacks(&|trial| trial.latency.mean_s.is_none()), "mean latency"),
        (percentile(0.5), "p50"),
        (percentile(0.99), "p99"),
        (lacks(&|trial| trial.latency.max_s.is_none()), "longest latency"),
        (lacks(&|trial| trial.latency.histogram.is_none()), "the distribution of latencies"),
        (is_open, "how late its requests left"),
    ];
    told.into_iter().filter(|(is_lacking, _)| *is_lacking).map(|(_, words)| words.to_owned()).collect()
}
