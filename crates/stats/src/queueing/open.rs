//! The limit of a closed network for many users.
//!
//! If many users send rarely, jobs arrive at random, and a station sees a Poisson stream with the network's throughput
//! X. So X is the rate at which the numbers of users match: X · (Z + Σ R(X)) = N. The left side grows with X, from 0 to
//! infinity at the capacity, so bisection finds it for any N. Far beyond the knee X is the capacity, and R = N / X − Z.

use super::network::{Method, Network, Service, Solved, Station};

/// After this many halvings the interval is one number wide.
const HALVINGS: u32 = 200;

/// The network with this many users, whose throughput is at least `least_rps`.
pub(super) fn solve(network: &Network, users: u64, least_rps: f64) -> Solved {
    let most_rps = network.bounds(users).most_rps;
    // A network that is never full has no queues, so the bound is the solution.
    let throughput_rps = if network.capacity_rps().is_finite() {
        meet(network, users as f64, most_rps).max(least_rps.min(most_rps))
    } else {
        most_rps
    };
    let residence_s: Vec<f64> = match network.stations().iter().map(|it| residence_s(it, throughput_rps)).collect() {
        Some(residence_s) => residence_s,
        None => saturated(network, users as f64, throughput_rps),
    };
    network.solved(users, throughput_rps, &residence_s, Method::OpenLimit)
}

/// The rate at which the number of thinking and waiting users equals `users`.
fn meet(network: &Network, users: f64, most_rps: f64) -> f64 {
    let (mut low, mut high) = (0.0, most_rps);
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        let residence_s: Option<f64> = network.stations().iter().map(|it| residence_s(it, middle)).sum();
        let needed = residence_s.map(|residence_s| middle * (network.think_s() + residence_s));
        if needed.is_some_and(|needed| needed < users) { low = middle } else { high = middle }
    }
    // Beyond rounding precision it is the bound itself.
    if high >= most_rps { most_rps } else { low }
}

/// Time of a job at a station with random arrivals at this rate, or `None` if the station is full.
fn residence_s(station: &Station, throughput_rps: f64) -> Option<f64> {
    let busy = throughput_rps / station.capacity_rps();
    match station.service {
        Service::Delay => Some(station.demand_s),
        _ if busy >= 1.0 => None,
        _ if throughput_rps <= 0.0 => Some(station.alone_s()),
        Service::Copies(_) => Some(station.demand_s / (1.0 - busy)),
        Service::Servers(_) | Service::Rates(_) => Some(jobs_at(station, throughput_rps, busy) / throughput_rps),
    }
}

/// Mean jobs at a station whose rate depends on their number: a birth and death process with a geometric tail.
fn jobs_at(station: &Station, throughput_rps: f64, busy: f64) -> f64 {
    /// Weights are rescaled before they overflow.
    const LARGE: f64 = 1e200;
    let levels = station.levels().unwrap_or(1);
    let (mut weight, mut total, mut jobs) = (1.0, 1.0, 0.0);
    for level in 1..levels {
        weight *= throughput_rps / station.rate_rps(level);
        total += weight;
        jobs += level as f64 * weight;
        if total.max(jobs) > LARGE {
            [weight, total, jobs] = [weight, total, jobs].map(|value| value / LARGE);
        }
    }
    // Σ busyⁱ and Σ (levels − 1 + i) · busyⁱ for i from 1.
    let beyond = busy / (1.0 - busy);
    total += weight * beyond;
    jobs += weight * ((levels - 1) as f64 * beyond + beyond / (1.0 - busy));
    jobs / total
}

/// If the bottleneck is full within rounding, all jobs that are nowhere else wait there.
fn saturated(network: &Network, users: f64, throughput_rps: f64) -> Vec<f64> {
    let stations = network.stations();
    let mut found: Vec<f64> =
        stations.iter().map(|station| residence_s(station, throughput_rps).unwrap_or(station.alone_s())).collect();
    let elsewhere_s: f64 = network.think_s() + found.iter().sum::<f64>();
    if let Some(place) = network.bottleneck() {
        found[place] += (users / throughput_rps - elsewhere_s).max(0.0);
    }
    found
}
