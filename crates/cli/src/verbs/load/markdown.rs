//! The record as Markdown, for an issue or a README.

use std::fmt::Write;

use tolok_load::record::{LoopModel, Record};
use tolok_load::threshold::KeptOrCrossed;

use super::describe::{closed_loop, distributions, failure_lines, figures_of, generator, ledger, seen};
use super::figures::{bytes, count, number, time};
use super::plan_words::{done, title};

/// A heading line, the times as a table, and the rest as a list.
pub fn markdown(record: &Record) -> String {
    let mut text = format!("**{}**\n{}\n\n", title(&record.plan), done(record).join(" · "));
    text.push_str("| time | p50 | p90 | p99 | p99.9 | max | values |\n|---|---:|---:|---:|---:|---:|---:|\n");
    for (name, distribution) in distributions(record) {
        let figures = figures_of(distribution).map(|value| value.map_or_else(|| "–".to_owned(), time));
        let _ = writeln!(text, "| {name} | {} | {} |", figures.join(" | "), count(distribution.count));
    }
    text.push('\n');
    let mut item = |words: &str| {
        let _ = writeln!(text, "- {words}");
    };
    let goodput = record.goodput_rps.map_or_else(|| "–".to_owned(), number);
    let offered = record.offered_rps.map(|rate| format!(" of {}/s offered", number(rate)));
    item(&format!("**{goodput} good answers/s**{}", offered.unwrap_or_default()));
    let (total, parts) = ledger(record);
    item(&format!("requests: {total} = {}", parts.join(" + ")));
    for line in failure_lines(record) {
        item(&format!("failed: {line}"));
    }
    item(&format!(
        "connections: {} opened; received {}/s",
        count(record.connections.opened),
        bytes(record.received_bytes as f64 / record.window_s.max(f64::MIN_POSITIVE))
    ));
    item(&format!("generator: {}", generator(record)));
    for judged in &record.thresholds {
        let mark = match judged.outcome {
            KeptOrCrossed::Kept => "✓",
            KeptOrCrossed::Crossed => "✗",
            KeptOrCrossed::Unknown => "?",
        };
        item(&format!("{mark} `{}`: {}", judged.text, seen(judged)));
    }
    if record.plan.loop_model == LoopModel::Closed {
        item(&closed_loop(record));
    }
    for reason in &record.verdict.reasons {
        item(&format!("**NOT TRUSTED:** {}", reason.text));
    }
    if record.verdict.trusted {
        item(&format!("trusted: all checks passed ({})", record.engine));
    }
    text
}
