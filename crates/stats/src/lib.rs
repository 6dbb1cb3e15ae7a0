//! Numbers only: quantiles, intervals of medians and means, ratios within blocks, tests of difference and of
//! equivalence, families of tests, power; a seeded generator; no I/O.
//!
//! The crate takes plain `f64` values and returns plain values. It uses no clock, file or other I/O, so every figure
//! can be recomputed on any machine from the same input and seed.
//!
//! ```
//! use tolok_stats::{Level, Sample, mean_interval, median_interval_interpolated};
//!
//! let sample = Sample::new(&[10.1, 9.8, 10.4, 10.0, 9.9, 10.2])?;
//! assert!((sample.median() - 10.05).abs() < 1e-12);
//!
//! // From ranks, with almost no assumption on the distribution: within [least, greatest], which covers 96.875%.
//! let median = median_interval_interpolated(&sample, Level::P95).expect("six values are enough for 95%");
//! assert!(9.8 < median.low && median.high < 10.4 && median.contains(sample.median()));
//!
//! // Student's interval of the mean.
//! let mean = mean_interval(&sample, Level::P95).expect("six values are enough for 95%");
//! assert!(mean.contains(sample.mean()));
//! # Ok::<(), tolok_stats::StatsError>(())
//! ```
//!
//! # Which values are accepted
//!
//! Values are checked once, where a [`Sample`] is made or a series of pairs is read. Code behind that point never gets
//! a bad value. Nothing in this crate panics on data.
//!
//! | input | [`Sample::new`] | [`geometric_ratio`] |
//! |---|---|---|
//! | no values at all | [`StatsError::Empty`] | [`GeometricOutcome::NoPairs`] |
//! | NaN | [`StatsError::OutOfRange`] | [`StatsError::OutOfRange`] |
//! | +∞, −∞, size above [`LARGEST`] | [`StatsError::OutOfRange`] | [`StatsError::OutOfRange`] |
//! | zero | a value like any other | [`GeometricOutcome::Censored`] |
//! | negative | a value like any other | [`StatsError::OutOfRange`] |
//! | positive, below [`LEAST_POSITIVE`] | a value like any other | [`StatsError::OutOfRange`] |
//! | absent (`None`) | not possible | the block is left out and counted |
//! | fewer values than the level needs | the statistic, but no interval (`None`) | the ratio, but no interval (`None`) |
//!
//! A question that good values cannot answer gives `None` (too few values for an interval, a margin that is not
//! positive, a null that is not finite). Functions that return a plain number give NaN instead (a probability outside
//! \[0, 1\] for a quantile). [`holm`] treats an invalid probability as 1.
//!
//! [`f64::total_cmp`] orders the values, so −0 comes before +0 and the order never depends on that of the input. Every
//! result of [`Sample`] is bit for bit the same for any permutation of the input.
//!
//! # How many values are needed
//!
//! | figure | interval or test | from | exact for |
//! |---|---|---|---|
//! | median | [`median_interval_interpolated`] | 5 at 95% | none; close for all |
//! | geometric mean of ratios | [`geometric_ratio`] | 5 at every level | lognormal ratios |
//! | mean | [`mean_interval`]; [`paired_t`] | 5 at every level; 2 | normal values |
//! | difference of two means | [`welch`] | 5 in each; 2 in each | none; close for normal values |
//! | difference of two of several cases | [`TwoWay`] | 2 common blocks | none; see `tests/coverage.rs` |
//! | share of successes | [`share_interval`] | 1 | independent trials; covers at least its level |
//! | difference of several runs each | [`run_differences`] | 2 in each | normal values |
//! | difference too small to matter | [`equivalence_paired`], [`equivalence_welch`] | 5 | as the tests above |
//!
//! Simulations of what the t intervals cover when values are *not* normal: `tests/coverage.rs`.
//!
//! # Where the order of values matters
//!
//! [`changepoints`], [`steady`] and [`theil_sen`] take plain slices in the order of time. They check their values
//! themselves; each documents what it refuses.

#![warn(missing_docs)]

mod between_groups;
mod between_runs;
mod binomial;
mod changepoints;
mod equivalence;
mod error;
mod gamma;
mod geometric;
mod hodges_lehmann;
mod interval;
mod means;
mod median;
mod multiple;
mod normal;
mod power;
mod quantile;
pub mod queueing;
mod rng;
mod shrinkage;
mod special;
mod states;
mod steady;
mod student;
mod symmetric;
mod theil_sen;
mod twins;
mod two_way;

pub use between_groups::{BetweenGroups, between_groups};
pub use between_runs::{RunDifference, RunValues, run_differences};
pub use binomial::share_interval;
pub use changepoints::{LEAST_SEGMENT, changepoint_penalty, changepoints, least_step, scatter_around_levels};
pub use equivalence::{equivalence_paired, equivalence_welch};
pub use error::StatsError;
pub use geometric::{BlockCounts, GeometricOutcome, GeometricRatio, geometric_ratio};
pub use hodges_lehmann::hodges_lehmann;
pub use interval::{Interval, Level};
pub use means::{TTest, WelchDifference, mean_interval, paired_t, welch};
pub use median::median_interval_interpolated;
pub use multiple::holm;
pub use normal::{normal_cdf, normal_quantile};
pub use power::Naming;
pub use quantile::{LARGEST, LEAST_POSITIVE, LogRatio, SD_OF_MAD, Sample, log_ratio};
pub use rng::Rng;
pub use shrinkage::VariancePrior;
pub use states::{LEAST_FOR_STATES, States, states};
pub use steady::{LEAST_STEADY_SECONDS, STEADY_TOLERANCE, SteadyClass, SteadyLevel, SteadyState, steady};
pub use student::{student_t_cdf, student_t_quantile};
pub use theil_sen::{Slope, theil_sen};
pub use twins::{Twin, Twins};
pub use two_way::{Difference, TwoWay};
