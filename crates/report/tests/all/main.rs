//! Reports of invented findings. One program for all, because each would be linked separately.

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
