//! What drivers make of types, connections and clients that hang up, for people and for programs.
//!
//! Whoever does the same stands in one line, so that twenty variants stay readable. The lines are made once, in words, and
//! each format only sets them.

mod lines;
mod markdown;
mod text;
mod who;

pub use markdown::markdown;
pub use text::text;

use tolok_model::fidelity::FidelityReport;

/// The report for programs, as `schemas/fidelity.schema.json` describes it.
pub fn json(report: &FidelityReport) -> String {
    // Of such a type, nothing can fail to be written.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
