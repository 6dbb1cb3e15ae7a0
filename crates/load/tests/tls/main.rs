//! The engine against TLS servers. Their other half is rustls too, in blocking calls, one thread a connection; what a
//! connection does is scripted by its number. Number 0 is the engine's own look before the run.
//!
//! No test here waits for time to pass or counts on speed: the runs end with a number of iterations.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod certificates;
mod handshakes;
mod server;
mod trust;
