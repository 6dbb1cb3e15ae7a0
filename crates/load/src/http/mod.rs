//! The client's half of HTTP/1.1 (RFC 9112), without sockets: bytes in, verdicts out.
//!
//! `request` writes the request, and `template` one with placeholders, which `capture` may take from answers. `head` reads the
//! head of an answer, and `chunked` takes the chunked coding apart. `rules` says which answers are good, with `blocks` for long
//! bodies, `json` for bodies that may be written in more than one way, `gzip` for packed ones, and `evidence` to show a bad one.
//! `answer` composes them into a state machine that is fed with whatever pieces the network delivers; `streamed` judges an answer of
//! HTTP/2, whose frames the `h2` crate has taken apart. `fuzzing` is the door for a fuzzer.

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
