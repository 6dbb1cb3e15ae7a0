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
