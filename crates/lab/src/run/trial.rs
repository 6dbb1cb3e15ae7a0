//! A trial's life: start, first good answer, warm-up, window, stop.

use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tolok_model::{Case, Failure, FailureKind, HostWindow, Measurement, Outcome, Plan, Scenario, Subject, Workload};

use super::event::{Phase, RunEvent};
use super::session::Session;
use super::stop::Stop;
use crate::isolate::{BoxError, ProcessSpec, TrialBox};
use crate::sample::{Sampler, WindowUsage};
use crate::store::write_lines;
use crate::subject::{ProbeError, ask, check, log_tail};
use crate::tools::{LoadJob, RunningTool, ToolEvent, ToolReport, Waited, arguments};

/// A subject must give its first good answer within this time.
const START_LIMIT: Duration = Duration::from_secs(20);
/// One answer before the window may take this long.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// How often the subject is asked while it starts: the resolution of the cold start.
const POLL: Duration = Duration::from_millis(1);
/// How often resources are read when nothing else asks for it.
const SAMPLE: Duration = Duration::from_secs(1);
/// How much longer than its job a tool may take before it counts as hung.
const TOOL_SLACK: Duration = Duration::from_secs(15);
/// A port that another program takes between our look and the subject's start is replaced this often.
const PORT_ATTEMPTS: u32 = 5;

/// What a trial leaves behind.
pub(super) struct Result {
    /// Commands of the subject's processes.
    pub(super) commands: Vec<String>,
    /// What came of it.
    pub(super) outcome: Outcome,
}

/// One trial at work.
struct Trial<'a> {
    session: &'a Session<'a>,
    subject: &'a Subject,
    workload: &'a Workload,
    scenario: &'a Scenario,
    case: &'a Case,
    /// Where its files are kept.
    folder: &'a Path,
    /// Where its servers work.
    scratch: PathBuf,
    stop: &'a Stop,
    commands: Vec<String>,
}

/// A failure on the way, without the log that is added at the end.
struct Failed {
    reason: FailureKind,
    message: String,
    port_was_taken: bool,
}

impl Failed {
    fn new(reason: FailureKind, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), port_was_taken: false }
    }

    fn lab(error: impl std::fmt::Display) -> Self {
        Self::new(FailureKind::LabFailed, error.to_string())
    }
}

impl From<BoxError> for Failed {
    fn from(error: BoxError) -> Self {
        match error {
            BoxError::NotStarted { .. } => Self::new(FailureKind::DidNotStart, error.to_string()),
            _ => Self::lab(error),
        }
    }
}

/// Runs one trial; whatever goes wrong is in the outcome.
pub(super) fn run(
    session: &Session<'_>,
    plan: &Plan,
    case: &Case,
    folder: &Path,
    stop: &Stop,
    emit: &mut dyn FnMut(RunEvent),
) -> Result {
    let laboratory = session.laboratory;
    let found = plan.scenario(&case.scenario).and_then(|scenario| {
        let subject = laboratory.catalogue.subject(&case.subject.subject)?;
        Some((scenario, subject, laboratory.catalogue.workload(&scenario.workload)?))
    });
    let Some((scenario, subject, workload)) = found else {
        let failure = Failed::lab(format!("subject or workload of {} is not in this checkout any more", case.id));
        return Result { commands: Vec::new(), outcome: Outcome::Failed(with_log(failure, folder)) };
    };
    let mut attempt = 1;
    loop {
        let scratch = match session.trial_scratch(attempt) {
            Ok(scratch) => scratch,
            Err(error) => {
                return Result { commands: Vec::new(), outcome: Outcome::Failed(with_log(Failed::lab(error), folder)) };
            }
        };
        let mut trial =
            Trial { session, subject, workload, scenario, case, folder, scratch, stop, commands: Vec::new() };
        let measured = trial.measure_fresh(emit);
        let _ = std::fs::remove_dir_all(&trial.scratch);
        match measured {
            Err(failed) if failed.port_was_taken && attempt < PORT_ATTEMPTS => attempt += 1,
            Err(failed) => {
                return Result { commands: trial.commands, outcome: Outcome::Failed(with_log(failed, folder)) };
            }
            Ok(measurement) => {
                return Result { commands: trial.commands, outcome: Outcome::Completed(Box::new(measurement)) };
            }
        }
    }
}

fn with_log(failed: Failed, folder: &Path) -> Failure {
    let log_tail = log_tail(&folder.join("subject.log"), 20);
    Failure { reason: failed.reason, message: failed.message, log_tail }
}

impl Trial<'_> {
    fn measure_fresh(&mut self, emit: &mut dyn FnMut(RunEvent)) -> std::result::Result<Measurement, Failed> {
        emit(RunEvent::Phase { phase: Phase::Starting });
        let load_average = load_average();
        let port = free_port().map_err(Failed::lab)?;
        let specs = self.prepare(port)?;
        let clock = Instant::now();
        let mut trial_box = TrialBox::open(&self.session.laboratory.tolok)?;
        let mut sampler = Sampler::new("/proc", trial_box.keeper_pid());
        let cold_start_s = self.start(&mut trial_box, &specs, port)?;
        let (report, usage) = self.load(&mut trial_box, &mut sampler, port, clock, emit)?;
        emit(RunEvent::Phase { phase: Phase::Stopping });
        write_lines(&self.folder.join("samples.jsonl"), sampler.samples()).map_err(Failed::lab)?;
        write_lines(&self.folder.join("timeline.jsonl"), &report.timeline).map_err(Failed::lab)?;
        let crashed = trial_box.exits()?.to_vec();
        trial_box.stop()?;
        if let Some(exit) = crashed.first() {
            let message = format!("process {} ended with {} while it was measured", exit.name, exit.how);
            return Err(Failed::new(FailureKind::Crashed, message));
        }
        self.judge(&report)?;
        Ok(measurement(report, usage, cold_start_s, load_average))
    }

    /// Renders the subject's files and commands.
    fn prepare(&mut self, port: u16) -> std::result::Result<Vec<ProcessSpec>, Failed> {
        let names = self.session.names(&self.case.subject, self.subject, port, &self.scratch);
        let sources = self.session.laboratory.home.subject_folder(&self.subject.id);
        for file in &self.subject.files {
            let text = std::fs::read_to_string(sources.join(&file.from))
                .map_err(|error| Failed::lab(format!("cannot read {}: {error}", file.from)))?;
            let target = self.scratch.join(&file.to);
            let rendered = names.render(&text).map_err(Failed::lab)?;
            let written = std::fs::create_dir_all(target.parent().unwrap_or(&self.scratch))
                .and_then(|()| std::fs::write(&target, rendered));
            written.map_err(|error| Failed::lab(format!("cannot write {}: {error}", target.display())))?;
        }
        let program_env = self.session.program_env(&self.case.subject, self.subject);
        let log = self.folder.join("subject.log");
        let mut specs = Vec::new();
        for process in &self.subject.processes {
            let argv = names.render_command(&process.command).map_err(Failed::lab)?;
            let mut env = program_env.clone();
            env.extend(names.render_env(&process.env).map_err(Failed::lab)?);
            specs.push(ProcessSpec {
                name: process.name.clone(),
                argv,
                env,
                cwd: self.scratch.clone(),
                log: log.clone(),
                cpus: self.session.cpus.subject.clone(),
                stop: process.stop.clone().unwrap_or_else(|| "TERM".to_owned()),
            });
        }
        self.commands = specs.iter().map(|spec| spec.argv.join(" ")).collect();
        Ok(specs)
    }

    /// Starts the processes and asks until the first good answer; returns how long that took.
    fn start(
        &self,
        trial_box: &mut TrialBox,
        specs: &[ProcessSpec],
        port: u16,
    ) -> std::result::Result<f64, Failed> {
        let mut first_start_ns = None;
        for spec in specs {
            let started_ns = trial_box.start(spec)?;
            first_start_ns.get_or_insert(started_ns);
        }
        let deadline = Instant::now() + START_LIMIT;
        loop {
            let seen = match ask(port, &self.workload.method, &self.workload.path, ANSWER_LIMIT) {
                Ok(answer) => match check(&answer, self.workload, self.session.assets.body(self.workload)) {
                    Ok(()) => break,
                    // A gateway without its backend says so until the backend is there.
                    Err(_) if matches!(answer.status, 502..=504) => format!("status {}", answer.status),
                    Err(difference) => return Err(Failed::new(FailureKind::WrongAnswer, difference)),
                },
                Err(error @ ProbeError::Malformed(_)) => {
                    return Err(Failed::new(FailureKind::WrongAnswer, error.to_string()));
                }
                Err(error) => error.to_string(),
            };
            if let Some(exit) = trial_box.exits()?.first() {
                let message = format!("process {} ended with {} before its first good answer", exit.name, exit.how);
                let port_was_taken = says_port_is_taken(&self.folder.join("subject.log"));
                return Err(Failed { port_was_taken, ..Failed::new(FailureKind::DidNotStart, message) });
            }
            if self.stop.is_immediate() {
                return Err(Failed::lab("stopped"));
            }
            if Instant::now() > deadline {
                let limit = START_LIMIT.as_secs();
                let message = format!("no good answer within {limit} s of its start; the last try: {seen}");
                return Err(Failed::new(FailureKind::DidNotStart, message));
            }
            std::thread::sleep(POLL);
        }
        let now_ns = monotonic_ns();
        Ok(now_ns.saturating_sub(first_start_ns.unwrap_or(now_ns)) as f64 / 1e9)
    }

    /// Puts the scenario's load on the subject, and reads resources as the window opens, each second, and as it closes.
    fn load(
        &self,
        trial_box: &mut TrialBox,
        sampler: &mut Sampler,
        port: u16,
        clock: Instant,
        emit: &mut dyn FnMut(RunEvent),
    ) -> std::result::Result<(ToolReport, WindowUsage), Failed> {
        let job = LoadJob {
            url: format!("http://127.0.0.1:{port}{}", self.workload.path),
            status: self.workload.status,
            body: self.session.assets.file(self.workload),
            load: &self.scenario.load,
        };
        let commands = [self.commands.clone(), vec![format!("tolok {}", arguments(&job).join(" "))]].concat();
        std::fs::write(self.folder.join("command.txt"), commands.join("\n") + "\n").map_err(Failed::lab)?;
        let tolok = &self.session.laboratory.tolok;
        let mut tool = RunningTool::start(tolok, &job, &self.session.cpus.generator, self.folder)
            .map_err(|error| Failed::new(FailureKind::ToolFailed, format!("cannot start the load tool: {error}")))?;
        sampler.follow_generator(tool.pid());
        emit(RunEvent::Phase { phase: Phase::WarmingUp });
        let limit = Duration::from_secs_f64(job.load.warmup_s + job.load.duration_s) + TOOL_SLACK;
        let deadline = Instant::now() + limit;
        let mut usage = WindowUsage::default();
        loop {
            let waited = tool.wait_event(SAMPLE);
            let at_s = clock.elapsed().as_secs_f64();
            match waited {
                Waited::Event(ToolEvent::WindowStarted) => {
                    sampler.window_starts(at_s);
                    emit(RunEvent::Phase { phase: Phase::Measuring });
                }
                Waited::Event(ToolEvent::WindowEnded) => usage = sampler.window_ends(at_s),
                Waited::Event(ToolEvent::Second) | Waited::Nothing => drop(sampler.read(at_s)),
                Waited::Ended => break,
            }
            // A subject that has ended gives no more answers, so there is nothing to wait for.
            if let Some(exit) = trial_box.exits()?.first() {
                tool.kill();
                let message = format!("process {} ended with {} while load was on it", exit.name, exit.how);
                return Err(Failed::new(FailureKind::Crashed, message));
            }
            if self.stop.is_immediate() {
                return Err(Failed::lab("stopped"));
            }
            if Instant::now() > deadline {
                let message = format!("the load tool did not end within {} s", limit.as_secs());
                return Err(Failed::new(FailureKind::ToolFailed, message));
            }
        }
        let report = tool.finish().map_err(|message| Failed::new(FailureKind::ToolFailed, message))?;
        Ok((report, usage))
    }

    /// A window without a single good answer is a failure, and the classes of its errors say which.
    fn judge(&self, report: &ToolReport) -> std::result::Result<(), Failed> {
        if report.ledger.good > 0 {
            return Ok(());
        }
        let wrong: u64 =
            ["bad_status", "bad_body", "malformed"].iter().filter_map(|class| report.ledger.failed.get(*class)).sum();
        let examples = report.examples.join("; ");
        let counts = format!("{} requests were sent, none was answered as it should: {examples}", report.ledger.sent);
        let reason = if wrong > 0 { FailureKind::WrongAnswer } else { FailureKind::Hung };
        Err(Failed::new(reason, counts))
    }
}

fn measurement(report: ToolReport, usage: WindowUsage, cold_start_s: f64, load_average: f64) -> Measurement {
    let foreign_cpu_s = usage.host.busy_s - usage.subject.cpu_s - usage.generator.cpu_s;
    Measurement {
        cold_start_s,
        window_s: report.window_s,
        goodput_rps: report.goodput_rps,
        body_bytes: report.body_bytes,
        ledger: report.ledger,
        latency: report.latency,
        // The machine counts in hundredths of a second, the parts in nanoseconds: a small difference is no time at all.
        host: HostWindow { foreign_cpu_s: foreign_cpu_s.max(0.0), steal_s: usage.host.steal_s, load_average },
        subject: usage.subject,
        generator: usage.generator,
    }
}

/// A port of 127.0.0.1 that nobody uses at this moment.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn says_port_is_taken(log: &Path) -> bool {
    let tail = log_tail(log, 20).join("\n").to_ascii_lowercase();
    let taken = ["address already in use", "address in use", "eaddrinuse"].iter().any(|words| tail.contains(words));
    // The next attempt has a log of its own.
    if taken {
        let _ = File::create(log);
    }
    taken
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn load_average() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or_default()
}
