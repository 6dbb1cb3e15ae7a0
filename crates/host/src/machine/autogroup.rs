//! Autogroup: whether the scheduler groups tasks by session, and whether that applies to a process.
//!
//! With autogroup each session is one entity for the scheduler. So `nice` has no effect between sessions, and a busy
//! shell gets as much CPU time as a whole server. The kernel applies it only to processes in the root group of the cpu
//! controller (`task_wants_autogroup` in `kernel/sched/autogroup.c`).

use serde::{Deserialize, Serialize};

use super::files::Files;
use super::group_folders::{GroupFolder, GroupFolders};

/// How autogroup affects a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Autogroup {
    pub enabled: Option<bool>,
    /// Whether this process is in a non-root group of the cpu controller, to which autogroup does not apply.
    pub own_group_escapes: Option<bool>,
}

impl Autogroup {
    /// Whether this process is weighed by its session instead of by its group and its `nice` value.
    pub fn applies(&self) -> Option<bool> {
        match (self.enabled, self.own_group_escapes) {
            (Some(false), _) | (_, Some(true)) => Some(false),
            (Some(true), Some(false)) => Some(true),
            _ => None,
        }
    }
}

pub(super) fn read(files: Files, folders: &GroupFolders) -> Autogroup {
    Autogroup {
        // A kernel without the switch has no autogroup, provided that a kernel is visible at all.
        enabled: files
            .switch("proc/sys/kernel/sched_autogroup_enabled")
            .or_else(|| files.exists("proc/sys/kernel/osrelease").then_some(false)),
        own_group_escapes: folders.known.then(|| folders.of("cpu").is_some_and(|folder| escapes(files, &folder))),
    }
}

/// In version 1 every group of the hierarchy has the controller. In version 2 a group without it counts as its nearest
/// ancestor that has it, and only the root has no weight.
fn escapes(files: Files, folder: &GroupFolder) -> bool {
    if folder.v2 { folder.upwards().any(|group| files.exists(group.join("cpu.weight"))) } else { !folder.is_root }
}
