//! The processor's counters for a program and everything it starts: instructions and cycles, in user mode and in the kernel.

use std::fs::File;

use serde::Serialize;
use tolok_host::sample::perf::{self, Event, Mode, Target};

/// Counts of one program, from start to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Instructions in user mode.
    pub instructions_user: u64,
    /// Instructions in the kernel on its behalf.
    pub instructions_kernel: u64,
    /// Cycles in user mode.
    pub cycles_user: u64,
    /// Cycles in the kernel on its behalf.
    pub cycles_kernel: u64,
}

/// Open counters, which start with the next program that this thread starts.
#[derive(Debug)]
pub struct Counters {
    files: [File; 4],
}

const CYCLES: Event = Event::hardware(0);
const INSTRUCTIONS: Event = Event::hardware(1);

impl Counters {
    /// Opens the counters, or returns `None` if the machine or this user has none.
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

    /// The counts, after the program has ended and was waited for. `None` if a counter was shared, because its value would then be an
    /// extrapolation.
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

/// The value, if the counter ran all the time.
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
        // In a child of the program, as with some generators.
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
        // Many virtual machines have no counters; the bench then shows dashes, and there is nothing to test.
        let Some((little, much)) = count(10).zip(count(100_000)) else { return };
        let more = much.instructions_user - little.instructions_user;
        // One iteration of that loop takes a shell at least a hundred instructions.
        assert!(more > 100 * 99_990, "{little:?} {much:?}");
        assert!(much.cycles_user > little.cycles_user && much.instructions_kernel > 0, "{much:?}");
    }
}
