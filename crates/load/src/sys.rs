//! The two calls that rustix does not wrap.
#![allow(unsafe_code, reason = "getrusage(2) and IP_BIND_ADDRESS_NO_PORT have no safe wrapper in rustix")]

use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use rustix::io::Errno;

/// CPU time of the calling thread, user and kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CpuTime {
    pub user: Duration,
    pub system: Duration,
}

impl CpuTime {
    /// Of the calling thread since it began. Of the thread and not of the process, because the engine is one thread and
    /// must not be billed for what the program around it does.
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

fn duration(time: libc::timeval) -> Duration {
    // Neither part of a CPU time is negative.
    Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000)
}

/// Lets bind(2) fix the source address only and leave the port to connect(2), which knows the target and may therefore
/// share one local port between several of them.
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
    if status == 0 {
        return Ok(());
    }
    let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL);
    Err(Errno::from_raw_os_error(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_grows_with_work_and_only_by_this_threads_work() {
        let before = CpuTime::of_this_thread();
        let mut spent = CpuTime::default();
        // Bounded: this loop works until the kernel has noticed, and a kernel that never does fails the test.
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
