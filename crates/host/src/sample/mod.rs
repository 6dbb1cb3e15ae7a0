//! What the parts of a trial use: CPU time, waiting, throttling, memory, disk, network. Also what the rest of the
//! machine does meanwhile.
//!
//! If a part has a control group, CPU time and memory come from the group. That is exact whatever its processes do, and
//! takes a few file reads however many there are.
//!
//! Without groups, CPU time is summed over threads from the scheduler's nanoseconds (`/proc/<tid>/schedstat`). The
//! clock of their process covers threads that have ended, but a process that lives only between two readings is lost.
//! The ticks of `/proc/<pid>/stat` are never used: they would lose a tenth and more on servers with hundreds of
//! processes.
//!
//! The cost of a reading determines how often it is made. Group files cost some microseconds and are read at every
//! tick, intended to be every 100 ms. Processes, network, events and the machine are read once a second and at the
//! borders of the window. Proportional set sizes cost milliseconds and block the process meanwhile, so they are read
//! once, after the load.
//!
//! A figure that the kernel does not provide, or not to this user, is absent, never 0.
//! [`SoftwareCounters::unavailable`] and [`DiagnosticCounters::unavailable`] name the missing counters and the reasons.

mod counters;
mod host;
mod kept;
mod line;
mod network;
mod part;
pub mod perf;
mod process;
mod read_back;
mod sampler;
mod series;
mod tasks;
mod usage;
mod wire;
mod wire_filter;
mod wire_socket;

pub use counters::{
    DiagnosticCount, DiagnosticCounters, DiagnosticCounts, DiagnosticReading, Scope, SoftwareCounters, SoftwareEvents,
};
pub use host::HostReading;
pub(crate) use line::as_seconds;
pub use line::{Reading, Sample};
pub use network::NetworkBytes;
pub use part::{Followed, Members, NetOf, Part};
pub use process::{ProcessTree, descendants, pss_bytes};
pub use read_back::ReadBack;
pub use sampler::{Folders, Sampler};
pub use series::{Border, Series, Window};
pub use tasks::{TaskReading, threads_of};
pub use usage::{NoUsage, SecondUsage, WindowUsage};
pub use wire::{WireLine, WireWatch, wire_window};
