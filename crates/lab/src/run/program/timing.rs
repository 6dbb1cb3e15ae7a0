//! Runs the timers: warm-up runs first, then the window, in which tolok's own timer, hyperfine or GNU time runs the
//! program while the lab samples the machine.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tolok_load::clock::{Clock, SystemClock};
use tolok_model::{FailureKind, RawTurns, Timer, ToolUsed};

use crate::run::events::event::{Phase, TrialEvent};
use crate::run::program::trial::ProgramTrial;
use crate::run::server::measure::sampler;
use crate::run::server::trial::TrialError;
use crate::subject::log_tail_in;
use crate::toolbox::Program;
use tolok_host::isolate::{ProcessSpec, TrialBox, Trust};
use tolok_host::sample::{Sampler, Window};
use tolok_host::shell::command_line;
use tolok_host::timer::{Fault, FaultyRun, TimedRun, TimerJob, TimerReport};
use tolok_store::Folder;
use tolok_store::recompute::SAMPLES;
use tolok_store::recompute::program_rows::{ROWS, RunRow, TIMER_REPORT, TOOL_OUTPUT};
use tolok_tools::timer::{GNU_TIME_FORMAT, TimerNotUnderstood, gnu_time_runs, hyperfine_arguments, hyperfine_report};

/// The output of a timer.
pub(in crate::run) const TIMER_LOG: &str = "tool.log";
pub(super) const PART: &str = "subject";
/// How often resources are sampled.
const SAMPLE: Duration = Duration::from_millis(100);
/// How much longer than its runs a timer may take before it counts as hung.
pub(super) const TIMER_SLACK: Duration = Duration::from_secs(15);

/// A timer that is ready to use.
#[derive(Debug, Clone, Copy)]
pub(in crate::run) enum TimerAtHand<'a> {
    Own,
    Hyperfine(&'a Program),
    GnuTime(&'a Program),
}

/// What is known of the runs, apart from the files that the timer left.
pub(in crate::run) struct Timed {
    pub(in crate::run) timer: ToolUsed,
    /// From the start to the end of the timer's process.
    pub(in crate::run) window: Window,
    /// The origin of the samples' times.
    pub(in crate::run) clock_zero_ns: i64,
    /// The readings of the launch, if its runs alternated with those of others.
    pub(in crate::run) turns: Option<RawTurns>,
}

/// What is sampled while a timer runs.
struct Watch<'s> {
    sampler: &'s mut Sampler,
    clock: Instant,
}

impl<'a> TimerAtHand<'a> {
    /// The timer of a scenario.
    pub(in crate::run) fn find(timer: Timer, programs: &'a BTreeMap<String, Program>) -> Result<Self, String> {
        let Some(name) = timer.program() else { return Ok(Self::Own) };
        let program = programs.get(name).ok_or_else(|| format!("there is no {} here any more", timer.word()))?;
        Ok(if timer == Timer::Hyperfine { Self::Hyperfine(program) } else { Self::GnuTime(program) })
    }

    pub(super) fn used(&self) -> ToolUsed {
        let (name, version) = match self {
            Self::Own => (Timer::Tolok, env!("CARGO_PKG_VERSION")),
            Self::Hyperfine(program) => (Timer::Hyperfine, program.version.as_str()),
            Self::GnuTime(program) => (Timer::Time, program.version.as_str()),
        };
        ToolUsed { name: name.word().to_owned(), version: version.to_owned() }
    }
}

impl ProgramTrial<'_> {
    /// Makes all runs, warm-up first.
    pub(in crate::run) fn take_times(
        &self,
        trial_box: &mut TrialBox,
        job: &TimerJob,
        timer: &TimerAtHand<'_>,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<Timed, TrialError> {
        self.folder.write(TIMER_LOG, b"")?;
        self.folder.write("command.txt", (command_line(&job.work.argv) + "\n").as_bytes())?;
        let mut sampler = sampler(trial_box, true);
        let mut watch = Watch { sampler: &mut sampler, clock: Instant::now() };
        emit(TrialEvent::Phase { phase: Phase::WarmingUp });
        let before = self.warm_up(trial_box, &mut watch, job, timer)?;
        emit(TrialEvent::Phase { phase: Phase::Measuring });
        let began = SystemClock.now();
        watch.sampler.window_starts(watch.at_s(), began);
        let counted = self.count(trial_box, &mut watch, job, timer, &before);
        let ended = SystemClock.now();
        // If the timer ended too soon for enough readings, other programs' use is unknown; that is not a failure.
        let _ = watch.sampler.window_ends(watch.at_s(), ended);
        emit(TrialEvent::Phase { phase: Phase::Stopping });
        self.folder.write_lines(SAMPLES, &sampler.samples())?;
        let rows: Vec<RunRow> = before.iter().map(RunRow::own).chain(counted?).collect();
        self.folder.write_lines(ROWS, &rows)?;
        let clock_zero_ns = sampler.clock_zero_ns();
        Ok(Timed { timer: timer.used(), window: Window { began, ended }, clock_zero_ns, turns: None })
    }

    /// The warm-up runs, by tolok's own timer. Other timers do not check a program's output, so one checked run is made for them.
    /// GNU time has no warm-up runs of its own.
    fn warm_up(
        &self,
        trial_box: &mut TrialBox,
        watch: &mut Watch<'_>,
        job: &TimerJob,
        timer: &TimerAtHand<'_>,
    ) -> Result<Vec<TimedRun>, TrialError> {
        let (warmup_runs, floor) = match timer {
            TimerAtHand::Own => (job.warmup_runs, job.floor.clone()),
            TimerAtHand::Hyperfine(_) => (1, None),
            TimerAtHand::GnuTime(_) => (job.warmup_runs.max(1), None),
        };
        if warmup_runs == 0 {
            return Ok(Vec::new());
        }
        self.run_timer(trial_box, watch, &TimerJob { warmup_runs, runs: 0, floor, ..job.clone() })
    }

    /// The runs that count.
    fn count(
        &self,
        trial_box: &mut TrialBox,
        watch: &mut Watch<'_>,
        job: &TimerJob,
        timer: &TimerAtHand<'_>,
        before: &[TimedRun],
    ) -> Result<Vec<RunRow>, TrialError> {
        let job = TimerJob { warmup_runs: 0, ..job.clone() };
        match timer {
            TimerAtHand::Own => {
                let runs = self.run_timer(trial_box, watch, &job)?;
                Ok(runs.iter().map(RunRow::own).collect())
            }
            TimerAtHand::GnuTime(time) => self.run_gnu_time(trial_box, watch, job, time),
            TimerAtHand::Hyperfine(hyperfine) => self.run_hyperfine(trial_box, watch, &job, hyperfine, before),
        }
    }

    /// Runs tolok's timer. The first faulty run is the trial's failure.
    fn run_timer(
        &self,
        trial_box: &mut TrialBox,
        watch: &mut Watch<'_>,
        job: &TimerJob,
    ) -> Result<Vec<TimedRun>, TrialError> {
        let argv = self.timer_command(job)?;
        let each = if job.floor.is_some() { 2.0 } else { 1.0 };
        let limit_s = (f64::from(job.warmup_runs) + 1.0) * each * job.timeout_s + job.at_most_s;
        let spec = self.process("timer", argv, job, (BTreeMap::new(), Trust::GuardsItself));
        let how = self.wait_for(trial_box, watch, &spec, limit_s)?;
        let how = how.ok_or_else(|| tool_failed("tolok's timer did not end"))?;
        if how != "exit code 0" {
            return Err(tool_failed(format!("tolok's timer ended with {how}")));
        }
        let no_report = |error: &dyn std::fmt::Display| tool_failed(format!("tolok's timer left no report: {error}"));
        let text = self.folder.folder().text(TIMER_REPORT).map_err(|error| no_report(&error))?;
        let TimerReport { runs, fault, broken } = serde_json::from_str(&text).map_err(|error| no_report(&error))?;
        if let Some(why) = broken {
            return Err(tool_failed(format!("tolok's timer could not go on: {why}")));
        }
        match fault {
            None => Ok(runs),
            Some(faulty) => {
                self.folder.write_lines(ROWS, &runs.iter().map(RunRow::own).collect::<Vec<_>>())?;
                Err(trial_error_of(&faulty, job))
            }
        }
    }

    /// The command of tolok's timer, whose job is written to a file.
    pub(super) fn timer_command(&self, job: &TimerJob) -> Result<Vec<String>, TrialError> {
        const JOB: &str = "timer-job.json";
        self.folder.write(JOB, &serde_json::to_vec_pretty(job).map_err(TrialError::lab)?)?;
        let (tolok, job) = (&self.launch.session.laboratory.tolok, self.folder.path().join(JOB));
        Ok(vec![tolok.display().to_string(), "program-timer".to_owned(), job.display().to_string()])
    }

    /// GNU time runs a program once, so tolok's timer runs GNU time repeatedly. The program's output and exit code pass through and
    /// are checked as usual.
    fn run_gnu_time(
        &self,
        trial_box: &mut TrialBox,
        watch: &mut Watch<'_>,
        mut job: TimerJob,
        time: &Program,
    ) -> Result<Vec<RunRow>, TrialError> {
        let output = job.cwd.join(TOOL_OUTPUT);
        let (path, file) = (time.path.display().to_string(), output.display().to_string());
        let own = [path.as_str(), "-f", GNU_TIME_FORMAT, "-a", "-o", &file, "--"].map(str::to_owned);
        job.work.argv = [own.to_vec(), job.work.argv].concat();
        job.env.extend(time.env.clone());
        job.floor = None;
        let made = self.run_timer(trial_box, watch, &job)?;
        let text = self.tool_said(trial_box, &job)?;
        let runs = gnu_time_runs(&text, &time.version).map_err(not_understood)?;
        if runs.len() != made.len() {
            let why = format!("GNU time was run {} times and tells of {} runs", made.len(), runs.len());
            return Err(tool_failed(why));
        }
        Ok(runs.into_iter().map(|run| RunRow::of_tool(Timer::Time, run)).collect())
    }

    /// hyperfine has no limit for the total time, so it gets a number of runs that should fit, judged by the earlier runs.
    fn run_hyperfine(
        &self,
        trial_box: &mut TrialBox,
        watch: &mut Watch<'_>,
        job: &TimerJob,
        hyperfine: &Program,
        before: &[TimedRun],
    ) -> Result<Vec<RunRow>, TrialError> {
        let (warmup_runs, runs) = (self.scenario.runs.warmup_runs, fitting(job, before));
        let output = job.cwd.join(TOOL_OUTPUT);
        let command = command_line(&job.work.argv);
        let arguments = hyperfine_arguments(&command, &output.display().to_string(), (warmup_runs, runs));
        let argv = [vec![hyperfine.path.display().to_string()], arguments].concat();
        let spec = self.process("hyperfine", argv, job, (hyperfine.env.clone(), Trust::Guarded));
        let limit_s = f64::from(warmup_runs + runs) * job.timeout_s;
        let how = self.wait_for(trial_box, watch, &spec, limit_s)?.ok_or_else(|| {
            let message = format!("`{command}` under hyperfine did not end {runs} times within {limit_s} s");
            TrialError::Failed(FailureKind::Hung, message)
        })?;
        if how != "exit code 0" {
            return Err(self.why_hyperfine_ended(&command, &how));
        }
        let found = hyperfine_report(&self.tool_said(trial_box, job)?).map_err(not_understood)?;
        Ok(found.runs.into_iter().map(|run| RunRow::of_tool(Timer::Hyperfine, run)).collect())
    }

    /// The output file of a tool, from the private folder, the only one that it can write in. It is kept with the trial.
    fn tool_said(&self, trial_box: &TrialBox, job: &TimerJob) -> Result<String, TrialError> {
        let unreadable = |error| tool_failed(format!("cannot read {TOOL_OUTPUT}: {error}"));
        let text = Folder::at(&trial_box.path_inside(&job.cwd)).text(TOOL_OUTPUT).map_err(unreadable)?;
        self.folder.write(TOOL_OUTPUT, text.as_bytes())?;
        Ok(text)
    }

    /// hyperfine ends, with a message, as soon as a run of the program fails.
    fn why_hyperfine_ended(&self, command: &str, how: &str) -> TrialError {
        let log = log_tail_in(self.folder.folder(), TIMER_LOG, 20);
        let is_of_program = |line: &&String| {
            line.contains("terminated with non-zero exit code") || line.contains("has been terminated by a signal")
        };
        match log.iter().find(is_of_program) {
            Some(line) => {
                let said = line.split(". Use").next().unwrap_or(line);
                let message = format!("`{command}` did not end well under hyperfine, which says: {said}");
                TrialError::Failed(FailureKind::Crashed, message)
            }
            None => tool_failed(format!("hyperfine ended with {how}")),
        }
    }

    /// A timer as a process of the subject.
    pub(super) fn process(
        &self,
        name: &str,
        argv: Vec<String>,
        job: &TimerJob,
        (more, trust): (BTreeMap<String, String>, Trust),
    ) -> ProcessSpec {
        let mut env = job.env.clone();
        env.extend(more);
        ProcessSpec {
            name: name.to_owned(),
            part: PART.to_owned(),
            argv,
            env,
            cwd: job.cwd.clone(),
            log: self.folder.path().join(TIMER_LOG),
            cpus: self.cpus.subject.clone(),
            trust,
            stop: "KILL".to_owned(),
        }
    }

    /// Starts a timer and samples resources until it ends. Returns how it ended, or `None` if it did not.
    fn wait_for(
        &self,
        trial_box: &mut TrialBox,
        watch: &mut Watch<'_>,
        spec: &ProcessSpec,
        limit_s: f64,
    ) -> Result<Option<String>, TrialError> {
        let ended_before = trial_box.exits()?.len();
        trial_box.start(spec).map_err(|error| tool_failed(error.to_string()))?;
        let deadline = Instant::now() + Duration::from_secs_f64(limit_s) + TIMER_SLACK;
        while !trial_box.has_ended_within(PART, SAMPLE)? {
            watch.sampler.tick(watch.at_s());
            if self.launch.stop.is_immediate() {
                return Err(TrialError::Stopped);
            }
            if Instant::now() > deadline {
                return Ok(None);
            }
        }
        Ok(trial_box.exits()?.get(ended_before).map(|exit| exit.how.clone()))
    }
}

impl Watch<'_> {
    fn at_s(&self) -> f64 {
        self.clock.elapsed().as_secs_f64()
    }
}

/// How many runs fit into the time limit, judged by the longest run before.
fn fitting(job: &TimerJob, before: &[TimedRun]) -> u32 {
    let longest_s = before.iter().map(|run| run.wall_s).fold(0.0, f64::max);
    // The cast saturates: a quotient beyond the range becomes the largest number.
    ((job.at_most_s / longest_s) as u32).clamp(1, job.runs.max(1))
}

/// The trial's failure for a faulty run.
pub(super) fn trial_error_of(FaultyRun { number, floor, fault }: &FaultyRun, job: &TimerJob) -> TrialError {
    let task = job.floor.as_ref().filter(|_| *floor).unwrap_or(&job.work);
    let run = format!("run {number} of `{}`", command_line(&task.argv));
    match fault {
        Fault::NotStarted { reason } => {
            TrialError::Failed(FailureKind::DidNotStart, format!("{run} could not be started: {reason}"))
        }
        Fault::Hung => {
            let limit = tolok_model::duration_words(job.timeout_s);
            TrialError::Failed(FailureKind::Hung, format!("{run} did not end within {limit}"))
        }
        Fault::Exited { code } => {
            TrialError::Failed(FailureKind::Crashed, format!("{run} ended with exit code {code}"))
        }
        Fault::Killed { signal } => {
            TrialError::Failed(FailureKind::Crashed, format!("{run} ended with signal {signal}"))
        }
        Fault::WrongOutput { came, owed } => {
            TrialError::Failed(FailureKind::WrongAnswer, format!("{run} wrote {came} and owed {owed}"))
        }
    }
}

fn not_understood(error: TimerNotUnderstood) -> TrialError {
    tool_failed(error.to_string())
}

pub(super) fn tool_failed(message: impl Into<String>) -> TrialError {
    TrialError::Failed(FailureKind::ToolFailed, message.into())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use tolok_host::timer::Task;

    fn job() -> TimerJob {
        let task = |argument: &str| Task { argv: vec!["queue".to_owned(), argument.to_owned()], output: String::new() };
        TimerJob {
            work: task("1000"),
            floor: Some(task("0")),
            env: BTreeMap::new(),
            cwd: PathBuf::new(),
            log: PathBuf::new(),
            report: PathBuf::new(),
            warmup_runs: 1,
            runs: 10,
            at_most_s: 10.0,
            timeout_s: 60.0,
            turns: None,
        }
    }

    fn run(floor: bool, began_s: f64, wall_s: f64) -> TimedRun {
        let began_ns = (began_s * 1e9) as u64;
        TimedRun { warm_up: false, floor, began_ns, wall_s, user_s: 0.1, system_s: 0.0, rss_bytes_max: None }
    }

    #[test]
    fn hyperfine_is_told_as_many_runs_as_fit_into_the_time() {
        let after = |wall_s: f64| fitting(&job(), &[run(false, 0.0, wall_s)]);
        assert_eq!([0.001, 1.0, 3.0, 30.0].map(after), [10, 10, 3, 1]);
        assert_eq!(fitting(&job(), &[]), 10);
    }

    #[test]
    fn every_fault_of_a_run_has_its_kind_and_names_the_run() {
        let check = |floor, fault, kind, words: &str| {
            let trial_error = trial_error_of(&FaultyRun { number: 3, floor, fault }, &job());
            let TrialError::Failed(found, message) = trial_error else { panic!("no failure") };
            assert_eq!((found, message.as_str()), (kind, words));
        };
        check(false, Fault::Hung, FailureKind::Hung, "run 3 of `queue 1000` did not end within 1 min");
        let exited = Fault::Exited { code: 2 };
        check(true, exited, FailureKind::Crashed, "run 3 of `queue 0` ended with exit code 2");
        let killed = Fault::Killed { signal: 11 };
        check(false, killed, FailureKind::Crashed, "run 3 of `queue 1000` ended with signal 11");
        let wrong = Fault::WrongOutput { came: "\"1\"".to_owned(), owed: "\"2\"".to_owned() };
        check(false, wrong, FailureKind::WrongAnswer, "run 3 of `queue 1000` wrote \"1\" and owed \"2\"");
        let gone = Fault::NotStarted { reason: "it is not there".to_owned() };
        check(false, gone, FailureKind::DidNotStart, "run 3 of `queue 1000` could not be started: it is not there");
    }
}
