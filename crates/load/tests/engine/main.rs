//! The engine against scripted servers.
//!
//! No test here waits for time to pass or depends on speed. Where exact numbers are expected, the script itself ends the run with a certain
//! request, however long that takes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arrivals;
mod connections;
mod executors;
mod expectations;
mod faults;
mod files;
mod generators;
mod pace;
mod pipelines;
mod slow_share;
mod stage;
mod stops;
mod values;
mod window;
