//! A launch of programs: all cases of a scenario in one box, whose runs alternate.
//!
//! Each case has a timer in a control group of its own. All timers are alive together, and one at a time gets a turn: a run, with
//! its floor beside it. A waiting timer sleeps, so nothing needs freezing. A fault of one program is the outcome of
//! its case, and the others continue.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use tolok_host::isolate::{TrialBox, Trust};
use tolok_host::sample::{Sampler, Window, WindowUsage};
use tolok_host::shell::command_line;
use tolok_host::timer::{TimerReport, Turn};
use tolok_load::clock::{Clock, SystemClock};
use tolok_model::{Case, Failure, FailureKind, Plan, PlannedTurn, ProgramTiming, RawTurns};
use tolok_store::StoreError;
use tolok_store::recompute::program_rows::{ROWS, RunRow};

use super::timing::{TIMER_LOG, Timed, TimerAtHand, trial_error_of};
use super::trial::ProgramTrial;
use super::turn_taker::TurnTaker;
use crate::run::events::event::{Phase, TrialEvent};
use crate::run::failure::because_of_a_limit;
use crate::run::server::measure::sampler;
use crate::run::server::trial::{Finished, TrialError, load_average};
use crate::run::session::capabilities::server_part;
use crate::run::session::cgroup_membership::CgroupMembership;

/// The shortest time between two readings of the machine, which are taken between turns.
const READ: Duration = Duration::from_millis(500);

/// A case of a launch: its trial, or why it has none.
pub(in crate::run) struct ProgramCase<'a> {
    pub(in crate::run) case: &'a Case,
    pub(in crate::run) trial: Result<ProgramTrial<'a>, Failure>,
}

/// The contents of a launch.
pub(in crate::run) struct ProgramLaunch<'a> {
    pub(in crate::run) plan: &'a Plan,
    pub(in crate::run) number: u32,
    pub(in crate::run) cases: Vec<ProgramCase<'a>>,
}

/// What was measured from the first turn that counts to the end of the last.
struct Turned {
    window: Window,
    usage: Option<WindowUsage>,
    /// By case: its timer and report, or why there is none.
    timers: Vec<Result<(TurnTaker, TimerReport), TrialError>>,
}

impl<'a> ProgramLaunch<'a> {
    /// Runs the launch. Returns the result of each case in order, or `None` if it was stopped.
    pub(in crate::run) fn run(mut self, emit: &mut dyn FnMut(TrialEvent)) -> Result<Option<Vec<Finished>>, StoreError> {
        let timed = if self.trials().next().is_none() { Ok(Vec::new()) } else { self.boxed(emit) };
        let mut timed = match timed {
            Ok(timed) => timed.into_iter(),
            Err(TrialError::Stopped) => return Ok(None),
            Err(TrialError::Store(error)) => return Err(error),
            // A failure of the shared part goes into every record.
            Err(TrialError::Failed(reason, message)) => {
                let failed = || Err(TrialError::Failed(reason, message.clone()));
                self.cases.iter().map(|_| failed()).collect::<Vec<_>>().into_iter()
            }
        };
        let mut finished = Vec::new();
        for ProgramCase { trial, .. } in self.cases {
            let timed = timed.next();
            let trial = match trial {
                Ok(trial) => trial,
                Err(failure) => {
                    finished.push(Finished::failed(failure));
                    continue;
                }
            };
            let timed = timed.unwrap_or_else(|| Err(TrialError::lab("the case was not run")));
            let Some(done) = trial.finished(timed, 1)? else { return Ok(None) };
            finished.push(done);
        }
        Ok(Some(finished))
    }

    /// The trials that can run, with their places.
    fn trials(&self) -> impl Iterator<Item = (usize, &ProgramTrial<'a>)> {
        self.cases.iter().enumerate().filter_map(|(place, case)| Some((place, case.trial.as_ref().ok()?)))
    }

    /// Runs from an empty box to the end of every process. Returns the timings of each case.
    fn boxed(
        &mut self,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<Vec<Result<ProgramTiming, TrialError>>, TrialError> {
        emit(TrialEvent::Phase { phase: Phase::Starting });
        let load_average = load_average();
        let (_, first) = self.trials().next().ok_or_else(|| TrialError::lab("the launch has no cases"))?;
        let session = first.launch.session;
        let unwritable = |source| StoreError::Write { path: std::env::temp_dir(), source };
        // The private folder of the box, and one that the lab can read as well.
        let [scratch, shared] = [session.trial_scratch(), session.trial_scratch()].map(|made| made.map_err(unwritable));
        let (scratch, shared) = (scratch?, shared?);
        for (_, trial) in self.trials() {
            trial.folder.write("subject.log", b"")?;
            trial.folder.write(TIMER_LOG, b"")?;
        }
        let mut trial_box = first.open_box(self.cases.len(), scratch.path())?;
        let isolation = trial_box.isolation().clone();
        for case in &mut self.cases {
            if let Ok(trial) = &mut case.trial {
                trial.isolation = Some(isolation.clone());
            }
        }
        let turned = {
            let _guest = CgroupMembership::enter(session.capabilities, &trial_box);
            let takers = self.start_timers(&mut trial_box, scratch.path(), shared.path())?;
            self.turned(takers, &mut trial_box, emit)?
        };
        emit(TrialEvent::Phase { phase: Phase::Stopping });
        trial_box.stop()?;
        self.timings(turned, load_average)
    }

    /// Starts the timer of each case. A timer that cannot start is a failure of its case.
    fn start_timers(
        &mut self,
        trial_box: &mut TrialBox,
        run: &Path,
        shared: &Path,
    ) -> Result<Vec<Result<TurnTaker, TrialError>>, TrialError> {
        let mut takers = Vec::new();
        for (place, case) in self.cases.iter_mut().enumerate() {
            let taker = match &mut case.trial {
                Ok(trial) => start_timer(trial, place, trial_box, run, shared),
                Err(failure) => Err(TrialError::Failed(failure.reason, failure.message.clone())),
            };
            match taker {
                Err(error @ (TrialError::Store(_) | TrialError::Stopped)) => return Err(error),
                taker => takers.push(taker),
            }
        }
        Ok(takers)
    }

    /// Gives all turns, warm-up first, and reads the timers' reports.
    fn turned(
        &self,
        mut takers: Vec<Result<TurnTaker, TrialError>>,
        trial_box: &mut TrialBox,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<Turned, TrialError> {
        let (_, first) = self.trials().next().ok_or_else(|| TrialError::lab("the launch has no cases"))?;
        let stop = first.launch.stop;
        emit(TrialEvent::Phase { phase: Phase::WarmingUp });
        for _ in 0..first.scenario.runs.warmup_runs {
            for taker in takers.iter_mut().flatten().filter(|taker| taker.is_open()) {
                taker.take(Turn::WarmUp, None, trial_box, stop)?;
            }
        }
        emit(TrialEvent::Phase { phase: Phase::Measuring });
        let mut machine = Machine::of(sampler(trial_box, true));
        let began = machine.begins();
        let order = self.plan.turns_of(self.number);
        for (done, PlannedTurn { case, round, half }) in (1..).zip(&order) {
            let is_meant = |taker: &&mut TurnTaker| self.cases[taker.place].case.id == *case;
            let taker = takers.iter_mut().flatten().find(is_meant).filter(|taker| taker.is_open());
            if let Some(taker) = taker {
                taker.take(Turn::Counts, Some((*round, *half)), trial_box, stop)?;
            }
            if machine.is_read() {
                emit(TrialEvent::Turns { done, of: order.len() as u32 });
            }
        }
        let (window, usage) = machine.ends(began);
        takers.iter_mut().flatten().for_each(TurnTaker::dismiss);
        let timers = takers.into_iter().enumerate().map(|(place, taker)| {
            let (mut taker, trial) = (taker?, self.cases[place].trial.as_ref());
            let trial = trial.map_err(|failure| TrialError::lab(&failure.message))?;
            let report = taker.report(trial_box, trial.folder.folder());
            let report = report.and_then(|report| sound(trial, &taker, report));
            // The case's control group, which shows the limits it hit, must still exist here.
            let limits = &trial.environment.subject;
            let explained = |error| because_of_a_limit(error, limits, (trial_box, &taker.part));
            let report = report.map_err(explained)?;
            Ok((taker, report))
        });
        Ok(Turned { window, usage, timers: timers.collect() })
    }

    /// Writes the files of each case and makes its figures from them.
    fn timings(&self, turned: Turned, load_average: f64) -> Result<Vec<Result<ProgramTiming, TrialError>>, TrialError> {
        let Turned { window, usage, timers } = turned;
        let host = usage.map(|usage| usage.host).unwrap_or_default();
        let mut timings = Vec::new();
        for (timer, case) in timers.into_iter().zip(&self.cases) {
            let timing = match (timer, &case.trial) {
                (Ok((taker, report)), Ok(trial)) => {
                    trial.folder.write_lines(ROWS, &RunRow::in_turns(&report.runs, taker.turns.into_iter()))?;
                    let turns = RawTurns { launch: self.number, host: host.clone() };
                    let timed = Timed { timer: TimerAtHand::Own.used(), window, clock_zero_ns: 0, turns: Some(turns) };
                    trial.timing(timed, load_average)
                }
                (Err(error), _) => Err(error),
                (_, Err(failure)) => Err(TrialError::lab(&failure.message)),
            };
            timings.push(timing);
        }
        Ok(timings)
    }
}

/// The machine during the turns, read only between two of them, when no run is on.
struct Machine {
    sampler: Sampler,
    clock: Instant,
    last: Instant,
}

impl Machine {
    fn of(sampler: Sampler) -> Self {
        let now = Instant::now();
        Self { sampler, clock: now, last: now }
    }

    fn begins(&mut self) -> tolok_load::clock::MonotonicNs {
        let began = SystemClock.now();
        self.sampler.window_starts(self.clock.elapsed().as_secs_f64(), began);
        began
    }

    /// Reads it if that is due; returns whether it was.
    fn is_read(&mut self) -> bool {
        let is_due = self.last.elapsed() >= READ;
        if is_due {
            self.sampler.tick(self.clock.elapsed().as_secs_f64());
            self.last = Instant::now();
        }
        is_due
    }

    fn ends(&mut self, began: tolok_load::clock::MonotonicNs) -> (Window, Option<WindowUsage>) {
        let window = Window { began, ended: SystemClock.now() };
        // Without enough readings, the rest of the machine is unknown.
        (window, self.sampler.window_ends(self.clock.elapsed().as_secs_f64(), window.ended).ok())
    }
}

fn start_timer(
    trial: &mut ProgramTrial<'_>,
    place: usize,
    trial_box: &mut TrialBox,
    run: &Path,
    shared: &Path,
) -> Result<TurnTaker, TrialError> {
    let own = run.join(format!("program-{}", place + 1));
    trial_box.make_folder(&own, "subject")?;
    let job = trial.job(trial_box, &own)?;
    let taker = TurnTaker::new(place, server_part(place + 1), shared, job).map_err(TrialError::lab)?;
    trial.commands = vec![command_line(&taker.job.work.argv)];
    trial.folder.write("command.txt", (trial.commands.join("") + "\n").as_bytes())?;
    let mut spec =
        trial.process("timer", trial.timer_command(&taker.job)?, &taker.job, (BTreeMap::new(), Trust::GuardsItself));
    spec.part.clone_from(&taker.part);
    trial_box.start(&spec).map_err(|error| TrialError::failed(FailureKind::ToolFailed, error))?;
    Ok(taker)
}

/// Returns a report in which all runs succeeded. Otherwise the first faulty run is the failure of the case.
fn sound(trial: &ProgramTrial<'_>, taker: &TurnTaker, report: TimerReport) -> Result<TimerReport, TrialError> {
    let Some(faulty) = &report.fault else { return Ok(report) };
    trial.folder.write_lines(ROWS, &report.runs.iter().map(RunRow::own).collect::<Vec<_>>())?;
    Err(trial_error_of(faulty, &taker.job))
}
