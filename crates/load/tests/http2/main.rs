//! HTTP/2 against servers that do what a script says. Every run has a number of iterations, so that it ends by itself.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod ends;
mod faults;
mod floods;
mod refusals;
mod sharing;
mod stage;
mod tls;
