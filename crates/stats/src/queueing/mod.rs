//! Queueing: computes throughput and response time for any number of users from each job's demand on each resource.
//!
//! A closed network has `users` users. Each thinks, sends a job, waits for it to come back, and thinks again. A job
//! visits stations; the time it takes of a station in all its visits is its *service demand*.
//!
//! [`laws`] holds for every such system, whatever its distributions. [`Bounds`] follow from demands alone.
//! [`Network::solve`] gives the means of a product-form network, exactly up to a budget of work, and by its open limit
//! beyond. [`limited_pool`] is a station that admits a limited number of jobs.
//!
//! ```
//! use tolok_stats::queueing::{Network, Station};
//!
//! // 64 users who think for a second, and one server that needs 20 ms for each job: at most 50 jobs a second.
//! let network = Network::new(1.0, vec![Station::servers(0.020, 1)])?;
//! let solved = network.solve(64);
//! assert!(solved.throughput_rps > 48.0 && solved.throughput_rps < 50.0);
//! assert_eq!(network.bounds(64).knee_users, 51.0);
//!
//! // A thousand million users cost no more than one.
//! assert!((network.solve(1_000_000_000).throughput_rps - 50.0).abs() < 1e-4);
//! # Ok::<(), tolok_stats::StatsError>(())
//! ```
//!
//! Sources: P. J. Denning and J. P. Buzen, "The operational analysis of queueing network models", ACM Computing Surveys 10(3),
//! 1978; M. Reiser and S. S. Lavenberg, "Mean-value analysis of closed multichain queuing networks", Journal of the ACM 27(2),
//! 1980; E. D. Lazowska, J. Zahorjan, G. S. Graham and K. C. Sevcik, *Quantitative System Performance*, Prentice-Hall 1984.

mod bounds;
pub mod laws;
mod mva;
mod network;
mod open;
mod pool;

pub use bounds::Bounds;
pub use network::{Method, Network, Service, Solved, SolvedStation, Station};
pub use pool::limited_pool;
