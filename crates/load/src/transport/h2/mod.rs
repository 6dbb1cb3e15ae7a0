//! HTTP/2 on one connection, which carries the requests of several slots as streams.
//!
//! The `h2` crate frames, compresses and keeps account of the windows; it wants a task to be polled and sockets that can be
//! polled, and no runtime. `wire` is such a socket, `carrier` the connection, `exchange` one request of it, and `ready` tells
//! which of them have something to do, so that nothing is polled in vain. `probe` looks whether a target speaks HTTP/2.

mod carrier;
mod exchange;
mod fault;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod probe;
mod ready;
mod wire;

pub(crate) use carrier::{Carrier, Opening, Room, builder};
pub(crate) use exchange::{Exchange, Outcome};
pub(crate) use probe::{HEAD_BYTES, HELLO, judge};
pub(crate) use ready::ReadyList;

/// What a target may send of a body before we have read it, on one stream and on all streams of a connection. Both are read
/// as soon as they come, so that these bounds are met by none but very fast targets far away.
const STREAM_WINDOW_BYTES: u32 = 1 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;
/// The head of an answer, unpacked. A packed one of a few bytes may name the same long field many times.
const HEADERS_BYTES: u32 = 64 << 10;
