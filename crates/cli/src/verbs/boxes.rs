//! The hidden verbs: what tolok runs as to hold a trial's box.

use tolok_lab::isolate::keeper::{run_init, run_keeper, run_namespace_probe};

use crate::exit::{Complaint, Exit};

/// Holds the box together; see the lab.
pub fn keeper() -> Result<Exit, Complaint> {
    run_keeper().map(|()| Exit::Done).map_err(|error| Complaint::new(Exit::Internal, error))
}

/// Tries whether the box can have a namespace; see the lab.
pub fn namespace_probe() -> Result<Exit, Complaint> {
    run_namespace_probe().map(|()| Exit::Done).map_err(|error| Complaint::new(Exit::Internal, error))
}

/// Starts the servers of the box; see the lab.
pub fn init() -> Result<Exit, Complaint> {
    run_init().map(|()| Exit::Done).map_err(|error| Complaint::new(Exit::Internal, error))
}
