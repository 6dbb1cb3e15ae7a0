//! Shared by the benches: concurrent activity, tables, the machine in words, output, and errors.

pub mod beside;
pub mod error;
pub mod machine;
pub mod rates;
pub mod table;
pub mod terminal;
