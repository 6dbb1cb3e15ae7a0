//! Ends that no one can refuse, and signals that the box itself refuses.

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

/// How long processes that were killed may take to be gone; it takes longer only where the kernel itself hangs.
pub(super) const KILL_LIMIT: Duration = Duration::from_secs(2);

/// Keeper, init and block end when those above them say so or are gone; signals that ask them to end are not their business.
pub fn ignore_stop_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // A handler that only sets a flag no one reads; unlike SIG_IGN it is not inherited by the servers.
    let unread = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    [SIGHUP, SIGINT, SIGTERM]
        .into_iter()
        .try_for_each(|signal| signal_hook::flag::register(signal, unread.clone()).map(drop))
}

/// Kills every process below `ancestor` until none is left; the next round finds those that were forked in between.
pub(super) fn kill_all_below(ancestor: Pid) {
    let deadline = Instant::now() + KILL_LIMIT;
    loop {
        // Orphans become children of ours, and stay in the list until their end is taken in.
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        let below = descendants(Path::new("/proc"), ancestor.as_raw_pid() as u32);
        if below.is_empty() || Instant::now() > deadline {
            return;
        }
        let pids = below.iter().filter_map(|pid| Pid::from_raw(*pid as i32));
        let opened: Vec<_> = pids.filter_map(|pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?))).collect();
        // A number may have been passed on between the reading of it and the opening: who is still below is meant.
        let still = descendants(Path::new("/proc"), ancestor.as_raw_pid() as u32);
        let listed = opened.into_iter().filter(|(pid, _)| still.contains(&(pid.as_raw_pid() as u32)));
        let dying: Vec<_> = listed.map(|(_, process)| process).collect();
        // Both fail only for what is gone already, or never will be; the next round shows which.
        for process in &dying {
            let _ = pidfd_send_signal(process, Signal::KILL);
        }
        for process in &dying {
            let _ = readable_before(process, deadline);
        }
    }
}

/// Kills these children of this process and all processes below them. All are made to stand still first, from the top: what
/// forks in between would be missed, and what loses its parent could not be found any more.
pub fn kill_trees(children: &[Pid]) {
    // A child that was not waited for keeps its number, so the signal reaches it. Processes that are gone need none.
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

/// Stops all processes below these, until it finds no new one.
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
        // A number may have been passed on between the reading of it and the opening: who is still below is meant.
        let still = below();
        for (pid, process) in opened.into_iter().filter(|(pid, _)| still.contains(pid)) {
            let _ = pidfd_send_signal(&process, Signal::STOP);
            stopped.insert(pid, process);
        }
    }
    stopped
}

/// Whether `/proc` is that of the pid namespace that this process is in. Under the numbers of another stand others.
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
        // All of them hold the pipe open, and ignore what can be ignored.
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
        // It ends when the last one that could write to it has.
        output.read_to_end(&mut Vec::new()).unwrap();
        assert!(shell.wait().unwrap().code().is_none());
    }
}
