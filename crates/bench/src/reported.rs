//! What a generator reports of latencies, read from its output. Set beside the truth, and believed in nothing.

use serde::Serialize;
use serde_json::Value;

use crate::claim::json;
use crate::tool::Tool;
use crate::truth::Latencies;

/// What tolok's record says beyond latencies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// How late requests were sent, by tolok's own clock.
    pub lateness: Latencies,
    pub scheduled: u64,
    pub trusted: bool,
    /// Names of the reasons why not.
    pub gates: Vec<String>,
    /// When its window began, on CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// Seed of what it drew at random.
    pub seed: u64,
}

pub fn latencies(tool: Tool, output: &str) -> Option<Latencies> {
    match tool {
        Tool::Tolok => Some(distribution(&json(output)?["response_time"])),
        Tool::Oha => {
            let result = json(output)?;
            let percentile = |name: &str| result["latencyPercentiles"][name].as_f64();
            let max_s = result["summary"]["slowest"].as_f64();
            Some(Latencies { p50_s: percentile("p50"), p99_s: percentile("p99"), p999_s: percentile("p99.9"), max_s })
        }
        Tool::K6 => {
            let result = json(output)?;
            let value = |name: &str| result["latency_ms"][name].as_f64().map(|value| value / 1e3);
            Some(Latencies {
                p50_s: value("med"),
                p99_s: value("p(99)"),
                p999_s: value("p(99.9)"),
                max_s: value("max"),
            })
        }
        Tool::Hey => hey(output),
        Tool::Wrk => wrk(output),
        Tool::Floor | Tool::Wrk2 | Tool::Gcannon | Tool::Ab | Tool::H2load => None,
    }
}

pub fn record(output: &str) -> Option<Record> {
    let record = json(output)?;
    let reasons = record["verdict"]["reasons"].as_array()?;
    let gate = |reason: &Value| reason["gate"].as_str().map(str::to_owned);
    Some(Record {
        lateness: distribution(&record["lateness"]),
        scheduled: record["ledger"]["scheduled"].as_u64()?,
        trusted: record["verdict"]["trusted"].as_bool()?,
        gates: reasons.iter().filter_map(gate).collect(),
        start_ns: record["window_start_monotonic_ns"].as_u64()?,
        seed: record["plan"]["seed"].as_u64()?,
    })
}

fn distribution(one: &Value) -> Latencies {
    let percentiles = one["percentiles"].as_array();
    let percentile = |quantile: f64| {
        let found = percentiles?.iter().find(|point| point["quantile"].as_f64() == Some(quantile))?;
        found["latency_s"].as_f64()
    };
    Latencies {
        p50_s: percentile(0.5),
        p99_s: percentile(0.99),
        p999_s: percentile(0.999),
        max_s: one["max_s"].as_f64(),
    }
}

/// `  50%% in 0.0007 secs`, and `  Slowest:  0.0060 secs`. A version without that slip prints one percent sign.
fn hey(output: &str) -> Option<Latencies> {
    let seconds = |front: &str| {
        let rest = output.lines().find_map(|line| line.trim().strip_prefix(front))?;
        rest.trim_start_matches('%').trim().trim_start_matches("in ").split(' ').next()?.parse::<f64>().ok()
    };
    let max_s = Some(seconds("Slowest:")?);
    Some(Latencies { p50_s: seconds("50%"), p99_s: seconds("99%"), p999_s: None, max_s })
}

/// `     50%  123.00us`, and `    Latency     1.05ms    3.85ms  99.12ms   97.46%`, of which the third is the greatest.
fn wrk(output: &str) -> Option<Latencies> {
    let line = |front: &str| output.lines().find_map(|line| line.trim().strip_prefix(front));
    let max_s = line("Latency  ")?.split_whitespace().nth(2).and_then(with_unit);
    let percentile = |front: &str| with_unit(line(front)?.trim());
    Some(Latencies { p50_s: percentile("50%"), p99_s: percentile("99%"), p999_s: None, max_s })
}

/// `123.00us`, `1.05ms`, `2.00s`, in seconds.
fn with_unit(text: &str) -> Option<f64> {
    let number = text.trim_end_matches(char::is_alphabetic);
    let unit_s = match &text[number.len()..] {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * unit_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tool: Tool, output: &str, expected: [Option<f64>; 4]) {
        let found = latencies(tool, output).unwrap().all();
        let equal = |(found, expected): (&Option<f64>, &Option<f64>)| match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-12,
            (found, expected) => found == expected,
        };
        assert!(found.iter().zip(&expected).all(equal), "{tool:?}: {found:?}");
    }

    #[test]
    fn percentiles_are_found_in_what_the_tools_printed_in_real_runs() {
        let oha = include_str!("../recordings/oha.txt");
        check(Tool::Oha, oha, [Some(0.000_056_02), Some(0.000_122_11), Some(0.000_258_19), Some(0.002_026_77)]);
        let hey = include_str!("../recordings/hey.txt");
        check(Tool::Hey, hey, [Some(0.0001), Some(0.0003), None, Some(0.006)]);
        let wrk = include_str!("../recordings/wrk-stalled.txt");
        check(Tool::Wrk, wrk, [Some(0.000_191), Some(0.089_37), None, Some(0.100_33)]);
        let k6 = r#"{"requests":201,"failed":0,"latency_ms":{"med":0.5,"p(99)":2,"p(99.9)":6,"max":7.5}}"#;
        check(Tool::K6, k6, [Some(0.0005), Some(0.002), Some(0.006), Some(0.0075)]);
        let tolok = r#"{"response_time":{"max_s":0.5,"percentiles":[{"quantile":0.5,"latency_s":0.1},
            {"quantile":0.99,"latency_s":0.4},{"quantile":0.999,"latency_s":null}]}}"#;
        check(Tool::Tolok, tolok, [Some(0.1), Some(0.4), None, Some(0.5)]);
    }

    #[test]
    fn toloks_record_tells_lateness_and_verdict() {
        let text = r#"{"lateness":{"max_s":0.5,"percentiles":[{"quantile":0.5,"latency_s":0.1}]},
            "ledger":{"scheduled":6000},"window_start_monotonic_ns":7,"plan":{"seed":3},
            "verdict":{"trusted":false,"reasons":[{"gate":"offered-rate-missed","text":"so"}]}}"#;
        let lateness = Latencies { p50_s: Some(0.1), max_s: Some(0.5), ..Latencies::default() };
        let gates = vec!["offered-rate-missed".to_owned()];
        assert_eq!(
            record(text),
            Some(Record { lateness, scheduled: 6000, trusted: false, gates, start_ns: 7, seed: 3 })
        );
        assert_eq!(record("error: no route"), None);
    }

    #[test]
    fn what_is_not_there_is_not_invented() {
        for tool in Tool::ALL {
            assert_eq!(latencies(tool, ""), None, "{tool:?}");
        }
        assert_eq!(["1.50s", "2.00m", "7", "x"].map(with_unit), [Some(1.5), Some(120.0), None, None]);
    }
}
