//! The database of a trial: prepared once, started in the box, watched under load, killed and restarted.

pub(in crate::run) mod login;
pub(in crate::run) mod outage;
pub(in crate::run) mod pool;
pub(in crate::run) mod prepared;
pub(in crate::run) mod status_watch;
pub(in crate::run) mod trial_database;
pub(in crate::run) mod watch;
