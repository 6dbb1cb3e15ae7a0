//! The keys of figures: `<quantity>_<unit>`, such as `latency_p95_ms`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Moment, Quantity, Unit};

/// Moments of a quantity with several keys: the word in the key, and the moment.
type Moments = &'static [(&'static str, Moment)];
/// Suffixes of keys, and their units; `""` if the key has no unit.
type Units = &'static [(&'static str, Unit)];

/// Keys of one kind: `<stem>[_<moment>][_<unit>]`.
pub(crate) struct FigureFamily {
    stem: &'static str,
    quantity: fn(Moment) -> Quantity,
    moments: Moments,
    units: Units,
    /// What the figures measure, for the reference.
    #[cfg_attr(not(feature = "schema"), expect(dead_code, reason = "only the JSON Schema uses it"))]
    pub meaning: &'static str,
}

const ONLY: Moments = &[("", Moment::Whole)];
const TIMES: Units = &[("s", Unit::Second), ("ms", Unit::Millisecond), ("us", Unit::Microsecond)];
const PER_SECOND: Units = &[("rps", Unit::PerSecond)];
const COUNT: Units = &[("", Unit::One)];
const PERCENT: Units = &[("percent", Unit::Percent)];
const LATENCIES: Moments = &[
    ("mean", Moment::Mean),
    ("sd", Moment::Sd),
    ("min", Moment::Min),
    ("p10", Moment::Percentile(1000)),
    ("p25", Moment::Percentile(2500)),
    ("p50", Moment::Percentile(5000)),
    ("p66", Moment::Percentile(6600)),
    ("p75", Moment::Percentile(7500)),
    ("p80", Moment::Percentile(8000)),
    ("p90", Moment::Percentile(9000)),
    ("p95", Moment::Percentile(9500)),
    ("p98", Moment::Percentile(9800)),
    ("p99", Moment::Percentile(9900)),
    ("p999", Moment::Percentile(9990)),
    ("p9999", Moment::Percentile(9999)),
    ("max", Moment::Max),
];
const PROGRAM_TIMES: Moments = &[
    ("mean", Moment::Mean),
    ("sd", Moment::Sd),
    ("min", Moment::Min),
    ("p50", Moment::Percentile(5000)),
    ("max", Moment::Max),
];
const MEMORY: Moments = &[("", Moment::Whole), ("mean", Moment::Mean), ("peak", Moment::Max)];
const CPU: Moments = &[("", Moment::Whole), ("mean", Moment::Mean), ("max", Moment::Max), ("min", Moment::Min)];
const BYTE_UNITS: Units = &[
    ("bytes", Unit::Byte),
    ("kb", Unit::Kilobyte),
    ("mb", Unit::Megabyte),
    ("gb", Unit::Gigabyte),
    ("kib", Unit::Kibibyte),
    ("mib", Unit::Mebibyte),
    ("gib", Unit::Gibibyte),
];
const BANDWIDTHS: Units = &[
    ("bytes_s", Unit::BytePerSecond),
    ("kb_s", Unit::KilobytePerSecond),
    ("kib_s", Unit::KibibytePerSecond),
    ("mb_s", Unit::MegabytePerSecond),
    ("mib_s", Unit::MebibytePerSecond),
    ("gb_s", Unit::GigabytePerSecond),
    ("gib_s", Unit::GibibytePerSecond),
    ("mbit_s", Unit::MegabitPerSecond),
    ("gbit_s", Unit::GigabitPerSecond),
];
const BODIES: Units = &[("bytes", Unit::Byte), ("kb", Unit::Kilobyte), ("mb", Unit::Megabyte)];
const CPU_UNITS: Units = &[("percent", Unit::Percent), ("cores", Unit::Core)];
const CPU_PER_REQUEST: Units = &[("us", Unit::Microsecond), ("percent", Unit::Percent)];

/// Every kind of key, in the order of the reference.
pub(crate) const FAMILIES: [FigureFamily; 18] = [
    family("throughput", |_| Quantity::Throughput, ONLY, PER_SECOND, "answers per second, good or not"),
    family("goodput", |_| Quantity::Goodput, ONLY, PER_SECOND, "correct responses per second"),
    family("offered", |_| Quantity::Offered, ONLY, PER_SECOND, "scheduled requests per second of an open loop"),
    family("requests", |_| Quantity::Requests, ONLY, COUNT, "answers of a run"),
    family("successes", |_| Quantity::Successes, ONLY, COUNT, "correct responses of a run"),
    family("failures", |_| Quantity::Failures, ONLY, COUNT, "requests of a run that failed"),
    family("timeouts", |_| Quantity::Timeouts, ONLY, COUNT, "requests of a run that were given up"),
    family(
        "error_rate",
        |_| Quantity::ErrorRate,
        ONLY,
        PERCENT,
        "share of requests with an error, as the source counts",
    ),
    family("http_fail_rate", |_| Quantity::HttpFailRate, ONLY, PERCENT, "share of requests that failed as HTTP"),
    family("latency", Quantity::Latency, LATENCIES, TIMES, "response time"),
    family("time", Quantity::Time, PROGRAM_TIMES, TIMES, "time of a program from its start to its end"),
    family("runs", |_| Quantity::Runs, ONLY, COUNT, "runs of a program behind its times"),
    family("bandwidth", |_| Quantity::Bandwidth, ONLY, BANDWIDTHS, "bytes or bits per second"),
    family("transferred", |_| Quantity::Transferred, ONLY, BYTE_UNITS, "bytes of a run"),
    family("body", |_| Quantity::Body, ONLY, BODIES, "size of an answer's body"),
    family("memory", Quantity::Memory, MEMORY, BYTE_UNITS, "memory in use"),
    family("cpu", Quantity::Cpu, CPU, CPU_UNITS, "CPU in use; `cpu-scope` says of what a percentage is a share"),
    family("cpu_per_request", |_| Quantity::CpuPerRequest, ONLY, CPU_PER_REQUEST, "CPU of one request"),
];

const fn family(
    stem: &'static str,
    quantity: fn(Moment) -> Quantity,
    moments: Moments,
    units: Units,
    meaning: &'static str,
) -> FigureFamily {
    FigureFamily { stem, quantity, moments, units, meaning }
}

impl FigureFamily {
    /// Its keys, each with its quantity and unit.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (String, Quantity, Unit)> {
        self.moments.iter().flat_map(move |(word, moment)| {
            self.units.iter().map(move |(end, unit)| {
                let parts = [self.stem, word, end];
                let key = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_");
                (key, (self.quantity)(*moment), *unit)
            })
        })
    }

    /// Its keys in short form: `latency_{mean,sd}_{s,ms}`.
    #[cfg(feature = "schema")]
    pub(crate) fn pattern(&self) -> String {
        let parts = [choice(self.moments), choice(self.units)];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let optional = self.moments.len() > 1 && self.moments[0].0.is_empty();
        match parts.as_slice() {
            [moments, units] if optional => format!("{}[_{moments}]_{units}", self.stem),
            parts => [&[self.stem.to_owned()], parts].concat().join("_"),
        }
    }
}

#[cfg(feature = "schema")]
fn choice<T>(words: &[(&str, T)]) -> String {
    let words: Vec<&str> = words.iter().map(|(word, _)| *word).filter(|word| !word.is_empty()).collect();
    if words.len() > 1 { format!("{{{}}}", words.join(",")) } else { words.concat() }
}

pub fn figure_keys() -> Vec<String> {
    FAMILIES.iter().flat_map(FigureFamily::keys).map(|(key, ..)| key).collect()
}

/// The quantity and unit that a key means.
pub fn figure_key(key: &str) -> Option<(Quantity, Unit)> {
    // A map, because this is called for every cell of a table.
    static KNOWN: LazyLock<HashMap<String, (Quantity, Unit)>> = LazyLock::new(|| {
        let known = FAMILIES.iter().flat_map(FigureFamily::keys);
        known.map(|(key, quantity, unit)| (key, (quantity, unit))).collect()
    });
    KNOWN.get(key).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_quantity_and_a_unit() {
        assert_eq!(figure_key("throughput_rps"), Some((Quantity::Throughput, Unit::PerSecond)));
        let p95 = Quantity::Latency(Moment::Percentile(9500));
        assert_eq!(figure_key("latency_p95_s"), Some((p95, Unit::Second)));
        assert_eq!(figure_key("memory_peak_mib"), Some((Quantity::Memory(Moment::Max), Unit::Mebibyte)));
        assert_eq!(figure_key("cpu_percent"), Some((Quantity::Cpu(Moment::Whole), Unit::Percent)));
        assert_eq!(figure_key("cpu_per_request_us"), Some((Quantity::CpuPerRequest, Unit::Microsecond)));
        assert_eq!(figure_key("latency_ms"), None, "a latency names its percentile or mean");
    }

    #[test]
    fn no_key_has_two_meanings() {
        let keys = figure_keys();
        let mut distinct = keys.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), keys.len());
    }

    #[test]
    fn keys_are_told_in_short() {
        let patterns: Vec<String> = FAMILIES.iter().map(FigureFamily::pattern).collect();
        insta::assert_snapshot!(patterns.join("\n"));
    }
}
