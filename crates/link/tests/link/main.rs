//! The link with real devices in real network namespaces, which each test creates for itself. Times have only lower bounds: a busy machine
//! makes packets late, never early.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod account;
mod emulated;
mod job;
mod packets;
mod spaces;
mod streams;
