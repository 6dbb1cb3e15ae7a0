//! The box's side: a keeper that outlives nobody, and an init that starts the servers.
//!
//! ```text
//! lab --pipe--> keeper --> init --> servers and whatever they fork
//! ```
//!
//! The init is process 1 of a pid namespace where the kernel allows one (root, or a user namespace): when it ends, the
//! kernel ends everything in the namespace, daemons and grandchildren included. It dies with its keeper, and the keeper
//! ends it when the lab's end of the pipe closes. So `kill -9` of any one of the three leaves no server running.
//! Where no namespace is allowed, the keeper is the reaper of all orphans below it and kills them one by one; then only
//! a `kill -9` of the keeper itself can leave servers behind.
//!
//! Both sides speak JSON lines on standard input and output; see [`super::trial_box`] for the words.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, pidfd_open, set_child_subreaper, setsid, wait,
};
use rustix::time::{ClockId, clock_gettime};

use super::namespace;
use super::spawn::{Placement, place};
use super::trial_box::{BoxEvent, ExitReport, ProcessSpec, Request, STOP_GRACE};
use crate::sample::descendants;

/// The keeper's life: open the box, wait for the lab or the init to end, leave nothing behind.
pub fn run_keeper() -> io::Result<()> {
    // In a session of its own no signal of the terminal arrives; those sent to it by hand are not its business either.
    let _ = setsid();
    ignore_stop_signals()?;
    set_child_subreaper(Some(getpid()))?;
    let namespaced = namespace::enter_for_children().is_ok();
    let mut command = Command::new("/proc/self/exe");
    command.arg("init").stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::null());
    place(&mut command, &Placement { cpus: Vec::new(), dies_with_parent: true });
    if namespaced {
        namespace::mount_own_proc(&mut command);
    }
    let mut init = command.spawn()?;
    let init_pid = Pid::from_child(&init);
    let ended = pidfd_open(init_pid, PidfdFlags::empty())?;
    let input = io::stdin();
    let mut watched = [PollFd::new(&ended, PollFlags::IN), PollFd::new(&input, PollFlags::empty())];
    poll(&mut watched, None)?;
    if watched[0].revents().is_empty() {
        // The lab is gone. The init has seen it too and stops the servers in its way, for as long as it may.
        let patience = Timespec { tv_sec: STOP_GRACE.as_secs() as i64 + 1, tv_nsec: 0 };
        poll(&mut [PollFd::new(&ended, PollFlags::IN)], Some(&patience))?;
        let _ = init.kill();
    }
    // For the init of a namespace this returns only when every process in it has ended.
    init.wait()?;
    kill_all_below(getpid());
    // Nobody may be listening any more.
    let _ = report(&BoxEvent::Stopped);
    Ok(())
}

/// The init's life: start what is asked for, reap what ends, and stop everything when told or when the lab is gone.
pub fn run_init() -> io::Result<()> {
    ignore_stop_signals()?;
    set_child_subreaper(Some(getpid()))?;
    let (wakes, waker) = UnixStream::pair()?;
    wakes.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(signal_hook::consts::SIGCHLD, waker)?;
    let mut init = Init { running: BTreeMap::new(), input: Vec::new() };
    report(&BoxEvent::Open { namespaced: getpid().is_init() })?;
    let stdin = io::stdin();
    loop {
        let mut watched = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&wakes, PollFlags::IN)];
        poll(&mut watched, None)?;
        let (asked, child_ended) = (!watched[0].revents().is_empty(), !watched[1].revents().is_empty());
        if child_ended {
            let _ = (&wakes).read(&mut [0; 64]);
            for ended in init.reap() {
                report(&BoxEvent::Exited(ended))?;
            }
        }
        if asked && !init.serve_requests()? {
            return init.stop_all();
        }
    }
}

struct Init {
    /// Processes that were asked for and run, in the order of their start, with the signal that stops them.
    running: BTreeMap<i32, (String, Signal)>,
    /// Input that is not yet a whole line.
    input: Vec<u8>,
}

impl Init {
    /// Reads what has come and does it; false when it is time to stop.
    fn serve_requests(&mut self) -> io::Result<bool> {
        let mut chunk = [0; 16 * 1024];
        let read = rustix::io::read(io::stdin().as_fd(), &mut chunk)?;
        if read == 0 {
            return Ok(false);
        }
        self.input.extend(&chunk[..read]);
        while let Some(end) = self.input.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.input.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(Request::Start(spec)) => self.start(&spec)?,
                Ok(Request::Stop) | Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    fn start(&mut self, spec: &ProcessSpec) -> io::Result<()> {
        let now = clock_gettime(ClockId::Monotonic);
        let monotonic_ns = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
        match spawn(spec) {
            Ok(pid) => {
                self.running.insert(pid, (spec.name.clone(), stop_signal(&spec.stop)));
                report(&BoxEvent::Started { name: spec.name.clone(), monotonic_ns })
            }
            Err(error) => report(&BoxEvent::NotStarted { name: spec.name.clone(), reason: error.to_string() }),
        }
    }

    /// Takes in every child that has ended, orphans of the servers among them; returns those that were asked for.
    fn reap(&mut self) -> Vec<ExitReport> {
        let mut ended = Vec::new();
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let how = match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => continue,
            };
            if let Some((name, _)) = self.running.remove(&pid.as_raw_pid()) {
                ended.push(ExitReport { name, how });
            }
        }
        ended
    }

    /// Asks the servers to stop, the last started first; what is left after the grace period is killed.
    fn stop_all(&mut self) -> io::Result<()> {
        for (pid, (_, signal)) in self.running.iter().rev() {
            if let Some(pid) = Pid::from_raw(*pid) {
                let _ = kill_process(pid, *signal);
            }
        }
        let deadline = Instant::now() + STOP_GRACE;
        while !self.running.is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
            self.reap();
        }
        // The end of process 1 ends its namespace; without one, the keeper kills what is left.
        if !getpid().is_init() {
            kill_all_below(getpid());
        }
        Ok(())
    }
}

fn spawn(spec: &ProcessSpec) -> io::Result<i32> {
    let log: File = OpenOptions::new().create(true).append(true).open(&spec.log)?;
    let (program, arguments) = spec.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).envs(&spec.env).current_dir(&spec.cwd);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    place(&mut command, &Placement { cpus: spec.cpus.clone(), dies_with_parent: true });
    Ok(command.spawn()?.id() as i32)
}

fn stop_signal(name: &str) -> Signal {
    match name {
        "INT" => Signal::INT,
        "QUIT" => Signal::QUIT,
        "WINCH" => Signal::WINCH,
        _ => Signal::TERM,
    }
}

fn report(event: &BoxEvent) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    let mut output = io::stdout().lock();
    output.write_all(&line)?;
    output.flush()
}

fn ignore_stop_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // A handler that only sets a flag nobody reads; unlike SIG_IGN it is not inherited by the servers.
    let unread = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    [SIGHUP, SIGINT, SIGTERM]
        .into_iter()
        .try_for_each(|signal| signal_hook::flag::register(signal, unread.clone()).map(drop))
}

/// Kills every process below `ancestor` until none is left; a process that forks in the meantime is met in the next round.
fn kill_all_below(ancestor: Pid) {
    for _ in 0..1000 {
        let below = descendants(Path::new("/proc"), ancestor.as_raw_pid() as u32);
        for pid in below.iter().filter_map(|pid| Pid::from_raw(*pid as i32)) {
            let _ = kill_process(pid, Signal::KILL);
        }
        let mut reaped = false;
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {
            reaped = true;
        }
        if below.is_empty() && !reaped {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Removes the private folders of sessions that ended without doing so; a session holds a lock on its own while it lives.
pub fn sweep(scratch_parent: &Path) {
    let Ok(entries) = fs::read_dir(scratch_parent) else { return };
    let ours = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(SCRATCH_PREFIX));
    for folder in ours.map(|entry| entry.path()) {
        let Ok(lock) = File::open(folder.join(SCRATCH_LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

/// Private folders of sessions begin with this, so that leftovers can be told.
pub const SCRATCH_PREFIX: &str = "tolok-session-";
/// The file in a private folder on which its session holds a lock.
pub const SCRATCH_LOCK: &str = "lock";
