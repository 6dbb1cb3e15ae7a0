//! wrk, and wrk2, whose output has more digits.
//!
//! wrk counts bytes in powers of 1,024 and prints K, M and G (`binary_units` in its `src/units.c`), so its MB are MiB.

use crate::block::{Block, Line, duration_into, time_into};
use crate::digits::{number, split, with_unit};
use crate::outputs::{TextFormat, by_heads, has_soon, percentile_key};
use crate::row::{Remark, Row};

pub(super) const TEXT: TextFormat = TextFormat { tool: "wrk", begins, last: "Transfer/sec:", read };

const BINARY: &str = "printed KB, MB and GB are steps of 1,024 bytes";

fn begins(lines: &[Line<'_>]) -> Vec<usize> {
    // autocannon begins in the same way, but continues without threads.
    by_heads(lines, &["Running ", "Thread Stats ", "Requests/sec:"], |lines| {
        let head = lines[0].text;
        match () {
            () if head.starts_with("Running ") => lines.get(1).is_some_and(|line| threads(line.text).is_some()),
            // hey and oha print a rate with this label, too.
            () if head.starts_with("Requests/sec:") => has_soon(&lines[1..], 1, "Transfer/sec:"),
            () => true,
        }
    })
}

fn read(mut block: Block<'_>) -> (Row, Vec<Remark>) {
    let is_wrk2 = |line: &Line<'_>| line.text.starts_with("Thread calibration:") || line.text.contains("(HdrHistogram");
    if block.lines.iter().any(is_wrk2) {
        block.row.settings.clear();
        block.row.text("tool", "wrk2");
    }
    block.read("Running ", |_, _| true);
    if let Some(at) = block.lines.iter().position(|line| threads(line.text).is_some()) {
        let (threads, connections) = threads(block.lines[at].text).unwrap_or_default();
        block.at(at, |row| row.count("generator-threads", threads) & row.count("connections", connections));
    }
    if let Some(at) = of_latency(&block) {
        let text = block.lines[at].text.trim_start_matches("Latency");
        block.at(at, |row| latency(row, text));
    }
    let has_times = !of_latency(&block).is_some_and(|at| block.lines[at].text.ends_with("nan%"));
    distribution(&mut block, has_times);
    if let Some((at, line)) = block.lines.iter().enumerate().find(|(_, line)| line.text.contains(" requests in ")) {
        block.at(at, |row| requests(row, line.text));
    }
    block.read("Socket errors:", socket_errors);
    block.number("Non-2xx or 3xx responses:", "failures");
    block.number("Requests/sec:", "throughput_rps");
    block.read("Transfer/sec:", |row, text| bytes(row, "bandwidth", text, "_s"));
    block.finish(|line| {
        let known = [
            "Thread Stats",
            "Req/Sec",
            "Latency Distribution",
            "Thread calibration:",
            "Detailed Percentile",
            "#",
            "----",
        ];
        known.iter().any(|known| line.starts_with(known)) || is_of_spectrum(line)
    })
}

/// `2 threads and 8 connections`
fn threads(line: &str) -> Option<(&str, &str)> {
    let (threads, connections) = line.strip_suffix(" connections")?.split_once(" threads and ")?;
    Some((number(threads)?, number(connections)?))
}

/// The line with mean, deviation and maximum.
fn of_latency(block: &Block<'_>) -> Option<usize> {
    let is_it = |line: &Line<'_>| line.text.starts_with("Latency ") && !line.text.starts_with("Latency Distribution");
    block.lines.iter().position(is_it)
}

/// `804.30us    1.98ms  20.12ms   90.68%`: mean, deviation, maximum. Without any answer, all are 0 and the share is not
/// a number.
fn latency(row: &mut Row, text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        [.., share] if share.contains("nan") => true,
        [mean, sd, max, ..] => {
            time_into(row, "latency_mean", mean) & time_into(row, "latency_sd", sd) & time_into(row, "latency_max", max)
        }
        _ => false,
    }
}

/// The lines below `Latency Distribution`: `50%   59.00us`. wrk2 may print two distributions; the first has the
/// corrected times.
pub(super) fn distribution(block: &mut Block<'_>, has_times: bool) {
    let Some((head, _)) = block.find("Latency Distribution") else { return };
    for at in head + 1..block.lines.len() {
        let Some((percent, time)) = block.lines[at].text.split_once('%') else { break };
        let Some(percent) = number(percent) else { break };
        block.at(at, |row| !has_times || time_into(row, &format!("latency_{}", percentile_key(percent)), time));
    }
}

/// `198586 requests in 2.01s, 19.13MB read`
fn requests(row: &mut Row, line: &str) -> bool {
    let parts = line.split_once(" requests in ").and_then(|(count, rest)| Some((count, rest.split_once(',')?)));
    let Some((count, (time, read))) = parts else { return false };
    let read = read.trim().strip_suffix(" read");
    row.figure("requests", count)
        & duration_into(row, time)
        & read.is_some_and(|read| bytes(row, "transferred", read, ""))
}

/// `connect 0, read 2958, write 0, timeout 0`
fn socket_errors(row: &mut Row, text: &str) -> bool {
    let errors =
        text.split(", ").map(|part| part.split_once(' ').and_then(|(name, count)| Some((name, number(count)?))));
    errors.fold(true, |understood, error| {
        understood
            & match error {
                Some(("timeout", count)) => row.figure("timeouts", count),
                Some((name, count)) => row.figure(&format!("{name} errors"), count),
                None => false,
            }
    })
}

/// `19.13MB`, in powers of 1,024.
pub(super) fn bytes(row: &mut Row, stem: &str, text: &str, end: &str) -> bool {
    let Some((digits, unit)) = split(text) else { return false };
    let unit = match unit {
        "B" => "bytes",
        "KB" => "kib",
        "MB" => "mib",
        "GB" => "gib",
        _ => return false,
    };
    row.figure_with(&format!("{stem}_{unit}{end}"), digits, (unit != "bytes").then_some(BINARY))
}

/// A row of wrk2's detailed spectrum: `0.931     0.000000            1         1.00`.
fn is_of_spectrum(line: &str) -> bool {
    line.starts_with("Value   Percentile")
        || line.split_whitespace().all(|word| word == "inf" || with_unit(word, "").is_some())
}
