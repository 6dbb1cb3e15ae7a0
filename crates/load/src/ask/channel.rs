//! A connection of a probe, with or without TLS.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

use rustls::{ClientConnection, StreamOwned};

use super::{LOOK, ProbeError, ProbeTarget};
use crate::transport::tls::{HTTP_2, probing};

pub(super) enum Channel {
    Plain(TcpStream),
    Encrypted(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Channel {
    /// Performs the handshake if the server uses TLS; `None` if it takes too long.
    pub fn open(
        socket: TcpStream,
        server: ProbeTarget<'_>,
        is_late: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, ProbeError> {
        if !server.speech.tls {
            return Ok(Some(Self::Plain(socket)));
        }
        socket.set_read_timeout(Some(LOOK))?;
        let tls = probing(server.address.ip(), server.speech.http2).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(tls, socket);
        while stream.conn.is_handshaking() {
            match stream.conn.complete_io(&mut stream.sock) {
                Err(error) if !is_patient(&error) => return Err(error.into()),
                Err(_) if is_late() => return Ok(None),
                _ => {}
            }
        }
        if server.speech.http2 && stream.conn.alpn_protocol() != Some(HTTP_2) {
            return Err(ProbeError::NoHttp2);
        }
        Ok(Some(Self::Encrypted(Box::new(stream))))
    }

    pub fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Encrypted(stream) => &stream.sock,
        }
    }
}

/// Whether the error only means that there is no data yet.
pub(super) fn is_patient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Encrypted(stream) => stream.read(buffer),
        }
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Encrypted(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Encrypted(stream) => stream.flush(),
        }
    }
}
