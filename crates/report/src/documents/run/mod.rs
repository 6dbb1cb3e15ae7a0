//! The report of a run, one file a section.

pub(crate) mod cold_start;
pub(crate) mod database;
pub(crate) mod failures;
pub(crate) mod fairness;
pub(crate) mod gates;
pub(crate) mod isolation;
pub(crate) mod judgement;
pub(crate) mod latency;
pub(crate) mod limits;
pub(crate) mod notes;
pub(crate) mod objectives;
pub(crate) mod published;
pub(crate) mod recommendations;
pub(crate) mod resources;
pub(crate) mod seconds;
pub(crate) mod sections;
pub(crate) mod standings;
pub(crate) mod surroundings;
pub(crate) mod table;
pub(crate) mod tool_remarks;
pub(crate) mod tools;
pub(crate) mod trust;
pub(crate) mod untested;
