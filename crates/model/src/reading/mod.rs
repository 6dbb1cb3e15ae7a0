//! How a text becomes values: TOML read again and again without what was wrong in it, so that one mistake costs one
//! problem, and all are reported at once.

pub(crate) mod entries;
pub(crate) mod kinds;
pub(crate) mod node;
pub(crate) mod several;
pub(crate) mod syntax;
pub(crate) mod table;
pub(crate) mod text;
pub mod wording;
