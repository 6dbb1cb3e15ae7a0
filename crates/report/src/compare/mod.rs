//! Two runs beside each other, for people and for programs.
//!
//! The words that formats for people share are made in `lines.rs`; each format only sets them.

mod csv;
mod html;
mod lines;
mod markdown;
mod text;

pub use csv::csv;
pub use html::html;
pub use lines::difference;
pub use markdown::markdown;
pub use text::{conditions, text};

use tolok_analysis::RunComparison;

/// The comparison for programs, as [`schema`] describes it.
pub fn json(found: &RunComparison) -> String {
    // Of such a type, nothing can fail to be written.
    let mut text = serde_json::to_string_pretty(found).unwrap_or_default();
    text.push('\n');
    text
}

/// The JSON Schema of [`json`].
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(RunComparison).to_value()
}
