//! Reports of invented findings. One program for all of them, as each would be linked for itself.

#![allow(clippy::unwrap_used, reason = "a test may, and so may what a test calls")]

#[path = "../../../analysis/tests/invented/mod.rs"]
mod invented;

mod audits;
mod edge_cases;
mod outline;

mod audit;
mod compare;
mod corpus;
mod duel;
mod fidelity;
mod forecast;
mod palette;
mod print;
mod render;
mod replication;
mod schema;
mod verification;
