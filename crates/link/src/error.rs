//! Errors of a link.

use std::io;
use std::path::PathBuf;

/// An error that prevented a link from working, or ended it.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the error messages describe the variants")]
pub enum LinkError {
    #[error("the link cannot be emulated: it asks for {reason}")]
    Spec { reason: String },
    #[error(
        "descriptor {descriptor} is no TUN device that this process has inherited: {source}; hand over two that tun::open made"
    )]
    End { descriptor: i32, source: io::Error },
    #[error(
        "{reason}; open both TUN devices with offload exactly if the job has it, and only if the link emulates neither rate nor loss nor a queue"
    )]
    Offload { reason: String },
    #[error("cannot write the link's report {}: {source}; free some space or name another place", path.display())]
    Report { path: PathBuf, source: io::Error },
    #[error("the link failed to {doing}: {source}")]
    Kernel { doing: &'static str, source: io::Error },
}

impl LinkError {
    /// For `map_err`.
    pub(crate) fn kernel<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> LinkError {
        move |source| LinkError::Kernel { doing, source: source.into() }
    }
}
