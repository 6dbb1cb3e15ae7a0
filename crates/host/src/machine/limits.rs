//! The limits of this process: its resource limits, and those of the control groups around it.

use serde::{Deserialize, Serialize};

use super::files::Files;
use super::group_folders::GroupFolders;
use super::parse;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// How many files it may have open.
    pub nofile: Option<Limit>,
    /// How many processes its user may have.
    pub nproc: Option<Limit>,
    /// How many bytes of memory it may lock.
    pub memlock_bytes: Option<Limit>,
    /// The highest real-time priority it may take without a privilege.
    pub rtprio: Option<Limit>,
    /// How many files the whole machine may have open.
    pub file_max: Option<u64>,
    /// What control groups allow it.
    pub group: GroupLimits,
}

/// A resource limit; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// The limit in force.
    pub soft: Option<u64>,
    /// The limit up to which a process may raise its own.
    pub hard: Option<u64>,
}

/// The limits of the control groups around this process, the tightest of each kind. `None` means no visible limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupLimits {
    /// CPU time in CPUs.
    pub quota_cpus: Option<f64>,
    pub memory_bytes: Option<u64>,
    /// Processes and threads.
    pub tasks: Option<u64>,
    /// Whether swap can be counted and limited by group.
    pub swap_accounting: Option<bool>,
}

pub(super) fn read(files: Files, folders: &GroupFolders) -> Limits {
    let limits = files.text("proc/self/limits").unwrap_or_default();
    Limits {
        nofile: parse::limit(&limits, "Max open files"),
        nproc: parse::limit(&limits, "Max processes"),
        memlock_bytes: parse::limit(&limits, "Max locked memory"),
        rtprio: parse::limit(&limits, "Max realtime priority"),
        file_max: files.number("proc/sys/fs/file-max"),
        group: GroupLimits {
            quota_cpus: quota_cpus(files, folders),
            memory_bytes: tightest(files, folders, "memory", ["memory.limit_in_bytes", "memory.max"]),
            tasks: tightest(files, folders, "pids", ["pids.max", "pids.max"]),
            swap_accounting: swap_accounting(files, folders),
        },
    }
}

/// A limit applies to all groups below, so the tightest on the way up counts.
fn quota_cpus(files: Files, folders: &GroupFolders) -> Option<f64> {
    let folder = folders.of("cpu")?;
    let number = |text: String| text.trim().parse::<f64>().ok();
    let quotas = folder.upwards().filter_map(|group| {
        let text = |name: &str| files.text(group.join(name));
        let (quota, period) = if folder.v2 {
            let text = text("cpu.max")?;
            let (quota, period) = text.split_once(' ')?;
            (quota.parse().ok()?, number(period.to_owned())?)
        } else {
            (text("cpu.cfs_quota_us").and_then(number)?, text("cpu.cfs_period_us").and_then(number)?)
        };
        // Version 1 has -1 for no quota; version 2 has `max`, which does not parse as a number.
        (quota > 0.0 && period > 0.0).then_some(quota / period)
    });
    quotas.reduce(f64::min)
}

/// The smallest number in the files of that name on the way up. `names` are those of version 1 and 2.
fn tightest(files: Files, folders: &GroupFolders, controller: &str, names: [&str; 2]) -> Option<u64> {
    // Version 1 writes "no limit" as the largest number of whole pages.
    const UNLIMITED: u64 = i64::MAX as u64 / 65_536 * 65_536;
    let folder = folders.of(controller)?;
    let limits = folder.upwards().filter_map(|group| files.number(group.join(names[usize::from(folder.v2)])));
    limits.filter(|&limit: &u64| limit < UNLIMITED).min()
}

/// The root of version 2 has neither file, whatever its groups have.
fn swap_accounting(files: Files, folders: &GroupFolders) -> Option<bool> {
    let folder = folders.of("memory")?;
    let name = if folder.v2 { "memory.swap.max" } else { "memory.memsw.limit_in_bytes" };
    let seen = files.exists(folder.own.join(name));
    let has_controller = files.exists(folder.own.join(if folder.v2 { "memory.max" } else { "memory.limit_in_bytes" }));
    has_controller.then_some(seen)
}
