//! A connection of HTTP/2: what opens it, what its peer lets through, and how it ends.

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

/// Always watched for both: told once only for each change, room to write costs nothing where it is never missing.
const INTEREST: Interest = Interest { reading: true, writing: true };

type Handshake = Pin<Box<dyn Future<Output = Result<(SendRequest<Bytes>, Connection<Wire, Bytes>), h2::Error>>>>;

/// An open connection, or one that is being opened.
pub(crate) struct Carrier {
    socket: Rc<OwnedFd>,
    token: u32,
    gauge: Rc<Gauge>,
    stage: Stage,
    /// It has brought an answer, be it a wrong one.
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

/// Whether a carrier takes one more request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    Yes,
    /// Not now: as many streams are open as the target allows.
    Full,
    /// Not now: the last request that it has taken still waits for a stream that was called off to be closed.
    HeldBack,
    /// The target takes no more on this connection.
    Never,
}

impl Carrier {
    /// Begins a connection and registers it. `buffer` is lent to it for ciphertext.
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

    /// The socket is ready for something; `ended` says that the target has ended the stream.
    pub fn stir(&self, ended: bool) {
        self.gauge.readable.set(true);
        if ended {
            self.gauge.ended.set(true);
        }
    }

    /// Has the event queue tell again what it has told already.
    pub fn tell_again(&self, poller: &Poller) -> Result<(), Fault> {
        poller.watch(self.socket.as_fd(), self.token, INTEREST)
    }

    /// Goes on with opening.
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

    /// Whether it takes one more request beside those under way.
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

    /// Sends and receives what can be. `Some` when the connection is over, with what ended it.
    pub fn advance(&mut self, task: &mut Context<'_>) -> Option<Fault> {
        let Stage::Open { connection, .. } = &mut self.stage else { return None };
        self.gauge.of_turn.set(0);
        match Pin::new(&mut **connection).poll(task) {
            Poll::Pending => None,
            Poll::Ready(Ok(())) => Some(self.broken().unwrap_or(Fault::ClosedBeforeAnswer)),
            Poll::Ready(Err(error)) => Some(fault::of(&error, self.broken(), false)),
        }
    }

    /// Whether the kernel has taken all that was to be sent.
    pub fn is_flushed(&self) -> bool {
        !self.gauge.blocked.get()
    }

    /// What its socket has to say, if it failed.
    pub fn broken(&self) -> Option<Fault> {
        self.gauge.fault.get()
    }

    /// Bytes received since this was last asked, after decryption.
    pub fn take_received(&self) -> usize {
        self.gauge.received.take()
    }

    /// Bytes sent since this was last asked, before encryption.
    pub fn take_sent(&self) -> usize {
        self.gauge.sent.take()
    }

    /// Ends it in good order, as far as the socket takes that at once.
    pub fn close(self, task: &mut Context<'_>) {
        if let Stage::Open { requests, mut connection } = self.stage {
            // When no one can send a request any more, the connection says goodbye (GOAWAY).
            drop(requests);
            let _ = Pin::new(&mut *connection).poll(task);
        }
    }
}

/// Nothing is pushed to us, and windows are so large that they are not what limits a target.
pub(crate) fn builder() -> Builder {
    let mut builder = Builder::new();
    builder
        .enable_push(false)
        .max_header_list_size(HEADERS_BYTES)
        .initial_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        // Until the target has said how many streams it allows, which is its first word: more than it allows it would refuse.
        .initial_max_send_streams(1)
        // A target that breaks the rules on every stream gets a reset on every stream, and each counts as a failure.
        .max_local_error_reset_streams(None);
    builder
}
