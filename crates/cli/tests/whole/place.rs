//! A place to run tolok in: its own home with invented subjects, and a folder for runs.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use tolok_host::isolate::wait_within;

/// The repository.
pub fn repository() -> PathBuf {
    fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap()
}

/// The binary under test.
pub const TOLOK: &str = env!("CARGO_BIN_EXE_tolok");

/// At most this many tests keep the CPUs busy at once. With more, the lab reads its counters too late for windows of a second.
const SHARES: usize = 3;
static FREE_SHARES: Mutex<usize> = Mutex::new(SHARES);
static RETURNED: Condvar = Condvar::new();

/// Shares of the machine, which a test holds while it measures.
pub struct Turn(usize);

impl Turn {
    fn of(shares: usize) -> Self {
        let free = FREE_SHARES.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = RETURNED.wait_while(free, |free| *free < shares).unwrap_or_else(PoisonError::into_inner);
        *free -= shares;
        Self(shares)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *FREE_SHARES.lock().unwrap_or_else(PoisonError::into_inner) += self.0;
        RETURNED.notify_all();
    }
}

/// Waits until no other test shares the machine, and keeps the others waiting. For tests that judge figures, all of which are in
/// [`crate::undisturbed`], and for second attempts at what other tests may have disturbed.
pub fn my_turn() -> Turn {
    Turn::of(SHARES)
}

/// Waits for a share of the machine. For tests that keep CPUs busy but judge no figure: others may disturb their trials.
pub fn shared_turn() -> Turn {
    Turn::of(1)
}

/// Copies a program in a separate process. While this process has a file open for writing, a child of another test inherits that,
/// and the kernel then refuses to execute the file.
pub fn copy_program(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success(), "{} to {}", from.display(), to.display());
}

/// A home with the repository's workloads and the subjects of one test.
pub struct Place {
    folder: TempDir,
    tolok: PathBuf,
}

/// Asserts that a run ended well. Other work may disturb all of its trials, which is not a fault of tolok: then nothing is scored,
/// and the exit code reports that.
pub fn assert_done(code: Option<i32>, said: &str) {
    let is_disturbed = code == Some(5) && said.contains("CPU busy, discarded");
    assert!(code == Some(0) || is_disturbed, "{code:?}: {said}");
}

/// The output of a finished tolok.
pub struct Said {
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub progress: String,
    /// Its exit code.
    pub code: Option<i32>,
}

impl Place {
    /// An empty home.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("tolok-test-").tempdir().unwrap();
        fs::create_dir_all(folder.path().join("subjects")).unwrap();
        fs::create_dir_all(folder.path().join("studies")).unwrap();
        std::os::unix::fs::symlink(repository().join("workloads"), folder.path().join("workloads")).unwrap();
        Self { folder, tolok: PathBuf::from(TOLOK) }
    }

    /// An empty home that every user can read, with its own binaries: the checkout may be closed to other users.
    pub fn for_every_user() -> Self {
        let mut place = Self::new();
        fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
        for program in ["tolok", "faulty-subject"] {
            copy_program(&Path::new(TOLOK).with_file_name(program), &place.path().join(program));
        }
        place.tolok = place.path().join("tolok");
        let workloads = place.path().join("workloads");
        fs::remove_file(&workloads).unwrap();
        let copied = Command::new("cp").arg("-rL").arg(repository().join("workloads")).arg(&workloads).status();
        assert!(copied.unwrap().success());
        place
    }

    /// Adds a subject `test/<name>` with this fault.
    pub fn with_faulty(self, name: &str, fault: &str) -> Self {
        let program = self.tolok.with_file_name("faulty-subject");
        assert!(program.is_file(), "{} is not built: cargo build --workspace --bins", program.display());
        let text = format!(
            "title = 'Faulty {name}'\nruntime = 'test'\nstart-timeout = '3s'\nworkloads = ['hello', 'json']\n\
             [[process]]\nname = 'server'\n\
             command = ['{}', '--port', '{{{{ port }}}}', '--assets', '{{{{ assets }}}}', '--host', '{{{{ host }}}}', '--fault', '{fault}']\n",
            program.display()
        );
        self.with_subject(name, &text)
    }

    /// Adds a subject `test/<name>` with this `subject.toml`.
    pub fn with_subject(self, name: &str, text: &str) -> Self {
        let folder = self.path().join("subjects/test").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("subject.toml"), text).unwrap();
        self
    }

    /// Adds the study `try`: `hello` on these subjects, in windows of `duration`. It ignores other work on the machine. Windows of
    /// a second are safe: a trial fails only if the lab is held up for more than a third of its window.
    pub fn with_study(self, subjects: &str, blocks: u32, duration: &str) -> Self {
        let text = format!(
            "title = 'Try'\nsubjects = {subjects}\nblocks = {blocks}\nseed = 7\nceiling = false\naa-pair = false\nreruns = 0\n\
             [[scenario]]\nworkload = 'hello'\n\
             load = {{ executor = 'constant-vus', vus = 4, duration = '{duration}', warmup = '50ms', timeout = '1s' }}\n"
        );
        fs::write(self.path().join("studies/try.toml"), text).unwrap();
        self
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// tolok with these arguments, in this home, without a terminal.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.tolok);
        command.args(arguments);
        self.settle(&mut command);
        command
    }

    /// Prepares a command to run in this home, without a terminal.
    pub fn settle(&self, command: &mut Command) {
        command.current_dir(self.path()).env("TOLOK_HOME", self.path());
        command.env("TOLOK_RUNS", self.path().join("runs")).env("NO_COLOR", "1").stdin(Stdio::null());
        // Other tests, and the user's own toloks, may measure at the same time.
        command.env("TOLOK_IF_OTHER_RUN", "ignore").env("TOLOK_IF_BUSY", "ignore");
    }

    /// Runs tolok to its end.
    pub fn tolok(&self, arguments: &[&str]) -> Said {
        Said::of(self.command(arguments).output().unwrap())
    }

    /// The only run's folder.
    pub fn run_folder(&self) -> PathBuf {
        let mut folders: Vec<PathBuf> =
            fs::read_dir(self.path().join("runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(folders.len(), 1, "{folders:?}");
        folders.remove(0)
    }

    /// The records of the only run, in the order of their trials.
    pub fn records(&self) -> Vec<Value> {
        let Ok(entries) = fs::read_dir(self.run_folder().join("trials")) else { return Vec::new() };
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path().join("trial.json")).collect();
        files.sort();
        let texts = files.iter().filter_map(|file| fs::read_to_string(file).ok());
        texts.map(|text| serde_json::from_str(&text).unwrap()).collect()
    }

    /// Starts tolok in its own process group.
    pub fn start(&self, arguments: &[&str]) -> Started {
        Started::of(self.command(arguments))
    }

    /// Processes that have this place in their command line.
    pub fn processes(&self) -> Vec<String> {
        let needle = self.path().display().to_string();
        processes().into_iter().filter(|line| line.contains(&needle)).collect()
    }
}

impl Said {
    /// The output of a finished tolok.
    pub fn of(output: Output) -> Self {
        Self {
            output: String::from_utf8(output.stdout).unwrap(),
            progress: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code(),
        }
    }
}

/// A running tolok.
pub struct Started {
    /// The process.
    pub child: Child,
    progress: Receiver<String>,
}

/// Signals every process of this place whose command line begins with `line`. Spares their children, which briefly have the
/// same command line after a fork.
pub fn signal_all(place: &Place, line: &str, signal: rustix::process::Signal) {
    let home = format!("TOLOK_HOME={}", place.path().display());
    let all = fs::read_dir("/proc").unwrap().flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_string_lossy().parse::<i32>().ok());
    let is_meant = |number: &i32| {
        let own = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        let is_here = environment.split(|byte| *byte == 0).any(|variable| variable == home.as_bytes());
        is_here && String::from_utf8_lossy(&own).replace('\0', " ").starts_with(line)
    };
    let meant: Vec<i32> = numbers.filter(is_meant).collect();
    let parent = |number: &i32| {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse::<i32>().ok())
    };
    for number in meant.iter().filter(|number| !parent(number).is_some_and(|parent| meant.contains(&parent))) {
        let _ = rustix::process::kill_process(rustix::process::Pid::from_raw(*number).unwrap(), signal);
    }
}

/// Longer than any step of a test takes, even on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

impl Started {
    /// Starts a command in its own process group.
    pub fn of(mut command: Command) -> Self {
        command.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().unwrap();
        let (sender, progress) = channel();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // If a test fails, the receiver may be gone.
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line + "\n")));
        Self { child, progress }
    }

    /// Reads its progress until a line contains `words`.
    pub fn wait_for(&mut self, words: &str) -> String {
        let mut seen = String::new();
        while !seen.contains(words) {
            match self.progress.recv_timeout(PATIENCE) {
                Ok(line) => seen += &line,
                Err(why) => panic!("tolok did not say {words:?} ({why}); it said:\n{seen}"),
            }
        }
        seen
    }

    /// Waits for its end. Returns the remaining output and the exit code.
    pub fn finish(mut self) -> (String, Option<i32>) {
        let mut rest = String::new();
        loop {
            match self.progress.recv_timeout(PATIENCE) {
                Ok(line) => rest += &line,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("tolok fell silent; it printed:\n{rest}"),
            }
        }
        let status = wait_within(&mut self.child, PATIENCE).unwrap();
        (rest, status.expect("tolok has closed its standard error, but does not end").code())
    }

    /// Presses Ctrl-C twice, unless it ends before. It waits in between, because two pending signals would merge into one.
    pub fn stop_at_once(self) -> (String, Option<i32>) {
        let mut said = String::new();
        self.signal(rustix::process::Signal::INT);
        while !said.contains("Stopping after this") {
            match self.progress.recv_timeout(PATIENCE) {
                Ok(line) => said += &line,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("tolok did not react to Ctrl-C; it printed:\n{said}"),
            }
        }
        self.signal(rustix::process::Signal::INT);
        let (rest, code) = self.finish();
        (said + &rest, code)
    }

    /// Sends a signal to tolok alone.
    pub fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }
}

impl Drop for Started {
    /// A failing test leaves no tolok running. One that has ended was already reaped, so this does nothing.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Command lines of all processes of this machine that are not zombies.
pub fn processes() -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).filter(|line| !line.is_empty()).collect()
}

/// Waits until `found` is empty, as long as killed processes may take to end.
pub fn assert_all_gone(found: impl Fn() -> Vec<String>) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while Instant::now() < deadline {
        if found().is_empty() {
            return;
        }
        std::thread::yield_now();
    }
    panic!("still there: {:?}", found());
}
