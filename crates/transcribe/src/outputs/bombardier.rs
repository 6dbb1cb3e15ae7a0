//! bombardier. It counts bytes in powers of 1,024 and prints K, M and G (`formatBinary` in its `format.go`).

use crate::block::{Block, Line, time_into};
use crate::digits::number;
use crate::outputs::wrk::{bytes, distribution};
use crate::outputs::{TextFormat, by_heads};
use crate::row::{Remark, Row};

pub(super) const TEXT: TextFormat = TextFormat { tool: "bombardier", begins, last: "Throughput:", read };

fn begins(lines: &[Line<'_>]) -> Vec<usize> {
    by_heads(lines, &["Bombarding ", "Statistics "], |_| true)
}

fn read(mut block: Block<'_>) -> (Row, Vec<Remark>) {
    block.read("Bombarding ", load);
    block.read("Reqs/sec ", |row, text| {
        let words: Vec<&str> = text.split_whitespace().collect();
        matches!(words.as_slice(), [mean, ..] if row.figure_with("throughput_rps", mean, Some("the mean of its samples")))
    });
    if let Some(at) =
        block.lines.iter().position(|line| line.text.starts_with("Latency ") && !line.text.contains("Distribution"))
    {
        let words: Vec<&str> = block.lines[at].text.split_whitespace().skip(1).collect();
        block.at(at, |row| match words.as_slice() {
            [mean, sd, max] => {
                time_into(row, "latency_mean", mean)
                    & time_into(row, "latency_sd", sd)
                    & time_into(row, "latency_max", max)
            }
            _ => false,
        });
    }
    distribution(&mut block, true);
    block.read("1xx - ", |row, text| codes(row, &format!("1xx - {text}")));
    block.read("others - ", |row, text| row.figure("other answers and errors", text));
    block.read("Throughput:", |row, text| {
        text.strip_suffix("/s").is_some_and(|size| bytes(row, "bandwidth", size, "_s"))
    });
    block.finish(|line| {
        let known = ["Statistics", "Latency Distribution", "HTTP codes:", "Errors:"];
        known.iter().any(|known| line.starts_with(known)) || line.contains("Done!") || line.contains(" - ")
    })
}

/// `http://… for 10s using 200 connections`, or `with 1000 requests using …`.
fn load(row: &mut Row, text: &str) -> bool {
    // The last word differs between versions.
    let without = text.strip_suffix(" connections").or_else(|| text.strip_suffix(" connection(s)"));
    let Some((what, connections)) = without.and_then(|text| text.rsplit_once(" using ")) else { return false };
    let has_time = what.rsplit_once(" for ").is_none_or(|(_, time)| row.duration(time));
    has_time & row.count("connections", connections)
}

/// `1xx - 0, 2xx - 0, 3xx - 66561, …`
fn codes(row: &mut Row, text: &str) -> bool {
    let counts =
        text.split(", ").map(|part| part.split_once(" - ").and_then(|(code, count)| Some((code, number(count)?))));
    counts
        .fold(true, |all, count| all & count.is_some_and(|(code, count)| row.figure(&format!("status {code}"), count)))
}
