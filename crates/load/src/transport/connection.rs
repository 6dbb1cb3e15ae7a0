//! One connection: its socket, the unsent rest of the request, the reader of the answer, and with TLS the session. All byte counts are HTTP
//! bytes, before encryption and after decryption.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::{Errno, ioctl_fionread};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::tls::{Session, TlsClient};
use super::{Address, Connector, Interest, Poller};
use crate::fault::Fault;
use crate::http::answer::{Answer, AnswerReader, Rules};
use crate::sys;

/// Bytes read at a time while waiting for the head of an answer whose body is discarded.
const DISCARD_HEAD_BYTES: usize = 4 * 1024;

/// A connection that is open or opening.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: OwnedFd,
    token: u32,
    /// Absent on a plain connection.
    tls: Option<Box<Session>>,
    /// Bytes of the current request that the kernel has taken; with TLS, that were encrypted.
    sent: usize,
    interest: Interest,
    reader: AnswerReader,
    answered: bool,
    /// Requests begun on it.
    requests: u32,
    /// Whether the kernel can discard received bytes without copying them: plain TCP only.
    discards: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// This many bytes are in the buffer.
    Bytes(usize),
    /// This many bytes of the body were discarded.
    Discarded(usize),
    /// The target has ended the stream.
    End,
    /// The stream ended without TLS's close_notify, so bytes may be missing.
    Truncated,
    /// Nothing yet.
    Nothing,
}

/// State that the event queue cannot report, because it does not look inside TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Untold {
    /// There is more to receive.
    pub more: bool,
    /// The target has announced that it sends no more.
    pub over: bool,
}

impl Connection {
    /// Starts a connection and registers it.
    pub fn open(connector: &mut Connector, poller: &Poller, token: u32, is_slow: bool) -> Result<Connection, Fault> {
        let socket = connector.open(is_slow)?;
        let tls = connector.tls().map(begin_session).transpose()?;
        let interest = Interest { reading: true, writing: false };
        poller.register(socket.as_fd(), token, interest)?;
        let discards = matches!(connector.target(), Address::Inet(_)) && tls.is_none();
        Ok(Connection {
            socket,
            token,
            tls,
            sent: 0,
            interest,
            reader: AnswerReader::new(),
            answered: false,
            requests: 0,
            discards,
        })
    }

    /// Continues the TLS handshake, if any. Returns whether the first request can be sent.
    pub fn shake_hands(&mut self, buffer: &mut [u8]) -> Result<bool, Fault> {
        match &mut self.tls {
            None => Ok(true),
            Some(tls) if tls.is_established() => Ok(true),
            Some(_) => self.shake_hands_encrypted(buffer),
        }
    }

    #[inline(never)]
    fn shake_hands_encrypted(&mut self, buffer: &mut [u8]) -> Result<bool, Fault> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        tls.shake_hands(self.socket.as_fd(), buffer).map_err(|failure| failure.fault(of_first))
    }

    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether ciphertext is waiting for the socket.
    pub fn has_unsent(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.has_unsent())
    }

    /// The state that the event queue does not report.
    #[inline]
    pub fn untold(&self) -> Untold {
        match &self.tls {
            None => Untold::default(),
            Some(tls) => Untold { more: tls.has_more(), over: tls.is_over() },
        }
    }

    /// Whether it is still usable after bytes arrived that were not HTTP.
    pub fn outlives_unasked(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| !tls.is_over())
    }

    /// Whether it has brought an answer, possibly a wrong one.
    pub fn has_answered(&self) -> bool {
        self.answered
    }

    /// Whether any byte of the current answer has arrived.
    pub fn has_begun(&self) -> bool {
        self.reader.has_begun()
    }

    /// Gets ready for the next request.
    pub fn begin(&mut self) {
        self.sent = 0;
        self.requests += 1;
    }

    /// Whether the current request has been sent completely.
    pub fn has_sent(&self, request: &[u8]) -> bool {
        self.sent == request.len() && !self.has_unsent()
    }

    /// How many bytes of the current request the kernel has not taken.
    pub fn unsent_bytes(&self, request: &[u8]) -> usize {
        request.len().saturating_sub(self.sent)
    }

    /// How many available bytes are worth reading in one call.
    pub fn waiting_bytes(&self, rules: &Rules) -> usize {
        let waiting = ioctl_fionread(&self.socket).unwrap_or_default();
        usize::try_from(waiting).unwrap_or(usize::MAX).min(self.worth_reading(rules))
    }

    /// Whether the kernel has taken no byte of the current request.
    pub fn has_sent_nothing(&self) -> bool {
        self.sent == 0
    }

    /// Sends a request on a connection that may not be established yet; it is if the kernel takes any byte. Trying is cheaper than
    /// checking: towards the same machine, the handshake is over when connect(2) returns, although it reports that it is in progress.
    /// Returns the number of bytes taken.
    pub fn send_first(&mut self, request: &[u8], at_most: usize) -> Result<usize, Fault> {
        self.push(request, at_most, of_first)
    }

    /// Sends a request or the rest of it, at most `at_most` bytes.
    pub fn send(&mut self, request: &[u8], at_most: usize) -> Result<usize, Fault> {
        self.push(request, at_most, |errno| Fault::of_exchange("send the request", errno))
    }

    fn push(&mut self, request: &[u8], at_most: usize, fault: impl Fn(Errno) -> Fault) -> Result<usize, Fault> {
        let left = &request[self.sent..];
        if self.tls.is_some() {
            return self.push_encrypted(left, at_most, &fault);
        }
        let taken = match send(&self.socket, &left[..left.len().min(at_most)], SendFlags::NOSIGNAL) {
            Ok(taken) => taken,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(errno) => return Err(fault(errno)),
        };
        self.sent += taken;
        Ok(taken)
    }

    // A separate function, like its counterpart for receiving, so the plain path stays as short as without TLS.
    #[inline(never)]
    fn push_encrypted(&mut self, left: &[u8], at_most: usize, fault: &dyn Fn(Errno) -> Fault) -> Result<usize, Fault> {
        let Some(tls) = &mut self.tls else { return Ok(0) };
        let taken = tls.send(self.socket.as_fd(), left, at_most).map_err(|failure| failure.fault(fault))?;
        self.sent += taken;
        Ok(taken)
    }

    /// Starts or stops watching the socket for room to write.
    pub fn watch_writing(&mut self, on: bool, poller: &Poller) -> Result<(), Fault> {
        if on == self.interest.writing {
            return Ok(());
        }
        self.interest.writing = on;
        poller.watch(self.socket.as_fd(), self.token, self.interest)
    }

    /// How many bytes to read at once. If bodies are discarded, about a head: every byte of the body read with it is copied for nothing.
    pub fn worth_reading(&self, rules: &Rules) -> usize {
        if rules.discards() && self.discards && !self.has_begun() { DISCARD_HEAD_BYTES } else { usize::MAX }
    }

    /// Makes the event queue report again what it has already reported.
    pub fn tell_again(&self, poller: &Poller) -> Result<(), Fault> {
        poller.watch(self.socket.as_fd(), self.token, self.interest)
    }

    /// Registers it under another token. Makes the event queue report again what it has already reported.
    pub fn watch_as(&mut self, token: u32, poller: &Poller) -> Result<(), Fault> {
        self.token = token;
        self.tell_again(poller)
    }

    /// Whether the current request is the last that it may carry.
    pub fn is_last(&self, at_most: Option<u32>) -> bool {
        at_most.is_some_and(|at_most| self.requests >= at_most)
    }

    /// Receives available bytes, up to `at_most`. A discarded body stays in the kernel, which drops up to `most_discarded` bytes at a time.
    pub fn receive(
        &mut self,
        buffer: &mut [u8],
        at_most: usize,
        most_discarded: usize,
        rules: &Rules,
    ) -> Result<Stream, Fault> {
        if self.tls.is_some() {
            return self.receive_encrypted(buffer, at_most);
        }
        let buffer = &mut buffer[..at_most];
        let received = match self.reader.discardable(rules) {
            Some(bytes) if self.discards => {
                sys::discard(self.socket.as_fd(), bytes.min(most_discarded)).map(Stream::Discarded)
            }
            _ => recv(&self.socket, &mut *buffer, RecvFlags::empty()).map(|(bytes, _)| Stream::Bytes(bytes)),
        };
        match received {
            Ok(Stream::Bytes(0) | Stream::Discarded(0)) => Ok(Stream::End),
            Ok(stream) => Ok(stream),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Stream::Nothing),
            Err(errno) => Err(of_receiving(errno)),
        }
    }

    #[inline(never)]
    fn receive_encrypted(&mut self, buffer: &mut [u8], at_most: usize) -> Result<Stream, Fault> {
        let Some(tls) = &mut self.tls else { return Ok(Stream::Nothing) };
        tls.receive(self.socket.as_fd(), buffer, at_most).map_err(|failure| failure.fault(of_receiving))
    }

    /// Receives unsolicited bytes. With TLS they may be session tickets, which are ignored.
    pub fn receive_unasked(&mut self, buffer: &mut [u8]) -> Result<Stream, Fault> {
        if let Some(tls) = &mut self.tls {
            return tls.receive_unasked(self.socket.as_fd(), buffer).map_err(|failure| failure.fault(of_receiving));
        }
        match recv(&self.socket, &mut *buffer, RecvFlags::empty()) {
            Ok((0, _)) => Ok(Stream::End),
            Ok((bytes, _)) => Ok(Stream::Bytes(bytes)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Stream::Nothing),
            Err(errno) => Err(of_receiving(errno)),
        }
    }

    /// From now on answers follow one another, and a wrong body does not end them.
    pub fn read_on(&mut self) {
        self.reader.read_on();
    }

    /// Takes the fault of the last answer's body, if any.
    pub fn take_flaw(&mut self) -> Option<Fault> {
        self.reader.take_flaw()
    }

    /// Processes received bytes up to the end of the current answer. Returns how many, and the answer once it is complete.
    pub fn digest_next(&mut self, bytes: &[u8], rules: &mut Rules) -> Result<(usize, Option<Answer>), Fault> {
        let (taken, answer) = self.reader.feed_next(bytes, rules)?;
        self.answered |= answer.is_some();
        Ok((taken, answer))
    }

    /// Processes received bytes as part of the answer to `request`. Returns the answer once it is complete.
    pub fn digest(
        &mut self,
        stream: Stream,
        buffer: &[u8],
        request: &[u8],
        rules: &mut Rules,
    ) -> Result<Option<Answer>, Fault> {
        let outcome = match stream {
            Stream::Bytes(bytes) => self.reader.feed(&buffer[..bytes], rules),
            Stream::Discarded(bytes) => self.reader.discarded(bytes, rules),
            Stream::End => self.reader.end_of_stream(rules).map(Some),
            // If only the end of the stream ends the body, this end proves nothing (RFC 9112 §9.8).
            Stream::Truncated => Err(self.reader.end_of_stream(rules).err().unwrap_or(Fault::ClosedWithoutNotice)),
            Stream::Nothing => return Ok(None),
        };
        // A wrong body is also an answer: the target is alive.
        self.answered |= matches!(outcome, Ok(Some(_)) | Err(Fault::BadBody(_)));
        let Some(mut answer) = outcome? else { return Ok(None) };
        // The target answered before it had the whole request, so how it treats the rest is unknown.
        answer.keep_alive &= self.has_sent(request);
        Ok(Some(answer))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.say_close(self.socket.as_fd());
        }
    }
}

#[inline(never)]
pub(super) fn begin_session(client: &TlsClient) -> Result<Box<Session>, Fault> {
    Session::new(client).map(Box::new).map_err(|failure| failure.fault(Fault::Connect))
}

/// The fault of sending the first bytes, which shows whether the connection was established.
pub(super) fn of_first(errno: Errno) -> Fault {
    match errno {
        Errno::CONNRESET | Errno::PIPE => Fault::Reset(errno),
        errno => Fault::of_connecting("connect", errno),
    }
}

pub(super) fn of_receiving(errno: Errno) -> Fault {
    Fault::of_exchange("receive the answer", errno)
}
