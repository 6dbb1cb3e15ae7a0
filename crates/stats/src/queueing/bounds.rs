//! What follows from demands alone: the asymptotic bounds of throughput and response time.

/// Bounds that no distribution can break, for one number of users. Source: Denning and Buzen 1978, section "Bottleneck
/// analysis"; Lazowska et al. 1984, chapter 5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The most jobs per second: the smaller of N / (D + Z) and what the busiest station can do.
    pub most_rps: f64,
    /// The shortest mean response time, in seconds: the larger of D and N / capacity − Z.
    pub least_response_s: f64,
    /// What the first bottleneck can do, jobs per second; infinite where no station is ever full.
    pub capacity_rps: f64,
    /// Users at which the two bounds of throughput meet, N* = (D + Z) · capacity: beyond it they must wait for each other.
    pub knee_users: f64,
}

impl Bounds {
    /// Of a network with this demand in all, this think time and this capacity.
    pub(super) fn of(users: f64, demand_s: f64, think_s: f64, capacity_rps: f64) -> Self {
        Self {
            most_rps: (users / (demand_s + think_s)).min(capacity_rps),
            least_response_s: demand_s.max(users / capacity_rps - think_s),
            capacity_rps,
            knee_users: (demand_s + think_s) * capacity_rps,
        }
    }
}
