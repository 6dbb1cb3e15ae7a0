//! A trial of a server, from its start to its stop.

pub(in crate::run) mod database_part;
pub(in crate::run) mod diagnose;
pub(in crate::run) mod external;
pub(in crate::run) mod judge;
pub(in crate::run) mod launch;
pub(in crate::run) mod measure;
pub(in crate::run) mod probe_queue;
pub(in crate::run) mod trial;
pub(in crate::run) mod upstream_part;
