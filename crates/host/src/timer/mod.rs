//! The timer of programs. It runs a program repeatedly and gets from the kernel what each run used.
//!
//! It is a process (the hidden verb `program-timer`) that the init of a trial's box starts as a part of the subject, so
//! the runs have the subject's CPUs, control group and network. It reads its job from a file and writes its report to
//! another. It only judges runs; the lab decides about the trial. In a launch the timers of all cases live at the same
//! time, and each waits for its turn before every run.
//!
//! A run's wall time is from right before `execve` in the child, on the clock that the child itself reads, until
//! `wait4` returns in the timer. So it includes loading the program, the program, its end, and the timer's wake-up, but
//! not the fork. hyperfine's includes the fork, and its own wake-up.

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

/// The timer's life: reads the job, makes the runs, writes the report.
pub fn run_program_timer(job: &Path) -> io::Result<()> {
    let job: TimerJob = job_of("program-timer", &fs::read_to_string(job).unwrap_or_default())?;
    // Opens them before any program runs, because programs must not reach these files.
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

/// Opens the log, to which the programs' standard error is appended.
fn log(job: &TimerJob) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(&job.log)
}
