//! The link with real devices in real network namespaces, which each test makes for itself. Times are only ever bounded
//! from below: a busy machine makes packets late, and never early.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod account;
mod emulated;
mod job;
mod packets;
mod spaces;
mod streams;
