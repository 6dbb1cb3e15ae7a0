//! TCP over the link.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::thread;

use rustix::net::sockopt::tcp_congestion;
use tolok_link::{DirectionCounts, LinkSpec, MTU_BYTES, tun};

use crate::emulated::{DEVICE, Emulated};
use crate::in_spaces;
use crate::spaces::{ADDRESSES, Spaces};

/// A megabyte without repetition.
fn megabyte() -> Vec<u8> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..1_000_000).map(|_| next()).collect()
}

/// Sends a megabyte to the far end, which echoes it. Returns the link's counts for the way there.
fn there_and_back(spaces: &Spaces, spec: LinkSpec) -> DirectionCounts {
    let link = Emulated::start(spaces, spec);
    let listener = spaces.inside(1, || TcpListener::bind((ADDRESSES[1], 0)).unwrap());
    let address = listener.local_addr().unwrap();
    let mut near = spaces.inside(0, || TcpStream::connect(address).unwrap());
    let (mut far, _) = listener.accept().unwrap();
    let echo = thread::spawn(move || {
        let mut back = far.try_clone().unwrap();
        std::io::copy(&mut far, &mut back).unwrap();
        back.shutdown(Shutdown::Write).unwrap();
    });
    let mut sender = near.try_clone().unwrap();
    let sending = thread::spawn(move || {
        sender.write_all(&megabyte()).unwrap();
        sender.shutdown(Shutdown::Write).unwrap();
    });
    let mut came = Vec::new();
    near.read_to_end(&mut came).unwrap();
    assert!(came == megabyte(), "{} bytes came back, and they differ", came.len());
    sending.join().unwrap();
    echo.join().unwrap();
    link.end().directions[0]
}

#[test]
fn a_megabyte_passes_with_offload_bit_for_bit_and_in_large_pieces() {
    in_spaces!(|spaces: &Spaces| {
        let counts = there_and_back(spaces, LinkSpec { delay_s: 0.002, ..LinkSpec::default() });
        assert!(counts.bytes > 1_000_000);
        assert!(counts.bytes > counts.packets * u64::from(MTU_BYTES), "more in a piece than in a packet: {counts:?}");
    });
}

#[test]
fn a_megabyte_passes_in_packets_some_of_which_are_lost() {
    in_spaces!(|spaces: &Spaces| {
        let spec = LinkSpec { loss: 0.01, seed: 6, rate_bps: Some(200e6), delay_s: 0.000_5, ..LinkSpec::default() };
        let counts = there_and_back(spaces, spec);
        assert!(counts.bytes <= counts.packets * u64::from(MTU_BYTES), "{counts:?}");
        assert!(counts.dropped_loss > 0 && counts.offered_packets >= 1_000_000 / 1_460, "{counts:?}");
    });
}

#[test]
fn a_route_gives_its_congestion_control_to_both_ends_of_a_connection() {
    in_spaces!(|spaces: &Spaces| {
        let _link = Emulated::start(spaces, LinkSpec::default());
        let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
        let default = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
        let other = known.split_whitespace().find(|name| *name != default.trim());
        tolok_testkit::require!(other.is_some(), "this kernel has only {}", default.trim());
        let other = other.unwrap();
        for end in [0, 1] {
            spaces.inside(end, || {
                tun::up("lo").unwrap();
                tun::set_congestion_control(DEVICE, ADDRESSES[end], 24, other).unwrap();
                tun::set_congestion_control("lo", Ipv4Addr::LOCALHOST, 32, other).unwrap();
            });
        }
        for (address, from) in [(ADDRESSES[1], 0), (Ipv4Addr::LOCALHOST, 1)] {
            let listener = spaces.inside(1, || TcpListener::bind((address, 0)).unwrap());
            let near = spaces.inside(from, || TcpStream::connect(listener.local_addr().unwrap()).unwrap());
            let (far, _) = listener.accept().unwrap();
            assert_eq!([&near, &far].map(|end| tcp_congestion(end).unwrap()), [other, other]);
        }
        let unknown = spaces.inside(0, || tun::set_congestion_control(DEVICE, ADDRESSES[0], 24, "none-such"));
        assert!(unknown.is_err());
    });
}
