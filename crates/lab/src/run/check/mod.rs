//! Checks that a subject does what its workloads require: the same answers, refusals and counts as all others.

pub(in crate::run) mod aborts;
pub(in crate::run) mod conformance;
pub(in crate::run) mod counter;
mod crud;
mod drawn;
pub(in crate::run) mod fidelity;
pub(in crate::run) mod started_server;
mod updates;
