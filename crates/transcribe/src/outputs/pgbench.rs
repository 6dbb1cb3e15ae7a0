//! pgbench of PostgreSQL. Its requests are transactions.

use crate::block::{Block, Line, duration_into, time_into};
use crate::digits::number;
use crate::outputs::{TextFormat, by_heads};
use crate::row::{Remark, Row};

pub(super) const TEXT: TextFormat = TextFormat { tool: "pgbench", begins, last: "tps = ", read };

fn begins(lines: &[Line<'_>]) -> Vec<usize> {
    by_heads(lines, &["transaction type:", "number of clients:"], |_| true)
}

fn read(mut block: Block<'_>) -> (Row, Vec<Remark>) {
    block.read("number of clients:", |row, text| row.count("connections", text));
    block.read("number of threads:", |row, text| row.count("generator-threads", text));
    block.read("duration:", duration_into);
    block.read("number of transactions actually processed:", |row, text| {
        number(text.split('/').next().unwrap_or(text)).is_some_and(|digits| row.figure("requests", digits))
    });
    block.read("number of failed transactions:", |row, text| {
        text.split_once(' ').is_some_and(|(count, _)| row.figure("failures", count))
    });
    block.read("latency average = ", |row, text| time_into(row, "latency_mean", text));
    block.read("latency stddev = ", |row, text| time_into(row, "latency_sd", text));
    // Before version 14, it prints two rates. The second excludes the time to connect.
    block.read("tps = ", |row, text| text.split(' ').next().is_some_and(|digits| row.figure("throughput_rps", digits)));
    block.finish(|line| KNOWN.iter().any(|known| line.starts_with(known)))
}

const KNOWN: [&str; 12] = [
    "pgbench (",
    "starting vacuum",
    "progress:",
    "transaction type:",
    "scaling factor:",
    "query mode:",
    "partition",
    "number of transactions per client:",
    "maximum number of tries:",
    "number of ",
    "initial connection time",
    "tps = ",
];
