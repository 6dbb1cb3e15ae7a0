//! The load of a scenario: its written form, the resulting profile, and the objectives.

pub(crate) mod file;
pub(crate) mod objective;
pub(crate) mod profile;
pub(crate) mod reading;
