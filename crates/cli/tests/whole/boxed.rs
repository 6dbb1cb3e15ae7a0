//! Boxes for tests: opened with the binary under test, with a view of what they leave behind.

use std::collections::BTreeSet;
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tolok_host::group::{Controller, Limits};
use tolok_host::isolate::{
    Backend, BoxSpec, GroupsSpec, LinkBetween, LinkSpec, NetworkSpec, ProcessSpec, RunFolder, TrialBox, Trust,
};
use tolok_host::sample::descendants;
use tolok_lab::toolbox::{Program, Toolbox};

use crate::place::PATIENCE;

/// Tells a copy of the test, which runs as another process, where its ground is.
pub const GROUND: &str = "TOLOK_TEST_GROUND";

/// A folder for a box: its run folder, with the logs and reports beside it.
pub struct Ground {
    path: PathBuf,
    /// `None` if another process owns the folder.
    _folder: Option<TempDir>,
}

impl Ground {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("tolok-test-box-").tempdir().unwrap();
        let ground = Self { path: folder.path().to_owned(), _folder: Some(folder) };
        fs::create_dir(ground.run_folder()).unwrap();
        ground
    }

    /// A ground that another process made.
    pub fn at(path: PathBuf) -> Self {
        Self { path, _folder: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn run_folder(&self) -> PathBuf {
        self.path().join("run")
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path().join("log")).unwrap_or_default()
    }

    /// A private network without a link, and a private run folder of 256 MiB.
    pub fn spec(&self) -> BoxSpec {
        let run_folder = Some(RunFolder { path: self.run_folder(), size_bytes: 256 << 20, owner: None });
        BoxSpec { groups: None, network: private(&[], None), run_folder, session_folder: None, guard: None }
    }

    /// A process of the subject; its output goes to the log.
    pub fn process(&self, argv: &[&str]) -> ProcessSpec {
        ProcessSpec {
            name: argv[0].to_owned(),
            part: "subject".to_owned(),
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            env: [("PATH".to_owned(), std::env::var("PATH").unwrap())].into(),
            cwd: self.run_folder(),
            log: self.path().join("log"),
            cpus: Vec::new(),
            trust: Trust::Guarded,
            stop: "TERM".to_owned(),
        }
    }

    /// A process of the database; its output goes to a log of its own.
    pub fn database(&self, argv: &[&str]) -> ProcessSpec {
        ProcessSpec { part: "database".to_owned(), log: self.path().join("database.log"), ..self.process(argv) }
    }

    /// A link with this backend.
    pub fn link(&self, backend: Backend, spec: LinkSpec) -> LinkBetween {
        LinkBetween { spec, backend, cpus: Vec::new(), report: self.path().join("link.jsonl") }
    }

    /// Like [`Self::link`], between subject and database.
    pub fn database_link(&self, backend: Backend, spec: LinkSpec) -> LinkBetween {
        LinkBetween { report: self.path().join("database-link.jsonl"), ..self.link(backend, spec) }
    }

    /// Runs a shell script in the box to its end. Returns its output.
    pub fn said_by(&self, trial_box: &mut TrialBox, script: &str) -> String {
        let before = trial_box.exits().unwrap().len();
        fs::write(self.path().join("log"), "").unwrap();
        trial_box.start(&self.process(&["sh", "-c", script])).unwrap();
        wait_until("the script ends", || trial_box.exits().unwrap().len() > before);
        self.log()
    }
}

/// A private network with these kernel settings.
pub fn private(sysctls: &[(&str, &str)], link: Option<LinkBetween>) -> NetworkSpec {
    private_with(sysctls, link, None)
}

/// Like [`private`], with a link between subject and database.
pub fn private_with(
    sysctls: &[(&str, &str)],
    link: Option<LinkBetween>,
    database_link: Option<LinkBetween>,
) -> NetworkSpec {
    let sysctls = sysctls.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    NetworkSpec::Private { sysctls, dispensable: Default::default(), link, database_link }
}

/// Control groups for these parts, with all controllers.
pub fn groups(parts: &[(&str, Limits)]) -> GroupsSpec {
    let parts = parts.iter().map(|(part, limits)| ((*part).to_owned(), limits.clone())).collect();
    GroupsSpec { parts, controllers: Controller::ALL.into() }
}

/// Polls until the condition holds. It may take long; the time limit is far above any real case.
pub fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !happened() {
        assert!(Instant::now() < deadline, "timed out waiting for: {what}");
        std::thread::yield_now();
    }
}

/// Connects from the client's side as soon as a server listens. Returns the connection and the duration of the handshake.
pub fn connect(trial_box: &mut TrialBox, address: SocketAddr) -> (TcpStream, Duration) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let began = Instant::now();
        match trial_box.connect(address, PATIENCE) {
            Ok(connection) => return (connection, began.elapsed()),
            Err(error) => assert!(Instant::now() < deadline, "nothing listens at {address}: {error}"),
        }
    }
}

/// A program of the toolbox or of the system, if it is ready.
pub fn program(name: &str) -> Option<Program> {
    Toolbox::open_default().ok()?.detect(name).ok()?.ready().cloned()
}

/// What a box uses of the machine, recorded while it exists.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Traces {
    /// Namespaces of its processes, except this process's own.
    namespaces: BTreeSet<PathBuf>,
    run_folder: PathBuf,
    /// The folders of its control groups.
    groups: BTreeSet<PathBuf>,
}

impl Traces {
    /// Records a box, and other processes that belong to it.
    pub fn of(trial_box: &TrialBox, ground: &Ground, keeper: u32, others: &[u32]) -> Self {
        let own = namespaces_of(std::process::id());
        let below = descendants(Path::new("/proc"), keeper);
        let all = below.iter().chain(others).flat_map(|pid| namespaces_of(*pid));
        let parts = ["subject", "generator", "lab", "link", "database"].iter().filter_map(|part| trial_box.group(part));
        let whole =
            parts.flat_map(|group| group.entrances()).map(|entrance| entrance.ancestors().nth(2).unwrap().to_owned());
        Self {
            namespaces: all.filter(|namespace| !own.contains(namespace)).collect(),
            run_folder: ground.run_folder(),
            groups: whole.collect(),
        }
    }

    /// Kinds of the namespaces.
    pub fn kinds(&self) -> Vec<String> {
        let kind = |link: &PathBuf| link.to_string_lossy().split(':').next().unwrap_or_default().to_owned();
        let mut kinds: Vec<String> = self.namespaces.iter().map(kind).collect();
        kinds.dedup();
        kinds
    }

    /// Processes in its namespaces, and processes that see its mount.
    pub fn processes_left(&self) -> Vec<String> {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let run_folder = self.run_folder.display().to_string();
        let is_left = |pid: &u32| {
            let mounts = fs::read_to_string(format!("/proc/{pid}/mounts")).unwrap_or_default();
            mounts.contains(&run_folder) || namespaces_of(*pid).iter().any(|own| self.namespaces.contains(own))
        };
        // A zombie does not count: its new parent must reap it first, which may take a second.
        let runs = |pid: &u32| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit(") ").next().is_some_and(|rest| !rest.starts_with(['Z', 'X']))
        };
        let named = |pid| format!("{pid} {}", fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default());
        pids.filter(is_left).filter(runs).map(named).collect()
    }

    /// Control groups that still exist.
    pub fn groups_left(&self) -> Vec<String> {
        self.groups.iter().filter(|folder| folder.exists()).map(|folder| folder.display().to_string()).collect()
    }

    /// All of the above.
    pub fn left(&self) -> Vec<String> {
        [self.processes_left(), self.groups_left()].concat()
    }
}

/// The namespaces of a process, of the kinds that a box can have.
pub fn namespaces_of(pid: u32) -> BTreeSet<PathBuf> {
    let kinds = ["pid", "net", "mnt", "ipc", "user"];
    kinds.iter().filter_map(|kind| fs::read_link(format!("/proc/{pid}/ns/{kind}")).ok()).collect()
}

/// The keeper of a box: the parent of its init.
pub fn keeper_of(trial_box: &TrialBox) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", trial_box.init_pid())).unwrap();
    stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap()
}
