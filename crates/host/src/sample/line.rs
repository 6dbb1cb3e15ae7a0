//! Readings as lines of `samples.jsonl`, from which every figure of a window can be computed again.

use serde::Serialize;

use super::counters::SoftwareEvents;
use super::host::HostReading;
use super::network::NetworkBytes;
use super::part::Part;
use super::tasks::{BUSIEST, TaskReading};
use crate::group::GroupReading;

/// One reading of one source: a line of `samples.jsonl`. Times and counts are so far; what is absent was not there.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Sample {
    /// Seconds since the trial's clock began.
    pub at_s: f64,
    /// Whom it is about, or `None` for the whole machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// What was read: `group`, `processes`, `network`, `events`, `host`.
    pub source: &'static str,
    /// The figures by name.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Figures with their names, without those that are absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures(Vec<(&'static str, Figure)>);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Figure {
    Whole(u64),
    Seconds(f64),
}

impl Figures {
    /// The figure of a name, or `None` where it is absent.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(one, _)| *one == name).map(|(_, figure)| match figure {
            Figure::Whole(whole) => *whole as f64,
            Figure::Seconds(seconds) => *seconds,
        })
    }

    fn whole(mut self, name: &'static str, value: impl Into<Option<u64>>) -> Self {
        self.0.extend(value.into().map(|value| (name, Figure::Whole(value))));
        self
    }

    /// The busiest threads, each with its number among the system's threads and its CPU time.
    fn busiest(self, threads: &[Option<(u32, u64)>; BUSIEST]) -> Self {
        const NAMES: [(&str, &str); BUSIEST] = [
            ("busiest_1_tid", "busiest_1_cpu_s"),
            ("busiest_2_tid", "busiest_2_cpu_s"),
            ("busiest_3_tid", "busiest_3_cpu_s"),
            ("busiest_4_tid", "busiest_4_cpu_s"),
        ];
        let told = NAMES.into_iter().zip(threads.iter().flatten());
        told.fold(self, |figures, ((tid, cpu_s), thread)| {
            figures.whole(tid, u64::from(thread.0)).seconds(cpu_s, Some(thread.1))
        })
    }

    fn seconds(mut self, name: &'static str, nanoseconds: Option<u64>) -> Self {
        self.0.extend(nanoseconds.map(|nanoseconds| (name, Figure::Seconds(nanoseconds as f64 / 1e9))));
        self
    }
}

impl Serialize for Figures {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, figure)| (name, figure)))
    }
}

impl Serialize for Figure {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(whole) => serializer.serialize_u64(*whole),
            Self::Seconds(seconds) => serializer.serialize_f64(*seconds),
        }
    }
}

impl From<&GroupReading> for Figures {
    fn from(group: &GroupReading) -> Self {
        let (throttling, memory, disk) = (group.throttling.as_ref(), group.memory.as_ref(), group.disk.as_ref());
        Self::default()
            .seconds("cpu_s", group.cpu_ns)
            .seconds("user_s", group.user_ns)
            .seconds("system_s", group.system_ns)
            .whole("periods", throttling.map(|throttling| throttling.periods))
            .whole("throttled_periods", throttling.map(|throttling| throttling.throttled_periods))
            .seconds("throttled_s", throttling.map(|throttling| throttling.throttled_ns))
            .whole("usage_bytes", memory.map(|memory| memory.usage_bytes))
            .whole("anonymous_bytes", memory.map(|memory| memory.anonymous_bytes))
            .whole("kernel_bytes", memory.map(|memory| memory.kernel_bytes))
            .whole("peak_bytes", memory.and_then(|memory| memory.peak_bytes))
            .whole("oom_kills", memory.map(|memory| memory.oom_kills))
            .whole("tasks", group.tasks)
            .whole("disk_read_bytes", disk.map(|disk| disk.read_bytes))
            .whole("disk_written_bytes", disk.map(|disk| disk.written_bytes))
    }
}

impl From<&TaskReading> for Figures {
    fn from(tasks: &TaskReading) -> Self {
        Self::default()
            .seconds("cpu_s", tasks.spent.map(|spent| spent.cpu_ns))
            .seconds("run_queue_wait_s", tasks.spent.map(|spent| spent.run_queue_wait_ns))
            .whole("timeslices", tasks.spent.map(|spent| spent.timeslices))
            .whole("rss_sum_bytes", tasks.rss_sum_bytes)
            .whole("processes", tasks.processes)
            .whole("threads", tasks.threads)
            .busiest(&tasks.busiest)
    }
}

impl From<&NetworkBytes> for Figures {
    fn from(network: &NetworkBytes) -> Self {
        Self::default()
            .whole("received_bytes", network.received_bytes)
            .whole("sent_bytes", network.sent_bytes)
            .whole("loopback_bytes", network.loopback_bytes)
    }
}

impl From<&SoftwareEvents> for Figures {
    fn from(events: &SoftwareEvents) -> Self {
        Self::default()
            .whole("context_switches", events.context_switches)
            .whole("migrations", events.migrations)
            .whole("minor_faults", events.minor_faults)
            .whole("major_faults", events.major_faults)
            .seconds("task_clock_s", events.task_clock_ns)
    }
}

impl From<&HostReading> for Figures {
    fn from(host: &HostReading) -> Self {
        Self::default()
            .seconds("busy_s", host.busy_ns)
            .seconds("steal_s", host.steal_ns)
            .seconds("softirq_s", host.softirq_ns)
            .seconds("cpu_pressure_s", host.cpu_pressure_ns)
            .seconds("memory_pressure_s", host.memory_pressure_ns)
            .seconds("io_pressure_s", host.io_pressure_ns)
            .whole("runnable_tasks", host.runnable_tasks)
            .whole("frequency_min_hz", host.frequency_min_hz)
            .whole("frequency_max_hz", host.frequency_max_hz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::{GroupMemory, Throttling};
    use crate::sample::tasks::Spent;

    fn line(at_s: f64, part: Option<Part>, source: &'static str, figures: Figures) -> String {
        serde_json::to_string(&Sample { at_s, part, source, figures }).unwrap()
    }

    #[test]
    fn a_reading_is_a_line_without_what_is_absent() {
        let memory =
            GroupMemory { usage_bytes: 9, anonymous_bytes: 5, kernel_bytes: 1, peak_bytes: None, oom_kills: 0 };
        let throttling = Throttling { periods: 4, throttled_periods: 0, throttled_ns: 0 };
        let group = GroupReading { cpu_ns: Some(2_500_000_000), memory: Some(memory), ..GroupReading::default() };
        let group = GroupReading { throttling: Some(throttling), ..group };
        assert_eq!(
            line(0.25, Some(Part::Subject), "group", Figures::from(&group)),
            r#"{"at_s":0.25,"part":"subject","source":"group","cpu_s":2.5,"periods":4,"throttled_periods":0,"throttled_s":0.0,"usage_bytes":9,"anonymous_bytes":5,"kernel_bytes":1,"oom_kills":0}"#
        );
        let spent = Some(Spent { cpu_ns: 1, run_queue_wait_ns: 0, timeslices: 3 });
        let busiest = [Some((12, 600_000_000)), Some((7, 100_000_000)), None, None];
        let tasks = TaskReading { spent, rss_sum_bytes: 4096, processes: 1, threads: 2, busiest };
        assert_eq!(
            line(1.0, Some(Part::Generator), "processes", Figures::from(&tasks)),
            r#"{"at_s":1.0,"part":"generator","source":"processes","cpu_s":1e-9,"run_queue_wait_s":0.0,"timeslices":3,"rss_sum_bytes":4096,"processes":1,"threads":2,"busiest_1_tid":12,"busiest_1_cpu_s":0.6,"busiest_2_tid":7,"busiest_2_cpu_s":0.1}"#
        );
    }

    #[test]
    fn the_machine_is_no_part() {
        let host = HostReading { busy_ns: Some(10_000_000), runnable_tasks: Some(3), ..HostReading::default() };
        assert_eq!(
            line(2.0, None, "host", Figures::from(&host)),
            r#"{"at_s":2.0,"source":"host","busy_s":0.01,"runnable_tasks":3}"#
        );
        let network = NetworkBytes { received_bytes: 1, sent_bytes: 2, loopback_bytes: 3 };
        assert_eq!(Figures::from(&network).get("sent_bytes"), Some(2.0));
        let events = SoftwareEvents { major_faults: Some(0), ..SoftwareEvents::default() };
        assert_eq!(Figures::from(&events).get("major_faults"), Some(0.0));
        assert_eq!(Figures::from(&events).get("migrations"), None);
    }
}
