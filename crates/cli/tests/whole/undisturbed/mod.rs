//! Tests that judge figures, so they need the machine for themselves, one at a time. Tests run in the order of their names. These
//! share a module, so all others wait for them only once.

mod box_ends;
mod capacity;
mod counts;
mod judgement;
mod launches;
mod links;
mod outage;
mod quota;
mod replicate;
