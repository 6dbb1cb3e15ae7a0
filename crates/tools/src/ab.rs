//! ab, `ApacheBench`: a closed loop in HTTP/1.0 with one thread, for a time in whole seconds or a number of requests.
//!
//! Times in its output are whole milliseconds, so percentiles come from the file of its `-e`, which has thousandths.
//! Its `-s` does not limit the time of a response: ab gives up and reports nothing once all connections have been
//! silent for that long. As long as one is not silent, a response may take any time.

use tolok_load::fault::ErrorClass;
use tolok_model::{LatencyMark, LoadTool, ToolWarning};

use super::driver::{Borders, Driver, Invocation, LoadJob, NotUnderstood, ToolOutput, ToolReport};
use super::printed::{
    after, count, failed, figure, from_milliseconds, is_coarse, is_success, load_shape, missing, number, percentiles,
    report, whole_seconds,
};

pub struct Ab;

const AB: &str = "ab";
/// The file with its percentiles.
const PERCENTILES: &str = "ab-percentiles.csv";
/// The percentiles to keep from that file, which has every one from 0 to 100.
const KEPT: [u64; 5] = [50, 75, 90, 95, 99];
/// The resolution of the times in its output.
const STEP_S: f64 = 1e-3;
/// More requests per second than one thread can send. ab allocates 32 bytes in advance for each request that it may
/// send, so it cannot simply be given a huge number.
const ENOUGH_PER_S: u64 = 300_000;
/// The most requests it ever gets (1.6 GB of memory). It stops there even if time is left.
const ENOUGH: u64 = 50_000_000;

impl Driver for Ab {
    fn tool(&self) -> LoadTool {
        LoadTool::Ab
    }

    fn file_beside(&self) -> Option<&'static str> {
        Some(PERCENTILES)
    }

    fn invocation(&self, job: &LoadJob<'_>) -> Invocation {
        let load = &job.scenario.load;
        let enough = |for_s| whole_seconds(for_s).saturating_mul(ENOUGH_PER_S).min(ENOUGH);
        let requests = load_shape(load).iterations.unwrap_or_else(|| enough(load.duration_s));
        let mut counted = vec!["-e".to_owned(), PERCENTILES.to_owned()];
        counted.extend(arguments(job, load.duration_s, requests));
        Invocation {
            warm_up: (load.warmup_s > 0.0).then(|| arguments(job, load.warmup_s, enough(load.warmup_s))),
            arguments: counted,
            borders: Borders::Process,
            ..Invocation::default()
        }
    }

    fn report(&self, output: &ToolOutput, job: &LoadJob<'_>) -> Result<ToolReport, NotUnderstood> {
        let stdout = &output.stdout;
        let window_s = figure((AB, output), "Time taken for tests:", |text| number(text.strip_suffix(" seconds")?))?;
        let complete = figure((AB, output), "Complete requests:", count)?;
        let rate_rps = figure((AB, output), "Requests per second:", |text| number(text.split(' ').next()?))?;
        let answers = Answers::read(output, complete)?;
        // The time has three decimals and the rate two. So the rate gives the window more precisely if it is by far the
        // larger number.
        let window_s = if rate_rps > window_s * 10.0 { complete as f64 / rate_rps } else { window_s };
        let judged = answers.judge(job);
        let mut told = report((AB, output), job, window_s, judged.good)?;
        told.ledger.failed = failed([
            (ErrorClass::BadStatus, judged.bad_status),
            (ErrorClass::BadBody, judged.bad_body),
            (ErrorClass::Reset, judged.reset),
            // Failed connects are not among the complete requests.
            (ErrorClass::Connect, answers.connect),
        ]);
        told.tool_warnings.extend(judged.warning);
        told.examples.extend(after(stdout, "(Connect:").map(|kinds| format!("ab's failures: (Connect: {kinds}")));
        if !load_shape(&job.scenario.load).per_request {
            let kept = after(stdout, "Keep-Alive requests:").and_then(count).unwrap_or(0);
            told.tool_warnings.extend((kept < judged.good / 2).then(|| not_kept(kept, judged.good)));
        }
        latency(&mut told, output, complete)?;
        if answers.refusals > 0 || answers.length > 0 {
            told.latency.marks.push(LatencyMark::WithFailures);
        }
        Ok(told)
    }
}

fn arguments(job: &LoadJob<'_>, for_s: f64, requests: u64) -> Vec<String> {
    let shape = load_shape(&job.scenario.load);
    // Without `-r` it would give up when the first connection is reset.
    let mut arguments = vec!["-q".to_owned(), "-r".to_owned()];
    if !shape.per_request {
        arguments.push("-k".to_owned());
    }
    if job.body_bytes.is_none() {
        // Responses differ in length, which ab would count as failures.
        arguments.push("-l".to_owned());
    }
    arguments.extend([
        "-c".to_owned(),
        shape.connections.to_string(),
        "-s".to_owned(),
        whole_seconds(job.scenario.load.timeout_s).to_string(),
        // `-t` implies at most 50,000 requests unless `-n` follows it.
        "-t".to_owned(),
        whole_seconds(for_s).to_string(),
        "-n".to_owned(),
        requests.to_string(),
        job.url.clone(),
    ]);
    arguments
}

/// ab's counts of responses. Its failures count kinds of problems, not requests: a response may be in several of them.
#[derive(Debug, Default)]
struct Answers {
    complete: u64,
    /// Responses with a status other than 2xx, which are among the complete ones.
    refusals: u64,
    /// Length of the first response, with which it compares the others. `None` if it does not compare.
    document_bytes: Option<u64>,
    connect: u64,
    receive: u64,
    length: u64,
}

impl Answers {
    fn read(output: &ToolOutput, complete: u64) -> Result<Self, NotUnderstood> {
        let stdout = &output.stdout;
        let document_bytes = match after(stdout, "Document Length:") {
            Some("Variable") => None,
            length => Some(
                length
                    .and_then(|text| count(text.strip_suffix(" bytes")?))
                    .ok_or_else(|| missing(AB, "line `Document Length:` with a figure", output))?,
            ),
        };
        let refusals = match after(stdout, "Non-2xx responses:") {
            Some(text) => count(text).ok_or_else(|| missing(AB, "count in its line `Non-2xx responses:`", output))?,
            None => 0,
        };
        let mut answers = Self { complete, refusals, document_bytes, ..Self::default() };
        if figure((AB, output), "Failed requests:", count)? == 0 {
            return Ok(answers);
        }
        let part = "line `(Connect: …, Receive: …, Length: …, Exceptions: …)`";
        let kinds = after(stdout, "(Connect:").ok_or_else(|| missing(AB, part, output))?;
        let kinds = format!("Connect: {}", kinds.trim_end_matches(')'));
        let of_kind = |name: &str| {
            let found = kinds.split(", ").find_map(|kind| count(kind.strip_prefix(name)?.strip_prefix(':')?.trim()));
            found.ok_or_else(|| missing(AB, part, output))
        };
        answers.connect = of_kind("Connect")?;
        answers.receive = of_kind("Receive")?;
        answers.length = of_kind("Length")?;
        // The last figure of its line: if it is there, the line is whole. Exceptions are further events of the same
        // responses.
        of_kind("Exceptions")?;
        Ok(answers)
    }

    fn bad_status(&self, job: &LoadJob<'_>) -> u64 {
        // Responses that are in flight at the end are counted here before they are complete.
        let refusals = self.refusals.min(self.complete);
        if is_success(job.status) { refusals } else { self.complete - refusals }
    }

    /// Classifies the complete responses, which are all that ended in any way.
    fn judge(&self, job: &LoadJob<'_>) -> Judged {
        let bad_status = self.bad_status(job);
        // A response that broke off also has another length, and exceptions are events of the same responses.
        let odd = self.length.max(self.receive).min(self.complete);
        let mut warning = None;
        let bad = match (self.document_bytes, job.body_bytes) {
            (Some(length), Some(due)) if length != due => {
                // The first response was bad. If all others were like it, none was good. If not, ab cannot tell.
                let good = (self.complete - bad_status).min(odd);
                warning = (good > 0).then(|| {
                    format!("ab took its first answer, of {length} bytes, as correct, but a good one has {due}")
                });
                self.complete - good
            }
            (Some(_), Some(_)) => {
                // Responses with a bad status usually are those with another length.
                warning = (bad_status > 0 && odd > 0 && bad_status != odd).then(|| {
                    format!("ab does not report how many of {odd} answers of another length are among {bad_status} of a bad status")
                });
                bad_status.max(odd)
            }
            _ => bad_status.saturating_add(odd).min(self.complete),
        };
        let reset = self.receive.min(bad - bad_status);
        Judged {
            good: self.complete - bad,
            bad_status,
            reset,
            bad_body: bad - bad_status - reset,
            warning: warning.map(|text| ToolWarning { gate: "body".to_owned(), text }),
        }
    }
}

/// Complete responses by kind.
#[derive(Debug)]
struct Judged {
    good: u64,
    bad_status: u64,
    reset: u64,
    bad_body: u64,
    warning: Option<ToolWarning>,
}

fn not_kept(kept: u64, good: u64) -> ToolWarning {
    let text = format!(
        "ab asks in HTTP/1.0 to keep the connection, and {kept} of {good} good answers did: the others closed it"
    );
    ToolWarning { gate: "keep-alive".to_owned(), text }
}

/// Reads the times, from the file if it exists. ab's measured mean is in whole milliseconds. If that is too coarse,
/// uses the mean that ab computes as connections divided by rate.
fn latency(told: &mut ToolReport, output: &ToolOutput, samples: u64) -> Result<(), NotUnderstood> {
    let table = Table::read(output)?;
    if samples == 0 {
        return Ok(());
    }
    let latency = &mut told.latency;
    if is_coarse(table.mean_s, STEP_S) {
        latency.mean_s =
            Some(figure((AB, output), "Time per request:", |text| from_milliseconds(text.split(' ').next()?))?);
        latency.marks.push(LatencyMark::DerivedMean);
    } else {
        latency.mean_s = Some(table.mean_s);
    }
    let file = percentiles_of(&output.beside);
    let of_file = |percent| file.iter().find(|(found, _)| *found == percent).map(|(_, time_s)| *time_s);
    // The table also has the maximum, in whole milliseconds.
    latency.max_s = of_file(100).or(Some(table.max_s));
    let mut coarse = of_file(100).is_none() && is_coarse(table.max_s, STEP_S);
    let fine: Vec<_> = KEPT.iter().filter_map(|percent| Some((*percent as f64 / 100.0, of_file(*percent)?))).collect();
    if fine.is_empty() {
        coarse |= table.served.iter().any(|(_, time_s)| is_coarse(*time_s, STEP_S));
        latency.percentiles = percentiles(table.served, samples);
    } else {
        latency.percentiles = percentiles(fine, samples);
    }
    if coarse {
        latency.marks.push(LatencyMark::Coarse);
    }
    Ok(())
}

/// Lines such as `99,2.703`, in milliseconds, below a header line.
fn percentiles_of(csv: &str) -> Vec<(u64, f64)> {
    let read = |line: &str| {
        let (percent, time_ms) = line.trim().split_once(',')?;
        Some((count(percent)?, from_milliseconds(time_ms)?))
    };
    csv.lines().filter_map(read).collect()
}

/// The times of its output, in whole milliseconds.
#[derive(Debug)]
struct Table {
    mean_s: f64,
    max_s: f64,
    served: Vec<(f64, f64)>,
}

impl Table {
    /// The table is missing if no request was completed, and has only the `Total:` line if one was.
    fn read(output: &ToolOutput) -> Result<Self, NotUnderstood> {
        let stdout = &output.stdout;
        if after(stdout, "Complete requests:") == Some("0") {
            return Ok(Self { mean_s: 0.0, max_s: 0.0, served: Vec::new() });
        }
        // `Total:        100  102   2.6    101     108`: minimum, mean, deviation, median, maximum.
        let total = |text: &str| {
            let figures: Vec<f64> = text.split_whitespace().map_while(from_milliseconds).collect();
            (figures.len() == 5).then(|| (figures[1], figures[4]))
        };
        let (mean_s, max_s) = figure((AB, output), "Total:", total)?;
        let row = |line: &str| {
            let (percent, time_ms) = line.trim().split_once('%')?;
            Some((number(percent)? / 100.0, from_milliseconds(time_ms.split_whitespace().next()?)?))
        };
        let lines = stdout.lines().skip_while(|line| !line.starts_with("Percentage of the requests")).skip(1);
        let mut served: Vec<_> = lines.map_while(row).collect();
        // The last line covers all requests. An output that lacks it was cut off.
        if complete_table(stdout) && served.pop_if(|(quantile, _)| *quantile >= 1.0).is_none() {
            return Err(missing(AB, "line ` 100% … (longest request)`", output));
        }
        Ok(Self { mean_s, max_s, served })
    }
}

/// ab prints no table of percentiles after a single request.
fn complete_table(output: &str) -> bool {
    after(output, "Complete requests:") != Some("1")
}

#[cfg(test)]
mod tests;
