//! What a record stores of a window besides its responses: the resources used by the trial's parts and by the rest of
//! the machine, and the work of an emulated link.

use serde::{Deserialize, Serialize};

/// The share of the machine's CPUs that other programs may use. An idle system uses less, and only some of that falls on the
/// subject's CPUs.
pub const FOREIGN_TOLERATED: f64 = 0.05;
/// The share of the machine's CPUs that the hypervisor may take. It takes time from all parts alike, and no figure can be
/// corrected for it, so the limit is low. A quiet host takes about a tenth of it.
pub const STEAL_TOLERATED: f64 = 0.01;

/// Resources that a part of the trial used in the window. Values that could not be read are absent, never zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// CPU time of all its processes, user and system, in seconds.
    pub cpu_s: f64,
    /// Where the CPU time was read.
    #[serde(default)]
    pub cpu_source: CpuSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_s: Option<f64>,
    /// Time that its threads waited for a CPU, in seconds.
    pub run_queue_wait_s: f64,
    /// CPU time of its busiest thread, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_thread_cpu_s: Option<f64>,
    /// Most processes at once.
    pub processes_max: u32,
    /// Most threads at once.
    pub threads_max: u32,
    /// Largest sum of resident sets; counts shared pages once per process.
    pub rss_sum_bytes_max: u64,
    /// Sum of proportional set sizes, read once when the window ended.
    pub pss_bytes: Option<u64>,
    /// Throttling by its quota; absent without a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttling: Option<Throttling>,
    /// Memory as its control group counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryUse>,
    /// Processes and threads that its limit prevented since the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_tasks: Option<u64>,
    /// Counts of the scheduler and the memory management.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerCounts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_read_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_written_bytes: Option<u64>,
    /// Traffic through the network interfaces of its namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkBytes>,
}

/// Where CPU time was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CpuSource {
    /// From each thread. The time of threads that ended between two readings is lost.
    #[default]
    Threads,
    /// From the control group, without loss.
    Group,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Throttling {
    /// Periods of the quota in the window.
    pub periods: u64,
    /// Periods in which the quota stopped the part.
    pub throttled_periods: u64,
    /// How long its CPUs were stopped, summed over CPUs, in seconds.
    pub throttled_s: f64,
}

/// Memory of a control group in the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// Most anonymous and kernel memory at once: what the part itself needs.
    pub anonymous_and_kernel_bytes_max: u64,
    /// Highest total usage, including the page cache: what a limit applies to.
    pub usage_bytes_max: u64,
    /// The highest usage since the start, as the kernel recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// Processes that the kernel killed because the limit was reached, since the start.
    pub oom_kills: u64,
}

/// Counts of the scheduler and of the memory management in the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulerCounts {
    /// Times that a thread got a CPU.
    pub timeslices: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    /// Moves of a thread from one CPU to another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migrations: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_faults: Option<u64>,
}

/// Bytes through the interfaces of a network namespace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkBytes {
    pub received_bytes: u64,
    pub sent_bytes: u64,
}

/// The rest of the machine during the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostWindow {
    /// CPU time of programs outside the trial, in seconds.
    pub foreign_cpu_s: f64,
    /// CPU time that the hypervisor took, in seconds.
    pub steal_s: f64,
    /// Load average over one minute when the trial began.
    pub load_average: f64,
    /// Share of the window in which some task of the machine waited for a CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pressure: Option<f64>,
    /// Share of the window in which some task waited for memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_pressure: Option<f64>,
    /// Share of the window in which some task waited for a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_pressure: Option<f64>,
    /// Most runnable tasks at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runnable_max: Option<u64>,
    /// Lowest frequency of any CPU of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_hz_min: Option<f64>,
    /// Highest frequency of any CPU of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_hz_max: Option<f64>,
}

/// A disturbance of a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// As a word: `steal`, `foreign-cpu`, `taken-from-subject`, `link-late`, `link-dropped`.
    pub kind: String,
    /// Its amount, as a share or in seconds.
    pub value: f64,
    pub text: String,
}

/// The work of an emulated link in the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkWindow {
    /// To the subject, from client or database.
    pub to_subject: LinkDirection,
    /// From the subject, to client or database.
    pub to_client: LinkDirection,
    /// Whether the emulator ran with real-time priority.
    pub realtime: bool,
    /// CPU time of the emulator, in seconds.
    pub cpu_s: f64,
}

/// One direction of an emulated link in the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkDirection {
    /// Packets received, including dropped ones.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
    /// Dropped because the queue was full.
    pub dropped_queue: u64,
    /// Dropped because the study requests loss.
    pub dropped_loss: u64,
    /// Dropped because the kernel at the far end did not accept them, which no study requests.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub dropped_refused: u64,
    /// Dropped by the device before the link, because the link read too late; not in `packets`.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub dropped_before: u64,
    /// Mean delay of packets beyond their due time, in seconds.
    pub lateness_s_mean: f64,
    /// Largest delay of a packet beyond its due time, in seconds.
    pub lateness_s_max: f64,
}
