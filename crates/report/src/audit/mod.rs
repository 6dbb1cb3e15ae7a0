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
