//! The seconds of a run as CSV, one row each: unrounded, in base units, with an empty field where there is no figure.

use std::fmt::Write;

use tolok_load::record::{Record, SecondRow};
use tolok_load::schedule::Phase;

const COLUMNS: &str = "phase,start_s,duration_s,sent,good,failed,received_bytes,p50_s,p99_s,max_s,new_connections,in_flight,\
    queued,sent_bytes,first_byte_p50_s,first_byte_p99_s,first_byte_max_s,connect_p50_s,connect_max_s,failed_by_class";

/// The timeline, warm-up first.
pub fn csv(record: &Record) -> String {
    let mut text = format!("{COLUMNS}\n");
    for row in &record.timeline {
        let _ = writeln!(text, "{}", fields(row).join(","));
    }
    text
}

/// The fields of a second, in column order.
fn fields(row: &SecondRow) -> [String; 20] {
    let figure = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let phase = match row.phase {
        Phase::WarmUp => "warmup",
        Phase::Measure => "measure",
    };
    let classes = row.failed_by_class.iter().map(|(class, count)| format!("{}={count}", class.name()));
    [
        phase.to_owned(),
        row.start_s.to_string(),
        row.duration_s.to_string(),
        row.sent.to_string(),
        row.good.to_string(),
        row.failed.to_string(),
        row.received_bytes.to_string(),
        figure(row.p50_s),
        figure(row.p99_s),
        figure(row.max_s),
        row.new_connections.to_string(),
        row.in_flight.to_string(),
        row.queued.to_string(),
        row.sent_bytes.to_string(),
        figure(row.first_byte_p50_s),
        figure(row.first_byte_p99_s),
        figure(row.first_byte_max_s),
        figure(row.connect_p50_s),
        figure(row.connect_max_s),
        classes.collect::<Vec<_>>().join(" "),
    ]
}
