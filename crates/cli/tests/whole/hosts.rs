//! Hosts on one machine: each has network, mount, UTS and pid namespaces, with a cable to a switch. They share all files except
//! those of `/var/tmp` and `/run`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process};

/// The last number of the first host's address.
const FIRST: u32 = 10;

/// Namespaces, which end on drop.
pub struct Hosts {
    /// Prefix of the names of its network namespaces.
    tag: String,
    /// The hosts file with all names.
    names: PathBuf,
    hosts: Vec<Host>,
}

struct Host {
    name: String,
    /// `unshare`; when it ends, everything on the host is killed.
    keeper: Child,
    /// The first process of the host.
    init: u32,
}

/// Why there can be no hosts with these programs.
pub fn lacks(programs: &[&str]) -> Option<String> {
    let is_there = |program: &str| {
        let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
        folders.iter().any(|folder| Path::new(folder).join(program).exists())
    };
    if !rustix::process::geteuid().is_root() {
        return Some("only root can make hosts of namespaces".to_owned());
    }
    let needed = [&["ip", "nsenter", "unshare"], programs].concat();
    needed.into_iter().find(|program| !is_there(program)).map(|program| format!("there is no {program}"))
}

/// The address of the host with this index.
pub fn address(place: usize) -> String {
    format!("10.231.0.{}", FIRST + place as u32)
}

impl Hosts {
    /// Connects hosts with these names, without booting any.
    pub fn connected(folder: &Path, names: &[&str]) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let tag = format!("tolok-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let lines: String =
            names.iter().enumerate().map(|(place, name)| format!("{} {name}\n", address(place))).collect();
        let file = folder.join("hosts");
        fs::write(&file, format!("127.0.0.1 localhost\n{lines}")).unwrap();
        let made = Self { tag, names: file, hosts: Vec::new() };
        made.make_switch();
        names.iter().enumerate().for_each(|(place, name)| made.connect(name, &address(place)));
        made
    }

    /// Starts a host.
    pub fn boot(&mut self, name: &str) {
        let begin = format!(
            "hostname {name} && mount --bind {} /etc/hosts && mount -t tmpfs tmpfs /var/tmp && mount -t tmpfs -o mode=755 tmpfs /run \
             && echo ready && exec sleep infinity",
            self.names.display()
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
    }

    /// A command on a host, in its root folder.
    pub fn on(&self, host: &str) -> Command {
        let host = self.hosts.iter().find(|known| known.name == host).unwrap();
        let mut command = Command::new("nsenter");
        command.args(["--net", "--mount", "--uts", "--pid", &format!("--target={}", host.init), "--wdns=."]);
        command.stdin(Stdio::null());
        command
    }

    /// Like [`Self::on`], with the program, environment and folder of another command.
    pub fn there(&self, host: &str, command: &Command) -> Command {
        let mut there = self.on(host);
        // A folder resolved before the mounts are entered would be the machine's.
        let folder = command.get_current_dir().unwrap();
        there.args(["env", "-C"]).arg(folder).arg(command.get_program()).args(command.get_args());
        command.get_envs().filter_map(|(name, value)| Some((name, value?))).for_each(|(name, value)| {
            there.env(name, value);
        });
        there
    }

    /// The output of a script on a host.
    pub fn said(&self, host: &str, script: &str) -> String {
        let said = self.on(host).args(["sh", "-c", script]).output().unwrap();
        String::from_utf8_lossy(&said.stdout).into_owned()
    }

    /// All processes on the hosts: those in the network namespace of one of them.
    pub fn processes(&self) -> Vec<u32> {
        let network = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
        let own: Vec<PathBuf> = self.hosts.iter().filter_map(|host| network(host.init)).collect();
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|pid| network(*pid).is_some_and(|network| own.contains(&network))).collect()
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

    fn name(&self, host: &str) -> String {
        format!("{}-{host}", self.tag)
    }

    fn make_switch(&self) {
        let switch = self.name("sw");
        run(Command::new("ip").args(["netns", "add", &switch]));
        run(Command::new("ip").args(["-n", &switch, "link", "add", "br0", "type", "bridge"]));
        run(Command::new("ip").args(["-n", &switch, "link", "set", "br0", "up"]));
    }

    fn connect(&self, host: &str, address: &str) {
        let (switch, own, plug) = (self.name("sw"), self.name(host), format!("v-{host}"));
        run(Command::new("ip").args(["netns", "add", &own]));
        run(Command::new("ip").args(["-n", &own, "link", "set", "lo", "up"]));
        let cable = ["link", "add", &plug, "netns", &switch, "type", "veth", "peer", "name", "eth0", "netns", &own];
        run(Command::new("ip").args(cable));
        run(Command::new("ip").args(["-n", &switch, "link", "set", &plug, "master", "br0", "up"]));
        run(Command::new("ip").args(["-n", &own, "addr", "add", &format!("{address}/24"), "dev", "eth0"]));
        run(Command::new("ip").args(["-n", &own, "link", "set", "eth0", "up"]));
    }
}

impl Host {
    fn end(mut self) {
        let _ = kill_process(Pid::from_raw(self.init as i32).unwrap(), Signal::KILL);
        let _ = self.keeper.wait();
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.hosts.drain(..).for_each(Host::end);
        let listed = Command::new("ip").args(["netns", "list"]).output().unwrap();
        let own = format!("{}-", self.tag);
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        for name in listed.lines().filter_map(|line| line.split(' ').next()).filter(|name| name.starts_with(&own)) {
            run(Command::new("ip").args(["netns", "del", name]));
        }
    }
}

/// Runs a command that must succeed.
pub fn run(command: &mut Command) {
    let said = command.output().unwrap();
    assert!(said.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said.stderr));
}
