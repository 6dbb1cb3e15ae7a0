//! Connections over TCP and over sockets in the file system, which a script can treat alike.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

pub(crate) enum Listener {
    Inet(TcpListener),
    Unix(UnixListener, PathBuf),
}

pub(crate) enum Place {
    Inet(SocketAddr),
    Unix(PathBuf),
}

pub(crate) enum Stream {
    Inet(TcpStream),
    Unix(UnixStream),
}

impl Listener {
    /// On 127.0.0.1 and a free port.
    pub fn on_loopback() -> Listener {
        Listener::Inet(TcpListener::bind("127.0.0.1:0").expect("the loopback has a free port"))
    }

    pub fn on_path(path: &Path) -> Listener {
        Listener::Unix(UnixListener::bind(path).expect("the path is free and its folder writable"), path.to_owned())
    }

    pub fn place(&self) -> Place {
        match self {
            Listener::Inet(listener) => Place::Inet(listener.local_addr().expect("a bound socket has an address")),
            Listener::Unix(_, path) => Place::Unix(path.clone()),
        }
    }

    /// The next connection and its source. A client on a Unix socket counts as the loopback.
    pub fn accept(&self) -> io::Result<(Stream, IpAddr)> {
        match self {
            Listener::Inet(listener) => {
                let (stream, peer) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok((Stream::Inet(stream), peer.ip()))
            }
            Listener::Unix(listener, _) => Ok((Stream::Unix(listener.accept()?.0), Ipv4Addr::LOCALHOST.into())),
        }
    }
}

impl Place {
    /// Wakes the accepting thread.
    pub fn knock(&self) {
        // If connecting fails, no thread accepts any more.
        match self {
            Place::Inet(address) => drop(TcpStream::connect(address)),
            Place::Unix(path) => drop(UnixStream::connect(path)),
        }
    }
}

impl Stream {
    pub fn try_clone(&self) -> io::Result<Stream> {
        match self {
            Stream::Inet(stream) => stream.try_clone().map(Stream::Inet),
            Stream::Unix(stream) => stream.try_clone().map(Stream::Unix),
        }
    }

    pub fn shutdown(&self) {
        // The client may have closed the connection already; then nothing is left to do.
        let _ = match self {
            Stream::Inet(stream) => stream.shutdown(Shutdown::Both),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Inet(stream) => stream.as_fd(),
            Stream::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Inet(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Inet(stream) => stream.write(buffer),
            Stream::Unix(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
