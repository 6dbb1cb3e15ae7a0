//! The orchestrator: toolbox, subjects, the box they run in, samples, the store, the run.
//!
//! Only this crate starts processes or touches the machine, and only its `store` writes below a run's folder.

pub mod bring;
pub mod convert;
pub mod data;
pub mod database;
pub mod diagnose;
pub mod home;
pub mod run;
pub mod scaffold;
pub mod sources;
pub mod store;
pub mod subject;
pub mod timer;
pub mod toolbox;
pub mod tools;
pub mod verify;

pub use tolok_host::{group, isolate, machine, sample, shell};
