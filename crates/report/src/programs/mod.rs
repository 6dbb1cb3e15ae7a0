//! Programs in CSV.

pub(crate) mod csv;
