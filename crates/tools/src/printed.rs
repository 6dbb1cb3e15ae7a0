//! What load generators share: the load that they get, and the format of their figures.
//!
//! A figure consists of digits, with at most one point and a unit. The parser rejects everything else, including a
//! number with trailing text.

use std::collections::BTreeMap;

use tolok_load::fault::ErrorClass;
use tolok_model::{Connection, Executor, Latency, LoadProfile, Percentile, Pool, ToolWarning};

use super::driver::{Borders, Invocation, LoadJob, NotUnderstood, ToolOutput, ToolReport};

/// Figures that are rounded by more than this share are coarse.
const FINE: f64 = 0.01;
/// The most characters of a line of a tool's log that a message repeats.
const LOG_LINE: usize = 200;

pub(super) fn too_large(tool: &str) -> NotUnderstood {
    NotUnderstood(format!("{tool}'s output has counts that are too large to be added"))
}

/// A load in the terms of these tools.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LoadShape {
    /// Users, each with one connection. At a rate, connections.
    pub connections: u64,
    /// Requests per second over all connections, or `None` in a closed loop.
    pub rate_rps: Option<f64>,
    /// Requests over all users, if their number ends the run.
    pub iterations: Option<u64>,
    /// Whether a connection serves only one request.
    pub per_request: bool,
}

/// The shape of a profile. Profiles that no tool here supports were refused when the study was read.
pub(super) fn load_shape(load: &LoadProfile) -> LoadShape {
    let pool = match load.pool.unwrap_or(Pool::DEFAULT) {
        Pool::Bounded(connections) => u64::from(connections),
        Pool::Unbounded => 1,
    };
    let (connections, rate_rps, iterations) = match load.executor {
        Executor::ConstantVus { vus } => (u64::from(vus), None, None),
        Executor::RampingVus { start_vus, .. } => (u64::from(start_vus), None, None),
        Executor::SharedIterations { vus, iterations } => (u64::from(vus), None, Some(iterations)),
        Executor::PerVuIterations { vus, iterations } => {
            (u64::from(vus), None, Some(iterations.saturating_mul(u64::from(vus))))
        }
        Executor::ConstantArrivalRate { rate_rps, .. } => (pool, Some(rate_rps), None),
        Executor::RampingArrivalRate { start_rate_rps, .. } => (pool, Some(start_rate_rps), None),
    };
    // The tools refuse to have more users than requests.
    let connections = connections.min(iterations.unwrap_or(u64::MAX)).max(1);
    LoadShape { connections, rate_rps, iterations, per_request: load.connection == Connection::PerRequest }
}

/// The invocation of a tool that runs for `-z` or until `-n`, such as hey and oha. `arguments` adds the other
/// arguments.
pub(super) fn by_time_or_number(
    job: &LoadJob<'_>,
    arguments: impl Fn(&LoadJob<'_>, Vec<String>) -> Vec<String>,
) -> Invocation {
    let load = &job.scenario.load;
    let for_time = |for_s| vec!["-z".to_owned(), milliseconds(for_s)];
    let until = match load_shape(load).iterations {
        Some(iterations) => vec!["-n".to_owned(), iterations.to_string()],
        None => for_time(load.duration_s),
    };
    Invocation {
        warm_up: (load.warmup_s > 0.0).then(|| arguments(job, for_time(load.warmup_s))),
        arguments: arguments(job, until),
        borders: Borders::Process,
        ..Invocation::default()
    }
}

/// Whole seconds, rounded up, for tools that accept no others.
pub(super) fn whole_seconds(seconds: f64) -> u64 {
    // A product may be slightly more than a whole number.
    ((seconds - 1e-9).ceil() as u64).max(1)
}

/// `1500ms`
pub(super) fn milliseconds(seconds: f64) -> String {
    format!("{}ms", ((seconds * 1e3).round() as u64).max(1))
}

/// A number of requests: digits only.
pub(super) fn count(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// A number as tools print it: digits, optionally with a point and digits.
pub(super) fn number(text: &str) -> Option<f64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A number of milliseconds, in seconds. Rounded only once, so it is the same as if it had been written in seconds.
pub(super) fn from_milliseconds(text: &str) -> Option<f64> {
    scaled(text, "e-3")
}

/// A time with its unit, in seconds: `61.00us`, `1.11ms`, `2.10s`, `1.01m`, `0.50h`.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let (figure, unit) = text.split_at(text.find(|letter: char| letter.is_ascii_alphabetic())?);
    match unit {
        "us" => scaled(figure, "e-6"),
        "ms" => scaled(figure, "e-3"),
        "s" => number(figure),
        "m" => Some(number(figure)? * 60.0),
        "h" => Some(number(figure)? * 3600.0),
        _ => None,
    }
}

fn scaled(figure: &str, exponent: &str) -> Option<f64> {
    number(figure)?;
    format!("{figure}{exponent}").parse().ok()
}

/// The trimmed text after `label` in the first line that begins with it.
pub(super) fn after<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.trim_start().strip_prefix(label)).map(str::trim)
}

/// The error for an output that lacks a part, with the last line of the tool's log.
pub(super) fn missing(tool: &str, part: &str, output: &ToolOutput) -> NotUnderstood {
    let last_word = output.stderr.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let last_word = last_word.map_or_else(String::new, |line| {
        format!("; its last word was: {}", line.chars().take(LOG_LINE).collect::<String>())
    });
    let lacks = if output.stdout.trim().is_empty() { "is empty".to_owned() } else { format!("has no {part}") };
    NotUnderstood(format!("{tool}'s output {lacks}{last_word}"))
}

/// The figure after `label`, which must exist.
pub(super) fn figure<T>(
    (tool, output): (&str, &ToolOutput),
    label: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, NotUnderstood> {
    after(&output.stdout, label)
        .and_then(read)
        .ok_or_else(|| missing(tool, &format!("line `{label}` with a figure"), output))
}

/// A report of what every tool provides.
pub(super) fn report(
    (tool, output): (&str, &ToolOutput),
    job: &LoadJob<'_>,
    window_s: f64,
    good: u64,
) -> Result<ToolReport, NotUnderstood> {
    if !(window_s.is_finite() && window_s > 0.0) {
        return Err(missing(tool, "window: it says that it measured for no time", output));
    }
    let rate_rps = load_shape(&job.scenario.load).rate_rps;
    let mut report = ToolReport {
        window_s,
        goodput_rps: good as f64 / window_s,
        body_bytes: good.saturating_mul(job.body_bytes.unwrap_or_default()),
        latency: Latency { model: if rate_rps.is_some() { "open" } else { "closed" }.to_owned(), ..Latency::default() },
        offered_rps: rate_rps,
        ..ToolReport::default()
    };
    report.ledger.good = good;
    Ok(report)
}

/// Failures by class, without classes that have none.
pub(super) fn failed<const N: usize>(classes: [(ErrorClass, u64); N]) -> BTreeMap<String, u64> {
    let mut failed = BTreeMap::new();
    for (class, number) in classes.into_iter().filter(|(_, number)| *number > 0) {
        *failed.entry(class.name().to_owned()).or_default() += number;
    }
    failed
}

/// Whether these tools consider a status a success.
pub(super) fn is_success(status: u16) -> bool {
    status < 400
}

/// Percentiles as a tool prints them, absent if too few samples lie beyond them.
pub(super) fn percentiles(printed: impl IntoIterator<Item = (f64, f64)>, samples: u64) -> Vec<Percentile> {
    let percentile = |(quantile, latency_s): (f64, f64)| {
        let quantile = (quantile * 1e6).round() / 1e6;
        Percentile::new(quantile, Percentile::is_told_by(quantile, samples).then_some(latency_s))
    };
    printed.into_iter().map(percentile).collect()
}

/// Whether a time that is a multiple of `step_s` is too coarse to be distinguished from others.
pub(super) fn is_coarse(time_s: f64, step_s: f64) -> bool {
    step_s / 2.0 > time_s * FINE
}

/// A warning if responses that seemed good had other bodies than expected. The tool does not report how many.
pub(super) fn body_warning(
    tool: &str,
    answers: u64,
    bytes: (u64, u64),
    body_bytes: Option<u64>,
) -> Option<ToolWarning> {
    let due = answers.checked_mul(body_bytes?)?;
    let (least, most) = bytes;
    if answers == 0 || (least <= due && due <= most) {
        return None;
    }
    let text = format!(
        "the bodies of {answers} answers that {tool} takes for good have {most} bytes together, and {due} were due: some of them are wrong, and {tool} does not report which"
    );
    Some(ToolWarning { gate: "body".to_owned(), text })
}

/// Adds error messages to the failures, and the first of each class to the examples.
pub(super) fn add_errors(report: &mut ToolReport, errors: &[(String, u64)]) {
    for (text, number) in errors {
        let class = class_of(text).to_owned();
        if !report.ledger.failed.contains_key(&class) {
            report.examples.push(text.clone());
        }
        let counted = report.ledger.failed.entry(class).or_default();
        *counted = counted.saturating_add(*number);
    }
}

/// The class of an error message, or `other` if unknown.
fn class_of(error: &str) -> &'static str {
    const WORDS: [(&[&str], ErrorClass); 6] = [
        (&["too many open files", "cannot assign requested address", "no buffer space"], ErrorClass::Local),
        (&["connection refused", "no route to host", "unreachable", "error trying to connect"], ErrorClass::Connect),
        (&["timeout", "timed out", "deadline exceeded"], ErrorClass::Timeout),
        (&["reset by peer", "broken pipe", "connection error"], ErrorClass::Reset),
        (&["eof", "closed", "incomplete"], ErrorClass::Closed),
        (&["malformed", "invalid http", "parse"], ErrorClass::Malformed),
    ];
    let error = error.to_lowercase();
    let known = WORDS.iter().find(|(words, _)| words.iter().any(|word| error.contains(word)));
    known.map_or("other", |(_, class)| class.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_every_unit() {
        for (text, expected) in
            [("61.00us", 0.000_061), ("1.11ms", 0.001_11), ("2.10s", 2.1), ("1.50m", 90.0), ("0.50h", 1800.0)]
        {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_figure_is_refused() {
        for text in ["", "-nan%", "nan", "inf", "-1", "+1", "1e5", ".5", "5.", "1,000", " 1", "0x1", &"9".repeat(400)] {
            assert_eq!(number(text), None, "{text}");
            assert_eq!(count(text), None, "{text}");
        }
        assert_eq!(count("18446744073709551616"), None, "one more than fits");
        for text in ["1", "us", "1.0", "1.0 ms", "1.0ns", "NaNus", "1.0kms"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn a_percentile_needs_ten_samples_beyond_it() {
        let of = |samples| percentiles([(0.5, 0.1), (0.99, 0.2)], samples);
        assert_eq!(of(1_000).iter().map(|percentile| percentile.latency_s).collect::<Vec<_>>(), [Some(0.1), Some(0.2)]);
        assert_eq!(of(999)[1].latency_s, None);
        assert_eq!(of(19)[0].latency_s, None);
    }

    #[test]
    fn errors_in_words_have_the_classes_of_the_ledger() {
        for (text, class) in [
            ("context deadline exceeded (Client.Timeout exceeded while awaiting headers)", "timeout"),
            ("dial tcp 127.0.0.1:1: connect: connection refused", "connect"),
            ("Connection refused (os error 111)", "connect"),
            ("EOF", "closed"),
            ("connection closed before message completed", "closed"),
            ("read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer", "reset"),
            ("socket: too many open files", "local"),
            ("the moon stood wrong", "other"),
        ] {
            assert_eq!(class_of(text), class, "{text}");
        }
    }

    #[test]
    fn bodies_of_the_wrong_length_are_warned_of() {
        assert_eq!(body_warning("hey", 10, (120, 120), Some(12)), None);
        assert_eq!(body_warning("hey", 10, (120, 120), None), None);
        let warning = body_warning("hey", 10, (110, 110), Some(12)).unwrap();
        assert!(warning.text.contains("110 bytes together, and 120 were due"), "{}", warning.text);
    }
}
