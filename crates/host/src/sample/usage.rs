//! What a window used, from the readings around and in it.

use std::collections::BTreeMap;
use std::time::Duration;

use tolok_load::clock::MonotonicNs;
use tolok_model::{CpuSource, MemoryUse, Throttling};

use super::counters::SoftwareEvents;
use super::host::HostReading;
use super::network::NetworkBytes;
use super::part::Part;
use super::series::{Border, Series, Window};
use super::tasks::{Spent, TaskReading};
use crate::group::{self, DiskBytes, GroupMemory, GroupReading};

/// What the window used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WindowUsage {
    /// Each part that was followed.
    pub parts: BTreeMap<Part, PartUsage>,
    /// The whole machine.
    pub host: HostUsage,
}

/// What a part used in one second. Whatever could not be read is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SecondUsage {
    /// CPU time.
    pub cpu_s: Option<f64>,
    /// Memory at its end: anonymous and kernel memory of the control group, or else the sum of resident sets.
    pub memory_bytes: Option<u64>,
}

/// One of a window's seconds.
const SECOND: Duration = Duration::from_secs(1);

impl WindowUsage {
    /// What a part used; nothing known of one that was not followed.
    pub fn part(&self, part: Part) -> PartUsage {
        self.parts.get(&part).cloned().unwrap_or_default()
    }
}

/// What one part used in the window. Whatever could not be read is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PartUsage {
    /// CPU time of all its processes, user and system.
    pub cpu_s: Option<f64>,
    /// Where that comes from.
    pub cpu_source: Option<CpuSource>,
    /// The part of it outside the kernel.
    pub user_s: Option<f64>,
    /// The part of it in the kernel.
    pub system_s: Option<f64>,
    /// Time its threads were ready to run and had to wait for a CPU, summed.
    pub run_queue_wait_s: Option<f64>,
    /// How often one of its threads was given a CPU.
    pub timeslices: Option<u64>,
    /// CPU time of that one of its threads which used most.
    pub busiest_thread_cpu_s: Option<f64>,
    /// What its quota took from it.
    pub throttling: Option<Throttling>,
    /// Memory of its control group.
    pub memory: Option<MemoryUse>,
    /// Largest sum of resident sets; counts shared pages once a process.
    pub rss_sum_bytes_max: Option<u64>,
    /// Most processes seen at once.
    pub processes_max: Option<u64>,
    /// Most threads seen at once.
    pub threads_max: Option<u64>,
    pub disk: Option<DiskBytes>,
    /// Bytes through the interfaces of its network namespace.
    pub network: Option<NetworkBytes>,
    /// Counts of the kernel.
    pub events: SoftwareEvents,
}

/// The whole machine in the window. Whatever could not be read is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostUsage {
    /// Work of all CPUs.
    pub busy_s: Option<f64>,
    /// What the hypervisor took.
    pub steal_s: Option<f64>,
    /// The part of the work that went into softirqs.
    pub softirq_s: Option<f64>,
    /// The work of no one who was followed. The machine counts in hundredths of a second, the parts in nanoseconds: a
    /// small difference below nothing is nothing. Absent as well where a part's CPU time is.
    pub foreign_cpu_s: Option<f64>,
    /// Time in which a task waited for a CPU.
    pub cpu_pressure_s: Option<f64>,
    /// Time in which a task waited for memory.
    pub memory_pressure_s: Option<f64>,
    /// Time in which a task waited for a disk.
    pub io_pressure_s: Option<f64>,
    /// Most tasks that ran or were ready to run at once; the sampler is one of them.
    pub runnable_tasks_max: Option<u64>,
    /// Lowest frequency of any CPU.
    pub frequency_min_hz: Option<u64>,
    /// Highest frequency of any CPU.
    pub frequency_max_hz: Option<u64>,
}

/// Why there is no usage of a window.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoUsage {
    /// Its start was never told.
    #[error("the window ended without having begun")]
    NeverBegan,
    /// No one looked around one of its borders.
    #[error(
        "the lab's nearest reading of what the {of} had used was {away_s:.3} s away from the {border} of the window of \
         {window_s:.3} s, too far to tell what belongs to it: make the window longer, or keep the machine free of other \
         work"
    )]
    TooFar {
        /// The part, or the machine.
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
    pub(super) network: Series<NetworkBytes>,
    pub(super) events: Series<SoftwareEvents>,
}

impl Readings {
    /// Whether CPU time comes from the control group.
    fn cpu_from_group(&self) -> bool {
        self.group.last().is_some_and(|reading| reading.cpu_ns.is_some())
    }

    /// Refuses a window at whose borders CPU time was not read.
    fn check(&self, of: &'static str, window: Window) -> Result<(), NoUsage> {
        match self.cpu_from_group() {
            true => check(&self.group, of, window),
            false => check(&self.tasks, of, window),
        }
    }

    /// What the part used in a window.
    fn used(&self, window: Window) -> PartUsage {
        let spent = |of: fn(&Spent) -> u64| self.tasks.grown(window, |tasks| Some(of(tasks.spent.as_ref()?)));
        let (cpu_s, source) = match self.cpu_from_group() {
            true => (seconds(self.group.grown(window, |group| group.cpu_ns)), CpuSource::Group),
            false => (seconds(spent(|spent| spent.cpu_ns)), CpuSource::Threads),
        };
        PartUsage {
            cpu_s,
            cpu_source: cpu_s.map(|_| source),
            user_s: seconds(self.group.grown(window, |group| group.user_ns)),
            system_s: seconds(self.group.grown(window, |group| group.system_ns)),
            run_queue_wait_s: seconds(spent(|spent| spent.run_queue_wait_ns)),
            timeslices: whole(spent(|spent| spent.timeslices)),
            busiest_thread_cpu_s: seconds(self.busiest_thread_ns(window)),
            throttling: self.throttling(window),
            memory: self.memory(window),
            rss_sum_bytes_max: self.tasks.most(window, |tasks| Some(tasks.rss_sum_bytes)),
            processes_max: self.tasks.most(window, |tasks| Some(tasks.processes)),
            threads_max: self.tasks.most(window, |tasks| Some(tasks.threads)),
            disk: self.disk(window),
            network: self.network(window),
            events: self.events(window),
        }
    }

    /// Of the threads that had used most at the end, that which used most in the window. One that began in it, or that used
    /// little before it, is not known at its start and so not told.
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
        let cpu_ns = match self.cpu_from_group() {
            true => self.group.grown(second, |group| group.cpu_ns),
            false => self.tasks.grown(second, |tasks| Some(tasks.spent?.cpu_ns)),
        };
        let of_group = self.group.before(second.ended).and_then(needed);
        let of_tasks = || self.tasks.before(second.ended).map(|tasks| tasks.rss_sum_bytes);
        SecondUsage { cpu_s: seconds(cpu_ns), memory_bytes: of_group.or_else(of_tasks) }
    }

    fn throttling(&self, window: Window) -> Option<Throttling> {
        let grown =
            |of: fn(&group::Throttling) -> u64| self.group.grown(window, |group| group.throttling.as_ref().map(of));
        Some(Throttling {
            periods: whole(grown(|throttling| throttling.periods))?,
            throttled_periods: whole(grown(|throttling| throttling.throttled_periods))?,
            throttled_s: seconds(grown(|throttling| throttling.throttled_ns))?,
        })
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

    fn network(&self, window: Window) -> Option<NetworkBytes> {
        let grown = |of: fn(&NetworkBytes) -> u64| whole(self.network.grown(window, |bytes| Some(of(bytes))));
        Some(NetworkBytes {
            received_bytes: grown(|bytes| bytes.received_bytes)?,
            sent_bytes: grown(|bytes| bytes.sent_bytes)?,
            loopback_bytes: grown(|bytes| bytes.loopback_bytes)?,
        })
    }

    fn events(&self, window: Window) -> SoftwareEvents {
        let grown = |of: fn(&SoftwareEvents) -> Option<u64>| whole(self.events.grown(window, of));
        SoftwareEvents {
            context_switches: grown(|events| events.context_switches),
            migrations: grown(|events| events.migrations),
            minor_faults: grown(|events| events.minor_faults),
            major_faults: grown(|events| events.major_faults),
            task_clock_ns: grown(|events| events.task_clock_ns),
        }
    }
}

/// What every part and the machine used in a window, from all readings.
pub(super) fn window_usage(
    host: &Series<HostReading>,
    parts: &[(Part, &Readings)],
    window: Window,
) -> Result<WindowUsage, NoUsage> {
    for (part, readings) in parts {
        readings.check(part.word(), window)?;
    }
    check(host, "machine", window)?;
    let parts: BTreeMap<Part, PartUsage> =
        parts.iter().map(|(part, readings)| (*part, readings.used(window))).collect();
    Ok(WindowUsage { host: HostUsage::of(host, window, &parts), parts })
}

impl HostUsage {
    /// What the machine did in a window in which the parts used this.
    fn of(readings: &Series<HostReading>, window: Window, parts: &BTreeMap<Part, PartUsage>) -> Self {
        let grown = |of: fn(&HostReading) -> Option<u64>| seconds(readings.grown(window, of));
        let busy_s = grown(|host| host.busy_ns);
        let followed_s: Option<f64> = parts.values().map(|part| part.cpu_s).sum();
        Self {
            busy_s,
            steal_s: grown(|host| host.steal_ns),
            softirq_s: grown(|host| host.softirq_ns),
            foreign_cpu_s: busy_s.zip(followed_s).map(|(busy_s, followed_s)| (busy_s - followed_s).max(0.0)),
            cpu_pressure_s: grown(|host| host.cpu_pressure_ns),
            memory_pressure_s: grown(|host| host.memory_pressure_ns),
            io_pressure_s: grown(|host| host.io_pressure_ns),
            runnable_tasks_max: readings.most(window, |host| host.runnable_tasks),
            frequency_min_hz: readings.least(window, |host| host.frequency_min_hz),
            frequency_max_hz: readings.most(window, |host| host.frequency_max_hz),
        }
    }
}

/// Refuses a window at whose borders no one looked. What was never read at all is absent from the usage, and no reason to
/// have none.
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
