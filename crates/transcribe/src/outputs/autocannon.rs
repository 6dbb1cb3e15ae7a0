//! autocannon: its table and its JSON. Its rate is the mean of one-second samples. Its kB and MB are powers of 1,000.

use crate::block::{Block, Line, duration_into, time_into};
use crate::digits::{number, split};
use crate::json::{Json, figure};
use crate::outputs::{JsonFormat, TextFormat, by_heads, percentile_key};
use crate::row::{Remark, Row};

pub(super) const TEXT: TextFormat = TextFormat { tool: "autocannon", begins, last: "# of samples:", read };
pub(super) const JSON: JsonFormat = JsonFormat { tool: "autocannon", is: is_json, read: read_json };

const OF_SAMPLES: &str = "the mean of its samples";

fn begins(lines: &[Line<'_>]) -> Vec<usize> {
    // wrk begins in the same way, but continues with threads.
    by_heads(lines, &["Running ", "│ Stat "], |lines| {
        let next = lines.get(1).map_or("", |line| line.text);
        match lines[0].text.starts_with("Running ") {
            true => next.split_once(" connections").is_some_and(|(count, _)| number(count).is_some()),
            // If the head is cut off, the first of its two tables begins the run.
            false => lines[0].text.contains("99%"),
        }
    })
}

fn read(mut block: Block<'_>) -> (Row, Vec<Remark>) {
    block.read("Running ", |_, _| true);
    let connections = block
        .lines
        .iter()
        .position(|line| line.text.split_once(" connections").is_some_and(|(count, _)| number(count).is_some()));
    if let Some(at) = connections {
        let text = block.lines[at].text;
        block.at(at, |row| {
            text.split_once(" connections").is_some_and(|(count, rest)| {
                let depth = rest.trim().strip_prefix("with ").and_then(|rest| rest.strip_suffix(" pipelining factor"));
                depth.is_none_or(|depth| row.count("streams", depth)) & row.count("connections", count)
            })
        });
    }
    tables(&mut block);
    if let Some(at) = block.lines.iter().position(|line| line.text.contains(" requests in ")) {
        let text = block.lines[at].text;
        block.at(at, |row| total(row, text));
    }
    if let Some(at) = block.lines.iter().position(|line| line.text.ends_with(" timeouts)")) {
        let text = block.lines[at].text;
        block.at(at, |row| {
            let parts = text.strip_suffix(" timeouts)").and_then(|text| text.split_once(" errors ("));
            parts.is_some_and(|(errors, timeouts)| row.figure("failures", errors) & row.figure("timeouts", timeouts))
        });
    }
    block.finish(|line| {
        line.starts_with(['┌', '├', '└'])
            || ["Req/Bytes counts", "# of samples:"].iter().any(|known| line.starts_with(known))
    })
}

/// Rows of framed tables: `│ Latency │ 0 ms │ …`, each below a header that names its columns.
fn tables(block: &mut Block<'_>) {
    let mut head: Vec<&str> = Vec::new();
    for at in 0..block.lines.len() {
        let Some(cells) = block.lines[at].text.strip_prefix('│').and_then(|line| line.strip_suffix('│')) else {
            continue;
        };
        let cells: Vec<&str> = cells.split('│').map(str::trim).collect();
        match cells[0] {
            "Stat" | "Percentile" | "Code" => {
                block.at(at, |_| true);
                head = cells;
            }
            "Latency" => block.at(at, |row| {
                head.len() == cells.len()
                    && head.iter().zip(&cells).skip(1).fold(true, |all, (name, cell)| {
                        all & time_into(row, &format!("latency_{}", moment(name)), &cell.replace(',', ""))
                    })
            }),
            "Req/Sec" => block.at(at, |row| {
                let mean = head.iter().zip(&cells).find(|(name, _)| **name == "Avg");
                mean.is_some_and(|(_, cell)| {
                    row.figure_with("throughput_rps", &cell.replace(',', ""), Some(OF_SAMPLES))
                })
            }),
            "Bytes/Sec" => block.at(at, |row| {
                let mean = head.iter().zip(&cells).find(|(name, _)| **name == "Avg");
                mean.is_some_and(|(_, cell)| bytes(row, "bandwidth", cell, "_s"))
            }),
            _ => {}
        }
    }
}

fn moment(name: &str) -> String {
    match name {
        "Avg" => "mean".to_owned(),
        "Stdev" => "sd".to_owned(),
        "Max" => "max".to_owned(),
        percent => percentile_key(percent.trim_end_matches('%')),
    }
}

/// `22k requests in 10.02s, 3.47 MB read`
fn total(row: &mut Row, line: &str) -> bool {
    let parts = line.split_once(" requests in ").and_then(|(count, rest)| Some((count, rest.split_once(", ")?)));
    let Some((count, (time, read))) = parts else { return false };
    let read = read.strip_suffix(" read");
    row.figure("requests", count)
        & duration_into(row, time)
        & read.is_some_and(|read| bytes(row, "transferred", read, ""))
}

fn bytes(row: &mut Row, stem: &str, text: &str, end: &str) -> bool {
    let Some((digits, unit)) = split(text) else { return false };
    let unit = match unit {
        "B" => "bytes",
        "kB" => "kb",
        "MB" => "mb",
        "GB" => "gb",
        _ => return false,
    };
    row.figure(&format!("{stem}_{unit}{end}"), digits)
}

fn is_json(json: &Json<'_>) -> bool {
    json.at(&["latency", "p97_5"]).is_some() && json.at(&["requests", "average"]).is_some()
}

fn read_json(json: &Json<'_>, row: &mut Row) {
    figure(json, &["duration"], row, |row, digits| duration_into(row, &format!("{digits}s")));
    figure(json, &["connections"], row, |row, digits| row.count("connections", digits));
    figure(json, &["pipelining"], row, |row, digits| row.count("streams", digits));
    for (path, key) in [
        (["requests", "total"], "requests"),
        (["throughput", "total"], "transferred_bytes"),
        (["throughput", "average"], "bandwidth_bytes_s"),
        (["latency", "average"], "latency_mean_ms"),
        (["latency", "stddev"], "latency_sd_ms"),
        (["latency", "min"], "latency_min_ms"),
        (["latency", "max"], "latency_max_ms"),
    ] {
        figure(json, &path, row, |row, digits| row.figure(key, digits));
    }
    figure(json, &["requests", "average"], row, |row, digits| {
        row.figure_with("throughput_rps", digits, Some(OF_SAMPLES))
    });
    for (name, _) in json.at(&["latency"]).map(Json::entries).unwrap_or_default() {
        let Some(percent) = name.strip_prefix('p') else { continue };
        let key = format!("latency_{}_ms", percentile_key(&percent.replace('_', ".")));
        figure(json, &["latency", name], row, |row, digits| row.figure(&key, digits));
    }
    for (name, key) in [("timeouts", "timeouts"), ("errors", "errors"), ("non2xx", "failures"), ("2xx", "successes")] {
        figure(json, &[name], row, |row, digits| row.figure(key, digits));
    }
}
