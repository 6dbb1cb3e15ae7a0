//! ab of Apache's httpd. Its Kbytes are 1,024 bytes (`output_results` in its `support/ab.c`).

use crate::block::{Block, Line, duration_into};
use crate::digits::{number, split};
use crate::outputs::{TextFormat, by_heads, percentile_key};
use crate::row::{Remark, Row};

pub(super) const TEXT: TextFormat = TextFormat { tool: "ab", begins, last: "100% ", read };

const COMPUTED: &str = "ab computes it: concurrency × time ÷ requests";

fn begins(lines: &[Line<'_>]) -> Vec<usize> {
    by_heads(lines, &["This is ApacheBench", "Server Software:", "Concurrency Level:", "Complete requests:"], |_| true)
}

fn read(mut block: Block<'_>) -> (Row, Vec<Remark>) {
    block.read("Concurrency Level:", |row, text| row.count("connections", text));
    block.read("Time taken for tests:", duration_into);
    // ab prints `Variable` with -l.
    block.read("Document Length:", |row, text| text == "Variable" || document_length(row, text));
    block.number("Complete requests:", "requests");
    block.number("Failed requests:", "failures");
    block.number("Write errors:", "write errors");
    block.number("Non-2xx responses:", "non-2xx responses");
    keep_alive(&mut block);
    block.read("Total transferred:", |row, text| counted(row, "transferred_bytes", text, "bytes"));
    block.read("HTML transferred:", |row, text| counted(row, "bytes of bodies", text, "bytes"));
    block.read("Requests per second:", |row, text| counted(row, "throughput_rps", text, "[#/sec] (mean)"));
    block.read("Transfer rate:", |row, text| counted(row, "bandwidth_kib_s", text, "[Kbytes/sec] received"));
    let has_times = block.lines.iter().any(|line| line.text.starts_with("Total: "));
    block.read("Total: ", times);
    // If a measured mean is printed, that one is the mean.
    let key = if has_times { "time per request (mean) [ms]" } else { "latency_mean_ms" };
    block.read("Time per request:", |row, text| {
        let digits = text.strip_suffix("[ms] (mean)").and_then(number);
        digits.is_some_and(|digits| row.figure_with(key, digits, Some(COMPUTED)))
    });
    percentages(&mut block);
    block.finish(|line| KNOWN.iter().any(|known| line.starts_with(known)))
}

const KNOWN: [&str; 24] = [
    "This is ApacheBench",
    "Copyright ",
    "Licensed to ",
    "Benchmarking ",
    "Completed ",
    "Finished ",
    "Total of ",
    "Server ",
    "SSL/TLS Protocol:",
    "TLS Server Name:",
    "Document Path:",
    "Number of ",
    "Concurrency achieved:",
    "Rampup delay:",
    "(Connect: ",
    "Keep-Alive ",
    "Total body sent:",
    "Total POSTed:",
    "Time per request:",
    "Connection Times (ms)",
    "min  mean[+/-sd]",
    "Connect: ",
    "Processing: ",
    "Waiting: ",
];

/// `12 bytes`
fn document_length(row: &mut Row, text: &str) -> bool {
    let bytes = split(text).filter(|(_, unit)| *unit == "bytes").and_then(|(digits, _)| digits.parse::<u32>().ok());
    // `body` cannot express an empty one.
    if let Some(bytes) = bytes.filter(|bytes| *bytes > 0) {
        row.text("body", &format!("{bytes}B"));
    }
    bytes.is_some()
}

fn counted(row: &mut Row, key: &str, text: &str, unit: &str) -> bool {
    text.strip_suffix(unit).and_then(|text| number(text)).is_some_and(|digits| row.figure(key, digits))
}

/// Sets whether connections were kept, if all or none of the requests used one.
fn keep_alive(block: &mut Block<'_>) {
    let (Some((_, kept)), Some((_, all))) = (block.find("Keep-Alive requests:"), block.find("Complete requests:"))
    else {
        return;
    };
    let is_kept = match kept {
        kept if kept == all => true,
        "0" => false,
        _ => return,
    };
    block.read("Keep-Alive requests:", |row, _| {
        row.setting("keep-alive", is_kept.to_string(), None);
        true
    });
}

/// `100  102   2.6    101     108`: minimum, mean, deviation, median and maximum, in milliseconds.
fn times(row: &mut Row, text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let keys = ["latency_min_ms", "latency_mean_ms", "latency_sd_ms", "latency_p50_ms", "latency_max_ms"];
    words.len() == keys.len() && keys.iter().zip(words).fold(true, |all, (key, word)| all & row.figure(key, word))
}

/// `66%    101`, and in the last line `100%    108 (longest request)`.
fn percentages(block: &mut Block<'_>) {
    let Some((head, _)) = block.find("Percentage of the requests served") else { return };
    block.at(head, |_| true);
    for at in head + 1..block.lines.len() {
        let Some((percent, time)) = block.lines[at].text.split_once('%') else { break };
        let Some(percent) = number(percent) else { break };
        let time = time.trim().trim_end_matches("(longest request)").trim_end();
        block.at(at, |row| {
            let key = format!("latency_{}_ms", percentile_key(percent));
            row.has(&key) || number(time).is_some_and(|digits| row.figure(&key, digits))
        });
    }
}
