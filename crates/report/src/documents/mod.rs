//! Reports, each written once.

mod audit;
mod compare;
mod fidelity;
mod forecast;
mod replication;
mod verification;

pub use audit::audit;
pub(crate) use compare::{Line, lines};
pub use compare::{compare, conditions, difference};
pub use fidelity::fidelity;
pub use forecast::forecast;
pub use replication::replication;
pub use verification::verification;
