//! The processor's counters for a program and everything it starts: instructions and cycles, outside and inside the kernel.

use std::fs::File;

use serde::Serialize;
use tolok_host::sample::perf::{self, Event, Mode, Target};

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

const CYCLES: Event = Event::hardware(0);
const INSTRUCTIONS: Event = Event::hardware(1);

impl Counters {
    /// Opens the counters, or returns `None` where the machine or this user has none.
    pub fn open() -> Option<Counters> {
        let open = |event, mode| perf::open(event, Target::NextProgram, mode).ok();
        Some(Counters {
            files: [
                open(INSTRUCTIONS, Mode::User)?,
                open(INSTRUCTIONS, Mode::Kernel)?,
                open(CYCLES, Mode::User)?,
                open(CYCLES, Mode::Kernel)?,
            ],
        })
    }

    /// The counts, once the program has ended and was waited for. `None` if a counter had to be shared, because then its
    /// figure is an extrapolation.
    pub fn read(self) -> Option<Counted> {
        let [instructions_user, instructions_kernel, cycles_user, cycles_kernel] = self.files.each_ref().map(read);
        Some(Counted {
            instructions_user: instructions_user?,
            instructions_kernel: instructions_kernel?,
            cycles_user: cycles_user?,
            cycles_kernel: cycles_kernel?,
        })
    }
}

/// The value, if the counter ran as long as it was to.
fn read(file: &File) -> Option<u64> {
    let raw = perf::read(file)?;
    (raw.enabled_ns > 0 && raw.enabled_ns == raw.running_ns).then_some(raw.value)
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
        crate::child::spawn(&mut command, tolok_host::machine::Machine::read().allowed_cpus[0])
            .unwrap()
            .reap()
            .unwrap();
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
