//! Factors in CSV.

pub(crate) mod csv;
