//! One connection: the socket, what is left of the request to send, and the reader of the answer.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::{Address, Connector, Interest, Poller};
use crate::fault::Fault;
use crate::http::answer::{Answer, AnswerReader, Rules};
use crate::sys;

/// Read at a time while the head of an answer is expected whose body is thrown away.
const DISCARD_HEAD_BYTES: usize = 4 * 1024;

/// An open connection, or one that is being opened.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: OwnedFd,
    token: u32,
    /// Bytes of the present request that the kernel has taken.
    sent: usize,
    interest: Interest,
    reader: AnswerReader,
    answered: bool,
    /// Requests begun on it.
    requests: u32,
    /// The kernel can throw received bytes away without copying them, which it can for TCP only.
    discards: bool,
}

/// What came of receiving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// So many bytes are in the buffer.
    Bytes(usize),
    /// So many bytes of the body were thrown away.
    Discarded(usize),
    /// The target has ended the stream.
    End,
    /// Nothing yet.
    Nothing,
}

impl Connection {
    /// Begins a connection and registers it. A connection that is read by the clock is not watched for reading.
    pub fn open(connector: &mut Connector, poller: &Poller, token: u32, reading: bool) -> Result<Connection, Fault> {
        let socket = connector.open()?;
        let interest = Interest { reading, writing: false };
        poller.register(socket.as_fd(), token, interest)?;
        let discards = matches!(connector.target(), Address::Inet(_));
        let reader = AnswerReader::new();
        Ok(Connection { socket, token, sent: 0, interest, reader, answered: false, requests: 0, discards })
    }

    /// Whether it has brought an answer, be it a wrong one.
    pub fn has_answered(&self) -> bool {
        self.answered
    }

    /// Whether any byte of the present answer has come.
    pub fn has_begun(&self) -> bool {
        self.reader.has_begun()
    }

    /// Requests begun on it.
    pub fn requests(&self) -> u32 {
        self.requests
    }

    /// Gets ready for the next request.
    pub fn begin(&mut self) {
        self.sent = 0;
        self.requests += 1;
    }

    /// Whether the present request, of this length, has been sent as a whole.
    pub fn has_sent(&self, request: &[u8]) -> bool {
        self.sent == request.len()
    }

    /// Sends a request on a connection that may not be established yet: it is if the kernel takes any of it. Trying costs
    /// less than asking, because towards a target on the same machine the handshake is over when connect(2) returns,
    /// though it says that it is in progress. Returns the number of bytes it took.
    pub fn send_first(&mut self, request: &[u8], at_most: usize) -> Result<usize, Fault> {
        self.push(request, at_most, |errno| match errno {
            Errno::CONNRESET | Errno::PIPE => Fault::Reset(errno),
            errno => Fault::of_connecting("connect", errno),
        })
    }

    /// Sends a request, or what is left of it, at most so many bytes of it.
    pub fn send(&mut self, request: &[u8], at_most: usize) -> Result<usize, Fault> {
        self.push(request, at_most, |errno| Fault::of_exchange("send the request", errno))
    }

    fn push(&mut self, request: &[u8], at_most: usize, fault: impl Fn(Errno) -> Fault) -> Result<usize, Fault> {
        let left = &request[self.sent..];
        let taken = match send(&self.socket, &left[..left.len().min(at_most)], SendFlags::NOSIGNAL) {
            Ok(taken) => taken,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(errno) => return Err(fault(errno)),
        };
        self.sent += taken;
        Ok(taken)
    }

    /// Watches the socket for reading from here on, also where it was read by the clock.
    pub fn watch_reading(&mut self, poller: &Poller) -> Result<(), Fault> {
        if self.interest.reading {
            return Ok(());
        }
        self.interest.reading = true;
        poller.watch(self.socket.as_fd(), self.token, self.interest)
    }

    /// Watches the socket for room to write, or no longer.
    pub fn watch_writing(&mut self, on: bool, poller: &Poller) -> Result<(), Fault> {
        if on == self.interest.writing {
            return Ok(());
        }
        self.interest.writing = on;
        poller.watch(self.socket.as_fd(), self.token, self.interest)
    }

    /// How many bytes to ask for. Where bodies are thrown away, a head and no more: what is copied beyond it is copied for
    /// nothing.
    pub fn worth_reading(&self, rules: &Rules) -> usize {
        if rules.discards() && self.discards && !self.has_begun() { DISCARD_HEAD_BYTES } else { usize::MAX }
    }

    /// Receives what there is, up to the length of the buffer. A body that nobody looks at stays in the kernel.
    pub fn receive(&mut self, buffer: &mut [u8], rules: &Rules) -> Result<Stream, Fault> {
        let received = match self.reader.discardable(rules) {
            Some(bytes) if self.discards => sys::discard(self.socket.as_fd(), bytes).map(Stream::Discarded),
            _ => recv(&self.socket, &mut *buffer, RecvFlags::empty()).map(|(bytes, _)| Stream::Bytes(bytes)),
        };
        match received {
            Ok(Stream::Bytes(0) | Stream::Discarded(0)) => Ok(Stream::End),
            Ok(stream) => Ok(stream),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Stream::Nothing),
            Err(errno) => Err(Fault::of_exchange("receive the answer", errno)),
        }
    }

    /// Receives what nobody has asked for.
    pub fn receive_unasked(&mut self, buffer: &mut [u8]) -> Result<Stream, Errno> {
        match recv(&self.socket, &mut *buffer, RecvFlags::empty()) {
            Ok((0, _)) => Ok(Stream::End),
            Ok((bytes, _)) => Ok(Stream::Bytes(bytes)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Stream::Nothing),
            Err(errno) => Err(errno),
        }
    }

    /// Takes what was received as part of the answer to `request`; gives the answer when it is complete.
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
            Stream::Nothing => return Ok(None),
        };
        // A wrong body is an answer too: the target is alive.
        self.answered |= matches!(outcome, Ok(Some(_)) | Err(Fault::BadBody(_)));
        let Some(mut answer) = outcome? else { return Ok(None) };
        // The target has answered before it had the whole request: what it will make of the rest, nobody knows.
        answer.keep_alive &= self.sent == request.len();
        Ok(Some(answer))
    }
}
