//! `kill -9` of anything that holds a box: nothing of the box remains, whatever its servers do to survive.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde::{Deserialize, Serialize};
use tolok_host::group::{Controller, Hierarchies, Limits};
use tolok_host::isolate::{Backend, BoxSpec, LinkSpec, TrialBox, place as placed, wait_within};
use tolok_lab::database::mariadb_command;
use tolok_testkit::{is_own_process, require};

use crate::boxed::{GROUND, Ground, Traces, groups, keeper_of, private_with, program, wait_until};
use crate::place::{PATIENCE, TOLOK, assert_all_gone, my_turn};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Lab,
    Keeper,
    Init,
    Link,
    DatabaseLink,
    Generator,
    Database,
    Subject,
}

impl Victim {
    const ALL: [Self; 8] = [
        Self::Lab,
        Self::Keeper,
        Self::Init,
        Self::Link,
        Self::DatabaseLink,
        Self::Generator,
        Self::Database,
        Self::Subject,
    ];

    /// Whether the box ends with the victim. For the others, the lab must notice and give up the trial.
    fn ends_the_box(self) -> bool {
        !matches!(self, Self::Generator | Self::Database | Self::Subject)
    }

    fn words(self) -> &'static str {
        match self {
            Self::Lab => "lab",
            Self::Keeper => "keeper",
            Self::Init => "init",
            Self::Link => "link to the client",
            Self::DatabaseLink => "link to the database",
            Self::Generator => "generator",
            Self::Database => "database",
            Self::Subject => "subject’s first process",
        }
    }
}

/// The lab's report on its box once everything in it runs.
#[derive(Debug, Serialize, Deserialize)]
struct AtWork {
    keeper: u32,
    init: u32,
    link: u32,
    database_link: u32,
    generator: u32,
    /// The first process of each. The original one may have become a daemon and exited.
    database: u32,
    subject: u32,
    traces: Traces,
}

/// Names a file that gets one line per victim, for the table of `script/bench-ends`.
const ENDS: &str = "TOLOK_BENCH_ENDS";

/// The life of a lab. It opens a complete box, calls `begin` to start servers and wait for them, starts a generator, reports, and
/// stops when its input ends.
fn be_the_lab(begin: impl Fn(&mut TrialBox, &Ground)) {
    let ground = Ground::at(PathBuf::from(std::env::var_os(GROUND).unwrap()));
    let parts = ["subject", "generator", "link", "lab", "database"].map(|part| (part, Limits::default()));
    let link = ground.link(Backend::Emulator, LinkSpec::default());
    let network = private_with(&[], Some(link), Some(ground.database_link(Backend::Emulator, LinkSpec::default())));
    let session = session_of(&ground);
    fs::create_dir(&session).unwrap();
    let lock = File::create(session.join("lock")).unwrap();
    lock.lock().unwrap();
    let spec =
        BoxSpec { groups: Some(groups(&parts)), network, session_folder: Some(session.clone()), ..ground.spec() };
    let mut trial_box = TrialBox::open(Path::new(TOLOK), &spec).unwrap();
    // In its own network namespace, with a daemon.
    let database = "trap '' TERM INT HUP; (setsid sleep 100005 &); while :; do sleep 100006; done";
    trial_box.start(&ground.database(&["sh", "-c", database])).unwrap();
    wait_until("the database is there", || members(&trial_box, "database").len() == 3);
    begin(&mut trial_box, &ground);
    let mut command = Command::new("sleep");
    placed(&mut command, &trial_box.placement("generator", &[])).unwrap();
    let mut generator = command.arg("100000").stdin(Stdio::null()).spawn().unwrap();
    let keeper = keeper_of(&trial_box);
    let at_work = AtWork {
        keeper,
        init: trial_box.init_pid(),
        link: trial_box.link_pid().unwrap(),
        database_link: trial_box.database_link_pid().unwrap(),
        generator: generator.id(),
        database: first(&trial_box, "database"),
        subject: first(&trial_box, "subject"),
        traces: Traces::of(&trial_box, &ground, keeper, &[generator.id()]),
    };
    // Renamed once complete, so the reader never sees half a file.
    let unfinished = ground.path().join("unfinished");
    serde_json::to_writer(File::create(&unfinished).unwrap(), &at_work).unwrap();
    fs::rename(unfinished, ground.path().join("at-work")).unwrap();
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
    drop(trial_box);
    let _ = generator.kill();
    generator.wait().unwrap();
    // No one else removes the folder while the lab lives.
    fs::remove_dir_all(&session).unwrap();
}

/// The private folder of a lab's session.
fn session_of(ground: &Ground) -> PathBuf {
    ground.path().join("tolok-session-of-a-test")
}

fn first(trial_box: &TrialBox, part: &str) -> u32 {
    members(trial_box, part).into_iter().min().unwrap()
}

fn start_lab(test: &str, ground: &Ground) -> Child {
    let inside = test.split_once("::").unwrap().1;
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", inside, "--nocapture", "--test-threads=1"]);
    command.env("TOLOK_TESTKIT_OWN_PROCESS", "1").env(GROUND, ground.path());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

/// For each victim: starts a lab, in a copy of this process that runs `test`, then kills the victim and checks what is left.
fn nothing_is_left_whoever_is_killed(test: &str) {
    for victim in Victim::ALL {
        let ground = Ground::new();
        let mut lab = start_lab(test, &ground);
        let told = ground.path().join("at-work");
        wait_until("everything is at work", || told.exists() || lab.try_wait().unwrap().is_some());
        let at_work: AtWork = serde_json::from_str(&fs::read_to_string(told).unwrap()).unwrap();
        let traces = &at_work.traces;
        assert_eq!(traces.kinds(), ["ipc", "mnt", "net", "pid"]);
        assert!(!traces.processes_left().is_empty() && !traces.groups_left().is_empty());
        assert!(session_of(&ground).exists());
        let killed = Instant::now();
        kill(at_work.pid_of(victim, &lab));
        gone_with(victim, &mut lab, &at_work);
        assert_all_gone(|| traces.left());
        assert_all_gone(|| Vec::from_iter(session_of(&ground).exists().then(|| "the session's folder".to_owned())));
        note(test, victim, killed.elapsed());
        lab.wait().unwrap();
        assert_eq!(fs::read_dir(ground.run_folder()).unwrap().count(), 0);
        assert!(!Path::new("/sys/class/net/tolok0").exists());
    }
}

/// Waits until every process is gone. Unless the lab itself was killed, checks that it has removed all groups.
fn gone_with(victim: Victim, lab: &mut Child, at_work: &AtWork) {
    let traces = &at_work.traces;
    if victim != Victim::Lab {
        if victim.ends_the_box() {
            // The generator is the lab's own child. If the keeper was killed, it runs until the lab notices.
            let generator = format!("{} sleep", at_work.generator);
            let is_other = |process: &String| !(victim == Victim::Keeper && process.starts_with(&generator));
            assert_all_gone(|| traces.processes_left().into_iter().filter(is_other).collect());
        }
        drop(lab.stdin.take());
        let status = wait_within(lab, PATIENCE).unwrap().expect("the lab ends");
        assert!(status.success(), "{victim:?}: {status}");
    }
    assert_all_gone(|| traces.processes_left());
    // The lab removed the groups before it ended.
    let left = if victim == Victim::Lab { Vec::new() } else { traces.groups_left() };
    assert_eq!(left, [""; 0], "{victim:?}");
}

impl AtWork {
    fn pid_of(&self, victim: Victim, lab: &Child) -> u32 {
        match victim {
            Victim::Lab => lab.id(),
            Victim::Keeper => self.keeper,
            Victim::Init => self.init,
            Victim::Link => self.link,
            Victim::DatabaseLink => self.database_link,
            Victim::Generator => self.generator,
            Victim::Database => self.database,
            Victim::Subject => self.subject,
        }
    }
}

/// Adds a line for the bench, if it named a file.
fn note(test: &str, victim: Victim, took: Duration) {
    let Some(path) = std::env::var_os(ENDS) else { return };
    let server = test.rsplit("::").next().unwrap().replace('_', " ");
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    writeln!(file, "{server}\t{}\t{}", victim.words(), took.as_millis()).unwrap();
}

fn kill(pid: u32) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
}

/// Whether boxes can have everything that these tests kill.
fn can_have_everything() -> bool {
    let usable = Hierarchies::find().usable();
    let all = [Controller::Pids, Controller::Memory].iter().all(|controller| usable.contains(controller));
    geteuid().is_root() && all && File::open("/dev/net/tun").is_ok()
}

fn members(trial_box: &TrialBox, part: &str) -> Vec<u32> {
    trial_box.group(part).unwrap().members().unwrap()
}

/// Number of the subject's processes with this name.
fn named(trial_box: &TrialBox, name: &str) -> usize {
    let members = members(trial_box, "subject");
    let name_of = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    members.iter().filter(|pid| name_of(pid).trim_end() == name).count()
}

#[test]
fn apache_with_200_children_that_has_become_a_daemon() {
    require!(can_have_everything(), "groups, namespaces and TUN devices need root");
    let apache = program("apache");
    require!(apache.is_some(), "Apache is neither in the toolbox nor installed");
    let apache = apache.unwrap();
    if !is_own_process() {
        let _turn = my_turn();
        return nothing_is_left_whoever_is_killed(tolok_testkit::test_name!());
    }
    be_the_lab(|trial_box, ground| {
        let (run, modules) = (ground.run_folder().display().to_string(), &apache.extras["modules"]);
        let configuration = format!(
            "ServerRoot {run}\nDefaultRuntimeDir {run}\nPidFile {run}/apache.pid\nMutex file:{run} default\n\
             ErrorLog {run}/error.log\nServerName localhost\nListen 127.0.0.1:80\nUser nobody\nGroup #65534\n\
             LoadModule mpm_prefork_module {modules}/mod_mpm_prefork.so\n\
             LoadModule authz_core_module {modules}/mod_authz_core.so\n\
             StartServers 200\nMinSpareServers 200\nMaxSpareServers 210\nServerLimit 250\nMaxRequestWorkers 250\n"
        );
        let file = ground.run_folder().join("apache.conf");
        trial_box.write_file(&file, configuration.as_bytes(), 0o644).unwrap();
        let path = apache.path.display().to_string();
        let mut process = ground.process(&[&path, "-k", "start", "-f", &file.display().to_string()]);
        process.env.extend(apache.env.clone());
        trial_box.start(&process).unwrap();
        let name = apache.path.file_name().unwrap().to_str().unwrap();
        wait_until("200 children", || named(trial_box, name) > 200);
        // The original process is gone, and its children have no parent that tolok started.
        wait_until("it has become a daemon", || !trial_box.exits().unwrap().is_empty());
    });
}

#[test]
fn a_tree_of_shells_that_ignores_every_polite_signal_and_hides_in_other_sessions() {
    require!(can_have_everything(), "groups, namespaces and TUN devices need root");
    if !is_own_process() {
        let _turn = my_turn();
        return nothing_is_left_whoever_is_killed(tolok_testkit::test_name!());
    }
    be_the_lab(|trial_box, ground| {
        let script = "trap '' TERM INT HUP QUIT\n\
                      (setsid sh -c '(sleep 100001 &); sleep 100002' &)\n\
                      (setsid sh -c 'while :; do sleep 100003; done' &)\n\
                      while :; do sleep 100004; done";
        trial_box.start(&ground.process(&["sh", "-c", script])).unwrap();
        wait_until("all are there", || named(trial_box, "sleep") == 4);
    });
}

#[test]
fn node_under_the_daemon_of_pm2() {
    require!(can_have_everything(), "groups, namespaces and TUN devices need root");
    let (node, pm2) = (program("node"), program("pm2"));
    require!(node.is_some() && pm2.is_some(), "Node or pm2 are neither in the toolbox nor installed");
    let (node, pm2) = (node.unwrap(), pm2.unwrap().path.with_file_name("pm2"));
    require!(pm2.is_file(), "pm2 is not installed along with pm2-runtime");
    if !is_own_process() {
        let _turn = my_turn();
        return nothing_is_left_whoever_is_killed(tolok_testkit::test_name!());
    }
    be_the_lab(|trial_box, ground| {
        let server = ground.run_folder().join("server.js");
        let text = "require('http').createServer((_, answer) => answer.end('ok')).listen(80, '198.18.0.2')";
        trial_box.write_file(&server, text.as_bytes(), 0o644).unwrap();
        let [node, pm2, server] = [&node.path, &pm2, &server].map(|path| path.display().to_string());
        let mut process = ground.process(&[&node, &pm2, "start", &server, "-i", "2"]);
        let home = ground.run_folder().join("pm2").display().to_string();
        process.env.extend([("PM2_HOME".to_owned(), home.clone()), ("HOME".to_owned(), home)]);
        trial_box.start(&process).unwrap();
        wait_until("pm2 has become a daemon", || !trial_box.exits().unwrap().is_empty());
        let address = (trial_box.subject_address(), 80).into();
        crate::boxed::connect(trial_box, address);
    });
}

#[test]
fn a_database_whose_data_are_in_the_private_folder() {
    require!(can_have_everything(), "groups, namespaces and TUN devices need root");
    let mariadb = program("mariadb");
    require!(mariadb.is_some(), "MariaDB is neither in the toolbox nor installed");
    let mariadb = mariadb.unwrap();
    if !is_own_process() {
        let _turn = my_turn();
        return nothing_is_left_whoever_is_killed(tolok_testkit::test_name!());
    }
    be_the_lab(|trial_box, ground| {
        let folder = ground.run_folder().join("db");
        let commands = mariadb_command(&mariadb, &folder);
        let in_words = |argv: &[String]| argv.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        // As scripts start it: in the background of a shell that does something else.
        let script = format!(
            "mkdir {} && {} && {{ {} & }}; sleep 100000",
            folder.display(),
            in_words(&commands.install),
            in_words(&commands.server)
        );
        let mut process = ground.process(&["sh", "-c", &script]);
        process.env.extend(mariadb.env.clone());
        trial_box.start(&process).unwrap();
        let says_ready = || fs::read_to_string(&process.log).is_ok_and(|log| log.contains("ready for connections"));
        wait_until("the database is ready", says_ready);
        assert!(!commands.socket.exists(), "its files are in the box only");
        let mut greeting = [0; 5];
        let mut connection = UnixStream::connect(trial_box.path_inside(&commands.socket)).unwrap();
        connection.read_exact(&mut greeting).unwrap();
        assert_eq!(greeting[3..], [0, 10], "the first packet, in version 10 of the protocol");
    });
}
