//! Guesses what a header of a CSV from another tool means. The guess is only suggested to the user, never applied.

use super::figure_key::figure_key;

/// What a column may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Guess {
    Subject,
    Scenario,
    /// A key of a figure or of `[method]`, and what to check before using it.
    Key(String, Option<&'static str>),
    /// Nothing that a transcription stores, with the reason if known.
    Nothing(Option<&'static str>),
}

const SUBJECTS: &[&str] = &[
    "server",
    "framework",
    "name",
    "language",
    "runtime",
    "command",
    "implementation",
    "program",
    "stack",
    "platform",
];
const SCENARIOS: &[&str] = &["test", "endpoint", "workload", "case", "route", "path", "benchmark", "type"];
const CONNECTIONS: &[&str] = &["concurrency", "concurrent", "connections", "conns", "vus", "vu", "clients", "users"];
const FAILURES: &[&str] = &["error", "errors", "failed", "failures", "fails", "fail", "non"];
const RATES: &[&str] = &["rps", "qps", "tps", "throughput"];
const TIMES: &[&str] = &["latency", "latencies", "lat", "response", "duration", "delay", "time", "ttfb"];
const SECOND: &[&str] = &["s", "sec", "secs", "second", "seconds"];
const MILLISECOND: &[&str] = &["ms", "msec", "millis", "millisecond", "milliseconds"];
const MICROSECOND: &[&str] = &["us", "usec", "micros", "microsecond", "microseconds"];
const SIZE: &[&str] = &["size", "length", "body", "bytes"];
const SHARE: &[&str] = &["%", "percent", "percentage", "rate", "ratio"];

const NO_UNIT: &str = "the header does not say the unit: _s, _ms and _us are seconds, milliseconds and microseconds";
const WHICH_TIME: &str = "the header does not say which time: a mean, a percentile such as p95, or the maximum";
const WRK_UNITS: &str = "wrk prints MiB/s and calls them MB/s: bandwidth_mib_s";
const CPU_UNIT: &str = "cpu_cores, if it is a number of CPUs; --method cpu-scope= says of what a percentage is a share";
const OTHER_SHARE: &str = "this percentile has no key; the reference lists those that have one";
const PER_MINUTE: &str = "rates are per second; one per minute has no key";
const OF_SUCCESS: &str = "a share of correct responses has no key; error_rate_percent is of those that failed";

/// Guesses a header's meaning. `is_of_programs` means that times are those of programs.
pub(super) fn guess(header: &str, is_of_programs: bool) -> Guess {
    let words = Words::of(header);
    let kinds: [fn(&Words) -> Option<Guess>; 5] =
        [Words::name, Words::machine, Words::failures, Words::rate, Words::count];
    let times = || words.time(is_of_programs);
    let (first, last) = kinds.split_at(4);
    let by = |kinds: &[fn(&Words) -> Option<Guess>]| kinds.iter().find_map(|kind| kind(&words));
    by(first).or_else(times).or_else(|| by(last)).unwrap_or(Guess::Nothing(None))
}

/// A header's words: `Requests/sec` is `requests` and `/s`, `latencyAvg` is `latency` and `avg`.
struct Words(Vec<String>);

impl Words {
    fn of(header: &str) -> Self {
        let mut text = String::new();
        let letters: Vec<char> = header.chars().collect();
        for (at, letter) in letters.iter().enumerate() {
            // `latencyAvg` is two words, but `MiB` is one.
            let goes_on = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
            if goes_on && letter.is_uppercase() && at > 0 && letters[at - 1].is_lowercase() {
                text.push(' ');
            }
            text.extend(letter.to_lowercase());
        }
        let text = text.replace(['µ', 'μ'], "u").replace("p(", " p").replace("per ", "/").replace("ps)", "/s)");
        let mut words = Vec::new();
        for part in text.split(|letter: char| !(letter.is_alphanumeric() || "./%".contains(letter))) {
            let (over, below) = part.split_once('/').map_or((part, None), |(over, below)| (over, Some(below)));
            words.extend((!over.is_empty()).then(|| over.to_owned()));
            words.extend(below.map(|below| match below {
                below if SECOND.contains(&below) => "/s".to_owned(),
                below => format!("/{below}"),
            }));
        }
        Self(words)
    }

    fn has(&self, any: &[&str]) -> bool {
        self.0.iter().any(|word| any.contains(&word.as_str()))
    }

    /// Names of subjects and settings, unless the header means something else.
    fn name(&self) -> Option<Guess> {
        match self.0.last() {
            Some(last) if SUBJECTS.contains(&last.as_str()) => Some(Guess::Subject),
            Some(last) if SCENARIOS.contains(&last.as_str()) => Some(Guess::Scenario),
            _ => None,
        }
    }

    fn machine(&self) -> Option<Guess> {
        let moment = |mean: &'static str, most: &'static str| match self.moment() {
            Some("mean") => mean,
            Some("max") => most,
            _ => "",
        };
        if self.has(CONNECTIONS) && !self.has(&["/s"]) {
            return key("connections", None);
        }
        if self.has(&["memory", "mem", "ram", "rss"]) {
            let units =
                [("kib", "kib"), ("mib", "mib"), ("gib", "gib"), ("kb", "kb"), ("gb", "gb"), ("bytes", "bytes")];
            let unit = units.iter().find(|(word, _)| self.has(&[word])).map_or("mb", |(_, unit)| unit);
            let stem = if self.has(&["peak"]) { "_peak" } else { moment("_mean", "_peak") };
            return key(&format!("memory{stem}_{unit}"), None);
        }
        if self.has(&["cpu", "cpus", "cores"]) {
            let is_use = self.has(&["%", "percent", "usage", "use", "load", "utilization"]) || self.moment().is_some();
            let of_use = || key(&format!("cpu{}_percent", moment("_mean", "_max")), Some(CPU_UNIT));
            return if is_use || !self.has(&["cpus", "cores"]) { of_use() } else { key("subject-cpus", None) };
        }
        None
    }

    /// Time-outs and failures, as counts or shares.
    fn failures(&self) -> Option<Guess> {
        if self.has(&["timeout", "timeouts", "outs"]) {
            return key("timeouts", None);
        }
        if self.has(&["success", "successful", "succeeded"]) {
            return Some(Guess::Nothing(Some(OF_SUCCESS)));
        }
        match (self.has(FAILURES), self.has(SHARE), self.has(&["http"])) {
            (false, ..) => None,
            (true, true, true) => key("http_fail_rate_percent", None),
            (true, true, false) => key("error_rate_percent", None),
            (true, false, _) => key("failures", None),
        }
    }

    /// Answers or bytes per second.
    fn rate(&self) -> Option<Guess> {
        let (is_rate, of_requests) =
            (self.has(&["/s"]), self.has(&["req", "reqs", "requests", "answers", "responses"]));
        if self.has(&["/min", "/minute", "rpm"]) {
            return Some(Guess::Nothing(Some(PER_MINUTE)));
        }
        if self.has(&["mib"]) && is_rate {
            return key("bandwidth_mib_s", None);
        }
        if self.has(&["mbit", "mbits", "mbps"]) {
            return key("bandwidth_mbit_s", None);
        }
        if self.has(&["transfer", "bandwidth"]) || is_rate && self.has(&["mb", "bytes", "kb", "gb", "size", "data"]) {
            return key("bandwidth_mb_s", Some(WRK_UNITS));
        }
        if self.has(RATES) || is_rate || of_requests && self.has(&["rate"]) {
            return key("throughput_rps", None);
        }
        None
    }

    /// Response times, or times of programs.
    fn time(&self, is_of_programs: bool) -> Option<Guess> {
        let is_time = self.has(TIMES) || self.0.len() <= 3 && self.moment().is_some();
        if !is_time || self.has(SIZE) {
            return None;
        }
        if self.moment().is_none() && self.0.iter().any(|word| word.contains('.') && share(word).is_some()) {
            return Some(Guess::Nothing(Some(OTHER_SHARE)));
        }
        let unit = [(MILLISECOND, "ms"), (MICROSECOND, "us"), (SECOND, "s")].iter().find(|(words, _)| self.has(words));
        // hyperfine always prints seconds. Its CSV has a column of commands.
        let (stem, usual) = if is_of_programs { ("time", "s") } else { ("latency", "ms") };
        let unit_word = unit.map_or(usual, |(_, unit)| unit);
        let Some(moment) = self.moment() else {
            return key(&format!("{stem}_mean_{unit_word}"), Some(WHICH_TIME));
        };
        key(&format!("{stem}_{moment}_{unit_word}"), (unit.is_none() && !is_of_programs).then_some(NO_UNIT))
    }

    fn count(&self) -> Option<Guess> {
        let requests = ["req", "reqs", "requests", "responses", "answers"];
        match () {
            () if self.has(&requests) => key("requests", None),
            () if self.has(&["runs"]) => key("runs", None),
            () if self.has(SIZE) => key(if self.has(&["kb"]) { "body_kb" } else { "body_bytes" }, None),
            () => None,
        }
    }

    /// Which statistic of a distribution, as the word of a key.
    fn moment(&self) -> Option<&'static str> {
        let moments: [(&[&str], &str); 5] = [
            (&["avg", "average", "mean"], "mean"),
            (&["median", "med"], "p50"),
            (&["max", "maximum", "slowest", "longest", "peak"], "max"),
            (&["min", "minimum", "fastest", "shortest"], "min"),
            (&["sd", "stdev", "stddev", "σ", "stdevs"], "sd"),
        ];
        let percentile = self.0.iter().find_map(|word| percentile(word));
        percentile.or_else(|| moments.iter().find(|(words, _)| self.has(words)).map(|(_, word)| *word))
    }
}

/// `p95`, `95%`, `95th`, `99.00%`, as the word of a key.
fn percentile(word: &str) -> Option<&'static str> {
    let known =
        [(50.0, "p50"), (75.0, "p75"), (90.0, "p90"), (95.0, "p95"), (99.0, "p99"), (99.9, "p999"), (999.0, "p999")];
    let share = share(word)?;
    known.iter().find(|(known, _)| (known - share).abs() < 1e-9).map(|(_, word)| *word)
}

fn share(word: &str) -> Option<f64> {
    let digits = word.trim_start_matches('p').trim_end_matches("ile").trim_end_matches(['%', 't', 'h']);
    if digits == word { None } else { digits.parse().ok() }
}

/// The key of a figure or of `[method]`, if it exists.
fn key(name: &str, see: Option<&'static str>) -> Option<Guess> {
    let is_known = figure_key(name).is_some() || super::csv_reading::CONDITIONS.contains(&name);
    is_known.then(|| Guess::Key(name.to_owned(), see))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The suggestion for a header: a key, with `!` if something must be checked.
    fn suggested(header: &str, is_of_programs: bool) -> String {
        match guess(header, is_of_programs) {
            Guess::Subject => "(subject)".to_owned(),
            Guess::Scenario => "(scenario)".to_owned(),
            Guess::Key(key, see) => key + if see.is_some() { "!" } else { "" },
            Guess::Nothing(why) => if why.is_some() { "-!" } else { "-" }.to_owned(),
        }
    }

    #[test]
    fn headers_of_real_tables_are_understood() {
        let tables: [(&str, &[&str]); 14] = [
            (
                "wrk",
                &[
                    "Server",
                    "Requests/sec",
                    "Transfer/sec",
                    "Latency Avg",
                    "Latency Stdev",
                    "Latency Max",
                    "99%",
                    "timeout",
                ],
            ),
            (
                "hey",
                &["Total (secs)", "Slowest (secs)", "Fastest (secs)", "Average (secs)", "Requests/sec", "95% (secs)"],
            ),
            (
                "k6",
                &[
                    "vus",
                    "http_reqs",
                    "http_reqs/s",
                    "http_req_duration avg",
                    "http_req_duration p(95)",
                    "http_req_failed %",
                ],
            ),
            (
                "TechEmpower",
                &["Framework", "latencyAvg", "latencyMax", "latencyStdev", "totalRequests", "Best performance"],
            ),
            ("vegeta", &["Requests", "Rate", "Throughput", "Latency mean (ms)", "Latency 99th (ms)", "Success ratio"]),
            (
                "oha",
                &[
                    "Success rate",
                    "Slowest",
                    "Fastest",
                    "Average",
                    "Requests/sec",
                    "Size/request",
                    "Size/sec",
                    "99.90%",
                ],
            ),
            ("hyperfine", &["mean", "stddev", "median", "user", "system", "min", "max"]),
            (
                "ab",
                &[
                    "Concurrency Level",
                    "Failed requests",
                    "Requests per second",
                    "Time per request (ms)",
                    "Complete requests",
                ],
            ),
            ("autocannon", &["Req/Sec Avg", "Bytes/Sec Avg", "Latency 97.5%", "Latency 99%", "Latency Stdev"]),
            ("a blog", &["Runtime", "RPS", "Avg latency [ms]", "p99 (µs)", "CPU %", "Memory (MB)", "Errors"]),
            ("another", &["Language", "req/min", "Peak RAM MiB", "Cores", "Error rate", "Non-2xx", "Users"]),
            ("bytes", &["Throughput (MB/s)", "MiB/s", "Mbps", "Response size (bytes)"]),
            ("the-benchmarker", &["Language", "Framework", "Concurrency", "Average Latency", "P90", "P99.9"]),
            ("a spreadsheet", &["Remark", "Date", "#", "Commit", "QPS", "Test type"]),
        ];
        let told: Vec<String> = tables
            .iter()
            .map(|(of, headers)| {
                let each =
                    headers.iter().map(|header| format!("  {header} → {}\n", suggested(header, *of == "hyperfine")));
                format!("{of}\n{}", each.collect::<String>())
            })
            .collect();
        insta::assert_snapshot!(told.concat());
    }
}
