//! CPU times of the whole machine.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// Kernels count these in hundredths of a second (`USER_HZ`, fixed at 100 for programs on Linux).
const TICK: Duration = Duration::from_millis(10);

/// CPU times of the whole machine since boot.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostTimes {
    /// Time all CPUs spent on anything but idling and waiting for disks, in seconds.
    pub busy_s: f64,
    /// Time the hypervisor gave to others while this machine had work, in seconds.
    pub steal_s: f64,
}

impl HostTimes {
    /// Reads `/proc/stat`; zeros where it cannot be read.
    pub fn read(proc_folder: &Path) -> Self {
        fs::read_to_string(proc_folder.join("stat")).map(|text| Self::parse(&text)).unwrap_or_default()
    }

    fn parse(text: &str) -> Self {
        let line = text.lines().find(|line| line.starts_with("cpu ")).unwrap_or_default();
        let ticks: Vec<u64> = line.split_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect();
        let seconds = |columns: &[usize]| {
            let sum: u64 = columns.iter().filter_map(|column| ticks.get(*column)).sum();
            sum as f64 * TICK.as_secs_f64()
        };
        // user, nice, system, (idle, iowait,) irq, softirq; then steal.
        Self { busy_s: seconds(&[0, 1, 2, 5, 6]), steal_s: seconds(&[7]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_waiting_for_disks_are_not_work() {
        let text = "cpu  100 20 30 9999 8888 5 6 7 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(HostTimes::parse(text), HostTimes { busy_s: 1.61, steal_s: 0.07 });
        assert_eq!(HostTimes::parse("nonsense"), HostTimes::default());
    }
}
