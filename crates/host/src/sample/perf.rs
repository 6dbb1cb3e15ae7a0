//! Wraps the one system call that opens a counter of the kernel or of the processor.
#![allow(unsafe_code, reason = "perf_event_open(2) has no wrapper, neither in the C library nor in rustix")]

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// What to count: type and config for perf_event_open(2).
#[derive(Debug, Clone, Copy)]
pub struct Event {
    kind: u32,
    config: u64,
}

/// What a counter counts for.
#[derive(Debug, Clone, Copy)]
pub enum Target<'a> {
    /// For the members of the control group with this folder, on one CPU.
    GroupOnCpu(BorrowedFd<'a>, u32),
    /// For the first thread of a process, and all threads and processes that it starts from now on.
    Descendants(u32),
    /// For the next program that this thread starts, from its first instruction on, and all that it starts.
    NextProgram,
}

/// The processor mode in which to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    UserAndKernel,
    User,
    Kernel,
}

/// One reading of one counter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Raw {
    pub value: u64,
    /// How long it was enabled.
    pub enabled_ns: u64,
    /// How long it really counted. It is less if the processor has too few counters, and they take turns.
    pub running_ns: u64,
}

impl Event {
    /// One of `PERF_TYPE_HARDWARE`.
    pub const fn hardware(config: u64) -> Self {
        Self { kind: 0, config }
    }

    /// One of `PERF_TYPE_SOFTWARE`.
    pub const fn software(config: u64) -> Self {
        Self { kind: 1, config }
    }

    /// A tracepoint, by its number in tracefs.
    pub const fn tracepoint(id: u64) -> Self {
        Self { kind: 2, config: id }
    }
}

const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_USER: u64 = 1 << 4;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;

const FORMAT_TOTAL_TIME_ENABLED: u64 = 1;
const FORMAT_TOTAL_TIME_RUNNING: u64 = 2;

const PID_CGROUP: libc::c_ulong = 4;
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// The first version of the kernel's structure, which suffices here (`PERF_ATTR_SIZE_VER0`).
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_kind: u32,
    config1: u64,
}

pub fn open(event: Event, target: Target<'_>, mode: Mode) -> io::Result<File> {
    let (who, cpu, starts, flags) = match target {
        Target::GroupOnCpu(folder, cpu) => (folder.as_raw_fd(), cpu as i32, 0, PID_CGROUP),
        Target::Descendants(pid) => (pid as i32, -1, INHERIT, 0),
        // Disabled on this thread. The exec of a child's program enables what the child has inherited.
        Target::NextProgram => (0, -1, DISABLED | INHERIT | ENABLE_ON_EXEC, 0),
    };
    let excluded = match mode {
        Mode::UserAndKernel => 0,
        Mode::User => EXCLUDE_KERNEL,
        Mode::Kernel => EXCLUDE_USER,
    };
    let attributes = Attributes {
        kind: event.kind,
        size: size_of::<Attributes>() as u32,
        config: event.config,
        sample_period: 0,
        sample_type: 0,
        read_format: FORMAT_TOTAL_TIME_ENABLED | FORMAT_TOTAL_TIME_RUNNING,
        flags: starts | EXCLUDE_HYPERVISOR | excluded,
        wakeup_events: 0,
        breakpoint_kind: 0,
        config1: 0,
    };
    let no_group: libc::c_int = -1;
    // SAFETY: the structure contains its size, lives as long as the call, and is only read. The other arguments are
    // numbers; a descriptor among them is borrowed for as long.
    let file = unsafe {
        libc::syscall(libc::SYS_perf_event_open, &raw const attributes, who, cpu, no_group, flags | CLOSE_ON_EXEC)
    };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a non-negative number is a descriptor that the kernel has just made for this process alone.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(file as i32) }))
}

/// Reads a counter. `None` if the kernel had to disable it, because it then returns no data.
pub fn read(mut counter: &File) -> Option<Raw> {
    let mut bytes = [0; 24];
    counter.read_exact(&mut bytes).ok()?;
    let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    Some(Raw { value: word(0), enabled_ns: word(8), running_ns: word(16) })
}
