//! The timer of programs. It runs a program repeatedly and reads from the kernel what each run used.
//!
//! It is a process (the hidden verb `program-timer`) that the init of a trial's box starts as a part of the subject, so
//! that the runs have the subject's CPUs, control group and network. It reads its job from a file and leaves its report in
//! another one. It judges nothing but the runs: what becomes of the trial is decided in the lab.
//! In a launch the timers of all cases are alive at once, and each waits for its turn before every run.
//!
//! What a run's wall time is: from right before `execve` in the child, as the child itself reads the clock, to the return of
//! `wait4` in the timer. So it has in it what the kernel does to load the program, the program, its end, and the waking of the
//! timer, and not the fork that made the process. hyperfine's has that in it, and its own waking.

mod child;
mod job;
mod one_run;
mod prepared;
mod series;
mod turns;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::guard::SelfGuard;
use crate::isolate::job_of;

pub use job::{Came, Fault, FaultyRun, Task, TimedRun, TimerJob, TimerReport, Turn, Turns};

/// The timer's life: read the job, run the runs, write the report.
pub fn run_program_timer(job: &Path) -> io::Result<()> {
    let job: TimerJob = job_of("program-timer", &fs::read_to_string(job).unwrap_or_default())?;
    // Before programs run, which are to reach none of these files.
    let (mut report_file, log) = (File::create(&job.report)?, log(&job)?);
    let turns = job.turns.as_ref().map(turns::open).transpose()?;
    if let Some(guard) = SelfGuard::given()? {
        guard.apply(&job.cwd)?;
    }
    let failed = |error: io::Error| TimerReport { broken: Some(error.to_string()), ..TimerReport::default() };
    let report = match turns {
        None => series::run(&job, &log),
        Some(turns) => turns::run(&job, &log, turns),
    };
    let report = report.unwrap_or_else(failed);
    report_file.write_all(&serde_json::to_vec(&report)?)
}

/// What programs say on standard error is appended to it.
fn log(job: &TimerJob) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(&job.log)
}
