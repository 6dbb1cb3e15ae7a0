//! Estimators against references, properties and simulations. All in one program, because each program would be linked
//! separately.

#![allow(clippy::unwrap_used, reason = "tests may; clippy exempts only functions marked #[test]")]

mod between_runs;
mod coverage;
mod normal;
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
