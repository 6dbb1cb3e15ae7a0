//! What the kernel offers for measuring, and how busy it is now.

use serde::{Deserialize, Serialize};

use super::files::Files;
use super::others::Others;
use super::parse;

/// What the kernel offers for measuring.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instruments {
    /// Who may use perf events: -1 everyone without limit, 1 everyone including kernel events, 2 everyone for programs
    /// only, 3 only those with the right. `None` if the kernel has no perf events.
    pub perf_event_paranoid: Option<i32>,
    /// Whether the processor's own counters are available.
    pub hardware_counters: bool,
    /// Whether the kernel counts how long tasks wait for CPUs (PSI).
    pub pressure: bool,
    /// Whether it reports how long each task ran and waited.
    pub schedstat: bool,
    /// Whether it reports a process's proportional set size (PSS).
    pub proportional_memory: bool,
}

/// How busy the machine is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Runnable tasks, averaged over 1, 5 and 15 minutes.
    pub load_average: Option<[f64; 3]>,
    /// The percentage of the last 10 s in which at least one task waited for a CPU.
    pub cpu_pressure_avg10_percent: Option<f64>,
    /// The fraction of all CPU time since boot that the hypervisor gave to others.
    pub steal_fraction: Option<f64>,
    /// What other programs took while tolok looked; absent where it did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
}

pub(super) fn read(files: Files) -> Instruments {
    // Processors with two kinds of cores, and Arm processors, have counters under other names.
    let counters = |name: &String| name == "cpu" || name.starts_with("cpu_") || name.starts_with("armv");
    Instruments {
        perf_event_paranoid: files.number("proc/sys/kernel/perf_event_paranoid"),
        hardware_counters: files.names("sys/bus/event_source/devices").iter().any(counters),
        // If pressure was switched off at boot, the file exists but cannot be read.
        pressure: files.word("proc/pressure/cpu").is_some(),
        schedstat: files.word("proc/self/schedstat").is_some(),
        proportional_memory: files.exists("proc/self/smaps_rollup"),
    }
}

pub(super) fn moment(files: Files) -> Moment {
    Moment {
        load_average: files.text("proc/loadavg").and_then(|text| parse::load_average(&text)),
        cpu_pressure_avg10_percent: files.text("proc/pressure/cpu").and_then(|text| parse::pressure_some_avg10(&text)),
        steal_fraction: files.text("proc/stat").and_then(|text| parse::steal_fraction(&text)),
        others: None,
    }
}
