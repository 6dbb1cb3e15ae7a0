//! Two runs beside each other, for people and for programs.
//!
//! The words that formats for people share are made in `lines.rs`; each format only sets them.

mod html;
pub(crate) mod lines;
mod markdown;
mod text;

pub use html::html;
pub use lines::difference;
pub use markdown::markdown;
pub use text::{conditions, text};
