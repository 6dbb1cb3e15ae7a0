//! What happens to packets.

use std::time::Duration;

use tolok_link::{Direction, Fate, Held, LinkSpec};

use crate::emulated::{Emulated, now, pair, receive, send};
use crate::in_spaces;
use crate::spaces::Spaces;

#[test]
fn no_packet_is_early() {
    in_spaces!(|spaces: &Spaces| {
        let delay = Duration::from_millis(20);
        let link = Emulated::start(spaces, LinkSpec { delay_s: delay.as_secs_f64(), ..LinkSpec::default() });
        let [near, far] = pair(spaces);
        for (from, to) in [(&near, &far), (&far, &near)].repeat(5) {
            let sent = now();
            send(from, 7, 100);
            assert_eq!(receive(to), 7);
            assert!(now() - sent >= delay);
        }
        let [there, back] = link.end().directions;
        assert_eq!([there.packets, there.bytes, back.packets, back.bytes], [5, 500, 5, 500]);
    });
}

#[test]
fn packets_keep_their_order_whatever_the_jitter() {
    in_spaces!(|spaces: &Spaces| {
        let spec = LinkSpec { delay_s: 0.001, jitter_s: 0.02, seed: 4, ..LinkSpec::default() };
        let _link = Emulated::start(spaces, spec);
        let [near, far] = pair(spaces);
        (0..100).for_each(|number| send(&near, number, 100));
        assert_eq!((0..100).map(|_| receive(&far)).collect::<Vec<u32>>(), (0..100).collect::<Vec<u32>>());
    });
}

#[test]
fn packets_leave_no_faster_than_the_rate() {
    in_spaces!(|spaces: &Spaces| {
        // 1,500 bytes per millisecond.
        let spec = LinkSpec { rate_bps: Some(12e6), queue_bytes: Some(1 << 20), ..LinkSpec::default() };
        let link = Emulated::start(spaces, spec);
        let [near, far] = pair(spaces);
        let start = now();
        (0..60).for_each(|number| send(&near, number, 1_500));
        for number in 0..60 {
            assert_eq!(receive(&far), number);
            assert!(now() - start >= Duration::from_millis(u64::from(number) + 1));
        }
        let counts = link.end().directions[0];
        assert_eq!((counts.packets, counts.bytes), (60, 90_000));
    });
}

#[test]
fn without_loss_everything_arrives() {
    in_spaces!(|spaces: &Spaces| {
        let link = Emulated::start(spaces, LinkSpec { queue_bytes: Some(1 << 20), ..LinkSpec::default() });
        let [near, far] = pair(spaces);
        for first in (0..2_000).step_by(50) {
            (first..first + 50).for_each(|number| send(&near, number, 200));
            (first..first + 50).for_each(|number| assert_eq!(receive(&far), number));
        }
        let counts = link.end().directions[0];
        assert_eq!((counts.offered_packets, counts.packets, counts.dropped_loss), (2_000, 2_000, 0));
    });
}

#[test]
fn with_complete_loss_nothing_arrives() {
    in_spaces!(|spaces: &Spaces| {
        let link = Emulated::start(spaces, LinkSpec { loss: 1.0, ..LinkSpec::default() });
        let [near, far] = pair(spaces);
        (0..500).for_each(|number| send(&near, number, 200));
        let counts = link.end().directions[0];
        assert_eq!((counts.offered_packets, counts.packets, counts.dropped_loss), (500, 0, 500));
        far.set_nonblocking(true).unwrap();
        assert_eq!(far.recv(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    });
}

#[test]
fn exactly_those_packets_are_lost_that_the_seed_says() {
    in_spaces!(|spaces: &Spaces| {
        let spec = LinkSpec { loss: 0.1, seed: 42, ..LinkSpec::default() };
        let link = Emulated::start(spaces, spec);
        let [near, far] = pair(spaces);
        let mut model = Direction::new(&spec, 0);
        for first in (0..2_000).step_by(50) {
            (first..first + 50).for_each(|number| send(&near, number, 200));
            for number in first..first + 50 {
                if model.offer(0, 200, Held::default()) != Fate::Lost {
                    assert_eq!(receive(&far), number);
                }
            }
        }
        let counts = link.end().directions[0];
        assert_eq!(counts.packets + counts.dropped_loss, 2_000);
        assert!(counts.dropped_loss > 100, "the seed loses some: {counts:?}");
    });
}

#[test]
fn a_full_queue_drops_exactly_what_finds_no_room() {
    in_spaces!(|spaces: &Spaces| {
        // One byte per second: the next packet would have room after 16 minutes, long after this test.
        let spec = LinkSpec { rate_bps: Some(8.0), queue_bytes: Some(15_000), ..LinkSpec::default() };
        let link = Emulated::start(spaces, spec);
        let [near, _far] = pair(spaces);
        (0..40).for_each(|number| send(&near, number, 1_000));
        let counts = link.end().directions[0];
        assert_eq!((counts.offered_packets, counts.dropped_queue), (40, 25));
        assert_eq!((counts.held_packets, counts.packets), (15, 0));
        assert!((14_000..=15_000).contains(&counts.queued_bytes_max), "{counts:?}");
    });
}
