//! Counters of the kernel and of the processor for one part.
//!
//! There are two ways to count for a part. A counter of a version 2 control group on each CPU counts for its members,
//! whatever their parents, and takes one read per CPU. A counter of one process is inherited by those it starts, and
//! needs no group and fewer rights. But each process then carries copies: with five software counters, switching
//! between two processes took a sixth longer and starting a process a tenth. With a group it was a thirtieth and less.
//! Reading them for a thousand processes took 90 µs against 2 (docs/benchmarks.md). So this tries the group first, and
//! the process if the group is refused.
//!
//! Software counters cost next to nothing and run in every window. Processor counters may trap to a hypervisor at each
//! switch, and then cost a third of the throughput. They and the tracepoint of system calls belong in a separate pass
//! that is not scored.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::as_seconds;
use super::perf::{self, Event, Raw, Target};
use crate::group::Group;
use crate::machine::parse_cpu_list;

/// What a counter counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// For the members of the group with this folder in the version 2 tree.
    Group(PathBuf),
    /// For the first thread of this process, and for all that it starts from now on.
    Below(u32),
}

impl Scope {
    /// The scope of a group, or `None` if it has no folder in a version 2 tree.
    pub fn of(group: &Group) -> Option<Self> {
        let folders = group.entrances();
        let mut folders = folders.iter().filter_map(|entrance| entrance.parent());
        // Only version 2 groups have this file, whatever their controllers.
        folders.find(|folder| folder.join("cgroup.controllers").exists()).map(|folder| Self::Group(folder.to_owned()))
    }
}

const TASK_CLOCK: Named = ("task clocks", Event::software(1));
const CONTEXT_SWITCHES: Named = ("context switches", Event::software(3));
const MIGRATIONS: Named = ("CPU migrations", Event::software(4));
const MINOR_FAULTS: Named = ("minor page faults", Event::software(5));
const MAJOR_FAULTS: Named = ("major page faults", Event::software(6));

const CYCLES: Named = ("cycles", Event::hardware(0));
const INSTRUCTIONS: Named = ("instructions", Event::hardware(1));
const CACHE_MISSES: Named = ("cache misses", Event::hardware(3));
const BRANCH_MISSES: Named = ("branch misses", Event::hardware(5));
const SYSCALLS: &str = "system calls";

type Named = (&'static str, Event);

/// Kernel counts since the counters were attached. Refused ones are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SoftwareEvents {
    /// How often a thread lost or gave up a CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    /// How often a thread moved to another CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migrations: Option<u64>,
    /// Page faults that needed no disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minor_faults: Option<u64>,
    /// Page faults that waited for a disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
    /// Time on a CPU.
    #[serde(rename = "task_clock_s", with = "as_seconds", skip_serializing_if = "Option::is_none")]
    pub task_clock_ns: Option<u64>,
}

/// Kernel counters for one part.
#[derive(Debug)]
pub struct SoftwareCounters(CounterSet);

impl SoftwareCounters {
    /// Attaches them in the first scope that allows it. Call it before the servers start: it counts members of the
    /// group, or only what the process starts later.
    pub fn attach(scopes: &[Scope]) -> Self {
        let events = [CONTEXT_SWITCHES, MIGRATIONS, MINOR_FAULTS, MAJOR_FAULTS, TASK_CLOCK];
        // Without the kernel no switches would be counted, and some of the faults would be a different figure.
        Self(CounterSet::attach(&events.map(|(name, event)| (name, Ok(event))), scopes, false))
    }

    pub fn read(&self) -> SoftwareEvents {
        let count = |named: Named| {
            let read = self.0.read(named.0)?;
            read.into_iter().map(|raw| scaled(raw).map(|(value, _)| value)).sum()
        };
        SoftwareEvents {
            context_switches: count(CONTEXT_SWITCHES),
            migrations: count(MIGRATIONS),
            minor_faults: count(MINOR_FAULTS),
            major_faults: count(MAJOR_FAULTS),
            task_clock_ns: count(TASK_CLOCK),
        }
    }

    /// What cannot be counted, and why.
    pub fn unavailable(&self) -> &[String] {
        &self.0.unavailable
    }
}

/// Processor counters and the tracepoint of system calls for one part, for a pass that is not scored.
#[derive(Debug)]
pub struct DiagnosticCounters(CounterSet);

/// All counters at one moment.
#[derive(Debug, Clone)]
pub struct DiagnosticReading {
    /// One reading per CPU, by name.
    counters: Vec<(&'static str, Vec<Raw>)>,
    user_mode_only: bool,
}

/// What was counted between two readings. Counts that are not possible are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct DiagnosticCounts {
    pub cycles: Option<DiagnosticCount>,
    pub instructions: Option<DiagnosticCount>,
    /// Mispredicted branches.
    pub branch_misses: Option<DiagnosticCount>,
    /// Misses of the last-level cache.
    pub cache_misses: Option<DiagnosticCount>,
    pub syscalls: Option<DiagnosticCount>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DiagnosticCount {
    pub value: u64,
    /// Whether the counter took turns with others, so that the figure is extrapolated.
    pub scaled: bool,
    /// Whether the figure lacks the kernel's part, because this user may not count it.
    pub user_mode_only: bool,
}

impl DiagnosticCounters {
    /// Attaches them in the first scope that allows it.
    pub fn attach(scopes: &[Scope]) -> Self {
        let hardware = [CYCLES, INSTRUCTIONS, BRANCH_MISSES, CACHE_MISSES].map(|(name, event)| (name, Ok(event)));
        let syscalls = (SYSCALLS, syscalls_tracepoint().map(Event::tracepoint));
        let events: Vec<_> = hardware.into_iter().chain([syscalls]).collect();
        Self(CounterSet::attach(&events, scopes, true))
    }

    pub fn read(&self) -> DiagnosticReading {
        let counters = self.0.counters.iter().filter_map(|counter| Some((counter.name, self.0.read(counter.name)?)));
        DiagnosticReading { counters: counters.collect(), user_mode_only: self.0.user_mode_only }
    }

    /// What cannot be counted, and why.
    pub fn unavailable(&self) -> &[String] {
        &self.0.unavailable
    }
}

impl DiagnosticReading {
    /// What was counted since an earlier reading of the same counters.
    pub fn since(&self, earlier: &Self) -> DiagnosticCounts {
        let of =
            |reading: &Self, name| reading.counters.iter().find(|(one, _)| *one == name).map(|(_, raw)| raw.clone());
        let count = |name| {
            let (mut value, mut is_scaled) = (0, false);
            for (late, early) in of(self, name)?.iter().zip(&of(earlier, name)?) {
                let (more, extrapolated) = scaled(late.since(*early))?;
                value += more;
                is_scaled |= extrapolated;
            }
            Some(DiagnosticCount { value, scaled: is_scaled, user_mode_only: self.user_mode_only && name != SYSCALLS })
        };
        DiagnosticCounts {
            cycles: count(CYCLES.0),
            instructions: count(INSTRUCTIONS.0),
            branch_misses: count(BRANCH_MISSES.0),
            cache_misses: count(CACHE_MISSES.0),
            syscalls: count(SYSCALLS),
        }
    }
}

impl Raw {
    fn since(self, earlier: Self) -> Self {
        Self {
            value: self.value.saturating_sub(earlier.value),
            enabled_ns: self.enabled_ns.saturating_sub(earlier.enabled_ns),
            running_ns: self.running_ns.saturating_sub(earlier.running_ns),
        }
    }
}

/// The count for the whole time the counter was enabled, and whether it is extrapolated. `None` if the counter never
/// ran in that time.
fn scaled(raw: Raw) -> Option<(u64, bool)> {
    match raw.running_ns {
        running if running >= raw.enabled_ns => Some((raw.value, false)),
        0 => None,
        running => Some(((raw.value as f64 * raw.enabled_ns as f64 / running as f64).round() as u64, true)),
    }
}

/// Counters that were attached in one scope.
#[derive(Debug, Default)]
struct CounterSet {
    counters: Vec<Counter>,
    user_mode_only: bool,
    unavailable: Vec<String>,
}

#[derive(Debug)]
struct Counter {
    name: &'static str,
    /// One for each CPU, or one for all.
    files: Vec<File>,
}

/// An event, or why there is none of that name.
type Wanted = (&'static str, Result<Event, String>);

impl CounterSet {
    /// Attaches in the first scope where anything can be counted. Falls back to user mode only if that is allowed and
    /// nothing else works.
    fn attach(events: &[Wanted], scopes: &[Scope], user_mode_will_do: bool) -> Self {
        let mut best =
            Self { unavailable: vec!["events are not counted: no scope is known".to_owned()], ..Self::default() };
        for user_mode_only in [false, true] {
            for scope in scopes {
                let set = Self::attach_in(events, scope, user_mode_only);
                if !set.counters.is_empty() {
                    return set;
                }
                best = set;
            }
            if !user_mode_will_do {
                break;
            }
        }
        best
    }

    fn attach_in(events: &[Wanted], scope: &Scope, user_mode_only: bool) -> Self {
        let mut set = Self { user_mode_only, ..Self::default() };
        for (name, event) in events {
            let opened = event
                .clone()
                .and_then(|event| open_in(event, scope, user_mode_only).map_err(|error| explain(&error, scope)));
            match opened {
                Ok(files) => set.counters.push(Counter { name, files }),
                Err(reason) => set.unavailable.push(format!("{name} are not counted: {reason}")),
            }
        }
        set
    }

    fn read(&self, name: &str) -> Option<Vec<Raw>> {
        let counter = self.counters.iter().find(|counter| counter.name == name)?;
        counter.files.iter().map(perf::read).collect()
    }
}

fn open_in(event: Event, scope: &Scope, user_mode_only: bool) -> io::Result<Vec<File>> {
    let mode = if user_mode_only { perf::Mode::User } else { perf::Mode::UserAndKernel };
    match scope {
        Scope::Below(pid) => Ok(vec![perf::open(event, Target::Descendants(*pid), mode)?]),
        Scope::Group(folder) => {
            let gone = |error| io::Error::other(format!("cannot open the group {}: {error}", folder.display()));
            let folder = File::open(folder).map_err(gone)?;
            let open = |cpu| perf::open(event, Target::GroupOnCpu(folder.as_fd(), cpu), mode);
            online_cpus()?.into_iter().map(open).collect()
        }
    }
}

fn explain(error: &io::Error, scope: &Scope) -> String {
    let needs = match scope {
        // The kernel treats a group's counter like a counter of a whole CPU.
        Scope::Group(_) => 0,
        Scope::Below(_) => 1,
    };
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
            let level = level.trim();
            format!("not allowed ({error}): kernel.perf_event_paranoid is {level}, {needs} or CAP_PERFMON would do")
        }
        io::ErrorKind::NotFound => format!("this machine has no such counter ({error})"),
        _ => error.to_string(),
    }
}

/// The online CPUs, from a list such as `0-3,8`.
fn online_cpus() -> io::Result<Vec<u32>> {
    let list = std::fs::read_to_string("/sys/devices/system/cpu/online")?;
    let cpus = parse_cpu_list(&list).filter(|cpus| !cpus.is_empty());
    cpus.ok_or_else(|| io::Error::other(format!("the list of CPUs reads {:?}", list.trim())))
}

/// The number of the tracepoint at the entry of every system call.
fn syscalls_tracepoint() -> Result<u64, String> {
    const ID: &str = "events/raw_syscalls/sys_enter/id";
    let mounted = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"].map(|folder| Path::new(folder).join(ID));
    let mounted = mounted.iter().find_map(|path| std::fs::read_to_string(path).ok());
    let text = match mounted {
        Some(text) => text,
        None => {
            read_detached(ID).map_err(|error| format!("tracefs is not mounted, and cannot be looked at ({error})"))?
        }
    };
    text.trim().parse().map_err(|_| format!("its number in tracefs reads {:?}", text.trim()))
}

/// Reads a file of tracefs through a detached mount. It is invisible and disappears when this returns.
fn read_detached(path: &str) -> io::Result<String> {
    use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::MOUNT_ATTR_RDONLY)?;
    let file = rustix::fs::openat(&mount, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut text = String::new();
    File::from(file).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests;
