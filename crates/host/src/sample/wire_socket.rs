//! Turns a packet socket into a counter: a filter, a binding, and the kernel's statistics.
//!
//! A socket that no process reads is full after a packet or two. The kernel counts packets that it then drops like
//! those it keeps. So a packet costs little more than the filter's run, and none is copied.
//!
//! The sockets request packets of every protocol, though only IPv4 counts. The kernel shows packets to such sockets
//! before it passes them to their protocol, so a response is counted before the client can have it. Sockets of one
//! protocol may come after it, and the kernel then duplicates each packet for them. That cost twice as much in a test
//! (Linux 6.18).
#![allow(unsafe_code, reason = "filters, addresses and statistics of packet sockets have no safe wrapper in rustix")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};

use libc::{c_int, c_void, sock_filter, sock_fprog, sockaddr_ll, socklen_t, tpacket_stats};
use rustix::net::sockopt::set_socket_recv_buffer_size;

/// Makes a packet socket that sees nothing so far (its protocol is 0) count the packets that this program accepts, when
/// any device of the socket's network namespace receives them. Sent packets are not seen, so a packet on the loopback
/// device counts once.
pub(super) fn count(socket: &OwnedFd, program: &[sock_filter]) -> io::Result<()> {
    let filter = sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: the value points to as many instructions as it states, which live as long as the call. The kernel copies
    // them and writes none.
    unsafe { set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter) }?;
    let yes: c_int = 1;
    // SAFETY: the value is a number.
    unsafe { set(socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &yes) }?;
    // The kernel uses the smallest size that it allows.
    set_socket_recv_buffer_size(socket, 0)?;
    bind(socket)
}

/// Sets an option of a socket.
///
/// # Safety
///
/// The value must have the type that this option takes, and what it points to must live as long as the call.
unsafe fn set<T>(socket: &OwnedFd, level: c_int, option: c_int, value: &T) -> io::Result<()> {
    let (value, length) = ((&raw const *value).cast::<c_void>(), size_of::<T>() as socklen_t);
    // SAFETY: the kernel reads as many bytes as the value has. The caller guarantees the rest.
    succeeded(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value, length) })
}

fn bind(socket: &OwnedFd) -> io::Result<()> {
    let every_device = 0;
    let address = sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: every_device,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    // SAFETY: the address is a structure of that length, which is only read, and lives as long as the call.
    let answer =
        unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size_of::<sockaddr_ll>() as socklen_t) };
    succeeded(answer)
}

/// Packets since the last call, including dropped ones. The kernel resets the count at each call.
pub(super) fn counted(socket: &OwnedFd) -> io::Result<u32> {
    let mut statistics = MaybeUninit::<tpacket_stats>::zeroed();
    let mut length = size_of::<tpacket_stats>() as socklen_t;
    // SAFETY: the kernel writes at most as many bytes as the length states, which is the size of the structure. It
    // consists of numbers that are zero before, so it is valid whatever was written.
    let (answer, statistics) = unsafe {
        let value = statistics.as_mut_ptr().cast::<c_void>();
        let answer =
            libc::getsockopt(socket.as_raw_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS, value, &raw mut length);
        (answer, statistics.assume_init())
    };
    succeeded(answer)?;
    Ok(statistics.tp_packets)
}

fn succeeded(answer: c_int) -> io::Result<()> {
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_of_another_kind_is_an_error() {
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let socket = OwnedFd::from(socket);
        assert!(counted(&socket).is_err());
        assert!(count(&socket, &super::super::wire_filter::program(80, false)).is_err());
    }
}
