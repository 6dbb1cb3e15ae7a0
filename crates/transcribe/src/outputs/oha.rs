//! oha, as text and as JSON. It names KiB as such (`print_summary` in its `src/printer.rs`).

use crate::block::{Block, Line, duration_into};
use crate::digits::split;
use crate::json::{Json, figure};
use crate::outputs::hey::{distribution, errors, is_of_histogram, statuses};
use crate::outputs::{JsonFormat, TextFormat, by_heads, has_soon, percentile_key};
use crate::row::{Remark, Row};

pub(super) const TEXT: TextFormat = TextFormat { tool: "oha", begins, last: "Status code distribution:", read };
pub(super) const JSON: JsonFormat = JsonFormat { tool: "oha", is: is_json, read: read_json };

fn begins(lines: &[Line<'_>]) -> Vec<usize> {
    by_heads(lines, &["Summary:"], |lines| has_soon(lines, 3, "Success rate:"))
}

fn read(mut block: Block<'_>) -> (Row, Vec<Remark>) {
    block.read("Success rate:", |row, text| {
        text.strip_suffix('%').is_some_and(|digits| row.figure("success rate [%]", digits))
    });
    block.read("Total:", duration_into);
    let has_answers = block.find("Average:").is_some_and(|(_, text)| !text.starts_with("NaN"));
    if has_answers {
        block.time("Slowest:", "latency_max");
        block.time("Fastest:", "latency_min");
        block.time("Average:", "latency_mean");
        distribution(&mut block, "Response time distribution:");
    }
    block.number("Requests/sec:", "throughput_rps");
    block.read("Total data:", |row, text| size(row, "bytes of bodies", text));
    block.read("Size/request:", |row, text| text == "NaN" || size(row, "body", text));
    block.read("Size/sec:", |row, text| size(row, "bytes of bodies per second", text));
    statuses(&mut block);
    errors(&mut block);
    block.finish(|line| {
        KNOWN.iter().any(|known| line.starts_with(known)) || is_of_histogram(line) || line.contains("% in ")
    })
}

const KNOWN: [&str; 11] = [
    "Summary:",
    "Slowest:",
    "Fastest:",
    "Average:",
    "Response time histogram",
    "Response time distribution",
    "Details (average",
    "DNS",
    "Status code distribution:",
    "Error distribution:",
    "[",
];

/// `11 B`, `593.27 KiB`.
fn size(row: &mut Row, stem: &str, text: &str) -> bool {
    match split(text) {
        Some((digits, "B")) if stem == "body" => row.figure("body_bytes", digits),
        Some((digits, unit)) if !unit.is_empty() => row.figure(&format!("{stem} [{unit}]"), digits),
        _ => false,
    }
}

fn is_json(json: &Json<'_>) -> bool {
    json.at(&["summary", "requestsPerSec"]).is_some() && json.at(&["latencyPercentiles"]).is_some()
}

fn read_json(json: &Json<'_>, row: &mut Row) {
    figure(json, &["summary", "total"], row, |row, digits| duration_into(row, &format!("{digits}s")));
    for (name, key) in [
        ("requestsPerSec", "throughput_rps"),
        ("average", "latency_mean_s"),
        ("fastest", "latency_min_s"),
        ("slowest", "latency_max_s"),
        ("sizePerRequest", "body_bytes"),
        ("totalData", "bytes of bodies"),
        ("successRate", "success rate"),
    ] {
        figure(json, &["summary", name], row, |row, digits| row.figure(key, digits));
    }
    for (name, _) in json.at(&["latencyPercentiles"]).map(Json::entries).unwrap_or_default() {
        let key = format!("latency_{}_s", percentile_key(name.trim_start_matches('p')));
        figure(json, &["latencyPercentiles", name], row, |row, digits| row.figure(&key, digits));
    }
    let statuses = json.at(&["statusCodeDistribution"]).map(Json::entries).unwrap_or_default();
    for (status, _) in statuses {
        let key = if statuses.len() == 1 { "requests".to_owned() } else { format!("status {status}") };
        figure(json, &["statusCodeDistribution", status], row, |row, digits| row.figure(&key, digits));
    }
    for (error, _) in json.at(&["errorDistribution"]).map(Json::entries).unwrap_or_default() {
        let key = format!("errors: {error}");
        figure(json, &["errorDistribution", error], row, |row, digits| row.figure(&key, digits));
    }
}
