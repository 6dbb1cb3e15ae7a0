//! Asymptotic bounds of throughput and response time that follow from demands alone.

/// Bounds that hold for every distribution, for one number of users. Source: Denning and Buzen 1978, section
/// "Bottleneck analysis"; Lazowska et al. 1984, chapter 5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The highest throughput in jobs per second: the smaller of N / (D + Z) and the capacity of the busiest station.
    pub most_rps: f64,
    /// The shortest mean response time, in seconds: the larger of D and N / capacity − Z.
    pub least_response_s: f64,
    /// The capacity of the first bottleneck, in jobs per second. Infinite if no station is ever full.
    pub capacity_rps: f64,
    /// The number of users at which the two bounds of throughput meet, N* = (D + Z) · capacity. Beyond it users must
    /// wait for each other.
    pub knee_users: f64,
}

impl Bounds {
    /// The bounds of a network with this total demand, think time and capacity.
    pub(super) fn of(users: f64, demand_s: f64, think_s: f64, capacity_rps: f64) -> Self {
        Self {
            most_rps: (users / (demand_s + think_s)).min(capacity_rps),
            least_response_s: demand_s.max(users / capacity_rps - think_s),
            capacity_rps,
            knee_users: (demand_s + think_s) * capacity_rps,
        }
    }
}
