//! Requests to the kernel's network configuration (rtnetlink(7)), for what no ioctl can do, at least not in a user namespace. They act in
//! the network namespace of the calling thread.

use std::io;
use std::net::Ipv4Addr;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

const NEW_LINK: u16 = libc::RTM_NEWLINK;
const NEW_ROUTE: u16 = libc::RTM_NEWROUTE;
const REQUEST_WITH_ANSWER: u16 = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
const CREATE_OR_REPLACE: u16 = (libc::NLM_F_CREATE | libc::NLM_F_REPLACE) as u16;
/// Metrics of a route (`RTA_METRICS`), and two of them: the lock against changes by programs, and the congestion control.
const METRICS: u16 = 8;
const METRIC_LOCK: u16 = 1;
const METRIC_CONGESTION_CONTROL: u16 = 16;
/// `struct nlmsghdr`.
const HEADER_BYTES: usize = 16;

/// Sets how many packets may wait in a device. In a user namespace, the ioctl for this is refused.
pub(crate) fn set_queue_length(device: &str, packets: u32) -> io::Result<()> {
    let mut body = vec![0; 4];
    body.extend(index_of(device)?.to_ne_bytes());
    body.extend([0; 8]);
    append(&mut body, libc::IFLA_TXQLEN, &packets.to_ne_bytes());
    request(NEW_LINK, 0, &body)
}

/// Sets the congestion control (such as `cubic`) for all TCP connections to addresses that share the first `prefix` bits with the device's
/// own `address`. It overrides the namespace's default, and programs cannot choose another one. For loopback addresses, `device` is `lo`.
///
/// This works without changing the machine: a namespace accepts as its default only what the whole machine allows
/// (`tcp_allowed_congestion_control`), but a route accepts everything available.
pub fn set_congestion_control(device: &str, address: Ipv4Addr, prefix: u8, algorithm: &str) -> io::Result<()> {
    let mask = u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0);
    let network = address.to_bits() & mask;
    // This replaces the route that the kernel made for the address itself, so it must have the same attributes.
    let (table, scope, kind) = match address.is_loopback() {
        true => (libc::RT_TABLE_LOCAL, libc::RT_SCOPE_HOST, libc::RTN_LOCAL),
        false => (libc::RT_TABLE_MAIN, libc::RT_SCOPE_LINK, libc::RTN_UNICAST),
    };
    let mut body = vec![libc::AF_INET as u8, prefix, 0, 0, table, libc::RTPROT_KERNEL, scope, kind, 0, 0, 0, 0];
    append(&mut body, libc::RTA_DST, &network.to_be_bytes());
    append(&mut body, libc::RTA_OIF, &index_of(device)?.to_ne_bytes());
    append(&mut body, libc::RTA_PREFSRC, &address.octets());
    let mut metrics = Vec::new();
    append(&mut metrics, METRIC_LOCK, &(1u32 << METRIC_CONGESTION_CONTROL).to_ne_bytes());
    append(&mut metrics, METRIC_CONGESTION_CONTROL, &[algorithm.as_bytes(), &[0]].concat());
    append(&mut body, METRICS, &metrics);
    request(NEW_ROUTE, CREATE_OR_REPLACE, &body)
}

fn index_of(device: &str) -> io::Result<u32> {
    let any = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    Ok(rustix::net::netdevice::name_to_index(any, device)?)
}

/// Appends an attribute: length, kind, value, and padding to a multiple of four bytes.
fn append(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    body.extend((value.len() as u16 + 4).to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// Sends a request and returns the kernel's answer.
fn request(kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    let mut message = Vec::new();
    message.extend((HEADER_BYTES as u32 + body.len() as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((REQUEST_WITH_ANSWER | flags).to_ne_bytes());
    // Sequence number and sender, not needed for one request on a separate socket.
    message.extend([0; 8]);
    message.extend(body);
    // Protocol 0 of netlink(7) covers routes and devices.
    let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    sendto(&kernel, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0u8; 512];
    recv(&kernel, &mut answer, RecvFlags::empty())?;
    let [a, b, c, d] = [0, 1, 2, 3].map(|place| answer[HEADER_BYTES + place]);
    match i32::from_ne_bytes([a, b, c, d]) {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_padded_and_their_length_is_not() {
        let mut body = Vec::new();
        append(&mut body, 16, b"cubic\0");
        assert_eq!(body, [&10u16.to_ne_bytes()[..], &16u16.to_ne_bytes(), b"cubic\0", &[0, 0]].concat());
    }

    #[test]
    fn a_device_that_is_not_there_cannot_be_changed() {
        assert!(set_queue_length("no-such-device", 1).is_err());
        assert!(set_congestion_control("no-such-device", Ipv4Addr::LOCALHOST, 8, "cubic").is_err());
    }
}
