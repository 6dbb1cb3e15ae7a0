//! Runs that alternate with those of other timers. None begins before its turn.
//!
//! A waiting timer sleeps in a read, so the timer whose turn it is has the CPUs. The pairs are those of a series, in
//! the same order: with an even number of turns, half of the runs come before their floor.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_setfl};

use super::job::{Came, TimerJob, TimerReport, Turn, Turns};
use super::series::run_pair;

/// Makes a pair of runs at each turn until there are no more turns. So the report is written once all other timers have
/// finished as well.
pub(super) fn run(job: &TimerJob, log: &File, (mut given, mut taken): (File, File)) -> io::Result<TimerReport> {
    let (mut report, mut made) = (TimerReport::default(), Made::default());
    while let Some(turn) = next(&mut given)? {
        let came = made.take(job, log, turn, &mut report)?;
        taken.write_all(&[came as u8])?;
    }
    Ok(report)
}

/// Opens both FIFOs.
pub(super) fn open(turns: &Turns) -> io::Result<(File, File)> {
    Ok((reader(&turns.given)?, OpenOptions::new().write(true).open(&turns.taken)?))
}

/// Opens a FIFO without waiting for a writer: if the lab has closed it, there are no more turns.
fn reader(fifo: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(fifo)?;
    fcntl_setfl(&file, OFlags::empty())?;
    Ok(file)
}

/// The next turn, or `None` when there are no more.
fn next(given: &mut File) -> io::Result<Option<Turn>> {
    let mut byte = [0];
    if given.read(&mut byte)? == 0 {
        return Ok(None);
    }
    let unknown = || io::Error::new(io::ErrorKind::InvalidData, format!("there is no turn {}", byte[0]));
    Turn::read(byte[0]).map(Some).ok_or_else(unknown)
}

/// The runs that a timer has made in its turns so far.
#[derive(Debug, Default)]
struct Made {
    warm_ups: u32,
    runs: u32,
    /// How long the runs that count took, including their floors.
    took: Duration,
}

impl Made {
    fn take(&mut self, job: &TimerJob, log: &File, turn: Turn, report: &mut TimerReport) -> io::Result<Came> {
        let (warm_up, began) = (turn == Turn::WarmUp, Instant::now());
        let number = if warm_up { &mut self.warm_ups } else { &mut self.runs };
        let ended_well = run_pair(job, log, (warm_up, *number), report)?;
        *number += 1;
        if !warm_up {
            self.took += began.elapsed();
        }
        let is_last = self.runs >= job.runs || self.took.as_secs_f64() >= job.at_most_s;
        Ok(match (ended_well, is_last) {
            (false, _) => Came::Fault,
            (true, true) => Came::Last,
            (true, false) => Came::Made,
        })
    }
}

#[cfg(test)]
mod tests;
