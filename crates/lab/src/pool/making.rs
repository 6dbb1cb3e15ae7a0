//! Creates and ends a pool. If anything fails, the steps taken so far are undone.

use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use rustix::rand::{GetRandomFlags, getrandom};
use tempfile::NamedTempFile;
use tolok_model::figures::counted;

use super::PoolError;
use super::client::client;
use super::conf::{Daemon, Files, stopper};
use super::hosts_file::{Controller, Host, HostsFile, is_destination};
use super::probe::{Asked, Facts, OF_CONTROLLER, OF_NODE, Questions, problems};
use super::remote::{NotRun, Ssh};
use super::status::{complaints, sinfo};

/// Nodes must be idle within this time after their start.
const IDLE_LIMIT: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(200);
/// Exit code of the installer script if the folder exists already.
const IS_THERE: i32 = 3;
const THIS: &str = "this machine";

/// What the user requested.
pub struct NewPool<'a> {
    /// Destinations for ssh.
    pub hosts: &'a [String],
    /// The file to write.
    pub file: &'a Path,
    pub ssh: &'a Ssh,
    /// The port of slurmctld. slurmd has the next one.
    pub port: u16,
    pub mixed_hardware: bool,
    /// This program.
    pub tolok: &'a Path,
    /// Folders that all machines must share. They need not exist yet.
    pub shared: &'a [PathBuf],
}

impl NewPool<'_> {
    /// Creates a pool whose nodes are idle. `tell` reports progress, and `goes_on` returns whether the user still wants it.
    pub fn make(&self, goes_on: &dyn Fn() -> bool, tell: &mut dyn FnMut(String)) -> Result<HostsFile, PoolError> {
        if self.file.exists() {
            return Err(PoolError::IsThere(self.file.to_owned()));
        }
        if let Some(word) = self.hosts.iter().find(|host| !is_destination(host)) {
            return Err(PoolError::Hosts(vec![format!("{word}: that is no host")]));
        }
        tell(format!("Looking at {}.", hosts_in_words(self.hosts.len())));
        let shared = self.shared_files()?;
        let words: Vec<(PathBuf, String)> =
            shared.iter().map(|(file, word)| (file.path().to_owned(), word.clone())).collect();
        let questions = Questions { port: self.port, tolok: self.tolok, shared: &words };
        let machines = self.ask(&questions)?;
        let found = problems(&machines, &questions, self.mixed_hardware);
        if !found.is_empty() {
            return Err(PoolError::Hosts(found));
        }
        let (pool, files) = self.describe(&machines)?;
        if !goes_on() {
            return Err(PoolError::Stopped);
        }
        // Before anything is started, so that `pool down` can end it even if this process is killed.
        pool.write(self.file)?;
        let made = self.start(&pool, &files, goes_on, tell);
        if let Err(error) = made {
            let is_undone = end_everywhere(&pool, self.ssh).is_empty() && fs::remove_file(self.file).is_ok();
            let half = |error| PoolError::HalfUndone(Box::new(error), self.file.to_owned());
            return Err(if is_undone { error } else { half(error) });
        }
        let hardware = machines.get(1).map(|host| host.facts.hardware()).unwrap_or_default();
        tell(format!(
            "{} with {hardware} {} idle.",
            hosts_in_words(pool.host.len()),
            if pool.host.len() == 1 { "is" } else { "are" }
        ));
        Ok(pool)
    }

    /// Files that every machine must see, each with a word of its own.
    fn shared_files(&self) -> Result<Vec<(NamedTempFile, String)>, PoolError> {
        let mut files: Vec<(NamedTempFile, String)> = Vec::new();
        for folder in self.shared {
            let Some(there) = folder.ancestors().find(|folder| folder.is_dir()) else { continue };
            if files.iter().any(|(file, _)| file.path().parent() == Some(there)) {
                continue;
            }
            let failed =
                |error| PoolError::Hosts(vec![format!("{THIS}: cannot write in {}: {error}", there.display())]);
            let mut file = tempfile::Builder::new().prefix(".tolok-shared-").tempfile_in(there).map_err(failed)?;
            let word = random(16)?;
            writeln!(file, "{word}").map_err(failed)?;
            file.as_file().sync_all().map_err(failed)?;
            files.push((file, word));
        }
        Ok(files)
    }

    /// Probes all machines at once, this one first in the result.
    fn ask(&self, questions: &Questions<'_>) -> Result<Vec<Asked>, PoolError> {
        let ask = |host: Option<&str>| {
            let script = match host {
                Some(_) => questions.script(OF_NODE, questions.port + 1),
                None => questions.script(OF_CONTROLLER, questions.port),
            };
            let before = now();
            let said = self.ssh.run(host, &script)?;
            let who = host.unwrap_or(THIS).to_owned();
            Ok::<Asked, NotRun>(Asked { who, facts: Facts::parse(&said), between: (before, now()) })
        };
        let places: Vec<Option<&str>> =
            [None].into_iter().chain(self.hosts.iter().map(|host| Some(host.as_str()))).collect();
        let (mut found, mut failed) = (Vec::new(), Vec::new());
        for (host, asked) in places.iter().zip(on_all(&places, |host| ask(*host))) {
            match asked {
                Ok(asked) => found.push(asked),
                Err(why) => failed.push(why.words(host.unwrap_or(THIS))),
            }
        }
        if failed.is_empty() { Ok(found) } else { Err(PoolError::Hosts(failed)) }
    }

    /// The pool that these machines make.
    fn describe(&self, machines: &[Asked]) -> Result<(HostsFile, Files), PoolError> {
        let mut hosts = Vec::new();
        for (ssh, asked) in self.hosts.iter().zip(&machines[1..]) {
            let address = address(ssh, &asked.facts).ok_or_else(|| {
                PoolError::Hosts(vec![format!(
                    "{ssh}: it has no IPv4 address; name it by one, or by a name that has one"
                )])
            })?;
            hosts.push(Host { name: asked.facts.name.clone(), ssh: ssh.clone(), address: address.to_string() });
        }
        let own = own_address(&hosts[0].address).map_err(|error| {
            PoolError::Hosts(vec![format!("{THIS}: it has no way to {}: {error}", hosts[0].address)])
        })?;
        let here = &machines[0].facts;
        let controller = Controller { name: here.name.clone(), address: own.to_string(), port: self.port };
        let pool = HostsFile::new(random(8)?, controller, hosts);
        let nodes: Vec<String> = machines[1..].iter().map(|asked| asked.facts.node.clone()).collect();
        let version =
            here.version().ok_or_else(|| PoolError::Hosts(vec![format!("{THIS}: slurmctld has no version")]))?;
        let files = Files::of(&pool, &nodes, &here.user, version, random(128)? + "\n");
        Ok((pool, files))
    }

    fn start(
        &self,
        pool: &HostsFile,
        files: &Files,
        goes_on: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(String),
    ) -> Result<(), PoolError> {
        tell(format!("Starting slurmctld here, and slurmd on {}.", hosts_in_words(pool.host.len())));
        let install = |(host, daemon): &(Option<&str>, Daemon)| {
            self.ssh
                .run(*host, &files.installer(&pool.folder(), *daemon))
                .map_err(|why| not_installed(*host, pool, &why))
        };
        let nodes = pool.host.iter().map(|host| (Some(host.ssh.as_str()), Daemon::Node));
        let places: Vec<(Option<&str>, Daemon)> = [(None, Daemon::Controller)].into_iter().chain(nodes).collect();
        let failed: Vec<String> = on_all(&places, install).into_iter().filter_map(Result::err).collect();
        if !failed.is_empty() {
            return Err(PoolError::Hosts(failed));
        }
        let deadline = Instant::now() + IDLE_LIMIT;
        loop {
            if !goes_on() {
                return Err(PoolError::Stopped);
            }
            let states = sinfo(&pool.slurm_conf(), "%N %T");
            let idle = states.as_deref().unwrap_or_default().lines().filter(|line| line.ends_with(" idle")).count();
            if idle == pool.host.len() {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(PoolError::Hosts(complaints(pool, self.ssh, states.as_deref())));
            }
            sleep(LOOK);
        }
    }
}

/// Ends a pool: its daemons, its folders, and then its file. If jobs are active, only with `force`.
pub fn end(file: &Path, ssh: &Ssh, force: bool) -> Result<HostsFile, PoolError> {
    let pool = HostsFile::read(file)?;
    let jobs = jobs(&pool);
    if !jobs.is_empty() && !force {
        return Err(PoolError::Busy(jobs.len()));
    }
    if !jobs.is_empty() {
        let mut cancel = client("scancel", Some(&pool.slurm_conf()));
        // A job that survives this ends with the daemons.
        let _ = cancel.args(jobs).stderr(Stdio::null()).status();
    }
    let left = end_everywhere(&pool, ssh);
    if !left.is_empty() {
        return Err(PoolError::NotEnded(left));
    }
    fs::remove_file(file).map_err(|error| PoolError::WrongFile { path: file.to_owned(), why: error.to_string() })?;
    Ok(pool)
}

/// Queued and running jobs. Empty if the controller is gone.
fn jobs(pool: &HostsFile) -> Vec<String> {
    if !pool.slurm_conf().exists() {
        return Vec::new();
    }
    let mut squeue = client("squeue", Some(&pool.slurm_conf()));
    let said = squeue.args(["--noheader", "--all", "--format", "%A"]).stdin(Stdio::null()).output();
    let said = said.map(|said| said.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).split_whitespace().map(str::to_owned).collect()
}

/// Stops the daemons of all machines and removes their folders. Returns where that failed, and why.
fn end_everywhere(pool: &HostsFile, ssh: &Ssh) -> Vec<String> {
    let script = stopper(&pool.folder());
    let places: Vec<Option<&str>> = pool.host.iter().map(|host| Some(host.ssh.as_str())).chain([None]).collect();
    let end = |host: &Option<&str>| ssh.run(*host, &script).map_err(|why| why.words(host.unwrap_or(THIS)));
    on_all(&places, end).into_iter().filter_map(Result::err).collect()
}

fn not_installed(host: Option<&str>, pool: &HostsFile, why: &NotRun) -> String {
    let (who, folder) = (host.unwrap_or(THIS), pool.folder());
    match why.code {
        Some(IS_THERE) => format!(
            "{who}: {} is there already. A host must be named once, not be this machine, and have a /var/tmp of its own",
            folder.display()
        ),
        _ => why.words(who),
    }
}

/// The address of a host: the one that ssh reached, or that of its name.
fn address(ssh: &str, facts: &Facts) -> Option<Ipv4Addr> {
    let as_reached = facts.address.as_deref().and_then(|address| address.parse().ok());
    as_reached.or_else(|| {
        let name = ssh.rsplit('@').next().unwrap_or(ssh);
        (name, 22).to_socket_addrs().ok()?.find_map(|found| match found {
            SocketAddr::V4(found) => Some(*found.ip()),
            SocketAddr::V6(_) => None,
        })
    })
}

/// This machine's address in the network of another. Nothing is sent: connecting a UDP socket only selects the source address.
fn own_address(of_host: &str) -> std::io::Result<std::net::IpAddr> {
    let towards_it = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    towards_it.connect((of_host, 22))?;
    Ok(towards_it.local_addr()?.ip())
}

/// Does the same in several places at once.
pub(super) fn on_all<P: Sync, T: Send>(places: &[P], act: impl Fn(&P) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let act = &act;
        let all: Vec<_> = places.iter().map(|place| scope.spawn(move || act(place))).collect();
        all.into_iter().map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

fn hosts_in_words(hosts: usize) -> String {
    counted(hosts as u64, "host")
}

fn random(bytes: usize) -> Result<String, PoolError> {
    let mut drawn = vec![0; bytes];
    getrandom(&mut drawn, GetRandomFlags::empty())
        .map_err(|error| PoolError::Hosts(vec![format!("{THIS}: the kernel gives no random numbers: {error}")]))?;
    Ok(drawn.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
