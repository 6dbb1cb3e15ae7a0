//! The properties that a link emulates.

use serde::{Deserialize, Serialize};

use crate::error::LinkError;

/// The largest IP packet on a link that counts packets, as on Ethernet.
pub const MTU_BYTES: u32 = 1_500;

/// The smallest default queue of a link with a rate: that of a small router, a hundred full packets.
const QUEUE_BYTES_MIN: u64 = 150_000;
/// Limit for a direction without a rate, to bound memory.
const HELD_BYTES: u64 = 64 << 20;
/// Most bytes that a direction with a rate may have to hold: its queue, and packets in transit.
const HELD_BYTES_MAX: f64 = (1u64 << 30) as f64;
/// The longest delay and jitter; a round trip to the far side of the Moon is 2.6 s.
const DELAY_S_MAX: f64 = 60.0;
/// The highest rate, a terabit per second.
const RATE_BPS_MAX: f64 = 1e12;

/// What a link does to packets, the same in both directions. The default has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct LinkSpec {
    /// One-way delay in seconds; a round trip takes twice as long.
    pub delay_s: f64,
    /// Additional one-way delay, uniformly distributed from 0 to this many seconds. Packets never overtake each other: one that would
    /// arrive before its predecessor arrives with it.
    pub jitter_s: f64,
    /// Bits per second in each direction, for whole IP packets: IP header, TCP or UDP header and payload, without framing below IP. (A full
    /// TCP packet of 1,500 bytes carries 1,448 bytes of payload.)
    pub rate_bps: Option<f64>,
    /// Probability of losing a packet, independent for each packet and direction.
    pub loss: f64,
    /// Bytes that may wait in each direction; a packet that finds no room is dropped. By default, with a rate, what the link sends in one
    /// round trip, but at least 150 kB. Without a rate nothing waits, and this limits the bytes in transit (64 MiB by default).
    pub queue_bytes: Option<u64>,
    /// Seed of loss and jitter.
    pub seed: u64,
}

impl LinkSpec {
    /// Whether packets must be as on a wire. If only time passes, the kernel may hand over up to 64 KiB in one piece (segmentation
    /// offload). That is an order of magnitude cheaper, but such a piece cannot be lost or queued like a single packet.
    pub fn needs_packets(&self) -> bool {
        self.rate_bps.is_some() || self.loss > 0.0 || self.queue_bytes.is_some()
    }

    /// The limit of the bytes that wait (with a rate) or are in transit (without).
    pub fn queue_limit_bytes(&self) -> u64 {
        self.queue_bytes.unwrap_or_else(|| match self.rate_bps {
            Some(rate_bps) => ((rate_bps / 8.0 * 2.0 * self.delay_s) as u64).max(QUEUE_BYTES_MIN),
            None => HELD_BYTES,
        })
    }

    /// Checks that this can be emulated.
    pub fn check(&self) -> Result<(), LinkError> {
        let refuse = |reason: String| Err(LinkError::Spec { reason });
        for (name, value_s) in [("delay", self.delay_s), ("jitter", self.jitter_s)] {
            if !(0.0..=DELAY_S_MAX).contains(&value_s) {
                return refuse(format!("a {name} of {value_s} s; give 0 to {DELAY_S_MAX} s"));
            }
        }
        if !(0.0..=1.0).contains(&self.loss) {
            return refuse(format!("a loss of {}; give a probability from 0 to 1", self.loss));
        }
        if let Some(rate_bps) = self.rate_bps.filter(|rate_bps| !(1.0..=RATE_BPS_MAX).contains(rate_bps)) {
            return refuse(format!("a rate of {rate_bps} bit/s; give 1 bit/s to 1 Tbit/s"));
        }
        if let Some(bytes) = self.queue_bytes.filter(|bytes| *bytes < u64::from(MTU_BYTES)) {
            return refuse(format!("a queue of {bytes} bytes, in which no packet of {MTU_BYTES} bytes has room"));
        }
        let on_the_way = self.rate_bps.map_or(0.0, |rate_bps| rate_bps / 8.0 * (self.delay_s + self.jitter_s));
        let held = on_the_way + self.queue_limit_bytes() as f64;
        if held > HELD_BYTES_MAX {
            let mib = held / f64::from(1 << 20);
            return refuse(format!(
                "a link that holds up to {mib:.0} MiB in each direction; lower rate, delay or queue"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: LinkSpec =
        LinkSpec { delay_s: 0.0, jitter_s: 0.0, rate_bps: None, loss: 0.0, queue_bytes: None, seed: 0 };

    #[test]
    fn the_default_emulates_nothing_and_lets_the_kernel_send_large_pieces() {
        assert_eq!(LinkSpec::default(), NOTHING);
        assert!(!NOTHING.needs_packets());
        assert!(!LinkSpec { delay_s: 0.01, jitter_s: 0.001, ..NOTHING }.needs_packets());
        assert!(LinkSpec { rate_bps: Some(1e6), ..NOTHING }.needs_packets());
        assert!(LinkSpec { loss: 0.01, ..NOTHING }.needs_packets());
        assert!(LinkSpec { queue_bytes: Some(150_000), ..NOTHING }.needs_packets());
    }

    #[test]
    fn a_queue_holds_a_round_trip_but_at_least_a_hundred_packets() {
        let with_rate =
            |rate_bps, delay_s| LinkSpec { rate_bps: Some(rate_bps), delay_s, ..NOTHING }.queue_limit_bytes();
        assert_eq!(with_rate(10e6, 0.005), 150_000);
        assert_eq!(with_rate(100e6, 0.05), 1_250_000);
        assert_eq!(NOTHING.queue_limit_bytes(), 64 << 20);
        assert_eq!(LinkSpec { queue_bytes: Some(9_000), ..NOTHING }.queue_limit_bytes(), 9_000);
    }

    #[test]
    fn keys_are_kebab_case_and_each_may_be_left_out() {
        let read: LinkSpec = serde_json::from_str(r#"{"delay-s": 0.01, "rate-bps": 54e6}"#).unwrap();
        assert_eq!(read, LinkSpec { delay_s: 0.01, rate_bps: Some(54e6), ..NOTHING });
        let written = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<LinkSpec>(&written).unwrap(), read);
        assert!(serde_json::from_str::<LinkSpec>(r#"{"delay": 1}"#).is_err());
    }

    #[test]
    fn what_cannot_be_emulated_is_refused_with_what_could_be() {
        let check = |spec: LinkSpec, expect: &str| {
            let error = spec.check().unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        };
        check(LinkSpec { delay_s: -0.1, ..NOTHING }, "a delay of -0.1 s; give 0 to 60 s");
        check(LinkSpec { jitter_s: f64::NAN, ..NOTHING }, "a jitter of NaN s");
        check(LinkSpec { loss: 1.5, ..NOTHING }, "a probability from 0 to 1");
        check(LinkSpec { rate_bps: Some(0.0), ..NOTHING }, "1 bit/s to 1 Tbit/s");
        check(LinkSpec { queue_bytes: Some(100), ..NOTHING }, "no packet of 1500 bytes has room");
        check(LinkSpec { rate_bps: Some(1e11), delay_s: 1.0, ..NOTHING }, "lower rate, delay or queue");
        assert!(LinkSpec { rate_bps: Some(54e6), delay_s: 0.05, loss: 1.0, ..NOTHING }.check().is_ok());
    }
}
