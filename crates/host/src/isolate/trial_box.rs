//! The lab's side of the box that runs a subject's processes.
//!
//! A box is a keeper process and, below it, an init that starts the servers (see [`super::keeper`]). The lab holds one
//! end of a pipe. The box lives while it is open; when it closes for any reason, everything in the box ends.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::channel::Channel;
use super::connect::connect_within;
use super::numbers;
use super::protocol::{
    Fault, InitEvent, KEEPER_LIMIT, KeeperEvent, KeeperJob, KeeperRequest, OWN_STEP, Opened, Request, SocketWanted,
    stop_grace,
};
use super::spawn::{Placement, hand_over, place};
use super::spec::{BoxSpec, ExitReport, Isolation, NetworkSpec, ProcessSpec};
use super::topology::Joins;
use super::wait::wait_within;
use crate::group::{Group, Hierarchies, sweep};
use crate::guard::{Accounts, Guard};
use crate::machine::not_started;

/// How many connections may wait until a service of the lab accepts them.
const BACKLOG: i32 = 4_096;

/// What went wrong with a box.
#[derive(Debug, thiserror::Error)]
pub enum BoxError {
    #[error("cannot start the keeper process: {}", not_started(.0))]
    Keeper(io::Error),
    #[error("the box of the trial {0}")]
    Silent(&'static str),
    #[error("the box of the trial failed: {0}")]
    Broken(String),
    #[error("the link between {0}")]
    Link(String),
    #[error("a limit cannot be enforced: {0}")]
    Limit(String),
    #[error("the kernel setting {key} {reason}")]
    Sysctl {
        key: String,
        /// Why not; follows the name.
        reason: String,
    },
    #[error("cannot write or read {0}")]
    File(String),
    #[error("cannot get a socket in the client's network: {0}")]
    NoSocket(String),
    #[error("cannot start {name}: {reason}")]
    NotStarted { name: String, reason: String },
    #[error("the {part} in the box cannot be ended: {reason}")]
    NotEnded { part: String, reason: String },
}

impl From<Fault> for BoxError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Link(reason) => Self::Link(reason),
            Fault::Limit(reason) => Self::Limit(reason),
            Fault::Sysctl { key, reason } => Self::Sysctl { key, reason },
            Fault::Broken(reason) => Self::Broken(reason),
        }
    }
}

/// A box with the processes of one trial.
#[derive(Debug)]
pub struct TrialBox {
    keeper: Child,
    requests: Option<ChildStdin>,
    channel: Channel,
    heard: Receiver<Heard>,
    exits: Vec<ExitReport>,
    /// Why the box has ended, if it reported that.
    fault: Option<Fault>,
    /// Processes that were started and have not ended.
    running: Vec<Running>,
    linked: bool,
    database_linked: bool,
    init_pid: u32,
    /// The init's descriptor of the mount namespace for programs.
    view: Option<i32>,
    /// Whether programs are guarded, and with which accounts.
    guarded: Option<Option<Accounts>>,
    run_folder: Option<PathBuf>,
    link_pid: Option<u32>,
    database_link_pid: Option<u32>,
    groups: BTreeMap<String, Group>,
    isolation: Isolation,
}

/// A process as the init sees it.
#[derive(Debug)]
struct Running {
    part: String,
    pid: u32,
}

/// What the lab receives, from either side.
#[derive(Debug)]
enum Heard {
    Init(InitEvent),
    Keeper(KeeperEvent, Option<OwnedFd>),
}

impl TrialBox {
    /// Opens an empty box. `program` is the tolok binary, whose hidden verb `keeper` is the other side.
    pub fn open(program: &Path, spec: &BoxSpec) -> Result<Self, BoxError> {
        let (own, others) = Channel::pair().map_err(BoxError::Keeper)?;
        let job = KeeperJob { spec: spec.clone(), channel: others.as_raw_fd() };
        let mut command = Command::new(program);
        command.arg("keeper").arg(serde_json::to_string(&job).map_err(|error| BoxError::Keeper(error.into()))?);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        place(&mut command, &Placement { own_session: true, ..Placement::default() }).map_err(BoxError::Keeper)?;
        hand_over(&mut command, vec![others]);
        let mut keeper = command.spawn().map_err(BoxError::Keeper)?;
        // Only the keeper may hold its end. Otherwise its death would go unnoticed.
        drop(command);
        let requests = keeper.stdin.take();
        let output = keeper.stdout.take().expect("it was set to a pipe above");
        let heard = own.again().and_then(|own| listen(output, own)).map_err(BoxError::Keeper)?;
        let (linked, database_linked) = match &spec.network {
            NetworkSpec::Host => (false, false),
            NetworkSpec::Private { link, database_link, .. } => (link.is_some(), database_link.is_some()),
        };
        let mut opened = Self {
            keeper,
            requests,
            channel: own,
            heard,
            exits: Vec::new(),
            fault: None,
            running: Vec::new(),
            linked,
            database_linked,
            init_pid: 0,
            view: None,
            guarded: spec.guard.as_ref().map(|guard| guard.accounts),
            run_folder: spec.run_folder.as_ref().map(|folder| folder.path.clone()),
            link_pid: None,
            database_link_pid: None,
            groups: BTreeMap::new(),
            isolation: Isolation::default(),
        };
        opened.settle()?;
        Ok(opened)
    }

    /// Waits until keeper and init have made their parts of the box, in either order.
    fn settle(&mut self) -> Result<(), BoxError> {
        let (mut outer, mut inner) = (None, None);
        while outer.is_none() || inner.is_none() {
            match self.next(OWN_STEP)? {
                Heard::Keeper(KeeperEvent::Open(opened), _) => outer = Some(*opened),
                Heard::Init(InitEvent::Settled { namespaces, fallbacks, view }) => {
                    inner = Some((namespaces, fallbacks));
                    self.view = view;
                }
                _ => return Err(BoxError::Silent("did not open")),
            }
        }
        if let (Some(opened), Some((namespaces, fallbacks))) = (outer, inner) {
            let Opened { init_pid, link_pid, database_link_pid, groups, isolation } = opened;
            (self.init_pid, self.groups, self.isolation) = (init_pid, groups, isolation);
            (self.link_pid, self.database_link_pid) = (link_pid, database_link_pid);
            self.isolation.namespaces.extend(namespaces);
            self.isolation.fallbacks.extend(fallbacks);
        }
        Ok(())
    }

    /// Starts a process. Returns `CLOCK_MONOTONIC` just before its start, in nanoseconds.
    pub fn start(&mut self, spec: &ProcessSpec) -> Result<u64, BoxError> {
        self.send(&Request::Start(spec.clone()), &[])?;
        match self.answer_of_init()? {
            InitEvent::Started { monotonic_ns, pid } => {
                self.running.push(Running { part: spec.part.clone(), pid });
                Ok(monotonic_ns)
            }
            InitEvent::NotStarted { name, reason } => Err(BoxError::NotStarted { name, reason }),
            _ => Err(BoxError::Silent("answers what it was not asked")),
        }
    }

    /// Writes a file in the run folder, and makes missing folders on the way to it.
    pub fn write_file(&mut self, path: &Path, content: &[u8], mode: u32) -> Result<(), BoxError> {
        self.send(&Request::Write { path: path.to_owned(), mode, length: content.len() }, content)?;
        self.written()
    }

    /// Makes a folder in the run folder in which a part may write.
    pub fn make_folder(&mut self, path: &Path, part: &str) -> Result<(), BoxError> {
        self.send(&Request::Folder { path: path.to_owned(), part: part.to_owned() }, &[])?;
        self.written()
    }

    fn written(&mut self) -> Result<(), BoxError> {
        match self.answer_of_init()? {
            InitEvent::Written => Ok(()),
            InitEvent::NoFile { reason } => Err(BoxError::File(reason)),
            _ => Err(BoxError::Silent("answers what it was not asked")),
        }
    }

    /// Connects to a server from the client's network.
    pub fn connect(&mut self, address: SocketAddr, patience: Duration) -> io::Result<TcpStream> {
        if self.isolation.network == "host" {
            return TcpStream::connect_timeout(&address, patience);
        }
        let socket = self.socket(SocketWanted::Tcp { v6: address.is_ipv6() }).map_err(io::Error::other)?;
        connect_within(socket, address, patience)
    }

    /// A packet socket of the client's network namespace, or of the machine's if the box has none of its own. It sees
    /// nothing until it is bound to a protocol. Fails without the right to make one, and the box continues unchanged.
    pub fn packet_socket(&mut self) -> io::Result<OwnedFd> {
        self.socket(SocketWanted::Packet).map_err(io::Error::other)
    }

    /// Listens on a free port of the subject's loopback.
    pub fn listen_beside_subject(&mut self) -> io::Result<TcpListener> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        if self.isolation.network == "host" {
            return TcpListener::bind(any);
        }
        let socket = self.socket(SocketWanted::BesideSubject).map_err(io::Error::other)?;
        rustix::net::bind(&socket, &any)?;
        rustix::net::listen(&socket, BACKLOG)?;
        Ok(TcpListener::from(socket))
    }

    /// A socket of the client's network namespace, or of the subject's.
    fn socket(&mut self, wanted: SocketWanted) -> Result<OwnedFd, BoxError> {
        if self.channel.send(&KeeperRequest::Give(wanted), None).is_err() {
            return Err(self.why_it_ended());
        }
        loop {
            match self.next(OWN_STEP)? {
                Heard::Keeper(KeeperEvent::Socket, Some(socket)) => return Ok(socket),
                Heard::Keeper(KeeperEvent::NoSocket { reason }, _) => return Err(BoxError::NoSocket(reason)),
                _ => {}
            }
        }
    }

    /// The processes that have ended so far, in that order. Before [`TrialBox::stop`], these should only be processes
    /// of a part that [`TrialBox::end_part`] ended. Fails if the box itself has ended, for example because its keeper
    /// was killed.
    pub fn exits(&mut self) -> Result<&[ExitReport], BoxError> {
        loop {
            match self.heard.try_recv() {
                Ok(heard) => drop(self.take_note(heard)?),
                Err(TryRecvError::Empty) => return Ok(&self.exits),
                Err(TryRecvError::Disconnected) => return Err(self.silence()),
            }
        }
    }

    /// Ends all processes of a part. Returns when they have ended and are among the [`TrialBox::exits`]; then the part
    /// may start others. Unless the signal is `SIGKILL`, it first asks the started processes to end, and kills those
    /// left after the grace period. Without control groups, it does not find processes that their parent has left
    /// behind.
    pub fn end_part(&mut self, part: &str, signal: Signal) -> Result<(), BoxError> {
        let not_ended = |reason: String| BoxError::NotEnded { part: part.to_owned(), reason };
        // A frozen process does not react to signals.
        if let Some(group) = self.groups.get(part) {
            group.thaw();
        }
        if signal != Signal::KILL {
            self.ask_for_signal(&Request::Signal { part: part.to_owned(), signal: signal.as_raw() })?;
            self.has_ended_within(part, stop_grace(part))?;
        }
        match self.groups.get(part) {
            Some(group) => group.kill().map_err(|error| not_ended(error.to_string()))?,
            None => self.ask_for_signal(&Request::Kill { part: part.to_owned() })?,
        }
        match self.has_ended_within(part, OWN_STEP)? {
            true => Ok(()),
            false => Err(not_ended("it was killed, and still runs".to_owned())),
        }
    }

    fn ask_for_signal(&mut self, request: &Request) -> Result<(), BoxError> {
        self.send(request, &[])?;
        match self.answer_of_init()? {
            InitEvent::Signalled => Ok(()),
            _ => Err(BoxError::Silent("answers what it was not asked")),
        }
    }

    /// Waits until no started process of a part runs. False if one still does after `patience`.
    pub fn has_ended_within(&mut self, part: &str, patience: Duration) -> Result<bool, BoxError> {
        let deadline = Instant::now() + patience;
        while self.running.iter().any(|running| running.part == part) {
            match self.heard.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(heard) => drop(self.take_note(heard)?),
                Err(RecvTimeoutError::Timeout) => return Ok(false),
                Err(RecvTimeoutError::Disconnected) => return Err(self.silence()),
            }
        }
        Ok(true)
    }

    /// The pids, as seen from outside, of the running processes of a part, for callers that follow a part without a
    /// control group.
    pub fn pids_of(&self, part: &str) -> Vec<u32> {
        let inside = self.running.iter().filter(|running| running.part == part).map(|running| running.pid);
        inside.filter_map(|pid| numbers::outside(Path::new("/proc"), self.init_pid, pid)).collect()
    }

    /// The path outside the box of a file that has this path inside, even in a mount of the box. The address of a unix
    /// socket holds 107 bytes, and this adds some 20.
    pub fn path_inside(&self, path: &Path) -> PathBuf {
        if self.isolation.namespaces.iter().any(|kind| kind == "mount") {
            let root = PathBuf::from(format!("/proc/{}/root", self.init_pid));
            return root.join(path.strip_prefix("/").unwrap_or(path));
        }
        path.to_owned()
    }

    /// The pid of the init, the ancestor of every process of subject and database.
    pub fn init_pid(&self) -> u32 {
        self.init_pid
    }

    /// The pid of the process that emulates the link between client and subject, if one does.
    pub fn link_pid(&self) -> Option<u32> {
        self.link_pid
    }

    /// The pid of the process that emulates the link between subject and database, if one does.
    pub fn database_link_pid(&self) -> Option<u32> {
        self.database_link_pid
    }

    /// Whether the database has a network namespace of its own, behind a link.
    pub fn has_database_network(&self) -> bool {
        self.database_linked
    }

    /// The control group of a part, if there are control groups.
    pub fn group(&self, part: &str) -> Option<&Group> {
        self.groups.get(part)
    }

    /// What the box turned out to be.
    pub fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    /// The address of the subject for the client.
    pub fn subject_address(&self) -> Ipv4Addr {
        Joins::ClientAndSubject.addresses(self.linked)[1]
    }

    /// The address of the database for the subject.
    pub fn database_address(&self) -> Ipv4Addr {
        Joins::DatabaseAndSubject.addresses(self.database_linked)[0]
    }

    /// The source address of the client's connections.
    pub fn client_source(&self) -> Ipv4Addr {
        Joins::ClientAndSubject.addresses(self.linked)[0]
    }

    /// The placement of a process of a part that the lab starts itself: in the part's control group, on the client's
    /// side of the network.
    pub fn placement(&self, part: &str, cpus: &[u32]) -> Placement {
        let own = |kind: &str, name: &str| {
            self.isolation.namespaces.iter().any(|have| have == kind).then(|| PathBuf::from(name))
        };
        // The user namespace first: it gives the right to enter the other one.
        let user = own("user", &format!("/proc/{}/ns/user", self.init_pid));
        let net = own("net", &format!("/proc/{}/ns/net", self.keeper.id()));
        Placement {
            cpus: cpus.to_vec(),
            dies_with_parent: true,
            groups: self.group(part).map(Group::entrances).unwrap_or_default(),
            namespaces: user.filter(|_| net.is_some()).into_iter().chain(net).collect(),
            own_session: true,
            ..Placement::default()
        }
    }

    /// The same for a third-party program, with the account and the file view of the box's programs. It works in a
    /// folder of its own in the run folder, if there is one.
    pub fn guarded_placement(&mut self, part: &str, cpus: &[u32]) -> Result<Placement, BoxError> {
        let mut placement = self.placement(part, cpus);
        let Some(accounts) = &self.guarded else { return Ok(placement) };
        placement.guard = Some(Guard::of(accounts.map(|accounts| accounts.of_part(part))));
        let Some(folder) = self.run_folder.as_ref().map(|run| run.join(part)) else { return Ok(placement) };
        if !self.path_inside(&folder).is_dir() {
            self.make_folder(&folder, part)?;
        }
        placement.seen_folder = Some(self.path_inside(&folder));
        if let Some(number) = self.view {
            placement.namespaces.push(PathBuf::from(format!("/proc/{}/fd/{number}", self.init_pid)));
            placement.folder = Some(folder);
        }
        Ok(placement)
    }

    /// The account of a part, if it is not the lab's.
    pub fn account(&self, part: &str) -> Option<u32> {
        self.guarded.flatten().map(|accounts| accounts.of_part(part))
    }

    /// Asks all processes to stop, kills those that do not within the grace period, and waits until none is left.
    pub fn stop(mut self) -> Result<(), BoxError> {
        self.thaw();
        self.send(&Request::Stop, &[])?;
        while !matches!(self.next(KEEPER_LIMIT)?, Heard::Keeper(KeeperEvent::Stopped, _)) {}
        Ok(())
    }

    /// Thaws all frozen processes.
    pub fn thaw(&self) {
        self.groups.values().filter(|group| group.freezer().is_some()).for_each(Group::thaw);
    }

    fn send(&mut self, request: &Request, content: &[u8]) -> Result<(), BoxError> {
        let mut line = serde_json::to_vec(request).map_err(|_| BoxError::Silent("cannot be asked"))?;
        line.push(b'\n');
        let pipe = self.requests.as_mut().ok_or(BoxError::Silent("is closed"))?;
        let sent = pipe.write_all(&line).and_then(|()| pipe.write_all(content));
        sent.map_err(|_| self.why_it_ended())
    }

    fn answer_of_init(&mut self) -> Result<InitEvent, BoxError> {
        loop {
            if let Heard::Init(event) = self.next(OWN_STEP)? {
                return Ok(event);
            }
        }
    }

    /// The next message, except ends of processes, which it records.
    fn next(&mut self, patience: Duration) -> Result<Heard, BoxError> {
        loop {
            let heard = match self.heard.recv_timeout(patience) {
                Ok(heard) => heard,
                Err(RecvTimeoutError::Timeout) => return Err(BoxError::Silent("does not answer")),
                Err(RecvTimeoutError::Disconnected) => return Err(self.silence()),
            };
            if let Some(heard) = self.take_note(heard)? {
                return Ok(heard);
            }
        }
    }

    /// Records what may come at any time, and hands back the rest.
    fn take_note(&mut self, heard: Heard) -> Result<Option<Heard>, BoxError> {
        match heard {
            Heard::Init(InitEvent::Exited { pid, report }) => {
                self.running.retain(|running| running.pid != pid);
                self.exits.push(report);
            }
            Heard::Keeper(KeeperEvent::Failed(fault), _) => {
                self.fault = Some(fault.clone());
                return Err(fault.into());
            }
            other => return Ok(Some(other)),
        }
        Ok(None)
    }

    /// The error when both keeper and init are gone.
    fn silence(&self) -> BoxError {
        self.fault.clone().map_or(BoxError::Silent("ended unexpectedly"), BoxError::from)
    }

    /// The error when the box no longer listens. Its last message may still be on the way.
    fn why_it_ended(&mut self) -> BoxError {
        loop {
            if let Err(error) = self.next(OWN_STEP) {
                return error;
            }
        }
    }
}

impl Drop for TrialBox {
    /// Closes the pipe, which ends everything in the box, and waits for the keeper. Kills a keeper that hangs; the
    /// kernel then kills what is below it.
    fn drop(&mut self) {
        self.thaw();
        // Otherwise the keeper would consider the lab dead. If this fails, the keeper itself is gone.
        let _ = self.channel.send(&KeeperRequest::LetGo, None);
        self.requests = None;
        let ended = wait_within(&mut self.keeper, KEEPER_LIMIT);
        if !matches!(ended, Ok(Some(_))) {
            // If even this fails, nothing more can be done.
            let _ = self.keeper.kill();
            let _ = self.keeper.wait();
        }
        if !matches!(ended, Ok(Some(status)) if status.signal().is_none()) {
            // The keeper has left its groups behind. The next start of tolok retries what cannot be removed now.
            let _ = sweep(&Hierarchies::find());
        }
    }
}

/// Receives the reports of init and keeper until both have ended.
fn listen(output: ChildStdout, channel_of_keeper: Channel) -> io::Result<Receiver<Heard>> {
    let (sender, heard) = channel();
    let of_keeper = sender.clone();
    std::thread::Builder::new().spawn(move || listen_to_init(BufReader::new(output), &sender))?;
    std::thread::Builder::new().spawn(move || {
        while let Ok(Some((event, file))) = channel_of_keeper.receive() {
            if of_keeper.send(Heard::Keeper(event, file)).is_err() {
                return;
            }
        }
    })?;
    Ok(heard)
}

fn listen_to_init(output: impl BufRead, sender: &Sender<Heard>) {
    for line in output.lines() {
        let Ok(event) = line.map_err(drop).and_then(|line| serde_json::from_str(&line).map_err(drop)) else { return };
        if sender.send(Heard::Init(event)).is_err() {
            return;
        }
    }
}
