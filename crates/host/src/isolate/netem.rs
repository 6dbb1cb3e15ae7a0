//! The kernel's own emulator: translates a link's properties to arguments of `tc`.

use tolok_link::LinkSpec;

/// The largest packet with its Ethernet header.
const FRAME_BYTES: f64 = 1514.0;
/// The limit of packets on the way if there is no rate.
const UNLIMITED: u64 = 100_000;

/// The words after `netem`.
pub(super) fn arguments(spec: &LinkSpec) -> Vec<String> {
    let mut words = Vec::new();
    if spec.delay_s > 0.0 || spec.jitter_s > 0.0 {
        // A link's jitter only adds to the delay; netem's spreads around it.
        let (middle_s, around_s) = (spec.delay_s + spec.jitter_s / 2.0, spec.jitter_s / 2.0);
        words.extend(["delay".to_owned(), microseconds(middle_s)]);
        if spec.jitter_s > 0.0 {
            words.push(microseconds(around_s));
        }
    }
    if spec.loss > 0.0 {
        words.extend(["loss".to_owned(), format!("{}%", spec.loss * 100.0)]);
    }
    if let Some(rate_bps) = spec.rate_bps {
        words.extend(["rate".to_owned(), format!("{}bit", rate_bps.round())]);
    }
    words.extend(["limit".to_owned(), limit(spec).to_string()]);
    words
}

fn microseconds(seconds: f64) -> String {
    format!("{}us", (seconds * 1e6).round())
}

/// netem limits packets, including those on the way. A link limits the waiting bytes.
fn limit(spec: &LinkSpec) -> u64 {
    let packets = |bytes: f64| (bytes / FRAME_BYTES).ceil() as u64;
    let queue_bytes = spec.queue_limit_bytes() as f64;
    match spec.rate_bps {
        Some(rate_bps) => packets(queue_bytes + rate_bps / 8.0 * (spec.delay_s + spec.jitter_s)),
        None => spec.queue_bytes.map_or(UNLIMITED, |_| packets(queue_bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(spec: LinkSpec, expect: &str) {
        assert_eq!(arguments(&spec).join(" "), expect);
    }

    #[test]
    fn a_link_in_the_words_of_netem() {
        let nothing = LinkSpec::default();
        check(nothing, "limit 100000");
        check(LinkSpec { delay_s: 0.01, ..nothing }, "delay 10000us limit 100000");
        // From 1 ms to 2.5 ms.
        check(LinkSpec { delay_s: 0.001, jitter_s: 0.0015, ..nothing }, "delay 1750us 750us limit 100000");
        check(LinkSpec { loss: 0.001, ..nothing }, "loss 0.1% limit 100000");
        // 150 kB wait, and 62.5 kB are on the way.
        let slow = LinkSpec { rate_bps: Some(50e6), delay_s: 0.01, ..nothing };
        check(slow, "delay 10000us rate 50000000bit limit 141");
        check(LinkSpec { queue_bytes: Some(15_140), ..nothing }, "limit 10");
    }
}
