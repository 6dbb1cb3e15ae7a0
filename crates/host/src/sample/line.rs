//! Readings as lines of `samples.jsonl`, which suffice to recompute every figure of a window.

use serde::{Deserialize, Serialize};

use super::counters::SoftwareEvents;
use super::host::HostReading;
use super::network::NetworkBytes;
use super::part::Part;
use super::tasks::TaskReading;
use crate::group::GroupReading;

/// One reading of one source: a line of `samples.jsonl`. Times and counts are totals so far. Unknown figures are left
/// out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Seconds since the trial's clock began.
    pub at_s: f64,
    /// The part, or `None` for the whole machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    #[serde(flatten)]
    pub reading: Reading,
}

/// The figures of one source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "source", rename_all = "lowercase")]
pub enum Reading {
    Group(GroupReading),
    Processes(TaskReading),
    Network(NetworkBytes),
    Events(SoftwareEvents),
    Host(HostReading),
}

/// Nanoseconds in memory, seconds in the file. For `u64` and `Option<u64>`.
pub(crate) mod as_seconds {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer, T: Copy + Into<Option<u64>>>(
        ns: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64((*ns).into().unwrap_or_default() as f64 / 1e9)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: From<u64>>(deserializer: D) -> Result<T, D::Error> {
        f64::deserialize(deserializer).map(|seconds| T::from((seconds * 1e9).round() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::{GroupMemory, Throttling};
    use crate::sample::tasks::Spent;

    fn line(at_s: f64, part: Option<Part>, reading: Reading) -> String {
        serde_json::to_string(&Sample { at_s, part, reading }).unwrap()
    }

    #[test]
    fn a_reading_is_a_line_without_what_is_absent() {
        let memory =
            GroupMemory { usage_bytes: 9, anonymous_bytes: 5, kernel_bytes: 1, peak_bytes: None, oom_kills: 0 };
        let throttling = Throttling { periods: 4, throttled_periods: 0, throttled_ns: 0 };
        let group = GroupReading { cpu_ns: Some(2_500_000_000), memory: Some(memory), ..GroupReading::default() };
        let group = GroupReading { throttling: Some(throttling), ..group };
        assert_eq!(
            line(0.25, Some(Part::Subject), Reading::Group(group)),
            r#"{"at_s":0.25,"part":"subject","source":"group","cpu_s":2.5,"periods":4,"throttled_periods":0,"throttled_s":0.0,"usage_bytes":9,"anonymous_bytes":5,"kernel_bytes":1,"oom_kills":0}"#
        );
        let spent = Some(Spent { cpu_ns: 1, run_queue_wait_ns: 0, timeslices: 3 });
        let busiest = [Some((12, 600_000_000)), Some((7, 100_000_000)), None, None];
        let tasks = TaskReading { spent, rss_sum_bytes: 4096, processes: 1, threads: 2, busiest };
        assert_eq!(
            line(1.0, Some(Part::Generator), Reading::Processes(tasks)),
            r#"{"at_s":1.0,"part":"generator","source":"processes","cpu_s":1e-9,"run_queue_wait_s":0.0,"timeslices":3,"rss_sum_bytes":4096,"processes":1,"threads":2,"busiest_1_tid":12,"busiest_1_cpu_s":0.6,"busiest_2_tid":7,"busiest_2_cpu_s":0.1}"#
        );
    }

    #[test]
    fn the_machine_is_no_part() {
        let host = HostReading { busy_ns: Some(10_000_000), runnable_tasks: Some(3), ..HostReading::default() };
        assert_eq!(
            line(2.0, None, Reading::Host(host)),
            r#"{"at_s":2.0,"source":"host","busy_s":0.01,"runnable_tasks":3}"#
        );
    }
}
