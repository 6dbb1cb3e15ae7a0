//! One run of a program: its start, its end, and what the kernel says that it used.
//!
//! Resources are taken from `wait4`, which counts that very child and what it has waited for, and nobody else. The largest
//! resident set that it tells is never smaller than that of the process which called `exec`: the kernel takes over the mark
//! of the memory that is replaced. So a timer that is forked off works in a copy of the process that has none of the pages of
//! its program file, some megabytes instead of 15 and more. From there programs are started by `posix_spawn`, which copies
//! nothing and takes as long whatever the size of the timer. A figure that may be the timer's own is not told at all.
#![allow(unsafe_code, reason = "wait4(2), getrusage(2), fork(2) and _exit(2) have no safe wrapper")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process_group, pidfd_open, waitpid};
use rustix::time::{ClockId, clock_gettime};

use crate::isolate::{kill_trees, readable_before};

/// A running child. Killed with everything it started when this is dropped.
#[derive(Debug)]
pub(super) struct Child {
    pid: Pid,
    began_ns: u64,
    reaped: bool,
}

/// How a child ended, and what it and those it had waited for used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// Whether it was ended because its time was up.
    pub(super) timed_out: bool,
    /// `CLOCK_MONOTONIC` right before its start, in nanoseconds.
    pub(super) began_ns: u64,
    /// From there to the return of `wait4`, in seconds.
    pub(super) wall_s: f64,
    pub(super) user_s: f64,
    pub(super) system_s: f64,
    /// Never smaller than [`own_mark_bytes`].
    pub(super) rss_bytes_max: u64,
}

/// The least that the kernel tells of a child that this process has started up to now: the most that it has had itself. Asked
/// by a single call, as all that is done here makes the process larger.
pub(super) fn own_mark_bytes() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for writes for the length of the call; and all zeroes is a value of this plain data.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    (usage.ru_maxrss as u64) << 10
}

/// Does it in a copy of this process that is as small as can be, and waits for its end. Only for a process of one thread.
pub(super) fn in_a_small_copy(act: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    // SAFETY: this process has one thread, so nothing that the copy may need is held by another one.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let code = i32::from(act().is_err());
        // SAFETY: it does not return; what the copy has opened is closed by the kernel, and nothing waits to be written.
        unsafe { libc::_exit(code) };
    }
    let pid = Pid::from_raw(pid).filter(|pid| pid.as_raw_pid() > 0).ok_or_else(io::Error::last_os_error)?;
    let status = rustix::io::retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty()))?;
    match status.and_then(|(_, status)| status.exit_status()) {
        Some(0) => Ok(()),
        _ => Err(io::Error::other("the runs could not be made, or what they found could not be written")),
    }
}

impl Child {
    /// Starts `command` as the leader of a process group, so that all of it can be ended at once.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        // Whatever else is asked of the standard library here, it must not be what it would have to fork for.
        command.process_group(0);
        let began_ns = monotonic_ns();
        let child = command.spawn()?;
        Ok(Self { pid: Pid::from_child(&child), began_ns, reaped: false })
    }

    /// Waits for its end, for so long; then it is killed with everything it started, and waited for.
    pub(super) fn wait(mut self, limit: Duration) -> io::Result<Ended> {
        let pidfd: OwnedFd = pidfd_open(self.pid, PidfdFlags::empty())?;
        let timed_out = !readable_before(&pidfd, Instant::now() + limit)?;
        if timed_out {
            kill_trees(&[self.pid]);
        }
        self.end_of_group(timed_out)
    }

    /// Ends what is left of its group and takes account. While its leader is not reaped, the group's number is its own.
    fn end_of_group(&mut self, timed_out: bool) -> io::Result<Ended> {
        // It costs less than a microsecond where nobody is left, and who is left would disturb the next run.
        let _ = kill_process_group(self.pid, Signal::KILL);
        let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
        loop {
            // SAFETY: both pointers are valid for writes for the length of the call, and the child is ours and not reaped.
            let found = unsafe { libc::wait4(self.pid.as_raw_pid(), &raw mut status, 0, usage.as_mut_ptr()) };
            if found > 0 {
                break;
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        let ended_ns = monotonic_ns();
        self.reaped = true;
        // SAFETY: wait4 has filled it; and all zeroes, as which it began, is a value of this plain data.
        let usage = unsafe { usage.assume_init() };
        Ok(Ended {
            status: ExitStatus::from_raw(status),
            timed_out,
            began_ns: self.began_ns,
            wall_s: ended_ns.saturating_sub(self.began_ns) as f64 / 1e9,
            user_s: seconds(usage.ru_utime),
            system_s: seconds(usage.ru_stime),
            // The kernel tells it in KiB.
            rss_bytes_max: (usage.ru_maxrss as u64) << 10,
        })
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            kill_trees(&[self.pid]);
            // Nobody is left who would want the account.
            let _ = self.end_of_group(true);
        }
    }
}

fn seconds(time: libc::timeval) -> f64 {
    // Neither part of a CPU time is negative, and whole microseconds keep their digits.
    (time.tv_sec * 1_000_000 + time.tv_usec) as f64 / 1e6
}

/// `CLOCK_MONOTONIC`, in nanoseconds.
pub(super) fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
