//! siege. Its MB are 1,048,576 bytes (`data_get_megabytes` in its `src/data.c`).

use crate::block::{Block, Line, duration_into, time_into};
use crate::digits::{number, split};
use crate::outputs::{TextFormat, by_heads};
use crate::row::{Remark, Row};

pub(super) const TEXT: TextFormat = TextFormat { tool: "siege", begins, last: "Shortest transaction:", read };

const BINARY: &str = "siege counts 1,048,576 bytes as a MB";

fn begins(lines: &[Line<'_>]) -> Vec<usize> {
    by_heads(lines, &["** SIEGE", "Transactions:"], |_| true)
}

fn read(mut block: Block<'_>) -> (Row, Vec<Remark>) {
    block.read("** Preparing ", |row, text| {
        text.strip_suffix(" concurrent users for battle.").is_some_and(|users| row.count("connections", users))
    });
    counted(&mut block, "Transactions:", "requests", "hits", None);
    counted(&mut block, "Availability:", "availability [%]", "%", None);
    block.read("Elapsed time:", duration_into);
    counted(&mut block, "Data transferred:", "transferred_mib", "MB", Some(BINARY));
    block.read("Response time:", |row, text| time_into(row, "latency_mean", text));
    counted(&mut block, "Transaction rate:", "throughput_rps", "trans/sec", None);
    counted(&mut block, "Throughput:", "bandwidth_mib_s", "MB/sec", Some(BINARY));
    block.number("Concurrency:", "users waiting on average");
    block.number("Successful transactions:", "successes");
    block.number("Failed transactions:", "failures");
    for (label, key) in [("Longest transaction:", "latency_max"), ("Shortest transaction:", "latency_min")] {
        // Before version 4.1.7, there is no unit, and times are in seconds.
        block.read(label, |row, text| match number(text) {
            Some(digits) => row.figure(&format!("{key}_s"), digits),
            None => time_into(row, key, text),
        });
    }
    block.finish(|line| {
        ["** SIEGE", "The server is now under", "Lifting the server", "HTTP/"]
            .iter()
            .any(|known| line.starts_with(known))
    })
}

fn counted(block: &mut Block<'_>, label: &str, key: &str, unit: &str, comment: Option<&'static str>) {
    block.read(label, |row, text| match split(text) {
        Some((digits, found)) if found == unit => row.figure_with(key, digits, comment),
        _ => false,
    });
}
