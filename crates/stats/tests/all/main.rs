//! Estimators against references, properties and simulations. One program for all of them, as each would be linked for itself.

#![allow(clippy::unwrap_used, reason = "test code; clippy takes only functions marked #[test] for it")]

mod between_runs;
mod coverage;
mod properties;
mod properties_of_tests;
mod properties_series;
mod queueing;
mod reference;
mod reference_of_tests;
mod reference_series;
mod reference_two_way;
mod simulation;
mod simulation_series;
