//! hey. Its rate includes failed requests (`finalize` in its `requester/report.go`).

use crate::block::{Block, Line, duration_into, time_into};
use crate::digits::{number, split};
use crate::outputs::{TextFormat, by_heads, has_soon, percentile_key};
use crate::row::{Remark, Row};

pub(super) const TEXT: TextFormat = TextFormat { tool: "hey", begins, last: "Status code distribution:", read };

fn begins(lines: &[Line<'_>]) -> Vec<usize> {
    // oha begins in the same way, but has a success rate.
    by_heads(lines, &["Summary:"], |lines| has_soon(lines, 6, "Fastest:") && !has_soon(lines, 6, "Success rate:"))
}

fn read(mut block: Block<'_>) -> (Row, Vec<Remark>) {
    block.read("Total:", duration_into);
    // Without any answer there is no mean, and the other times are 0.
    let has_answers = block.find("Average:").is_some_and(|(_, text)| !text.starts_with("NaN"));
    if has_answers {
        block.time("Slowest:", "latency_max");
        block.time("Fastest:", "latency_min");
        block.time("Average:", "latency_mean");
    }
    block.number("Requests/sec:", "throughput_rps");
    block.read("Size/request:", |row, text| match split(text) {
        Some((digits, "bytes")) => row.figure("body_bytes", digits),
        _ => false,
    });
    distribution(&mut block, "Latency distribution:");
    statuses(&mut block);
    errors(&mut block);
    block.finish(|line| KNOWN.iter().any(|known| line.starts_with(known)) || is_of_histogram(line))
}

const KNOWN: [&str; 14] = [
    "Summary:",
    "Slowest:",
    "Fastest:",
    "Average:",
    "Total data:",
    "Response time histogram",
    "Latency distribution:",
    "Details (average",
    "DNS",
    "req write:",
    "resp ",
    "Status code distribution:",
    "Error distribution:",
    "[",
];

/// Percentiles below `head`: `95%% in 0.0002 secs`, with one or two percent signs.
pub(super) fn distribution(block: &mut Block<'_>, head: &str) {
    let Some((head, _)) = block.find(head) else { return };
    for at in head + 1..block.lines.len() {
        let Some((percent, time)) = block.lines[at].text.split_once(" in ") else { break };
        let Some(percent) = number(percent.trim_end_matches('%')) else { break };
        block.at(at, |row| time_into(row, &format!("latency_{}", percentile_key(percent)), time));
    }
}

/// `[200] 75123 responses`. A single status gives the number of answers; each of several has its own key.
pub(super) fn statuses(block: &mut Block<'_>) {
    let Some((head, _)) = block.find("Status code distribution:") else { return };
    let lines = block.lines[head + 1..].iter();
    let found: Vec<(&str, &str)> = lines.map_while(|line| status(line.text)).collect();
    for (at, (status, count)) in (head + 1..).zip(&found) {
        let key = if found.len() == 1 { "requests".to_owned() } else { format!("status {status}") };
        block.at(at, |row| row.figure(&key, count));
    }
}

fn status(line: &str) -> Option<(&str, &str)> {
    let (status, count) = line.strip_prefix('[')?.split_once(']')?;
    Some((number(status)?, number(count.strip_suffix(" responses")?)?))
}

/// `[6] Get "…": context deadline exceeded (…)`: the count, and the error.
pub(super) fn errors<'a>(block: &mut Block<'a>) {
    let Some((head, _)) = block.find("Error distribution:") else { return };
    let error = |line: &Line<'a>| line.text.strip_prefix('[').and_then(|line| line.split_once(']'));
    let found: Vec<(&str, &str)> = block.lines[head + 1..].iter().map_while(error).collect();
    let is_timeout = |error: &str| error.contains("deadline exceeded") || error.contains("timeout");
    let timeouts = found.iter().filter(|(_, error)| is_timeout(error)).count();
    for (at, (count, error)) in (head + 1..).zip(found) {
        // If time-outs have several wordings, no line has their total.
        let is_all = timeouts == 1 && is_timeout(error);
        let key = if is_all { "timeouts".to_owned() } else { format!("errors: {}", error.trim()) };
        block.at(at, |row| row.figure(&key, count));
    }
}

/// `0.002 [74014] |■■■`, also with a unit, as in oha.
pub(super) fn is_of_histogram(line: &str) -> bool {
    line.split_once(" [").is_some_and(|(mark, count)| split(mark).is_some() && count.contains("|"))
}
