//! A Slurm of several hosts on one machine.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::hosts::{self, Hosts, address, run};

/// The host of the controller, from which runs are started.
const CONTROLLER: &str = "ctl";
/// Longer than daemons, and nodes that were cut off, need for anything.
const PATIENCE: Duration = Duration::from_secs(120);

/// Files, hosts and daemons, all ended on drop.
pub struct Cluster {
    hosts: Hosts,
    munged: Child,
    folder: TempDir,
}

/// Why no cluster can run here.
pub fn lacks() -> Option<String> {
    hosts::lacks(&["slurmctld", "slurmd", "srun", "munged"])
}

impl Cluster {
    /// A controller and nodes `n1`, `n2`, …, idle.
    pub fn of(nodes: usize) -> Self {
        let folder = tempfile::Builder::new().prefix("tolok-cluster-").tempdir().unwrap();
        let names: Vec<String> = (1..=nodes).map(|number| format!("n{number}")).collect();
        write_files(folder.path(), &names);
        let munged = start_munged(folder.path());
        let all: Vec<&str> = [CONTROLLER].into_iter().chain(names.iter().map(String::as_str)).collect();
        let hosts = Hosts::connected(folder.path(), &all);
        let mut cluster = Self { hosts, munged, folder };
        all.into_iter().for_each(|name| cluster.boot(name));
        cluster.start_controller();
        cluster.wait_for(|cluster| cluster.idle() == nodes, "all nodes are idle");
        cluster
    }

    /// Runs a command on the controller's host, with the environment of `command`.
    pub fn submitter(&self, command: &Command) -> Command {
        let mut there = self.hosts.there(CONTROLLER, command);
        there.env("SLURM_CONF", self.conf());
        there
    }

    /// Cuts the power of a host.
    pub fn kill(&mut self, name: &str) {
        self.hosts.kill(name);
    }

    /// Pulls the cable of a host.
    pub fn cut(&self, name: &str) {
        self.hosts.cut(name);
    }

    /// Kills the controller.
    pub fn kill_controller(&self) {
        let pid = fs::read_to_string(self.folder.path().join("slurmctld.pid")).unwrap();
        // In the pid namespace of the host.
        run(self.on(CONTROLLER).args(["kill", "-9", pid.trim()]));
    }

    /// The queued and running jobs.
    pub fn jobs(&self) -> Vec<String> {
        let said = self.on(CONTROLLER).args(["squeue", "--noheader", "--format", "%j %T %N"]).output().unwrap();
        String::from_utf8_lossy(&said.stdout).lines().map(str::to_owned).collect()
    }

    /// Starts a host, and Slurm's daemon on it if it is a node.
    pub fn boot(&mut self, name: &str) {
        fs::create_dir_all(self.folder.path().join(format!("spool-{name}"))).unwrap();
        self.hosts.boot(name);
        if name != CONTROLLER {
            run(self.on(name).args(["slurmd", "-N", name]));
        }
    }

    /// Starts the controller.
    pub fn start_controller(&self) {
        run(self.on(CONTROLLER).arg("slurmctld"));
    }

    fn conf(&self) -> std::path::PathBuf {
        self.folder.path().join("slurm.conf")
    }

    fn on(&self, host: &str) -> Command {
        let mut command = self.hosts.on(host);
        command.env("SLURM_CONF", self.conf());
        command
    }

    fn idle(&self) -> usize {
        let said =
            self.on(CONTROLLER).args(["sinfo", "--noheader", "--states=idle", "--format", "%D"]).output().unwrap();
        String::from_utf8_lossy(&said.stdout).trim().parse().unwrap_or(0)
    }

    /// Waits until a condition holds.
    pub fn wait_for(&self, holds: impl Fn(&Self) -> bool, what: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}; jobs: {:?}", self.jobs());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.munged.kill();
        let _ = self.munged.wait();
    }
}

fn write_files(folder: &Path, nodes: &[String]) {
    let mut list = String::new();
    for (place, name) in (1..).zip(nodes) {
        list += &format!("NodeName={name} NodeAddr={} CPUs=2 RealMemory=1000 State=UNKNOWN\n", address(place));
    }
    let files = folder.display();
    // Every host sees all CPUs and memory of the machine: these tests are about control, not figures.
    let conf = format!(
        "ClusterName=tolok\nSlurmctldHost={CONTROLLER}({})\nSlurmUser=root\nSlurmdUser=root\n\
         AuthType=auth/munge\nAuthInfo=socket={files}/munge.socket\nCredType=cred/munge\nMpiDefault=none\n\
         SlurmctldPort=22817\nSlurmdPort=22818\nSrunPortRange=22900-22990\n\
         StateSaveLocation={files}/state\nSlurmdSpoolDir={files}/spool-%n\n\
         SlurmctldPidFile={files}/slurmctld.pid\nSlurmdPidFile={files}/slurmd-%n.pid\n\
         SlurmctldLogFile={files}/slurmctld.log\nSlurmdLogFile={files}/slurmd-%n.log\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSlurmdParameters=config_overrides\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n\
         SchedulerParameters=bf_interval=5,sched_interval=5,sched_min_interval=0\n\
         SlurmdTimeout=5\nSlurmctldTimeout=15\nInactiveLimit=0\nKillWait=5\nMessageTimeout=10\nReturnToService=2\n\
         JobRequeue=0\n{list}PartitionName=bench Nodes=ALL Default=YES OverSubscribe=EXCLUSIVE MaxTime=60 State=UP\n",
        address(0)
    );
    fs::write(folder.join("slurm.conf"), conf).unwrap();
    fs::create_dir(folder.join("state")).unwrap();
    fs::write(folder.join("munge.key"), [7; 128]).unwrap();
    run(Command::new("chmod").arg("400").arg(folder.join("munge.key")));
}

fn start_munged(folder: &Path) -> Child {
    let option = |name: &str, file: &str| format!("--{name}={}", folder.join(file).display());
    let mut command = Command::new("munged");
    command.args(["--foreground", "--force", &option("socket", "munge.socket"), &option("key-file", "munge.key")]);
    command.args([option("pid-file", "munged.pid"), option("seed-file", "munged.seed")]);
    command.args([option("log-file", "munged.log")]).stdin(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while !folder.join("munge.socket").exists() {
        assert!(Instant::now() < deadline, "munged does not listen");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}
