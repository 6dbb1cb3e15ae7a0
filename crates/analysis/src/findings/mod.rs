//! What an analysis says: the only thing that reports read.
//!
//! These are types alone: no rule is here. They are also the JSON report, so their names are stable, and every unit is a base
//! unit of the SI, or bytes.

mod bottleneck;
mod case;
mod counter;
mod curve;
mod database;
mod diagnosis;
mod environment;
mod estimate;
mod fairness;
mod isolation;
mod judgement;
mod link;
mod outage;
mod programs;
mod published;
mod recommend;
mod resources;
mod run;
mod seconds;
mod sensitivity;
mod tools;
mod trials;
mod untested;

pub use bottleneck::*;
pub use case::*;
pub use counter::*;
pub use curve::*;
pub use database::*;
pub use diagnosis::*;
pub use environment::*;
pub use estimate::*;
pub use fairness::*;
pub use isolation::*;
pub use judgement::*;
pub use link::*;
pub use outage::*;
pub use programs::*;
pub use published::*;
pub use recommend::*;
pub use resources::*;
pub use run::*;
pub use seconds::*;
pub use sensitivity::*;
pub use tools::*;
pub use trials::*;
pub use untested::*;
