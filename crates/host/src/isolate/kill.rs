//! Kills that no process can refuse, and signals that the box's own processes ignore.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, pidfd_open, pidfd_send_signal, wait,
};

use super::wait::readable_before;
use crate::sample::{ProcessTree, descendants};

/// How long killed processes may take to disappear. It takes longer only if the kernel itself hangs.
pub(super) const KILL_LIMIT: Duration = Duration::from_secs(2);

/// Keeper, init and block end when the process above them tells them to or is gone. They ignore the usual stop signals.
pub fn ignore_stop_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // The handler only sets a flag that is never read. Unlike SIG_IGN, the servers do not inherit it.
    let unread = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    [SIGHUP, SIGINT, SIGTERM]
        .into_iter()
        .try_for_each(|signal| signal_hook::flag::register(signal, unread.clone()).map(drop))
}

/// Kills every process below `ancestor` until none is left. The next round finds those forked in between.
pub(super) fn kill_all_below(ancestor: Pid) {
    let deadline = Instant::now() + KILL_LIMIT;
    loop {
        // Orphans become children of this process and stay in the list until they are reaped.
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        let below = descendants(Path::new("/proc"), ancestor.as_raw_pid() as u32);
        if below.is_empty() || Instant::now() > deadline {
            return;
        }
        let pids = below.iter().filter_map(|pid| Pid::from_raw(*pid as i32));
        let opened: Vec<_> = pids.filter_map(|pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?))).collect();
        // A pid may have been reused between listing and opening. Only a process that is still below is meant.
        let still = descendants(Path::new("/proc"), ancestor.as_raw_pid() as u32);
        let listed = opened.into_iter().filter(|(pid, _)| still.contains(&(pid.as_raw_pid() as u32)));
        let dying: Vec<_> = listed.map(|(_, process)| process).collect();
        // Both fail only for processes that are gone already or cannot end. The next round shows which.
        for process in &dying {
            let _ = pidfd_send_signal(process, Signal::KILL);
        }
        for process in &dying {
            let _ = readable_before(process, deadline);
        }
    }
}

/// Kills these children of this process and all processes below them. First stops all of them from the top. Otherwise
/// processes forked in between would be missed, and processes that lose their parent could not be found.
pub fn kill_trees(children: &[Pid]) {
    // A child keeps its pid until it is waited for, so the signal reaches it. Processes that are gone need none.
    for child in children {
        let _ = kill_process(*child, Signal::STOP);
    }
    for process in all_standing_still_below(children).values() {
        let _ = pidfd_send_signal(process, Signal::KILL);
    }
    for child in children {
        let _ = kill_process(*child, Signal::KILL);
    }
}

/// Stops all processes below these until it finds no new ones.
fn all_standing_still_below(ancestors: &[Pid]) -> BTreeMap<u32, OwnedFd> {
    let deadline = Instant::now() + KILL_LIMIT;
    let below = || -> BTreeSet<u32> {
        let tree = ProcessTree::read(Path::new("/proc"));
        ancestors.iter().flat_map(|ancestor| tree.below(ancestor.as_raw_pid() as u32)).collect()
    };
    let mut stopped: BTreeMap<u32, OwnedFd> = BTreeMap::new();
    while sees_own_numbers() && Instant::now() < deadline {
        let found = below();
        let new = found.into_iter().filter(|pid| !stopped.contains_key(pid));
        let open = |pid| Some((pid, pidfd_open(Pid::from_raw(pid as i32)?, PidfdFlags::empty()).ok()?));
        let opened: Vec<(u32, OwnedFd)> = new.filter_map(open).collect();
        if opened.is_empty() {
            break;
        }
        // A pid may have been reused between listing and opening. Only a process that is still below is meant.
        let still = below();
        for (pid, process) in opened.into_iter().filter(|(pid, _)| still.contains(pid)) {
            let _ = pidfd_send_signal(&process, Signal::STOP);
            stopped.insert(pid, process);
        }
    }
    stopped
}

/// Whether `/proc` belongs to the pid namespace of this process. In another one, the same pids are other processes.
fn sees_own_numbers() -> bool {
    let own = std::fs::read_link("/proc/self");
    own.is_ok_and(|own| own.to_str() == Some(getpid().as_raw_pid().to_string().as_str()))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_tree_is_killed_with_those_who_are_in_sessions_of_their_own() {
        // All of them hold the pipe open and ignore what signals they can.
        let script =
            "trap '' TERM INT HUP; setsid sh -c 'echo here; sleep 100000; true' & echo here; sleep 100000; true";
        let mut shell = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(shell.stdout.take().unwrap());
        for _ in 0..2 {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            assert_eq!(line, "here\n");
        }
        kill_trees(&[Pid::from_child(&shell)]);
        // The output ends when the last process that could write to it has ended.
        output.read_to_end(&mut Vec::new()).unwrap();
        assert!(shell.wait().unwrap().code().is_none());
    }
}
