//! Calls of other programs, bounded in time.
//!
//! [`Call::ask`] is for short questions. It keeps the answer in memory and kills processes that the program leaves
//! behind.
//!
//! [`Call::run`] is for long work. It sends the output to a log file and leaves the program in our process group, so an
//! interrupt from the keyboard reaches it too.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};
use tolok_model::duration_words;

use crate::shell::quoted;

/// Output beyond this is read and dropped. The longest known answer is that of `php -i`, some 40 kB.
const ANSWER_LIMIT_BYTES: usize = 512 * 1024;
/// How long a program may take to end after SIGTERM before it is killed.
const GRACE: Duration = Duration::from_secs(2);
/// How often to retry a file that is still open for writing, 10 ms apart.
const BUSY_RETRIES: u32 = 100;

/// A program with its arguments, environment variables and working folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The name to show, and to look up on `PATH` unless `place` is known.
    program: PathBuf,
    /// Where the program is, if that differs from the name to show.
    place: Option<PathBuf>,
    arguments: Vec<String>,
    env: BTreeMap<String, String>,
    folder: PathBuf,
}

/// What a program printed on both streams, and how it ended.
#[derive(Debug)]
pub struct Answer {
    pub status: ExitStatus,
    pub text: String,
}

#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("cannot be started: {0}")]
    Start(#[source] io::Error),
    #[error("gave no answer within {}", duration_words(.0.as_secs_f64()))]
    TimedOut(Duration),
    #[error("cannot be waited for: {0}")]
    Wait(#[source] io::Error),
}

impl Call {
    pub fn new<S: Into<String>>(program: impl Into<PathBuf>, arguments: impl IntoIterator<Item = S>) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { program: program.into(), place: None, arguments, env: BTreeMap::new(), folder: PathBuf::from("/") }
    }

    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.insert(name.to_owned(), value.into());
        self
    }

    pub fn with_env(mut self, env: &BTreeMap<String, String>) -> Self {
        self.env.extend(env.clone());
        self
    }

    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// The same call, of the program that `find` returns for its name. A name with a slash stays as it is.
    pub fn found_by(mut self, find: impl FnOnce(&str) -> Option<PathBuf>) -> Self {
        self.place = self.program.to_str().filter(|name| !name.contains('/')).and_then(find);
        self
    }

    /// Runs the program. Returns its output and status, or the reason why it gave none in time.
    pub fn ask(&self, timeout: Duration) -> Result<Answer, CallError> {
        let deadline = Instant::now() + timeout;
        let (mut reader, writer) = io::pipe().map_err(CallError::Start)?;
        let second = writer.try_clone().map_err(CallError::Start)?;
        let mut command = self.command();
        command.stdout(writer).stderr(second).process_group(0);
        let mut child = spawn(&mut command)?;
        drop(command); // it holds our ends of the pipe, which must be closed for the reader to see the end
        let outcome = listen(&mut reader, &child, deadline);
        // The child still owns its group's number until someone waits for it, so this cannot hit another group.
        let _ = kill_process_group(pid(&child), Signal::KILL);
        let status = child.wait().map_err(CallError::Wait)?;
        match outcome.map_err(CallError::Wait)? {
            Some(text) => Ok(Answer { status, text }),
            None => Err(CallError::TimedOut(timeout)),
        }
    }

    /// Runs the program and writes all its output to `log`.
    pub fn run(&self, log: &Path, timeout: Duration) -> Result<ExitStatus, CallError> {
        let deadline = Instant::now() + timeout;
        let log = File::create(log).map_err(CallError::Start)?;
        let second = log.try_clone().map_err(CallError::Start)?;
        let mut child = spawn(self.command().stdout(log).stderr(second))?;
        if wait_until(&child, deadline).map_err(CallError::Wait)? {
            return child.wait().map_err(CallError::Wait);
        }
        let _ = kill_process(pid(&child), Signal::TERM);
        if !wait_until(&child, Instant::now() + GRACE).map_err(CallError::Wait)? {
            let _ = kill_process(pid(&child), Signal::KILL);
        }
        child.wait().map_err(CallError::Wait)?;
        Err(CallError::TimedOut(timeout))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.place.as_ref().unwrap_or(&self.program));
        command.args(&self.arguments).envs(&self.env).env("LC_ALL", "C").current_dir(&self.folder).stdin(Stdio::null());
        command
    }
}

impl fmt::Display for Call {
    /// As a user would type it into a shell.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.folder != Path::new("/") {
            write!(f, "cd {} && ", quoted(&self.folder.to_string_lossy()))?;
        }
        for (name, value) in &self.env {
            write!(f, "{name}={} ", quoted(value))?;
        }
        write!(f, "{}", quoted(&self.program.to_string_lossy()))?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", quoted(argument)))
    }
}

/// Starts the command. Retries a file that is still being written, because the kernel refuses to execute it.
fn spawn(command: &mut Command) -> Result<Child, CallError> {
    let mut tries = 0;
    loop {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_RETRIES => tries += 1,
            outcome => return outcome.map_err(CallError::Start),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// Collects the output until the child has ended; `None` when the deadline comes first.
///
/// Waits for the end of the child, not of the output: a daemon that it left behind may hold the pipe open forever.
fn listen(reader: &mut PipeReader, child: &Child, deadline: Instant) -> io::Result<Option<String>> {
    let ended = pidfd_open(pid(child), PidfdFlags::empty())?;
    rustix::io::ioctl_fionbio(&*reader, true)?;
    let mut bytes = Vec::new();
    let mut open = true;
    loop {
        let Some(left) = time_left(deadline) else { return Ok(None) };
        let events = if open { PollFlags::IN } else { PollFlags::empty() };
        let mut fds = [PollFd::new(&ended, PollFlags::IN), PollFd::new(&*reader, events)];
        // With a closed pipe in the set, its hang-up would wake the poll over and over.
        let watched = if open { &mut fds[..] } else { &mut fds[..1] };
        match poll(watched, Some(&left)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let done = !fds[0].revents().is_empty();
        open = open && drain(reader, &mut bytes)?;
        if done {
            return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
}

/// Reads what is available. False when all writers have closed the pipe.
fn drain(reader: &mut PipeReader, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let mut buffer = [0; 16 * 1024];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(count) => bytes.extend(buffer[..count].iter().take(ANSWER_LIMIT_BYTES.saturating_sub(bytes.len()))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether the child ended before the deadline.
fn wait_until(child: &Child, deadline: Instant) -> io::Result<bool> {
    let ended = pidfd_open(pid(child), PidfdFlags::empty())?;
    while let Some(left) = time_left(deadline) {
        match poll(&mut [PollFd::new(&ended, PollFlags::IN)], Some(&left)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

fn time_left(deadline: Instant) -> Option<Timespec> {
    let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
    Timespec::try_from(left).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Call {
        Call::new("/bin/sh", ["-c", script])
    }

    #[test]
    fn both_streams_and_the_status_are_the_answer() {
        let answer = shell("echo out; echo err >&2; exit 3").ask(Duration::from_secs(10)).unwrap();
        assert_eq!((answer.text.as_str(), answer.status.code()), ("out\nerr\n", Some(3)));
    }

    #[test]
    fn a_long_answer_is_cut_and_does_not_block() {
        let answer = shell("head -c 2000000 /dev/zero").ask(Duration::from_secs(10)).unwrap();
        assert_eq!(answer.text.len(), ANSWER_LIMIT_BYTES);
        assert!(answer.status.success());
    }

    #[test]
    fn a_program_that_hangs_is_given_up_and_killed() {
        let started = Instant::now();
        let outcome = shell("echo $$; sleep 600").ask(Duration::from_millis(100));
        assert!(matches!(outcome, Err(CallError::TimedOut(_))), "{outcome:?}");
        assert!(started.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_daemon_left_behind_does_not_hold_the_answer_back() {
        let answer = shell("sleep 600 & echo $!").ask(Duration::from_secs(60)).unwrap();
        let daemon: i32 = answer.text.trim().parse().unwrap();
        // It was killed with its group, but may not be reaped yet.
        if let Ok(daemon) = pidfd_open(Pid::from_raw(daemon).unwrap(), PidfdFlags::empty()) {
            let minute = Timespec { tv_sec: 60, tv_nsec: 0 };
            assert_eq!(poll(&mut [PollFd::new(&daemon, PollFlags::IN)], Some(&minute)).unwrap(), 1);
        }
    }

    #[test]
    fn a_closed_output_is_not_the_end_of_the_program() {
        let answer = shell("exec >&- 2>&-; exit 7").ask(Duration::from_secs(10)).unwrap();
        assert_eq!((answer.text.as_str(), answer.status.code()), ("", Some(7)));
    }

    #[test]
    fn long_work_leaves_a_log_and_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let status = shell("echo one; echo two >&2").run(&log, Duration::from_secs(10)).unwrap();
        assert!(status.success());
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "one\ntwo\n");
        let outcome = Call::new("/bin/sleep", ["600"]).run(&log, Duration::from_millis(50));
        assert!(matches!(outcome, Err(CallError::TimedOut(_))), "{outcome:?}");
    }

    #[test]
    fn a_call_reads_as_it_would_be_typed() {
        let call = Call::new("apt-get", ["--yes", "install", "a b", "it's"]).env("APT_CONFIG", "/t/apt.conf");
        assert_eq!(call.to_string(), r"APT_CONFIG=/t/apt.conf apt-get --yes install 'a b' 'it'\''s'");
        assert_eq!(Call::new("make", [""; 0]).in_folder("/a b").to_string(), "cd '/a b' && make");
    }

    #[test]
    fn a_missing_program_says_so() {
        let error = Call::new("/no/such/program", ["x"]).ask(Duration::from_secs(1)).unwrap_err();
        assert!(error.to_string().starts_with("cannot be started: No such file"), "{error}");
    }
}
