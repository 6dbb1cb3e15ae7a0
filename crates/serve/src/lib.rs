//! Pages of stored and active runs: a list, each run with its report, two runs compared, several overlaid.
//!
//! The server listens on the loopback interface only and answers to its own names only (see [`guard`]). It only reads: it writes no file,
//! takes no lock and starts nothing. It shows the findings of [`tolok_analysis`] in the words of [`tolok_report`].
//!
//! - [`library`]: the runs of a folder, and a cache of their contents.
//! - [`tail`], [`live`], [`stream`]: read the events of an active run, add them up, and pass them on.
//! - [`pages`]: the pages. [`routes`]: their addresses.
//!
//! This is the only crate with an asynchronous runtime, because pages wait for events. Code that reads files runs on a separate thread.

mod connections;
mod guard;
#[cfg(test)]
#[path = "../../analysis/tests/invented/mod.rs"]
mod invented;
mod library;
mod live;
mod pages;
mod routes;
#[cfg(test)]
#[path = "../tests/stored/mod.rs"]
mod stored;
mod stream;
mod tail;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use library::Library;
pub use pages::list::{Brief, StateWords, briefs};

pub const PORT: u16 = 7357;

/// How long the server waits for pages in progress when it ends.
const LAST_PAGE: Duration = Duration::from_secs(1);

/// What to serve, and where.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of runs. It need not exist yet.
    pub runs: PathBuf,
    /// The port; 0 for any free one. `None` means [`PORT`], or any free one if that is taken.
    pub port: Option<u16>,
}

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(
        "cannot listen on 127.0.0.1:{port}: {source}; choose another with --port N, or any that is free with --port 0"
    )]
    Listen { port: u16, source: io::Error },
    /// The runtime or the signal handler could not be set up.
    #[error("cannot serve: {0}; a sandbox or the limit of open files (`ulimit -n`) may forbid it")]
    Runtime(io::Error),
}

/// A server that has its port but does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: std::net::TcpListener,
    address: SocketAddr,
    runs: PathBuf,
}

impl Server {
    /// Binds the port on the loopback interface.
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

    /// The address of the first page.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Answers until the process gets SIGINT or SIGTERM.
    pub fn run(self) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(ServeError::Runtime)?;
        let ended = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
            let site = routes::router(Arc::new(Library::new(self.runs)), self.address.port());
            // Open pages may wait for events forever, so the server does not wait for them.
            tokio::spawn(connections::serve(listener, site, connections::BOUNDS));
            let interrupt = std::pin::pin!(tokio::signal::ctrl_c());
            let terminate = std::pin::pin!(terminate.recv());
            futures_util::future::select(interrupt, terminate).await;
            Ok(())
        });
        runtime.shutdown_timeout(LAST_PAGE);
        ended.map_err(ServeError::Runtime)
    }
}
