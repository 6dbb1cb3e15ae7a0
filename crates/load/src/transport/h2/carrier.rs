//! An HTTP/2 connection: how it opens, how many requests its peer allows, and how it ends.

use std::cell::RefCell;
use std::future::Future;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::client::{Builder, Connection, SendRequest};
use http::Request;

use super::exchange::Exchange;
use super::fault;
use super::wire::{Gauge, Wire};
use super::{CONNECTION_WINDOW_BYTES, HEADERS_BYTES, STREAM_WINDOW_BYTES};
use crate::fault::Fault;
use crate::transport::connection::begin_session;
use crate::transport::{Connector, Interest, Poller};

/// Always watched for both: edge-triggered, an event for room to write comes only after a write was blocked.
const INTEREST: Interest = Interest { reading: true, writing: true };

type Handshake = Pin<Box<dyn Future<Output = Result<(SendRequest<Bytes>, Connection<Wire, Bytes>), h2::Error>>>>;

/// A connection that is open or opening.
pub(crate) struct Carrier {
    socket: Rc<OwnedFd>,
    token: u32,
    gauge: Rc<Gauge>,
    stage: Stage,
    /// Whether it has brought an answer, possibly a wrong one.
    pub answered: bool,
}

enum Stage {
    Opening(Handshake),
    Open { requests: SendRequest<Bytes>, connection: Box<Connection<Wire, Bytes>> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    Pending,
    /// It was open before.
    Open,
    /// It has just been opened.
    Opened,
}

/// Whether a carrier takes another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    Yes,
    /// Not now: the target's limit of open streams is reached.
    Full,
    /// Not now: the last request that it took still waits for a cancelled stream to close.
    HeldBack,
    /// The target accepts no more requests on this connection.
    Never,
}

impl Carrier {
    /// Starts a connection and registers it. It borrows `buffer` for ciphertext.
    pub fn open(
        connector: &mut Connector,
        poller: &Poller,
        token: u32,
        buffer: &Rc<RefCell<Vec<u8>>>,
    ) -> Result<Carrier, Fault> {
        let socket = Rc::new(connector.open(false)?);
        let tls = connector.tls().map(begin_session).transpose()?;
        poller.register(socket.as_fd(), token, INTEREST)?;
        let gauge = Rc::new(Gauge::default());
        let wire = Wire::new(Rc::clone(&socket), tls, Rc::clone(&gauge), Rc::clone(buffer));
        let handshake = builder().handshake::<_, Bytes>(wire);
        Ok(Carrier { socket, token, gauge, stage: Stage::Opening(Box::pin(handshake)), answered: false })
    }

    pub fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Open { .. })
    }

    /// Records an event on the socket; `ended` means that the target has ended the stream.
    pub fn stir(&self, ended: bool) {
        self.gauge.readable.set(true);
        if ended {
            self.gauge.ended.set(true);
        }
    }

    /// Makes the event queue report again what it has already reported.
    pub fn tell_again(&self, poller: &Poller) -> Result<(), Fault> {
        poller.watch(self.socket.as_fd(), self.token, INTEREST)
    }

    /// Continues to open the connection.
    pub fn open_further(&mut self, task: &mut Context<'_>) -> Result<Opening, Fault> {
        let Stage::Opening(handshake) = &mut self.stage else { return Ok(Opening::Open) };
        self.gauge.of_turn.set(0);
        match handshake.as_mut().poll(task) {
            Poll::Pending => Ok(Opening::Pending),
            Poll::Ready(Ok((requests, connection))) => {
                self.stage = Stage::Open { requests, connection: Box::new(connection) };
                Ok(Opening::Opened)
            }
            Poll::Ready(Err(error)) => Err(fault::of(&error, self.broken(), false)),
        }
    }

    /// Whether it takes another request besides the `active` ones.
    pub fn room(&mut self, task: &mut Context<'_>, active: u32) -> Room {
        let Stage::Open { requests, .. } = &mut self.stage else { return Room::Full };
        match requests.poll_ready(task) {
            Poll::Ready(Ok(())) if active as usize >= requests.current_max_send_streams() => Room::Full,
            Poll::Ready(Ok(())) => Room::Yes,
            Poll::Pending => Room::HeldBack,
            Poll::Ready(Err(_)) => Room::Never,
        }
    }

    /// Takes a request; the next [`advance`](Self::advance) sends it.
    pub fn send(&mut self, request: &Request<()>, body: &Bytes) -> Result<Exchange, Fault> {
        let Stage::Open { requests, .. } = &mut self.stage else { return Err(Fault::ClosedBeforeAnswer) };
        let sent = requests.send_request(request.clone(), body.is_empty()).and_then(|(response, mut stream)| {
            if !body.is_empty() {
                stream.send_data(body.clone(), true)?;
            }
            Ok(Exchange::new(response))
        });
        sent.map_err(|error| fault::of(&error, self.broken(), false))
    }

    /// Sends and receives as much as possible. Returns the fault that ended the connection, if it ended.
    pub fn advance(&mut self, task: &mut Context<'_>) -> Option<Fault> {
        let Stage::Open { connection, .. } = &mut self.stage else { return None };
        self.gauge.of_turn.set(0);
        match Pin::new(&mut **connection).poll(task) {
            Poll::Pending => None,
            Poll::Ready(Ok(())) => Some(self.broken().unwrap_or(Fault::ClosedBeforeAnswer)),
            Poll::Ready(Err(error)) => Some(fault::of(&error, self.broken(), false)),
        }
    }

    /// Whether the kernel has taken all pending bytes.
    pub fn is_flushed(&self) -> bool {
        !self.gauge.blocked.get()
    }

    /// The fault of its socket, if it failed.
    pub fn broken(&self) -> Option<Fault> {
        self.gauge.fault.get()
    }

    /// Bytes received since the last call, after decryption.
    pub fn take_received(&self) -> usize {
        self.gauge.received.take()
    }

    /// Bytes sent since the last call, before encryption.
    pub fn take_sent(&self) -> usize {
        self.gauge.sent.take()
    }

    /// Closes it in an orderly way, as far as the socket allows without waiting.
    pub fn close(self, task: &mut Context<'_>) {
        if let Stage::Open { requests, mut connection } = self.stage {
            // Once no one can send requests any more, the connection sends GOAWAY.
            drop(requests);
            let _ = Pin::new(&mut *connection).poll(task);
        }
    }
}

/// Disables push, and makes windows large enough not to limit a target.
pub(crate) fn builder() -> Builder {
    let mut builder = Builder::new();
    builder
        .enable_push(false)
        .max_header_list_size(HEADERS_BYTES)
        .initial_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        // Valid until the target's first frame states how many streams it allows: it would refuse any more.
        .initial_max_send_streams(1)
        // A target that breaks the rules on every stream gets a reset on every stream; each counts as a failure.
        .max_local_error_reset_streams(None);
    builder
}
