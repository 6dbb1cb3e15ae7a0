//! The network of a box: its namespaces, their settings, and the links between them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tolok_link::{LinkJob, LinkSpec, MTU_BYTES, tun};

use super::congestion;
use super::iproute::run;
use super::job::job_of;
use super::namespace::{enter_network, enter_new_network};
use super::netem;
use super::probe::own_program;
use super::protocol::Fault;
use super::spawn::{Placement, hand_over, place};
use super::spec::{Backend, Isolation};
use super::sysctl::{self, SysctlError};
use super::topology::{Joins, LinkPlan, PREFIX, Topology};
use super::wait::wait_within;

/// How long the emulator may take to write its last line.
const LAST_LINE: Duration = Duration::from_secs(1);
/// A client that opens many connections to one address needs all ports.
const ALL_PORTS: &str = "1024 65535";

/// The link process's life: passes packets until told to stop.
pub fn run_link(job: &str) -> io::Result<()> {
    let job: LinkJob = job_of("link", job)?;
    tolok_link::run(&job).map_err(io::Error::other)
}

/// The namespaces of a box, and the processes of its links. Dropping this ends the links. The namespaces go with the
/// last process in them.
#[derive(Debug)]
pub(super) struct Network {
    nodes: Vec<File>,
    client: usize,
    subject: usize,
    database: usize,
    pub(super) emulators: Vec<Emulator>,
}

/// A running emulator.
#[derive(Debug)]
pub(super) struct Emulator {
    pub(super) joins: Joins,
    process: Child,
}

impl Network {
    /// Makes the namespaces and links, and leaves this process in the client's namespace.
    pub(super) fn make(
        topology: &Topology<'_>,
        settings: Settings<'_>,
        link_groups: &[PathBuf],
        isolation: &mut Isolation,
    ) -> Result<Self, Fault> {
        let (mut nodes, mut by_routes) = (Vec::new(), None);
        for plan in &topology.nodes {
            nodes.push(enter_new_network()?);
            tun::up("lo")?;
            by_routes = settings.set(isolation)?;
            if plan.opens_many && !settings.wanted.contains_key("net.ipv4.ip_local_port_range") {
                let widened = sysctl::set("net.ipv4.ip_local_port_range", ALL_PORTS);
                let said = |error| format!("The client has only the usual ports for its connections ({error})");
                isolation.fallbacks.extend(widened.err().map(said));
            }
        }
        let find =
            |part: &str| topology.place_of(part).ok_or_else(|| io::Error::other(format!("no node has the {part}")));
        let (client, subject, database) = (find("client")?, find("subject")?, find("database")?);
        let mut network = Self { nodes, client, subject, database, emulators: Vec::new() };
        isolation.network = "private".to_owned();
        for link in &topology.links {
            let failed = |reason| Fault::Link(format!("{} cannot be made: {reason}", link.joins.words()));
            network.connect(link, link_groups, isolation).map_err(failed)?;
        }
        for (place, node) in network.nodes.iter().enumerate() {
            enter_network(node)?;
            let settled = settle_congestion_control(by_routes.as_deref(), &topology.links_of(place), isolation);
            settings.or_without(settled, isolation)?;
        }
        enter_network(&network.nodes[client])?;
        Ok(network)
    }

    /// The servers' namespace.
    pub(super) fn of_subject(&self) -> &File {
        &self.nodes[self.subject]
    }

    /// Calls `make` in the servers' namespace, and returns to the client's.
    pub(super) fn beside_subject<T>(&self, make: impl FnOnce() -> T) -> io::Result<T> {
        enter_network(self.of_subject())?;
        let made = make();
        enter_network(&self.nodes[self.client])?;
        Ok(made)
    }

    /// The database's namespace, if it differs from the subject's.
    pub(super) fn of_database(&self) -> Option<&File> {
        (self.database != self.subject).then(|| &self.nodes[self.database])
    }

    /// The pid of the process that emulates a link, if one does.
    pub(super) fn pid_of(&self, joins: Joins) -> Option<u32> {
        let emulator = self.emulators.iter().find(|emulator| emulator.joins == joins)?;
        Some(emulator.pid().as_raw_pid() as u32)
    }

    fn connect(&mut self, link: &LinkPlan<'_>, groups: &[PathBuf], isolation: &mut Isolation) -> Result<(), String> {
        let spec = &link.between.spec;
        spec.check().map_err(|error| error.to_string())?;
        match link.between.backend {
            Backend::Emulator => self.emulate(link, groups)?,
            Backend::Veth if *spec != (LinkSpec { seed: spec.seed, ..LinkSpec::default() }) => {
                return Err("a veth pair emulates nothing; take the emulator as the link's backend".to_owned());
            }
            Backend::Veth => self.pair(link)?,
            Backend::Netem => {
                self.pair(link)?;
                self.add_netem(link)?;
                if spec.jitter_s > 0.0 {
                    let said = "Packets of a netem link with jitter overtake each other, which the emulator's do not";
                    say_once(isolation, said.to_owned());
                }
                if spec.needs_packets() {
                    let said =
                        "A netem link draws its losses without a seed, and its rate counts the Ethernet header as well";
                    say_once(isolation, said.to_owned());
                }
            }
        }
        let name = link.between.backend.name().to_owned();
        match link.joins {
            Joins::ClientAndSubject => isolation.network = name,
            Joins::DatabaseAndSubject => isolation.database_network = Some(name),
        }
        Ok(())
    }

    /// Makes a TUN device at each end, and a process that passes the packets.
    fn emulate(&mut self, link: &LinkPlan<'_>, groups: &[PathBuf]) -> Result<(), String> {
        let offload = !link.between.spec.needs_packets();
        let open = |end: &super::topology::EndPlan| {
            enter_network(&self.nodes[end.node])?;
            let device = tun::open(&end.device, offload)?;
            tun::configure(&end.device, end.address, PREFIX, MTU_BYTES)?;
            // Shows how many packets the device drops before the link process reads them.
            Ok((device, OwnedFd::from(File::open("/proc/thread-self/net/dev")?)))
        };
        let opened: io::Result<Vec<_>> = link.ends.iter().map(open).collect();
        let devices = opened.map_err(|error| {
            format!("a TUN device cannot be made ({error}); is /dev/net/tun there, and may it be used?")
        })?;
        let ends = [devices[0].0.as_raw_fd(), devices[1].0.as_raw_fd()];
        let device_tables = Some([devices[0].1.as_raw_fd(), devices[1].1.as_raw_fd()]);
        let (cpus, report) = (link.between.cpus.clone(), link.between.report.clone());
        let job = LinkJob { spec: link.between.spec, ends, device_tables, offload, cpus, report };
        let started = (|| {
            let mut command = own_program("link", &serde_json::to_string(&job)?);
            let placement = Placement { dies_with_parent: true, groups: groups.to_vec(), ..Placement::default() };
            place(&mut command, &placement)?;
            hand_over(&mut command, devices.into_iter().flat_map(|(device, table)| [device, table]).collect());
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()
        })();
        let process = started.map_err(|error| format!("its process cannot be started: {error}"))?;
        self.emulators.push(Emulator { joins: link.joins, process });
        Ok(())
    }

    /// Makes a veth pair with an address at each end.
    fn pair(&self, link: &LinkPlan<'_>) -> Result<(), String> {
        let [near, far] = &link.ends;
        self.enter(near.node)?;
        let there = format!("/proc/{}/fd/{}", std::process::id(), self.nodes[far.node].as_raw_fd());
        run("ip", &["link", "add", &near.device, "type", "veth", "peer", "name", &far.device, "netns", &there])?;
        for end in &link.ends {
            self.enter(end.node)?;
            run("ip", &["address", "add", &with_prefix(end.address), "dev", &end.device])?;
            run("ip", &["link", "set", "dev", &end.device, "up"])?;
        }
        Ok(())
    }

    fn add_netem(&self, link: &LinkPlan<'_>) -> Result<(), String> {
        let properties = netem::arguments(&link.between.spec);
        for end in &link.ends {
            self.enter(end.node)?;
            if link.between.spec.needs_packets() {
                // netem would lose or delay a piece of 64 KiB as if it were one packet.
                run("ip", &["link", "set", "dev", &end.device, "gso_max_segs", "1"])?;
            }
            let mut words = vec!["qdisc", "add", "dev", &end.device, "root", "netem"];
            words.extend(properties.iter().map(String::as_str));
            let advice = |error| {
                format!("{error}; this kernel may lack netem: the emulator, the default backend, works without it")
            };
            run("tc", &words).map_err(advice)?;
        }
        Ok(())
    }

    fn enter(&self, node: usize) -> Result<(), String> {
        enter_network(&self.nodes[node]).map_err(|error| format!("its namespace cannot be entered: {error}"))
    }
}

impl Emulator {
    pub(super) fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Describes its unexpected end, with its last output.
    pub(super) fn last_words(&mut self) -> String {
        let status = self.process.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let mut said = String::new();
        let _ = self.process.stderr.take().map(|mut output| io::Read::read_to_string(&mut output, &mut said));
        format!("the process of the link between {} ended ({status}): {}", self.joins.words(), said.trim())
    }

    /// Stops it, and lets it write its last line.
    pub(super) fn stop(&mut self) {
        let _ = kill_process(self.pid(), Signal::TERM);
        let _ = wait_within(&mut self.process, LAST_LINE);
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // Both fail only if it has ended and been waited for.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Kernel settings for every namespace of a box.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings<'a> {
    pub(super) wanted: &'a BTreeMap<String, String>,
    /// Those that a box does without if they cannot be set.
    pub(super) dispensable: &'a BTreeSet<String>,
}

impl Settings<'_> {
    /// Sets them in this namespace. Returns the congestion control that its routes must name if the kernel does not
    /// accept it as the default.
    fn set(&self, isolation: &mut Isolation) -> Result<Option<String>, Fault> {
        let mut by_routes = None;
        for (key, value) in self.wanted {
            if key == congestion::KEY && !congestion::is_available(value) {
                let reason =
                    format!("cannot be {value:?} here: this kernel has {}", congestion::available().join(", "));
                self.or_without(Err(Fault::Sysctl { key: key.clone(), reason }), isolation)?;
                continue;
            }
            match sysctl::set(key, value) {
                Ok(in_force) => drop(isolation.sysctls.insert(key.clone(), in_force)),
                Err(SysctlError::NotPermitted(_)) if key == congestion::KEY => {
                    by_routes = Some(value.clone());
                }
                Err(error) => {
                    let fault = Fault::Sysctl { key: key.clone(), reason: error.to_string() };
                    self.or_without(Err(fault), isolation)?;
                }
            }
        }
        Ok(by_routes)
    }

    /// Continues without a dispensable setting that could not be set.
    fn or_without(&self, set: Result<(), Fault>, isolation: &mut Isolation) -> Result<(), Fault> {
        match set {
            Err(Fault::Sysctl { key, reason }) if self.dispensable.contains(&key) => {
                isolation.sysctls.remove(&key);
                let said = format!("The trial has the kernel setting {key} of the machine, as it {reason}");
                say_once(isolation, said);
                Ok(())
            }
            settled => settled,
        }
    }
}

/// Names the congestion control in the routes of this namespace if needed. If one was requested, checks what
/// connections really use.
fn settle_congestion_control(
    by_routes: Option<&str>,
    links: &[(&str, Ipv4Addr)],
    isolation: &mut Isolation,
) -> Result<(), Fault> {
    let refused = |reason: String| Fault::Sysctl { key: congestion::KEY.to_owned(), reason };
    if let Some(algorithm) = by_routes {
        let no_route =
            |error| refused(format!("is not allowed to be {algorithm:?} here, and no route can name it ({error})"));
        congestion::name_in_routes(algorithm, links).map_err(no_route)?;
        isolation.sysctls.insert(congestion::KEY.to_owned(), algorithm.to_owned());
    }
    match isolation.sysctls.get(congestion::KEY) {
        Some(wanted) => match congestion::in_force()? {
            used if used == *wanted => Ok(()),
            used => Err(refused(format!("was set to {wanted:?}, but connections use {used:?}"))),
        },
        None => Ok(()),
    }
}

/// Adds a sentence unless it is there already, such as from a second namespace or link.
fn say_once(isolation: &mut Isolation, said: String) {
    if !isolation.fallbacks.contains(&said) {
        isolation.fallbacks.push(said);
    }
}

fn with_prefix(address: Ipv4Addr) -> String {
    format!("{address}/{PREFIX}")
}
