//! The run: every trial of a plan in its order, each from a fresh start to a stop, each stored at once.
//!
//! [`run_plan`] is the one loop for every study; each block of it is a process of its own ([`block`]).

mod aborts;
mod account;
mod affinity;
mod beside;
mod blame;
mod block;
mod conformance;
mod counter;
mod database_login;
mod database_watch;
mod databases;
mod diagnose;
mod event;
mod event_line;
mod external;
mod fidelity;
mod forecast;
mod ground;
mod guest;
mod judge;
mod launch;
mod measure;
mod outage;
mod pool;
mod preparation;
mod program_timing;
mod program_trial;
mod questions;
mod reruns;
mod run_plan;
mod run_record;
mod scratch;
mod serve;
mod session;
mod stop;
mod trial;
mod trial_database;
mod with_database;

use tolok_model::{FailureKind, Outcome};
use tolok_store::recompute::{self as remake, objectives, program_rows};

pub use block::work::run_block;
pub use conformance::{Conformance, check_conformance};
pub use databases::{Prepared, prepare_database};
pub use event::{Phase, Preparation, RunEvent, TrialEvent};
pub use event_line::{EVENTS_SCHEMA, EventLine};
pub use fidelity::{FidelityJob, fidelity};
pub use ground::{Ground, start_again_in_an_own_group};
pub use run_plan::{RunError, RunSetup, RunSummary, StopRule, open_trials, run_plan};
pub use run_record::{CannotResume, NewRun, changes_since, check_resumable, machine_summary};
pub use serve::ServeError;
pub use session::{Laboratory, Session, SessionError};
pub use stop::Stop;

/// Whether a trial failed by the lab's fault: such a record is no finding, and the trial is run again.
pub fn lab_failed(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed(failure) if failure.reason == FailureKind::LabFailed)
}
