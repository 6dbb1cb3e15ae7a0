//! The whole machine: busy time, time taken by the hypervisor, pressure, runnable tasks, frequencies.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::as_seconds;
use super::kept::{Kept, Room};
use crate::procfs::{TICKS_PER_S, pressure_some_total_us};

const TICK_NS: u64 = 1_000_000_000 / TICKS_PER_S as u64;

/// The machine at one moment. Times are since boot. What the kernel does not report is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostReading {
    /// Time that all CPUs spent on anything but idling and waiting for disks.
    #[serde(rename = "busy_s", with = "as_seconds", skip_serializing_if = "Option::is_none")]
    pub busy_ns: Option<u64>,
    /// Time that the hypervisor gave to others while this machine had work.
    #[serde(rename = "steal_s", with = "as_seconds", skip_serializing_if = "Option::is_none")]
    pub steal_ns: Option<u64>,
    /// The part of the busy time spent in softirqs: most of the cost of packets.
    #[serde(rename = "softirq_s", with = "as_seconds", skip_serializing_if = "Option::is_none")]
    pub softirq_ns: Option<u64>,
    /// Time in which at least one task waited for a CPU.
    #[serde(rename = "cpu_pressure_s", with = "as_seconds", skip_serializing_if = "Option::is_none")]
    pub cpu_pressure_ns: Option<u64>,
    /// Time in which at least one task waited for memory.
    #[serde(rename = "memory_pressure_s", with = "as_seconds", skip_serializing_if = "Option::is_none")]
    pub memory_pressure_ns: Option<u64>,
    /// Time in which at least one task waited for a disk.
    #[serde(rename = "io_pressure_s", with = "as_seconds", skip_serializing_if = "Option::is_none")]
    pub io_pressure_ns: Option<u64>,
    /// Tasks that ran or were ready to run, including the reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runnable_tasks: Option<u64>,
    /// Frequency of the slowest CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_min_hz: Option<u64>,
    /// Frequency of the fastest CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_max_hz: Option<u64>,
}

/// Reads the machine repeatedly.
#[derive(Debug)]
pub struct Host {
    proc: PathBuf,
    stat: Kept,
    /// CPU, memory, I/O.
    pressure: [Kept; 3],
    /// The frequency of each CPU, if the kernel has files for it.
    frequencies: Vec<(PathBuf, Kept)>,
    buffer: Vec<u8>,
}

impl Host {
    /// The machine described below these folders.
    pub fn new(proc: PathBuf, sys: PathBuf) -> Self {
        let cpus = std::fs::read_dir(sys.join("devices/system/cpu")).into_iter().flatten().flatten();
        let frequency = |cpu: PathBuf| cpu.join("cpufreq/scaling_cur_freq");
        let files = cpus.map(|cpu| frequency(cpu.path())).filter(|path| path.is_file());
        Self {
            proc,
            stat: Kept::default(),
            pressure: Default::default(),
            frequencies: files.map(|path| (path, Kept::default())).collect(),
            buffer: Vec::new(),
        }
    }

    /// The most files that are kept open.
    pub fn files(&self) -> usize {
        2 + self.pressure.len() + self.frequencies.len()
    }

    pub fn read(&mut self) -> HostReading {
        let mut room = Room(usize::MAX);
        let mut reading = HostReading::default();
        if let Some(text) = self.stat.read(|| self.proc.join("stat"), &mut room, &mut self.buffer) {
            reading = parse_stat(text);
        }
        let mut pressure = |kept: &mut Kept, name: &str| {
            let text = kept.read(|| self.proc.join("pressure").join(name), &mut room, &mut self.buffer)?;
            Some(pressure_some_total_us(text)? * 1000)
        };
        let [cpu, memory, io] = &mut self.pressure;
        reading.cpu_pressure_ns = pressure(cpu, "cpu");
        reading.memory_pressure_ns = pressure(memory, "memory");
        reading.io_pressure_ns = pressure(io, "io");
        if let Some((min, max)) = self.frequencies() {
            (reading.frequency_min_hz, reading.frequency_max_hz) = (Some(min), Some(max));
        }
        reading
    }

    /// The lowest and the highest frequency of all CPUs, from cpufreq. `cpuinfo` is no substitute, because it may
    /// show a nominal frequency.
    fn frequencies(&mut self) -> Option<(u64, u64)> {
        let mut room = Room(usize::MAX);
        let mut read = Vec::new();
        for (path, kept) in &mut self.frequencies {
            let kilohertz = kept.read(|| path.clone(), &mut room, &mut self.buffer);
            read.extend(kilohertz.and_then(|text| text.trim().parse::<u64>().ok()).map(|kilohertz| kilohertz * 1000));
        }
        extremes(read.into_iter())
    }
}

fn extremes(frequencies: impl Iterator<Item = u64>) -> Option<(u64, u64)> {
    frequencies.fold(None, |known, next| {
        let (min, max) = known.unwrap_or((next, next));
        Some((min.min(next), max.max(next)))
    })
}

fn parse_stat(text: &str) -> HostReading {
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let ticks: Vec<u64> = line("cpu ").unwrap_or_default().split_whitespace().map_while(|f| f.parse().ok()).collect();
    let ns = |columns: &[usize]| {
        let ticks: Option<u64> = columns.iter().map(|column| ticks.get(*column)).sum();
        Some(ticks? * TICK_NS)
    };
    HostReading {
        // user, nice, system, (idle, iowait,) irq, softirq; then steal.
        busy_ns: ns(&[0, 1, 2, 5, 6]),
        softirq_ns: ns(&[6]),
        steal_ns: ns(&[7]),
        runnable_tasks: line("procs_running ").and_then(|count| count.trim().parse().ok()),
        ..HostReading::default()
    }
}

#[cfg(test)]
mod tests {
    use tolok_testkit::FakeProc;

    use super::*;

    fn host(proc: &FakeProc) -> Host {
        Host::new(proc.path().to_owned(), proc.path().join("sys"))
    }

    #[test]
    fn idle_and_waiting_for_disks_are_not_work() {
        let proc = FakeProc::new();
        proc.file("stat", "cpu  100 20 30 9999 8888 5 6 7 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nprocs_running 3\n");
        let reading = host(&proc).read();
        assert_eq!((reading.busy_ns, reading.steal_ns), (Some(1_610_000_000), Some(70_000_000)));
        assert_eq!((reading.softirq_ns, reading.runnable_tasks), (Some(60_000_000), Some(3)));
    }

    #[test]
    fn pressure_is_the_total_and_not_the_average() {
        let proc = FakeProc::new();
        let text = |total| format!("some avg10=75.00 avg60=9.99 avg300=1.00 total={total}\nfull avg10=0.00 total=9\n");
        proc.file("pressure/cpu", text(6559)).file("pressure/memory", text(0)).file("pressure/io", text(1));
        let reading = host(&proc).read();
        let pressure = (reading.cpu_pressure_ns, reading.memory_pressure_ns, reading.io_pressure_ns);
        assert_eq!(pressure, (Some(6_559_000), Some(0), Some(1000)));
    }

    #[test]
    fn what_a_kernel_does_not_tell_is_absent_and_not_nought() {
        let proc = FakeProc::new();
        assert_eq!(host(&proc).read(), HostReading::default());
        proc.file("stat", "cpu  nonsense\n").file("pressure/cpu", "\n").file("cpuinfo", "Processor : AArch64\n");
        assert_eq!(host(&proc).read(), HostReading::default());
        // An old kernel without steal still has the rest.
        proc.file("stat", "cpu  100 20 30 9999 8888 5 6\n");
        assert_eq!(host(&proc).read().steal_ns, None);
        assert_eq!(host(&proc).read().busy_ns, Some(1_610_000_000));
    }

    #[test]
    fn frequencies_are_those_of_cpufreq_and_not_of_cpuinfo() {
        let proc = FakeProc::new();
        proc.file("cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2600.500\nprocessor\t: 1\ncpu MHz\t\t: 800.000\n");
        let frequencies = |host: &mut Host| (host.read().frequency_min_hz, host.read().frequency_max_hz);
        assert_eq!(frequencies(&mut host(&proc)), (None, None));
        for (cpu, kilohertz) in [(0, "1200000\n"), (1, "3400000\n")] {
            proc.file(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"), kilohertz);
        }
        assert_eq!(frequencies(&mut host(&proc)), (Some(1_200_000_000), Some(3_400_000_000)));
    }

    #[test]
    fn the_kernel_of_this_machine_is_read_as_well() {
        let mut host = Host::new("/proc".into(), "/sys".into());
        let first = host.read();
        assert!(first.busy_ns > Some(0) && first.runnable_tasks > Some(0), "{first:?}");
        assert!(host.read().busy_ns >= first.busy_ns);
    }
}
