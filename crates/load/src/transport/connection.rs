//! One connection: the socket, what is left of the request to send, and the reader of the answer.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::{Connector, Poller};
use crate::fault::Fault;
use crate::http::answer::{Answer, AnswerReader, Rules};

/// An open connection, or one that is being opened.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: OwnedFd,
    token: u32,
    /// Bytes of the present request that the kernel has taken.
    sent: usize,
    watches_writing: bool,
    reader: AnswerReader,
    answered: bool,
}

/// What came of receiving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// So many bytes are in the buffer.
    Bytes(usize),
    /// The target has ended the stream.
    End,
    /// Nothing yet.
    Nothing,
}

impl Connection {
    /// Begins a connection and registers it.
    pub fn open(connector: &mut Connector, poller: &Poller, token: u32) -> Result<Connection, Fault> {
        let socket = connector.open()?;
        poller.register(socket.as_fd(), token)?;
        let reader = AnswerReader::new();
        Ok(Connection { socket, token, sent: 0, watches_writing: false, reader, answered: false })
    }

    /// Whether it has brought an answer, be it a wrong one.
    pub fn has_answered(&self) -> bool {
        self.answered
    }

    /// Sends a request on a connection that may not be established yet: it is if the kernel takes any of it. Trying costs
    /// less than asking, because towards a target on the same machine the handshake is over when connect(2) returns,
    /// though it says that it is in progress.
    pub fn send_first(&mut self, request: &[u8], poller: &Poller) -> Result<usize, Fault> {
        self.push(request, poller, |errno| match errno {
            Errno::CONNRESET | Errno::PIPE => Fault::Reset(errno),
            errno => Fault::of_connecting("connect", errno),
        })
    }

    /// Sends a request, or what is left of it. What the kernel does not take now is sent when the queue says that there
    /// is room again. Returns the number of bytes it took.
    pub fn send(&mut self, request: &[u8], poller: &Poller) -> Result<usize, Fault> {
        self.push(request, poller, |errno| Fault::of_exchange("send the request", errno))
    }

    fn push(&mut self, request: &[u8], poller: &Poller, fault: impl Fn(Errno) -> Fault) -> Result<usize, Fault> {
        let taken = match send(&self.socket, &request[self.sent..], SendFlags::NOSIGNAL) {
            Ok(taken) => taken,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(errno) => return Err(fault(errno)),
        };
        self.sent += taken;
        let unfinished = self.sent < request.len();
        if unfinished != self.watches_writing {
            poller.watch_writing(self.socket.as_fd(), self.token, unfinished)?;
            self.watches_writing = unfinished;
        }
        Ok(taken)
    }

    /// Gets ready for the next request.
    pub fn rewind(&mut self) {
        self.sent = 0;
    }

    /// Receives what there is, up to the length of the buffer.
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<Stream, Fault> {
        match recv(&self.socket, buffer, RecvFlags::empty()) {
            Ok((0, _)) => Ok(Stream::End),
            Ok((bytes, _)) => Ok(Stream::Bytes(bytes)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Stream::Nothing),
            Err(errno) => Err(Fault::of_exchange("receive the answer", errno)),
        }
    }

    /// Takes received bytes as part of the answer; gives the answer when it is complete.
    pub fn digest(&mut self, bytes: &[u8], request: &[u8], rules: &mut Rules) -> Result<Option<Answer>, Fault> {
        let outcome = self.reader.feed(bytes, rules);
        // A wrong status or body is an answer too: the target is alive.
        self.answered |= matches!(outcome, Ok(Some(_)) | Err(Fault::BadStatus(_) | Fault::BadBody(_)));
        let Some(mut answer) = outcome? else { return Ok(None) };
        // The target has answered before it had the whole request: what it will make of the rest, nobody knows.
        answer.keep_alive &= self.sent == request.len();
        Ok(Some(answer))
    }

    /// Takes the end of the stream as the end of the answer, where that is what ends it.
    pub fn digest_end(&mut self, rules: &Rules) -> Result<Answer, Fault> {
        let answer = self.reader.end_of_stream(rules)?;
        self.answered = true;
        Ok(answer)
    }
}
