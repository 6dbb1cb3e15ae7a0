//! A published comparison beside what was measured again, for people and for programs.
//!
//! The words that formats for people share are made in `words.rs`; each format only sets them.

mod html;
mod html_series;
mod markdown;
mod story;
mod text;
mod words;

pub use html::html;
pub use markdown::markdown;
pub use text::text;

use tolok_analysis::replication::ReplicationFindings;

/// The replication for programs, as [`schema`] describes it.
pub fn json(found: &ReplicationFindings) -> String {
    // Of such a type, nothing can fail to be written.
    let mut text = serde_json::to_string_pretty(found).unwrap_or_default();
    text.push('\n');
    text
}

/// The JSON Schema of [`json`].
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(ReplicationFindings).to_value()
}
