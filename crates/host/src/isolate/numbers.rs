//! Translates the pid of a process inside the box to its pid outside.

use std::fs;
use std::path::Path;

use crate::sample::descendants;

/// The pid, as seen by this process, of the process with pid `inside` in the box of `init`.
pub(super) fn outside(proc: &Path, init: u32, inside: u32) -> Option<u32> {
    descendants(proc, init).into_iter().find(|pid| {
        let status = fs::read_to_string(proc.join(format!("{pid}/status"))).unwrap_or_default();
        innermost(&status) == Some(inside)
    })
}

/// The line `NSpid:` has the pids in all pid namespaces, from that of the `/proc` inwards.
fn innermost(status: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix("NSpid:"))?.split_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use tolok_testkit::{FakeProc, FakeProcess};

    use super::*;

    #[test]
    fn a_process_is_found_by_its_number_inside() {
        let proc = FakeProc::new();
        for (pid, ppid, inside) in [(900, 800, 2), (901, 800, 3), (7, 1, 3)] {
            proc.process(&FakeProcess { pid, ppid, ..FakeProcess::default() });
            proc.file(&format!("{pid}/status"), format!("Name:\tx\nNSpid:\t{pid}\t{inside}\nThreads:\t1\n"));
        }
        assert_eq!([2, 3, 4].map(|inside| outside(proc.path(), 800, inside)), [Some(900), Some(901), None]);
    }

    #[test]
    fn without_a_pid_namespace_both_numbers_are_the_same() {
        let own = std::process::id();
        assert_eq!(outside(Path::new("/proc"), std::os::unix::process::parent_id(), own), Some(own));
    }
}
