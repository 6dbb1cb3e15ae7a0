//! What can keep the bench from measuring.

use std::io;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The kernel refused something.
    #[error("failed to {doing}: {source}")]
    Failed {
        /// What.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The link itself.
    #[error(transparent)]
    Link(#[from] tolok_link::LinkError),
    /// Nothing came through the link.
    #[error("no packet came through the link within {seconds} s")]
    Silent {
        /// How long it was waited.
        seconds: u64,
    },
    /// The link's own account does not close, or differs from what was seen.
    #[error("the account of the link does not close: {what}")]
    Account {
        /// What differs from what.
        what: String,
    },
}

/// To be given to `map_err`.
pub fn failed<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> BenchError {
    move |source| BenchError::Failed { doing, source: source.into() }
}
