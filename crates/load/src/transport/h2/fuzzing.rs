//! Entry point for a fuzzer: arbitrary bytes of the target's side of a connection.
//!
//! The first two bytes of the input select the expectation and how the rest is cut into pieces, as in `http::fuzzing`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::client::SendRequest;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::carrier::builder;
use super::exchange::{Exchange, Outcome};
use crate::http::fuzzing::{pieces, request, rules};
use crate::http::rules::Rules;

/// Requests of one connection.
const REQUESTS: usize = 3;
/// Turns without input, after which nothing may be pending.
const TURNS_AFTER_THE_END: usize = 8;

/// Feeds a connection with a target's bytes, piece by piece, and then their end. By then every request must have an outcome, or the
/// connection must be over: the engine then fails the remaining requests. The `h2` crate does not notify a request that it held back for
/// lack of a stream if GOAWAY names such a stream as the last.
pub fn frames(data: &[u8]) {
    let Some(([choice, seed], frames)) = data.split_first_chunk() else { return };
    let request = request(*choice);
    let longest = [frames.len().max(1), 64, 9, 1][usize::from(*choice >> 6)];
    let pieces: Vec<&[u8]> = pieces(frames, *seed, longest).collect();
    let turns = pieces.len() + TURNS_AFTER_THE_END;
    let peer = Peer { pieces: pieces.into_iter().map(<[u8]>::to_vec).collect(), told: false };
    let mut task = Context::from_waker(Waker::noop());
    let mut handshake = Box::pin(builder().handshake::<_, Bytes>(peer));
    let Poll::Ready(opened) = handshake.as_mut().poll(&mut task) else {
        panic!("the handshake does not wait for the peer")
    };
    let Ok((mut requests, mut connection)) = opened else { return };
    let mut rules = rules(&request);
    let (mut exchanges, mut sent, mut is_over) = (Vec::new(), 0, false);
    for _ in 0..turns {
        while sent < REQUESTS && !is_over && exchanges.len() < has_room(&mut requests, &mut task) {
            let Some(exchange) = send(&mut requests) else { break };
            exchanges.push(exchange);
            sent += 1;
        }
        is_over |= Pin::new(&mut connection).poll(&mut task).is_ready();
        exchanges.retain_mut(|exchange| is_open(exchange, &mut task, &mut rules));
    }
    assert!(is_over || exchanges.is_empty(), "{} requests wait without end: {frames:?}", exchanges.len());
}

fn has_room(requests: &mut SendRequest<Bytes>, task: &mut Context<'_>) -> usize {
    match requests.poll_ready(task) {
        Poll::Ready(Ok(())) => requests.current_max_send_streams(),
        _ => 0,
    }
}

fn send(requests: &mut SendRequest<Bytes>) -> Option<Exchange> {
    let request = http::Request::get("http://target/").body(()).ok()?;
    requests.send_request(request, true).ok().map(|(response, _)| Exchange::new(response))
}

fn is_open(exchange: &mut Exchange, task: &mut Context<'_>, rules: &mut Rules) -> bool {
    match exchange.poll(task, rules, None) {
        Poll::Pending => true,
        Poll::Ready(Outcome::Answered(_) | Outcome::Unprocessed(_) | Outcome::Failed(_)) => false,
    }
}

/// The other side of a connection: it accepts everything and sends one piece per turn.
struct Peer {
    pieces: std::collections::VecDeque<Vec<u8>>,
    /// Whether a piece was read in this turn.
    told: bool,
}

impl AsyncRead for Peer {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if std::mem::take(&mut self.told) {
            return Poll::Pending;
        }
        if let Some(mut piece) = self.pieces.pop_front() {
            let rest = piece.split_off(piece.len().min(buf.remaining()));
            buf.put_slice(&piece);
            match rest.is_empty() {
                true => self.told = true,
                false => self.pieces.push_front(rest),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Peer {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
