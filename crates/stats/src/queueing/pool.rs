//! A pool: a part of a network that admits a limited number of jobs at a time.

use super::network::{Network, Service, Station};
use crate::StatsError;

/// Up to this size, a pool's rate is computed for each number of jobs.
const MOST_LEVELS: u64 = 20_000;
/// The most numbers that the exact steps of a pool touch.
const MOST_WORK: f64 = 2e7;
/// A rate this near to the highest counts as the highest.
const SAME_RATE: f64 = 1e-12;

/// That part of a network as one station, with at most `pool` jobs inside. Others wait in front of it.
///
/// The part is closed upon itself, and its throughput with j jobs is the rate of the station with j jobs (the
/// flow-equivalent server of K. M. Chandy, U. Herzog and L. Woo, "Parametric analysis of queuing networks", IBM Journal
/// of Research and Development 19(1), 1975). This is exact for a product-form part without a limit. With a limit it is
/// the usual approximation of such blocking. It is good if jobs pass through the part much more often than the number
/// outside changes (Lazowska et al. 1984, chapter 9, memory constraints).
///
/// For larger pools that are not saturated by then, the rate beyond 20,000 jobs is that of the full pool. `pool` is at
/// least 1.
///
/// # Errors
/// Those of [`Network::new`] if the part's numbers are too small for a rate.
pub fn limited_pool(inside: &Network, pool: u64) -> Result<Station, StatsError> {
    let pool = pool.max(1);
    let affordable = (MOST_WORK / inside.work_of_step()).max(1.0) as u64;
    let levels = pool.min(MOST_LEVELS).min(affordable);
    let mut rates = inside.throughputs(levels);
    if pool > levels {
        rates.push(inside.solve(pool).throughput_rps);
    }
    // Rates never fall. An apparent fall is rounding.
    let mut highest = 0.0_f64;
    for rate in &mut rates {
        highest = highest.max(*rate);
        *rate = highest;
    }
    if let Some(full) = rates.iter().position(|rate| *rate >= highest * (1.0 - SAME_RATE)) {
        rates.truncate(full + 1);
    }
    let station = Station { demand_s: 0.0, service: Service::Rates(rates) };
    Network::new(0.0, vec![station.clone()]).map(|_| station)
}
