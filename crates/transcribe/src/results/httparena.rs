//! HttpArena: `site/data/PROFILE-CONNECTIONS.json` is a list of records; a round has such a list for each profile.
//!
//! No record names its load generator: the profile determines it (`endpoint_tool` in its `scripts/lib/profiles.sh`).
//! The rate is the best of several runs. The meaning of MB depends on the generator, so bandwidths have no key.

use super::{Form, Measurement, Reading, digits};
use crate::block::{duration_into, time_into};
use crate::digits::{split, with_unit};
use crate::json::Json;
use crate::row::Row;

pub(super) const FORM: Form = Form { is, read };

fn is(json: &Json<'_>) -> bool {
    let is_list = |json: &Json<'_>| json.items().first().is_some_and(is_record);
    is_list(json) || json.entries().iter().any(|(_, list)| is_list(list))
}

fn is_record(json: &Json<'_>) -> bool {
    ["framework", "rps", "avg_latency"].iter().all(|key| json.at(&[key]).is_some())
}

fn read(json: &Json<'_>, file: &str, reading: &mut Reading<'_>) {
    json.items().iter().for_each(|one| record(one, file, reading));
    for (profile, list) in json.entries() {
        list.items().iter().for_each(|one| record(one, profile, reading));
    }
}

fn record(json: &Json<'_>, profile: &str, reading: &mut Reading<'_>) {
    let Some(subject) = json.at(&["framework"]).and_then(Json::words) else {
        return reading.remark(json, "a record without the name of a framework is not read".to_owned());
    };
    reading.row(json, subject, |measurement| {
        measurement.scenario(profile);
        json.entries().iter().for_each(|(key, value)| entry(key, value, measurement));
    });
}

fn entry(key: &str, value: &Json<'_>, measurement: &mut Measurement<'_>) {
    // Names and other values that are not figures.
    if matches!(key, "framework" | "language" | "cpu_breakdown") || value.shown().is_empty() {
        return;
    }
    measurement.value(key, value, |row, value| {
        let shown = value.shown();
        match key {
            "rps" => digits(row, "throughput_rps", value),
            "avg_latency" => time_into(row, "latency_mean", shown),
            "p99_latency" => time_into(row, "latency_p99", shown),
            "cpu" => with_unit(shown, "%").is_some_and(|digits| row.figure("cpu_percent", digits)),
            "memory" => memory(row, shown),
            "connections" => row.count("connections", shown),
            "threads" => row.count("generator-threads", shown),
            "duration" => duration_into(row, shown),
            "pipeline" => row.count("streams", shown),
            "status_2xx" => digits(row, "successes", value),
            "bandwidth" | "input_bw" => {
                split(shown).is_some_and(|(digits, unit)| row.figure(&format!("{key} [{unit}]"), digits))
            }
            _ if key == "reconnects" || key.starts_with("status_") || key.starts_with("tpl_") => {
                digits(row, key, value)
            }
            _ => false,
        }
    });
}

/// `76MiB`, as Docker prints it.
fn memory(row: &mut Row, shown: &str) -> bool {
    let Some((digits, unit)) = split(shown) else { return false };
    let unit = match unit {
        "B" => "bytes",
        "KiB" => "kib",
        "MiB" => "mib",
        "GiB" => "gib",
        _ => return false,
    };
    row.figure(&format!("memory_{unit}"), digits)
}
