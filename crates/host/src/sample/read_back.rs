//! Parses lines of `samples.jsonl` into readings, so every figure of a window can be recomputed from the file alone.

use std::collections::BTreeMap;

use tolok_load::clock::MonotonicNs;

use super::host::HostReading;
use super::line::{Reading, Sample};
use super::part::Part;
use super::series::{Series, Window};
use super::usage::{NoUsage, Readings, SecondUsage, WindowUsage, window_usage};

/// All readings of a trial.
#[derive(Debug, Default)]
pub struct ReadBack {
    host: Series<HostReading>,
    parts: BTreeMap<Part, Readings>,
}

impl ReadBack {
    /// Reads the text of a `samples.jsonl` whose times count from `clock_zero_ns` on `CLOCK_MONOTONIC`. The error tells
    /// which line is wrong and why.
    pub fn read(text: &str, clock_zero_ns: i64) -> Result<Self, String> {
        let mut read = Self::default();
        for (place, text) in text.lines().enumerate() {
            let wrong = |why: String| format!("line {} is no reading: {why}", place + 1);
            let sample: Sample = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
            let at = u64::try_from(clock_zero_ns.saturating_add((sample.at_s * 1e9).round() as i64));
            let at = at.map_err(|_| wrong("it is from before the clock began".to_owned()))?;
            read.add(MonotonicNs(at), sample).map_err(wrong)?;
        }
        Ok(read)
    }

    /// What was used in a window that the load tool measured to be `length_s` long.
    pub fn usage(&self, window: Window, length_s: f64) -> Result<WindowUsage, NoUsage> {
        let parts: Vec<(Part, &Readings)> = self.parts.iter().map(|(part, readings)| (*part, readings)).collect();
        window_usage(&self.host, &parts, window, length_s)
    }

    /// What a part used in each whole second of a window, or `None` if it was not followed.
    pub fn by_second(&self, part: Part, window: Window) -> Option<Vec<SecondUsage>> {
        self.parts.get(&part).map(|readings| readings.by_second(window))
    }

    fn add(&mut self, at: MonotonicNs, sample: Sample) -> Result<(), String> {
        let Some(part) = sample.part else {
            return match sample.reading {
                Reading::Host(host) => push(&mut self.host, at, host),
                _ => Err("only the source `host` has no part".to_owned()),
            };
        };
        let readings = self.parts.entry(part).or_default();
        match sample.reading {
            Reading::Group(group) => push(&mut readings.group, at, group),
            Reading::Processes(tasks) => push(&mut readings.tasks, at, tasks),
            Reading::Network(network) => push(&mut readings.network, at, network),
            Reading::Events(events) => push(&mut readings.events, at, events),
            Reading::Host(_) => Err("the source `host` has no part".to_owned()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::{DiskBytes, GroupMemory, GroupReading, Throttling};
    use crate::sample::counters::SoftwareEvents;
    use crate::sample::network::NetworkBytes;
    use crate::sample::tasks::{Spent, TaskReading};

    fn line(at_s: f64, part: Option<Part>, reading: Reading) -> String {
        serde_json::to_string(&Sample { at_s, part, reading }).unwrap()
    }

    fn comes_back(reading: Reading) {
        let read: Sample = serde_json::from_str(&line(0.1, None, reading.clone())).unwrap();
        assert_eq!(read.reading, reading);
    }

    /// Every source, each with distinct figures.
    #[test]
    fn every_reading_comes_back_as_it_was_written() {
        let memory =
            GroupMemory { usage_bytes: 9, anonymous_bytes: 5, kernel_bytes: 1, peak_bytes: Some(11), oom_kills: 2 };
        comes_back(Reading::Group(GroupReading {
            cpu_ns: Some(2_500_000_001),
            user_ns: Some(1_500_000_001),
            system_ns: Some(999_999_999),
            throttling: Some(Throttling { periods: 4, throttled_periods: 3, throttled_ns: 17 }),
            memory: Some(memory),
            tasks: Some(7),
            refused_tasks: None,
            disk: Some(DiskBytes { read_bytes: 4096, written_bytes: 512 }),
        }));
        comes_back(Reading::Group(GroupReading::default()));
        comes_back(Reading::Network(NetworkBytes { received_bytes: 1, sent_bytes: 2, loopback_bytes: 3 }));
        let (context_switches, task_clock_ns) = (Some(1), Some(3));
        comes_back(Reading::Events(SoftwareEvents { context_switches, task_clock_ns, ..SoftwareEvents::default() }));
        comes_back(Reading::Host(HostReading {
            busy_ns: Some(1_230_000_000),
            steal_ns: Some(10_000_000),
            cpu_pressure_ns: Some(5_000),
            runnable_tasks: Some(3),
            frequency_max_hz: Some(2_500_000_000),
            ..HostReading::default()
        }));
    }

    #[test]
    fn tasks_come_back_with_and_without_the_scheduler_s_times() {
        let spent = Some(Spent { cpu_ns: 123_456_789_012, run_queue_wait_ns: 1, timeslices: 3 });
        for spent in [spent, None] {
            let busiest = [Some((7, 5)), Some((8, 1)), None, None];
            let tasks = TaskReading { spent, rss_sum_bytes: 4096, processes: 1, threads: 2, busiest };
            comes_back(Reading::Processes(tasks));
        }
    }

    #[test]
    fn a_window_is_computed_from_the_text_alone() {
        let group = |cpu_ns| GroupReading { cpu_ns: Some(cpu_ns), ..GroupReading::default() };
        let of = |at_s, cpu_ns| line(at_s, Some(Part::Subject), Reading::Group(group(cpu_ns)));
        let text = [of(1.0, 0), of(2.0, 500_000_000), of(3.0, 2_500_000_000)].join("\n");
        // The samples' clock began 10 s after the clock of the window's borders.
        let window = Window { began: MonotonicNs(11_100_000_000), ended: MonotonicNs(12_700_000_000) };
        let usage = ReadBack::read(&text, 10_000_000_000).unwrap().usage(window, 1.6).unwrap();
        assert_eq!(usage.part(Part::Subject).cpu_s, 1.85);
        let far = ReadBack::read(&text, 90_000_000_000).unwrap().usage(window, 1.6);
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
        let unknown = of(r#"{"at_s":1.0,"source":"moon"}"#);
        assert!(unknown.starts_with("line 1 is no reading: unknown variant `moon`"), "{unknown}");
        assert_eq!(of(r#"{"at_s":1.0,"source":"group"}"#), "line 1 is no reading: only the source `host` has no part");
        assert!(of(r#"{"at_s":-1.0,"source":"host"}"#).ends_with("before the clock began"));
    }
}
