//! What the parts of a trial use: CPU time, waiting, throttling, memory, disk, network; and what the rest of the machine
//! does at the same time.
//!
//! CPU time and memory come from the control group of a part where it has one: exact, whatever its processes do, and one
//! reading of a few files however many they are. Where there are no groups, CPU time is summed over threads from the
//! scheduler's own nanoseconds (`/proc/<tid>/schedstat`), with those that have ended by the clock of their process; a process
//! that lives between two readings only is lost. The ticks of `/proc/<pid>/stat` are never used: they
//! would lose a tenth and more on servers with hundreds of processes.
//!
//! What is read how often follows from what it costs. Group files cost some microseconds and are read at every tick,
//! meant each 100 ms. Processes, network, events and the machine are read once a second and at the borders of the window.
//! Proportional set sizes cost milliseconds and hold up the process that is looked at, and are read once, after the load.
//!
//! A figure that the kernel does not give, or not to this user, is absent, and never 0; [`Sampler::unavailable`] says what and why.

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
