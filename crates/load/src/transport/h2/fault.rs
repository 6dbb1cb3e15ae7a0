//! Converts h2's errors into faults.

use crate::fault::{Fault, Http2Error};

/// The fault of a stream or a connection. `broken` is the fault of its socket; `begun` means that part of the answer had arrived.
pub(super) fn of(error: &h2::Error, broken: Option<Fault>, begun: bool) -> Fault {
    let code = Http2Error(error.reason().map_or(u32::from(h2::Reason::INTERNAL_ERROR), u32::from));
    match error {
        error if error.is_remote() && error.is_go_away() => Fault::GoAway(code),
        error if error.is_remote() => Fault::StreamReset(code),
        error if error.reason().is_some() => Fault::Http2(code),
        _ => broken.unwrap_or(if begun { Fault::ClosedInsideAnswer } else { Fault::ClosedBeforeAnswer }),
    }
}

/// Whether the target has certainly not processed the request: it closes the connection in order, and the stream is after the last one it
/// accepts (RFC 9113 §6.8, §8.7).
pub(super) fn is_unprocessed(error: &h2::Error) -> bool {
    error.is_go_away() && error.is_remote() && error.reason() == Some(h2::Reason::NO_ERROR)
}
