//! The data as they come out: hashes that must not change, ranges, and the same values asked of a server.

mod difference;
mod fidelity;
mod rows;
mod server;
