//! TechEmpower's `results.json`: for each test and framework, a list with an entry for each level of load.
//!
//! The entries are what its `toolset/utils/results.py` finds in wrk's output. `toolset/test_types` defines the levels
//! of a test, and how many requests it sends at a time. Plaintext sends 16 at a time, and tests by number of queries
//! use the most connections.

use super::{Form, Reading, digits};
use crate::block::time_into;
use crate::json::Json;

pub(super) const FORM: Form = Form { is, read };

const TOOL: &str = "its toolset runs wrk";
const SINGLE: &str = "its scripts send one at a time";
const TIMEOUT: &str = "its scripts set it";
const PIPELINED: &str = "pipeline in its toolset/test_types/plaintext";

fn is(json: &Json<'_>) -> bool {
    json.at(&["rawData"]).is_some() && json.at(&["concurrencyLevels"]).is_some()
}

/// The levels of a test: what they count, and the numbers.
struct Levels {
    are_queries: bool,
    each: Vec<String>,
    /// The connections of a test by number of queries.
    most: Option<String>,
}

fn levels(json: &Json<'_>, test: &str) -> Levels {
    let list = |key: &str| -> Vec<String> {
        json.at(&[key]).map(Json::items).unwrap_or_default().iter().filter_map(Json::digits).collect()
    };
    let connections = list("concurrencyLevels");
    let by_size = |level: &&String| level.parse::<u64>().unwrap_or(0);
    match test {
        "plaintext" => Levels { are_queries: false, each: list("pipelineConcurrencyLevels"), most: None },
        "query" | "update" | "cached_query" | "cached-query" => Levels {
            are_queries: true,
            each: list(if test.starts_with("cached") { "cachedQueryIntervals" } else { "queryIntervals" }),
            most: connections.iter().max_by_key(by_size).cloned(),
        },
        _ => Levels { are_queries: false, each: connections, most: None },
    }
}

fn read(json: &Json<'_>, _: &str, reading: &mut Reading<'_>) {
    let duration = json.at(&["duration"]).map(Json::shown).filter(|seconds| seconds.parse::<u32>().is_ok());
    for (test, frameworks) in json.at(&["rawData"]).map(Json::entries).unwrap_or_default() {
        if matches!(test.as_str(), "slocCounts" | "commitCounts") {
            continue;
        }
        let levels = levels(json, test);
        for (framework, list) in frameworks.entries() {
            let entries = list.items();
            if !entries.is_empty() && entries.len() != levels.each.len() {
                let (known, found) = (levels.each.len(), entries.len());
                let text =
                    format!("{test} of {framework} has {found} entries for {known} levels, so their load is not known");
                reading.remark(list, text);
            }
            for (place, entry) in entries.iter().enumerate() {
                let level = levels.each.get(place).filter(|_| entries.len() == levels.each.len());
                one(entry, (test, framework), level, &levels, duration, reading);
            }
        }
    }
}

fn one(
    json: &Json<'_>,
    (test, framework): (&str, &str),
    level: Option<&String>,
    levels: &Levels,
    duration: Option<&str>,
    reading: &mut Reading<'_>,
) {
    reading.row(json, framework, |measurement| {
        match level {
            Some(level) if levels.are_queries => measurement.scenario(&format!("{test}, {level} queries")),
            _ => measurement.scenario(test),
        }
        let row = &mut measurement.row;
        row.setting("tool", "\"wrk\"".to_owned(), Some(TOOL.to_owned()));
        let connections = if levels.are_queries { levels.most.as_ref() } else { level };
        if let Some(connections) = connections {
            row.count("connections", connections);
        }
        match test {
            "plaintext" => row.setting("streams", "16".to_owned(), Some(PIPELINED.to_owned())),
            _ => row.setting("streams", "1".to_owned(), Some(SINGLE.to_owned())),
        }
        row.setting("timeout", "\"8s\"".to_owned(), Some(TIMEOUT.to_owned()));
        if let Some(seconds) = duration {
            row.duration(&format!("{seconds}s"));
        }
        for (key, value) in json.entries() {
            // These are times of the machine's clock.
            if matches!(key.as_str(), "startTime" | "endTime") {
                continue;
            }
            measurement.value(key, value, |row, value| match key.as_str() {
                "latencyAvg" => time_into(row, "latency_mean", value.shown()),
                "latencyStdev" => time_into(row, "latency_sd", value.shown()),
                "latencyMax" => time_into(row, "latency_max", value.shown()),
                "totalRequests" => digits(row, "requests", value),
                // wrk's answers with a status other than 2xx and 3xx.
                "5xx" => digits(row, "failures", value),
                "timeout" => digits(row, "timeouts", value),
                "connect" | "read" | "write" => digits(row, &format!("{key} errors"), value),
                _ => false,
            });
        }
    });
}
