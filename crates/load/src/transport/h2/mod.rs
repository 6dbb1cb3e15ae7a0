//! HTTP/2 on one connection, which carries the requests of several slots as streams.
//!
//! The `h2` crate handles frames, compression and windows. It needs a polled task and pollable sockets, but no runtime. `wire` is such a
//! socket, `carrier` the connection, and `exchange` one of its requests. `ready` lists which of them have work, so nothing is polled in
//! vain. `probe` checks whether a target speaks HTTP/2.

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

/// How many body bytes a target may send before they are read, per stream and per connection. Bodies are read as soon as they arrive, so
/// only very fast targets far away reach these limits.
const STREAM_WINDOW_BYTES: u32 = 1 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;
/// Size of an answer's head after decompression. A few compressed bytes may repeat the same long field many times.
const HEADERS_BYTES: u32 = 64 << 10;
