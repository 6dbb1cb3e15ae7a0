//! The run: every trial of a plan in its order, each from a fresh start to a stop, each stored at once.
//!
//! [`run_plan`] is the one loop for every study; each block of it is a process of its own ([`block`]).

mod block;
mod build_place;
mod check;
mod database;
mod events;
mod failure;
mod program;
mod reruns;
mod run_plan;
mod run_record;
mod server;
mod session;
mod slices;
mod slurm;
mod stop;

use tolok_model::{FailureKind, Outcome};

pub use block::generator::run_load_part;
pub use block::work::run_block;
pub use check::conformance::{Conformance, check_conformance};
pub use check::fidelity::{FidelityJob, fidelity};
pub use check::started_server::ServeError;
pub use database::prepared::{Prepared, prepare_database};
pub use events::event::{Phase, Preparation, RunEvent, TrialEvent};
pub use events::line::{EVENTS_SCHEMA, EventLine};
pub use run_plan::{RunError, RunSetup, RunSummary, StopRule, open_trials, run_plan, whole_blocks};
pub use run_record::{CannotResume, NewRun, changes_since, check_resumable, machine_summary};
pub use session::apart::protection_facts;
pub use session::capabilities::{Capabilities, start_again_in_an_own_group};
pub use session::{Laboratory, Session, SessionError};
pub use slurm::{Slurm, SlurmError};
pub use stop::Stop;

/// Whether a trial failed through the lab's fault. Such a record is not a finding, and the trial is run again.
pub fn lab_failed(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed(failure) if failure.reason == FailureKind::LabFailed)
}
