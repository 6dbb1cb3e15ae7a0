//! Opens connections.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, ipproto, socket_with, sockopt};

use crate::error::LoadError;
use crate::fault::Fault;
use crate::options::{ConnectionPolicy, Options};
use crate::sys;

/// Opens connections to one target.
#[derive(Debug)]
pub(crate) struct Connector {
    target: SocketAddr,
    /// Source addresses used in turn; none leaves the choice to the system.
    sources: Vec<Ipv4Addr>,
    opened: usize,
}

impl Connector {
    pub fn new(target: SocketAddr, options: &Options) -> Connector {
        let count = match (options.connection, target.ip()) {
            (ConnectionPolicy::PerRequest, IpAddr::V4(ip)) if ip.is_loopback() => options.source_addresses,
            _ => 0,
        };
        Connector::from_sources(target, (1..=count).map(|last| Ipv4Addr::new(127, 0, 0, last)).collect())
    }

    fn from_sources(target: SocketAddr, sources: Vec<Ipv4Addr>) -> Connector {
        Connector { target, sources, opened: 0 }
    }

    pub fn source_addresses(&self) -> u32 {
        self.sources.len() as u32
    }

    /// Tries one connection, waiting for it, so that a run against nothing ends before it begins.
    pub fn probe(&self, timeout: Duration) -> Result<(), LoadError> {
        TcpStream::connect_timeout(&self.target, timeout)
            .map(drop)
            .map_err(|source| LoadError::Unreachable { address: self.target, source })
    }

    /// Begins a connection. Sending on it tells whether it is established.
    pub fn open(&mut self) -> Result<OwnedFd, Fault> {
        let family = if self.target.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))
            .map_err(|errno| Fault::of_connecting("open a socket", errno))?;
        // A request is one write, so there is nothing to collect by waiting.
        sockopt::set_tcp_nodelay(&socket, true).map_err(|errno| Fault::of_connecting("set TCP_NODELAY", errno))?;
        if !self.sources.is_empty() {
            let source = self.sources[self.opened % self.sources.len()];
            self.opened = self.opened.wrapping_add(1);
            bind_source(&socket, source).map_err(|errno| Fault::Local { doing: "bind a source address", errno })?;
        }
        match connect(&socket, &self.target) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
            Err(errno) => Err(Fault::of_connecting("connect", errno)),
        }
    }
}

fn bind_source(socket: &OwnedFd, source: Ipv4Addr) -> Result<(), Errno> {
    sys::bind_address_no_port(socket.as_fd())?;
    bind(socket, &SocketAddr::from((source, 0)))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::fault::ErrorClass;

    fn options(connection: ConnectionPolicy) -> Options {
        let mut options = Options::new("http://127.0.0.1:1/").unwrap();
        options.connection = connection;
        options.source_addresses = 3;
        options
    }

    #[test]
    fn source_addresses_take_turns_with_a_connection_per_request() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut connector = Connector::new(listener.local_addr().unwrap(), &options(ConnectionPolicy::PerRequest));
        let mut sources = Vec::new();
        for _ in 0..4 {
            let _socket = connector.open().unwrap();
            sources.push(listener.accept().unwrap().1.ip().to_string());
        }
        assert_eq!(sources, ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.1"]);
    }

    #[test]
    fn the_system_chooses_the_source_of_kept_connections_and_towards_other_machines() {
        let loopback = "127.0.0.1:1".parse().unwrap();
        assert_eq!(Connector::new(loopback, &options(ConnectionPolicy::KeepAlive)).source_addresses(), 0);
        let elsewhere = "192.0.2.1:1".parse().unwrap();
        assert_eq!(Connector::new(elsewhere, &options(ConnectionPolicy::PerRequest)).source_addresses(), 0);
    }

    #[test]
    fn a_source_address_this_machine_does_not_have_is_our_own_fault() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let foreign = vec![Ipv4Addr::new(192, 0, 2, 1)];
        let mut connector = Connector::from_sources(listener.local_addr().unwrap(), foreign);
        let fault = connector.open().unwrap_err();
        assert_eq!(fault.class(), ErrorClass::Local);
        assert!(fault.to_string().contains("bind a source address"), "{fault}");
    }
}
