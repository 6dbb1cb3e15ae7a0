//! A trial of a command-line program.

pub(in crate::run) mod timing;
pub(in crate::run) mod trial;
