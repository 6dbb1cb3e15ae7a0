//! Lines of `samples.jsonl` as readings again, so that every figure of a window can be computed from the file alone.

use std::collections::BTreeMap;

use serde::Deserialize;
use tolok_load::clock::MonotonicNs;

use super::counters::SoftwareEvents;
use super::host::HostReading;
use super::network::NetworkBytes;
use super::part::Part;
use super::series::{Series, Window};
use super::tasks::{Spent, TaskReading};
use super::usage::{NoUsage, Readings, SecondUsage, WindowUsage, window_usage};
use crate::group::{DiskBytes, GroupMemory, GroupReading, Throttling};

/// All readings of a trial.
#[derive(Debug, Default)]
pub struct ReadBack {
    host: Series<HostReading>,
    parts: BTreeMap<Part, Readings>,
}

/// A line, with every figure that any source has.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line {
    at_s: f64,
    part: Option<Part>,
    source: String,
    cpu_s: Option<f64>,
    user_s: Option<f64>,
    system_s: Option<f64>,
    periods: Option<u64>,
    throttled_periods: Option<u64>,
    throttled_s: Option<f64>,
    usage_bytes: Option<u64>,
    anonymous_bytes: Option<u64>,
    kernel_bytes: Option<u64>,
    peak_bytes: Option<u64>,
    oom_kills: Option<u64>,
    tasks: Option<u64>,
    disk_read_bytes: Option<u64>,
    disk_written_bytes: Option<u64>,
    run_queue_wait_s: Option<f64>,
    timeslices: Option<u64>,
    rss_sum_bytes: Option<u64>,
    processes: Option<u64>,
    threads: Option<u64>,
    busiest_1_tid: Option<u32>,
    busiest_1_cpu_s: Option<f64>,
    busiest_2_tid: Option<u32>,
    busiest_2_cpu_s: Option<f64>,
    busiest_3_tid: Option<u32>,
    busiest_3_cpu_s: Option<f64>,
    busiest_4_tid: Option<u32>,
    busiest_4_cpu_s: Option<f64>,
    received_bytes: Option<u64>,
    sent_bytes: Option<u64>,
    loopback_bytes: Option<u64>,
    context_switches: Option<u64>,
    migrations: Option<u64>,
    minor_faults: Option<u64>,
    major_faults: Option<u64>,
    task_clock_s: Option<f64>,
    busy_s: Option<f64>,
    steal_s: Option<f64>,
    softirq_s: Option<f64>,
    cpu_pressure_s: Option<f64>,
    memory_pressure_s: Option<f64>,
    io_pressure_s: Option<f64>,
    runnable_tasks: Option<u64>,
    frequency_min_hz: Option<u64>,
    frequency_max_hz: Option<u64>,
}

impl ReadBack {
    /// Reads the text of a `samples.jsonl` whose times count from `clock_zero_ns` on `CLOCK_MONOTONIC`. The error says in
    /// words what is wrong with which line.
    pub fn read(text: &str, clock_zero_ns: i64) -> Result<Self, String> {
        let mut read = Self::default();
        for (place, text) in text.lines().enumerate() {
            let wrong = |why: String| format!("line {} is no reading: {why}", place + 1);
            let line: Line = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
            let at = u64::try_from(clock_zero_ns.saturating_add((line.at_s * 1e9).round() as i64));
            let at = at.map_err(|_| wrong("it is from before the clock began".to_owned()))?;
            read.add(MonotonicNs(at), &line).map_err(wrong)?;
        }
        Ok(read)
    }

    /// What was used in a window.
    pub fn usage(&self, window: Window) -> Result<WindowUsage, NoUsage> {
        let parts: Vec<(Part, &Readings)> = self.parts.iter().map(|(part, readings)| (*part, readings)).collect();
        window_usage(&self.host, &parts, window)
    }

    /// What a part used in each whole second of a window, or `None` where it was not followed.
    pub fn by_second(&self, part: Part, window: Window) -> Option<Vec<SecondUsage>> {
        self.parts.get(&part).map(|readings| readings.by_second(window))
    }

    fn add(&mut self, at: MonotonicNs, line: &Line) -> Result<(), String> {
        let Some(part) = line.part else {
            return match line.source.as_str() {
                "host" => push(&mut self.host, at, line.host()),
                other => Err(format!("the machine has no source `{other}`")),
            };
        };
        let readings = self.parts.entry(part).or_default();
        match line.source.as_str() {
            "group" => push(&mut readings.group, at, line.group()),
            "processes" => push(&mut readings.tasks, at, line.tasks()),
            "network" => match line.network() {
                Some(network) => push(&mut readings.network, at, network),
                None => Err("a network is read whole or not at all".to_owned()),
            },
            "events" => push(&mut readings.events, at, line.events()),
            other => Err(format!("a part has no source `{other}`")),
        }
    }
}

fn push<T>(series: &mut Series<T>, at: MonotonicNs, reading: T) -> Result<(), String> {
    if series.iter().last().is_some_and(|(last, _)| *last > at) {
        return Err("it is earlier than the one before it".to_owned());
    }
    series.push(at, reading);
    Ok(())
}

/// Seconds as they are written, back to the nanoseconds that were read.
fn ns(seconds: Option<f64>) -> Option<u64> {
    seconds.map(|seconds| (seconds * 1e9).round() as u64)
}

impl Line {
    fn group(&self) -> GroupReading {
        let throttling = self.periods.zip(self.throttled_periods).zip(ns(self.throttled_s));
        let disk = self.disk_read_bytes.zip(self.disk_written_bytes);
        GroupReading {
            cpu_ns: ns(self.cpu_s),
            user_ns: ns(self.user_s),
            system_ns: ns(self.system_s),
            throttling: throttling.map(|((periods, throttled_periods), throttled_ns)| Throttling {
                periods,
                throttled_periods,
                throttled_ns,
            }),
            memory: self.memory(),
            tasks: self.tasks,
            disk: disk.map(|(read_bytes, written_bytes)| DiskBytes { read_bytes, written_bytes }),
            ..GroupReading::default()
        }
    }

    fn memory(&self) -> Option<GroupMemory> {
        Some(GroupMemory {
            usage_bytes: self.usage_bytes?,
            anonymous_bytes: self.anonymous_bytes?,
            kernel_bytes: self.kernel_bytes?,
            peak_bytes: self.peak_bytes,
            oom_kills: self.oom_kills?,
        })
    }

    fn tasks(&self) -> TaskReading {
        let spent = ns(self.cpu_s).zip(ns(self.run_queue_wait_s)).zip(self.timeslices);
        TaskReading {
            spent: spent.map(|((cpu_ns, run_queue_wait_ns), timeslices)| Spent {
                cpu_ns,
                run_queue_wait_ns,
                timeslices,
            }),
            rss_sum_bytes: self.rss_sum_bytes.unwrap_or_default(),
            processes: self.processes.unwrap_or_default(),
            threads: self.threads.unwrap_or_default(),
            busiest: [
                self.busiest_1_tid.zip(ns(self.busiest_1_cpu_s)),
                self.busiest_2_tid.zip(ns(self.busiest_2_cpu_s)),
                self.busiest_3_tid.zip(ns(self.busiest_3_cpu_s)),
                self.busiest_4_tid.zip(ns(self.busiest_4_cpu_s)),
            ],
        }
    }

    fn network(&self) -> Option<NetworkBytes> {
        Some(NetworkBytes {
            received_bytes: self.received_bytes?,
            sent_bytes: self.sent_bytes?,
            loopback_bytes: self.loopback_bytes?,
        })
    }

    fn events(&self) -> SoftwareEvents {
        SoftwareEvents {
            context_switches: self.context_switches,
            migrations: self.migrations,
            minor_faults: self.minor_faults,
            major_faults: self.major_faults,
            task_clock_ns: ns(self.task_clock_s),
        }
    }

    fn host(&self) -> HostReading {
        HostReading {
            busy_ns: ns(self.busy_s),
            steal_ns: ns(self.steal_s),
            softirq_ns: ns(self.softirq_s),
            cpu_pressure_ns: ns(self.cpu_pressure_s),
            memory_pressure_ns: ns(self.memory_pressure_s),
            io_pressure_ns: ns(self.io_pressure_s),
            runnable_tasks: self.runnable_tasks,
            frequency_min_hz: self.frequency_min_hz,
            frequency_max_hz: self.frequency_max_hz,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::{Figures, Sample};
    use super::*;

    fn line(at_s: f64, part: Option<Part>, source: &'static str, figures: Figures) -> String {
        serde_json::to_string(&Sample { at_s, part, source, figures }).unwrap()
    }

    fn read_one(text: &str) -> Line {
        serde_json::from_str(text).unwrap()
    }

    /// Every reading there can be, with figures that nothing else has.
    #[test]
    fn every_reading_comes_back_as_it_was_written() {
        let memory =
            GroupMemory { usage_bytes: 9, anonymous_bytes: 5, kernel_bytes: 1, peak_bytes: Some(11), oom_kills: 2 };
        let group = GroupReading {
            cpu_ns: Some(2_500_000_001),
            user_ns: Some(1_500_000_001),
            system_ns: Some(999_999_999),
            throttling: Some(Throttling { periods: 4, throttled_periods: 3, throttled_ns: 17 }),
            memory: Some(memory),
            tasks: Some(7),
            refused_tasks: None,
            disk: Some(DiskBytes { read_bytes: 4096, written_bytes: 512 }),
        };
        assert_eq!(read_one(&line(0.1, Some(Part::Subject), "group", Figures::from(&group))).group(), group);
        let empty = GroupReading::default();
        assert_eq!(read_one(&line(0.1, Some(Part::Subject), "group", Figures::from(&empty))).group(), empty);
        let network = NetworkBytes { received_bytes: 1, sent_bytes: 2, loopback_bytes: 3 };
        assert_eq!(read_one(&line(0.1, None, "network", Figures::from(&network))).network(), Some(network));
        let events = SoftwareEvents { context_switches: Some(1), task_clock_ns: Some(3), ..SoftwareEvents::default() };
        assert_eq!(read_one(&line(0.1, None, "events", Figures::from(&events))).events(), events);
        let host = HostReading {
            busy_ns: Some(1_230_000_000),
            steal_ns: Some(10_000_000),
            cpu_pressure_ns: Some(5_000),
            runnable_tasks: Some(3),
            frequency_max_hz: Some(2_500_000_000),
            ..HostReading::default()
        };
        assert_eq!(read_one(&line(0.1, None, "host", Figures::from(&host))).host(), host);
    }

    #[test]
    fn tasks_come_back_with_and_without_the_scheduler_s_times() {
        let spent = Some(Spent { cpu_ns: 123_456_789_012, run_queue_wait_ns: 1, timeslices: 3 });
        for spent in [spent, None] {
            let busiest = [Some((7, 5)), Some((8, 1)), None, None];
            let tasks = TaskReading { spent, rss_sum_bytes: 4096, processes: 1, threads: 2, busiest };
            assert_eq!(read_one(&line(0.1, Some(Part::Lab), "processes", Figures::from(&tasks))).tasks(), tasks);
        }
    }

    #[test]
    fn a_window_is_computed_from_the_text_alone() {
        let group = |cpu_ns| Figures::from(&GroupReading { cpu_ns: Some(cpu_ns), ..GroupReading::default() });
        let of = |at_s, cpu_ns| line(at_s, Some(Part::Subject), "group", group(cpu_ns));
        let text = [of(1.0, 0), of(2.0, 500_000_000), of(3.0, 2_500_000_000)].join("\n");
        // The clock of the samples began 10 s after that of the window's borders.
        let window = Window { began: MonotonicNs(11_100_000_000), ended: MonotonicNs(12_700_000_000) };
        let usage = ReadBack::read(&text, 10_000_000_000).unwrap().usage(window).unwrap();
        assert_eq!(usage.part(Part::Subject).cpu_s, Some(1.85));
        let far = ReadBack::read(&text, 90_000_000_000).unwrap().usage(window);
        assert!(far.is_err(), "no reading is near");
    }

    #[test]
    fn what_is_no_reading_is_named_by_its_line() {
        let of = |text: &str| ReadBack::read(text, 0).map(|_| ()).unwrap_err();
        let good = r#"{"at_s":2.0,"source":"host"}"#;
        assert_eq!(
            of(&format!("{good}\n{{\"at_s\":1.0,\"source\":\"host\"}}")),
            "line 2 is no reading: it is earlier than the one before it"
        );
        assert!(of("nothing").starts_with("line 1 is no reading: expected"));
        assert_eq!(of(r#"{"at_s":1.0,"source":"moon"}"#), "line 1 is no reading: the machine has no source `moon`");
        assert!(of(r#"{"at_s":-1.0,"source":"host"}"#).ends_with("before the clock began"));
    }
}
