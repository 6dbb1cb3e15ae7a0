//! The client's half of HTTP/1.1 (RFC 9112), without sockets: bytes in, verdicts out.
//!
//! `request` writes the request; `template` writes one with placeholders, whose values `capture` may take from answers. `head` parses the
//! head of an answer, and `chunked` the chunked coding. `rules` decides which answers are good, with `blocks` for long bodies, `json` for
//! JSON bodies, `gzip` for packed ones, and `evidence` to show a bad one. `answer` composes them into a state machine that accepts whatever
//! pieces the network delivers. `streamed` judges an HTTP/2 answer, whose frames the `h2` crate has parsed. `fuzzing` is the entry point
//! for a fuzzer.

pub(crate) mod answer;
mod blocks;
mod capture;
mod chunked;
mod evidence;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod gzip;
mod head;
mod json;
pub(crate) mod request;
pub(crate) mod rules;
pub(crate) mod streamed;
pub(crate) mod template;
pub(crate) mod whole;
