//! What a record stores of a case in slices.

use serde::{Deserialize, Serialize};

use crate::record::resources::{CpuSource, HostWindow, MemoryUse};

/// The lab's own readings of a launch, in `window.json`. The slices of the case are in `slices.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RawSlices {
    /// Number of the launch.
    pub launch: u32,
    /// From the first slice to the last, in seconds.
    pub span_s: f64,
    /// Share of that span in which windows were open, of all cases together.
    pub measured_share: f64,
    /// Whether all other servers were frozen during a slice.
    pub frozen: bool,
    /// The rest of the machine over the span.
    pub host: HostWindow,
    /// Processes and threads of the case's server at the end of the launch.
    pub processes: u32,
    pub threads: u32,
    /// Memory of the server's control group over the launch and all its workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryUse>,
    /// Where the CPU time of its slices was read.
    #[serde(default = "by_the_group", skip_serializing_if = "is_by_the_group")]
    pub cpu_source: CpuSource,
}

/// Older records without the field were made with control groups.
fn by_the_group() -> CpuSource {
    CpuSource::Group
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_by_the_group(source: &CpuSource) -> bool {
    *source == CpuSource::Group
}

/// The slices of a case in one launch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SliceFigures {
    /// Number of the launch.
    pub launch: u32,
    /// Whether all other servers were frozen during its slices.
    pub frozen: bool,
    /// From the first slice of the launch to the last, in seconds.
    pub span_s: f64,
    /// Share of that span in which windows were open, of all cases together.
    pub measured_share: f64,
    /// Requests of all its slices, including lead-in and drain: `sent = good + failed + unanswered`.
    pub sent: u64,
    pub whole_good: u64,
    pub whole_failed: u64,
    /// Unanswered when the drain ended; no later slice contains them.
    pub unanswered: u64,
    /// CPU time of all its slices, including lead-in and drain, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_cpu_s: Option<f64>,
    /// Longest drain of a slice, in seconds.
    pub drain_s_max: f64,
    /// Slices whose drain was cut short.
    pub not_drained: u32,
    /// Slices in which the server did not become idle.
    pub not_frozen: u32,
    /// Correct responses of each 10 ms of its warm-up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warm_up_by_10ms: Vec<u32>,
    /// The slices in execution order.
    pub rows: Vec<SliceRow>,
}

/// One slice of a case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SliceRow {
    /// Its place in the launch, from 0.
    pub slice: u32,
    /// The round of its scenario, from 1.
    pub round: u32,
    /// 1 for the permutation, 2 for its mirror.
    pub half: u32,
    pub window_s: f64,
    /// Correct responses in the window.
    pub good: u64,
    /// Failed requests in the window.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub failed: u64,
    /// Correct responses of the whole slice, including lead-in and drain.
    pub whole_good: u64,
    /// CPU time of the server over the whole slice, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
}

impl SliceRow {
    /// Correct responses per second.
    pub fn goodput_rps(&self) -> f64 {
        self.good as f64 / self.window_s
    }

    /// CPU time per correct response, in seconds, or `None` without a correct response or a reading.
    pub fn cpu_s_per_good(&self) -> Option<f64> {
        self.cpu_s.filter(|_| self.whole_good > 0).map(|cpu_s| cpu_s / self.whole_good as f64)
    }
}
