//! The probe of a target before a run: the handshakes of one connection, on a blocking socket.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};

use super::tls::{Failure, Session, TlsClient};
use super::{Stream, h2};
use crate::clock::{Clock, MonotonicNs, SystemClock};

/// Room for what one recv(2) returns of a handshake, and for the bytes that rustls needs in front of it.
const BUFFER_BYTES: usize = 128 * 1024;

/// A connection with a deadline for its handshakes.
pub(super) struct Greeting<'socket> {
    socket: BorrowedFd<'socket>,
    timeout: Duration,
    end: MonotonicNs,
    buffer: Vec<u8>,
    /// Plaintext that arrived with the end of the TLS handshake.
    early: Vec<u8>,
}

impl<'socket> Greeting<'socket> {
    pub fn new(socket: BorrowedFd<'socket>, timeout: Duration) -> Greeting<'socket> {
        let end = SystemClock.now() + timeout;
        Greeting { socket, timeout, end, buffer: vec![0; BUFFER_BYTES], early: Vec::new() }
    }

    /// Performs the TLS handshake. The error is the reason why it failed or timed out.
    pub fn shake_hands(&mut self, client: &TlsClient) -> Result<Session, String> {
        let explain = |failure: Failure| failure.explain();
        let mut session = Session::new(client).map_err(explain)?;
        loop {
            self.wait_no_longer("handshake")?;
            if let Some(plain) = session.shake_hands_and_listen(self.socket, &mut self.buffer).map_err(explain)? {
                self.early.extend_from_slice(&self.buffer[..plain]);
                return Ok(session);
            }
        }
    }

    /// Exchanges the first HTTP/2 frames. The error is the reason why the target did not agree.
    pub fn agree(&mut self, mut session: Option<&mut Session>) -> Result<(), String> {
        if session.as_ref().is_some_and(|session| !session.has_chosen_http2()) {
            return Err("it does not choose it in TLS's handshake (h2 by ALPN); leave out --http2".to_owned());
        }
        self.send(session.as_deref_mut(), h2::HELLO)?;
        let mut word = std::mem::take(&mut self.early);
        while word.len() < h2::HEAD_BYTES {
            self.wait_no_longer("word of HTTP/2")?;
            match self.receive(session.as_deref_mut())? {
                Stream::Bytes(bytes) => word.extend_from_slice(&self.buffer[..bytes]),
                Stream::Nothing | Stream::Discarded(_) => {}
                Stream::End | Stream::Truncated => break,
            }
        }
        h2::judge(&word)
    }

    fn send(&mut self, session: Option<&mut Session>, bytes: &[u8]) -> Result<(), String> {
        self.wait_no_longer("room for a greeting")?;
        match session {
            Some(session) => {
                session.send(self.socket, bytes, usize::MAX).map(drop).map_err(|failure| failure.explain())
            }
            None => send(self.socket, bytes, SendFlags::NOSIGNAL).map(drop).map_err(|errno| errno.to_string()),
        }
    }

    fn receive(&mut self, session: Option<&mut Session>) -> Result<Stream, String> {
        if let Some(session) = session {
            return session.receive(self.socket, &mut self.buffer, usize::MAX).map_err(|failure| failure.explain());
        }
        match recv(self.socket, &mut *self.buffer, RecvFlags::empty()) {
            Ok((0, _)) | Err(Errno::CONNRESET) => Ok(Stream::End),
            Ok((bytes, _)) => Ok(Stream::Bytes(bytes)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Stream::Nothing),
            Err(errno) => Err(errno.to_string()),
        }
    }

    /// Limits the next call to the remaining time.
    fn wait_no_longer(&self, what: &str) -> Result<(), String> {
        let left = self.end.since(SystemClock.now());
        if left.is_zero() {
            return Err(format!("no {what} within {} s", self.timeout.as_secs_f64()));
        }
        for timeout in [sockopt::Timeout::Recv, sockopt::Timeout::Send] {
            sockopt::set_socket_timeout(self.socket, timeout, Some(left)).map_err(|errno| errno.to_string())?;
        }
        Ok(())
    }
}
