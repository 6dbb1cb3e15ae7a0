//! What can keep the bench from measuring.

use std::io;

#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error("failed to {doing}: {source}")]
    Failed { doing: &'static str, source: io::Error },
    #[error(transparent)]
    Link(#[from] tolok_link::LinkError),
    #[error("no packet came through the link within {seconds} s")]
    Silent { seconds: u64 },
    /// The link's own account does not close, or differs from what was seen.
    #[error("the account of the link does not close: {what}")]
    Account { what: String },
}

/// To be given to `map_err`.
pub fn failed<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> BenchError {
    move |source| BenchError::Failed { doing, source: source.into() }
}
