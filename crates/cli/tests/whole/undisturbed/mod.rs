//! Tests whose judgement needs the machine for itself, one at a time. They stand together, so that all others wait for them once:
//! tests run in the order of their names.

mod box_ends;
mod capacity;
mod counts;
mod judgement;
mod launches;
mod links;
mod quota;
mod replicate;
