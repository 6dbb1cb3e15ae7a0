//! oha: a closed loop, or an open loop whose times it corrects for coordinated omission.
//!
//! `--output-format`, available since 1.9, makes it print JSON. Its errors include requests that a deadline interrupts.

use std::collections::BTreeMap;

use serde::Deserialize;
use tolok_load::fault::ErrorClass;
use tolok_model::{LatencyMark, LoadTool, Scenario};

use super::driver::{Driver, Invocation, LoadJob, NotUnderstood, ToolOutput, ToolReport};
use super::printed::{
    add_errors, body_warning, by_time_or_number, count, failed, load_shape, milliseconds, missing, number, percentiles,
    report, too_large,
};

pub struct Oha;

const OHA: &str = "oha";
/// Its name for requests that were in flight when its time was up.
const IN_FLIGHT: &str = "aborted due to deadline";

/// The parts of its JSON that are read. What has no value is `null`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Printed {
    summary: Summary,
    latency_percentiles: BTreeMap<String, Option<f64>>,
    status_code_distribution: BTreeMap<String, u64>,
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    total: f64,
    slowest: Option<f64>,
    average: Option<f64>,
    total_data: u64,
}

impl Driver for Oha {
    fn tool(&self) -> LoadTool {
        LoadTool::Oha
    }

    fn invocation(&self, job: &LoadJob<'_>) -> Invocation {
        // Its flag for this is newer than this variable, which is its runtime's.
        let env = [("TOKIO_WORKER_THREADS".to_owned(), job.cpus.max(1).to_string())].into();
        Invocation { env, ..by_time_or_number(job, arguments) }
    }

    fn report(&self, output: &ToolOutput, job: &LoadJob<'_>) -> Result<ToolReport, NotUnderstood> {
        let printed: Printed = serde_json::from_str(output.stdout.trim())
            .map_err(|error| missing(OHA, &format!("JSON as its versions from 1.9 on have it ({error})"), output))?;
        let Printed { summary, latency_percentiles, status_code_distribution: statuses, mut error_distribution } =
            printed;
        let in_flight = error_distribution.remove(IN_FLIGHT).unwrap_or(0);
        let too_large = || too_large(OHA);
        let answers =
            statuses.values().try_fold(0_u64, |sum, number| sum.checked_add(*number)).ok_or_else(too_large)?;
        let ended = error_distribution.values().try_fold(answers, |sum, number| sum.checked_add(*number));
        let sent = ended.and_then(|ended| ended.checked_add(in_flight)).ok_or_else(too_large)?;
        if let Some(odd) = statuses.keys().find(|status| count(status).is_none()) {
            return Err(missing(OHA, &format!("number for the status `{odd}` in `statusCodeDistribution`"), output));
        }
        let good = statuses.get(&job.status.to_string()).copied().unwrap_or(0);
        let bad_status = answers - good;
        let mut told = report((OHA, output), job, summary.total, good)?;
        told.ledger.failed = failed([(ErrorClass::BadStatus, bad_status)]);
        add_errors(&mut told, &error_distribution.into_iter().collect::<Vec<_>>());
        told.ledger.sent = Some(sent);
        told.ledger.in_flight_at_end = Some(in_flight);
        told.latency.mean_s = summary.average.filter(|time_s| *time_s >= 0.0);
        told.latency.max_s = summary.slowest.filter(|time_s| *time_s >= 0.0);
        let quantiles = latency_percentiles
            .iter()
            .filter_map(|(name, time_s)| Some((quantile(name)?, time_s.filter(|time_s| *time_s >= 0.0)?)));
        told.latency.percentiles = percentiles(quantiles, answers);
        told.latency.percentiles.sort_by(|one, other| one.quantile.total_cmp(&other.quantile));
        if bad_status > 0 {
            told.latency.marks.push(LatencyMark::WithFailures);
        } else {
            told.tool_warnings.extend(body_warning(
                OHA,
                good,
                (summary.total_data, summary.total_data),
                job.body_bytes,
            ));
        }
        Ok(told)
    }
}

fn arguments(job: &LoadJob<'_>, until: Vec<String>) -> Vec<String> {
    let shape = load_shape(&job.scenario.load);
    let mut arguments = until;
    let Scenario { protocol, streams, .. } = job.scenario;
    let connections = shape.connections.div_ceil(u64::from(*streams));
    arguments.extend(["-c".to_owned(), connections.to_string()]);
    if protocol.is_http2() {
        arguments.extend(["--http2".to_owned(), "-p".to_owned(), streams.to_string()]);
    }
    if protocol.is_encrypted() {
        arguments.push("--insecure".to_owned());
    }
    if let Some(rate_rps) = shape.rate_rps {
        arguments.extend(["-q".to_owned(), rate_rps.to_string(), "--latency-correction".to_owned()]);
    }
    arguments.extend(["-t".to_owned(), milliseconds(job.scenario.load.timeout_s)]);
    let fixed = ["--no-tui", "--output-format", "json", "--redirect", "0", "--disable-compression"];
    arguments.extend(fixed.map(str::to_owned));
    if shape.per_request {
        arguments.push("--disable-keepalive".to_owned());
    }
    arguments.push(job.url.clone());
    arguments
}

/// `p99.9`
fn quantile(name: &str) -> Option<f64> {
    Some(number(name.strip_prefix('p')?)? / 100.0)
}

#[cfg(test)]
mod tests;
