//! Reports of invented findings. One program for all, because each would be linked separately.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

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
