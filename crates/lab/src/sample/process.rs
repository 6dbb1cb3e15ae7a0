//! Reading `/proc` for one process, and the tree below a process.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What one process has used and holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// When it started, in clock ticks since boot: tells it from an earlier process with the same pid.
    pub start_ticks: u64,
    /// CPU time of its living threads, in nanoseconds.
    pub cpu_ns: u64,
    /// Time its living threads waited for a CPU, in nanoseconds.
    pub run_queue_wait_ns: u64,
    /// Threads.
    pub threads: u32,
    /// Resident set, shared pages included.
    pub rss_bytes: u64,
}

/// All processes below `ancestor`, itself not included.
pub fn descendants(proc_folder: &Path, ancestor: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(proc_folder) else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for pid in pids {
        let stat = fs::read_to_string(proc_folder.join(pid.to_string()).join("stat"));
        if let Some(parent) = stat.ok().and_then(|stat| parent_of(&stat)) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let (mut found, mut open) = (Vec::new(), vec![ancestor]);
    while let Some(pid) = open.pop() {
        let below = children.remove(&pid).unwrap_or_default();
        found.extend(&below);
        open.extend(below);
    }
    found.sort_unstable();
    found
}

impl ProcessUsage {
    /// Reads one process; nothing if it is gone.
    pub fn read(proc_folder: &Path, pid: u32) -> Option<Self> {
        let folder = proc_folder.join(pid.to_string());
        let stat = fs::read_to_string(folder.join("stat")).ok()?;
        let statm = fs::read_to_string(folder.join("statm")).ok()?;
        let resident_pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
        let mut usage = Self {
            start_ticks: fields_after_name(&stat)?.nth(19)?.parse().ok()?,
            rss_bytes: resident_pages * rustix::param::page_size() as u64,
            ..Self::default()
        };
        for thread in fs::read_dir(folder.join("task")).ok()?.flatten() {
            let Ok(schedstat) = fs::read_to_string(thread.path().join("schedstat")) else { continue };
            let mut numbers = schedstat.split_whitespace().filter_map(|number| number.parse::<u64>().ok());
            usage.cpu_ns += numbers.next().unwrap_or_default();
            usage.run_queue_wait_ns += numbers.next().unwrap_or_default();
            usage.threads += 1;
        }
        Some(usage)
    }
}

/// Proportional set size: private pages, and shared ones divided by those who share them. Takes about 1 ms a process and
/// stops the process's memory work meanwhile, so it is read after the window only.
pub fn pss_bytes(proc_folder: &Path, pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(proc_folder.join(pid.to_string()).join("smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn parent_of(stat: &str) -> Option<u32> {
    fields_after_name(stat)?.nth(1)?.parse().ok()
}

/// The fields behind the name, which stands in brackets and may itself hold blanks and brackets: state, parent, …
fn fields_after_name(stat: &str) -> Option<impl Iterator<Item = &str>> {
    Some(stat.get(stat.rfind(')')? + 1..)?.split_whitespace())
}
