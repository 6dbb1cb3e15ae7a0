//! A trial's life: start, first good answer, warm-up, window, stop.

use std::fmt::Display;
use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::time::Instant;

use tolok_model::{Case, Failure, FailureKind, Measurement, Outcome, Plan, Scenario, Workload};

use super::event::{Phase, RunEvent};
use super::launch::Launch;
use super::measure::{judge, measurement};
use super::session::Session;
use super::stop::Stop;
use crate::isolate::{BoxError, TrialBox};
use crate::sample::Sampler;
use crate::store::{StoreError, TrialFolder};
use crate::subject::log_tail;

/// A port that another program takes between our look and the subject's start is replaced this often.
const PORT_ATTEMPTS: u32 = 5;
/// Lines of the subject's log that a failure keeps.
const LOG_LINES: usize = 20;

/// What a trial leaves behind.
pub(super) struct Finished {
    /// Commands of the subject's processes.
    pub(super) commands: Vec<String>,
    /// What came of it.
    pub(super) outcome: Outcome,
}

/// One trial at work.
pub(super) struct Trial<'a> {
    pub(super) session: &'a Session<'a>,
    pub(super) launch: Launch<'a>,
    pub(super) workload: &'a Workload,
    pub(super) scenario: &'a Scenario,
    /// Where the trial's files are kept.
    pub(super) folder: &'a TrialFolder,
    pub(super) stop: &'a Stop,
    /// Seed of what the load tool draws at random.
    pub(super) seed: u64,
    /// Commands of the subject's processes, as soon as they are known.
    pub(super) commands: Vec<String>,
}

/// Why a trial did not come to its end.
pub(super) enum Setback {
    /// It failed, and that is its outcome.
    Failed(FailureKind, String),
    /// Its files cannot be written, so that it has no outcome at all.
    Store(StoreError),
    /// It was told to stop.
    Stopped,
}

impl Setback {
    pub(super) fn failed(reason: FailureKind, message: impl Display) -> Self {
        Self::Failed(reason, message.to_string())
    }

    /// The lab could not do its part.
    pub(super) fn lab(error: impl Display) -> Self {
        Self::failed(FailureKind::LabFailed, error)
    }
}

impl From<BoxError> for Setback {
    fn from(error: BoxError) -> Self {
        match error {
            BoxError::NotStarted { .. } => Self::failed(FailureKind::DidNotStart, error),
            BoxError::Keeper(_) | BoxError::Silent(_) | BoxError::Broken(_) => Self::lab(error),
        }
    }
}

impl From<StoreError> for Setback {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Finished {
    /// A trial that failed before any process was to be started.
    pub(super) fn failed(failure: Failure) -> Self {
        Self { commands: Vec::new(), outcome: Outcome::Failed(failure) }
    }
}

impl<'a> Trial<'a> {
    /// A trial of `case` in `block`; nothing if its subject or workload is gone from the checkout.
    pub(super) fn find(
        session: &'a Session<'a>,
        plan: &'a Plan,
        (case, block): (&'a Case, u32),
        build: &'a Path,
        folder: &'a TrialFolder,
        stop: &'a Stop,
    ) -> Option<Self> {
        let catalogue = &session.laboratory.catalogue;
        let scenario = plan.scenario(&case.scenario)?;
        let subject = catalogue.subject(&case.subject.subject)?;
        let workload = catalogue.workload(&scenario.workload)?;
        let log = folder.subject_log();
        let launch = Launch { session, subject, choice: &case.subject, build, log, stop };
        // The same for all cases of a block, so that they see the same arrivals, and another in the next block.
        let seed = plan.seed.wrapping_add(u64::from(block));
        Some(Self { session, launch, workload, scenario, folder, stop, seed, commands: Vec::new() })
    }

    /// Runs the trial; whatever goes wrong with the subject is in the outcome. Nothing is returned if it was stopped:
    /// neither a process nor a figure is left of it.
    pub(super) fn run(mut self, emit: &mut dyn FnMut(RunEvent)) -> Result<Option<Finished>, StoreError> {
        let mut attempt = 1;
        let measured = loop {
            let measured = self.measure_fresh(emit);
            if attempt == PORT_ATTEMPTS || !self.lost_its_port(&measured) {
                break measured;
            }
            attempt += 1;
        };
        let outcome = match measured {
            Ok(measurement) => Outcome::Completed(Box::new(measurement)),
            Err(Setback::Store(error)) => return Err(error),
            Err(Setback::Stopped) => return Ok(None),
            // What fails while everything is being stopped may fail because of it.
            Err(Setback::Failed(..)) if self.stop.is_immediate() => return Ok(None),
            // Programs that cannot write their output fail in ways of their own; what they lack is room.
            Err(Setback::Failed(..)) if self.folder.disk_is_full() => return Err(self.folder.full()),
            Err(Setback::Failed(reason, message)) => {
                let log_tail = log_tail(&self.folder.subject_log(), LOG_LINES);
                Outcome::Failed(Failure { reason, message, log_tail })
            }
        };
        Ok(Some(Finished { commands: self.commands, outcome }))
    }

    /// One attempt, from an empty folder and a new port to the end of every process. The box ends its processes on every
    /// way out of here, and their folder goes after them.
    fn measure_fresh(&mut self, emit: &mut dyn FnMut(RunEvent)) -> Result<Measurement, Setback> {
        emit(RunEvent::Phase { phase: Phase::Starting });
        self.folder.write("subject.log", b"")?;
        let load_average = load_average();
        let port = free_port().map_err(Setback::lab)?;
        let unwritable = |source| StoreError::Write { path: std::env::temp_dir(), source };
        let scratch = self.session.trial_scratch().map_err(unwritable)?;
        let specs = self.launch.prepare(port, scratch.path())?;
        self.commands = specs.iter().map(|spec| spec.argv.join(" ")).collect();
        let clock = Instant::now();
        let mut trial_box = TrialBox::open(&self.session.laboratory.tolok)?;
        let mut sampler = Sampler::new("/proc", trial_box.init_pid());
        let cold_start_s = self.launch.first_good_answer(&mut trial_box, &specs, port, self.workload)?;
        let loaded = self.load(&mut trial_box, &mut sampler, port, clock, emit);
        emit(RunEvent::Phase { phase: Phase::Stopping });
        self.folder.write_lines("samples.jsonl", sampler.samples())?;
        let (report, usage) = loaded?;
        self.folder.write_lines("timeline.jsonl", &report.timeline)?;
        self.nothing_has_ended(&mut trial_box, "while it was measured")?;
        trial_box.stop()?;
        judge(&report, &self.scenario.load)?;
        Ok(measurement(report, usage, cold_start_s, load_average))
    }

    /// Fails if a process of the subject has ended, which none does before it is told to.
    pub(super) fn nothing_has_ended(&self, trial_box: &mut TrialBox, when: &str) -> Result<(), Setback> {
        match trial_box.exits()?.first() {
            None => Ok(()),
            Some(exit) => {
                let message = format!("process {} ended with {} {when}", exit.name, exit.how);
                Err(Setback::Failed(FailureKind::Crashed, message))
            }
        }
    }

    fn lost_its_port(&self, measured: &Result<Measurement, Setback>) -> bool {
        // Whoever has the port may have answered in the subject's place, and hardly as the contract says.
        let may_be = matches!(measured, Err(Setback::Failed(FailureKind::DidNotStart | FailureKind::WrongAnswer, _)));
        may_be && says_port_is_taken(&log_tail(&self.folder.subject_log(), LOG_LINES))
    }
}

/// A port of 127.0.0.1 that nobody uses at this moment.
pub(super) fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Whether a server says that somebody else has its port, in one of the ways that servers say it.
fn says_port_is_taken(log: &[String]) -> bool {
    let log = log.join("\n").to_ascii_lowercase();
    ["address already in use", "address in use", "eaddrinuse"].iter().any(|words| log.contains(words))
}

fn load_average() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_port_can_be_listened_on() {
        // Another program may take it in between, which is why a trial tries several times, too.
        let listens = |_| TcpListener::bind(("127.0.0.1", free_port().unwrap())).is_ok();
        assert!((0..PORT_ATTEMPTS).any(listens));
    }

    #[test]
    fn servers_say_in_their_own_ways_that_a_port_is_taken() {
        let says = |line: &str| says_port_is_taken(&["starting".to_owned(), line.to_owned(), "bye".to_owned()]);
        // Go, Node, nginx, Apache and Rust, in this order.
        assert!(says("listen tcp 127.0.0.1:8080: bind: address already in use"));
        assert!(says("Error: listen EADDRINUSE: address already in use 127.0.0.1:8080"));
        assert!(says("nginx: [emerg] bind() to 127.0.0.1:8080 failed (98: Address already in use)"));
        assert!(says("(98)Address already in use: AH00072: make_sock: could not bind to address 127.0.0.1:8080"));
        assert!(says("Error: Os { code: 98, kind: AddrInUse, message: \"Address already in use\" }"));
        assert!(!says("listen tcp 127.0.0.1:80: bind: permission denied"));
        assert!(!says_port_is_taken(&[]));
    }
}
