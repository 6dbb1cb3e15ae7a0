//! One file for each verb.

pub mod audit;
pub mod boxes;
pub mod check;
pub mod compare;
pub mod doctor;
pub mod duel;
pub mod fidelity;
pub mod forecast;
pub mod help;
pub mod list;
pub mod load;
pub mod man;
pub mod new;
pub mod plan;
pub mod pool;
pub mod quick;
pub mod replicate;
pub mod report;
pub mod run;
pub mod serve;
pub mod setup;
pub mod verify;
