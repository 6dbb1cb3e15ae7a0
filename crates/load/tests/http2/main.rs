//! HTTP/2 against scripted servers. Every run has a fixed number of iterations, so it ends without a timer.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod ends;
mod faults;
mod floods;
mod refusals;
mod sharing;
mod stage;
mod tls;
