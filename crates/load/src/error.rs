//! What keeps a run from taking place at all. What goes wrong with single requests is a [`crate::fault::Fault`].

use std::io;

use thiserror::Error;

/// A run that could not start. Texts read after "failed to".
#[derive(Debug, Error)]
pub enum LoadError {
    /// Not a URL this engine can load.
    #[error("understand the URL `{url}`: {reason}; write it as http://host:port/path or https://host:port/path")]
    Url {
        /// As given.
        url: String,
        /// Which part is wrong.
        reason: &'static str,
    },
    /// The name has no address.
    #[error("find an address for `{host}`: {source}; check the name, or give the address itself")]
    Host {
        /// As given.
        host: String,
        /// The resolver's answer.
        source: io::Error,
    },
    /// Options that contradict themselves.
    #[error("use the option {option}: {reason}")]
    Option {
        /// Its name.
        option: &'static str,
        /// What is wrong with it, and what would be right.
        reason: String,
    },
    /// The target does not take connections.
    #[error(
        "reach the target at {address}: {source}; check that the server is running and listens on this address and port"
    )]
    Unreachable {
        /// Where the connection was tried.
        address: String,
        /// Why it failed.
        source: io::Error,
    },
    /// The target takes connections, but TLS does not come about.
    #[error("agree on TLS with the target at {address}: {reason}")]
    Tls {
        /// Where the connection was tried.
        address: String,
        /// Why it failed, and what can be done.
        reason: String,
    },
    /// The target takes connections, but does not speak HTTP/2 on them.
    #[error("agree on HTTP/2 with the target at {address}: {reason}")]
    Http2 {
        /// Where the connection was tried.
        address: String,
        /// Why it failed, and what can be done.
        reason: String,
    },
    /// More connections than the process may open.
    #[error(
        "open {needed} files (one a connection and some more): the limit of this process is {limit}; \
         raise it with `ulimit -n {needed}` or use fewer connections"
    )]
    OpenFiles {
        /// Files needed.
        needed: u64,
        /// The hard limit.
        limit: u64,
    },
    /// No thread for an engine.
    #[error("start a thread: {0}; the limit on processes (`ulimit -u`) or memory is reached")]
    Thread(#[source] io::Error),
    /// A server cannot be frozen or thawed.
    #[error("freeze and thaw a server: {0}; check that the file is one of a control group that you may write")]
    Freezer(#[source] io::Error),
    /// The event queue failed, which no target can cause.
    #[error("use the kernel's event queue (epoll): {0}; this points to a kernel or sandbox that forbids it")]
    EventQueue(#[source] io::Error),
}
