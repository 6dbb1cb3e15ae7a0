//! The keeper creates a box, holds it together, and leaves nothing of it behind.
//!
//! ```text
//! lab --pipe--> keeper --> init --> servers and what they fork
//!                  \-----> link process
//! ```
//!
//! The keeper stays outside the box's pid and mount namespaces, inside the client's network namespace, in a session of
//! its own. It ends only when its work is done, or by `kill -9`.
//!
//! When the lab's end of the pipe closes for any reason, or the init or a link ends, the keeper kills what is in the
//! box and removes the control groups. The namespaces, mounts and network devices go with the last process in them. If
//! the lab was killed, the keeper also removes the lab's temporary folder.
//!
//! If the keeper itself is killed, the kernel kills the init and the link. The empty control groups remain. The lab
//! removes them or, if it was killed as well, the next start of tolok.
//!
//! Where no pid namespace is allowed, the keeper adopts all orphans below it and kills them one by one. Then only a
//! `kill -9` of the keeper itself can leave servers behind, until the next start of tolok sweeps their group.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open, set_child_subreaper, setsid};

use super::channel::Channel;
use super::groups::BoxGroups;
use super::job::{job_of, refuse};
use super::kill::{KILL_LIMIT, ignore_stop_signals, kill_all_below};
use super::namespace::{self, Kinds, Right};
use super::network::{Network, Settings};
use super::probe::{Possible, find_possible, own_program};
use super::protocol::{Fault, InitJob, KEEPER_LIMIT, KeeperEvent, KeeperJob, KeeperRequest, Opened, SocketWanted};
use super::session_folder::remove_when_free;
use super::spawn::{Placement, hand_over, place};
use super::spec::{BoxSpec, Isolation, NetworkSpec};
use super::topology::{Joins, Topology};
use super::wait::readable_before;
use crate::group::Group;

/// The keeper's life: opens the box, waits for its end, leaves nothing behind.
pub fn run_keeper(job: &str) -> io::Result<()> {
    let job: KeeperJob = job_of("keeper", job)?;
    let channel = Channel::inherited(job.channel).map_err(|_| refuse("keeper"))?;
    ignore_stop_signals()?;
    // Fails if it already leads its session, because the lab has arranged that.
    let _ = setsid();
    set_child_subreaper(Some(getpid()))?;
    // The keeper has no terminal, so it must report faults to the lab.
    let lab = Lab { channel: &channel, may_be_dead: Cell::new(true) };
    let last_word = match keep(&job.spec, &lab) {
        Ok(()) => KeeperEvent::Stopped,
        Err(fault) => KeeperEvent::Failed(fault),
    };
    // If the lab is gone, it does not need to know.
    let _ = channel.send(&last_word, None);
    match &job.spec.session_folder {
        Some(folder) if lab.is_dead() => remove_when_free(folder, Instant::now() + KILL_LIMIT),
        _ => Ok(()),
    }
}

/// A box at work.
struct Kept {
    init: Init,
    groups: Option<BoxGroups>,
    network: Option<Network>,
}

/// Why a box ends.
enum End {
    LabIsGone,
    InitEnded,
    LinkEnded(usize),
}

fn keep(spec: &BoxSpec, lab: &Lab<'_>) -> Result<(), Fault> {
    let mut isolation = Isolation { network: "host".to_owned(), ..Isolation::default() };
    let possible = possible(spec, &mut isolation)?;
    let groups = match &spec.groups {
        Some(groups) => BoxGroups::make(groups, &mut isolation)?,
        None => None,
    };
    if possible.right == Some(Right::UserNamespace) {
        namespace::enter_user_namespace()?;
        isolation.namespaces.push("user".to_owned());
    }
    let network = match &spec.network {
        NetworkSpec::Private { sysctls, dispensable, link, database_link } if possible.kinds.net => {
            let link_groups = groups.as_ref().and_then(|groups| groups.entrances().remove("link")).unwrap_or_default();
            let topology = Topology::of(link.as_ref(), database_link.as_ref());
            isolation.namespaces.push("net".to_owned());
            let settings = Settings { wanted: sysctls, dispensable };
            Some(Network::make(&topology, settings, &link_groups, &mut isolation)?)
        }
        _ => None,
    };
    if has_database(spec) {
        // Without a link of its own, the database is in the subject's network.
        let network = if network.is_some() { "private" } else { "host" };
        isolation.database_network.get_or_insert_with(|| network.to_owned());
    }
    let init = Init::start(spec, possible, groups.as_ref(), network.as_ref())?;
    if possible.kinds.pid {
        isolation.namespaces.push("pid".to_owned());
    }
    let parts = groups.as_ref().map(|groups| groups.parts.clone()).unwrap_or_default();
    let pid_of = |joins| network.as_ref().and_then(|network| network.pid_of(joins));
    let [link_pid, database_link_pid] = [Joins::ClientAndSubject, Joins::DatabaseAndSubject].map(pid_of);
    let opened = Opened { init_pid: init.process.id(), link_pid, database_link_pid, groups: parts, isolation };
    lab.channel.send(&KeeperEvent::Open(Box::new(opened)), None)?;
    let kept = Kept { init, groups, network };
    let end = kept.watch(lab)?;
    if !matches!(end, End::LabIsGone) {
        lab.may_be_dead.set(false);
    }
    kept.close(end)
}

/// Whether the box has a database.
fn has_database(spec: &BoxSpec) -> bool {
    let has_link = matches!(&spec.network, NetworkSpec::Private { database_link: Some(_), .. });
    has_link || spec.groups.as_ref().is_some_and(|groups| groups.parts.contains_key("database"))
}

/// Determines which namespaces the machine allows. Reports the others, or fails where the study needs one.
fn possible(spec: &BoxSpec, isolation: &mut Isolation) -> Result<Possible, Fault> {
    let (net, sysctls, link) = match &spec.network {
        NetworkSpec::Host => (false, None, None),
        NetworkSpec::Private { sysctls, dispensable, link, database_link } => {
            let link = link.as_ref().map(|_| Joins::ClientAndSubject);
            let link = link.or(database_link.as_ref().map(|_| Joins::DatabaseAndSubject));
            (true, sysctls.keys().find(|key| !dispensable.contains(*key)), link)
        }
    };
    let possible = find_possible(Kinds { pid: true, net }, link.is_some())?;
    let mut lacks = |what: &str| isolation.fallbacks.push(what.to_owned());
    if net && !possible.kinds.net {
        let why = "no network namespace can be made here; start tolok as root, or allow user namespaces";
        if let Some(link) = link {
            return Err(Fault::Link(format!("{} cannot be made: {why}", link.words())));
        }
        if let Some(key) = sysctls {
            return Err(Fault::Sysctl { key: key.clone(), reason: format!("cannot be set: {why}") });
        }
        lacks("No network namespace can be made here, so the trial uses the machine's network with its settings");
    }
    if !possible.kinds.pid {
        lacks(
            "No pid namespace can be made here, so `kill -9` of the keeper may leave servers behind until tolok is started again",
        );
    }
    Ok(possible)
}

impl Kept {
    /// Serves the lab until the box must end.
    fn watch(&self, lab: &Lab<'_>) -> io::Result<End> {
        let emulators = self.network.iter().flat_map(|network| &network.emulators);
        let opened: Result<Vec<OwnedFd>, _> =
            emulators.map(|link| pidfd_open(link.pid(), PidfdFlags::empty())).collect();
        let (links, input) = (opened?, io::stdin());
        loop {
            // Without a flag, poll reports only the end of the input. The requests in it are for the init.
            let mut watched = vec![
                PollFd::new(&self.init.ended, PollFlags::IN),
                PollFd::new(&input, PollFlags::empty()),
                PollFd::new(lab.channel, PollFlags::IN),
            ];
            watched.extend(links.iter().map(|link| PollFd::new(link, PollFlags::IN)));
            retry_on_intr(|| poll(&mut watched, None))?;
            let happened: Vec<bool> = watched.iter().map(|file| !file.revents().is_empty()).collect();
            match happened[..] {
                [_, true, ..] => return Ok(End::LabIsGone),
                [true, ..] => return Ok(End::InitEnded),
                [_, _, true, ..] if !lab.answer(self.network.as_ref())? => return Ok(End::LabIsGone),
                _ => {}
            }
            if let Some(link) = happened[3..].iter().position(|ended| *ended) {
                return Ok(End::LinkEnded(link));
            }
        }
    }

    /// Ends everything, and returns what was wrong with the end, if anything.
    fn close(mut self, end: End) -> Result<(), Fault> {
        let emulators = self.network.iter_mut().flat_map(|network| &mut network.emulators);
        let ended = match end {
            // Nothing waits for the result any more.
            End::LabIsGone => Ok(()),
            End::LinkEnded(place) => {
                let words = emulators.skip(place).map(|link| link.last_words()).next();
                Err(Fault::Broken(words.unwrap_or_default()))
            }
            End::InitEnded => {
                let status = self.init.process.wait()?;
                emulators.for_each(|link| link.stop());
                let unasked = || Err(Fault::Broken(format!("its init ended unexpectedly ({status})")));
                if status.success() { Ok(()) } else { unasked() }
            }
        };
        // First the init with all that is in its namespaces, then the links, then the rest of the groups: the load.
        drop((self.init, self.network, self.groups));
        ended
    }
}

/// The lab from the keeper's point of view.
struct Lab<'a> {
    channel: &'a Channel,
    /// False once the lab has let go of the box, or will learn of its end from the keeper's message.
    may_be_dead: Cell<bool>,
}

impl Lab<'_> {
    /// Serves a request of the lab. False if the lab is gone or no longer needs the box.
    fn answer(&self, network: Option<&Network>) -> io::Result<bool> {
        let Some((request, _)) = self.channel.receive()? else { return Ok(false) };
        let KeeperRequest::Give(wanted) = request else {
            self.may_be_dead.set(false);
            return Ok(false);
        };
        let of_subject = network.filter(|_| matches!(wanted, SocketWanted::BesideSubject));
        let socket = match of_subject {
            Some(network) => {
                network.beside_subject(|| socket_for(wanted)).unwrap_or_else(|error| Err(error.to_string()))
            }
            None => socket_for(wanted),
        };
        let sent = match socket {
            Ok(socket) => self.channel.send(&KeeperEvent::Socket, Some(socket.as_fd())),
            Err(reason) => self.channel.send(&KeeperEvent::NoSocket { reason }, None),
        };
        // If the lab no longer listens, the next call notices that.
        let _ = sent;
        Ok(true)
    }

    /// Whether a lab that is gone is dead. Waits until it reports that it has only let go of the box, or closes the
    /// channel.
    fn is_dead(&self) -> bool {
        while self.may_be_dead.get() {
            match self.channel.receive::<KeeperRequest>() {
                Ok(Some((KeeperRequest::LetGo, _))) => return false,
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return true,
            }
        }
        false
    }
}

/// The socket that the lab requests, or why there is none.
fn socket_for(wanted: SocketWanted) -> Result<OwnedFd, String> {
    let (family, kind) = match wanted {
        SocketWanted::Tcp { v6: true } => (AddressFamily::INET6, SocketType::STREAM),
        SocketWanted::Tcp { v6: false } | SocketWanted::BesideSubject => (AddressFamily::INET, SocketType::STREAM),
        SocketWanted::Packet => (AddressFamily::PACKET, SocketType::DGRAM),
    };
    socket_with(family, kind, SocketFlags::CLOEXEC, None).map_err(|errno| match (wanted, errno) {
        (SocketWanted::Packet, Errno::PERM | Errno::ACCESS) => {
            "the right to see packets (CAP_NET_RAW) is missing; start tolok as root, or allow user namespaces"
                .to_owned()
        }
        (SocketWanted::Packet, Errno::AFNOSUPPORT) => "this kernel has no packet sockets".to_owned(),
        _ => io::Error::from(errno).to_string(),
    })
}

/// The init, and with it everything in its namespaces.
struct Init {
    process: Child,
    ended: OwnedFd,
    /// Whether the kernel ends everything with it.
    takes_all: bool,
    groups: Option<Group>,
}

/// The init of a pid namespace ends after every process in it. The keeper waits at most this long.
const END_LIMIT: Duration = Duration::from_secs(10);
const THAW_INTERVAL: Duration = Duration::from_millis(100);
// The keeper must still kill the rest and remove its control groups before the lab loses patience and kills it.
const _: () = assert!(END_LIMIT.as_nanos() + KILL_LIMIT.as_nanos() < KEEPER_LIMIT.as_nanos());

impl Init {
    fn start(
        spec: &BoxSpec,
        possible: Possible,
        groups: Option<&BoxGroups>,
        network: Option<&Network>,
    ) -> Result<Self, Fault> {
        let database = network.and_then(Network::of_database).map(|file| file.try_clone()).transpose()?;
        let job = InitJob {
            pid_namespace: possible.kinds.pid,
            may_separate: possible.right.is_some(),
            run_folder: spec.run_folder.clone(),
            guard: spec.guard.clone(),
            entrances: groups.map(BoxGroups::entrances).unwrap_or_default(),
            networks: database.iter().map(|file| ("database".to_owned(), file.as_raw_fd())).collect(),
        };
        let mut command = own_program("init", &serde_json::to_string(&job).map_err(io::Error::from)?);
        let of_subject =
            |network: &Network| PathBuf::from(format!("/proc/self/fd/{}", network.of_subject().as_raw_fd()));
        let namespaces = network.map(of_subject).into_iter().collect();
        place(&mut command, &Placement { dies_with_parent: true, namespaces, ..Placement::default() })?;
        hand_over(&mut command, database.into_iter().map(OwnedFd::from).collect());
        // Last of all, because every later child of this process would be in the namespace.
        if possible.kinds.pid {
            namespace::new_pid_namespace_for_children()?;
        }
        let process = command.stdin(Stdio::inherit()).spawn()?;
        let ended = pidfd_open(Pid::from_child(&process), PidfdFlags::empty())?;
        let groups = groups.map(BoxGroups::whole);
        Ok(Self { process, ended, takes_all: possible.kinds.pid, groups })
    }

    /// Waits until the init has ended. False if it still runs when the time is up, or cannot be watched. It thaws the box
    /// again and again, because a frozen process cannot end. A lab that is still at work may freeze one again.
    fn has_ended(&self) -> bool {
        let deadline = Instant::now() + END_LIMIT;
        while Instant::now() < deadline {
            if let Some(groups) = &self.groups {
                groups.thaw();
            }
            match readable_before(&self.ended, Instant::now() + THAW_INTERVAL) {
                Ok(true) => return true,
                Ok(false) => {}
                // A further attempt would fail as well, and at once.
                Err(_) => return false,
            }
        }
        false
    }
}

impl Drop for Init {
    fn drop(&mut self) {
        // Fails only if the init has ended and been waited for.
        let _ = self.process.kill();
        if self.has_ended() {
            let _ = self.process.wait();
        }
        if !self.takes_all {
            kill_all_below(getpid());
        }
    }
}
