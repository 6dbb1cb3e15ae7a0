//! One run of a program: its start, its end, and the kernel's account of what it used.
//!
//! Resource use comes from `wait4`, which counts only that child and the processes it has waited for. The largest
//! resident set it reports (the mark) is never smaller than that of the process that called `exec`, because the kernel
//! passes the mark on to the program. With `posix_spawn` that is the timer's own memory, some megabytes.
//!
//! So each run is forked. A forked child has its own memory, with the pages that the timer has written to and none of
//! its program file, and notes the mark itself right before `exec`. A figure that may be this mark is not reported.
//!
//! The child also notes the time right before `exec`, so that figures do not include the fork, which takes longer the
//! larger the timer is. It writes its notes to a shared page, since any other way of reporting would take time.
#![allow(unsafe_code, reason = "fork, execve and what is called between them, mmap and wait4 have no safe wrapper")]

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use rustix::time::{ClockId, clock_gettime};

use super::prepared::{NotStarted, Prepared, readable};
use crate::isolate::{kill_trees, readable_before};

/// A child that is running, or about to run its program. Dropping this kills it with everything it started.
#[derive(Debug)]
pub(super) struct Child {
    pid: Pid,
    note: SharedNote,
    program: CString,
    folder: CString,
    reaped: bool,
}

/// A program's standard input, output and error.
pub(super) struct Streams {
    pub(super) input: File,
    pub(super) output: File,
    pub(super) error: File,
}

/// What a child notes before its program runs.
#[derive(Debug, Default)]
struct Note {
    began_ns: AtomicU64,
    mark_bytes: AtomicU64,
    /// The [`Step`] that failed, and its error. 0 if none failed.
    failed_step: AtomicI32,
    errno: AtomicI32,
}

/// A note in memory shared with the children that are forked while it exists.
#[derive(Debug)]
struct SharedNote(NonNull<Note>);

/// What a child does before its program begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
enum Step {
    SetUp = 1,
    Folder,
    Program,
}

/// How a child ended, and what it and the processes it waited for used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// Whether it was killed because its time was up.
    pub(super) timed_out: bool,
    /// `CLOCK_MONOTONIC` right before `exec`, in nanoseconds.
    pub(super) began_ns: u64,
    /// From there until `wait4` returned, in seconds.
    pub(super) wall_s: f64,
    pub(super) user_s: f64,
    pub(super) system_s: f64,
    /// Never smaller than `mark_bytes`.
    pub(super) rss_bytes_max: u64,
    /// The child's own maximum right before `exec`, which the kernel counts as the program's.
    pub(super) mark_bytes: u64,
}

impl SharedNote {
    fn new() -> io::Result<Self> {
        let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address of the kernel's choice overlaps no existing one.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<Note>(), access, shared, -1, 0) };
        if page == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(page.cast()).map(Self).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }
}

impl Deref for SharedNote {
    type Target = Note;

    fn deref(&self) -> &Note {
        // SAFETY: it points to a page-aligned mapping of its own, of at least that size, until this is dropped. The
        // initial zeroes are a valid note, and all writes to it, here or by a child, are atomic.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for SharedNote {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this size, and no reference to it outlives this.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<Note>()) };
    }
}

impl Child {
    /// Starts a program as the leader of a process group, so the whole group can be killed at once.
    pub(super) fn start(prepared: Prepared, streams: &Streams) -> Result<Self, NotStarted> {
        let no_process = |source| NotStarted::NoProcess { program: readable(&prepared.program), source };
        let note = SharedNote::new().map_err(no_process)?;
        // In case the child ends before it writes its own time.
        note.began_ns.store(monotonic_ns(), Relaxed);
        // SAFETY: until it executes a program or ends, the child makes only system calls, with data prepared before the
        // fork. So it needs no lock that another thread may hold.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            become_program(&prepared, streams, &note);
        }
        let pid = Pid::from_raw(pid).filter(|pid| pid.as_raw_pid() > 0);
        let pid = pid.ok_or_else(|| no_process(io::Error::last_os_error()))?;
        let Prepared { program, folder, .. } = prepared;
        Ok(Self { pid, note, program, folder, reaped: false })
    }

    /// Waits this long for its end; then kills it with everything it started, and waits again. An error of the inner
    /// result tells why it never became the program.
    pub(super) fn wait(mut self, limit: Duration) -> io::Result<Result<Ended, NotStarted>> {
        let pidfd: OwnedFd = pidfd_open(self.pid, PidfdFlags::empty())?;
        let timed_out = !readable_before(&pidfd, Instant::now() + limit)?;
        if timed_out {
            kill_trees(&[self.pid]);
        }
        let ended = self.end_of_group(timed_out)?;
        Ok(self.why_not_started().map_or(Ok(ended), Err))
    }

    fn why_not_started(&self) -> Option<NotStarted> {
        let source = || io::Error::from_raw_os_error(self.note.errno.load(Relaxed));
        let program = || readable(&self.program);
        match self.note.failed_step.load(Relaxed) {
            0 => None,
            step if step == Step::Program as i32 => Some(NotStarted::Program { program: program(), source: source() }),
            step if step == Step::Folder as i32 => {
                Some(NotStarted::Folder { folder: readable(&self.folder), source: source() })
            }
            _ => Some(NotStarted::SetUp { program: program(), source: source() }),
        }
    }

    /// Kills what is left of its group, and collects its resource use. Until the leader is reaped, the group's id cannot be
    /// reused.
    fn end_of_group(&mut self, timed_out: bool) -> io::Result<Ended> {
        // It takes less than a microsecond if the group is empty, and any process left would disturb the next run.
        let _ = kill_process_group(self.pid, Signal::KILL);
        let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
        loop {
            // SAFETY: both pointers are valid for writes during the call, and the child is ours and not reaped.
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
        // SAFETY: `wait4` has filled it, and the initial zeroes are also valid for this plain data.
        let usage = unsafe { usage.assume_init() };
        let began_ns = self.note.began_ns.load(Relaxed);
        Ok(Ended {
            status: ExitStatus::from_raw(status),
            timed_out,
            began_ns,
            wall_s: ended_ns.saturating_sub(began_ns) as f64 / 1e9,
            user_s: seconds(usage.ru_utime),
            system_s: seconds(usage.ru_stime),
            rss_bytes_max: resident_bytes(&usage),
            mark_bytes: self.note.mark_bytes.load(Relaxed),
        })
    }
}

/// The child's part, from fork to exec. It makes only system calls, as nothing else is safe here. It is straight-line
/// code, because every function that is not inlined touches 64 KiB more of the program file, which count in the mark.
fn become_program(prepared: &Prepared, streams: &Streams, note: &Note) -> ! {
    let failed = match set_up(prepared, streams) {
        Ok(()) => {
            execute(c"", prepared, note);
            execute(&prepared.program, prepared, note);
            Step::Program
        }
        Err(step) => step,
    };
    // SAFETY: it points to this thread's own `errno`.
    note.errno.store(unsafe { *libc::__errno_location() }, Relaxed);
    note.failed_step.store(failed as i32, Relaxed);
    // SAFETY: it does not return. The kernel closes what the child has opened, and no buffer waits to be written.
    unsafe { libc::_exit(127) }
}

/// Notes mark and time, and executes the program. Returns only if that fails. The caller does this twice, first with an
/// empty path, which always fails: the cost of first touching code and data is then in the mark but not in the time.
fn execute(path: &CStr, prepared: &Prepared, note: &Note) {
    note.mark_bytes.store(own_mark_bytes(), Relaxed);
    note.began_ns.store(monotonic_ns(), Relaxed);
    // SAFETY: the path and the lists are terminated and outlive the call.
    unsafe { libc::execve(path.as_ptr(), prepared.arguments.as_ptr(), prepared.env.as_ptr()) };
}

/// Makes this process a group leader, restores the signals that the Rust runtime changed, and sets the working folder
/// and streams. Returns the step that failed.
fn set_up(prepared: &Prepared, streams: &Streams) -> Result<(), Step> {
    let mut none = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: plain system calls. The set is valid for writes and filled before it is read. Nothing is written through
    // the null pointer. No handler is set, so no code of ours is called.
    let failed = unsafe {
        libc::setpgid(0, 0) < 0
            || libc::sigemptyset(none.as_mut_ptr()) < 0
            || libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut()) < 0
            || libc::signal(libc::SIGPIPE, libc::SIG_DFL) == libc::SIG_ERR
    };
    if failed {
        return Err(Step::SetUp);
    }
    // SAFETY: the path ends with a NUL and outlives the call.
    if unsafe { libc::chdir(prepared.folder.as_ptr()) } < 0 {
        return Err(Step::Folder);
    }
    // SAFETY: the files are open. Files that had these numbers are closed only in the child, which does not use them.
    let failed = unsafe {
        libc::dup2(streams.input.as_raw_fd(), 0) < 0
            || libc::dup2(streams.output.as_raw_fd(), 1) < 0
            || libc::dup2(streams.error.as_raw_fd(), 2) < 0
    };
    if failed { Err(Step::SetUp) } else { Ok(()) }
}

/// The largest resident set of this process so far.
fn own_mark_bytes() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for writes during the call, and all zeroes are valid for this plain data.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    resident_bytes(&usage)
}

/// The kernel reports it in KiB.
fn resident_bytes(usage: &libc::rusage) -> u64 {
    (usage.ru_maxrss as u64) << 10
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            kill_trees(&[self.pid]);
            // The result is no longer needed.
            let _ = self.end_of_group(true);
        }
    }
}

fn seconds(time: libc::timeval) -> f64 {
    // CPU times are not negative, and summing whole microseconds first keeps all digits.
    (time.tv_sec * 1_000_000 + time.tv_usec) as f64 / 1e6
}

/// `CLOCK_MONOTONIC`, in nanoseconds.
pub(super) fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
