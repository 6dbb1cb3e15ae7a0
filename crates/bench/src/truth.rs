//! How long users would have waited, computed from the server's behaviour, never from a generator's report. Pure.

use serde::Serialize;

/// Some points of a distribution, in seconds; unknown ones are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Latencies {
    pub p50_s: Option<f64>,
    /// 99th percentile.
    pub p99_s: Option<f64>,
    /// 99.9th percentile.
    pub p999_s: Option<f64>,
    pub max_s: Option<f64>,
}

impl Latencies {
    /// The points in order.
    pub fn all(self) -> [Option<f64>; 4] {
        [self.p50_s, self.p99_s, self.p999_s, self.max_s]
    }

    /// From a function of the quantile, and the largest value.
    pub fn at(quantile: impl Fn(f64) -> Option<f64>, max_s: Option<f64>) -> Latencies {
        Latencies { p50_s: quantile(0.5), p99_s: quantile(0.99), p999_s: quantile(0.999), max_s }
    }

    /// From these values, by nearest rank.
    pub fn of(mut values: Vec<f64>) -> Latencies {
        values.sort_by(f64::total_cmp);
        let rank = |share: f64| {
            let place = (share * values.len() as f64).ceil() as usize;
            values.get(place.max(1) - 1).copied()
        };
        Latencies { p50_s: rank(0.5), p99_s: rank(0.99), p999_s: rank(0.999), max_s: values.last().copied() }
    }
}

/// Evenly spaced arrivals, from `start_ns` on.
pub fn evenly(start_ns: u64, rate_rps: f64, count: u64) -> Vec<u64> {
    (0..count).map(|number| start_ns + (number as f64 / rate_rps * 1e9).round() as u64).collect()
}

/// Waits at a server that stalls now and then. An arrival within a stall waits for its end; any other takes the usual time. Ignores that
/// the queue of a stall must be worked off afterwards.
pub fn through_stalls(arrivals_ns: &[u64], stalls_ns: &[(u64, u64)], usual_s: f64) -> Vec<f64> {
    let wait = |arrival_ns: &u64| {
        let stall = stalls_ns.iter().find(|(from, to)| (from..to).contains(&arrival_ns));
        usual_s + stall.map_or(0.0, |(_, to)| (to - arrival_ns) as f64 / 1e9)
    };
    arrivals_ns.iter().map(wait).collect()
}

/// Waits of sorted arrivals at a server that takes the same time for each and serves one at a time.
pub fn one_at_a_time(arrivals_ns: &[u64], service_s: f64) -> Vec<f64> {
    let service_ns = (service_s * 1e9).round() as u64;
    let mut free_ns = 0;
    let serve = |arrival_ns: &u64| {
        free_ns = free_ns.max(*arrival_ns) + service_ns;
        (free_ns - arrival_ns) as f64 / 1e9
    };
    arrivals_ns.iter().map(serve).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{found:?}, not {expected}");
    }

    #[test]
    fn whoever_comes_within_a_stall_waits_for_its_end() {
        // Ten arrivals, 100 ms apart from 1 s on; the server stalls from 1.25 s to 1.55 s.
        let waits = through_stalls(&evenly(1_000_000_000, 10.0, 10), &[(1_250_000_000, 1_550_000_000)], 0.001);
        let expected = [0.001, 0.001, 0.001, 0.251, 0.151, 0.051, 0.001, 0.001, 0.001, 0.001];
        waits.iter().zip(expected).for_each(|(found, expected)| near(Some(*found), expected));
        let of = Latencies::of(waits);
        near(of.p50_s, 0.001);
        near(of.max_s, 0.251);
    }

    #[test]
    fn a_tenth_of_the_time_stalled_is_a_tenth_of_the_arrivals() {
        // For a stall of 500 ms in 5 s: a share of 1% waits longer than 500 ms times (1 - 0.01 / 0.1).
        let waits = through_stalls(&evenly(0, 2000.0, 10_000), &[(2_500_000_000, 3_000_000_000)], 0.0);
        let of = Latencies::of(waits);
        assert!((of.p99_s.unwrap() - 0.45).abs() < 0.001 && (of.p999_s.unwrap() - 0.495).abs() < 0.001, "{of:?}");
    }

    #[test]
    fn a_queue_grows_as_long_as_more_comes_than_is_served() {
        // An arrival comes every 1/1.2 ms and takes 1 ms, so each waits 1/6 ms longer than the one before.
        let waits = one_at_a_time(&evenly(0, 1200.0, 6000), 0.001);
        near(waits.first().copied(), 0.001);
        near(waits.last().copied(), 0.001 + 5999.0 * (0.001 - 1.0 / 1200.0));
        // Simultaneous arrivals wait for all before them.
        assert_eq!(one_at_a_time(&[5, 5, 6, 9_000_000], 0.001), [0.001, 0.002, 0.002_999_999, 0.001]);
        assert!(
            one_at_a_time(&evenly(7, 500.0, 100), 0.001).iter().all(|wait| (wait - 0.001).abs() < 1e-12),
            "no queue"
        );
    }

    #[test]
    fn nothing_has_no_percentiles() {
        assert_eq!(Latencies::of(Vec::new()), Latencies::default());
        near(Latencies::of(vec![3.0]).p999_s, 3.0);
    }
}
