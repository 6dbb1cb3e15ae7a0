//! System calls that rustix does not wrap, or wraps only for kernels newer than the oldest that the engine supports.
#![allow(unsafe_code, reason = "clocks, epoll_pwait2, recv without a buffer, and two options have no safe wrapper")]

use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// CPU time of the calling thread, user and kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CpuTime {
    pub user: Duration,
    pub system: Duration,
}

impl CpuTime {
    /// CPU time of the calling thread since it began. Not of the process: the engine is one thread and must not be charged for the program
    /// around it.
    pub fn of_this_thread() -> CpuTime {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: `usage` is valid for writes of a `rusage`, which is plain data for which all zeroes is a value.
        let usage = unsafe {
            let status = libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
            debug_assert_eq!(status, 0, "getrusage fails only for a bad pointer or selector");
            usage.assume_init()
        };
        CpuTime { user: duration(usage.ru_utime), system: duration(usage.ru_stime) }
    }

    /// Time spent since `earlier`.
    pub fn since(self, earlier: CpuTime) -> CpuTime {
        CpuTime { user: self.user.saturating_sub(earlier.user), system: self.system.saturating_sub(earlier.system) }
    }
}

/// The scheduler's count, `CPUCLOCK_SCHED` in the kernel's encoding of process clocks.
const OF_THE_SCHEDULER: libc::clockid_t = 2;

/// CPU time that a process has used so far, in nanoseconds, or `None` if it is gone. rustix rejects other processes' clocks.
pub fn process_cpu_ns(pid: u32) -> Option<u64> {
    let clock = (!(pid as libc::clockid_t) << 3) | OF_THE_SCHEDULER;
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the kernel writes a whole timespec, or fails and writes nothing, and then nothing is read.
    let time = unsafe {
        if libc::clock_gettime(clock, time.as_mut_ptr()) != 0 {
            return None;
        }
        time.assume_init()
    };
    Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Time the calling thread was ready to run but did not, or `None` where the kernel does not count it.
pub(crate) fn run_queue_wait() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

/// While it lives, makes this thread run on time. It disables the timer slack: the kernel may otherwise lengthen sleeps by 50 µs to save
/// wake-ups. It also requests short turns (0.1 ms), which the scheduler grants sooner than long ones since Linux 6.12. A refusal is
/// ignored.
#[derive(Debug)]
pub(crate) struct Punctual;

/// Length of a turn; the shortest that the scheduler grants.
const TURN_NS: u64 = 100_000;
/// `SCHED_FLAG_KEEP_POLICY`: keeps a policy that the user gave the thread.
const KEEP_POLICY: u64 = 0x08;

impl Punctual {
    pub fn new() -> Punctual {
        set_turns(1, TURN_NS);
        Punctual
    }
}

impl Drop for Punctual {
    /// Restores the defaults: 0 means the default for both.
    fn drop(&mut self) {
        set_turns(0, 0);
    }
}

fn set_turns(timer_slack_ns: libc::c_ulong, turn_ns: u64) {
    let attributes = SchedulingAttributes {
        size: size_of::<SchedulingAttributes>() as u32,
        flags: KEEP_POLICY,
        nice: nice(),
        runtime_ns: turn_ns,
        ..SchedulingAttributes::default()
    };
    // SAFETY: PR_SET_TIMERSLACK takes a number and changes nothing but the calling thread's timers; sched_setattr reads
    // `attributes`, whose size is a field of it, and changes nothing but the calling thread's turns.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, timer_slack_ns, 0, 0, 0);
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0);
    }
}

/// The nice value of the calling thread. sched_setattr sets it along with the turn length, so it must be passed unchanged.
fn nice() -> i32 {
    rustix::process::getpriority_process(None).unwrap_or(0)
}

/// `struct sched_attr` of the kernel, version 0.
#[repr(C)]
#[derive(Default)]
struct SchedulingAttributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

/// epoll_pwait2(2): like epoll_wait(2), but with a timeout in nanoseconds. The kernel has it since 5.11; older ones return `ENOSYS`.
pub(crate) fn epoll_wait_ns(
    queue: BorrowedFd<'_>,
    events: &mut [libc::epoll_event],
    at_most: Duration,
) -> Result<usize, Errno> {
    let timeout = libc::timespec { tv_sec: at_most.as_secs() as i64, tv_nsec: i64::from(at_most.subsec_nanos()) };
    // SAFETY: the descriptor is borrowed and so open; the kernel writes at most `events.len()` events to `events`; the
    // timeout outlives the call; no signal mask is given.
    let count = unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            queue.as_raw_fd(),
            events.as_mut_ptr(),
            events.len() as libc::c_int,
            &raw const timeout,
            std::ptr::null::<libc::sigset_t>(),
            0usize,
        )
    };
    result(count as isize)
}

/// epoll_wait(2), with a timeout in milliseconds.
pub(crate) fn epoll_wait_ms(
    queue: BorrowedFd<'_>,
    events: &mut [libc::epoll_event],
    at_most_ms: i32,
) -> Result<usize, Errno> {
    // SAFETY: as above.
    let count =
        unsafe { libc::epoll_wait(queue.as_raw_fd(), events.as_mut_ptr(), events.len() as libc::c_int, at_most_ms) };
    result(count as isize)
}

/// Removes up to `bytes` from a socket's queue. The kernel drops them without copying.
pub(crate) fn discard(socket: BorrowedFd<'_>, bytes: usize) -> Result<usize, Errno> {
    // SAFETY: with MSG_TRUNC a TCP socket writes nothing to the buffer, so none is given.
    result(unsafe { libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), bytes, libc::MSG_TRUNC) })
}

fn result(value: isize) -> Result<usize, Errno> {
    usize::try_from(value)
        .map_err(|_| Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)))
}

fn duration(time: libc::timeval) -> Duration {
    // Neither part of a CPU time is negative.
    Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000)
}

/// Makes bind(2) fix only the source address and leaves the port to connect(2). connect(2) knows the target, so it can share one local port
/// between several targets.
pub(crate) fn bind_address_no_port(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is borrowed and so open; the option is an int, and its address and length are given.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    result(status as isize).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_grows_with_work_and_only_by_this_threads_work() {
        let before = CpuTime::of_this_thread();
        let mut spent = CpuTime::default();
        // Bounded: the loop works until the kernel has counted the time; if it never does, the test fails.
        for _ in 0..1_000_000 {
            std::hint::black_box((0..1_000u64).sum::<u64>());
            spent = CpuTime::of_this_thread().since(before);
            if spent.user + spent.system > Duration::from_millis(5) {
                break;
            }
        }
        assert!(spent.user + spent.system > Duration::from_millis(5), "{spent:?}");
    }
}
