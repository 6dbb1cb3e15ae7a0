//! A place to run tolok in: a home of its own with subjects that a test invents, and a folder for runs.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
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

/// Held alone by tests that judge figures, and together by all others that keep CPUs busy.
static TURN: RwLock<()> = RwLock::new(());

/// For tests in [`crate::undisturbed`]: trials pin their parts to CPUs, so two at once starve each other.
pub fn my_turn() -> RwLockWriteGuard<'static, ()> {
    TURN.write().unwrap_or_else(PoisonError::into_inner)
}

/// For tests that keep CPUs busy, and judge nothing that others change by doing so, too.
pub fn shared_turn() -> RwLockReadGuard<'static, ()> {
    TURN.read().unwrap_or_else(PoisonError::into_inner)
}

/// Copies a program in a process of its own: while this one has a file open for writing, a child of another test's inherits that, and
/// the kernel refuses to start the file.
pub fn copy_program(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success(), "{} to {}", from.display(), to.display());
}

/// A home with the repository's workloads and the subjects of one test.
pub struct Place {
    folder: TempDir,
    tolok: PathBuf,
}

/// Asserts that a run ended well. Others may disturb every trial of it, which is no fault of tolok's: then it says that
/// nothing is scored, and leaves with the code for that.
pub fn assert_done(code: Option<i32>, said: &str) {
    let is_disturbed = code == Some(5) && said.contains("CPU busy, discarded");
    assert!(code == Some(0) || is_disturbed, "{code:?}: {said}");
}

/// What tolok said and how it ended.
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

    /// An empty home that everybody may look into, with binaries of its own: the checkout may be closed to other users.
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

    /// Adds a subject `test/<name>` that misbehaves by `fault`.
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

    /// Adds the study `try`: `hello` on these subjects, in windows of `duration`. What else the machine does meanwhile is no
    /// matter if that is a second: a trial fails whose window is shorter than three times what the lab was held up.
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

    /// tolok with these arguments, in this home, with no terminal.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.tolok);
        command.args(arguments);
        self.settle(&mut command);
        command
    }

    /// Lets a command run in this home, with no terminal.
    pub fn settle(&self, command: &mut Command) {
        command.current_dir(self.path()).env("TOLOK_HOME", self.path());
        command.env("TOLOK_RUNS", self.path().join("runs")).env("NO_COLOR", "1").stdin(Stdio::null());
        // Other tests, and other toloks of whoever runs them, may measure as well.
        command.env("TOLOK_IF_OTHER_RUN", "ignore");
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

    /// Starts tolok in a process group of its own.
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
    /// What a finished tolok said.
    pub fn of(output: Output) -> Self {
        Self {
            output: String::from_utf8(output.stdout).unwrap(),
            progress: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code(),
        }
    }
}

/// A tolok at work.
pub struct Started {
    /// The process.
    pub child: Child,
    progress: Receiver<String>,
}

/// Sends a signal to every process of this place whose command line begins so, but not to their children, which have the same one for
/// an instant.
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
    /// Starts a command in a process group of its own.
    pub fn of(mut command: Command) -> Self {
        command.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().unwrap();
        let (sender, progress) = channel();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // Nobody may be left to listen, when a test fails.
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

    /// Waits for its end; returns what else it said, and its code.
    pub fn finish(mut self) -> (String, Option<i32>) {
        let mut rest = String::new();
        loop {
            match self.progress.recv_timeout(PATIENCE) {
                Ok(line) => rest += &line,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("tolok fell silent; it said:\n{rest}"),
            }
        }
        let status = wait_within(&mut self.child, PATIENCE).unwrap();
        (rest, status.expect("tolok has closed its standard error, but does not end").code())
    }

    /// Presses Ctrl-C twice, unless it ends before. Two signals that nobody has heard yet would be one.
    pub fn stop_at_once(self) -> (String, Option<i32>) {
        let mut said = String::new();
        self.signal(rustix::process::Signal::INT);
        while !said.contains("Stopping after this") {
            match self.progress.recv_timeout(PATIENCE) {
                Ok(line) => said += &line,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("tolok did not hear Ctrl-C; it said:\n{said}"),
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
    /// A test that fails leaves no tolok at work; one that ended has been waited for, and nothing happens.
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

/// Waits until `found` is empty, for as long as anything that was killed may take to go.
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
