//! Errors that prevent a run. A failed request is a [`crate::fault::Fault`].

use std::io;

use thiserror::Error;

/// A run that could not start. The texts follow "failed to".
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the error messages describe the variants")]
pub enum LoadError {
    #[error("read the URL `{url}`: {reason}; {}", written(url))]
    Url { url: String, reason: &'static str },
    #[error("find an address for `{host}`: {source}; check the name, or give the address itself")]
    Host { host: String, source: io::Error },
    #[error("use the option {option}: {reason}")]
    Option { option: &'static str, reason: String },
    #[error(
        "reach the target at {address}: {source}; check that the server is running and listens on this address and port"
    )]
    Unreachable { address: String, source: io::Error },
    #[error("agree on TLS with the target at {address}: {reason}")]
    Tls { address: String, reason: String },
    #[error("agree on HTTP/2 with the target at {address}: {reason}")]
    Http2 { address: String, reason: String },
    #[error(
        "open {needed} files (one a connection and some more): the limit of this process is {limit}; \
         raise it with `ulimit -n {needed}` or use fewer connections"
    )]
    OpenFiles { needed: u64, limit: u64 },
    #[error("load from the generator {generator}: it failed to {reason}")]
    OnGenerator { generator: String, reason: String },
    #[error("load from the generator {generator}: {reason}; check its machine and the network to it")]
    GeneratorLost { generator: String, reason: String },
    #[error("start a thread: {0}; the limit on processes (`ulimit -u`) or memory is reached")]
    Thread(#[source] io::Error),
    #[error("freeze and thaw a server: {0}; check that the file is one of a control group that you may write")]
    Freezer(#[source] io::Error),
    /// The event queue failed; no target can cause this.
    #[error("use the kernel's event queue (epoll): {0}; this points to a kernel or sandbox that forbids it")]
    EventQueue(#[source] io::Error),
}

/// How to write the URL. If only the scheme is missing, the same URL with it.
fn written(url: &str) -> String {
    if url.contains("://") || url.starts_with('/') || url.is_empty() {
        "write it as http://host:port/path or https://host:port/path".to_owned()
    } else {
        format!("write http://{url}")
    }
}
