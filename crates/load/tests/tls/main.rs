//! The engine against TLS servers. The servers also use rustls, with blocking calls and one thread per connection. A connection's script is
//! selected by its number; number 0 is the engine's initial probe.
//!
//! No test here waits for time to pass or depends on speed: runs end after a number of iterations.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod certificates;
mod handshakes;
mod server;
mod trust;
