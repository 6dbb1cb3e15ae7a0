//! Why a link does not work.

use std::io;
use std::path::PathBuf;

/// What kept a link from working, or ended it.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// It asks for what cannot be emulated.
    #[error("the link cannot be emulated: it asks for {reason}")]
    Spec {
        /// What it asks for, and what to ask for instead.
        reason: String,
    },
    /// A descriptor is not what it should be.
    #[error(
        "descriptor {descriptor} is no TUN device that this process has inherited: {source}; hand over two that tun::open made"
    )]
    End {
        /// Its number.
        descriptor: i32,
        /// What the kernel says of it.
        source: io::Error,
    },
    /// The devices do not fit the job.
    #[error(
        "{reason}; open both TUN devices with offload exactly if the job has it, and only if the link emulates neither rate nor loss nor a queue"
    )]
    Offload {
        /// What does not fit.
        reason: String,
    },
    /// The report cannot be written.
    #[error("cannot write the link's report {}: {source}; free some space or name another place", path.display())]
    Report {
        /// Where it should be.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The kernel refused something that the loop needs.
    #[error("the link failed to {doing}: {source}")]
    Kernel {
        /// What it was about to do.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
}

impl LinkError {
    /// To be given to `map_err`.
    pub(crate) fn kernel<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> LinkError {
        move |source| LinkError::Kernel { doing, source: source.into() }
    }
}
