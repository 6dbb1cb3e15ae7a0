//! The state of a pool's nodes, and what to do about one that is down.

use std::path::Path;

use serde::Serialize;

use super::PoolError;
use super::client::client;
use super::conf::{looker, quoted};
use super::hosts_file::{Host, HostsFile};
use super::making::on_all;
use super::remote::{Ssh, printed};

/// States in which Slurm gives a node work, or the node already has some.
const SOUND: [&str; 8] = ["idle", "allocated", "mixed", "completing", "allocated+", "planned", "reserved", "blocked"];

/// Daemons of every node.
const NEEDED: [&str; 2] = ["munged", "slurmd"];

/// A node in Slurm's view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NodeStatus {
    pub name: String,
    pub address: String,
    /// Slurm's word for its state, without the mark for an unresponsive node.
    pub state: String,
    /// What to do, if it is not healthy.
    pub advice: Option<String>,
}

/// The state of a pool's nodes.
pub fn status(file: &Path, ssh: &Ssh) -> Result<Vec<NodeStatus>, PoolError> {
    let pool = HostsFile::read(file)?;
    let said = sinfo(&pool.slurm_conf(), "%N|%T|%E").map_err(|said| PoolError::Silent(no_controller(&pool, &said)))?;
    let seen = nodes(&said);
    let of_host = |host: &Host| {
        let known = seen.iter().find(|node| node.name == host.name);
        let (state, is_well) = known.map_or(("unknown", false), |node| (node.state, node.is_well()));
        // Slurm takes a while to notice that a node is gone.
        let look = ssh.run(Some(&host.ssh), &looker(&pool.folder()));
        let runs = look.as_deref().is_ok_and(|found| NEEDED.iter().all(|name| found.lines().any(|line| line == *name)));
        let found = look.as_deref().map_err(|why| why.words(&host.ssh));
        let advice = (!is_well || !runs).then(|| advice(&pool, &host.ssh, known, found));
        NodeStatus { name: host.name.clone(), address: host.address.clone(), state: state.to_owned(), advice }
    };
    Ok(on_all(&pool.host, of_host))
}

/// A line of `sinfo`.
#[derive(Debug, PartialEq, Eq)]
struct SeenNode<'a> {
    name: &'a str,
    state: &'a str,
    /// Whether it has not responded to Slurm lately.
    is_silent: bool,
    reason: &'a str,
}

impl SeenNode<'_> {
    fn is_well(&self) -> bool {
        !self.is_silent && SOUND.contains(&self.state)
    }
}

/// The nodes in lines of `NAME|STATE|REASON`. Further properties follow the state, one character each.
fn nodes(said: &str) -> Vec<SeenNode<'_>> {
    let node = |line| -> Option<SeenNode<'_>> {
        let mut parts = str::splitn(line, 3, '|');
        let (name, state, reason) = (parts.next()?, parts.next()?, parts.next()?);
        let word = state.trim_end_matches(|mark: char| !mark.is_ascii_alphabetic());
        Some(SeenNode { name, state: word, is_silent: state.contains('*'), reason: reason.trim() })
    };
    said.lines().filter_map(node).collect()
}

/// What to do about a node. `found` lists its daemons, or why ssh failed.
fn advice(pool: &HostsFile, host: &str, node: Option<&SeenNode<'_>>, found: Result<&str, String>) -> String {
    let folder = pool.folder();
    let start = format!("ssh {host} sh {}/start", folder.display());
    let running = match found {
        Ok(running) => running,
        Err(why) => return format!("{why}; then: {start}"),
    };
    let runs = |name: &str| running.lines().any(|line| line == name);
    match node {
        _ if !runs("folder") => {
            format!("{} is gone there; make the pool again: tolok pool down, then tolok pool init", folder.display())
        }
        _ if !NEEDED.into_iter().all(runs) => {
            let missing: Vec<&str> = NEEDED.into_iter().filter(|name| !runs(name)).collect();
            format!("{} does not run there; start it: {start}", missing.join(" and "))
        }
        Some(SeenNode { state: "drained" | "draining" | "drain" | "inval", name, reason, .. }) => {
            let conf = quoted(&pool.slurm_conf());
            format!("Slurm drained it ({reason}); then: SLURM_CONF={conf} scontrol update nodename={name} state=resume")
        }
        _ => format!("its daemons run; if it stays so, read {}/slurmd.log there", folder.display()),
    }
}

/// What to do if the controller does not answer.
fn no_controller(pool: &HostsFile, said: &str) -> String {
    let folder = pool.folder();
    if folder.is_dir() {
        format!("slurmctld does not answer ({said}). Start it again: sh {}/start", folder.display())
    } else {
        format!("{} is not on this machine. Ask on {}, where the pool was made", folder.display(), pool.controller.name)
    }
}

/// Why nodes are not idle, in sentences.
pub(super) fn complaints(pool: &HostsFile, ssh: &Ssh, states: Result<&str, &String>) -> Vec<String> {
    let said = match states {
        Ok(said) => said,
        Err(why) => return vec![format!("this machine: slurmctld does not answer: {why}")],
    };
    let (port, next) = (pool.controller.port, pool.controller.port + 1);
    let late = pool.host.iter().filter(|host| !said.lines().any(|line| line == format!("{} idle", host.name)));
    let of_host = |host: &Host| {
        let log = format!("grep -a error {}/slurmd.log | grep -vi mpi | tail -n 1", pool.folder().display());
        let said = ssh.run(Some(&host.ssh), &log).unwrap_or_else(|why| why.said);
        let (said, own) = (said.trim(), &pool.controller.address);
        let said = if said.is_empty() { String::new() } else { format!(" slurmd's log: {said}") };
        format!(
            "{}: it does not become idle. It must reach {own}:{port}, and this machine its port {next}.{said}",
            host.ssh
        )
    };
    late.map(of_host).collect()
}

/// The output of `sinfo` for each node, or its error.
pub(super) fn sinfo(slurm_conf: &Path, format: &str) -> Result<String, String> {
    let mut sinfo = client("sinfo", Some(slurm_conf));
    sinfo.args(["--noheader", "--Node", "--format", format]);
    printed(&mut sinfo).map_err(|error| format!("cannot start sinfo: {error}"))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::hosts_file::example;

    #[test]
    fn a_node_is_well_when_it_answers_and_has_work_or_could_have() {
        let seen = nodes("n1|idle|none\nn2|down*|Not responding\nn3|allocated*|none\nn4|drained|Low RealMemory|x\n");
        let well: Vec<(&str, &str, bool)> = seen.iter().map(|node| (node.name, node.state, node.is_well())).collect();
        assert_eq!(
            well,
            [("n1", "idle", true), ("n2", "down", false), ("n3", "allocated", false), ("n4", "drained", false)]
        );
        assert_eq!(seen[3].reason, "Low RealMemory|x");
    }

    #[test]
    fn what_to_do_depends_on_what_runs_there() {
        let said = nodes("n1|down*|Not responding\n");
        let told = |found: Result<&str, String>| advice(&example(), "root@n1", said.first(), found);
        let start = "ssh root@n1 sh /var/tmp/tolok-pool-0123456789abcdef/start";
        assert_eq!(told(Err("root@n1: no way".to_owned())), format!("root@n1: no way; then: {start}"));
        assert_eq!(told(Ok("folder\nmunged\n")), format!("slurmd does not run there; start it: {start}"));
        assert!(told(Ok("")).contains("is gone there; make the pool again"));
        assert!(told(Ok("folder\nmunged\nslurmd\n")).contains("slurmd.log"));
        let drained = nodes("n1|drained|Low RealMemory\n");
        let told = advice(&example(), "root@n1", drained.first(), Ok("folder\nmunged\nslurmd\n"));
        assert!(told.contains("(Low RealMemory)") && told.contains("nodename=n1 state=resume"), "{told}");
    }
}
