//! The start of a subject: fills in files and commands, starts processes, and waits for the first correct response.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tolok_model::{FailureKind, Process, Protocol, Subject, SubjectChoice, TemplateFile, Workload, duration_words};

use crate::run::database::trial_database::PART;
use crate::run::server::trial::TrialError;
use crate::run::session::{Place, Session};
use crate::run::stop::Stop;
use crate::subject::{ProbeError, ProbeTarget, Render, TemplateNames, ask_while, speech};
use tolok_host::isolate::{ProcessSpec, TrialBox, Trust};

/// Limit for one response before the window.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// How often the lab probes the subject while it starts: the resolution of the cold start.
const POLL: Duration = Duration::from_millis(1);

/// All that a subject inherits of the user's environment: enough to find programs, and nothing that tunes them.
/// A stray `GOGC` or `NODE_OPTIONS` would change the figures without a trace in the record.
const INHERITED: [&str; 6] = ["HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "USER"];

/// The environment is above the stack, so its size shifts everything on it. A constant size would favour or handicap a subject
/// in all of its trials (Mytkowicz et al. 2009).
const PADDING: &str = "TOLOK_PADDING";

/// A subject to start.
pub(in crate::run) struct Launch<'a> {
    pub(in crate::run) session: &'a Session<'a>,
    pub(in crate::run) subject: &'a Subject,
    pub(in crate::run) choice: &'a SubjectChoice,
    /// The protocol of its clients.
    pub(in crate::run) protocol: Protocol,
    /// Where the subject's build is.
    pub(in crate::run) build: &'a Path,
    /// The file for the output of its processes.
    pub(in crate::run) log: PathBuf,
    /// How many bytes of padding its environment gets.
    pub(in crate::run) padding_bytes: u32,
    pub(in crate::run) stop: &'a Stop,
}

impl Launch<'_> {
    /// Renders the subject's files into its private folder, whose inside is visible only in the box, and its commands.
    pub(in crate::run) fn prepare(
        &self,
        trial_box: &mut TrialBox,
        place: &Place<'_>,
    ) -> Result<Vec<ProcessSpec>, TrialError> {
        let names = self.session.names(self.choice, self.subject, self.build, place);
        self.render_files(trial_box, &names, place.run)?;
        let base = self.base_env(place.run);
        let mut specs = Vec::new();
        for process in &self.subject.processes {
            let mut env = base.clone();
            env.extend(names.render_env(&process.env).map_err(TrialError::lab)?);
            if place.diagnosing {
                env.extend(names.render_env(&self.subject.diagnosis.env).map_err(TrialError::lab)?);
            }
            specs.push(ProcessSpec {
                name: process.name.clone(),
                part: "subject".to_owned(),
                argv: names.render_command(&process.command).map_err(TrialError::lab)?,
                env,
                cwd: Self::cwd(process, &names, place.run)?,
                log: self.log.clone(),
                cpus: place.cpus.to_owned(),
                trust: Trust::Guarded,
                stop: process.stop.clone().unwrap_or_else(|| "TERM".to_owned()),
            });
        }
        Ok(specs)
    }

    /// The working folder of a process: the trial's, or the one that the subject names, relative to the trial's.
    fn cwd(process: &Process, names: &TemplateNames, run: &Path) -> Result<PathBuf, TrialError> {
        let Some(template) = &process.cwd else { return Ok(run.to_owned()) };
        Ok(run.join(names.render(template).map_err(TrialError::lab)?))
    }

    /// The same for a program: its command, without the workload's arguments, and its environment.
    pub(in crate::run) fn prepare_program(
        &self,
        trial_box: &mut TrialBox,
        place: &Place<'_>,
    ) -> Result<(Vec<String>, BTreeMap<String, String>), TrialError> {
        let no_program = || TrialError::lab(format!("{} is a server, and no program that is timed", self.subject.id));
        let program = self.subject.program.as_ref().ok_or_else(no_program)?;
        let names = self.session.names(self.choice, self.subject, self.build, place);
        self.render_files(trial_box, &names, place.run)?;
        let mut env = self.base_env(place.run);
        env.extend(names.render_env(&program.env).map_err(TrialError::lab)?);
        Ok((names.render_command(&program.command).map_err(TrialError::lab)?, env))
    }

    /// The environment that all processes of the subject share.
    fn base_env(&self, run: &Path) -> BTreeMap<String, String> {
        let mut base = inherited_environment();
        // Temporary files must disappear with the trial.
        base.insert("TMPDIR".to_owned(), run.display().to_string());
        // The user's home must be neither read nor written.
        base.insert("HOME".to_owned(), run.display().to_string());
        base.extend(self.session.program_env(self.choice, self.subject));
        base.insert(PADDING.to_owned(), "x".repeat(self.padding_bytes as usize));
        base
    }

    fn render_files(&self, trial_box: &mut TrialBox, names: &TemplateNames, run: &Path) -> Result<(), TrialError> {
        self.subject.files.iter().try_for_each(|file| self.render_file(trial_box, file, names, run))
    }

    fn render_file(
        &self,
        trial_box: &mut TrialBox,
        file: &TemplateFile,
        names: &TemplateNames,
        run: &Path,
    ) -> Result<(), TrialError> {
        let source = self.session.laboratory.home.sources_of(self.subject).join(&file.from);
        let unreadable = |error| TrialError::lab(format!("cannot read {}: {error}", source.display()));
        let text = fs::read_to_string(&source).map_err(unreadable)?;
        let rendered = names.render(&text).map_err(TrialError::lab)?;
        // Servers that dropped their privileges must be able to read it.
        Ok(trial_box.write_file(&run.join(&file.to), rendered.as_bytes(), 0o644)?)
    }

    /// Starts the processes and requests `workload` until the first correct response. Returns how long that took, in seconds.
    pub(in crate::run) fn first_good_answer(
        &self,
        trial_box: &mut TrialBox,
        specs: &[ProcessSpec],
        address: SocketAddr,
        workload: &Workload,
    ) -> Result<f64, TrialError> {
        let mut first_start_ns = None;
        for spec in specs {
            let started_ns = trial_box.start(spec)?;
            first_start_ns.get_or_insert(started_ns);
        }
        let limit = Duration::from_secs_f64(self.subject.start_timeout_s);
        let deadline = Instant::now() + limit;
        while let Some(seen) = self.try_once(trial_box, address, workload, deadline)? {
            // Other parts belong to other servers of the launch.
            let is_own = |part: &str| specs.first().map_or(part != PART, |spec| spec.part == part);
            if let Some(exit) = trial_box.exits()?.iter().find(|exit| is_own(&exit.part)) {
                let message =
                    format!("process {} ended with {} before its first correct response", exit.name, exit.how);
                return Err(TrialError::Failed(FailureKind::DidNotStart, message));
            }
            if self.stop.is_immediate() {
                return Err(TrialError::Stopped);
            }
            if Instant::now() > deadline {
                let limit = duration_words(limit.as_secs_f64());
                let message = format!("no correct response within {limit} of its start; the last try: {seen}");
                return Err(TrialError::Failed(FailureKind::DidNotStart, message));
            }
            std::thread::sleep(POLL);
        }
        let now_ns = monotonic_ns();
        Ok(now_ns.saturating_sub(first_start_ns.unwrap_or(now_ns)) as f64 / 1e9)
    }

    /// Fails if the subject gives no correct response within this time after the load. The tool might not have noticed.
    pub(in crate::run) fn still_answers(
        &self,
        trial_box: &mut TrialBox,
        address: SocketAddr,
        workload: &Workload,
        limit: Duration,
    ) -> Result<(), TrialError> {
        let deadline = Instant::now() + limit;
        let mut last = String::new();
        while Instant::now() < deadline && !self.stop.is_immediate() {
            match self.try_once(trial_box, address, workload, deadline)? {
                None => return Ok(()),
                Some(seen) => last = seen,
            }
            std::thread::sleep(POLL);
        }
        let limit = duration_words(limit.as_secs_f64());
        let message = format!("after the load it gave no correct response within {limit}; the last try: {last}");
        Err(TrialError::Failed(FailureKind::Hung, message))
    }

    /// Tries once: returns `None` for a correct response, words if one may still come, and an error for a wrong one.
    fn try_once(
        &self,
        trial_box: &mut TrialBox,
        address: SocketAddr,
        workload: &Workload,
        deadline: Instant,
    ) -> Result<Option<String>, TrialError> {
        let left = deadline.saturating_duration_since(Instant::now());
        // A time-out of zero is not allowed for connecting.
        let patience = left.clamp(POLL, ANSWER_LIMIT);
        let is_wanted = || !self.stop.is_immediate();
        let boxed = RefCell::new(trial_box);
        let connect = |address, patience| boxed.borrow_mut().connect(address, patience);
        let server = ProbeTarget { address, connect: &connect, speech: speech(self.protocol) };
        let question = self.session.assets.question(workload);
        let wrong = |difference: String| {
            let message = format!("{} {}: {difference}", question.method, question.path);
            Err(TrialError::Failed(FailureKind::WrongAnswer, message))
        };
        match ask_while(server, question, patience, &is_wanted) {
            Ok(answer) => match self.session.assets.check(&answer, workload) {
                Ok(()) => Ok(None),
                // A gateway answers these until its backend is up.
                Err(_) if matches!(answer.status, 502..=504) => Ok(Some(format!("status {}", answer.status))),
                Err(difference) => wrong(difference),
            },
            Err(error @ (ProbeError::Malformed(_) | ProbeError::NoHttp2)) => wrong(error.to_string()),
            Err(ProbeError::Connection(error)) if error.kind() == ErrorKind::ConnectionRefused => Ok(Some(format!(
                "{error}; nothing listens on the host and port that tolok gave it (`{{{{ host }}}}`, `{{{{ port }}}}`)"
            ))),
            Err(error) => Ok(Some(error.to_string())),
        }
    }
}

/// The part of this process's environment that is needed to find programs.
pub(in crate::run) fn inherited_environment() -> BTreeMap<String, String> {
    INHERITED.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?))).collect()
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
