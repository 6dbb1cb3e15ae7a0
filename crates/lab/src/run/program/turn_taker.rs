//! One case of a launch: its timer, which waits for a turn before each run.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::process::Signal;
use tolok_host::isolate::{TrialBox, readable_before};
use tolok_host::timer::{Came, TimerJob, TimerReport, Turn, Turns};
use tolok_model::FailureKind;
use tolok_store::Folder;
use tolok_store::recompute::program_rows::TIMER_REPORT;

use crate::run::program::timing::{TIMER_SLACK, tool_failed};
use crate::run::server::trial::TrialError;
use crate::run::stop::Stop;

/// How often to check the box during a run.
const LOOK: Duration = Duration::from_millis(100);

/// The lab's side of a timer that takes turns.
pub(super) struct TurnTaker {
    /// Position of its case in the launch.
    pub(super) place: usize,
    /// Its part of the box.
    pub(super) part: String,
    pub(super) job: TimerJob,
    /// `None` once it gets no more turns.
    given: Option<File>,
    taken: File,
    /// Round and half of each counted turn; warm-up is left out.
    pub(super) turns: Vec<(u32, u32)>,
    /// Whether it can use another turn.
    is_open: bool,
    /// What went wrong with the timer itself.
    broken: Option<TrialError>,
}

impl TurnTaker {
    /// Makes the FIFOs of a timer in a folder that both lab and box can access.
    pub(super) fn new(place: usize, part: String, folder: &Path, job: TimerJob) -> io::Result<Self> {
        let path = |name: &str| folder.join(format!("{name}-{}", place + 1));
        let turns = Turns { given: path("given"), taken: path("taken") };
        for fifo in [&turns.given, &turns.taken] {
            mknodat(CWD, fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        }
        // Also open for reading, so that opening does not wait for the timer, and writing after its end raises no SIGPIPE.
        let given = OpenOptions::new().read(true).write(true).open(&turns.given)?;
        let without_waiting = OFlags::NONBLOCK.bits() as i32;
        let taken = OpenOptions::new().read(true).custom_flags(without_waiting).open(&turns.taken)?;
        let job = TimerJob { turns: Some(turns), ..job };
        Ok(Self { place, part, job, given: Some(given), taken, turns: Vec::new(), is_open: true, broken: None })
    }

    /// Whether it can take another turn.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Gives it a turn and waits for the end of that. An error ends the launch; a fault of this timer only ends its turns.
    pub(super) fn take(
        &mut self,
        turn: Turn,
        place: Option<(u32, u32)>,
        trial_box: &mut TrialBox,
        stop: &Stop,
    ) -> Result<(), TrialError> {
        match self.turn(turn, trial_box, stop) {
            Ok(came) => {
                self.is_open = came == Came::Made;
                self.turns.extend(place.filter(|_| came != Came::Fault));
                Ok(())
            }
            Err(broken @ TrialError::Failed(FailureKind::ToolFailed, _)) => {
                (self.is_open, self.broken) = (false, Some(broken));
                // The program of a killed timer still runs, and would disturb the others.
                Ok(trial_box.end_part(&self.part, Signal::KILL)?)
            }
            Err(error) => Err(error),
        }
    }

    fn turn(&mut self, turn: Turn, trial_box: &mut TrialBox, stop: &Stop) -> Result<Came, TrialError> {
        let given = self.given.as_mut().ok_or_else(|| tool_failed("tolok's timer gets no more turns"))?;
        given.write_all(&[turn as u8]).map_err(|error| tool_failed(format!("cannot give a turn: {error}")))?;
        // A run and its floor.
        let deadline = Instant::now() + Duration::from_secs_f64(2.0 * self.job.timeout_s) + TIMER_SLACK;
        loop {
            let look = Instant::now() + LOOK;
            let is_readable = readable_before(&self.taken, look).map_err(TrialError::lab)?;
            let mut byte = [0];
            match self.taken.read(&mut byte) {
                Ok(1) => {
                    return Came::read(byte[0]).ok_or_else(|| tool_failed("tolok's timer says what it should not"));
                }
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(TrialError::lab(error)),
                _ => {}
            }
            // Without a writer, the FIFO polls as readable but returns nothing.
            let patience = if is_readable { LOOK } else { Duration::ZERO };
            if trial_box.has_ended_within(&self.part, patience)? {
                return Err(tool_failed(format!("tolok's timer ended with {}", self.how_it_ended(trial_box)?)));
            }
            if stop.is_immediate() {
                return Err(TrialError::Stopped);
            }
            if Instant::now() > deadline {
                return Err(tool_failed("tolok's timer did not end its run"));
            }
        }
    }

    fn how_it_ended(&self, trial_box: &mut TrialBox) -> Result<String, TrialError> {
        let exit = trial_box.exits()?.iter().find(|exit| exit.part == self.part);
        Ok(exit.map_or_else(|| "no word".to_owned(), |exit| exit.how.clone()))
    }

    /// Gives no more turns: the timer writes its report and ends.
    pub(super) fn dismiss(&mut self) {
        self.given = None;
    }

    /// Waits until the dismissed timer has ended, and reads its report.
    pub(super) fn report(&mut self, trial_box: &mut TrialBox, folder: &Folder) -> Result<TimerReport, TrialError> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        if !trial_box.has_ended_within(&self.part, TIMER_SLACK)? {
            return Err(tool_failed("tolok's timer did not end"));
        }
        let no_report = |error: &dyn std::fmt::Display| tool_failed(format!("tolok's timer left no report: {error}"));
        let text = folder.text(TIMER_REPORT).map_err(|error| no_report(&error))?;
        let report: TimerReport = serde_json::from_str(&text).map_err(|error| no_report(&error))?;
        match report.broken {
            Some(why) => Err(tool_failed(format!("tolok's timer could not go on: {why}"))),
            None => Ok(report),
        }
    }
}
