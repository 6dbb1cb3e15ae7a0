//! A pool that tolok builds from bare machines: from nothing to a report, and back to nothing.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use tolok_testkit::require;

use crate::hosts::{Hosts, lacks, run};
use crate::place::{PATIENCE, Place, Said, Started, assert_all_gone, assert_done, shared_turn, signal_all};

/// The user's own machine.
const DESK: &str = "desk";
/// The name and uid of an ordinary user on all machines.
const USER: (&str, u32) = ("lab", 54321);
const NEEDED: [&str; 6] = ["slurmctld", "slurmd", "srun", "munged", "sshd", "ssh-keygen"];

/// Machines `n1`, `n2`, … that run nothing but sshd.
struct Machines {
    hosts: Hosts,
    folder: TempDir,
}

impl Machines {
    fn of(names: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix("tolok-machines-").tempdir().unwrap();
        let files = folder.path().display();
        for key in ["key", "host-key"] {
            run(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(folder.path().join(key)));
        }
        let conf = format!(
            "HostKey {files}/host-key\nAuthorizedKeysFile {files}/key.pub\nStrictModes no\nUsePAM no\n\
             PermitRootLogin prohibit-password\nPidFile none\n"
        );
        fs::write(folder.path().join("sshd_config"), conf).unwrap();
        let accounts = add_user(folder.path());
        let mut hosts = Hosts::connected(folder.path(), &[&[DESK], names].concat());
        for name in [&[DESK], names].concat() {
            hosts.boot(name);
            accounts.iter().for_each(|(own, usual)| run(hosts.on(name).args(["mount", "--bind"]).arg(own).arg(usual)));
        }
        for name in names {
            run(hosts.on(name).args(["mkdir", "/run/sshd"]));
            run(hosts.on(name).args(["/usr/sbin/sshd", "-f"]).arg(folder.path().join("sshd_config")));
        }
        Self { hosts, folder }
    }

    /// The command that reaches them.
    fn ssh(&self) -> String {
        self.ssh_with("key")
    }

    fn ssh_with(&self, key: &str) -> String {
        let key = self.folder.path().join(key);
        let options = ["BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR"];
        let options: Vec<String> = options.iter().map(|option| format!(" -o {option}")).collect();
        format!("ssh -i {}{}", key.display(), options.concat())
    }

    /// Runs tolok on the desk.
    fn tolok(&self, place: &Place, arguments: &[&str]) -> Said {
        Said::of(self.hosts.there(DESK, &place.command(arguments)).output().unwrap())
    }

    /// Runs a verb of `tolok pool`.
    fn pool(&self, place: &Place, arguments: &[&str]) -> Said {
        self.tolok(place, &[&["pool"], arguments, &["--ssh", &self.ssh()]].concat())
    }

    /// Runs a verb of `tolok pool` as the ordinary user.
    fn pool_of_user(&self, place: &Place, arguments: &[&str]) -> Said {
        self.of_user(place, &[&["pool"], arguments, &["--ssh", &self.ssh_with("key-of-user")]].concat())
    }

    fn of_user(&self, place: &Place, arguments: &[&str]) -> Said {
        let (number, asked) = (USER.1.to_string(), place.command(arguments));
        let mut command = Command::new("setpriv");
        command.args(["--reuid", &number, "--regid", &number, "--clear-groups"]);
        command.arg(asked.get_program()).args(asked.get_args());
        place.settle(&mut command);
        command.env("XDG_CACHE_HOME", place.path().join("cache")).env("HOME", place.path());
        Said::of(self.hosts.there(DESK, &command).output().unwrap())
    }

    /// Processes of pools on these machines.
    fn daemons(&self) -> Vec<String> {
        let pids = self.hosts.processes().into_iter();
        let lines = pids.filter_map(|pid| fs::read(format!("/proc/{pid}/cmdline")).ok());
        let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
        lines.filter(|line| line.contains("/var/tmp/tolok-pool-")).collect()
    }

    fn assert_nothing_is_left(&self, names: &[&str]) {
        for name in names {
            assert_eq!(self.hosts.said(name, "ls -A /var/tmp"), "", "{name}");
        }
        assert_all_gone(|| self.daemons());
    }
}

/// Makes account files that include the ordinary user, with the paths that they replace. The user gets their own key.
fn add_user(folder: &Path) -> [(PathBuf, &'static str); 3] {
    let (name, number) = USER;
    let (key, own) = (folder.join("key"), folder.join("key-of-user"));
    fs::copy(&key, &own).unwrap();
    chown(&own, Some(number), Some(number)).unwrap();
    fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    let lines = [
        ("/etc/passwd", format!("{name}:x:{number}:{number}::/nonexistent:/bin/sh\n")),
        ("/etc/group", format!("{name}:x:{number}:\n")),
        ("/etc/shadow", format!("{name}:*:19000:0:99999:7:::\n")),
    ];
    lines.map(|(usual, line)| {
        let own = folder.join(Path::new(usual).file_name().unwrap());
        fs::write(&own, fs::read_to_string(usual).unwrap() + &line).unwrap();
        (own, usual)
    })
}

fn place() -> Place {
    let place = Place::new().with_faulty("one", "none").with_faulty("two", "none");
    place.with_study("['test/one', 'test/two']", 2, "1s")
}

#[test]
fn bare_machines_become_a_pool_run_a_study_and_are_bare_again() {
    let lack = lacks(&NEEDED);
    require!(lack.is_none(), "{}", lack.unwrap_or_default());
    let _turn = shared_turn();
    let (place, machines) = (place(), Machines::of(&["n1", "n2"]));
    let said = machines.pool(&place, &["init", "root@n1", "root@n2"]);
    assert_eq!(said.code, Some(0), "{}", said.progress);
    let file = place.path().join("hosts.toml");
    let written = fs::read_to_string(&file).unwrap();
    assert!(
        written.contains("ssh = \"root@n2\"") && said.progress.contains("2 hosts with"),
        "{written}{}",
        said.progress
    );
    let again = machines.pool(&place, &["init", "root@n1"]);
    assert!(again.code == Some(2) && again.progress.contains("is there already; end that pool"), "{}", again.progress);

    let said = machines.tolok(&place, &["run", "try", "--on", "hosts.toml", "--max-jobs", "2"]);
    assert_done(said.code, &said.progress);
    let folder = place.run_folder();
    assert!(folder.join("report.html").is_file() && place.records().len() == 4);
    let nodes: BTreeSet<String> =
        fs::read_dir(folder.join("blocks")).unwrap().map(|it| node_of(&it.unwrap().path())).collect();
    assert!(nodes.iter().all(|node| ["n1", "n2"].contains(&node.as_str())), "{nodes:?}");
    let run: Value = serde_json::from_str(&fs::read_to_string(folder.join("run.json")).unwrap()).unwrap();
    assert_eq!(run["pool"]["hosts"], file.to_str().unwrap());
    assert!(run["command"].as_str().unwrap().contains(&format!("--on {}", file.display())), "{run}");

    machines.hosts.said("n1", "kill $(cat /var/tmp/tolok-pool-*/slurmd.pid)");
    let down = settled(&machines, &place, 5);
    assert!(down.contains("slurmd does not run there; start it: ssh root@n1 sh /var/tmp/tolok-pool-"), "{down}");
    let start = down.lines().find_map(|line| line.split_once("start it: ssh root@n1 ")).unwrap().1.to_owned();
    let there = format!("{} root@n1 {start}", machines.ssh());
    run_there(&machines, &there);
    let up = settled(&machines, &place, 0);
    assert_eq!(up.lines().count(), 2, "{up}");
    let said = machines.pool(&place, &["status", "--format", "json"]);
    let printed: Value = serde_json::from_str(&said.output).unwrap();
    let names: Vec<_> =
        printed["nodes"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap()).collect();
    assert_eq!((names, said.code), (vec!["n1", "n2"], Some(0)), "{printed}");

    let said = machines.pool(&place, &["down"]);
    assert_eq!(said.code, Some(0), "{}", said.progress);
    assert!(!file.exists());
    machines.assert_nothing_is_left(&[DESK, "n1", "n2"]);
    assert_all_gone(|| place.processes());
    let said = machines.tolok(&place, &["run", "try", "--on", "hosts.toml"]);
    assert!(said.code == Some(2) && said.progress.contains("hosts.toml: No such file"), "{}", said.progress);
}

#[test]
fn an_ordinary_user_needs_no_root_for_a_pool() {
    let lack = lacks(&NEEDED);
    require!(lack.is_none(), "{}", lack.unwrap_or_default());
    let _turn = shared_turn();
    let place = Place::for_every_user().with_faulty("one", "none").with_faulty("two", "none");
    let (place, machines) = (place.with_study("['test/one', 'test/two']", 2, "1s"), Machines::of(&["n1", "n2"]));
    chown(place.path(), Some(USER.1), Some(USER.1)).unwrap();
    let said = machines.pool_of_user(&place, &["init", "lab@n1", "lab@n2"]);
    assert_eq!(said.code, Some(0), "{}", said.progress);
    let said = machines.of_user(&place, &["run", "try", "--on", "hosts.toml"]);
    assert_done(said.code, &said.progress);
    assert_eq!(place.records().len(), 4, "{}", said.progress);
    let said = machines.pool_of_user(&place, &["down"]);
    assert_eq!(said.code, Some(0), "{}", said.progress);
    machines.assert_nothing_is_left(&[DESK, "n1", "n2"]);
    // The login belongs to another account.
    let said = machines.pool_of_user(&place, &["init", "root@n1"]);
    let sentence = "root@n1: ssh logs in as root (0), and you are lab (54321) here";
    assert!(said.code == Some(5) && said.progress.contains(sentence), "{}", said.progress);
}

/// The output of `status` once it exits with this code.
fn settled(machines: &Machines, place: &Place, code: i32) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let said = machines.pool(place, &["status"]);
        if said.code == Some(code) {
            return said.output;
        }
        assert!(Instant::now() < deadline, "{:?}: {}{}", said.code, said.output, said.progress);
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn run_there(machines: &Machines, script: &str) {
    run(machines.hosts.on(DESK).args(["sh", "-c", script]));
}

fn node_of(block: &Path) -> String {
    let record: Value = serde_json::from_str(&fs::read_to_string(block.join("block.json")).unwrap()).unwrap();
    record["node"]["name"].as_str().unwrap().to_owned()
}

#[test]
fn a_pool_that_cannot_start_leaves_nothing_and_names_the_machine_at_fault() {
    let lack = lacks(&NEEDED);
    require!(lack.is_none(), "{}", lack.unwrap_or_default());
    let _turn = shared_turn();
    let (place, machines) = (place(), Machines::of(&["n1", "n2"]));
    let refused = |arguments: &[&str]| {
        let said = machines.pool(&place, &[&["init"], arguments].concat());
        assert_eq!(said.code, Some(5), "{}", said.progress);
        machines.assert_nothing_is_left(&[DESK, "n1", "n2"]);
        assert!(!place.path().join("hosts.toml").exists());
        said.progress
    };
    let said = refused(&["root@n1", "10.231.0.11"]);
    assert!(said.contains("root@n1 and 10.231.0.11 call themselves `n1`"), "{said}");
    // Each host has its own /var/tmp.
    let said = refused(&["root@n1", "--runs", "/var/tmp/runs"]);
    assert!(said.contains("root@n1: a file that was written here in /var/tmp is not there"), "{said}");
    machines.hosts.said("n2", "mount -o remount,ro /var/tmp");
    let said = refused(&["root@n1", "root@n2"]);
    assert!(said.contains("root@n2: mkdir: cannot create directory"), "{said}");
    // The host trusts no other key.
    machines.hosts.said("n2", "mount -o remount,rw /var/tmp");
    let said = machines.tolok(
        &place,
        &[
            "pool",
            "init",
            "root@n1",
            "--ssh",
            "ssh -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null",
        ],
    );
    assert!(said.code == Some(5) && said.progress.contains("ssh-copy-id root@n1"), "{}", said.progress);
}

#[test]
fn a_pool_at_work_ends_by_force_or_when_its_controller_is_gone_and_leaves_nothing() {
    let lack = lacks(&NEEDED);
    require!(lack.is_none(), "{}", lack.unwrap_or_default());
    let _turn = shared_turn();
    let place = Place::new().with_faulty("one", "none").with_faulty("two", "none");
    let place = place.with_study("['test/one', 'test/two']", 20, "1500ms");
    let machines = Machines::of(&["n1"]);
    let command = place.command(&["run", "try", "--on", "hosts.toml"]);
    let line = format!("{} run try", command.get_program().to_string_lossy());
    for by_force in [true, false] {
        assert_eq!(machines.pool(&place, &["init", "root@n1"]).code, Some(0));
        let mut run = Started::of(machines.hosts.there(DESK, &command));
        run.wait_for("began on n1");
        let said = machines.pool(&place, &["down"]);
        assert!(said.code == Some(5) && said.progress.contains("end their runs, or use --force"), "{}", said.progress);
        if by_force {
            assert_eq!(machines.pool(&place, &["down", "--force"]).code, Some(0));
        } else {
            machines.hosts.said(DESK, "kill -9 $(cat /var/tmp/tolok-pool-*/slurmctld.pid)");
            assert_eq!(machines.pool(&place, &["down"]).code, Some(0));
        }
        machines.assert_nothing_is_left(&[DESK, "n1"]);
        signal_all(&place, &line, Signal::INT);
        let (said, code) = run.finish();
        assert_ne!(code, Some(0), "{said}");
        assert_all_gone(|| place.processes());
    }
}

#[test]
fn ctrl_c_while_nodes_start_undoes_everything() {
    let lack = lacks(&NEEDED);
    require!(lack.is_none(), "{}", lack.unwrap_or_default());
    let _turn = shared_turn();
    let (place, machines) = (place(), Machines::of(&["n1"]));
    // slurmd never comes up.
    let without = format!("sed 's/^DAEMON=slurmd$/DAEMON=true/' | {} \"$@\"", machines.ssh());
    fakes(&place.path().join("bin"), &[("ssh", &without)]);
    let ssh = place.path().join("bin/ssh");
    let command = place.command(&["pool", "init", "root@n1", "--ssh", ssh.to_str().unwrap()]);
    let mut init = Started::of(machines.hosts.there(DESK, &command));
    init.wait_for("Starting slurmctld here, and slurmd on 1 host.");
    let line = format!("{} pool init root@n1 --ssh {}", command.get_program().to_string_lossy(), ssh.display());
    signal_all(&place, &line, Signal::INT);
    let (said, code) = init.finish();
    assert!(code == Some(130) && said.contains("error: stopped"), "{code:?}: {said}");
    assert!(!place.path().join("hosts.toml").exists());
    machines.assert_nothing_is_left(&[DESK, "n1"]);
}

/// Writes scripts with these names into a folder.
fn fakes(folder: &Path, programs: &[(&str, &str)]) {
    fs::create_dir_all(folder).unwrap();
    for (name, script) in programs {
        let file = folder.join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn all_problems_of_machines_are_reported_at_once_before_anything_is_started() {
    let place = place();
    let slurmd = |version: &str, cpus: u32| {
        format!("[ \"$1\" = -V ] && echo slurm-wlm {version} || echo NodeName=x CPUs={cpus} Boards=1 RealMemory=1000")
    };
    let at = |name: &str| place.path().join("fakes").join(name);
    let all = |name: &str, slurmd: &str| {
        let begins = format!("echo {name}.lab.example");
        fakes(&at(name), &[("uname", &begins), ("slurmd", slurmd), ("munged", "exit 1"), ("scancel", "exit 1")]);
    };
    fakes(
        &at("desk"),
        &[("slurmctld", "echo slurm-wlm 22.05.8"), ("munged", "exit 1"), ("srun", ""), ("uname", "echo desk")],
    );
    all("n1", &slurmd("22.05.2", 2));
    all("n2", &slurmd("24.11.5", 2));
    all("n3", &slurmd("22.05.8", 4));
    all("n4", &slurmd("22.05.8", 2));
    fakes(&at("n4"), &[("date", "echo 1000")]);
    let ssh = format!(
        "[ $1 = n5 ] && echo 'ssh: connect to host n5 port 22: Connection refused' >&2 && exit 255\n\
         PATH={}/$1:$PATH; shift; exec \"$@\"",
        place.path().join("fakes").display()
    );
    fakes(&at("bin"), &[("ssh", &ssh)]);
    let init = |hosts: &[&str]| {
        let ssh = at("bin").join("ssh");
        let mut command = place.command(&[&["pool", "init", "--ssh", ssh.to_str().unwrap()], hosts].concat());
        let path = format!("{}:{}", at("desk").display(), std::env::var("PATH").unwrap());
        let said = Said::of(command.env("PATH", path).output().unwrap());
        assert_eq!(said.code, Some(5), "{}", said.progress);
        assert!(!place.path().join("hosts.toml").exists());
        said.progress
    };
    let said = init(&["n1", "n2", "n3", "n4"]);
    for wanted in [
        "n2: it has slurm-wlm 24.11.5, and this machine slurm-wlm 22.05.8",
        "n3: it has 4 CPUs",
        "allow the difference with --mixed-hardware",
        "n4: its clock is",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert!(!said.contains("n1: "), "{said}");
    let said = init(&["n1", "n5"]);
    assert!(said.contains("n5: ssh does not reach it") && said.contains("Connection refused"), "{said}");
}
