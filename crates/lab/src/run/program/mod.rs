//! Trials of command-line programs, and launches in which their runs alternate.

pub(in crate::run) mod launch;
pub(in crate::run) mod timing;
pub(in crate::run) mod trial;
mod turn_taker;
