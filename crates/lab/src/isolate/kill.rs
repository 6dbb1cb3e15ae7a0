//! Ends that nobody can refuse, and signals that the box itself refuses.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, wait};

use super::wait::readable_before;
use crate::sample::descendants;

/// How long processes that were killed may take to be gone; it takes longer only where the kernel itself hangs.
pub(super) const KILL_LIMIT: Duration = Duration::from_secs(2);

/// The keeper and the init end when the lab says so or is gone; signals that ask them to end are not their business.
pub(super) fn ignore_stop_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // A handler that only sets a flag nobody reads; unlike SIG_IGN it is not inherited by the servers.
    let unread = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    [SIGHUP, SIGINT, SIGTERM]
        .into_iter()
        .try_for_each(|signal| signal_hook::flag::register(signal, unread.clone()).map(drop))
}

/// Kills every process below `ancestor` until none is left; one that is born meanwhile is met in the next round.
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
