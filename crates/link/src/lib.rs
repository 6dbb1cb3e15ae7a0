//! A network link in user space, between two TUN devices in two network namespaces. Emulates delay, jitter, rate, loss and a bounded queue
//! for each packet.
//!
//! The kernel on either side sees an ordinary network device. So handshakes, slow start, congestion control and retransmissions are the
//! kernel's own. A proxy that delays bytes would instead answer handshakes itself and hide all of this. netem does the same, but not all
//! kernels have it. This link works wherever `/dev/net/tun` exists, and is the same everywhere. It is seeded, and it reports its own
//! lateness.
//!
//! [`model`](Direction) decides the fate of a packet and is pure: it takes instants as arguments. [`run`] is the loop that moves the
//! packets. [`tun`] creates the devices. The crate does not depend on studies, trials or any of our other crates.

#![warn(missing_docs)]

mod counts;
mod device;
mod error;
mod line;
mod model;
mod netlink;
mod run;
mod spec;
mod sys;
mod timer;
pub mod tun;

pub use counts::{DirectionCounts, LinkRow, read_report};
pub use device::dropped_in;
pub use error::LinkError;
pub use model::{Direction, Fate, Held};
pub use run::{LinkJob, run};
pub use spec::{LinkSpec, MTU_BYTES};
