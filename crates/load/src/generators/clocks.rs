//! The offset of another machine's clock. Pure.

use serde::{Deserialize, Serialize};

use crate::clock::MonotonicNs;

/// One request for the time, and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundTrip {
    /// When it was sent, on this clock.
    pub asked: MonotonicNs,
    /// What the other clock showed.
    pub there: MonotonicNs,
    /// When the answer arrived, on this clock.
    pub answered: MonotonicNs,
}

/// How far another clock is ahead of this one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// What the other clock shows minus what this one shows.
    pub offset_ns: i64,
    /// The largest possible error of the offset: half the round trip.
    pub error_ns: u64,
}

impl ClockOffset {
    /// From the shortest round trip, or `None` without any. The other clock was read at some time within it.
    pub fn of(round_trips: &[RoundTrip]) -> Option<ClockOffset> {
        let shortest = round_trips.iter().min_by_key(|trip| trip.answered.ns_since(trip.asked))?;
        let half = shortest.answered.ns_since(shortest.asked).div_ceil(2);
        Some(ClockOffset { offset_ns: shortest.there.0 as i64 - (shortest.asked.0 + half) as i64, error_ns: half })
    }

    /// Converts an instant of this clock to the other clock.
    pub(crate) fn there(self, here: MonotonicNs) -> MonotonicNs {
        MonotonicNs(here.0.saturating_add_signed(self.offset_ns))
    }

    /// Converts an instant of the other clock to this clock.
    pub(crate) fn here(self, there: MonotonicNs) -> MonotonicNs {
        MonotonicNs(there.0.saturating_add_signed(-self.offset_ns))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn trip(asked: u64, there: u64, answered: u64) -> RoundTrip {
        let [asked, there, answered] = [asked, there, answered].map(MonotonicNs);
        RoundTrip { asked, there, answered }
    }

    #[test]
    fn the_shortest_round_trip_decides() {
        let trips = [trip(0, 700, 400), trip(1_000, 1_610, 1_020), trip(2_000, 2_900, 2_600)];
        assert_eq!(ClockOffset::of(&trips), Some(ClockOffset { offset_ns: 600, error_ns: 10 }));
        assert_eq!(ClockOffset::of(&[]), None);
    }

    #[test]
    fn a_clock_may_be_behind() {
        let offset = ClockOffset::of(&[trip(10_000, 510, 10_020)]).unwrap();
        assert_eq!(offset.offset_ns, -9_500);
        assert_eq!(
            (offset.there(MonotonicNs(10_000)), offset.here(MonotonicNs(500))),
            (MonotonicNs(500), MonotonicNs(10_000))
        );
    }

    proptest! {
        #[test]
        fn the_truth_is_within_the_error(
            ahead in -1_000_000_000i64..1_000_000_000,
            ways in prop::collection::vec((0u64..5_000_000, 0u64..5_000_000), 1..20),
        ) {
            let asked = 10_000_000_000;
            let trips = ways.iter().map(|(to, back)| {
                trip(asked, (asked + to).saturating_add_signed(ahead), asked + to + back)
            });
            let found = ClockOffset::of(&trips.collect::<Vec<_>>()).unwrap();
            prop_assert!(found.offset_ns.abs_diff(ahead) <= found.error_ns);
            let instant = MonotonicNs(asked);
            prop_assert_eq!(found.here(found.there(instant)), instant);
        }
    }
}
