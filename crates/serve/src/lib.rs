//! Pages of stored runs, and of one at work: a list, each run with its report, two runs compared, several over each
//! other.
//!
//! The server listens on the loopback only, answers to its own names only (see [`guard`]), and reads: it writes no
//! file, takes no lock and starts nothing. What it shows is what [`tolok_analysis`] finds in the records, in the words
//! of [`tolok_report`].
//!
//! - [`library`]: the runs of a folder, found by their names, and what was read of them.
//! - [`tail`], [`live`], [`stream`]: the events of a run at work, read while they are written, added up, and passed on.
//! - [`pages`]: what is shown. [`routes`]: which page stands where.
//!
//! This is the only crate with an asynchronous runtime, since a page waits for events; no other crate sees it. Whatever
//! reads files runs on a thread of its own.

mod guard;
mod library;
mod live;
mod pages;
mod routes;
mod stream;
mod tail;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use library::Library;

/// Where the pages are if no port is asked for and nobody else has it.
pub const PORT: u16 = 7357;

/// How long a page may still be made after the end was asked for.
const LAST_PAGE: Duration = Duration::from_secs(1);

/// What to serve, and where.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder in which runs are kept. It may come into being later.
    pub runs: PathBuf,
    /// The port; 0 for any that is free. Without one, [`PORT`], or any if that is taken.
    pub port: Option<u16>,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port cannot be had.
    #[error(
        "cannot listen on 127.0.0.1:{port}: {source}; choose another with --port N, or any that is free with --port 0"
    )]
    Listen {
        /// The port.
        port: u16,
        /// Why.
        source: io::Error,
    },
    /// The runtime cannot be had, or signals cannot be heard.
    #[error("cannot serve: {0}; a sandbox or the limit of open files (`ulimit -n`) may forbid it")]
    Runtime(io::Error),
}

/// A server that has its port and answers nothing yet.
#[derive(Debug)]
pub struct Server {
    listener: std::net::TcpListener,
    address: SocketAddr,
    runs: PathBuf,
}

impl Server {
    /// Takes the port, on the loopback.
    pub fn bind(options: &Options) -> Result<Self, ServeError> {
        let listen = |port| {
            let bound = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port));
            bound.map_err(|source| ServeError::Listen { port, source })
        };
        let listener = match options.port {
            Some(port) => listen(port)?,
            None => listen(PORT).or_else(|_| listen(0))?,
        };
        let prepared = listener.set_nonblocking(true).and_then(|()| listener.local_addr());
        let address = prepared.map_err(ServeError::Runtime)?;
        Ok(Self { listener, address, runs: options.runs.clone() })
    }

    /// Where the first page is.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Answers until the process is interrupted or asked to end.
    pub fn run(self) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(ServeError::Runtime)?;
        let ended = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
            let site = routes::router(Arc::new(Library::new(self.runs)), self.address.port());
            // Pages may be open that wait for events for ever, so nobody waits for them.
            tokio::spawn(async move { axum::serve(listener, site).await });
            let interrupt = std::pin::pin!(tokio::signal::ctrl_c());
            let terminate = std::pin::pin!(terminate.recv());
            futures_util::future::select(interrupt, terminate).await;
            Ok(())
        });
        runtime.shutdown_timeout(LAST_PAGE);
        ended.map_err(ServeError::Runtime)
    }
}
