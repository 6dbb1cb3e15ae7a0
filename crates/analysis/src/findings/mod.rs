//! The findings of an analysis: the only input of reports.
//!
//! These are types without rules. They are also the JSON report, so their names are stable, and every unit is a base unit of the
//! SI, or bytes.

pub(crate) mod bottleneck;
pub(crate) mod case;
pub(crate) mod counter;
pub(crate) mod curve;
pub(crate) mod database;
pub(crate) mod diagnosis;
pub(crate) mod environment;
pub(crate) mod estimate;
pub(crate) mod fairness;
pub(crate) mod isolation;
pub(crate) mod judgement;
pub(crate) mod link;
pub(crate) mod outage;
pub(crate) mod parts;
pub(crate) mod programs;
pub(crate) mod published;
pub(crate) mod recommend;
pub(crate) mod resources;
pub(crate) mod run;
pub(crate) mod seconds;
pub(crate) mod sensitivity;
pub(crate) mod slices;
pub(crate) mod tools;
pub(crate) mod trials;
pub(crate) mod untested;

pub use crate::figure::database::DatabaseUse;
pub use crate::figure::program::ProgramFigures;
pub use crate::figure::resources::ResourcesFinding;
pub use crate::figure::server::ServerFigures;
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
pub use parts::*;
pub use programs::*;
pub use published::*;
pub use recommend::*;
pub use resources::*;
pub use run::*;
pub use seconds::*;
pub use sensitivity::*;
pub use slices::*;
pub use tools::*;
pub use trials::*;
pub use untested::*;
