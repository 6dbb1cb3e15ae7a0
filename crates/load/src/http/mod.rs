//! The client's half of HTTP/1.1 (RFC 9112), without sockets: bytes in, verdicts out.
//!
//! `request` writes the request once; `head` reads the head of an answer; `chunked` takes the chunked coding apart;
//! `answer` composes them into a state machine that is fed with whatever pieces the network delivers.

pub(crate) mod answer;
mod chunked;
mod head;
pub(crate) mod request;
