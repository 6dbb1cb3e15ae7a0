//! Where the processes of a trial run: on which CPUs, in which box, and how they end with certainty.

pub mod keeper;
mod namespace;
mod spawn;
mod trial_box;
mod wait;

pub use spawn::{Placement, place};
pub use trial_box::{BoxError, ExitReport, ProcessSpec, TrialBox};
pub use wait::wait_within;
