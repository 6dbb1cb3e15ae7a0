//! Runs the generator in its own session.
//!
//! With SCHED_AUTOGROUP, the kernel groups processes by session, and everything in one terminal shares one weight. A generator
//! there shares its CPU with a compiler or server of the same session, whatever else the machine does. So tolok starts itself again
//! as the first process of a new session. The original process waits, forwards Ctrl-C, and exits with the child's code.

use std::fs;
use std::process::{Command, ExitStatus};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal, setsid};
use signal_hook::consts::{SIGCHLD, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::{CliError, Exit};
use crate::output::say;

/// In the child's environment: the process id of the parent.
const MARKER: &str = "TOLOK_LOAD_SESSION_OF";
const AUTOGROUP: &str = "/proc/self/autogroup";
/// Weight of the new group against others: -20 to 19, where smaller means more.
const NICE: i32 = -10;

/// In the process that the user started: runs the load in a child and returns its exit. In that child: moves into a new session and
/// returns `None`, so the load begins.
pub fn enter() -> Result<Option<Exit>, CliError> {
    match std::env::var(MARKER) {
        Ok(parent) => begin(&parent).map(|()| None),
        Err(_) => wait_for_child().map(Some),
    }
}

fn begin(parent: &str) -> Result<(), CliError> {
    let failed = |errno: Errno| CliError::new(Exit::Internal, format!("cannot begin a session: {errno}"));
    // From here on only the parent receives Ctrl-C, so the load must not outlive it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed)?;
    let is_orphan = getppid().is_none_or(|now| now.as_raw_nonzero().to_string() != parent);
    if is_orphan {
        return Err(CliError::new(Exit::Internal, format!("{MARKER} is for tolok's own use and must not be set")));
    }
    let session = setsid().map_err(failed)?;
    say(format!("load generator in session {}{}", session.as_raw_nonzero(), group()));
    Ok(())
}

/// Gives the new scheduling group more weight, if that is permitted, and describes the result.
fn group() -> String {
    if fs::read_to_string(AUTOGROUP).is_err() {
        return "; this kernel does not group processes by session, so that changes nothing".to_owned();
    }
    let weighted = fs::write(AUTOGROUP, NICE.to_string());
    let now = fs::read_to_string(AUTOGROUP).unwrap_or_default();
    match weighted {
        Ok(()) => format!(", scheduling group {}", now.trim()),
        Err(error) => format!(", scheduling group {}; a larger weight was refused: {error}", now.trim()),
    }
}

fn wait_for_child() -> Result<Exit, CliError> {
    let failed = |error: std::io::Error| CliError::new(Exit::Internal, format!("cannot start a session: {error}"));
    // Before the child exists: no signal may be missed.
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGCHLD]).map_err(failed)?;
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new(program);
    command.args(std::env::args_os().skip(1)).env(MARKER, std::process::id().to_string());
    let mut child = command.spawn().map_err(failed)?;
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return exit_of(status);
        }
        for signal in signals.wait() {
            let heard = match signal {
                SIGINT => Signal::INT,
                SIGTERM => Signal::TERM,
                _ => continue,
            };
            // The child has not been reaped, so its process id is still its own. It may have ended already.
            let _ = kill_process(Pid::from_child(&child), heard);
        }
    }
}

fn exit_of(status: ExitStatus) -> Result<Exit, CliError> {
    let exit = status.code().and_then(Exit::of_code);
    exit.ok_or_else(|| CliError::new(Exit::Internal, format!("the load generator ended with {status}")))
}
