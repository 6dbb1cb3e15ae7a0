//! What a forecast says, for people and for programs. What is predicted is always called so, and stands beside how wrong such
//! predictions were.

mod lines;
mod markdown;
mod text;

pub use markdown::markdown;
pub use text::text;
