//! Runs blocks on Slurm's nodes. Each block is a job with its own nodes. `srun` starts it and carries the messages between it and the
//! run.

mod cancelling;
mod queue;

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tolok_host::isolate::{end_within, wait_within};
use tolok_host::machine::Machine;
use tolok_model::{Node, PoolRequest};

pub(super) use self::cancelling::Cancelling;
pub(super) use self::queue::QueueWatch;
use crate::pool::{HostsFile, PoolError, client, printed, remove_variables};

/// Time limit for a Slurm command.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// The port of the discard service (RFC 863). Any port would do, because nothing is sent.
const DISCARD_PORT: u16 = 9;

/// Why Slurm cannot run blocks.
#[derive(Debug, thiserror::Error)]
pub enum SlurmError {
    #[error(transparent)]
    Pool(#[from] PoolError),
    #[error(
        "cannot start Slurm's `{program}`: {source}. Install Slurm's client (Debian: slurm-client), or leave out --on slurm"
    )]
    NotStarted { program: &'static str, source: io::Error },
    #[error("Slurm's `{program}` failed: {said}")]
    Refused { program: &'static str, said: String },
    #[error("Slurm has no node for {asked}; `sinfo -N -o '%N %P %f'` lists nodes with their partitions and features")]
    NoNode { asked: String },
    #[error("each round needs {needed} nodes, and Slurm has {nodes} for {asked}; ask for fewer --generators")]
    TooFewNodes { asked: String, needed: usize, nodes: usize },
    #[error(
        "`tolok doctor` on a node printed no machine: {0}. The node must have this version of tolok at the same path"
    )]
    NoMachine(String),
}

/// A Slurm cluster that answered `sinfo`.
#[derive(Debug, Clone)]
pub struct Slurm {
    request: PoolRequest,
    /// Configuration file for Slurm's clients. `None` means their default.
    conf: Option<PathBuf>,
    /// CPUs of the smallest node that meets the request.
    cpus: u32,
    /// Number of nodes that `sinfo` listed.
    nodes: usize,
}

impl Slurm {
    /// Asks Slurm for its nodes, and checks that enough of them meet the request.
    pub fn reach(request: PoolRequest) -> Result<Self, SlurmError> {
        let hosts = request.hosts.as_deref().map(HostsFile::read).transpose()?;
        let conf = hosts.as_ref().map(HostsFile::slurm_conf);
        let mut sinfo = client("sinfo", conf.as_deref());
        sinfo.args(["--noheader", "--Node", "--format", "%c %f %N"]);
        sinfo.args(request.partition.iter().flat_map(|name| ["--partition", name]));
        let nodes = said("sinfo", &mut sinfo).map_err(|error| of_pool(&request, error))?;
        let none = || SlurmError::NoNode { asked: words(&request) };
        let cpus = smallest(&nodes, request.constraint.as_deref()).ok_or_else(none)?;
        let names: BTreeSet<&str> = nodes.lines().filter_map(|line| line.split_whitespace().last()).collect();
        let slurm = Self { request, conf, cpus, nodes: names.len() };
        let (needed, nodes) = (slurm.nodes_of_block(), slurm.nodes);
        if nodes < needed {
            return Err(SlurmError::TooFewNodes { asked: words(&slurm.request), needed, nodes });
        }
        Ok(slurm)
    }

    pub fn request(&self) -> &PoolRequest {
        &self.request
    }

    /// Runs `tolok doctor` on one of the nodes, and returns its description of that machine.
    pub fn machine(&self, tolok: &Path) -> Result<Machine, SlurmError> {
        let mut doctor = self.srun("tolok-doctor", 1, &BTreeSet::new());
        let text = said("srun", doctor.arg(tolok).args(["doctor", "--format", "json"]))?;
        let no_machine = |error: serde_json::Error| SlurmError::NoMachine(error.to_string());
        let mut found: serde_json::Value = serde_json::from_str(&text).map_err(no_machine)?;
        serde_json::from_value(found["machine"].take()).map_err(no_machine)
    }

    /// Asks Slurm in the background which nodes are lost. The receiver gets their names once Slurm answers.
    pub(super) fn ask_for_lost_nodes(&self) -> Receiver<BTreeSet<String>> {
        let mut sinfo = client("sinfo", self.conf.as_deref());
        sinfo.args(["--noheader", "--Node", "--format", "%N %T"]);
        let (sender, answer) = channel();
        // Without a thread or a timely answer, the channel closes empty.
        let _ = std::thread::Builder::new()
            .spawn(move || said_within(sinfo, ANSWER_LIMIT).and_then(|said| sender.send(lost_nodes(&said)).ok()));
        answer
    }

    pub(super) fn conf(&self) -> Option<&Path> {
        self.conf.as_deref()
    }

    /// Number of nodes in a block: one for the servers, and one for each generator.
    fn nodes_of_block(&self) -> usize {
        1 + self.request.generators as usize
    }

    /// Returns the `srun` command of a block's job, which avoids the `lost` nodes if enough others remain. The caller appends the program
    /// that each node runs. All nodes read the run's messages. The run reads the first node's standard output, and every node's standard
    /// error.
    pub(super) fn job(&self, name: &str, lost: &BTreeSet<String>) -> Command {
        let mut srun = self.srun(name, self.nodes_of_block(), lost);
        if self.request.generators > 0 {
            srun.args(["--ntasks-per-node=1", "--output=0", "--error=all"]);
        }
        srun
    }

    fn srun(&self, name: &str, nodes: usize, lost: &BTreeSet<String>) -> Command {
        let mut srun = client("srun", self.conf.as_deref());
        srun.args(["--quiet", "--exclusive", "--mem=0", "--kill-on-bad-exit"]);
        srun.arg(format!("--nodes={nodes}")).arg(format!("--ntasks={nodes}"));
        srun.arg(format!("--cpus-per-task={}", self.cpus)).arg(format!("--job-name={name}"));
        let PoolRequest { partition, constraint, account, .. } = &self.request;
        let asked = [("partition", partition), ("constraint", constraint), ("account", account)];
        srun.args(asked.iter().filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?))));
        // If too few other nodes remain, lost ones may be used again.
        if !lost.is_empty() && lost.len() + nodes <= self.nodes {
            srun.arg(format!("--exclude={}", lost.iter().map(String::as_str).collect::<Vec<_>>().join(",")));
        }
        // If tolok itself runs in a job, that job's variables would override srun's options. TMPDIR may not exist on the node.
        remove_variables(&mut srun, |name| name.starts_with("SLURM_") && name != "SLURM_CONF" || name == "TMPDIR");
        srun
    }
}

/// The `squeue` that prints a line in this format for each of the user's jobs.
fn own_jobs(conf: Option<&Path>, format: &str) -> Command {
    let mut squeue = client("squeue", conf);
    squeue.args(["--noheader", "--all", "--me"]).arg(format!("--format={format}"));
    squeue
}

/// The node of this process, if it runs in a Slurm job.
pub(super) fn this_node() -> Option<Node> {
    Some(Node { name: std::env::var("SLURMD_NODENAME").ok()?, job: std::env::var("SLURM_JOB_ID").ok()? })
}

/// This node's number among the generator nodes, from 1. `None` on the server's node and outside a job.
pub(super) fn generator_number() -> Option<u32> {
    let number = std::env::var("SLURM_PROCID").ok()?.parse().ok()?;
    (number > 0).then_some(number)
}

/// The address at which the job's other nodes reach this one: its address in the run's network.
pub(super) fn own_address() -> io::Result<IpAddr> {
    const RUN: &str = "SLURM_LAUNCH_NODE_IPADDR";
    let unknown = || io::Error::other(format!("it sets no {RUN}"));
    let run: IpAddr = std::env::var(RUN).ok().and_then(|text| text.parse().ok()).ok_or_else(unknown)?;
    let any: IpAddr = if run.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    // Connecting a UDP socket sends nothing, but the kernel picks the source address.
    let towards_the_run = UdpSocket::bind((any, 0))?;
    towards_the_run.connect((run, DISCARD_PORT))?;
    Ok(towards_the_run.local_addr()?.ip())
}

/// Cancels this node's job. Slurm keeps a job whose `srun` was killed, so a block whose run is gone cancels its own.
pub(super) fn end_job(node: &Node) -> io::Result<()> {
    let mut scancel = client("scancel", None);
    let mut child = scancel.args(["--quiet", &node.job]).stdin(Stdio::null()).spawn()?;
    // On a node that is cut off, `scancel` waits for the controller. Slurm itself ends such a job.
    end_within(&mut child, ANSWER_LIMIT).map(drop)
}

/// For a pool that tolok made, replaces Slurm's error with one that points to `tolok pool status`.
fn of_pool(request: &PoolRequest, error: SlurmError) -> SlurmError {
    match (&request.hosts, error) {
        (Some(file), SlurmError::Refused { said, .. }) => {
            let file = file.display();
            PoolError::Silent(format!("the pool does not answer: {said}. Ask what to do: tolok pool status {file}"))
                .into()
        }
        (_, error) => error,
    }
}

/// The output of a command. `None` if it fails or exceeds `limit`.
fn said_within(mut command: Command, limit: Duration) -> Option<String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let output = child.stdout.take()?;
    let reading = std::thread::Builder::new().spawn(move || std::io::read_to_string(output).ok()).ok();
    let is_well = matches!(wait_within(&mut child, limit), Ok(Some(status)) if status.success());
    if !is_well {
        let _ = child.kill().and_then(|()| child.wait());
        return None;
    }
    reading?.join().ok()?
}

/// The nodes that are down or do not answer, from lines of `NAME STATE`.
fn lost_nodes(said: &str) -> BTreeSet<String> {
    let nodes = said.lines().filter_map(|line| line.trim().split_once(' '));
    let lost = nodes.filter(|(_, state)| state.starts_with("down") || state.contains('*'));
    lost.map(|(name, _)| name.to_owned()).collect()
}

/// The fewest CPUs of any node with the feature, from lines of `CPUS FEATURE,FEATURE NAME`. If the constraint is an expression, which
/// only Slurm can evaluate, all nodes count.
fn smallest(nodes: &str, constraint: Option<&str>) -> Option<u32> {
    let is_name =
        |constraint: &&str| constraint.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter));
    let feature = constraint.filter(is_name);
    let fits = |features: &str| feature.is_none_or(|wanted| features.split(',').any(|feature| feature == wanted));
    let nodes = nodes.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?))
    });
    nodes.filter(|(_, features)| fits(features)).filter_map(|(cpus, _)| cpus.parse().ok()).min()
}

fn words(request: &PoolRequest) -> String {
    let named = |what: &str, name: &Option<String>| name.as_ref().map(|name| format!("{what} `{name}`"));
    let asked = [named("partition", &request.partition), named("constraint", &request.constraint)];
    let asked: Vec<String> = asked.into_iter().flatten().collect();
    if asked.is_empty() { "any partition".to_owned() } else { asked.join(" and ") }
}

/// Runs a command and returns its output. The error of a failed command holds its last line of standard error.
fn said(program: &'static str, command: &mut Command) -> Result<String, SlurmError> {
    let ended = printed(command).map_err(|source| SlurmError::NotStarted { program, source })?;
    ended.map_err(|said| SlurmError::Refused { program, said })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(command: &Command) -> Vec<String> {
        command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_smallest_node_that_has_the_feature_decides() {
        let nodes = "64 epyc,ib n1\n  8 (null) n2\n32 epyc n3\n";
        assert_eq!(smallest(nodes, None), Some(8));
        assert_eq!(smallest(nodes, Some("epyc")), Some(32));
        assert_eq!(smallest(nodes, Some("arm")), None);
        assert_eq!(smallest(nodes, Some("epyc&ib")), Some(8), "only Slurm evaluates expressions");
        assert_eq!(smallest("", None), None);
    }

    #[test]
    fn an_error_of_a_silent_pool_points_to_its_status() {
        let refused = || SlurmError::Refused { program: "sinfo", said: "no contact".to_owned() };
        let request = PoolRequest { hosts: Some("/lab/hosts.toml".into()), ..Default::default() };
        let told = of_pool(&request, refused()).to_string();
        assert_eq!(told, "the pool does not answer: no contact. Ask what to do: tolok pool status /lab/hosts.toml");
        assert!(of_pool(&PoolRequest::default(), refused()).to_string().starts_with("Slurm's `sinfo` failed"));
    }

    #[test]
    fn slurm_names_lost_nodes_by_their_states() {
        let said = "n1 idle\nn2 down*\nn3 allocated*\nn4 down\nn5 drained\n";
        assert_eq!(lost_nodes(said), ["n2", "n3", "n4"].map(str::to_owned).into());
    }

    #[test]
    fn a_command_has_a_time_limit() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        assert_eq!(said_within(shell("echo yes"), ANSWER_LIMIT).as_deref(), Some("yes\n"));
        assert_eq!(said_within(shell("exec sleep 600"), Duration::from_millis(50)), None);
        assert_eq!(said_within(shell("echo no; exit 1"), ANSWER_LIMIT), None);
    }

    #[test]
    fn a_job_asks_for_a_whole_node_and_for_none_that_was_lost() {
        let request =
            PoolRequest { partition: Some("bench".to_owned()), account: Some("lab".to_owned()), ..Default::default() };
        let slurm = Slurm { request, conf: None, cpus: 16, nodes: 5 };
        let lost = ["n1", "n4"].map(str::to_owned).into();
        let found = arguments(&slurm.job("tolok-x-b2-1", &lost));
        for wanted in ["--exclusive", "--cpus-per-task=16", "--partition=bench", "--account=lab", "--exclude=n1,n4"] {
            assert!(found.iter().any(|argument| argument == wanted), "{wanted} in {found:?}");
        }
        let excludes = |slurm: &Slurm, lost: &BTreeSet<String>| {
            arguments(&slurm.job("x", lost)).iter().any(|argument| argument.starts_with("--exclude"))
        };
        assert!(!excludes(&slurm, &BTreeSet::new()));
        assert!(!excludes(&Slurm { nodes: 2, ..slurm }, &lost), "a node must remain");
    }

    #[test]
    fn a_job_with_generators_has_a_node_for_each_and_reads_what_the_first_says() {
        let slurm =
            Slurm { request: PoolRequest { generators: 2, ..Default::default() }, conf: None, cpus: 16, nodes: 4 };
        let lost = ["n1"].map(str::to_owned).into();
        let found = arguments(&slurm.job("x", &lost));
        for wanted in ["--nodes=3", "--ntasks=3", "--ntasks-per-node=1", "--output=0", "--exclude=n1"] {
            assert!(found.iter().any(|argument| argument == wanted), "{wanted} in {found:?}");
        }
        let found = arguments(&Slurm { nodes: 3, ..slurm }.job("x", &lost));
        assert!(
            !found.iter().any(|argument| argument.starts_with("--exclude")),
            "all three nodes are needed: {found:?}"
        );
    }

    #[test]
    fn squeue_lists_the_users_jobs_of_all_partitions() {
        assert_eq!(arguments(&own_jobs(None, "%A %j")), ["--noheader", "--all", "--me", "--format=%A %j"]);
    }

    #[test]
    fn errors_name_the_request_and_slurms_last_line() {
        let request = PoolRequest { constraint: Some("epyc".to_owned()), ..Default::default() };
        assert_eq!(words(&request), "constraint `epyc`");
        assert_eq!(words(&PoolRequest::default()), "any partition");
        let failed =
            said("sinfo", Command::new("sh").args(["-c", "echo 'slurm_load_partitions: no contact' >&2; exit 1"]));
        assert_eq!(failed.unwrap_err().to_string(), "Slurm's `sinfo` failed: slurm_load_partitions: no contact");
    }
}
