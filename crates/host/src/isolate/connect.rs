//! Connects an existing socket within a time limit.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Connects. Fails with [`io::ErrorKind::TimedOut`] after `patience`.
pub(super) fn connect_within(socket: OwnedFd, address: SocketAddr, patience: Duration) -> io::Result<TcpStream> {
    rustix::io::ioctl_fionbio(&socket, true)?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS) => await_connection(&socket, Instant::now() + patience)?,
        Err(error) => return Err(error.into()),
    }
    rustix::io::ioctl_fionbio(&socket, false)?;
    Ok(TcpStream::from(socket))
}

fn await_connection(socket: &OwnedFd, deadline: Instant) -> io::Result<()> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&timeout)) {
            Err(Errno::INTR) => {}
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            ready => {
                ready?;
                return Ok(rustix::net::sockopt::socket_error(socket)??);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use rustix::net::{AddressFamily, SocketType};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn socket() -> OwnedFd {
        rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap()
    }

    #[test]
    fn a_socket_is_connected_and_blocks_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = connect_within(socket(), listener.local_addr().unwrap(), PATIENCE).unwrap();
        let server = std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"hello"));
        let mut said = String::new();
        client.read_to_string(&mut said).unwrap();
        assert_eq!(said, "hello");
        server.join().unwrap().unwrap();
    }

    #[test]
    fn without_a_listener_the_connection_is_refused() {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let error = connect_within(socket(), address, PATIENCE).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }
}
