//! Finds out which namespaces a box can have here. It uses a throw-away child, because a process that fails half-way is
//! useless.

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::job::job_of;
use super::namespace::{Kinds, Right, try_all};
use super::protocol::InitJob;
use super::spawn::{Placement, place};
use super::wait::wait_within;

/// How long trying a namespace may take. It takes milliseconds, and the lab waits longer for its box to open.
const LIMIT: Duration = Duration::from_secs(5);

/// What a box can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Possible {
    pub(super) kinds: Kinds,
    /// `None` where no namespace can be made at all.
    pub(super) right: Option<Right>,
}

/// Finds out how much of `wanted` the machine allows. Gives up a network namespace first, unless it is required: then only
/// if nothing works with it.
pub(super) fn find_possible(wanted: Kinds, needs_network: bool) -> io::Result<Possible> {
    let (only_pid, only_net) = (Kinds { net: false, ..wanted }, Kinds { pid: false, ..wanted });
    let less = match (wanted.net, needs_network) {
        (false, _) => vec![],
        (true, true) => vec![only_net],
        (true, false) => vec![only_pid, only_net],
    };
    for kinds in [vec![wanted], less].concat() {
        if let Some(right) = ask_child(kinds)? {
            return Ok(Possible { kinds, right: Some(right) });
        }
    }
    Ok(Possible { kinds: Kinds { pid: false, net: false }, right: None })
}

fn ask_child(kinds: Kinds) -> io::Result<Option<Right>> {
    let mut command = own_program("namespace-probe", &serde_json::to_string(&kinds)?);
    place(&mut command, &Placement { dies_with_parent: true, ..Placement::default() })?;
    let mut probe = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let ended = wait_within(&mut probe, LIMIT)?;
    if ended.is_none() {
        probe.kill()?;
        probe.wait()?;
    }
    if !ended.is_some_and(|status| status.success()) {
        return Ok(None);
    }
    let mut said = String::new();
    probe.stdout.take().map_or(Ok(0), |mut output| output.read_to_string(&mut said))?;
    Ok(serde_json::from_str(&said).ok())
}

/// The probe's life: makes the namespaces, does in them what the keeper would do, and prints what gave the right to do
/// so.
pub fn run_namespace_probe(kinds: &str) -> io::Result<()> {
    let kinds: Kinds = job_of("namespace-probe", kinds)?;
    let right = try_all(kinds)?;
    if kinds.net {
        tolok_link::tun::up("lo")?;
    }
    if kinds.pid {
        // An init that must stop at once.
        let job = InitJob { pid_namespace: true, may_separate: true, ..InitJob::default() };
        let mut command = own_program("init", &serde_json::to_string(&job)?);
        place(&mut command, &Placement { dies_with_parent: true, ..Placement::default() })?;
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
        if !status.success() {
            return Err(io::Error::other(format!("the init ended with {status}")));
        }
    }
    serde_json::to_writer(io::stdout(), &right)?;
    Ok(())
}

/// tolok itself, with a hidden verb.
pub(super) fn own_program(verb: &str, job: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args([verb, job]).stderr(Stdio::null());
    command
}
