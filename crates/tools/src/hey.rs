//! hey: a closed loop, or workers that limit their own rate.
//!
//! It prints times in steps of a tenth of a millisecond and keeps the statuses of only its first million responses. If
//! a connection was closed before the response, it silently sends the request again.

use tolok_load::fault::ErrorClass;
use tolok_model::{LatencyMark, LoadTool, ToolWarning};

use super::driver::{Driver, Invocation, LoadJob, NotUnderstood, ToolOutput, ToolReport};
use super::printed::{
    add_errors, after, body_warning, by_time_or_number, count, failed, figure, is_coarse, load_shape, missing, number,
    percentiles, report, too_large, whole_seconds,
};

pub struct Hey;

const HEY: &str = "hey";
/// Responses of which it keeps the status and the time.
const KEPT: u64 = 1_000_000;
/// The resolution of its times.
const STEP_S: f64 = 1e-4;

impl Driver for Hey {
    fn tool(&self) -> LoadTool {
        LoadTool::Hey
    }

    fn invocation(&self, job: &LoadJob<'_>) -> Invocation {
        by_time_or_number(job, arguments)
    }

    fn report(&self, output: &ToolOutput, job: &LoadJob<'_>) -> Result<ToolReport, NotUnderstood> {
        let window_s = figure((HEY, output), "Total:", in_secs)?;
        let rate_rps = figure((HEY, output), "Requests/sec:", number)?;
        // A line without an end may have been cut off.
        if !output.stdout.ends_with('\n') {
            return Err(missing(HEY, "end of its last line", output));
        }
        let (statuses, errors) = (statuses(output)?, errors(output)?);
        let (known, failures) = (sum(&statuses)?, sum(&errors)?);
        // The rate counts every request that ended, successful or not.
        let ended = (rate_rps * window_s).round() as u64;
        let beyond = ended.saturating_sub(known.saturating_add(failures));
        let rounding = 1.0 + (rate_rps + window_s) * STEP_S;
        let capped = known == KEPT && beyond as f64 > rounding;
        if !capped && (ended as f64 - (known as f64 + failures as f64)).abs() > rounding {
            return Err(missing(
                HEY,
                "complete distribution: statuses and errors are not as many as its rate says",
                output,
            ));
        }
        let good: u64 =
            statuses.iter().filter(|(status, _)| status == &job.status.to_string()).map(|(_, number)| number).sum();
        let bad_status = known - good;
        let good = good + if capped { beyond } else { 0 };
        let mut told = report((HEY, output), job, window_s, good)?;
        told.ledger.failed = failed([(ErrorClass::BadStatus, bad_status)]);
        add_errors(&mut told, &errors);
        told.tool_warnings.extend(capped.then(|| beyond_the_first_million(beyond)));
        // Bodies without a length in the head are not counted, so zero bytes mean nothing.
        let bytes = after(&output.stdout, "Total data:").and_then(|text| count(text.strip_suffix(" bytes")?));
        if let (Some(bytes), 0, false) = (bytes, bad_status, capped) {
            told.tool_warnings.extend(body_warning(HEY, good, (bytes, bytes), job.body_bytes));
        }
        latency(&mut told, output, known, bad_status)?;
        Ok(told)
    }
}

fn arguments(job: &LoadJob<'_>, until: Vec<String>) -> Vec<String> {
    let shape = load_shape(&job.scenario.load);
    let mut arguments = until;
    arguments.extend(["-c".to_owned(), shape.connections.to_string()]);
    if let Some(rate_rps) = shape.rate_rps {
        arguments.extend(["-q".to_owned(), (rate_rps / shape.connections as f64).to_string()]);
    }
    arguments.extend([
        "-t".to_owned(),
        whole_seconds(job.scenario.load.timeout_s).to_string(),
        "-cpus".to_owned(),
        job.cpus.max(1).to_string(),
        // The other tools do not request compression or follow redirects either.
        "-disable-compression".to_owned(),
        "-disable-redirects".to_owned(),
    ]);
    if shape.per_request {
        arguments.push("-disable-keepalive".to_owned());
    }
    arguments.push(job.url.clone());
    arguments
}

fn latency(told: &mut ToolReport, output: &ToolOutput, samples: u64, bad_status: u64) -> Result<(), NotUnderstood> {
    if samples == 0 {
        return Ok(());
    }
    let mean_s = figure((HEY, output), "Average:", in_secs)?;
    let max_s = figure((HEY, output), "Slowest:", in_secs)?;
    let printed = distribution(output);
    let latency = &mut told.latency;
    if [mean_s, max_s].iter().chain(printed.iter().map(|(_, time_s)| time_s)).any(|time_s| is_coarse(*time_s, STEP_S)) {
        latency.marks.push(LatencyMark::Coarse);
    }
    // Less than half a step is printed as zero, which no response takes.
    latency.mean_s = Some(mean_s).filter(|time_s| *time_s > 0.0);
    latency.max_s = Some(max_s).filter(|time_s| *time_s > 0.0);
    latency.percentiles = percentiles(printed.into_iter().filter(|(_, time_s)| *time_s > 0.0), samples);
    if bad_status > 0 {
        latency.marks.push(LatencyMark::WithFailures);
    }
    if told.offered_rps.is_some() {
        latency.marks.push(LatencyMark::FromSend);
    }
    Ok(())
}

/// `2.0004 secs`
fn in_secs(text: &str) -> Option<f64> {
    number(text.strip_suffix("secs")?.trim_end())
}

/// Lines such as `[200] 65191 responses`, with a tab, below `Status code distribution:`. That heading is there even if
/// the list is empty.
fn statuses(output: &ToolOutput) -> Result<Vec<(String, u64)>, NotUnderstood> {
    let head = "Status code distribution:";
    let read = |line: &str| {
        let (status, rest) = line.trim().strip_prefix('[')?.split_once(']')?;
        count(status)?;
        Some((status.to_owned(), count(rest.trim().strip_suffix(" responses")?)?))
    };
    listed(output, head, read)?.ok_or_else(|| missing(HEY, &format!("part `{head}`"), output))
}

/// Lines such as `[4] Get "http://…": EOF` below `Error distribution:`.
fn errors(output: &ToolOutput) -> Result<Vec<(String, u64)>, NotUnderstood> {
    let read = |line: &str| {
        let (number, text) = line.trim().strip_prefix('[')?.split_once(']')?;
        // The URL before it may contain any word.
        let text = text.trim();
        Some((text.split_once("\": ").map_or(text, |(_, error)| error).to_owned(), count(number)?))
    };
    Ok(listed(output, "Error distribution:", read)?.unwrap_or_default())
}

/// The lines below `head` until an empty one, or `None` if that heading is missing.
fn listed(
    output: &ToolOutput,
    head: &str,
    read: impl Fn(&str) -> Option<(String, u64)>,
) -> Result<Option<Vec<(String, u64)>>, NotUnderstood> {
    let mut lines = output.stdout.lines().skip_while(|line| line.trim() != head);
    if lines.next().is_none() {
        return Ok(None);
    }
    let rows = lines.take_while(|line| !line.trim().is_empty()).map(|line| read(line).ok_or(line));
    rows.collect::<Result<_, _>>()
        .map(Some)
        .map_err(|line| missing(HEY, &format!("count in its line `{}` below `{head}`", line.trim()), output))
}

fn sum(rows: &[(String, u64)]) -> Result<u64, NotUnderstood> {
    let sum = rows.iter().try_fold(0_u64, |sum, (_, number)| sum.checked_add(*number));
    sum.ok_or_else(|| too_large(HEY))
}

/// Lines such as `50% in 0.0001 secs`; 0.1.5 writes `50%% in`. hey itself omits those without a time.
fn distribution(output: &ToolOutput) -> Vec<(f64, f64)> {
    let read = |line: &str| {
        let (percent, time) = line.trim().split_once("% in ")?;
        Some((number(percent.trim_end_matches('%'))? / 100.0, in_secs(time)?))
    };
    let lines = output.stdout.lines().skip_while(|line| line.trim() != "Latency distribution:").skip(1);
    lines.map_while(read).collect()
}

fn beyond_the_first_million(beyond: u64) -> ToolWarning {
    let text = format!(
        "hey keeps the status of its first {KEPT} answers only; {beyond} more are counted as good, and it does not report whether they are"
    );
    ToolWarning { gate: "statuses".to_owned(), text }
}

#[cfg(test)]
mod tests;
