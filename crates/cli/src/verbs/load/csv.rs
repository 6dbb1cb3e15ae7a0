//! The seconds of a run as CSV, one line each: unrounded, in base units, an empty field where there is no figure.

use std::fmt::Write;

use tolok_load::record::Record;
use tolok_load::schedule::Phase;

const COLUMNS: &str =
    "phase,start_s,duration_s,sent,good,failed,received_bytes,p50_s,p99_s,max_s,new_connections,in_flight,queued";

/// The timeline, warm-up first.
pub fn csv(record: &Record) -> String {
    let mut text = format!("{COLUMNS}\n");
    let figure = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for row in &record.timeline {
        let phase = match row.phase {
            Phase::WarmUp => "warmup",
            Phase::Measure => "measure",
        };
        let _ = writeln!(
            text,
            "{phase},{},{},{},{},{},{},{},{},{},{},{},{}",
            row.start_s,
            row.duration_s,
            row.sent,
            row.good,
            row.failed,
            row.received_bytes,
            figure(row.p50_s),
            figure(row.p99_s),
            figure(row.max_s),
            row.new_connections,
            row.in_flight,
            row.queued
        );
    }
    text
}
