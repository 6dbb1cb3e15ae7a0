//! What a window used, computed from the readings around and in it.

use std::collections::BTreeMap;
use std::time::Duration;

use tolok_load::clock::MonotonicNs;
use tolok_model::{CpuSource, HostWindow, MemoryUse, NetworkBytes, Resources, SchedulerCounts, Throttling};

use super::counters::SoftwareEvents;
use super::host::HostReading;
use super::network;
use super::part::Part;
use super::series::{Border, Series, Window};
use super::tasks::TaskReading;
use crate::group::{self, DiskBytes, GroupMemory, GroupReading};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct WindowUsage {
    /// Each followed part.
    pub parts: BTreeMap<Part, Resources>,
    /// Parts whose CPU time could not be read.
    pub without_cpu_time: Vec<Part>,
    /// The rest of the machine, without its load average.
    pub host: HostWindow,
}

/// What a part used in one second. What could not be read is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SecondUsage {
    pub cpu_s: Option<f64>,
    /// Memory at its end: anonymous and kernel memory of the control group, or else the sum of resident sets.
    pub memory_bytes: Option<u64>,
}

const SECOND: Duration = Duration::from_secs(1);

impl WindowUsage {
    /// What a part used, or the default for a part that was not followed.
    pub fn part(&self, part: Part) -> Resources {
        self.parts.get(&part).cloned().unwrap_or_default()
    }
}

/// Why there is no usage of a window.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoUsage {
    #[error("the window ended without having begun")]
    NeverBegan,
    #[error(
        "the lab's nearest reading of what the {of} had used was {away_s:.3} s away from the {border} of the window of \
         {window_s:.3} s, too far to tell what belongs to it: make the window longer, or keep the machine free of other \
         work"
    )]
    TooFar {
        of: &'static str,
        border: Border,
        /// From the border to the nearest reading.
        away_s: f64,
        window_s: f64,
    },
}

/// All readings of one part.
#[derive(Debug, Default)]
pub(super) struct Readings {
    pub(super) group: Series<GroupReading>,
    pub(super) tasks: Series<TaskReading>,
    pub(super) network: Series<network::NetworkBytes>,
    pub(super) events: Series<SoftwareEvents>,
}

impl Readings {
    /// Whether CPU time comes from the control group.
    fn cpu_from_group(&self) -> bool {
        self.group.last().is_some_and(|reading| reading.cpu_ns.is_some())
    }

    /// Refuses a window if CPU time was not read near its borders.
    fn check(&self, of: &'static str, window: Window) -> Result<(), NoUsage> {
        match self.cpu_from_group() {
            true => check(&self.group, of, window),
            false => check(&self.tasks, of, window),
        }
    }

    /// CPU time of the part in a window, or `None` if it could not be read.
    fn cpu_s(&self, window: Window) -> Option<f64> {
        seconds(match self.cpu_from_group() {
            true => self.group.grown(window, |group| group.cpu_ns),
            false => self.tasks.grown(window, |tasks| Some(tasks.spent?.cpu_ns)),
        })
    }

    /// What the part used in a window.
    fn used(&self, window: Window) -> Resources {
        let cpu_s = self.cpu_s(window);
        let from_group = cpu_s.is_some() && self.cpu_from_group();
        let disk = self.disk(window);
        Resources {
            cpu_s: cpu_s.unwrap_or_default(),
            cpu_source: if from_group { CpuSource::Group } else { CpuSource::Threads },
            user_s: seconds(self.group.grown(window, |group| group.user_ns)),
            system_s: seconds(self.group.grown(window, |group| group.system_ns)),
            run_queue_wait_s: seconds(self.tasks.grown(window, |tasks| Some(tasks.spent?.run_queue_wait_ns)))
                .unwrap_or_default(),
            busiest_thread_cpu_s: seconds(self.busiest_thread_ns(window)),
            processes_max: self.tasks.most(window, |tasks| Some(tasks.processes)).unwrap_or_default() as u32,
            threads_max: self.tasks.most(window, |tasks| Some(tasks.threads)).unwrap_or_default() as u32,
            rss_sum_bytes_max: self.tasks.most(window, |tasks| Some(tasks.rss_sum_bytes)).unwrap_or_default(),
            pss_bytes: None,
            throttling: self.throttling(window),
            memory: self.memory(window),
            refused_tasks: None,
            scheduler: self.scheduler(window),
            disk_read_bytes: disk.map(|disk| disk.read_bytes),
            disk_written_bytes: disk.map(|disk| disk.written_bytes),
            network: self.network(window),
        }
    }

    /// Of the threads that had used most at the end, the one that used most in the window. A thread that began in the
    /// window, or had used little before it, has no figure at its start and is left out.
    fn busiest_thread_ns(&self, window: Window) -> Option<f64> {
        let tids = self.tasks.last()?.busiest.iter().flatten().map(|(tid, _)| *tid);
        let used = |tid| self.tasks.grown(window, |tasks| tasks.cpu_ns_of(tid));
        tids.filter_map(used).reduce(f64::max)
    }

    /// CPU time and memory of the part in each whole second of a window.
    pub(super) fn by_second(&self, window: Window) -> Vec<SecondUsage> {
        let second = |from: MonotonicNs| Window { began: from, ended: from + SECOND };
        let starts = std::iter::successors(Some(window.began), |began| Some(*began + SECOND));
        let whole = starts.map(second).take_while(|second| second.ended <= window.ended);
        whole.map(|second| self.in_second(second)).collect()
    }

    fn in_second(&self, second: Window) -> SecondUsage {
        let needed = |group: &GroupReading| group.memory.as_ref().map(|it| it.anonymous_bytes + it.kernel_bytes);
        let of_group = self.group.before(second.ended).and_then(needed);
        let of_tasks = || self.tasks.before(second.ended).map(|tasks| tasks.rss_sum_bytes);
        SecondUsage { cpu_s: self.cpu_s(second), memory_bytes: of_group.or_else(of_tasks) }
    }

    fn throttling(&self, window: Window) -> Option<Throttling> {
        let grown =
            |of: fn(&group::Throttling) -> u64| self.group.grown(window, |group| group.throttling.as_ref().map(of));
        let found = Throttling {
            periods: whole(grown(|throttling| throttling.periods))?,
            throttled_periods: whole(grown(|throttling| throttling.throttled_periods))?,
            throttled_s: seconds(grown(|throttling| throttling.throttled_ns))?,
        };
        // A group without a quota has no periods.
        (found.periods > 0).then_some(found)
    }

    fn memory(&self, window: Window) -> Option<MemoryUse> {
        let most = |of: fn(&GroupMemory) -> u64| self.group.most(window, |group| group.memory.as_ref().map(of));
        let kills = self.group.happened(window, |group| Some(group.memory.as_ref()?.oom_kills));
        Some(MemoryUse {
            anonymous_and_kernel_bytes_max: most(|memory| memory.anonymous_bytes + memory.kernel_bytes)?,
            usage_bytes_max: most(|memory| memory.usage_bytes)?,
            peak_bytes: self.group.most(window, |group| group.memory.as_ref()?.peak_bytes),
            oom_kills: kills?,
        })
    }

    fn disk(&self, window: Window) -> Option<DiskBytes> {
        let read = self.group.grown(window, |group| Some(group.disk.as_ref()?.read_bytes));
        let written = self.group.grown(window, |group| Some(group.disk.as_ref()?.written_bytes));
        Some(DiskBytes { read_bytes: whole(read)?, written_bytes: whole(written)? })
    }

    /// What went through the interfaces and the loopback, where each byte is both sent and received.
    fn network(&self, window: Window) -> Option<NetworkBytes> {
        let grown = |of: fn(&network::NetworkBytes) -> u64| whole(self.network.grown(window, |bytes| Some(of(bytes))));
        let loopback_bytes = grown(|bytes| bytes.loopback_bytes)?;
        Some(NetworkBytes {
            received_bytes: grown(|bytes| bytes.received_bytes)? + loopback_bytes,
            sent_bytes: grown(|bytes| bytes.sent_bytes)? + loopback_bytes,
        })
    }

    fn scheduler(&self, window: Window) -> Option<SchedulerCounts> {
        let grown = |of: fn(&SoftwareEvents) -> Option<u64>| whole(self.events.grown(window, of));
        let faults = || Some(grown(|events| events.minor_faults)? + grown(|events| events.major_faults)?);
        Some(SchedulerCounts {
            timeslices: whole(self.tasks.grown(window, |tasks| Some(tasks.spent?.timeslices)))?,
            context_switches: grown(|events| events.context_switches),
            migrations: grown(|events| events.migrations),
            page_faults: faults(),
        })
    }
}

/// What every part and the machine used in a window, from all readings. The load tool may have measured a slightly
/// different length, `length_s`, on which shares of time are based.
pub(super) fn window_usage(
    host: &Series<HostReading>,
    parts: &[(Part, &Readings)],
    window: Window,
    length_s: f64,
) -> Result<WindowUsage, NoUsage> {
    for (part, readings) in parts {
        readings.check(part.word(), window)?;
    }
    check(host, "machine", window)?;
    let grown = |of: fn(&HostReading) -> Option<u64>| seconds(host.grown(window, of));
    let share = |time_s: Option<f64>| time_s.map(|time_s| (time_s / length_s).min(1.0));
    let followed_s: Option<f64> = parts.iter().map(|(_, readings)| readings.cpu_s(window)).sum();
    // The machine counts in hundredths of a second, the parts in nanoseconds. A difference slightly below 0 is 0.
    let foreign_cpu_s =
        grown(|host| host.busy_ns).zip(followed_s).map(|(busy_s, followed_s)| (busy_s - followed_s).max(0.0));
    Ok(WindowUsage {
        parts: parts.iter().map(|(part, readings)| (*part, readings.used(window))).collect(),
        without_cpu_time: parts.iter().filter(|(_, it)| it.cpu_s(window).is_none()).map(|(part, _)| *part).collect(),
        host: HostWindow {
            foreign_cpu_s: foreign_cpu_s.unwrap_or_default(),
            steal_s: grown(|host| host.steal_ns).unwrap_or_default(),
            load_average: 0.0,
            cpu_pressure: share(grown(|host| host.cpu_pressure_ns)),
            memory_pressure: share(grown(|host| host.memory_pressure_ns)),
            io_pressure: share(grown(|host| host.io_pressure_ns)),
            runnable_max: host.most(window, |host| host.runnable_tasks),
            frequency_hz_min: host.least(window, |host| host.frequency_min_hz).map(|hz| hz as f64),
            frequency_hz_max: host.most(window, |host| host.frequency_max_hz).map(|hz| hz as f64),
        },
    })
}
/// Refuses a window if readings are too far from its borders. A source without any readings is only absent from the
/// usage, and no reason to refuse the window.
fn check<T>(readings: &Series<T>, of: &'static str, window: Window) -> Result<(), NoUsage> {
    match readings.too_far(window) {
        None => Ok(()),
        Some((border, away)) => {
            let (away_s, window_s) = (away.as_secs_f64(), window.length().as_secs_f64());
            Err(NoUsage::TooFar { of, border, away_s, window_s })
        }
    }
}

fn seconds(nanoseconds: Option<f64>) -> Option<f64> {
    nanoseconds.map(|nanoseconds| nanoseconds / 1e9)
}

fn whole(count: Option<f64>) -> Option<u64> {
    count.map(|count| count.round() as u64)
}
