//! sysbench. Its requests are events.

use crate::block::{Block, Line, duration_into};
use crate::digits::number;
use crate::outputs::{TextFormat, by_heads, percentile_key};
use crate::row::{Remark, Row};

pub(super) const TEXT: TextFormat = TextFormat { tool: "sysbench", begins, last: "execution time (avg/stddev):", read };

fn begins(lines: &[Line<'_>]) -> Vec<usize> {
    by_heads(lines, &["sysbench ", "Number of threads:", "SQL statistics:", "Latency (ms):"], |_| true)
}

fn read(mut block: Block<'_>) -> (Row, Vec<Remark>) {
    block.read("Number of threads:", |row, text| row.count("connections", text));
    block.read("events per second:", |row, text| {
        number(text).is_some_and(|digits| row.figure("throughput_rps", digits))
    });
    block.read("events/s (eps):", |row, text| number(text).is_some_and(|digits| row.figure("throughput_rps", digits)));
    block.read("transactions:", |row, text| {
        let rate = text.split_once('(').and_then(|(_, rest)| rest.strip_suffix(" per sec.)"));
        rate.is_some_and(|digits| row.figure("throughput_rps", digits))
    });
    for label in ["total time:", "time elapsed:"] {
        block.read(label, duration_into);
    }
    block.number("total number of events:", "requests");
    if let Some((head, _)) = block.find("Latency (ms):") {
        for at in head + 1..block.lines.len() {
            let Some((name, value)) = block.lines[at].text.split_once(':') else { break };
            let key = match name {
                "min" | "max" => format!("latency_{name}_ms"),
                "avg" => "latency_mean_ms".to_owned(),
                // The sum of all times.
                "sum" => break,
                name => match name.strip_suffix("th percentile") {
                    Some(percent) => format!("latency_{}_ms", percentile_key(percent)),
                    None => break,
                },
            };
            // 0.00 means that the percentile was not requested.
            block.at(at, |row| number(value.trim()).is_some_and(|digits| digits == "0.00" || row.figure(&key, digits)));
        }
    }
    // Statements, threads and settings are in lines of their own.
    block.finish(|_| true)
}
