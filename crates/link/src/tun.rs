//! TUN devices: network devices whose other side is a file descriptor.
//!
//! Everything here acts in the network namespace of the calling thread. A device belongs to the namespace in which it was opened. The
//! namespace lives as long as the descriptor is open; then both disappear.
#![allow(unsafe_code, reason = "ioctl(2) is unsafe, and the calls for network devices have no safe wrapper")]

use std::ffi::{c_int, c_short};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{IntegerSetter, Opcode, Updater, ioctl, opcode};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

pub use crate::netlink::set_congestion_control;
use crate::netlink::set_queue_length;

const TUN_SET_INTERFACE: Opcode = opcode::write::<c_int>(b'T', 202);
const TUN_SET_OFFLOAD: Opcode = opcode::write::<std::ffi::c_uint>(b'T', 208);
const TUN_GET_INTERFACE: Opcode = opcode::read::<std::ffi::c_uint>(b'T', 210);
const SET_ADDRESS: Opcode = libc::SIOCSIFADDR as Opcode;
const SET_NETMASK: Opcode = libc::SIOCSIFNETMASK as Opcode;
const SET_MTU: Opcode = libc::SIOCSIFMTU as Opcode;
const GET_FLAGS: Opcode = libc::SIOCGIFFLAGS as Opcode;
const SET_FLAGS: Opcode = libc::SIOCSIFFLAGS as Opcode;

/// Bytes before each packet of a device with offload: `struct virtio_net_hdr`. It describes how to split the packet and where its checksum
/// belongs.
pub const OFFLOAD_HEADER_BYTES: usize = 10;

/// Checksums and TCP segments that the kernel may leave unfinished; the link hands them to a kernel again.
const UNFINISHED: usize = (libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN) as usize;
/// Packets that may wait in the device until the link reads them. The kernel's default of 500 is less than a TCP window. Packets dropped
/// there would be lost without being counted by the link.
pub(crate) const QUEUE_PACKETS: u32 = 8_192;

/// `struct ifreq`: a name and a union.
#[repr(C)]
#[derive(Clone, Copy)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    value: [u8; 24],
}

/// Creates a TUN device in the calling thread's network namespace. The descriptor is non-blocking, and programs started later do not
/// inherit it by default. With `offload`, the kernel hands over up to 64 KiB in one piece, after a header of [`OFFLOAD_HEADER_BYTES`].
pub fn open(name: &str, offload: bool) -> io::Result<OwnedFd> {
    let device = rustix::fs::open(c"/dev/net/tun", OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    let header = if offload { libc::IFF_VNET_HDR } else { 0 };
    let mut request =
        Request::named(name)?.with(&((libc::IFF_TUN | libc::IFF_NO_PI | header) as c_short).to_ne_bytes());
    ask::<TUN_SET_INTERFACE>(&device, &mut request)?;
    if offload {
        // SAFETY: TUNSETOFFLOAD takes a number.
        unsafe { ioctl(&device, IntegerSetter::<TUN_SET_OFFLOAD>::new_usize(UNFINISHED)) }?;
    }
    Ok(device)
}

/// Whether a TUN device was opened with offload; an error if the descriptor is not a TUN device.
pub fn has_offload(device: impl AsFd) -> io::Result<bool> {
    let mut request = Request { name: [0; libc::IFNAMSIZ], value: [0; 24] };
    ask::<TUN_GET_INTERFACE>(device, &mut request)?;
    Ok(c_int::from(request.flags()) & libc::IFF_VNET_HDR != 0)
}

/// The name of a TUN device.
pub(crate) fn name(device: impl AsFd) -> io::Result<String> {
    let mut request = Request { name: [0; libc::IFNAMSIZ], value: [0; 24] };
    ask::<TUN_GET_INTERFACE>(device, &mut request)?;
    let bytes = request.name.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// Sets a device's address and MTU, and switches it on. Addresses with the same first `prefix` bits are reached through it. Disables IPv6
/// on it if possible, because the kernel would send packets of its own.
pub fn configure(name: &str, address: Ipv4Addr, prefix: u8, mtu_bytes: u32) -> io::Result<()> {
    let control = control_socket()?;
    let mask = u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0);
    let request = Request::named(name)?;
    ask::<SET_MTU>(&control, &mut request.with(&(mtu_bytes as c_int).to_ne_bytes()))?;
    set_queue_length(name, QUEUE_PACKETS)?;
    // Read-only in some containers, and absent without IPv6.
    let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
    ask::<SET_ADDRESS>(&control, &mut request.with(&internet_address(address)))?;
    ask::<SET_NETMASK>(&control, &mut request.with(&internet_address(Ipv4Addr::from_bits(mask))))?;
    up(name)
}

/// Switches a device on, for example `lo`, which is off in a new namespace.
pub fn up(name: &str) -> io::Result<()> {
    let control = control_socket()?;
    let mut request = Request::named(name)?;
    ask::<GET_FLAGS>(&control, &mut request)?;
    let flags = request.flags() | libc::IFF_UP as c_short;
    ask::<SET_FLAGS>(&control, &mut request.with(&flags.to_ne_bytes()))?;
    Ok(())
}

/// Any socket works for requests about network devices.
fn control_socket() -> Result<OwnedFd, Errno> {
    socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
}

/// Performs one of the requests above. All of them read or write only a `struct ifreq`.
fn ask<const OPCODE: Opcode>(file: impl AsFd, request: &mut Request) -> Result<(), Errno> {
    // SAFETY: `Request` has the layout of a `struct ifreq`, which is what each opcode in this module takes, and it is
    // borrowed for the whole call.
    unsafe { ioctl(file, Updater::<OPCODE, Request>::new(request)) }
}

/// `struct sockaddr_in` without a port.
fn internet_address(address: Ipv4Addr) -> [u8; 8] {
    let [family_low, family_high] = (libc::AF_INET as u16).to_ne_bytes();
    let [a, b, c, d] = address.octets();
    [family_low, family_high, 0, 0, a, b, c, d]
}

impl Request {
    fn named(name: &str) -> io::Result<Request> {
        let mut request = Request { name: [0; libc::IFNAMSIZ], value: [0; 24] };
        // The last byte stays zero as the terminator.
        if name.is_empty() || name.len() >= libc::IFNAMSIZ {
            let reason = format!("the name {name:?} of a network device must have 1 to {} bytes", libc::IFNAMSIZ - 1);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        Ok(request)
    }

    fn with(mut self, value: &[u8]) -> Request {
        self.value[..value.len()].copy_from_slice(value);
        self
    }

    fn flags(&self) -> c_short {
        c_short::from_ne_bytes([self.value[0], self.value[1]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_is_the_kernels() {
        assert_eq!(size_of::<Request>(), size_of::<libc::ifreq>());
        assert_eq!(libc::Ioctl::from(TUN_SET_INTERFACE), libc::TUNSETIFF);
        assert_eq!(libc::Ioctl::from(TUN_SET_OFFLOAD), libc::TUNSETOFFLOAD);
        assert_eq!(libc::Ioctl::from(TUN_GET_INTERFACE), libc::TUNGETIFF);
    }

    #[test]
    fn invalid_names_are_refused() {
        for name in ["", "a-name-of-16-byte"] {
            let error = open(name, false).unwrap_err();
            let named = error.to_string().contains("1 to 15 bytes");
            // Without /dev/net/tun, the name is never checked.
            assert!(named || error.kind() != io::ErrorKind::InvalidInput, "{error}");
        }
    }

    #[test]
    fn files_and_unknown_names_are_not_taken_for_devices() {
        assert!(has_offload(tempfile::tempfile().unwrap()).is_err());
        assert!(up("no-such-device").is_err());
    }
}
