//! The machine under the lab: its control groups, the boxes that trials run in, what it is, and what it spends.
//!
//! It knows no study, no subject and no plan.

pub mod call;
pub mod group;
pub mod guard;
pub mod isolate;
pub mod machine;
pub mod sample;
pub mod shell;
pub mod timer;
