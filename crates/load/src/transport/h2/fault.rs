//! What went wrong, from h2's words to ours.

use crate::fault::{Fault, Http2Error};

/// The fault of a stream or of a connection. `broken` is what its socket has to say; `begun` says whether any of the answer
/// had come.
pub(super) fn of(error: &h2::Error, broken: Option<Fault>, begun: bool) -> Fault {
    let code = Http2Error(error.reason().map_or(u32::from(h2::Reason::INTERNAL_ERROR), u32::from));
    match error {
        error if error.is_remote() && error.is_go_away() => Fault::GoAway(code),
        error if error.is_remote() => Fault::StreamReset(code),
        error if error.reason().is_some() => Fault::Http2(code),
        _ => broken.unwrap_or(if begun { Fault::ClosedInsideAnswer } else { Fault::ClosedBeforeAnswer }),
    }
}

/// Whether the target says for certain that it has not looked at the request: it gives the connection up in good order, and
/// the stream came after the last one that it takes (RFC 9113 §6.8, §8.7).
pub(super) fn is_unprocessed(error: &h2::Error) -> bool {
    error.is_go_away() && error.is_remote() && error.reason() == Some(h2::Reason::NO_ERROR)
}
