//! Reads TOML into values. It reads the text repeatedly, each time without the entries found wrong, so that each
//! mistake yields one problem and all are reported at once.

pub(crate) mod entries;
pub(crate) mod kinds;
pub(crate) mod node;
pub(crate) mod several;
pub(crate) mod syntax;
pub(crate) mod table;
pub(crate) mod text;
pub mod wording;
