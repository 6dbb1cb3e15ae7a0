//! The box's side: a keeper that outlives nobody, and an init that starts the servers.
//!
//! ```text
//! lab --pipe--> keeper --> init --> servers and whatever they fork
//! ```
//!
//! The init is process 1 of a pid namespace where the machine allows one, which a throw-away child of the keeper finds out
//! (root may make one, other users may inside a user namespace, unless that is forbidden): when the init ends, the
//! kernel ends everything in the namespace, daemons and grandchildren included. It dies with its keeper, and the keeper
//! ends it when the lab's end of the pipe closes. So `kill -9` of any one of the three leaves no server running.
//! Where no namespace is allowed, the keeper is the reaper of all orphans below it and kills them one by one; then only
//! a `kill -9` of the keeper itself can leave servers behind.
//!
//! Both sides speak JSON lines on standard input and output; see [`super::trial_box`] for the words.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, pidfd_open, pidfd_send_signal, set_child_subreaper,
    wait,
};
use rustix::time::{ClockId, clock_gettime};

use super::namespace;
use super::spawn::{Placement, place};
use super::trial_box::{BoxEvent, ExitReport, ProcessSpec, Request, STOP_GRACE};
use super::wait::{readable_before, wait_within};
use crate::sample::descendants;

/// How long the trial of a namespace may take; it takes milliseconds, and the lab waits longer for its box to open.
const PROBE_LIMIT: Duration = Duration::from_secs(5);
/// How long processes that were killed may take to be gone; it takes longer only where the kernel itself hangs.
const KILL_LIMIT: Duration = Duration::from_secs(2);

/// The keeper's life: open the box, wait for the lab or the init to end, leave nothing behind.
pub fn run_keeper() -> io::Result<()> {
    let kept = keep();
    // No screen is attached to the keeper, so the lab must be told.
    tell(&match &kept {
        Ok(()) => BoxEvent::Stopped,
        Err(error) => BoxEvent::Broken { reason: error.to_string() },
    });
    kept
}

fn keep() -> io::Result<()> {
    ignore_stop_signals()?;
    set_child_subreaper(Some(getpid()))?;
    let namespaced = a_namespace_is_allowed()?;
    if namespaced {
        namespace::enter_for_children()?;
    }
    let mut init = start_init(namespaced, Stdio::inherit())?;
    tell(&BoxEvent::Open { init_pid: init.id() });
    let ended = pidfd_open(Pid::from_child(&init), PidfdFlags::empty())?;
    let input = io::stdin();
    // Without a flag, the end of the input is all that is reported of it; the requests in it are the init's.
    let mut watched = [PollFd::new(&ended, PollFlags::IN), PollFd::new(&input, PollFlags::empty())];
    retry_on_intr(|| poll(&mut watched, None))?;
    let lab_is_gone = watched[0].revents().is_empty();
    // The init sees it too, and stops the servers in its way for as long as it may.
    if lab_is_gone && !readable_before(&ended, Instant::now() + STOP_GRACE + KILL_LIMIT)? {
        init.kill()?;
    }
    // For the init of a namespace this returns only when every process in it has ended.
    init.wait()?;
    kill_all_below(getpid());
    Ok(())
}

/// Whether an init can live in a namespace here; a child tries, because a process that fails at it is of no more use.
fn a_namespace_is_allowed() -> io::Result<bool> {
    let mut probe = own_program("namespace-probe").stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let ended = wait_within(&mut probe, PROBE_LIMIT)?;
    if ended.is_none() {
        probe.kill()?;
        probe.wait()?;
    }
    Ok(ended.is_some_and(|status| status.success()))
}

/// The probe's life: enter a namespace and let an init live in it that is told at once to stop.
pub fn run_namespace_probe() -> io::Result<()> {
    namespace::enter_for_children()?;
    let status = start_init(true, Stdio::null())?.wait()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("the init ended with {status}"))) }
}

fn start_init(namespaced: bool, requests: Stdio) -> io::Result<Child> {
    let mut command = own_program("init");
    command.stdin(requests);
    if namespaced {
        namespace::mount_own_proc(&mut command);
    }
    command.spawn()
}

/// tolok itself under a hidden verb, as a process that does not outlive this one.
fn own_program(verb: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg(verb).stderr(Stdio::null());
    place(&mut command, &Placement { cpus: Vec::new(), dies_with_parent: true });
    command
}

/// The init's life: start what is asked for, reap what ends, and stop everything when told or when the lab is gone.
pub fn run_init() -> io::Result<()> {
    let mut init = Init::new()?;
    while init.serve()? {}
    init.stop_all()
}

struct Init {
    /// Has something to read whenever a child has ended.
    child_ended: UnixStream,
    /// Processes that were asked for and run, in the order of their start.
    running: Vec<Running>,
    /// Input that is not yet a whole line.
    input: Vec<u8>,
}

struct Running {
    pid: Pid,
    name: String,
    stop: Signal,
}

impl Init {
    fn new() -> io::Result<Self> {
        ignore_stop_signals()?;
        set_child_subreaper(Some(getpid()))?;
        let (child_ended, waker) = UnixStream::pair()?;
        child_ended.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(signal_hook::consts::SIGCHLD, waker)?;
        Ok(Self { child_ended, running: Vec::new(), input: Vec::new() })
    }

    /// Waits for something to happen and deals with it; false when it is time to stop.
    fn serve(&mut self) -> io::Result<bool> {
        let stdin = io::stdin();
        let mut watched = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.child_ended, PollFlags::IN)];
        // The signal of a child that ends also interrupts this very call.
        retry_on_intr(|| poll(&mut watched, None))?;
        let asked = !watched[0].revents().is_empty();
        for ended in self.reap() {
            tell(&BoxEvent::Exited(ended));
        }
        if asked { self.serve_requests() } else { Ok(true) }
    }

    /// Reads what has come and does it; false when it is time to stop.
    fn serve_requests(&mut self) -> io::Result<bool> {
        let mut chunk = [0; 16 * 1024];
        let read = retry_on_intr(|| rustix::io::read(io::stdin().as_fd(), &mut chunk))?;
        if read == 0 {
            return Ok(false);
        }
        self.input.extend(&chunk[..read]);
        while let Some(end) = self.input.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.input.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(Request::Start(spec)) => self.start(spec),
                Ok(Request::Stop) | Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    fn start(&mut self, spec: ProcessSpec) {
        let now = clock_gettime(ClockId::Monotonic);
        let monotonic_ns = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
        let name = spec.name.clone();
        match spawn(&spec) {
            Ok(pid) => {
                self.running.push(Running { pid, name: spec.name, stop: stop_signal(&spec.stop) });
                tell(&BoxEvent::Started { name, monotonic_ns });
            }
            Err(error) => tell(&BoxEvent::NotStarted { name, reason: error.to_string() }),
        }
    }

    /// Takes in every child that has ended, orphans of the servers among them; returns those that were asked for.
    fn reap(&mut self) -> Vec<ExitReport> {
        // Emptied before the children are looked at, so that one that ends in between is noticed the next time.
        let _ = (&self.child_ended).read(&mut [0; 64]);
        let mut reports = Vec::new();
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let how = match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => continue,
            };
            if let Some(place) = self.running.iter().position(|running| running.pid == pid) {
                reports.push(ExitReport { name: self.running.remove(place).name, how });
            }
        }
        reports
    }

    /// Asks the servers to stop, the last started first; what is left after the grace period is killed.
    fn stop_all(&mut self) -> io::Result<()> {
        for running in self.running.iter().rev() {
            let _ = kill_process(running.pid, running.stop);
        }
        let deadline = Instant::now() + STOP_GRACE;
        while !self.running.is_empty() && readable_before(&self.child_ended, deadline)? {
            self.reap();
        }
        // The end of process 1 ends its namespace; without one, what is left must be killed by hand.
        if !getpid().is_init() {
            kill_all_below(getpid());
        }
        Ok(())
    }
}

fn spawn(spec: &ProcessSpec) -> io::Result<Pid> {
    let log: File = OpenOptions::new().create(true).append(true).open(&spec.log)?;
    let (program, arguments) = spec.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(&spec.env).current_dir(&spec.cwd);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    place(&mut command, &Placement { cpus: spec.cpus.clone(), dies_with_parent: true });
    Ok(Pid::from_child(&command.spawn()?))
}

fn stop_signal(name: &str) -> Signal {
    match name {
        "INT" => Signal::INT,
        "QUIT" => Signal::QUIT,
        "WINCH" => Signal::WINCH,
        _ => Signal::TERM,
    }
}

/// Tells the lab. Where nobody listens any more, the end of the input says so, too, and that is what is acted on.
fn tell(event: &BoxEvent) {
    let line = serde_json::to_string(event).expect("an event is plain data");
    let _ = writeln!(io::stdout().lock(), "{line}");
}

/// The keeper and the init end when the lab says so or is gone; signals that ask them to end are not their business.
fn ignore_stop_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // A handler that only sets a flag nobody reads; unlike SIG_IGN it is not inherited by the servers.
    let unread = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    [SIGHUP, SIGINT, SIGTERM]
        .into_iter()
        .try_for_each(|signal| signal_hook::flag::register(signal, unread.clone()).map(drop))
}

/// Kills every process below `ancestor` until none is left; one that is born meanwhile is met in the next round.
fn kill_all_below(ancestor: Pid) {
    let deadline = Instant::now() + KILL_LIMIT;
    loop {
        // Orphans become children of ours, and stay in the list until their end is taken in.
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        let below = descendants(Path::new("/proc"), ancestor.as_raw_pid() as u32);
        if below.is_empty() || Instant::now() > deadline {
            return;
        }
        let pids = below.iter().filter_map(|pid| Pid::from_raw(*pid as i32));
        let dying: Vec<_> = pids.filter_map(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()).collect();
        // Both fail only for what is gone already, or never will be; the next round shows which.
        for process in &dying {
            let _ = pidfd_send_signal(process, Signal::KILL);
        }
        for process in &dying {
            let _ = readable_before(process, deadline);
        }
    }
}
