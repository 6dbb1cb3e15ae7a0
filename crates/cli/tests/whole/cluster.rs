//! A Slurm of several hosts on one machine. A host is a network, mount, name and process namespace; all share the files.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The host of the controller, from which runs are started.
const CONTROLLER: &str = "ctl";
/// Longer than daemons, and nodes that were cut off, take for anything.
const PATIENCE: Duration = Duration::from_secs(120);

/// Files, hosts and daemons, which end with it.
pub struct Cluster {
    folder: TempDir,
    /// Begins the names of its network namespaces.
    tag: String,
    munged: Child,
    hosts: Vec<Host>,
}

struct Host {
    name: String,
    /// `unshare`, whose end kills all that runs on the host.
    keeper: Child,
    /// The first process of the host.
    init: u32,
}

/// Why there can be no cluster here.
pub fn lacks() -> Option<String> {
    let is_there = |program: &str| {
        let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
        folders.iter().any(|folder| Path::new(folder).join(program).exists())
    };
    if !rustix::process::geteuid().is_root() {
        return Some("only root can make hosts of namespaces".to_owned());
    }
    let needed = ["slurmctld", "slurmd", "srun", "munged", "ip", "nsenter", "unshare"];
    needed.into_iter().find(|program| !is_there(program)).map(|program| format!("there is no {program}"))
}

impl Cluster {
    /// A controller and nodes `n1`, `n2`, …, idle.
    pub fn of(nodes: usize) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let tag = format!("tolok-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = tempfile::Builder::new().prefix("tolok-cluster-").tempdir().unwrap();
        let names: Vec<String> = (1..=nodes).map(|number| format!("n{number}")).collect();
        write_files(folder.path(), &names);
        let munged = start_munged(folder.path());
        let mut cluster = Self { folder, tag, munged, hosts: Vec::new() };
        cluster.make_switch();
        for (number, name) in (10..).zip([CONTROLLER].into_iter().chain(names.iter().map(String::as_str))) {
            cluster.connect(name, number);
            cluster.boot(name);
        }
        cluster.start_controller();
        cluster.wait_for(|cluster| cluster.idle() == nodes, "all nodes are idle");
        cluster
    }

    /// A command on the host of the controller, with the environment of another one.
    pub fn submitter(&self, command: &Command) -> Command {
        let mut there = self.on(CONTROLLER);
        there.arg(command.get_program()).args(command.get_args());
        command.get_envs().filter_map(|(name, value)| Some((name, value?))).for_each(|(name, value)| {
            there.env(name, value);
        });
        there.current_dir(command.get_current_dir().unwrap()).stdin(Stdio::null());
        there
    }

    /// Cuts the power of a host.
    pub fn kill(&mut self, name: &str) {
        let place = self.hosts.iter().position(|host| host.name == name).unwrap();
        self.hosts.remove(place).end();
    }

    /// Pulls the cable of a host.
    pub fn cut(&self, name: &str) {
        run(Command::new("ip").args(["-n", &self.name("sw"), "link", "set", &format!("v-{name}"), "down"]));
    }

    /// Kills the controller.
    pub fn kill_controller(&self) {
        let pid = fs::read_to_string(self.folder.path().join("slurmctld.pid")).unwrap();
        // As the host counts it.
        run(self.on(CONTROLLER).args(["kill", "-9", pid.trim()]));
    }

    /// The jobs that are in the queue or at work.
    pub fn jobs(&self) -> Vec<String> {
        let said = self.on(CONTROLLER).args(["squeue", "--noheader", "--format", "%j %T %N"]).output().unwrap();
        String::from_utf8_lossy(&said.stdout).lines().map(str::to_owned).collect()
    }

    fn name(&self, host: &str) -> String {
        format!("{}-{host}", self.tag)
    }

    fn make_switch(&self) {
        let switch = self.name("sw");
        run(Command::new("ip").args(["netns", "add", &switch]));
        run(Command::new("ip").args(["-n", &switch, "link", "add", "br0", "type", "bridge"]));
        run(Command::new("ip").args(["-n", &switch, "link", "set", "br0", "up"]));
    }

    fn connect(&self, host: &str, number: u32) {
        let (switch, own, plug) = (self.name("sw"), self.name(host), format!("v-{host}"));
        run(Command::new("ip").args(["netns", "add", &own]));
        run(Command::new("ip").args(["-n", &own, "link", "set", "lo", "up"]));
        let cable = ["link", "add", &plug, "netns", &switch, "type", "veth", "peer", "name", "eth0", "netns", &own];
        run(Command::new("ip").args(cable));
        run(Command::new("ip").args(["-n", &switch, "link", "set", &plug, "master", "br0", "up"]));
        run(Command::new("ip").args(["-n", &own, "addr", "add", &format!("{}/24", address(number)), "dev", "eth0"]));
        run(Command::new("ip").args(["-n", &own, "link", "set", "eth0", "up"]));
    }

    /// Starts a host, and Slurm's daemon on it if it is a node.
    pub fn boot(&mut self, name: &str) {
        let folder = self.folder.path();
        fs::create_dir_all(folder.join(format!("spool-{name}"))).unwrap();
        let hosts = folder.join("hosts");
        let begin = format!(
            "hostname {name} && mount --bind {} /etc/hosts && echo ready && exec sleep infinity",
            hosts.display()
        );
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.name(name)));
        command.args(["unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]);
        command.args(["--propagation", "private", "sh", "-c", &begin]).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut keeper = command.spawn().unwrap();
        let mut said = String::new();
        BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "ready\n");
        let pid = keeper.id();
        let init = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap().trim().parse().unwrap();
        self.hosts.push(Host { name: name.to_owned(), keeper, init });
        if name != CONTROLLER {
            run(self.on(name).args(["slurmd", "-N", name]));
        }
    }

    /// Starts it.
    pub fn start_controller(&self) {
        run(self.on(CONTROLLER).arg("slurmctld"));
    }

    fn on(&self, host: &str) -> Command {
        let host = self.hosts.iter().find(|known| known.name == host).unwrap();
        let mut command = Command::new("nsenter");
        command.args(["--net", "--mount", "--uts", "--pid", &format!("--target={}", host.init), "--wdns=."]);
        command.env("SLURM_CONF", self.folder.path().join("slurm.conf")).stdin(Stdio::null());
        command
    }

    fn idle(&self) -> usize {
        let said =
            self.on(CONTROLLER).args(["sinfo", "--noheader", "--states=idle", "--format", "%D"]).output().unwrap();
        String::from_utf8_lossy(&said.stdout).trim().parse().unwrap_or(0)
    }

    /// Waits until something holds.
    pub fn wait_for(&self, holds: impl Fn(&Self) -> bool, what: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}; jobs: {:?}", self.jobs());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Host {
    fn end(mut self) {
        let _ = kill_process(Pid::from_raw(self.init as i32).unwrap(), Signal::KILL);
        let _ = self.keeper.wait();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.hosts.drain(..).for_each(Host::end);
        let _ = self.munged.kill();
        let _ = self.munged.wait();
        let listed = Command::new("ip").args(["netns", "list"]).output().unwrap();
        let own = format!("{}-", self.tag);
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        for name in listed.lines().filter_map(|line| line.split(' ').next()).filter(|name| name.starts_with(&own)) {
            run(Command::new("ip").args(["netns", "del", name]));
        }
    }
}

fn address(number: u32) -> String {
    format!("10.231.0.{number}")
}

fn write_files(folder: &Path, nodes: &[String]) {
    let mut hosts = format!("127.0.0.1 localhost\n{} {CONTROLLER}\n", address(10));
    let mut list = String::new();
    for (number, name) in (11..).zip(nodes) {
        hosts += &format!("{} {name}\n", address(number));
        list += &format!("NodeName={name} NodeAddr={} CPUs=2 RealMemory=1000 State=UNKNOWN\n", address(number));
    }
    let files = folder.display();
    // Every host sees all CPUs and all memory of the machine: what is tried here is control, and no figure.
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
        address(10)
    );
    fs::write(folder.join("hosts"), hosts).unwrap();
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

fn run(command: &mut Command) {
    let said = command.output().unwrap();
    assert!(said.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said.stderr));
}
