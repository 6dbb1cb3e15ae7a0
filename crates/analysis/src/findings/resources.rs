//! What a subject used.

use schemars::JsonSchema;
use serde::Serialize;

/// What is called memory in a scenario's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemorySource {
    /// Anonymous and kernel memory of the subject's control group, the most of it in the window.
    Group,
    /// Proportional set sizes of the subject's processes when the window ended.
    Pss,
}

/// What the subject used. Where it says per good, it is for each good answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ResourcesFinding {
    /// Where its CPU time was read: `group`, `threads`, or `both` where trials differ; none without a scored trial.
    pub cpu_source: Option<String>,
    /// CPU time in user mode.
    pub user_s_per_good: Option<f64>,
    /// CPU time in the kernel.
    pub system_s_per_good: Option<f64>,
    /// Time that its threads were ready to run and waited for a CPU.
    pub run_queue_wait_s_per_good: Option<f64>,
    /// Times that one of its threads was given a CPU.
    pub timeslices_per_good: Option<f64>,
    /// Context switches.
    pub context_switches_per_good: Option<f64>,
    /// Moves of a thread from one CPU to another.
    pub migrations_per_good: Option<f64>,
    /// Page faults.
    pub page_faults_per_good: Option<f64>,
    /// Bytes received through the interfaces of its network namespace.
    pub received_bytes_per_good: Option<f64>,
    /// Bytes sent.
    pub sent_bytes_per_good: Option<f64>,
    /// Bytes read from disks.
    pub disk_read_bytes_per_good: Option<f64>,
    /// Bytes written to disks.
    pub disk_written_bytes_per_good: Option<f64>,
    /// What its quota took from it; none without a quota.
    pub throttling: Option<ThrottlingFinding>,
    /// Most anonymous and kernel memory of its control group.
    pub anonymous_and_kernel_bytes: Option<f64>,
    /// Proportional set sizes when the window ended.
    pub pss_bytes: Option<f64>,
    /// Largest sum of resident sets, which counts shared pages once per process.
    pub rss_sum_bytes: Option<f64>,
    /// The highest usage of its control group in any trial, page cache included, since the trial's start where the kernel
    /// keeps that: what a limit is held against.
    pub peak_bytes: Option<f64>,
    /// That peak as a share of the limit; none without a limit.
    pub peak_of_limit: Option<f64>,
    /// Processes that the kernel killed because the limit was reached.
    pub oom_kills: u64,
    /// Most threads seen at once.
    pub threads_max: u32,
    /// Share of the window in which some task of the machine waited for a CPU.
    pub cpu_pressure: Option<f64>,
    /// Share of the window in which some task of the machine waited for memory.
    pub memory_pressure: Option<f64>,
    /// Share of the window in which some task of the machine waited for a disk.
    pub io_pressure: Option<f64>,
    /// Most tasks of the machine at once that ran or were ready to run, in the median trial.
    pub runnable_max: Option<f64>,
    /// Lowest frequency of any CPU of the machine that was seen.
    pub frequency_hz_min: Option<f64>,
    /// Highest frequency that was seen.
    pub frequency_hz_max: Option<f64>,
}

/// What a quota took from a case, over all scored trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct ThrottlingFinding {
    /// Periods of the quota.
    pub periods: u64,
    /// Those in which the subject was stopped because its share was used up.
    pub throttled_periods: u64,
    /// The second as a share of the first, from 0 to 1.
    pub share: f64,
    /// How long its CPUs were stopped, summed over them, in seconds.
    pub throttled_s: f64,
}
