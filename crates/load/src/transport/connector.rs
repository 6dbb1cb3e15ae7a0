//! Opens connections.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, ipproto, socket_with, sockopt,
};

use super::greeting::Greeting;
use super::tls::TlsClient;
use crate::error::LoadError;
use crate::fault::Fault;
use crate::options::{Options, Protocol, Sources};
use crate::sys;

/// A request with a smaller body fits into one segment on any network.
const SMALL_REQUEST_BYTES: usize = 512;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// Over TCP.
    Inet(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Inet(address) => address.fmt(f),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Connector {
    target: Address,
    tls: Option<TlsClient>,
    http2: bool,
    /// Source addresses to use in turn; if empty, the system chooses.
    sources: Vec<IpAddr>,
    /// Lets the system choose as long as it has a port: binding costs two system calls per connection.
    only_if_ports_run_out: bool,
    opened: usize,
    congestion_control: Option<String>,
    /// The smallest sufficient receive buffer for slow readers: a large one would take bytes off the target early.
    receive_buffer_bytes: Option<usize>,
    /// Connections carry several requests, or one that needs several segments.
    sends_more_than_once: bool,
}

impl Connector {
    pub fn new(target: Address, options: &Options) -> Connector {
        let sources = match (&options.sources, &target) {
            (Sources::Listed(addresses), Address::Inet(_)) => addresses.clone(),
            // Only connections that are closed again use up ports.
            (Sources::Rotated(count), Address::Inet(address))
                if address.is_ipv4()
                    && address.ip().is_loopback()
                    && options.connection.requests_per_connection().is_some() =>
            {
                (1..=*count).map(|last| Ipv4Addr::new(127, 0, 0, last).into()).collect()
            }
            _ => Vec::new(),
        };
        let receive_buffer_bytes =
            options.pace.read_bytes_per_s.map(|rate| usize::try_from(rate).unwrap_or(usize::MAX).clamp(2_048, 1 << 20));
        let congestion_control = options.generator.congestion_control.clone();
        let small = options.requests.iter().all(|request| request.body.len() < SMALL_REQUEST_BYTES);
        let sends_more_than_once = options.connection.requests_per_connection() != Some(1)
            || matches!(options.protocol, Protocol::Http2 { .. })
            || options.pace.write_bytes_per_s.is_some()
            || !small;
        Connector {
            target,
            tls: None,
            http2: matches!(options.protocol, Protocol::Http2 { .. }),
            sources,
            only_if_ports_run_out: matches!(options.sources, Sources::Rotated(_)),
            opened: 0,
            congestion_control,
            receive_buffer_bytes,
            sends_more_than_once,
        }
    }

    /// Sets or removes TLS.
    pub fn with_tls(self, tls: Option<TlsClient>) -> Connector {
        // A handshake needs several sends.
        let sends_more_than_once = self.sends_more_than_once || tls.is_some();
        Connector { tls, sends_more_than_once, ..self }
    }

    /// A copy for one of several threads, which starts with a different source address.
    pub fn for_thread(&self, thread: u32) -> Connector {
        Connector { opened: thread as usize, ..self.clone() }
    }

    pub fn source_addresses(&self) -> u32 {
        self.sources.len() as u32
    }

    pub fn target(&self) -> &Address {
        &self.target
    }

    pub fn tls(&self) -> Option<&TlsClient> {
        self.tls.as_ref()
    }

    /// Opens one connection and waits for it, including the TLS handshake and the target's first HTTP/2 frame. So a run without a target,
    /// or with an untrusted certificate, fails before it starts. Returns the congestion control of connections.
    pub fn probe(&self, timeout: Duration) -> Result<Option<String>, LoadError> {
        let unreachable = |source| LoadError::Unreachable { address: self.target.to_string(), source };
        match &self.target {
            Address::Unix(path) => {
                let stream = UnixStream::connect(path).map_err(unreachable)?;
                self.probe_protocols(stream.as_fd(), timeout).map(|()| None)
            }
            Address::Inet(address) => {
                let stream = TcpStream::connect_timeout(address, timeout).map_err(unreachable)?;
                self.check_congestion_control(&stream)?;
                self.probe_protocols(stream.as_fd(), timeout)?;
                Ok(sockopt::tcp_congestion(&stream).ok())
            }
        }
    }

    fn probe_protocols(&self, socket: BorrowedFd<'_>, timeout: Duration) -> Result<(), LoadError> {
        let address = || self.target.to_string();
        let mut greeting = Greeting::new(socket, timeout);
        let session = self.tls.as_ref().map(|client| greeting.shake_hands(client)).transpose();
        let mut session = session.map_err(|reason| LoadError::Tls { address: address(), reason })?;
        if self.http2 {
            greeting.agree(session.as_mut()).map_err(|reason| LoadError::Http2 { address: address(), reason })?;
        }
        if let Some(session) = &mut session {
            session.say_close(socket);
        }
        Ok(())
    }

    fn check_congestion_control(&self, stream: &TcpStream) -> Result<(), LoadError> {
        let Some(name) = &self.congestion_control else { return Ok(()) };
        sockopt::set_tcp_congestion(stream, name).map_err(|errno| LoadError::Option {
            option: "congestion",
            reason: format!(
                "the kernel refuses `{name}` ({errno}); see /proc/sys/net/ipv4/tcp_available_congestion_control for its own"
            ),
        })
    }

    /// Starts a connection for a slow or fast client. Sending on it shows whether it is established.
    pub fn open(&mut self, is_slow: bool) -> Result<OwnedFd, Fault> {
        self.open_by(is_slow, &|socket, target| connect(socket, target))
    }

    /// The same with a replacement for connect(2), for targets over TCP.
    fn open_by<C>(&mut self, is_slow: bool, connect_inet: &C) -> Result<OwnedFd, Fault>
    where
        C: Fn(&OwnedFd, &SocketAddr) -> Result<(), Errno>,
    {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let opened = |errno| Fault::of_connecting("open a socket", errno);
        let target = match &self.target {
            Address::Inet(target) => *target,
            Address::Unix(path) => {
                let address = SocketAddrUnix::new(path).map_err(opened)?;
                let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(opened)?;
                self.shrink(&socket, is_slow)?;
                // Here EAGAIN means that the target's queue of connections is full, not that local ports ran out.
                return match connect(&socket, &address) {
                    Ok(()) => Ok(socket),
                    Err(Errno::AGAIN) => Err(Fault::Connect(Errno::AGAIN)),
                    Err(errno) => Err(Fault::of_connecting("connect", errno)),
                };
            }
        };
        let family = if target.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP)).map_err(opened)?;
        // The first write goes out immediately; only later writes would wait for acknowledgements.
        if self.sends_more_than_once {
            sockopt::set_tcp_nodelay(&socket, true).map_err(|errno| Fault::of_connecting("set TCP_NODELAY", errno))?;
        }
        if let Some(name) = &self.congestion_control {
            sockopt::set_tcp_congestion(&socket, name)
                .map_err(|errno| Fault::Local { doing: "set the congestion control", errno })?;
        }
        self.shrink(&socket, is_slow)?;
        if !self.sources.is_empty() && !self.only_if_ports_run_out {
            let source = self.sources[self.opened % self.sources.len()];
            self.opened = self.opened.wrapping_add(1);
            bind_source(&socket, source).map_err(|errno| Fault::Local { doing: "bind a source address", errno })?;
        }
        match connect_inet(&socket, &target) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
            Err(Errno::ADDRNOTAVAIL | Errno::AGAIN) if self.only_if_ports_run_out && !self.sources.is_empty() => {
                self.only_if_ports_run_out = false;
                self.open_by(is_slow, connect_inet)
            }
            Err(errno) => Err(Fault::of_connecting("connect", errno)),
        }
    }

    fn shrink(&self, socket: &OwnedFd, is_slow: bool) -> Result<(), Fault> {
        let Some(bytes) = self.receive_buffer_bytes.filter(|_| is_slow) else { return Ok(()) };
        sockopt::set_socket_recv_buffer_size(socket, bytes)
            .map_err(|errno| Fault::Local { doing: "set the receive buffer", errno })
    }
}

fn bind_source(socket: &OwnedFd, source: IpAddr) -> Result<(), Errno> {
    sys::bind_address_no_port(socket.as_fd())?;
    bind(socket, &SocketAddr::from((source, 0)))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::net::TcpListener;

    use super::*;
    use crate::fault::ErrorClass;
    use crate::options::ConnectionPolicy;

    fn options(connection: ConnectionPolicy) -> Options {
        let mut options = Options::new("http://127.0.0.1:1/").unwrap();
        options.connection = connection;
        options.sources = Sources::Rotated(3);
        options
    }

    fn listener() -> (TcpListener, Address) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Inet(listener.local_addr().unwrap());
        (listener, address)
    }

    #[test]
    fn source_addresses_take_turns_where_connections_are_closed_again() {
        let few = ConnectionPolicy::Requests { requests_per_connection: 7 };
        for policy in [ConnectionPolicy::PerRequest, few] {
            let (listener, address) = listener();
            let mut connector = Connector::new(address, &options(policy)).for_thread(1);
            connector.only_if_ports_run_out = false;
            let sources: Vec<String> = (0..4)
                .map(|_| {
                    let _socket = connector.open(true).unwrap();
                    listener.accept().unwrap().1.ip().to_string()
                })
                .collect();
            assert_eq!(sources, ["127.0.0.2", "127.0.0.3", "127.0.0.1", "127.0.0.2"]);
        }
    }

    /// connect(2) returns one of these when the ports of a source address are used up.
    #[test]
    fn source_addresses_take_turns_from_when_the_ports_have_run_out() {
        for errno in [Errno::ADDRNOTAVAIL, Errno::AGAIN] {
            let (listener, address) = listener();
            let mut connector = Connector::new(address, &options(ConnectionPolicy::PerRequest));
            let left = Cell::new(2);
            let attempts = Cell::new(0);
            // A socket not bound to a source address would get one of the system's remaining ports.
            let few_ports = |socket: &OwnedFd, target: &SocketAddr| {
                attempts.set(attempts.get() + 1);
                let bound = SocketAddr::try_from(rustix::net::getsockname(socket)?)?.ip() != Ipv4Addr::UNSPECIFIED;
                match left.get() {
                    0 if !bound => Err(errno),
                    ports => {
                        left.set(if bound { ports } else { ports - 1 });
                        connect(socket, target)
                    }
                }
            };
            let sources: Vec<String> = (0..5)
                .map(|_| {
                    let _socket = connector.open_by(true, &few_ports).unwrap();
                    listener.accept().unwrap().1.ip().to_string()
                })
                .collect();
            assert_eq!(sources, ["127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.2", "127.0.0.3"], "{errno:?}");
            // It was refused once, and did not ask for a system-chosen port again.
            assert_eq!(attempts.get(), 6);
        }
    }

    #[test]
    fn ports_that_have_run_out_everywhere_are_our_own_fault() {
        let (_listener, address) = listener();
        let mut connector = Connector::new(address, &options(ConnectionPolicy::PerRequest));
        let none_left = |_: &OwnedFd, _: &SocketAddr| Err(Errno::ADDRNOTAVAIL);
        for _ in 0..2 {
            let fault = connector.open_by(true, &none_left).unwrap_err();
            assert_eq!(fault, Fault::Local { doing: "connect", errno: Errno::ADDRNOTAVAIL });
        }
    }

    #[test]
    fn the_system_chooses_the_source_of_kept_connections_and_towards_other_machines() {
        let inet = |text: &str| Address::Inet(text.parse().unwrap());
        let sources = |target, policy| Connector::new(target, &options(policy)).source_addresses();
        assert_eq!(sources(inet("127.0.0.1:1"), ConnectionPolicy::KeepAlive), 0);
        assert_eq!(sources(inet("192.0.2.1:1"), ConnectionPolicy::PerRequest), 0);
        assert_eq!(sources(inet("127.0.0.1:1"), ConnectionPolicy::PerRequest), 3);
    }

    #[test]
    fn a_source_address_this_machine_does_not_have_is_our_own_fault() {
        let (_listener, address) = listener();
        let mut options = options(ConnectionPolicy::KeepAlive);
        options.sources = Sources::Listed(vec!["192.0.2.1".parse().unwrap()]);
        let fault = Connector::new(address, &options).open(true).unwrap_err();
        assert_eq!(fault.class(), ErrorClass::Local);
        assert!(fault.to_string().contains("bind a source address"), "{fault}");
    }

    #[test]
    fn a_congestion_control_that_the_kernel_does_not_have_is_refused_before_the_run() {
        let (_listener, address) = listener();
        let mut options = options(ConnectionPolicy::KeepAlive);
        options.generator.congestion_control = Some("nonsense".into());
        let error = Connector::new(address.clone(), &options).probe(Duration::from_secs(5)).unwrap_err();
        assert!(error.to_string().contains("the kernel refuses `nonsense`"), "{error}");
        options.generator.congestion_control = Some("reno".into());
        assert_eq!(Connector::new(address, &options).probe(Duration::from_secs(5)).unwrap(), Some("reno".into()));
    }
}
