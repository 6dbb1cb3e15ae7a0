//! Numbers only: quantiles, bootstrap, intervals of the median, paired ratios; own seeded generator; no I/O.
//!
//! The crate takes plain `f64` values and gives back plain values. It knows no clock, no file and none of the other
//! crates, so every figure can be computed again, on any machine, from the same input and the same seed.
//!
//! ```
//! use tolok_stats::{Bootstrap, Level, Sample, median_interval};
//!
//! let sample = Sample::new(&[10.1, 9.8, 10.4, 10.0, 9.9, 10.2])?;
//! assert!((sample.median() - 10.05).abs() < 1e-12);
//!
//! // Exact, without any assumption on the distribution: [least, greatest] of six values covers 96.875 %.
//! let exact = median_interval(&sample, Level::P95).expect("six values are enough for 95 %");
//! assert_eq!((exact.low, exact.high, exact.level), (9.8, 10.4, 0.96875));
//!
//! // Any other statistic, by resampling with a recorded seed.
//! let mean = Bootstrap::new(Level::P95, 42).interval(&sample, Sample::mean)?;
//! assert!(mean.expect("six values are enough for 95 %").contains(sample.mean()));
//! # Ok::<(), tolok_stats::StatsError>(())
//! ```
//!
//! # Which values are accepted
//!
//! Values are checked once, where a [`Sample`] is made or a series of pairs is read; everything behind that point
//! cannot meet a bad value. Nothing in this crate panics on data.
//!
//! | input | [`Sample::new`] | [`paired_ratio`] |
//! |---|---|---|
//! | no values at all | [`StatsError::Empty`] | [`RatioOutcome::NoPairs`] |
//! | NaN | [`StatsError::OutOfRange`] | [`StatsError::OutOfRange`] |
//! | +∞, −∞, size above [`LARGEST`] | [`StatsError::OutOfRange`] | [`StatsError::OutOfRange`] |
//! | zero | a value like any other | [`RatioOutcome::Censored`] |
//! | negative | a value like any other | [`StatsError::OutOfRange`] |
//! | positive, below [`LEAST_POSITIVE`] | a value like any other | [`StatsError::OutOfRange`] |
//! | absent (`None`) | cannot be said | the block is left out and counted |
//! | fewer values than the level needs | the statistic, but no interval (`None`) | the ratio, but no interval (`None`) |
//!
//! Values are put in order by [`f64::total_cmp`], so −0 stands before +0 and the order never depends on how the values
//! came in: every result of [`Sample`] and [`Bootstrap`] is bit for bit the same for any permutation of the input.

mod bootstrap;
mod error;
mod interval;
mod median;
mod paired;
mod quantile;
mod rng;

pub use bootstrap::Bootstrap;
pub use error::StatsError;
pub use interval::{Interval, Level};
pub use median::{median_interval, median_interval_interpolated};
pub use paired::{BlockCounts, PairedRatio, RatioOutcome, paired_ratio};
pub use quantile::{LARGEST, LEAST_POSITIVE, LogRatio, Sample, log_ratio};
pub use rng::Rng;
