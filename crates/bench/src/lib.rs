//! What the benches share: tables, the machine in words, and their errors.

pub mod error;
pub mod machine;
pub mod table;
