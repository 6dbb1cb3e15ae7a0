//! vegeta: its text report, and its JSON, with times in nanoseconds. Its throughput counts correct responses only.

use crate::block::{Block, Line, duration_into, time_into};
use crate::digits::{number, shifted};
use crate::json::{Json, figure};
use crate::outputs::{JsonFormat, TextFormat, by_heads, percentile_key};
use crate::row::{Remark, Row};

pub(super) const TEXT: TextFormat = TextFormat { tool: "vegeta", begins, last: "Status Codes", read };
pub(super) const JSON: JsonFormat = JsonFormat { tool: "vegeta", is: is_json, read: read_json };

const OF_GOOD: &str = "vegeta counts correct responses only";
const OF_NANOSECONDS: &str = "printed in nanoseconds";

fn begins(lines: &[Line<'_>]) -> Vec<usize> {
    by_heads(lines, &["Requests      [total, rate"], |_| true)
}

fn read(mut block: Block<'_>) -> (Row, Vec<Remark>) {
    for at in 0..block.lines.len() {
        let Some((label, rest)) = block.lines[at].text.split_once('[') else { continue };
        let Some((names, values)) = rest.split_once(']') else { continue };
        let pairs: Vec<(&str, &str)> = names.split(", ").zip(values.trim().split(", ")).collect();
        match label.trim() {
            "Requests" => block
                .at(at, |row| all(&pairs, |name, value| number(value).is_some_and(|digits| rate(row, name, digits)))),
            // Only the attack counts: the wait for the last answers follows it.
            "Duration" => block.at(at, |row| all(&pairs, |name, value| name != "attack" || duration_into(row, value))),
            "Latencies" => block
                .at(at, |row| all(&pairs, |name, value| time_into(row, &format!("latency_{}", moment(name)), value))),
            "Bytes In" => {
                block.at(at, |row| all(&pairs, |name, value| row.figure(&format!("bytes in, {name}"), value)))
            }
            "Success" => block.at(at, |row| {
                all(&pairs, |_, value| {
                    value.strip_suffix('%').is_some_and(|digits| row.figure("success ratio [%]", digits))
                })
            }),
            "Status Codes" => block.at(at, |row| {
                values.split_whitespace().all(|one| {
                    one.split_once(':').is_some_and(|(code, count)| row.figure(&format!("status {code}"), count))
                })
            }),
            _ => {}
        }
    }
    // Errors are listed below, in their own words.
    block.finish(|_| true)
}

fn all(pairs: &[(&str, &str)], mut read: impl FnMut(&str, &str) -> bool) -> bool {
    !pairs.is_empty() && pairs.iter().fold(true, |all, (name, value)| all & read(name, value))
}

fn rate(row: &mut Row, name: &str, digits: &str) -> bool {
    match name {
        "total" => row.figure("requests", digits),
        "rate" => row.figure("offered_rps", digits),
        "throughput" => row.figure_with("goodput_rps", digits, Some(OF_GOOD)),
        _ => false,
    }
}

/// `50`, `95th` or `mean`, as the word of a key.
fn moment(name: &str) -> String {
    match name {
        "min" | "mean" | "max" => name.to_owned(),
        percent => percentile_key(percent.trim_end_matches("th")),
    }
}

fn is_json(json: &Json<'_>) -> bool {
    json.at(&["latencies", "50th"]).is_some() && json.at(&["bytes_in"]).is_some()
}

fn read_json(json: &Json<'_>, row: &mut Row) {
    let seconds = |digits: &str| shifted(digits, -9);
    figure(json, &["duration"], row, |row, digits| {
        seconds(digits).is_some_and(|seconds| duration_into(row, &format!("{seconds}s")))
    });
    for (name, key) in [("requests", "total"), ("rate", "rate"), ("throughput", "throughput")] {
        figure(json, &[name], row, |row, digits| rate(row, key, digits));
    }
    for (name, _) in json.at(&["latencies"]).map(Json::entries).unwrap_or_default() {
        // The sum of all times.
        if name == "total" {
            continue;
        }
        figure(json, &["latencies", name], row, |row, digits| {
            let key = format!("latency_{}_us", moment(name));
            shifted(digits, -3).is_some_and(|micros| row.figure_with(&key, &micros, Some(OF_NANOSECONDS)))
        });
    }
    figure(json, &["bytes_in", "total"], row, |row, digits| row.figure("bytes in, total", digits));
    figure(json, &["success"], row, |row, digits| row.figure("success ratio", digits));
    for (status, _) in json.at(&["status_codes"]).map(Json::entries).unwrap_or_default() {
        figure(json, &["status_codes", status], row, |row, digits| row.figure(&format!("status {status}"), digits));
    }
}
