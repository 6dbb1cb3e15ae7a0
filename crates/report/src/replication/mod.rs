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
