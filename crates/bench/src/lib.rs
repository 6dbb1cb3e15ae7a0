//! What the benches share: what runs beside them, tables, the machine in words, what they print, and their errors.

pub mod beside;
pub mod error;
pub mod machine;
pub mod rates;
pub mod table;
pub mod terminal;
