//! What makes a counter of a packet socket: a filter, a binding, and the kernel's statistics.
//!
//! A socket that no one reads is full after a packet or two. The kernel counts what it then drops like what it keeps, so a
//! packet costs little more than the filter's run, and none is copied.
//!
//! The sockets ask for packets of every protocol, though only IPv4 counts: the kernel shows a packet to such sockets before it
//! gives it to its protocol. So an answer is counted before the client can have it. Sockets of one protocol may have their turn
//! after it, and the kernel then duplicates each packet for their sake: that cost twice as much where it was tried (Linux 6.18).
#![allow(unsafe_code, reason = "filters, addresses and statistics of packet sockets have no safe wrapper in rustix")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};

use libc::{c_int, c_void, sock_filter, sock_fprog, sockaddr_ll, socklen_t, tpacket_stats};
use rustix::net::sockopt::set_socket_recv_buffer_size;

/// Has a packet socket that sees nothing so far (its protocol is 0) count the packets that this program accepts, when they
/// are received by any device of the socket's network namespace. What is sent is not seen, so that a packet on the loopback
/// device counts once.
pub(super) fn count(socket: &OwnedFd, program: &[sock_filter]) -> io::Result<()> {
    let filter = sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: the value points to as many instructions as it says, which live as long as the call; the kernel copies them, and
    // writes none.
    unsafe { set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter) }?;
    let yes: c_int = 1;
    // SAFETY: the value is a number.
    unsafe { set(socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &yes) }?;
    // The kernel makes the least of it that it allows.
    set_socket_recv_buffer_size(socket, 0)?;
    bind(socket)
}

/// Sets an option of a socket.
///
/// # Safety
///
/// The value is what this option takes, and whatever it points to lives as long as the call.
unsafe fn set<T>(socket: &OwnedFd, level: c_int, option: c_int, value: &T) -> io::Result<()> {
    let (value, length) = ((&raw const *value).cast::<c_void>(), size_of::<T>() as socklen_t);
    // SAFETY: the kernel reads as many bytes as the value has; the rest is the caller's word.
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

/// Packets since the last call, dropped ones included; the kernel begins again with each.
pub(super) fn counted(socket: &OwnedFd) -> io::Result<u32> {
    let mut statistics = MaybeUninit::<tpacket_stats>::zeroed();
    let mut length = size_of::<tpacket_stats>() as socklen_t;
    // SAFETY: the kernel writes at most as many bytes as the length says, which are those of the structure. It consists of
    // two numbers that are zero before, so whatever was written, it is valid.
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
