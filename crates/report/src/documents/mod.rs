//! Reports, each written once.

mod audit;
mod brief;
mod compare;
mod duel;
mod fidelity;
mod forecast;
pub(crate) mod glance;
mod history;
mod overlay;
mod paper;
mod replication;
pub(crate) mod run;
mod verification;

pub use audit::audit;
pub use brief::document as brief;
pub(crate) use compare::{Line, lines};
pub use compare::{compare, conditions, difference};
pub use duel::duel;
pub use fidelity::fidelity;
pub use forecast::forecast;
pub use glance::document as glance;
pub use history::history;
pub use overlay::overlay;
pub use paper::{paper, paper_figures};
pub use replication::replication;
pub use run::document as run;
pub use verification::verification;
