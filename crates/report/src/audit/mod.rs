//! Audits of published tables, for people and for programs.
//!
//! What is contradicted comes first, with all that is needed to check it by hand; then what cannot be told, by what is missing; then
//! what holds; and what an audit can and cannot say. The order and the words are made in `lines.rs`; each format only sets them.

mod html;
mod lines;
mod markdown;
mod text;

pub use html::html;
pub use markdown::markdown;
pub use text::text;

use tolok_audit::Audit;

/// The audits for programs, as [`schema`] describes them: a list, however many there are.
pub fn json(audits: &[Audit]) -> String {
    // Of such a type, nothing can fail to be written.
    let mut text = serde_json::to_string_pretty(audits).unwrap_or_default();
    text.push('\n');
    text
}

/// The JSON Schema of [`json`].
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Vec<Audit>).to_value()
}
