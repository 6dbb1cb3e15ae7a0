//! A network link in user space: delay, jitter, rate, loss and a bounded queue, packet by packet, between two TUN devices
//! in two network namespaces.
//!
//! The kernel on either side sees an ordinary network device, so handshakes, slow start, congestion control and
//! retransmissions are the kernel's own. A proxy that holds back bytes instead would answer handshakes itself and hide all
//! of this. Kernels have such a thing as netem, but not all of them; this works wherever there is `/dev/net/tun`, it is
//! the same everywhere, it is seeded, and it tells how late it was itself.
//!
//! [`model`](Direction) says what becomes of a packet and is pure: it is handed instants. [`run`] is the loop that moves
//! the packets. [`tun`] makes the devices. The crate knows no study, no trial and none of our other crates.

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
pub use error::LinkError;
pub use model::{Direction, Fate, Held};
pub use run::{LinkJob, run};
pub use spec::{LinkSpec, MTU_BYTES};
