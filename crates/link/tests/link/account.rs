//! The account of a link, and how a link ends.

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, SendFlags, SocketType, sendto, socket};
use rustix::process::Signal;
use tolok_link::LinkSpec;

use crate::emulated::{DEVICE, Emulated, pair, receive, send};
use crate::in_spaces;
use crate::spaces::Spaces;

#[test]
fn the_ledger_closes_whatever_becomes_of_the_packets() {
    in_spaces!(|spaces: &Spaces| {
        let spec = LinkSpec {
            delay_s: 0.001,
            jitter_s: 0.001,
            rate_bps: Some(50e6),
            loss: 0.05,
            queue_bytes: Some(30_000),
            seed: 8,
        };
        let link = Emulated::start(spaces, spec);
        let [near, far] = pair(spaces);
        for number in 0..3_000 {
            send(&near, number, 1_000);
            send(&far, number, 60);
        }
        // The end of a link checks that all counts add up.
        let [there, back] = link.end().directions;
        assert_eq!([there.offered_packets, back.offered_packets], [3_000, 3_000]);
        assert_eq!([there.offered_bytes, back.offered_bytes], [3_000_000, 180_000]);
        assert!(there.dropped_loss > 0 && back.dropped_loss > 0 && there.dropped_loss != back.dropped_loss);
    });
}

#[test]
fn a_row_is_written_each_second_and_counts_lateness() {
    in_spaces!(|spaces: &Spaces| {
        let link = Emulated::start(spaces, LinkSpec::default());
        let [near, far] = pair(spaces);
        send(&near, 1, 100);
        receive(&far);
        let row = link.end();
        let counts = row.directions[0];
        // A packet without delay is due when it is read, and is handed over some nanoseconds later.
        assert!(counts.lateness_sum_ns > 0 && counts.lateness_max_ns <= counts.lateness_sum_ns, "{row:?}");
        assert_eq!(row.directions[1].lateness_sum_ns, 0);
    });
}

#[test]
fn a_link_ends_when_one_of_its_devices_is_deleted() {
    in_spaces!(|spaces: &Spaces| {
        let link = Emulated::start(spaces, LinkSpec { delay_s: 0.001, ..LinkSpec::default() });
        let [near, far] = pair(spaces);
        send(&near, 1, 100);
        receive(&far);
        spaces.inside(1, delete_device);
        assert_eq!(link.ended().directions[0].packets, 1);
    });
}

#[test]
fn a_device_that_is_down_refuses_packets_and_the_link_counts_them() {
    in_spaces!(|spaces: &Spaces| {
        let link = Emulated::start(spaces, LinkSpec::default());
        let [near, far] = pair(spaces);
        send(&near, 1, 100);
        receive(&far);
        spaces.inside(1, || change_device(NEW_LINK, 0));
        (2..12).for_each(|number| send(&near, number, 100));
        let counts = link.end().directions[0];
        assert_eq!((counts.packets, counts.dropped_refused), (1, 10));
    });
}

#[test]
fn what_a_device_dropped_because_it_was_not_read_in_time_is_counted_apart() {
    in_spaces!(|spaces: &Spaces| {
        let link = Emulated::start(spaces, LinkSpec::default());
        let [near, far] = pair(spaces);
        send(&near, 0, 100);
        receive(&far);
        // The device has room for 8,192 packets that are not read.
        link.stop();
        (1..10_000).for_each(|number| send(&near, number, 100));
        link.signal(Signal::CONT);
        let [there, back] = link.end().directions;
        assert!(there.dropped_before > 1_000, "{there:?}");
        assert_eq!((there.offered_packets + there.dropped_before, back.dropped_before), (10_000, 0), "{there:?}");
    });
}

/// Message types of rtnetlink(7), and its flag for a request.
const NEW_LINK: u16 = 16;
const DELETE_LINK: u16 = 17;
const REQUEST: u16 = 1;
const IFF_UP: u32 = 1;

fn delete_device() {
    change_device(DELETE_LINK, 0);
}

/// Deletes the device of the calling thread's namespace, or switches it on or off.
fn change_device(kind: u16, up: u32) {
    let index =
        rustix::net::netdevice::name_to_index(socket(AddressFamily::INET, SocketType::DGRAM, None).unwrap(), DEVICE);
    let mut message = Vec::new();
    message.extend(32u32.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    message.extend([0; 8]);
    // struct ifinfomsg: family, padding, type, index, flags, mask of the flags to change.
    message.extend([0; 4]);
    message.extend(index.unwrap().to_ne_bytes());
    message.extend(up.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    // Protocol 0 of netlink(7) covers routes and devices.
    let kernel = socket(AddressFamily::NETLINK, SocketType::RAW, None).unwrap();
    // The kernel has applied the change when this returns.
    let sent = sendto(&kernel, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0)).unwrap();
    assert_eq!(sent, message.len());
}
