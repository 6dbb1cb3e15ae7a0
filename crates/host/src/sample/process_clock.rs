//! The clock of a process: its CPU time to the nanosecond, threads that have ended included.
#![allow(unsafe_code, reason = "rustix reads the clocks of other processes only through a wrapper that refuses them")]

use std::mem::MaybeUninit;

/// The scheduler's own count, as in the kernel's encoding of the clocks of processes (CPUCLOCK_SCHED).
const OF_THE_SCHEDULER: libc::clockid_t = 2;

/// CPU time that a process has used so far, in nanoseconds, or `None` if it is gone.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_have_ended_are_in_it() {
        let own = std::process::id();
        let before = process_cpu_ns(own).unwrap();
        let spent = std::thread::spawn(|| {
            let began = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            let busy_ns = || {
                let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
                (now.tv_sec - began.tv_sec) as u64 * 1_000_000_000 + now.tv_nsec as u64 - began.tv_nsec as u64
            };
            while busy_ns() < 5_000_000 {}
            busy_ns()
        });
        let spent = spent.join().unwrap();
        assert!(process_cpu_ns(own).unwrap() - before >= spent);
    }

    #[test]
    fn a_process_that_is_gone_has_none() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert_eq!(process_cpu_ns(pid), None);
    }
}
