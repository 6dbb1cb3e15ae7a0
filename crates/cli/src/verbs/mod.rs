//! One file for each verb.

pub mod boxes;
pub mod compare;
pub mod doctor;
pub mod fidelity;
pub mod forecast;
pub mod list;
pub mod load;
pub mod plan;
pub mod quick;
pub mod report;
pub mod run;
pub mod setup;
pub mod verify;
