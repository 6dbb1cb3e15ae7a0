//! The fate of a packet in one direction. Pure: it reads no clock and moves no bytes.
//!
//! An offered packet waits until the link is free, is sent at the link's rate, and is then delayed by the delay and its own random jitter:
//!
//! ```text
//! sent    = max(offered, free) + bytes · 8 / rate          free = sent
//! arrives = max(sent + delay + U(0, jitter), arrival of the packet before)
//! ```
//!
//! The waiting bytes are the work that is left: (free − now) · rate / 8. So a packet that is half sent takes half its room. A packet that
//! would exceed the queue's size is dropped (tail drop). Loss is on the wire, after the queue: a lost packet has used its share of the
//! rate.
//!
//! Two numbers are drawn for each offered packet, whatever its fate. So the loss and jitter of packet *n* depend only on the seed, the
//! direction and *n*, not on when other packets came.

use tolok_rng::SplitMix64;

use crate::spec::LinkSpec;

const NS_PER_S: u64 = 1_000_000_000;
/// Most packets in a direction. Each needs memory beyond its bytes, however small it is.
const HELD_PACKETS_MAX: usize = 1 << 20;

/// The current content of a direction, waiting or in transit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// Packets.
    pub packets: usize,
    /// Their IP bytes.
    pub bytes: u64,
}

/// The fate of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It leaves the link at this instant.
    Arrives {
        /// On the same clock as the instants passed in.
        at_ns: u64,
    },
    /// It is lost in transit.
    Lost,
    /// It found no room in the queue.
    Overflows,
}

/// One direction of a link.
#[derive(Debug, Clone)]
pub struct Direction {
    delay_ns: u64,
    jitter_ns: f64,
    loss: f64,
    limit_bytes: u64,
    rate: Option<Transmitter>,
    random: SplitMix64,
    last_arrival_ns: u64,
}

impl Direction {
    /// A direction of an idle link. The two directions of a link have different numbers, so they draw different random numbers.
    pub fn new(spec: &LinkSpec, number: u64) -> Direction {
        Direction {
            delay_ns: (spec.delay_s * NS_PER_S as f64).round() as u64,
            jitter_ns: spec.jitter_s * NS_PER_S as f64,
            loss: spec.loss,
            limit_bytes: spec.queue_limit_bytes(),
            rate: spec.rate_bps.map(Transmitter::new),
            random: SplitMix64::stream(spec.seed, [number]),
            last_arrival_ns: 0,
        }
    }

    /// The fate of a packet of `bytes` IP bytes offered now, while `held` is in the link.
    pub fn offer(&mut self, now_ns: u64, bytes: u64, held: Held) -> Fate {
        let lost = self.random.unit() < self.loss;
        let jitter_ns = (self.random.unit() * self.jitter_ns) as u64;
        if self.queued_bytes(now_ns, held) + bytes > self.limit_bytes || held.packets >= HELD_PACKETS_MAX {
            return Fate::Overflows;
        }
        let sent_ns = self.rate.as_mut().map_or(now_ns, |rate| rate.send(now_ns, bytes));
        if lost {
            return Fate::Lost;
        }
        self.last_arrival_ns = self.last_arrival_ns.max(sent_ns + self.delay_ns + jitter_ns);
        Fate::Arrives { at_ns: self.last_arrival_ns }
    }

    /// The bytes that the limit applies to: with a rate, those waiting; without, those in transit.
    pub fn queued_bytes(&self, now_ns: u64, held: Held) -> u64 {
        self.rate.as_ref().map_or(held.bytes, |rate| rate.waiting_bytes(now_ns))
    }
}

/// Sends at a rate, one packet after another.
#[derive(Debug, Clone)]
struct Transmitter {
    rate_bps: u64,
    free_ns: u64,
    /// Fraction of a nanosecond, in units of 1/rate. It is carried from packet to packet, so a busy link loses no time to rounding.
    carry: u64,
}

impl Transmitter {
    fn new(rate_bps: f64) -> Transmitter {
        Transmitter { rate_bps: (rate_bps.round() as u64).max(1), free_ns: 0, carry: 0 }
    }

    /// Accepts a packet and returns when its last bit is sent.
    fn send(&mut self, now_ns: u64, bytes: u64) -> u64 {
        if self.free_ns < now_ns {
            (self.free_ns, self.carry) = (now_ns, 0);
        }
        let work = u128::from(bytes * 8) * u128::from(NS_PER_S) + u128::from(self.carry);
        let rate = u128::from(self.rate_bps);
        self.free_ns += (work / rate) as u64;
        self.carry = (work % rate) as u64;
        self.free_ns
    }

    /// Bytes not sent yet; a partly sent byte counts fully.
    fn waiting_bytes(&self, now_ns: u64) -> u64 {
        let left_ns = u128::from(self.free_ns.saturating_sub(now_ns));
        let bits = (left_ns * u128::from(self.rate_bps)).div_ceil(u128::from(NS_PER_S));
        bits.div_ceil(8) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;
    const START: u64 = 5_000 * MS;

    /// The fates of packets offered at these instants, with these sizes, if all arrive on time.
    fn fates(spec: LinkSpec, number: u64, offers: &[(u64, u64)]) -> Vec<Fate> {
        let mut direction = Direction::new(&spec, number);
        let mut held: Vec<(u64, u64)> = Vec::new();
        let mut fates = Vec::new();
        for &(now_ns, bytes) in offers {
            held.retain(|(at_ns, _)| *at_ns > now_ns);
            let now_held = Held { packets: held.len(), bytes: held.iter().map(|(_, bytes)| bytes).sum() };
            let fate = direction.offer(now_ns, bytes, now_held);
            if let Fate::Arrives { at_ns } = fate {
                held.push((at_ns, bytes));
            }
            fates.push(fate);
        }
        fates
    }

    fn arrives(at_ns: u64) -> Fate {
        Fate::Arrives { at_ns }
    }

    #[test]
    fn nothing_emulated_is_no_time() {
        assert_eq!(fates(LinkSpec::default(), 0, &[(START, 1_500)]), [arrives(START)]);
    }

    #[test]
    fn a_delay_is_the_same_for_every_packet_however_large() {
        let spec = LinkSpec { delay_s: 0.01, ..LinkSpec::default() };
        let offers = [(START, 40), (START, 65_000), (START + 3, 1_500)];
        assert_eq!(fates(spec, 0, &offers), [START + 10 * MS, START + 10 * MS, START + 10 * MS + 3].map(arrives));
    }

    #[test]
    fn packets_leave_one_after_the_other_at_the_rate_and_an_idle_link_saves_nothing_up() {
        // 12 Mbit/s transmit 1,500 bytes in a millisecond.
        let spec = LinkSpec { rate_bps: Some(12e6), delay_s: 0.005, ..LinkSpec::default() };
        let offers = [(START, 1_500), (START, 1_500), (START + 10 * MS, 750)];
        let expect = [START + 6 * MS, START + 7 * MS, START + 15 * MS + MS / 2];
        assert_eq!(fates(spec, 0, &offers), expect.map(arrives));
    }

    #[test]
    fn rounding_loses_no_time() {
        // A third of a nanosecond per bit: each packet of one byte takes 2 2/3 ns.
        let spec = LinkSpec { rate_bps: Some(3e9), ..LinkSpec::default() };
        let last = fates(spec, 0, &[(START, 1); 3_000]).pop();
        assert_eq!(last, Some(arrives(START + 8_000)));
    }

    #[test]
    fn a_packet_that_finds_no_room_is_dropped_and_takes_no_time() {
        let spec = LinkSpec { rate_bps: Some(12e6), queue_bytes: Some(3_000), ..LinkSpec::default() };
        let offers = [(START, 1_500), (START, 1_500), (START, 1), (START + MS, 1_500), (START + MS, 1)];
        let expect =
            [arrives(START + MS), arrives(START + 2 * MS), Fate::Overflows, arrives(START + 3 * MS), Fate::Overflows];
        assert_eq!(fates(spec, 0, &offers), expect);
    }

    #[test]
    fn without_a_rate_the_limit_is_of_what_is_on_the_way() {
        let spec = LinkSpec { delay_s: 0.01, queue_bytes: Some(3_000), ..LinkSpec::default() };
        let offers = [(START, 2_000), (START, 1_500), (START, 1_000), (START + 10 * MS, 3_000)];
        let expect = [arrives(START + 10 * MS), Fate::Overflows, arrives(START + 10 * MS), arrives(START + 20 * MS)];
        assert_eq!(fates(spec, 0, &offers), expect);
    }

    #[test]
    fn a_direction_holds_no_more_packets_than_it_has_memory_for() {
        let mut direction = Direction::new(&LinkSpec::default(), 0);
        let full = Held { packets: HELD_PACKETS_MAX, bytes: 0 };
        assert_eq!(direction.offer(START, 40, full), Fate::Overflows);
        assert_eq!(direction.offer(START, 40, Held { packets: full.packets - 1, bytes: 0 }), arrives(START));
    }

    #[test]
    fn a_lost_packet_has_used_its_share_of_the_rate() {
        let spec = LinkSpec { rate_bps: Some(12e6), loss: 0.5, seed: 3, ..LinkSpec::default() };
        let fates = fates(spec, 0, &[(START, 1_500); 50]);
        let slots = fates.iter().zip(1..).filter(|(fate, _)| **fate != Fate::Lost);
        slots.clone().for_each(|(fate, slot)| assert_eq!(*fate, arrives(START + slot * MS)));
        assert!((5..45).contains(&slots.count()));
    }

    #[test]
    fn loss_comes_with_its_probability_and_differs_between_the_directions() {
        let spec = LinkSpec { loss: 0.03, seed: 11, ..LinkSpec::default() };
        let there = fates(spec, 0, &[(START, 100); 20_000]);
        let back = fates(spec, 1, &[(START, 100); 20_000]);
        for fates in [&there, &back] {
            let lost = fates.iter().filter(|fate| **fate == Fate::Lost).count();
            // Four standard deviations around 600; the seed is fixed, so the result is deterministic.
            assert!((503..=697).contains(&lost), "{lost}");
        }
        assert_ne!(there, back);
    }

    #[test]
    fn the_fate_of_a_packet_does_not_depend_on_the_queue_of_others() {
        let lossy = LinkSpec { loss: 0.2, seed: 5, ..LinkSpec::default() };
        let full = LinkSpec { rate_bps: Some(1e6), queue_bytes: Some(15_000), ..lossy };
        let offers = [(START, 1_500); 200];
        let fates = fates(lossy, 0, &offers).into_iter().zip(fates(full, 0, &offers));
        let wrong =
            fates.filter(|(free, full)| *full != Fate::Overflows && (*free == Fate::Lost) != (*full == Fate::Lost));
        assert_eq!(wrong.count(), 0);
    }

    #[test]
    fn jitter_is_spread_evenly() {
        let spec = LinkSpec { delay_s: 0.001, jitter_s: 0.002, seed: 9, ..LinkSpec::default() };
        // So far apart that none has to wait for the one before.
        let offers: Vec<(u64, u64)> = (0..10_000).map(|number| (START + number * 5 * MS, 100)).collect();
        let mut bins = [0u32; 10];
        for (fate, (offered_ns, _)) in fates(spec, 0, &offers).into_iter().zip(offers) {
            let Fate::Arrives { at_ns } = fate else { panic!("nothing is lost here") };
            bins[((at_ns - offered_ns - MS) * 10 / (2 * MS)) as usize] += 1;
        }
        assert!(bins.iter().all(|count| (900..1_100).contains(count)), "{bins:?}");
    }

    fn specs() -> impl Strategy<Value = LinkSpec> {
        let rate = proptest::option::of((1e4..1e10).prop_map(f64::round));
        let queue = proptest::option::of(1_500u64..1_000_000);
        (0.0..0.2, 0.0..0.05, rate, prop_oneof![Just(0.0), 0.0..1.0], queue, any::<u64>()).prop_map(
            |(delay_s, jitter_s, rate_bps, loss, queue_bytes, seed)| LinkSpec {
                delay_s,
                jitter_s,
                rate_bps,
                loss,
                queue_bytes,
                seed,
            },
        )
    }

    /// Non-decreasing instants, and sizes of packets.
    fn offers() -> impl Strategy<Value = Vec<(u64, u64)>> {
        proptest::collection::vec((0u64..3 * MS, 20u64..1_500), 1..200).prop_map(|steps| {
            let mut now_ns = START;
            let mut next = |(gap_ns, bytes): (u64, u64)| {
                now_ns += gap_ns;
                (now_ns, bytes)
            };
            steps.into_iter().map(&mut next).collect()
        })
    }

    proptest! {
        #[test]
        fn no_packet_is_early_or_overtakes_and_the_same_seed_gives_the_same_fates(spec in specs(), offers in offers()) {
            let once = fates(spec, 0, &offers);
            prop_assert_eq!(&once, &fates(spec, 0, &offers));
            let mut last_ns = 0;
            for (fate, (offered_ns, bytes)) in once.iter().zip(&offers) {
                if let Fate::Arrives { at_ns } = fate {
                    let alone_s = spec.delay_s + spec.rate_bps.map_or(0.0, |rate| *bytes as f64 * 8.0 / rate);
                    // Two nanoseconds for rounding to whole ones.
                    prop_assert!((*at_ns - *offered_ns) as f64 + 2.0 >= alone_s * 1e9);
                    prop_assert!(*at_ns >= last_ns);
                    last_ns = *at_ns;
                }
            }
        }

        #[test]
        fn a_link_never_sends_faster_than_its_rate_and_never_lets_more_wait_than_its_queue_holds(
            spec in specs(), rate_bps in (1e5f64..1e9).prop_map(f64::round), offers in offers(),
        ) {
            let spec = LinkSpec { rate_bps: Some(rate_bps), jitter_s: 0.0, loss: 0.0, ..spec };
            let mut direction = Direction::new(&spec, 0);
            let (mut sent_bytes, mut busy_since_ns, mut last_ns) = (0, 0, 0);
            for (now_ns, bytes) in offers {
                if now_ns >= last_ns {
                    (sent_bytes, busy_since_ns) = (0, now_ns);
                }
                if let Fate::Arrives { at_ns } = direction.offer(now_ns, bytes, Held::default()) {
                    sent_bytes += bytes;
                    last_ns = at_ns - direction.delay_ns;
                    let exact_ns = (sent_bytes * 8) as f64 * 1e9 / rate_bps;
                    prop_assert!(((last_ns - busy_since_ns) as f64 - exact_ns).abs() <= 1.0);
                }
                prop_assert!(direction.queued_bytes(now_ns, Held::default()) <= spec.queue_limit_bytes());
            }
        }
    }
}
