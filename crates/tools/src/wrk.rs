//! wrk: a closed loop for a time, in whole seconds.
//!
//! It counts completed responses of any status, including those after its timeout. Requests without a response are in
//! none of its figures.

use tolok_load::fault::ErrorClass;
use tolok_model::{LatencyMark, LoadTool};

use super::driver::{Borders, Driver, Invocation, LoadJob, NotUnderstood, ToolOutput, ToolReport};
use super::printed::{
    after, count, failed, figure, is_success, load_shape, missing, number, percentiles, report, seconds, whole_seconds,
};

pub struct Wrk;

const WRK: &str = "wrk";

impl Driver for Wrk {
    fn tool(&self) -> LoadTool {
        LoadTool::Wrk
    }

    fn invocation(&self, job: &LoadJob<'_>) -> Invocation {
        let load = &job.scenario.load;
        Invocation {
            warm_up: (load.warmup_s > 0.0).then(|| arguments(job, load.warmup_s)),
            arguments: arguments(job, load.duration_s),
            borders: Borders::Process,
            ..Invocation::default()
        }
    }

    fn report(&self, output: &ToolOutput, job: &LoadJob<'_>) -> Result<ToolReport, NotUnderstood> {
        let stdout = &output.stdout;
        let (requests, window_s) = requests_and_window(output)?;
        // Its last line: an output that lacks it was cut off, and earlier lines may be too.
        after(stdout, "Transfer/sec:").ok_or_else(|| missing(WRK, "line `Transfer/sec:`", output))?;
        let refusals = after(stdout, "Non-2xx or 3xx responses:").map(|text| {
            count(text).ok_or_else(|| missing(WRK, "count in its line `Non-2xx or 3xx responses:`", output))
        });
        let refusals = refusals.transpose()?.unwrap_or(0);
        let [connect, read, write, late] = socket_errors(output)?;
        let bad_status = if is_success(job.status) { refusals } else { requests.saturating_sub(refusals) };
        let mut told = report((WRK, output), job, window_s, requests.saturating_sub(bad_status).saturating_sub(late))?;
        told.ledger.failed = failed([
            (ErrorClass::BadStatus, bad_status),
            (ErrorClass::Timeout, late),
            (ErrorClass::Connect, connect),
            // wrk does not distinguish closed from reset connections, nor either from an invalid response.
            (ErrorClass::Closed, read),
            (ErrorClass::Reset, write),
        ]);
        told.examples.extend(after(stdout, "Socket errors:").map(|errors| format!("wrk's socket errors: {errors}")));
        let samples = requests.saturating_sub(late);
        if samples > 0 {
            let [mean_s, max_s] = mean_and_max(output)?;
            told.latency.mean_s = Some(mean_s);
            told.latency.max_s = Some(max_s);
            told.latency.percentiles = percentiles(distribution(output)?, samples);
            told.latency.marks.push(LatencyMark::BackFilled);
        }
        if bad_status > 0 {
            told.latency.marks.push(LatencyMark::WithFailures);
        }
        Ok(told)
    }
}

fn arguments(job: &LoadJob<'_>, for_s: f64) -> Vec<String> {
    let shape = load_shape(&job.scenario.load);
    let mut arguments = vec![
        format!("-t{}", threads(job.cpus, shape.connections)),
        format!("-c{}", shape.connections),
        format!("-d{}s", whole_seconds(for_s)),
        "--timeout".to_owned(),
        format!("{}s", whole_seconds(job.scenario.load.timeout_s)),
        "--latency".to_owned(),
    ];
    if shape.per_request {
        arguments.extend(["-H".to_owned(), "Connection: close".to_owned()]);
    }
    arguments.push(job.url.clone());
    arguments
}

/// wrk gives every thread the same number of connections and drops the rest: 9 connections on 2 threads become 8. So
/// the number of threads divides the connections, and is at most that of the CPUs.
fn threads(cpus: usize, connections: u64) -> u64 {
    let most = (cpus as u64).clamp(1, connections);
    (1..=most).rev().find(|threads| connections.is_multiple_of(*threads)).unwrap_or(1)
}

/// Parses `223354 requests in 2.10s, 21.51MB read`, and `Requests/sec: 106299.57`. Both have two decimals, so the
/// larger number has the smaller relative error, and the window follows from it.
fn requests_and_window(output: &ToolOutput) -> Result<(u64, f64), NotUnderstood> {
    let line = "line `… requests in …`";
    let read = |line: &str| {
        let (requests, rest) = line.trim().split_once(" requests in ")?;
        let (window, _) = rest.split_once(',')?;
        Some((count(requests)?, seconds(window)?, number(window.trim_end_matches(char::is_alphabetic))?))
    };
    let (requests, printed_s, digits) =
        output.stdout.lines().find_map(read).ok_or_else(|| missing(WRK, line, output))?;
    let rate_rps = figure((WRK, output), "Requests/sec:", number)?;
    let window_s = if rate_rps > digits { requests as f64 / rate_rps } else { printed_s };
    Ok((requests, window_s))
}

/// `connect 0, read 2958, write 0, timeout 0`. The line is absent if all are zero.
fn socket_errors(output: &ToolOutput) -> Result<[u64; 4], NotUnderstood> {
    let Some(line) = after(&output.stdout, "Socket errors:") else { return Ok([0; 4]) };
    let mut errors = [0; 4];
    for (number, name) in errors.iter_mut().zip(["connect", "read", "write", "timeout"]) {
        let found = line.split(", ").find_map(|part| part.strip_prefix(name)?.strip_prefix(' ').and_then(count));
        *number = found.ok_or_else(|| missing(WRK, &format!("`{name}` in its line `Socket errors:`"), output))?;
    }
    Ok(errors)
}

/// `Latency   804.30us    1.98ms  20.12ms   90.68%`: mean, deviation, maximum.
fn mean_and_max(output: &ToolOutput) -> Result<[f64; 2], NotUnderstood> {
    let read = |line: &str| {
        let mut figures = line.trim_start().strip_prefix("Latency ")?.split_whitespace();
        Some([seconds(figures.next()?)?, seconds(figures.nth(1)?)?])
    };
    output.stdout.lines().find_map(read).ok_or_else(|| missing(WRK, "line `Latency` with a mean and a maximum", output))
}

/// The lines below `Latency Distribution`, which wrk2 continues: `50%   59.00us`.
fn distribution(output: &ToolOutput) -> Result<Vec<(f64, f64)>, NotUnderstood> {
    let read = |line: &str| {
        let (percent, latency) = line.trim().split_once('%')?;
        Some((number(percent)? / 100.0, seconds(latency.trim())?))
    };
    let lines = output.stdout.lines().skip_while(|line| !line.trim().starts_with("Latency Distribution")).skip(1);
    let printed: Vec<_> = lines.map_while(read).collect();
    if printed.is_empty() { Err(missing(WRK, "lines below `Latency Distribution`", output)) } else { Ok(printed) }
}

#[cfg(test)]
mod tests;
