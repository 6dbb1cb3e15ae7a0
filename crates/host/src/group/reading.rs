//! What a group has used so far.
//!
//! Reading goes on ten times a second while a server is measured, so the files stay open, are read into one buffer on the
//! stack, and nothing is allocated.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Controller, Version};
use crate::sample::as_seconds;

/// What a group has used since it was made. What cannot be read is `None`, never 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupReading {
    /// CPU time.
    #[serde(rename = "cpu_s", with = "as_seconds", skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// The part of it outside of the kernel. In version 1 the parts are counted by clock ticks, and do not add up to the
    /// whole.
    #[serde(rename = "user_s", with = "as_seconds", skip_serializing_if = "Option::is_none")]
    pub user_ns: Option<u64>,
    /// The part of it in the kernel.
    #[serde(rename = "system_s", with = "as_seconds", skip_serializing_if = "Option::is_none")]
    pub system_ns: Option<u64>,
    /// How a quota has held the group up; in a group without a quota nothing is counted.
    #[serde(flatten)]
    pub throttling: Option<Throttling>,
    #[serde(flatten)]
    pub memory: Option<GroupMemory>,
    /// How many tasks there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u64>,
    /// How often a task could not be made because there were as many as allowed.
    #[serde(skip)]
    pub refused_tasks: Option<u64>,
    /// Bytes from and to disks; what the page cache answers is not among them.
    #[serde(flatten)]
    pub disk: Option<DiskBytes>,
}

/// How a quota has held a group up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throttling {
    /// Periods in which it had something to run.
    pub periods: u64,
    /// Those in which it had to wait for the next.
    pub throttled_periods: u64,
    /// How long it waited, summed over CPUs.
    #[serde(rename = "throttled_s", with = "as_seconds")]
    pub throttled_ns: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupMemory {
    /// All, with the file pages that it was the first to touch.
    pub usage_bytes: u64,
    /// Heaps, stacks and the like.
    pub anonymous_bytes: u64,
    /// What the kernel holds for it: page tables, stacks, sockets' bookkeeping.
    pub kernel_bytes: u64,
    /// The most that `usage_bytes` has been; version 2 tells it since Linux 5.19.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// How many of its processes the kernel has killed for want of memory.
    pub oom_kills: u64,
}

/// Bytes that went to and from disks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskBytes {
    #[serde(rename = "disk_read_bytes")]
    pub read_bytes: u64,
    #[serde(rename = "disk_written_bytes")]
    pub written_bytes: u64,
}

/// Room for the longest file; with some hundred disks the list of them is longer, and then it is not read.
const BUFFER_BYTES: usize = 16 * 1024;

/// The files of a group that say what it has used, held open.
#[derive(Debug)]
pub struct GroupReader {
    cpu_v1: Option<CpuFiles>,
    /// How a quota has held it up, in version 1.
    cpu_stat_v1: Option<File>,
    /// CPU time and that, in version 2. A hybrid system has the first there even without version 1's controller.
    cpu_stat_v2: Option<File>,
    memory: Option<MemoryFiles>,
    tasks: Option<File>,
    task_events: Option<File>,
    disk: Option<(Version, File)>,
}

/// CPU time in version 1, in nanoseconds.
#[derive(Debug)]
struct CpuFiles {
    usage: File,
    user: Option<File>,
    system: Option<File>,
}

#[derive(Debug)]
struct MemoryFiles {
    usage: File,
    stat: File,
    oom: File,
    peak: Option<File>,
    /// Version 1 has it apart from the other kinds of memory.
    kernel_v1: Option<File>,
}

impl GroupReader {
    /// Opens what there is in the folders of a group.
    pub(super) fn open<'a>(folder: impl Fn(Controller) -> Option<(Version, &'a Path)>) -> Self {
        let file = |controller, version, name: &str| {
            let folder = folder(controller).filter(|found| found.0 == version)?.1;
            File::open(folder.join(name)).ok()
        };
        let v1 = |controller, name: &str| file(controller, Version::V1, name);
        let v2 = |controller, name: &str| file(controller, Version::V2, name);
        let accounting = |name| v1(Controller::CpuAccounting, name);
        let usage = accounting("cpuacct.usage");
        let cpu_files =
            |usage| CpuFiles { usage, user: accounting("cpuacct.usage_user"), system: accounting("cpuacct.usage_sys") };
        let below = v1(Controller::Io, "blkio.throttle.io_service_bytes_recursive");
        let disk_v1 = below.or_else(|| v1(Controller::Io, "blkio.throttle.io_service_bytes"));
        let disk_v2 = v2(Controller::Io, "io.stat");
        Self {
            cpu_v1: usage.map(cpu_files),
            cpu_stat_v1: v1(Controller::Cpu, "cpu.stat"),
            cpu_stat_v2: v2(Controller::Core, "cpu.stat"),
            memory: folder(Controller::Memory).and_then(|(version, folder)| MemoryFiles::open(version, folder)),
            tasks: v1(Controller::Pids, "pids.current").or_else(|| v2(Controller::Pids, "pids.current")),
            task_events: v1(Controller::Pids, "pids.events").or_else(|| v2(Controller::Pids, "pids.events")),
            disk: disk_v1.map(|file| (Version::V1, file)).or(disk_v2.map(|file| (Version::V2, file))),
        }
    }

    /// Reads once. All figures of a removed group are `None`.
    pub fn read(&self) -> GroupReading {
        let buffer = &mut [0; BUFFER_BYTES];
        let mut reading = GroupReading::default();
        if let Some(stat) = self.cpu_stat_v2.as_ref().and_then(|file| text(file, buffer)) {
            let ns = |key| keyed(stat, key).map(|us| us * 1000);
            (reading.cpu_ns, reading.user_ns, reading.system_ns) =
                (ns("usage_usec"), ns("user_usec"), ns("system_usec"));
            reading.throttling = throttling(stat, ns("throttled_usec"));
        }
        if let Some(files) = &self.cpu_v1 {
            reading.cpu_ns = number(&files.usage, buffer);
            reading.user_ns = files.user.as_ref().and_then(|file| number(file, buffer));
            reading.system_ns = files.system.as_ref().and_then(|file| number(file, buffer));
        }
        if let Some(stat) = self.cpu_stat_v1.as_ref().and_then(|file| text(file, buffer)) {
            reading.throttling = throttling(stat, keyed(stat, "throttled_time"));
        }
        reading.memory = self.memory.as_ref().and_then(|files| files.read(buffer));
        reading.tasks = self.tasks.as_ref().and_then(|file| number(file, buffer));
        reading.refused_tasks = self.task_events.as_ref().and_then(|file| keyed(text(file, buffer)?, "max"));
        reading.disk = self.disk.as_ref().and_then(|(version, file)| disk(*version, text(file, buffer)?));
        reading
    }
}

impl MemoryFiles {
    fn open(version: Version, folder: &Path) -> Option<Self> {
        let file = |name: &str| File::open(folder.join(name)).ok();
        Some(match version {
            Version::V1 => Self {
                usage: file("memory.usage_in_bytes")?,
                stat: file("memory.stat")?,
                oom: file("memory.oom_control")?,
                peak: file("memory.max_usage_in_bytes"),
                kernel_v1: Some(file("memory.kmem.usage_in_bytes")?),
            },
            Version::V2 => Self {
                usage: file("memory.current")?,
                stat: file("memory.stat")?,
                oom: file("memory.events")?,
                peak: file("memory.peak"),
                kernel_v1: None,
            },
        })
    }

    fn read(&self, buffer: &mut [u8; BUFFER_BYTES]) -> Option<GroupMemory> {
        let usage_bytes = number(&self.usage, buffer)?;
        let peak_bytes = self.peak.as_ref().and_then(|file| number(file, buffer));
        let oom_kills = keyed(text(&self.oom, buffer)?, "oom_kill")?;
        let (anonymous_bytes, kernel_bytes) = match &self.kernel_v1 {
            // `rss` is anonymous memory alone there, and `total_` includes the groups below.
            Some(kernel) => (keyed(text(&self.stat, buffer)?, "total_rss")?, number(kernel, buffer)?),
            None => {
                let stat = text(&self.stat, buffer)?;
                (keyed(stat, "anon")?, keyed(stat, "kernel").or_else(|| kernel_before_5_18(stat))?)
            }
        };
        Some(GroupMemory { usage_bytes, anonymous_bytes, kernel_bytes, peak_bytes, oom_kills })
    }
}

/// Older kernels do not give the sum, but what it is made of; not every kernel has every part.
fn kernel_before_5_18(stat: &str) -> Option<u64> {
    let parts = ["kernel_stack", "pagetables", "sec_pagetables", "percpu", "vmalloc", "slab"];
    parts.iter().filter_map(|part| keyed(stat, part)).reduce(|sum, bytes| sum + bytes)
}

/// A group without the cpu controller counts no periods.
fn throttling(stat: &str, throttled_ns: Option<u64>) -> Option<Throttling> {
    let (periods, throttled_periods) = (keyed(stat, "nr_periods")?, keyed(stat, "nr_throttled")?);
    Some(Throttling { periods, throttled_periods, throttled_ns: throttled_ns? })
}

/// Adds up the disks: version 1 has a line for each disk and kind, version 2 one for each disk.
fn disk(version: Version, text: &str) -> Option<DiskBytes> {
    let mut sum = DiskBytes::default();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace().skip(1);
        match version {
            Version::V1 => match (words.next(), words.next()) {
                (Some("Read"), Some(bytes)) => sum.read_bytes += bytes.parse::<u64>().ok()?,
                (Some("Write"), Some(bytes)) => sum.written_bytes += bytes.parse::<u64>().ok()?,
                _ => {}
            },
            Version::V2 => {
                for word in words {
                    match word.split_once('=') {
                        Some(("rbytes", bytes)) => sum.read_bytes += bytes.parse::<u64>().ok()?,
                        Some(("wbytes", bytes)) => sum.written_bytes += bytes.parse::<u64>().ok()?,
                        _ => {}
                    }
                }
            }
        }
    }
    Some(sum)
}

/// The number behind a word at the beginning of a line.
fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim_end().parse().ok())
}

fn number(file: &File, buffer: &mut [u8; BUFFER_BYTES]) -> Option<u64> {
    text(file, buffer)?.trim_end().parse().ok()
}

/// The whole of a file that the kernel makes again at each reading from its beginning.
fn text<'a>(file: &File, buffer: &'a mut [u8; BUFFER_BYTES]) -> Option<&'a str> {
    let mut length = 0;
    // The kernel may give a file in pieces.
    loop {
        match file.read_at(&mut buffer[length..], length as u64).ok()? {
            0 if length == BUFFER_BYTES => return None,
            0 => return std::str::from_utf8(&buffer[..length]).ok(),
            more => length += more,
        }
    }
}
