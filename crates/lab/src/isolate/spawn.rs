//! What a child process does between its birth and its program: choose CPUs, a group, and whether to outlive its parent.
#![allow(unsafe_code, reason = "Command::pre_exec is unsafe; the closures make only async-signal-safe system calls")]

use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_setaffinity};

/// Where a child runs and how it ends.
#[derive(Debug, Clone, Default)]
pub struct Placement {
    /// The CPUs it may use; none named means those of its parent.
    pub cpus: Vec<u32>,
    /// Whether the kernel kills it when the thread that started it ends, however that happens.
    pub dies_with_parent: bool,
}

/// Makes `command` start its program as `placement` says, in a process group of its own, so that Ctrl-C at the terminal
/// reaches tolok alone.
pub fn place(command: &mut Command, placement: &Placement) {
    command.process_group(0);
    let mut cpus = CpuSet::new();
    placement.cpus.iter().for_each(|cpu| cpus.set(*cpu as usize));
    let (pinned, dies_with_parent) = (!placement.cpus.is_empty(), placement.dies_with_parent);
    let parent = rustix::process::getpid();
    let before_exec = move || {
        if pinned {
            sched_setaffinity(None, &cpus)?;
        }
        if dies_with_parent {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died before the line above; a parent outside the own pid namespace is not seen.
            if getppid().is_some_and(|now| now != parent) {
                return Err(Errno::SRCH.into());
            }
        }
        Ok(())
    };
    // SAFETY: the closure allocates nothing and makes only direct system calls (rustix), which are safe between fork and
    // exec; `cpus` was built before the fork.
    unsafe { command.pre_exec(before_exec) };
}
