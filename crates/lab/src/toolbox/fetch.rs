//! Carries out a plan: one fetch at a time, each step completely or not at all.
//!
//! A step works in the staging folder and is renamed to its place when it is complete, so nobody ever sees half of it. A killed
//! fetch leaves a staging folder behind, which the next one removes.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};

use super::installed::Installed;
use super::plan::Work;
use super::{
    FetchPlan, FetchStep, Surroundings, TOOLBOX_VARIABLE, Toolbox, apt, go, newer, npm, php_extension, versions,
};
use tolok_host::call::{Call, CallError};
use tolok_host::guard::{make_open_folder, open_to_accounts};

/// The most lines that are shown of a failed command's output.
const TAIL_LINES: usize = 12;
/// How much is read from the end of a log: more than the lines shown need.
const TAIL_BYTES: usize = 16 * 1024;

/// Events during a fetch.
#[derive(Debug, Clone, PartialEq)]
pub enum FetchEvent {
    /// Another process is fetching into the same folder; this one waits for it.
    Waiting { lock: PathBuf },
    /// A step begins; it may run several commands.
    Step {
        /// The programs that it installs.
        programs: Vec<String>,
        /// Counted from 1.
        number: usize,
        /// Steps in the plan.
        of: usize,
    },
    Started {
        /// As one would type it.
        command: String,
    },
    Finished {
        /// As one would type it.
        command: String,
        duration: Duration,
        /// Whether it succeeded.
        succeeded: bool,
    },
}

/// The result of a fetch.
#[derive(Debug, Default)]
pub struct FetchOutcome {
    /// The programs of the completed steps. Only detection shows whether they work.
    pub fetched: Vec<String>,
    pub failed: Vec<FetchFailure>,
}

/// A step that failed, and left everything as it was.
#[derive(Debug)]
pub struct FetchFailure {
    /// The programs that it would have installed.
    pub programs: Vec<String>,
    /// Whether setup succeeds without them.
    pub optional: bool,
    pub error: FetchError,
}

/// Why a fetch, or a step of it, failed.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("write {}: {source}; set {TOOLBOX_VARIABLE} to a folder that has room and that you may write to", folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    #[error("run `{command}` ({status}); its last lines:\n{}", indented(tail))]
    Command { command: String, status: ExitStatus, tail: Vec<String> },
    #[error("run `{command}`: it {reason}; its last lines:\n{}", indented(tail))]
    Call { command: String, reason: String, tail: Vec<String> },
    #[error("find {what} in what was fetched")]
    Result { what: String },
}

fn indented(lines: &[String]) -> String {
    if lines.is_empty() { "  (none)".to_owned() } else { format!("  {}", lines.join("\n  ")) }
}

pub(super) fn fetch(
    plan: &FetchPlan,
    toolbox: &Toolbox,
    events: &mut dyn FnMut(FetchEvent),
) -> Result<FetchOutcome, FetchError> {
    let mut outcome = FetchOutcome::default();
    if plan.is_empty() {
        return Ok(outcome);
    }
    make_folder(toolbox.folder())?;
    let before = Installed::read(&toolbox.record());
    let _lock = lock(&toolbox.lock(), events)?;
    sweep(toolbox.folder());
    let mut worker = Worker { toolbox, events, installed: Installed::read(&toolbox.record()), logs: 0 };
    // Having waited proves nothing: a command that another thread is starting briefly holds the lock too.
    let others_fetched = worker.installed != before;
    for (number, step) in (1..).zip(&plan.steps) {
        if others_fetched && all_ready(step, toolbox) {
            outcome.fetched.extend(step.programs.iter().cloned());
            continue;
        }
        (worker.events)(FetchEvent::Step { programs: step.programs.clone(), number, of: plan.steps.len() });
        match worker.take(step) {
            Ok(()) => outcome.fetched.extend(step.programs.iter().cloned()),
            Err(error) => {
                outcome.failed.push(FetchFailure { programs: step.programs.clone(), optional: step.optional, error });
            }
        }
    }
    Ok(outcome)
}

fn all_ready(step: &FetchStep, toolbox: &Toolbox) -> bool {
    let names: Vec<&str> = step.programs.iter().map(String::as_str).collect();
    toolbox.detect_some(&names).is_ok_and(|states| states.values().all(|state| state.ready().is_some()))
}

/// The context in which steps work.
pub(super) struct Worker<'a> {
    pub(super) toolbox: &'a Toolbox,
    pub(super) installed: Installed,
    events: &'a mut dyn FnMut(FetchEvent),
    logs: u32,
}

impl Worker<'_> {
    fn take(&mut self, step: &FetchStep) -> Result<(), FetchError> {
        // One staging folder for each step, so that the remains of a failed step take no space from the next.
        let _staging = Staging::new(self.toolbox.staging())?;
        match &step.work {
            Work::Apt { packages } => apt::fetch(packages, self)?,
            Work::Newer { program, newer } => newer::fetch(program, newer, self)?,
            Work::Npm { package } => npm::fetch(*package, self)?,
            Work::Extension { build } => php_extension::fetch(build, self)?,
            Work::Go { program, package } => go::fetch(program, package, self)?,
            Work::Version { program, version, from } => versions::fetch(program, (version, from), self)?,
        }
        let record = self.toolbox.record();
        self.installed.write(&record).map_err(|source| FetchError::Folder { folder: record, source })
    }

    /// Runs a command and reports it. Its output is kept for the case of failure.
    pub(super) fn run(&mut self, call: &Call, patience: Duration) -> Result<(), FetchError> {
        self.run_as(&call.to_string(), call, patience)
    }

    /// Runs a command under a shorter name for the user.
    pub(super) fn run_as(&mut self, name: &str, call: &Call, patience: Duration) -> Result<(), FetchError> {
        self.logs += 1;
        let log = self.toolbox.staging().join(format!("log-{}", self.logs));
        let surroundings = &self.toolbox.surroundings;
        self.tell(name, || run_logged(call, surroundings, &log, patience))
    }

    /// Does work that the user sees as one command, and reports it.
    pub(super) fn tell<T>(
        &mut self,
        command: &str,
        work: impl FnOnce() -> Result<T, FetchError>,
    ) -> Result<T, FetchError> {
        (self.events)(FetchEvent::Started { command: command.to_owned() });
        let started = Instant::now();
        let outcome = work();
        let (duration, succeeded) = (started.elapsed(), outcome.is_ok());
        (self.events)(FetchEvent::Finished { command: command.to_owned(), duration, succeeded });
        outcome
    }

    /// Moves a complete folder or file from the staging folder to its place, and replaces what is there.
    pub(super) fn put_in_place(&mut self, new: &Path, place: &Path) -> Result<(), FetchError> {
        if let Some(parent) = place.parent() {
            make_folder(parent)?;
        }
        let failed = |source: io::Error| FetchError::Folder { folder: place.to_owned(), source };
        open_to_accounts(new).map_err(failed)?;
        if !place.exists() {
            return fs::rename(new, place).map_err(failed);
        }
        // An exchange leaves no moment without the folder; a few file systems do not support it.
        if renameat_with(CWD, new, CWD, place, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
        fs::rename(place, new.with_extension("old")).and_then(|()| fs::rename(new, place)).map_err(failed)
    }
}

/// Runs a command with its output in `log`. A failure shows the end of it.
pub(super) fn run_logged(
    call: &Call,
    surroundings: &Surroundings,
    log: &Path,
    patience: Duration,
) -> Result<(), FetchError> {
    let command = call.to_string();
    let call = call.clone().found_by(|name| surroundings.find(name));
    match call.run(log, patience) {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(FetchError::Command { command, status, tail: tail(log) }),
        Err(error @ (CallError::Start(_) | CallError::TimedOut(_) | CallError::Wait(_))) => {
            Err(FetchError::Call { command, reason: error.to_string(), tail: tail(log) })
        }
    }
}

fn tail(log: &Path) -> Vec<String> {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]).into_owned();
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].iter().map(|line| (*line).to_owned()).collect()
}

pub(super) fn make_folder(folder: &Path) -> Result<(), FetchError> {
    make_open_folder(folder).map_err(|source| FetchError::Folder { folder: folder.to_owned(), source })
}

/// Takes the lock, and waits if another fetch holds it. Rust opens files close-on-exec, so no command inherits it.
fn lock(path: &Path, events: &mut dyn FnMut(FetchEvent)) -> Result<File, FetchError> {
    let failed = |source: io::Error| FetchError::Folder { folder: path.to_owned(), source };
    let file = File::options().create(true).truncate(false).write(true).open(path).map_err(failed)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => return Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => events(FetchEvent::Waiting { lock: path.to_owned() }),
        Err(error) => return Err(failed(error.into())),
    }
    while let Err(error) = flock(&file, FlockOperation::LockExclusive) {
        if error != rustix::io::Errno::INTR {
            return Err(failed(error.into()));
        }
    }
    Ok(file)
}

/// Removes what killed fetches left, as far as possible: one of their commands may still be writing.
fn sweep(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("staging-")) {
        let _ = fs::remove_dir_all(entry.path());
    }
}

/// The staging folder, removed on drop.
struct Staging {
    folder: PathBuf,
}

impl Staging {
    fn new(folder: PathBuf) -> Result<Self, FetchError> {
        // Private, because apt's configuration may contain the password of a proxy.
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => Ok(Self { folder }),
            Err(source) => Err(FetchError::Folder { folder, source }),
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
