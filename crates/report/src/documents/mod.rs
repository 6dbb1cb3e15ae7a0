//! Reports, each written once.

pub(crate) mod audit;
pub(crate) mod compare;
mod fidelity;
mod forecast;
pub(crate) mod replication;
mod verification;

pub use audit::audit;
pub use compare::{compare, conditions, difference};
pub use fidelity::fidelity;
pub use forecast::forecast;
pub use replication::replication;
pub use verification::verification;
