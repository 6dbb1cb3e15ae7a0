//! Timed programs.

mod flags;
pub(crate) mod outliers;
mod scenario;
mod sentence;
mod series;
mod timers;
pub(crate) mod timings;

pub use flags::AT_FLOOR;
pub use outliers::{FEWEST_RUNS_FOR_OUTLIERS, OUTLIER_SD};
pub(crate) use scenario::{Timed, timed};
pub(crate) use series::series;
pub use timers::timer_title;
pub(crate) use timers::timers;
pub use timings::COARSE_TIMER;
