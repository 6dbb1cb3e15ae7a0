//! Sockets: opening connections, sending requests, receiving answers, TLS, and the kernel's event queue. Knows no schedule and
//! no histogram, and never waits for anything but the queue.

mod connection;
mod connector;
mod greeting;
pub(crate) mod h2;
mod poller;
pub(crate) mod tls;

pub(crate) use connection::{Connection, Stream, Untold};
pub(crate) use connector::{Address, Connector};
pub(crate) use poller::{Interest, Poller, Ready};
pub(crate) use tls::TlsClient;
