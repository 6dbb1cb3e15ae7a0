//! Documents to text, one printer a format. Nothing else knows a format.

mod columns;
mod html;
mod markdown;
mod terminal;

pub use html::{html, piece, style};
pub use markdown::markdown;
pub use terminal::{Style, terminal};
