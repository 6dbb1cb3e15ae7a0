//! A program on its own CPU: its session, its priority, its end, and its CPU time.
#![allow(unsafe_code, reason = "Command::pre_exec is unsafe, and wait4(2) has no safe wrapper")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, getppid, getpriority_process, kill_process_group, pidfd_open,
    set_parent_process_death_signal, setpriority_process, setsid,
};
use rustix::thread::{CpuSet, sched_setaffinity};

/// The highest priority as a nice value.
const HIGHEST: i32 = -20;

/// A running program with everything it started. Dropping this kills it.
#[derive(Debug)]
pub struct Placed {
    pub child: Child,
    pub pidfd: OwnedFd,
    reaped: bool,
}

/// How a program ended, and the CPU time that it and its own children took.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    pub status: ExitStatus,
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
}

/// Starts `command` on one CPU, in its own session. It has the highest priority on that CPU if this user may set it, and it dies with this
/// program.
///
/// Where the kernel groups tasks by session (autogroup), a nice value only orders tasks within the session. So the nice value of the
/// session is set as well.
pub fn spawn(command: &mut Command, cpu: u32) -> io::Result<Placed> {
    let mut cpus = CpuSet::new();
    cpus.set(cpu as usize);
    let parent = getpid();
    let before_exec = move || {
        setsid()?;
        // Only root may set it; `is_raised` checks the result later.
        let _ = raise_session();
        let _ = setpriority_process(None, HIGHEST);
        sched_setaffinity(None, &cpus)?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before the previous line.
        if getppid().is_some_and(|now| now != parent) {
            return Err(Errno::SRCH.into());
        }
        Ok(())
    };
    // SAFETY: the closure allocates nothing and makes only direct system calls (rustix), which are safe between fork and
    // exec; `cpus` was built before the fork.
    unsafe { command.pre_exec(before_exec) };
    let child = command.spawn()?;
    let pidfd = pidfd_open(pid(&child), PidfdFlags::empty())?;
    Ok(Placed { child, pidfd, reaped: false })
}

fn raise_session() -> Result<(), Errno> {
    let file = rustix::fs::open(c"/proc/self/autogroup", OFlags::WRONLY, Mode::empty())?;
    rustix::io::write(&file, b"-20").map(drop)
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

impl Placed {
    /// Whether it has the highest priority: of its session where the kernel groups by session, otherwise of the process.
    pub fn is_raised(&self) -> bool {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        if read("/proc/sys/kernel/sched_autogroup_enabled").trim() == "1" {
            return read(&format!("/proc/{}/autogroup", self.child.id())).trim_end().ends_with("nice -20");
        }
        getpriority_process(Some(pid(&self.child))) == Ok(HIGHEST)
    }

    /// Kills the program's process group: the program and everything it started.
    pub fn kill(&self) {
        if !self.reaped {
            // The program leads that group and is not reaped, so its pid is still valid. It may have ended already.
            let _ = kill_process_group(pid(&self.child), Signal::KILL);
        }
    }

    /// Waits for its end and returns its CPU time.
    pub fn reap(mut self) -> io::Result<Ended> {
        self.wait4()
    }

    fn wait4(&mut self) -> io::Result<Ended> {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        let mut status = 0;
        loop {
            // SAFETY: both pointers are valid for writes for the length of the call, and the child is ours and not reaped.
            let found = unsafe { libc::wait4(self.child.id() as i32, &raw mut status, 0, usage.as_mut_ptr()) };
            if found > 0 {
                break;
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        self.reaped = true;
        // SAFETY: wait4 has filled it; and its initial state, all zeroes, is a valid value of this plain data.
        let usage = unsafe { usage.assume_init() };
        Ok(Ended {
            status: ExitStatus::from_raw(status),
            user: duration(usage.ru_utime),
            system: duration(usage.ru_stime),
        })
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            // No caller is left to use the result.
            let _ = self.wait4();
        }
    }
}

fn duration(time: libc::timeval) -> Duration {
    // Neither part of a CPU time is negative.
    Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Placed {
        let cpu = tolok_host::machine::Machine::read().allowed_cpus[0];
        spawn(Command::new("sh").args(["-c", script]), cpu).unwrap()
    }

    #[test]
    fn the_account_holds_the_time_of_what_the_program_started() {
        let work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        let ended = shell(&format!("sh -c '{work}'; exit 3")).reap().unwrap();
        assert_eq!(ended.status.code(), Some(3));
        assert!(ended.user + ended.system > Duration::from_millis(5), "{ended:?}");
    }

    #[test]
    fn a_program_that_is_let_go_ends_with_what_it_started() {
        use std::io::Read as _;
        let cpu = tolok_host::machine::Machine::read().allowed_cpus[0];
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & sleep 60"]).stdout(std::process::Stdio::piped());
        let mut placed = spawn(&mut command, cpu).unwrap();
        let mut output = placed.child.stdout.take().unwrap();
        drop(placed);
        // The pipe ends when the last process that could write to it is gone.
        assert_eq!(output.read_to_end(&mut Vec::new()).unwrap(), 0);
    }
}
