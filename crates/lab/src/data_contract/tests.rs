//! Tests of the data: hashes that must not change, ranges, and a comparison with a real server.

mod difference;
mod fidelity;
mod rows;
mod server;
