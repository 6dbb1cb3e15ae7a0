//! The load of a scenario: what a study says, the profile that follows, and the objectives it is judged by.

pub(crate) mod file;
pub(crate) mod objective;
pub(crate) mod profile;
pub(crate) mod reading;
