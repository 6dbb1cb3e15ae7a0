//! System calls of the loop that rustix has no safe wrapper for.
#![allow(unsafe_code, reason = "descriptors by number, SCHED_FIFO, sched_setattr and prctl have no safe wrapper")]

use std::io;
use std::mem::size_of;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Real-time priority: the lowest, which precedes every ordinary task but not more urgent tasks of the machine.
const PRIORITY: libc::c_int = 1;
/// Length of a turn if real-time priority is refused: the shortest that the scheduler grants. Since Linux 6.12, short turns are scheduled
/// sooner than long ones.
const TURN_NS: u64 = 100_000;

/// Takes over a descriptor that this process has inherited.
pub(crate) fn adopt(descriptor: RawFd) -> io::Result<OwnedFd> {
    if descriptor < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: the borrow lasts for this one call, which fails with EBADF if nothing is open under the number.
    rustix::io::fcntl_getfd(unsafe { BorrowedFd::borrow_raw(descriptor) })?;
    // SAFETY: it is open, and a job guarantees that its descriptors were made for the link only. So nothing else in this process closes
    // them.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Gives the calling thread priority over all ordinary tasks. Returns whether that is granted.
pub(crate) fn go_first() -> bool {
    let parameters = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: sched_setscheduler reads `parameters` and changes nothing but the calling thread's scheduling.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) == 0 }
}

/// The next best, as far as the kernel grants it: the highest ordinary priority, short turns, and exact sleeps.
pub(crate) fn go_soon() {
    let _ = rustix::process::setpriority_process(None, -20);
    let nice = rustix::process::getpriority_process(None).unwrap_or(0);
    let attributes = SchedulingAttributes {
        size: size_of::<SchedulingAttributes>() as u32,
        nice,
        runtime_ns: TURN_NS,
        ..SchedulingAttributes::default()
    };
    // SAFETY: sched_setattr reads `attributes`, whose size is a field of it, and prctl takes a number; both change nothing but
    // the calling thread's turns and timers.
    unsafe {
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0);
        libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong, 0, 0, 0);
    }
}

/// `struct sched_attr` of the kernel, version 0; policy 0 is for ordinary tasks.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::IntoRawFd;

    #[test]
    fn a_descriptor_is_taken_over_by_its_number() {
        let mut file = tempfile::tempfile().unwrap();
        let number = file.try_clone().unwrap().into_raw_fd();
        rustix::io::write(adopt(number).unwrap(), b"x").unwrap();
        let mut text = String::new();
        std::io::Seek::rewind(&mut file).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "x");
    }

    #[test]
    fn a_number_under_which_nothing_is_open_is_refused() {
        assert!(adopt(-1).is_err());
        assert!(adopt(1_000_000).is_err());
    }
}
