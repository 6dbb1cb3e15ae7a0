//! h2load of nghttp2. Its KB are 1,024 bytes (`utos_funit` in its `src/util.h`). It also prints the exact count of a
//! run.

use crate::block::{Block, Line, duration_into, time_into};
use crate::digits::{number, split};
use crate::outputs::{TextFormat, by_heads};
use crate::row::{Remark, Row};

pub(super) const TEXT: TextFormat = TextFormat { tool: "h2load", begins, last: "req/s  ", read };

const BINARY: &str = "h2load counts 1,024 bytes as a KB, and so on";

fn begins(lines: &[Line<'_>]) -> Vec<usize> {
    by_heads(lines, &["starting benchmark...", "finished in "], |lines| {
        !lines[0].text.starts_with("finished") || lines[0].text.contains(" req/s")
    })
}

fn read(mut block: Block<'_>) -> (Row, Vec<Remark>) {
    clients(&mut block);
    block.read("finished in ", finished);
    let done = block.find("requests: ").and_then(|(_, text)| of(text, "done")).unwrap_or("0");
    block.read("requests: ", |row, text| {
        let keys = [("done", "requests"), ("succeeded", "successes"), ("failed", "failures"), ("timeout", "timeouts")];
        keys.iter().fold(true, |all, (word, key)| all & of(text, word).is_some_and(|count| row.figure(key, count)))
    });
    block.read("traffic: ", traffic);
    // Without any answer, all times are 0.
    if done != "0" {
        block.read("time for request:", |row, text| times(row, text, &["min", "max", "mean", "sd"]));
        block.read("request  ", |row, text| {
            let text = text.trim_start_matches(':');
            times(row, text, &["min", "max", "p50", "p95", "p99", "mean", "sd"])
        });
    }
    block.finish(|line| KNOWN.iter().any(|known| line.starts_with(known)) || line.starts_with("request  "))
}

const KNOWN: [&str; 22] = [
    "starting benchmark...",
    "spawning thread",
    "Warm-up ",
    "progress:",
    "Main benchmark duration",
    "Stopped all clients",
    "Application protocol:",
    "TLS Protocol:",
    "Cipher:",
    "Server Temp Key:",
    "status codes:",
    "UDP datagram:",
    "min         max",
    "time for request:",
    "time for connect:",
    "time to 1st byte:",
    "connect  ",
    "TTFB  ",
    "req/s  ",
    "min RTT",
    "smoothed RTT",
    "packets ",
];

/// The clients of each thread: `spawning thread #0: 4 total client(s). 500 total requests`.
fn clients(block: &mut Block<'_>) {
    let spawned = |line: &Line<'_>| {
        let (_, rest) = line.text.strip_prefix("spawning thread #")?.split_once(": ")?;
        rest.split_once(" total client(s)")?.0.parse::<u64>().ok()
    };
    let each: Vec<(usize, u64)> =
        block.lines.iter().enumerate().filter_map(|(at, line)| Some((at, spawned(line)?))).collect();
    let Some((first, _)) = each.first() else { return };
    let all = each.iter().map(|(_, clients)| *clients).fold(0, u64::saturating_add);
    let threads = each.len().to_string();
    let comment = (each.len() > 1).then(|| format!("those of {threads} threads together"));
    block.at(*first, |row| {
        row.count("generator-threads", &threads);
        let is_some = u32::try_from(all).is_ok_and(|all| all > 0);
        if is_some {
            row.setting("connections", all.to_string(), comment);
        }
        is_some
    });
    for (at, _) in &each[1..] {
        block.at(*at, |_| true);
    }
}

/// `2.00s, 76.50 req/s, 7.54KB/s`
fn finished(row: &mut Row, text: &str) -> bool {
    let mut parts = text.split(", ");
    let (Some(time), Some(rate), Some(bytes)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let rate = rate.strip_suffix(" req/s").and_then(number);
    let unit = |unit| match unit {
        "B/s" => Some("bytes"),
        "KB/s" => Some("kib"),
        "MB/s" => Some("mib"),
        "GB/s" => Some("gib"),
        _ => None,
    };
    let bytes = split(bytes).and_then(|(digits, printed)| Some((digits, unit(printed)?)));
    duration_into(row, time)
        & rate.is_some_and(|rate| row.figure("throughput_rps", rate))
        & bytes.is_some_and(|(digits, unit)| {
            row.figure_with(&format!("bandwidth_{unit}_s"), digits, (unit != "bytes").then_some(BINARY))
        })
}

/// The number before a word in `153 total, 162 started, …`.
fn of<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.split(", ").find_map(|part| number(part.strip_suffix(word)?.trim_end()))
}

/// The exact number of bytes in `15.09KB (15453) total, …`.
fn traffic(row: &mut Row, text: &str) -> bool {
    let exact = text.split_once('(').and_then(|(_, rest)| rest.split_once(") total")).map(|(count, _)| count);
    exact.and_then(number).is_some_and(|count| row.figure("transferred_bytes", count))
}

/// Times in the order of their headers. The share after them is not a time.
fn times(row: &mut Row, text: &str, moments: &[&str]) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let times = || moments.iter().zip(&words);
    words.len() > moments.len()
        && times().fold(true, |all, (moment, word)| all & time_into(row, &format!("latency_{moment}"), word))
}
