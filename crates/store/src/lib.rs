//! Stored runs: the folder of a run, the records made from it, and the check that they follow from it.
//!
//! [`recompute`] makes the record of a trial from the files of its folder. The lab does so when a trial ends, and [`verify`]
//! repeats it. This crate starts no process.

mod attempt;
mod error;
mod events;
mod file;
mod folder;
mod line_writer;
#[cfg(test)]
mod made;
mod manifest;
pub mod recompute;
mod run_folder;
mod trial_folder;
pub mod verify;

pub use attempt::Attempt;
pub use error::{NEAREST, StoreError, is_of_the_place};
pub use events::{EVENTS, EventLog};
pub use folder::Folder;
pub use line_writer::LineWriter;
pub use manifest::{MANIFEST, sha256_of};
pub use run_folder::{RunFolder, StoredRun, is_run};
pub use trial_folder::{SUBJECT_LOG, TrialFolder};
