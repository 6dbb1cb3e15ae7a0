//! the-benchmarker: `data.json` has a record for each figure of a framework at a number of connections.
//!
//! A figure of -1 is missing. Its task `collect` (in `.tasks/collect.rake`, February 2026) reads outputs of oha, and
//! writes oha's p95 as `percentile99`. The file cannot tell which of the two a figure is, so it gets no key.

use std::collections::HashMap;

use super::{Form, Reading, digits};
use crate::block::duration_into;
use crate::json::Json;

pub(super) const FORM: Form = Form { is, read };

fn is(json: &Json<'_>) -> bool {
    let first = json.at(&["metrics"]).and_then(|metrics| metrics.items().first());
    json.at(&["frameworks"]).is_some() && first.is_some_and(|first| first.at(&["framework_id"]).is_some())
}

fn read(json: &Json<'_>, _: &str, reading: &mut Reading<'_>) {
    let list = |key| json.at(&[key]).map(Json::items).unwrap_or_default();
    let names: HashMap<String, String> = list("frameworks").iter().filter_map(name).collect();
    let (mut order, mut records): (Vec<(&str, &str)>, HashMap<_, Vec<&Json<'_>>>) = Default::default();
    for record in list("metrics") {
        let of = |key| record.at(&[key]).map(Json::shown);
        let (Some(id), Some(level)) = (of("framework_id"), of("level")) else {
            reading.remark(record, "a figure without a framework or a level is not read".to_owned());
            continue;
        };
        if !records.contains_key(&(id, level)) {
            order.push((id, level));
        }
        records.entry((id, level)).or_default().push(record);
    }
    for key in order {
        let Some(of_row) = records.get(&key) else { continue };
        match names.get(key.0) {
            Some(name) => row(name, key.1, of_row, reading),
            None => reading.remark(of_row[0], format!("no framework has the number {}", key.0)),
        }
    }
}

/// The id of a framework, and its name with its language, because two languages may have frameworks of the same name.
fn name(framework: &Json<'_>) -> Option<(String, String)> {
    let of = |key| framework.at(&[key]).map(|value| value.shown().to_owned());
    let language = of("language").map(|language| format!(" ({language})")).unwrap_or_default();
    Some((of("id")?, format!("{}{language}", of("label")?)))
}

fn row(name: &str, level: &str, records: &[&Json<'_>], reading: &mut Reading<'_>) {
    reading.row(records[0], name, |measurement| {
        measurement.row.text("tool", "oha");
        measurement.row.count("connections", level);
        for record in records {
            let (Some(label), Some(value)) = (record.at(&["label"]).and_then(Json::words), record.at(&["value"]))
            else {
                continue;
            };
            let is_none = value.shown().starts_with('-') || value.shown() == "null";
            // Bytes are always 0, because oha's output has them under another key.
            let is_unread = label == "total_bytes_received" && value.shown().parse() == Ok(0.0);
            if is_none || is_unread {
                continue;
            }
            measurement.value(label, value, |row, value| match label {
                "total_requests_per_s" => digits(row, "throughput_rps", value),
                "total_requests" => digits(row, "requests", value),
                "total_bytes_received" => digits(row, "transferred_bytes", value),
                "average_latency" => digits(row, "latency_mean_s", value),
                "standard_deviation" => digits(row, "latency_sd_s", value),
                "minimum_latency" => digits(row, "latency_min_s", value),
                "percentile50" => digits(row, "latency_p50_s", value),
                "percentile75" => digits(row, "latency_p75_s", value),
                "percentile90" => digits(row, "latency_p90_s", value),
                "percentile99" => digits(row, "percentile99, or p95 [s]", value),
                "http_errors" => digits(row, "failures", value),
                "request_timeouts" => digits(row, "timeouts", value),
                "duration_ms" => value.digits().is_some_and(|digits| duration_into(row, &format!("{digits}ms"))),
                _ => digits(row, label, value),
            });
        }
    });
}
