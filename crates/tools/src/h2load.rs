//! h2load of nghttp2, configured for HTTP/1.1 with one request at a time on each connection, or for HTTP/2.
//!
//! Its own warm-up would begin and end unnoticed inside its process. A separate process before the counted one has
//! exact borders.

use tolok_load::fault::ErrorClass;
use tolok_model::{LatencyMark, LoadTool, Scenario};

use super::driver::{Borders, Driver, Invocation, LoadJob, NotUnderstood, ToolOutput, ToolReport};
use super::printed::{
    after, body_warning, count, failed, load_shape, milliseconds, missing, number, percentiles, report, seconds,
};

pub struct H2load;

const H2LOAD: &str = "h2load";
/// From this rate on, its two decimals are precise enough to compute the window.
const RATE_TELLS_FROM: f64 = 10.0;

impl Driver for H2load {
    fn tool(&self) -> LoadTool {
        LoadTool::H2load
    }

    fn invocation(&self, job: &LoadJob<'_>) -> Invocation {
        let load = &job.scenario.load;
        let for_time = |for_s| vec!["-D".to_owned(), milliseconds(for_s)];
        let until = match load_shape(load).iterations {
            // Its timeout applies to silent connections. With a number of requests, it ends a run that hangs. With a
            // time, it would only end runs at low rates, and version 1.52 crashes at the end after a timeout.
            Some(iterations) => {
                vec!["-n".to_owned(), iterations.to_string(), "-N".to_owned(), milliseconds(load.timeout_s)]
            }
            None => for_time(load.duration_s),
        };
        Invocation {
            warm_up: (load.warmup_s > 0.0).then(|| arguments(job, for_time(load.warmup_s))),
            arguments: arguments(job, until),
            borders: Borders::Process,
            ..Invocation::default()
        }
    }

    fn report(&self, output: &ToolOutput, job: &LoadJob<'_>) -> Result<ToolReport, NotUnderstood> {
        let Requests { total, started, done, errored, timed_out } = requests(output)?;
        let statuses = statuses(output)?;
        let window_s = window(output, done)?;
        let times = Times::read(output)?;
        // Its last line: an output that lacks it was cut off, and earlier lines may be too.
        after(&output.stdout, "req/s").ok_or_else(|| missing(H2LOAD, "line `req/s`", output))?;
        let of_class = |class: u16| statuses.iter().find(|(digit, _)| *digit == class).map_or(0, |(_, number)| *number);
        // A status counts when the head of a response has arrived, which may be before the end, with the rest after it.
        let good = of_class(job.status / 100).min(done);
        let bad_status = done - good;
        // Its errors include requests that it never sent. With a time instead of a number there are none.
        let unsent = total.saturating_sub(started);
        let closed = errored.saturating_sub(timed_out).saturating_sub(unsent);
        let mut told = report((H2LOAD, output), job, window_s, good)?;
        told.ledger.scheduled = load_shape(&job.scenario.load).iterations.map(|_| total);
        told.ledger.unsent = unsent;
        told.ledger.sent = Some(started);
        told.ledger.failed = failed([
            (ErrorClass::BadStatus, bad_status),
            (ErrorClass::Timeout, timed_out),
            (ErrorClass::Closed, closed),
        ]);
        told.ledger.in_flight_at_end =
            Some(started.saturating_sub(done).saturating_sub(timed_out).saturating_sub(closed));
        told.latency.mean_s = times.mean_s.filter(|_| done > 0);
        told.latency.max_s = times.max_s.filter(|_| done > 0);
        told.latency.percentiles = percentiles(times.quantiles, done);
        if bad_status > 0 {
            told.latency.marks.push(LatencyMark::WithFailures);
        } else {
            // The bytes include those of responses in flight at the end; the count of responses does not.
            let bytes = data_bytes(output)?;
            let under_way = started.saturating_sub(done).saturating_mul(job.body_bytes.unwrap_or_default());
            told.tool_warnings.extend(body_warning(
                H2LOAD,
                good,
                (bytes.saturating_sub(under_way), bytes),
                job.body_bytes,
            ));
        }
        if told.offered_rps.is_some() {
            told.latency.marks.push(LatencyMark::FromSend);
        }
        Ok(told)
    }
}

fn arguments(job: &LoadJob<'_>, until: Vec<String>) -> Vec<String> {
    let shape = load_shape(&job.scenario.load);
    let Scenario { protocol, streams, .. } = job.scenario;
    // A study whose users are not a multiple of the streams is refused when it is read. A number of requests may still
    // reduce the users to one that is not.
    let connections = shape.connections.div_ceil(u64::from(*streams));
    let mut arguments: Vec<String> =
        if protocol.is_http2() { vec!["-m".to_owned(), streams.to_string()] } else { vec!["--h1".to_owned()] };
    arguments.extend([
        "-t".to_owned(),
        (job.cpus as u64).clamp(1, connections).to_string(),
        "-c".to_owned(),
        connections.to_string(),
    ]);
    arguments.extend(until);
    if let Some(rate_rps) = shape.rate_rps {
        arguments.extend(["--rps".to_owned(), (rate_rps / connections as f64).to_string()]);
    }
    arguments.push(job.url.clone());
    arguments
}

/// Its counts of requests. Errors include timeouts.
struct Requests {
    total: u64,
    started: u64,
    done: u64,
    errored: u64,
    timed_out: u64,
}

/// `requests: 900 total, 603 started, 600 done, 600 succeeded, 300 failed, 300 errored, 3 timeout`
fn requests(output: &ToolOutput) -> Result<Requests, NotUnderstood> {
    let line = after(&output.stdout, "requests:").ok_or_else(|| missing(H2LOAD, "line `requests:`", output))?;
    let of = |name: &str| {
        counted(line, name).ok_or_else(|| missing(H2LOAD, &format!("`{name}` in its line `requests:`"), output))
    };
    Ok(Requests {
        total: of("total")?,
        started: of("started")?,
        done: of("done")?,
        errored: of("errored")?,
        timed_out: of("timeout")?,
    })
}

/// `status codes: 157006 2xx, 0 3xx, 0 4xx, 0 5xx`
fn statuses(output: &ToolOutput) -> Result<[(u16, u64); 4], NotUnderstood> {
    let line = after(&output.stdout, "status codes:").ok_or_else(|| missing(H2LOAD, "line `status codes:`", output))?;
    let mut numbers = [(2, 0), (3, 0), (4, 0), (5, 0)];
    for (class, number) in &mut numbers {
        let name = format!("{class}xx");
        *number = counted(line, &name)
            .ok_or_else(|| missing(H2LOAD, &format!("`{name}` in its line `status codes:`"), output))?;
    }
    Ok(numbers)
}

/// The number before `name` in a list with commas.
fn counted(line: &str, name: &str) -> Option<u64> {
    line.split(", ").find_map(|part| count(part.strip_suffix(name)?.strip_suffix(' ')?))
}

/// `finished in 2.01s, 78503.00 req/s, 7.56MB/s`. With `-D` the rate is over the requested time, but the time lasts
/// until the last thread has stopped. So the window is computed from the rate, if its two decimals are precise enough.
fn window(output: &ToolOutput, done: u64) -> Result<f64, NotUnderstood> {
    let line = after(&output.stdout, "finished in ").ok_or_else(|| missing(H2LOAD, "line `finished in`", output))?;
    let mut parts = line.split(", ");
    let took_s = parts.next().and_then(seconds);
    let rate_rps = parts.next().and_then(|part| number(part.strip_suffix(" req/s")?));
    let (Some(took_s), Some(rate_rps)) = (took_s, rate_rps) else {
        return Err(missing(H2LOAD, "time and rate in its line `finished in`", output));
    };
    Ok(if rate_rps >= RATE_TELLS_FROM && done > 0 { done as f64 / rate_rps } else { took_s })
}

/// `traffic: 15.12MB (15857606) total, … 1.80MB (1884132) data`
fn data_bytes(output: &ToolOutput) -> Result<u64, NotUnderstood> {
    let read = |line: &str| {
        let (before, _) = line.rsplit_once(") data")?;
        count(before.rsplit_once('(')?.1)
    };
    after(&output.stdout, "traffic:")
        .and_then(read)
        .ok_or_else(|| missing(H2LOAD, "bytes of data in its line `traffic:`", output))
}

/// Times of requests. The line above names the columns: since 1.69 they include percentiles, and the row has another
/// name.
#[derive(Debug, Default, PartialEq)]
struct Times {
    mean_s: Option<f64>,
    max_s: Option<f64>,
    quantiles: Vec<(f64, f64)>,
}

impl Times {
    fn read(output: &ToolOutput) -> Result<Self, NotUnderstood> {
        let mut lines = output.stdout.lines().skip_while(|line| !line.trim_start().starts_with("min  "));
        let head = lines.next().ok_or_else(|| missing(H2LOAD, "line of columns from `min`", output))?;
        let columns = head.trim().trim_end_matches("+/- sd").split_whitespace();
        let row = lines.next().and_then(|line| {
            let (name, figures) = line.split_once(':')?;
            ["time for request", "request"].contains(&name.trim()).then_some(figures)
        });
        let row = row.ok_or_else(|| missing(H2LOAD, "line `request` or `time for request:`", output))?;
        let mut figures = row.split_whitespace();
        let mut times = Self::default();
        for column in columns {
            let figure = figures.next().and_then(seconds);
            let figure =
                figure.ok_or_else(|| missing(H2LOAD, &format!("`{column}` of the times of requests"), output))?;
            match column {
                "mean" => times.mean_s = Some(figure),
                "max" => times.max_s = Some(figure),
                "median" => times.quantiles.push((0.5, figure)),
                "p95" => times.quantiles.push((0.95, figure)),
                "p99" => times.quantiles.push((0.99, figure)),
                _ => {}
            }
        }
        Ok(times)
    }
}

#[cfg(test)]
mod tests;
