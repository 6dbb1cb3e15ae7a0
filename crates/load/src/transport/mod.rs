//! Sockets: opens connections, sends requests, receives answers, with TLS and the kernel's event queue. It uses neither schedule nor
//! histograms, and blocks only on the event queue.

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
