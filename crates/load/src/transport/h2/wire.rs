//! A pollable socket, with or without TLS. It wakes no task: the event queue signals when to poll again.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::fault::{Fault, TlsFault};
use crate::transport::Stream;
use crate::transport::connection::{of_first, of_receiving};
use crate::transport::tls::Session;

/// Bytes that a carrier receives before others get their turn. This also limits what h2 buffers before it is processed: a frame of one byte
/// takes a hundred.
const TURN_BYTES: usize = 256 << 10;

/// State of a wire, visible from outside while the connection owns the wire.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    /// Bytes since the last call, before encryption and after decryption.
    pub received: Cell<usize>,
    pub sent: Cell<usize>,
    /// Whether the kernel did not take all bytes.
    pub blocked: Cell<bool>,
    /// Whether there may be bytes to read.
    pub readable: Cell<bool>,
    /// Whether the target has ended the stream; the event queue reports that only once.
    pub ended: Cell<bool>,
    /// Bytes received in the carrier's current turn.
    pub of_turn: Cell<usize>,
    /// Whether any bytes were taken, so the connection is established.
    pub established: Cell<bool>,
    /// The fault that ended it.
    pub fault: Cell<Option<Fault>>,
}

pub(super) struct Wire {
    socket: Rc<OwnedFd>,
    tls: Option<Box<Session>>,
    gauge: Rc<Gauge>,
    /// For ciphertext; shared by all wires of a thread.
    buffer: Rc<RefCell<Vec<u8>>>,
    /// Plaintext; the first `fetched` bytes have been fetched.
    plain: Vec<u8>,
    fetched: usize,
}

impl Wire {
    pub fn new(socket: Rc<OwnedFd>, tls: Option<Box<Session>>, gauge: Rc<Gauge>, buffer: Rc<RefCell<Vec<u8>>>) -> Wire {
        Wire { socket, tls, gauge, buffer, plain: Vec::new(), fetched: 0 }
    }

    fn broken(&self, fault: Fault) -> io::Error {
        self.gauge.fault.set(Some(fault));
        io::ErrorKind::ConnectionReset.into()
    }

    fn fault_of_sending(&self, errno: Errno) -> Fault {
        if self.gauge.established.get() { Fault::of_exchange("send the request", errno) } else { of_first(errno) }
    }

    /// The number of bytes that the kernel takes; `None` if it currently takes none.
    fn push(&mut self, bytes: &[u8]) -> Result<Option<usize>, Fault> {
        if self.tls.is_some() {
            return self.push_encrypted(bytes);
        }
        match send(&self.socket, bytes, SendFlags::NOSIGNAL) {
            Ok(taken) => Ok(Some(taken)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(errno) => Err(self.fault_of_sending(errno)),
        }
    }

    /// Performs the handshake first, and keeps the plaintext that arrives with its end for the reader.
    fn push_encrypted(&mut self, bytes: &[u8]) -> Result<Option<usize>, Fault> {
        let Some(tls) = &mut self.tls else { return Ok(None) };
        if !tls.is_established() {
            let buffer = &mut self.buffer.borrow_mut();
            let plain = tls.shake_hands_and_listen(self.socket.as_fd(), buffer);
            let Some(plain) = plain.map_err(|failure| failure.fault(of_first))? else { return Ok(None) };
            self.plain.extend_from_slice(&buffer[..plain]);
            if !tls.has_chosen_http2() {
                return Err(Fault::Tls(TlsFault::NoHttp2));
            }
        }
        let sent = tls.send(self.socket.as_fd(), bytes, usize::MAX);
        let sent = sent.map_err(|failure| failure.fault(|errno| Fault::of_exchange("send the request", errno)))?;
        Ok((sent > 0).then_some(sent))
    }

    /// Reads into `buf`; `None` if nothing is available.
    fn pull(&mut self, buf: &mut ReadBuf<'_>) -> Result<Option<usize>, Fault> {
        if self.tls.is_some() {
            return self.pull_encrypted(buf);
        }
        if !self.gauge.readable.get() {
            return Ok(None);
        }
        let room = buf.initialize_unfilled();
        let asked = room.len();
        match recv(&self.socket, room, RecvFlags::empty()) {
            Ok((bytes, _)) => {
                // Fewer bytes than requested were all that was available, except for the end. Later bytes raise an event.
                self.gauge.readable.set(bytes == asked || self.gauge.ended.get());
                buf.advance(bytes);
                Ok(Some(bytes))
            }
            Err(Errno::AGAIN | Errno::INTR) => {
                self.gauge.readable.set(false);
                Ok(None)
            }
            Err(errno) => Err(of_receiving(errno)),
        }
    }

    fn pull_encrypted(&mut self, buf: &mut ReadBuf<'_>) -> Result<Option<usize>, Fault> {
        let Some(tls) = &mut self.tls else { return Ok(None) };
        while self.fetched == self.plain.len() {
            let buffer = &mut self.buffer.borrow_mut();
            match tls.receive(self.socket.as_fd(), buffer, usize::MAX).map_err(|failure| failure.fault(of_receiving))? {
                Stream::Bytes(bytes) => {
                    self.plain.clear();
                    self.fetched = 0;
                    self.plain.extend_from_slice(&buffer[..bytes]);
                }
                // Frames have lengths, so a truncation is detected without close_notify.
                Stream::End | Stream::Truncated => return Ok(Some(0)),
                Stream::Nothing | Stream::Discarded(_) if tls.has_more() => {}
                Stream::Nothing | Stream::Discarded(_) => return Ok(None),
            }
        }
        let left = &self.plain[self.fetched..];
        let bytes = left.len().min(buf.remaining());
        buf.put_slice(&left[..bytes]);
        self.fetched += bytes;
        Ok(Some(bytes))
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, task: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.gauge.of_turn.get() >= TURN_BYTES {
            // h2 reads as long as bytes are available. An endless stream would keep the engine from its clock.
            task.waker().wake_by_ref();
            return Poll::Pending;
        }
        match self.pull(buf) {
            Ok(Some(bytes)) => {
                self.gauge.of_turn.set(self.gauge.of_turn.get() + bytes);
                self.gauge.received.set(self.gauge.received.get() + bytes);
                Poll::Ready(Ok(()))
            }
            Ok(None) => Poll::Pending,
            Err(fault) => Poll::Ready(Err(self.broken(fault))),
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.push(bytes) {
            Ok(Some(taken)) => {
                self.gauge.established.set(true);
                self.gauge.blocked.set(false);
                self.gauge.sent.set(self.gauge.sent.get() + taken);
                Poll::Ready(Ok(taken))
            }
            Ok(None) => {
                self.gauge.blocked.set(true);
                Poll::Pending
            }
            Err(fault) => Poll::Ready(Err(self.broken(fault))),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Wire { tls, socket, .. } = &mut *self;
        let flushed = tls.as_mut().map_or(Ok(true), |tls| tls.flush(socket.as_fd()));
        match flushed {
            Ok(whole) => {
                self.gauge.blocked.set(!whole);
                if whole { Poll::Ready(Ok(())) } else { Poll::Pending }
            }
            Err(failure) => {
                let fault = failure.fault(|errno| Fault::of_exchange("send the request", errno));
                Poll::Ready(Err(self.broken(fault)))
            }
        }
    }

    /// Dropping the socket closes the connection.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.say_close(self.socket.as_fd());
        }
    }
}
