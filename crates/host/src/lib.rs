//! The machine under the lab: its control groups, the boxes of trials, its properties, and what processes use.
//!
//! It does not depend on studies, subjects or plans.

pub mod call;
pub mod group;
pub mod guard;
pub mod isolate;
pub mod machine;
mod procfs;
pub mod sample;
pub mod shell;
pub mod timer;
