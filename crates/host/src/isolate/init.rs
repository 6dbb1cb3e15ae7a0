//! The first process of a box. It starts the servers, writes and reads their files, and reaps processes that end.
//!
//! In a pid namespace it is process 1: when it ends, the kernel kills everything in the namespace, including daemons
//! and grandchildren. It dies with its keeper.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{chown, fchown};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitOptions, getegid, geteuid, getpid, kill_process, set_child_subreaper, wait};
use rustix::time::{ClockId, clock_gettime};

use super::channel::inherited;
use super::guards::Guards;
use super::job::{job_of, refuse};
use super::kill::{ignore_stop_signals, kill_all_below, kill_trees};
use super::mounts;
use super::namespace;
use super::protocol::{InitEvent, InitJob, Request, stop_grace};
use super::requests::Requests;
use super::run_files::RunFiles;
use super::spawn::{Placement, place};
use super::spec::{ExitReport, ProcessSpec};
use super::wait::readable_before;
use crate::machine::not_started;

/// The init's life: starts what the lab requests, reaps what ends, and stops everything when told to, or when the lab
/// is gone.
pub fn run_init(job: &str) -> io::Result<()> {
    let mut init = Init::new(job_of("init", job)?)?;
    let polite = loop {
        match init.serve()? {
            Next::Serve => {}
            Next::Stop => break true,
            // No process is left to read what a polite stop would leave.
            Next::End => break false,
        }
    };
    init.end(polite)
}

enum Next {
    Serve,
    Stop,
    End,
}

struct Init {
    /// Becomes readable whenever a child has ended.
    child_ended: UnixStream,
    /// Requested processes that are running, in the order of their start.
    running: Vec<Running>,
    requests: Requests,
    files: RunFiles,
    entrances: BTreeMap<String, Vec<PathBuf>>,
    /// Network namespaces of parts outside the init's own.
    networks: BTreeMap<String, OwnedFd>,
    guards: Option<Guards>,
    /// Logs that belong to program accounts while the programs run: some programs reopen the file of their standard
    /// error.
    lent: BTreeSet<PathBuf>,
}

struct Running {
    pid: Pid,
    name: String,
    part: String,
    stop: Signal,
}

impl Init {
    fn new(job: InitJob) -> io::Result<Self> {
        ignore_stop_signals()?;
        set_child_subreaper(Some(getpid()))?;
        // First of all, so that no other program inherits them.
        let own = |(part, number): (&String, &i32)| Ok((part.clone(), inherited(*number).map_err(|_| refuse("init"))?));
        let networks = job.networks.iter().map(own).collect::<io::Result<_>>()?;
        let (namespaces, mut fallbacks) = settle(&job);
        let mounts_are_private = namespaces.iter().any(|kind| kind == "mount");
        let guards = job.guard.as_ref().map(|spec| Guards::make(spec, &job, mounts_are_private, &mut fallbacks));
        // Drops what only the init needed in a user namespace, so that servers do not have it.
        namespace::drop_rights_of_programs()?;
        let (child_ended, waker) = UnixStream::pair()?;
        child_ended.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(signal_hook::consts::SIGCHLD, waker)?;
        let view = guards.as_ref().and_then(Guards::view_number);
        tell(&InitEvent::Settled { namespaces, fallbacks, view });
        let accounts = job.guard.as_ref().and_then(|guard| guard.accounts);
        let files = RunFiles::below(job.run_folder.map(|folder| folder.path), accounts);
        let (running, requests) = (Vec::new(), Requests::default());
        Ok(Self {
            child_ended,
            running,
            requests,
            files,
            entrances: job.entrances,
            networks,
            guards,
            lent: BTreeSet::new(),
        })
    }

    /// Waits for an event and handles it.
    fn serve(&mut self) -> io::Result<Next> {
        let stdin = io::stdin();
        let mut watched = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.child_ended, PollFlags::IN)];
        // The signal of a child that ends also interrupts this very call.
        retry_on_intr(|| poll(&mut watched, None))?;
        let asked = !watched[0].revents().is_empty();
        for (pid, report) in self.reap() {
            tell(&InitEvent::Exited { pid, report });
        }
        if asked { self.serve_requests() } else { Ok(Next::Serve) }
    }

    /// Reads requests and serves them.
    fn serve_requests(&mut self) -> io::Result<Next> {
        let mut chunk = [0; 64 * 1024];
        let read = retry_on_intr(|| rustix::io::read(io::stdin().as_fd(), &mut chunk))?;
        if read == 0 {
            return Ok(Next::End);
        }
        self.requests.take_in(&chunk[..read]);
        while let Some(request) = self.requests.next()? {
            match request {
                (Request::Start(spec), _) => self.start(spec),
                (Request::Write { path, mode, .. }, content) => tell(&self.files.write(&path, &content, mode)),
                (Request::Folder { path, part }, _) => tell(&self.files.folder(&path, &part)),
                (Request::Signal { part, signal }, _) => {
                    self.signal(&part, signal);
                    tell(&InitEvent::Signalled);
                }
                (Request::Kill { part }, _) => {
                    kill_trees(&self.pids_of(&part).collect::<Vec<_>>());
                    tell(&InitEvent::Signalled);
                }
                (Request::Stop, _) => return Ok(Next::Stop),
            }
        }
        Ok(Next::Serve)
    }

    /// The running requested processes of a part.
    fn pids_of(&self, part: &str) -> impl Iterator<Item = Pid> {
        self.running.iter().filter(move |running| running.part == part).map(|running| running.pid)
    }

    fn signal(&self, part: &str, signal: i32) {
        let Some(signal) = Signal::from_named_raw(signal) else { return };
        for pid in self.pids_of(part) {
            // A process that has ended but is not yet reaped keeps its pid, and needs no signal.
            let _ = kill_process(pid, signal);
        }
    }

    fn start(&mut self, spec: ProcessSpec) {
        let now = clock_gettime(ClockId::Monotonic);
        let monotonic_ns = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
        match self.spawn(&spec) {
            Ok(pid) => {
                self.running.push(Running { pid, name: spec.name, part: spec.part, stop: stop_signal(&spec.stop) });
                tell(&InitEvent::Started { monotonic_ns, pid: pid.as_raw_pid() as u32 });
            }
            Err(error) => tell(&InitEvent::NotStarted { name: spec.name, reason: not_started(&error) }),
        }
    }

    fn spawn(&mut self, spec: &ProcessSpec) -> io::Result<Pid> {
        let log: File = OpenOptions::new().create(true).append(true).open(&spec.log)?;
        if let Some(account) = self.guards.as_ref().and_then(|guards| guards.account(spec)) {
            fchown(&log, Some(account), Some(account))?;
            self.lent.insert(spec.log.clone());
        }
        let (program, arguments) = spec.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(&spec.env).current_dir(&spec.cwd);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let groups = self.entrances.get(&spec.part).cloned().unwrap_or_default();
        let network = self.networks.get(&spec.part);
        let network = network.map(|file| PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())));
        let mut placement = Placement {
            cpus: spec.cpus.clone(),
            dies_with_parent: true,
            groups,
            namespaces: network.into_iter().collect(),
            ..Placement::default()
        };
        if let Some(guards) = &self.guards {
            guards.put_on(spec, &mut placement, &mut command)?;
        }
        place(&mut command, &placement)?;
        Ok(Pid::from_child(&command.spawn()?))
    }

    /// Reaps every child that has ended, including orphans of the servers. Returns the requested ones.
    fn reap(&mut self) -> Vec<(u32, ExitReport)> {
        // Drains the socket before looking at the children, so a child that ends in between is noticed next time.
        let _ = (&self.child_ended).read(&mut [0; 64]);
        let mut reports = Vec::new();
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let how = match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => continue,
            };
            if let Some(place) = self.running.iter().position(|running| running.pid == pid) {
                let Running { name, part, .. } = self.running.remove(place);
                reports.push((pid.as_raw_pid() as u32, ExitReport { name, part, how }));
            }
        }
        reports
    }

    /// Ends everything. A polite end first asks the servers to stop, the last started first, and waits for the grace
    /// period.
    fn end(&mut self, polite: bool) -> io::Result<()> {
        if polite {
            for running in self.running.iter().rev() {
                let _ = kill_process(running.pid, running.stop);
            }
            let asked = Instant::now();
            // Waits for the longest grace of those that are left.
            while let Some(grace) = self.running.iter().map(|running| stop_grace(&running.part)).max()
                && readable_before(&self.child_ended, asked + grace)?
            {
                self.reap();
            }
        }
        for log in &self.lent {
            // A log that no longer exists needs no owner.
            let _ = chown(log, Some(geteuid().as_raw()), Some(getegid().as_raw()));
        }
        // The end of process 1 ends its namespace. Without a namespace, the rest must be killed explicitly.
        if !getpid().is_init() {
            kill_all_below(getpid());
        }
        Ok(())
    }
}

/// Makes the namespaces and mounts of the box. Returns the kinds of namespaces, and a sentence for each one that is
/// missing.
fn settle(job: &InitJob) -> (Vec<String>, Vec<String>) {
    let (mut namespaces, mut fallbacks) = (Vec::new(), Vec::new());
    let mut lacks = |what: &str, error: &io::Error| fallbacks.push(format!("{what} ({error})"));
    let separate = |act: &dyn Fn() -> io::Result<()>| if job.may_separate { act() } else { Err(not_allowed()) };
    let mounts_are_private =
        match separate(&|| namespace::separate_mounts().and_then(|()| mounts::keep_mounts_private())) {
            Ok(()) => {
                namespaces.push("mount".to_owned());
                true
            }
            Err(error) => {
                if job.may_separate {
                    lacks("No mount namespace: mounts of the box cannot be told from the machine's", &error);
                }
                false
            }
        };
    if job.pid_namespace && mounts_are_private {
        // /proc/self would be right anyway, but the pid that a server has for itself would be another process there.
        if let Err(error) = mounts::mount_own_proc() {
            lacks("The servers see the machine's /proc, in which they have other numbers", &error);
        }
    }
    if mounts_are_private {
        if let Err(error) = mounts::mount_own_shared_memory() {
            lacks("Files that servers leave in /dev/shm stay there after the trial", &error);
        }
        // Before the run folder, which may be in it.
        if let Err(error) = mounts::mount_own_temporary_folder(Path::new("/tmp")) {
            lacks("Files that servers leave in /tmp stay there after the trial", &error);
        }
    }
    if let Some(folder) = &job.run_folder {
        let mounted = if mounts_are_private { mounts::mount_run_folder(folder) } else { Err(not_allowed()) };
        if let Err(error) = mounted {
            lacks("The run folder is an ordinary folder: its files are on the disk, and others can see them", &error);
            if let Err(error) = mounts::own_run_folder(folder) {
                lacks("The run folder keeps its owner, so servers may not be able to write to it", &error);
            }
        }
    }
    match separate(&namespace::separate_ipc) {
        Ok(()) => namespaces.push("ipc".to_owned()),
        Err(error) if job.may_separate => lacks("Shared memory of the servers is seen by the whole machine", &error),
        Err(_) => {}
    }
    (namespaces, fallbacks)
}

fn not_allowed() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "namespaces are not allowed here")
}

fn stop_signal(name: &str) -> Signal {
    match name {
        "INT" => Signal::INT,
        "QUIT" => Signal::QUIT,
        "WINCH" => Signal::WINCH,
        "KILL" => Signal::KILL,
        _ => Signal::TERM,
    }
}

/// Tells the lab. If the lab is gone, writing fails, but the end of the input signals that and is acted on.
fn tell(event: &InitEvent) {
    let line = serde_json::to_string(event).expect("an event serialises");
    let mut output = io::stdout().lock();
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}
