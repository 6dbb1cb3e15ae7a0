//! The hidden verbs: what tolok runs as inside a trial's box.

use tolok_lab::isolate::keeper::{run_init, run_keeper};

use crate::exit::{Complaint, Exit};

/// Holds the box together; see the lab.
pub fn keeper() -> Result<Exit, Complaint> {
    run_keeper().map(|()| Exit::Done).map_err(|error| Complaint::new(Exit::Internal, error))
}

/// Starts the servers of the box; see the lab.
pub fn init() -> Result<Exit, Complaint> {
    run_init().map(|()| Exit::Done).map_err(|error| Complaint::new(Exit::Internal, error))
}
