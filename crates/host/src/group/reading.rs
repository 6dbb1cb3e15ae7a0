//! What a group has used so far.
//!
//! This runs ten times a second during a measurement. So the files stay open, are read into one buffer on the stack,
//! and nothing is allocated.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Controller, Version};
use crate::sample::as_seconds;

/// What a group has used since its creation. What cannot be read is `None`, never 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupReading {
    #[serde(rename = "cpu_s", with = "as_seconds", skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// The part of it outside the kernel. Version 1 counts the parts in clock ticks, so they do not add up to the
    /// total.
    #[serde(rename = "user_s", with = "as_seconds", skip_serializing_if = "Option::is_none")]
    pub user_ns: Option<u64>,
    /// The part of it in the kernel.
    #[serde(rename = "system_s", with = "as_seconds", skip_serializing_if = "Option::is_none")]
    pub system_ns: Option<u64>,
    /// How a quota has throttled the group. Without a quota nothing is counted.
    #[serde(flatten)]
    pub throttling: Option<Throttling>,
    #[serde(flatten)]
    pub memory: Option<GroupMemory>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u64>,
    /// How often a task could not be created because the group had reached its limit.
    #[serde(skip)]
    pub refused_tasks: Option<u64>,
    /// Bytes from and to disks, without what the page cache answers.
    #[serde(flatten)]
    pub disk: Option<DiskBytes>,
}

/// How a quota has throttled a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throttling {
    /// Periods in which it had something to run.
    pub periods: u64,
    /// Periods in which it had to wait for the next one.
    pub throttled_periods: u64,
    /// How long it waited, summed over CPUs.
    #[serde(rename = "throttled_s", with = "as_seconds")]
    pub throttled_ns: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupMemory {
    /// All memory, including the file pages that it was the first to touch.
    pub usage_bytes: u64,
    /// Heaps, stacks and other anonymous memory.
    pub anonymous_bytes: u64,
    /// What the kernel holds for it: page tables, stacks, data about sockets.
    pub kernel_bytes: u64,
    /// The highest `usage_bytes` so far. Version 2 has it since Linux 5.19.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// How many of its processes the kernel has killed for lack of memory.
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

/// Room for the longest file. A list of some hundred disks is longer, and is then not read.
const BUFFER_BYTES: usize = 16 * 1024;

/// Open files of a group that contain what it has used.
#[derive(Debug)]
pub struct GroupReader {
    files: Vec<(File, Take)>,
}

/// Stores the content of a file.
type Take = fn(&mut Draft, &str);

/// A reading in progress: memory needs several files.
#[derive(Default)]
struct Draft {
    group: GroupReading,
    usage_bytes: Option<u64>,
    anonymous_bytes: Option<u64>,
    kernel_bytes: Option<u64>,
    peak_bytes: Option<u64>,
    oom_kills: Option<u64>,
}

/// Version 1's file of disk traffic. Older kernels do not include the groups below.
const DISKS_V1: &str = "blkio.throttle.io_service_bytes_recursive|blkio.throttle.io_service_bytes";

/// Every file to read if it exists; of alternatives, the first. If two have the same figure, the later one counts.
const FILES: [(Controller, Version, &str, Take); 18] = {
    use Controller::{Core, Cpu, CpuAccounting, Io, Memory, Pids};
    use Version::{V1, V2};
    [
        // On a hybrid system it has CPU time even without version 1's controller.
        (Core, V2, "cpu.stat", |draft, stat| {
            let ns = |key| keyed(stat, key).map(|us| us * 1000);
            let group = &mut draft.group;
            (group.cpu_ns, group.user_ns, group.system_ns) = (ns("usage_usec"), ns("user_usec"), ns("system_usec"));
            group.throttling = throttling(stat, ns("throttled_usec"));
        }),
        (CpuAccounting, V1, "cpuacct.usage", |draft, text| {
            (draft.group.cpu_ns, draft.group.user_ns, draft.group.system_ns) = (number(text), None, None);
        }),
        (CpuAccounting, V1, "cpuacct.usage_user", |draft, text| draft.group.user_ns = number(text)),
        (CpuAccounting, V1, "cpuacct.usage_sys", |draft, text| draft.group.system_ns = number(text)),
        (Cpu, V1, "cpu.stat", |draft, stat| {
            draft.group.throttling = throttling(stat, keyed(stat, "throttled_time"));
        }),
        (Memory, V1, "memory.usage_in_bytes", |draft, text| draft.usage_bytes = number(text)),
        (Memory, V2, "memory.current", |draft, text| draft.usage_bytes = number(text)),
        // `rss` is anonymous memory alone, and `total_` includes the groups below.
        (Memory, V1, "memory.stat", |draft, stat| draft.anonymous_bytes = keyed(stat, "total_rss")),
        (Memory, V1, "memory.kmem.usage_in_bytes", |draft, text| draft.kernel_bytes = number(text)),
        (Memory, V2, "memory.stat", |draft, stat| {
            draft.anonymous_bytes = keyed(stat, "anon");
            draft.kernel_bytes = keyed(stat, "kernel").or_else(|| kernel_before_5_18(stat));
        }),
        (Memory, V1, "memory.oom_control", |draft, text| draft.oom_kills = keyed(text, "oom_kill")),
        (Memory, V2, "memory.events", |draft, text| draft.oom_kills = keyed(text, "oom_kill")),
        (Memory, V1, "memory.max_usage_in_bytes", |draft, text| draft.peak_bytes = number(text)),
        (Memory, V2, "memory.peak", |draft, text| draft.peak_bytes = number(text)),
        (Pids, V1, "pids.current", |draft, text| draft.group.tasks = number(text)),
        (Pids, V1, "pids.events", |draft, text| draft.group.refused_tasks = keyed(text, "max")),
        (Io, V1, DISKS_V1, |draft, text| draft.group.disk = disk(Version::V1, text)),
        (Io, V2, "io.stat", |draft, text| draft.group.disk = disk(Version::V2, text)),
    ]
};

impl GroupReader {
    /// Opens what exists in the folders of a group.
    pub(super) fn open<'a>(folder: impl Fn(Controller) -> Option<(Version, &'a Path)>) -> Self {
        let open = |(controller, version, name, take): (Controller, Version, &str, Take)| {
            // Both versions use the same names for the files of tasks.
            let (found, folder) = folder(controller)?;
            let is_there = found == version || controller == Controller::Pids;
            let file = name.split('|').filter(|_| is_there).find_map(|name| File::open(folder.join(name)).ok());
            Some((file?, take))
        };
        Self { files: FILES.into_iter().filter_map(open).collect() }
    }

    /// Reads once. All figures of a removed group are `None`.
    pub fn read(&self) -> GroupReading {
        let buffer = &mut [0; BUFFER_BYTES];
        let mut draft = Draft::default();
        for (file, take) in &self.files {
            if let Some(text) = text(file, buffer) {
                take(&mut draft, text);
            }
        }
        GroupReading { memory: draft.memory(), ..draft.group }
    }
}

impl Draft {
    fn memory(&self) -> Option<GroupMemory> {
        Some(GroupMemory {
            usage_bytes: self.usage_bytes?,
            anonymous_bytes: self.anonymous_bytes?,
            kernel_bytes: self.kernel_bytes?,
            peak_bytes: self.peak_bytes,
            oom_kills: self.oom_kills?,
        })
    }
}

/// Older kernels give only the parts of the sum, and not every kernel has every part.
fn kernel_before_5_18(stat: &str) -> Option<u64> {
    let parts = ["kernel_stack", "pagetables", "sec_pagetables", "percpu", "vmalloc", "slab"];
    parts.iter().filter_map(|part| keyed(stat, part)).reduce(|sum, bytes| sum + bytes)
}

/// A group without the cpu controller counts no periods.
fn throttling(stat: &str, throttled_ns: Option<u64>) -> Option<Throttling> {
    let (periods, throttled_periods) = (keyed(stat, "nr_periods")?, keyed(stat, "nr_throttled")?);
    Some(Throttling { periods, throttled_periods, throttled_ns: throttled_ns? })
}

/// Adds up the disks: version 1 has a line for each disk and kind, version 2 a line for each disk.
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

fn number(text: &str) -> Option<u64> {
    text.trim_end().parse().ok()
}

/// Reads a whole file. The kernel generates it anew at each read from its beginning.
fn text<'a>(file: &File, buffer: &'a mut [u8; BUFFER_BYTES]) -> Option<&'a str> {
    let mut length = 0;
    // The kernel may return a file in pieces.
    loop {
        match file.read_at(&mut buffer[length..], length as u64).ok()? {
            0 if length == BUFFER_BYTES => return None,
            0 => return std::str::from_utf8(&buffer[..length]).ok(),
            more => length += more,
        }
    }
}
