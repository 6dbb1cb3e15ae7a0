//! The processor's counters for a program and everything it starts: instructions and cycles, outside and inside the kernel.
#![allow(unsafe_code, reason = "perf_event_open(2) has no wrapper, neither in the C library nor in rustix")]

use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};

use serde::Serialize;

/// Counts of one program, start to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Instructions outside the kernel.
    pub instructions_user: u64,
    /// Instructions in the kernel on its behalf.
    pub instructions_kernel: u64,
    /// Cycles outside the kernel.
    pub cycles_user: u64,
    /// Cycles in the kernel on its behalf.
    pub cycles_kernel: u64,
}

/// Open counters, which wait for the next program that this thread starts.
#[derive(Debug)]
pub struct Counters {
    files: [File; 4],
}

const CYCLES: u64 = 0;
const INSTRUCTIONS: u64 = 1;

const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_USER: u64 = 1 << 4;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;

const FORMAT_TOTAL_TIME_ENABLED: u64 = 1;
const FORMAT_TOTAL_TIME_RUNNING: u64 = 2;

/// The first version of the kernel's structure, which holds all that is needed here (`PERF_ATTR_SIZE_VER0`).
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

impl Counters {
    /// Opens the counters, or none where the machine or this user has none.
    ///
    /// They are opened on this thread, switched off; a child inherits them, and the exec of its program switches its
    /// copies on. So they count from the program's first instruction, and nothing of this process.
    pub fn open() -> Option<Counters> {
        let open = |config, exclude| open(config, exclude).map(File::from);
        Some(Counters {
            files: [
                open(INSTRUCTIONS, EXCLUDE_KERNEL)?,
                open(INSTRUCTIONS, EXCLUDE_USER)?,
                open(CYCLES, EXCLUDE_KERNEL)?,
                open(CYCLES, EXCLUDE_USER)?,
            ],
        })
    }

    /// The counts, once the program has ended and was waited for. None if a counter had to be shared, because then its
    /// figure is an extrapolation.
    pub fn read(mut self) -> Option<Counted> {
        let [instructions_user, instructions_kernel, cycles_user, cycles_kernel] = self.files.each_mut().map(read);
        Some(Counted {
            instructions_user: instructions_user?,
            instructions_kernel: instructions_kernel?,
            cycles_user: cycles_user?,
            cycles_kernel: cycles_kernel?,
        })
    }
}

fn open(config: u64, exclude: u64) -> Option<OwnedFd> {
    let attributes = Attributes {
        kind: 0, // PERF_TYPE_HARDWARE
        size: size_of::<Attributes>() as u32,
        config,
        sample_period: 0,
        sample_type: 0,
        read_format: FORMAT_TOTAL_TIME_ENABLED | FORMAT_TOTAL_TIME_RUNNING,
        flags: DISABLED | INHERIT | ENABLE_ON_EXEC | EXCLUDE_HYPERVISOR | exclude,
        wakeup_events: 0,
        breakpoint_kind: 0,
        config1: 0,
    };
    let (this_thread, any_cpu, no_group, close_on_exec) = (0, -1, -1, 8);
    // SAFETY: the structure says its size, lives as long as the call, and is only read; the other arguments are numbers.
    let file = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            this_thread,
            any_cpu,
            no_group,
            close_on_exec as libc::c_ulong,
        )
    };
    // SAFETY: a number that is not negative is a descriptor that the kernel has just made for this process alone.
    (file >= 0).then(|| unsafe { OwnedFd::from_raw_fd(file as i32) })
}

/// The value, if the counter ran as long as it was to.
fn read(file: &mut File) -> Option<u64> {
    let mut words = [0; 24];
    file.read_exact(&mut words).ok()?;
    let word = |at: usize| u64::from_ne_bytes(words[at..at + 8].try_into().expect("eight bytes"));
    let (value, enabled, running) = (word(0), word(8), word(16));
    (enabled > 0 && enabled == running).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn count(turns: u32) -> Option<Counted> {
        let counters = Counters::open()?;
        let script = format!("i=0; while [ $i -lt {turns} ]; do i=$((i+1)); done");
        // In a child of the program, as some generators work.
        let mut command = Command::new("sh");
        command.args(["-c", "sh -c \"$0\"; exit 0", &script]);
        crate::child::spawn(&mut command, crate::machine::allowed_cpus()[0]).unwrap().reap().unwrap();
        counters.read()
    }

    #[test]
    fn more_work_is_more_instructions_where_there_are_counters() {
        // Where there are none, as in many virtual machines, the bench shows dashes, and there is nothing to test.
        let Some((little, much)) = count(10).zip(count(100_000)) else { return };
        let more = much.instructions_user - little.instructions_user;
        // A turn of that loop takes a shell a hundred instructions at the very least.
        assert!(more > 100 * 99_990, "{little:?} {much:?}");
        assert!(much.cycles_user > little.cycles_user && much.instructions_kernel > 0, "{much:?}");
    }
}
