//! The orchestrator: toolbox, subjects, the box they run in, samples, the store, the run.
//!
//! Only this crate starts processes or touches the machine, and only its `store` writes below a run's folder.

pub mod data_contract;
pub mod database;
pub mod diagnose;
pub mod home;
pub mod run;
pub mod subject;
pub mod toolbox;
pub mod tools;
pub mod user_servers;

pub use tolok_host::{group, isolate, machine, sample, shell, timer};
pub use tolok_store::{self as store, verify};
