//! Main memory, and what the kernel does when it runs short.

use serde::{Deserialize, Serialize};

use super::files::Files;
use super::parse;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    pub total_bytes: Option<u64>,
    /// Swap space, used or not.
    pub swap_bytes: Option<u64>,
    /// How readily the kernel swaps, from 0 to 200.
    pub swappiness: Option<u32>,
    /// Whether the kernel promises more memory than it has: 0 within reason, 1 always, 2 never.
    pub overcommit: Option<u32>,
    /// When the kernel backs memory with huge pages: always, madvise or never.
    pub transparent_hugepages: Option<String>,
    /// Whether the machine panics when memory runs out, instead of killing a process.
    pub panic_on_oom: Option<bool>,
    /// Whether the process that requested memory last is killed when memory runs out, instead of the largest.
    pub oom_kills_allocating_task: Option<bool>,
}

pub(super) fn read(files: Files) -> Memory {
    let meminfo = files.text("proc/meminfo").unwrap_or_default();
    let hugepages = files.text("sys/kernel/mm/transparent_hugepage/enabled");
    Memory {
        total_bytes: parse::meminfo_bytes(&meminfo, "MemTotal"),
        swap_bytes: parse::meminfo_bytes(&meminfo, "SwapTotal"),
        swappiness: files.number("proc/sys/vm/swappiness"),
        overcommit: files.number("proc/sys/vm/overcommit_memory"),
        transparent_hugepages: hugepages.and_then(|text| parse::chosen(&text)),
        panic_on_oom: files.switch("proc/sys/vm/panic_on_oom"),
        oom_kills_allocating_task: files.switch("proc/sys/vm/oom_kill_allocating_task"),
    }
}
