//! What processes use: CPU time, waiting for CPUs, memory, threads; and what the rest of the machine does meanwhile.
//!
//! CPU time comes from the scheduler's own nanoseconds (`/proc/<pid>/task/*/schedstat`). The ticks of `/proc/<pid>/stat`
//! would lose a tenth and more on servers with hundreds of processes. What a process uses after the last reading before
//! its end is lost, and so is one that lives between two readings only.

mod host;
mod process;
mod sampler;

pub use host::HostTimes;
pub use process::{ProcessTree, ProcessUsage, ThreadUsage, descendants, pss_bytes};
pub use sampler::{NoUsage, Part, Sample, Sampler, WindowUsage};
