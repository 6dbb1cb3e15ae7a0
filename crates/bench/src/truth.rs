//! What users would have waited: computed from what the server did, never from what a generator says. Pure.

use serde::Serialize;

/// Some points of a distribution, in seconds. What is not known is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Latencies {
    /// Median.
    pub p50_s: Option<f64>,
    /// 99th percentile.
    pub p99_s: Option<f64>,
    /// 99.9th percentile.
    pub p999_s: Option<f64>,
    /// Greatest.
    pub max_s: Option<f64>,
}

impl Latencies {
    /// In order.
    pub fn all(self) -> [Option<f64>; 4] {
        [self.p50_s, self.p99_s, self.p999_s, self.max_s]
    }

    /// Of these values, by nearest rank.
    pub fn of(mut values: Vec<f64>) -> Latencies {
        values.sort_by(f64::total_cmp);
        let rank = |share: f64| {
            let place = (share * values.len() as f64).ceil() as usize;
            values.get(place.max(1) - 1).copied()
        };
        Latencies { p50_s: rank(0.5), p99_s: rank(0.99), p999_s: rank(0.999), max_s: values.last().copied() }
    }
}

/// Evenly spaced arrivals at a server that stands still now and then: an arrival within a stall waits for its end, and any
/// other takes the usual time. That the queue of a stall must be worked off after it is left out.
pub fn through_stalls(start_ns: u64, rate_rps: f64, count: u64, stalls_ns: &[(u64, u64)], usual_s: f64) -> Vec<f64> {
    let wait = |number: u64| {
        let arrival_ns = start_ns as f64 + number as f64 / rate_rps * 1e9;
        let stall = stalls_ns.iter().find(|(from, to)| (*from as f64..*to as f64).contains(&arrival_ns));
        stall.map_or(0.0, |(_, to)| (*to as f64 - arrival_ns) / 1e9)
    };
    (0..count).map(|number| usual_s + wait(number)).collect()
}

/// Evenly spaced arrivals at a server that needs the same time for each and serves one at a time (D/D/1).
pub fn one_at_a_time(rate_rps: f64, count: u64, service_s: f64) -> Vec<f64> {
    let mut free_s = 0.0_f64;
    let serve = |number: u64| {
        let arrival_s = number as f64 / rate_rps;
        free_s = free_s.max(arrival_s) + service_s;
        free_s - arrival_s
    };
    (0..count).map(serve).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{found:?}, not {expected}");
    }

    #[test]
    fn whoever_comes_within_a_stall_waits_for_its_end() {
        // Ten arrivals, 100 ms apart from instant 1 s on; the server stands still from 1.25 s to 1.55 s.
        let waits = through_stalls(1_000_000_000, 10.0, 10, &[(1_250_000_000, 1_550_000_000)], 0.001);
        let expected = [0.001, 0.001, 0.001, 0.251, 0.151, 0.051, 0.001, 0.001, 0.001, 0.001];
        waits.iter().zip(expected).for_each(|(found, expected)| near(Some(*found), expected));
        let of = Latencies::of(waits);
        near(of.p50_s, 0.001);
        near(of.max_s, 0.251);
    }

    #[test]
    fn a_tenth_of_the_time_stalled_is_a_tenth_of_the_arrivals() {
        // As the queueing of a stall of 500 ms in 5 s gives it: a share of 1 % lies beyond 500 ms times (1 - 0.01 / 0.1).
        let waits = through_stalls(0, 2000.0, 10_000, &[(2_500_000_000, 3_000_000_000)], 0.0);
        let of = Latencies::of(waits);
        assert!((of.p99_s.unwrap() - 0.45).abs() < 0.001 && (of.p999_s.unwrap() - 0.495).abs() < 0.001, "{of:?}");
    }

    #[test]
    fn a_queue_grows_as_long_as_more_comes_than_is_served() {
        // Every arrival comes 1/1.2 ms after the last and takes 1 ms, so each waits 1/6 ms longer than the one before.
        let waits = one_at_a_time(1200.0, 6000, 0.001);
        near(waits.first().copied(), 0.001);
        near(waits.last().copied(), 0.001 + 5999.0 * (0.001 - 1.0 / 1200.0));
        assert!(one_at_a_time(500.0, 100, 0.001).iter().all(|wait| (wait - 0.001).abs() < 1e-12), "no queue");
    }

    #[test]
    fn nothing_has_no_percentiles() {
        assert_eq!(Latencies::of(Vec::new()), Latencies::default());
        near(Latencies::of(vec![3.0]).p999_s, 3.0);
    }
}
