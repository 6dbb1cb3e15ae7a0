//! Limits that leave too little room for a run, and those that leave enough.

use std::io;

use super::*;
use crate::machine::files::Files;
use crate::machine::room::{lack, not_started};

const GROUPS: &str = "34 31 0:31 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";

/// The message for an account with seven threads in two processes and these limits.
fn lacking(open_files: u64, processes: &str, status: &str, group: &str) -> Option<String> {
    let root = tempfile::tempdir().unwrap();
    let limits =
        format!("Max open files  {open_files}  4096  files\nMax processes  {processes}  {processes}  processes\n");
    write(
        root.path(),
        &[
            ("proc/self/limits", &limits),
            ("proc/self/status", status),
            ("proc/7/status", "Uid:\t1000\t1000\t1000\t1000\nThreads:\t4\n"),
            ("proc/8/status", "Uid:\t1000\t0\t0\t0\nThreads:\t3\n"),
            ("proc/9/status", "Uid:\t1001\t1000\t1000\t1000\nThreads:\t90\n"),
            ("proc/self/mountinfo", GROUPS),
            ("proc/self/cgroup", "1:pids:/user\n"),
            ("sys/fs/cgroup/pids/user/pids.max", group),
            ("sys/fs/cgroup/pids/user/pids.current", "5\n"),
        ],
    );
    lack(Files::below(root.path()))
}

const ORDINARY: &str = "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n";

#[test]
fn a_limit_that_no_run_fits_in_is_named_with_what_to_do() {
    let files = "a process may open 95 files here, and a run needs 96 or more: raise `ulimit -n`, such as to 1024";
    assert_eq!(lacking(95, "unlimited", ORDINARY, "max").unwrap(), files);
    let account =
        "this account may have 26 processes and threads and has 7, and a run needs about 20 more: raise `ulimit -u`";
    assert_eq!(lacking(96, "26", ORDINARY, "max").unwrap(), account);
    let group = "this control group may have 24 processes and threads and has 5, and a run needs about 20 more: raise \
                 `pids.max` in /sys/fs/cgroup/pids/user";
    assert_eq!(lacking(96, "27", ORDINARY, "24").unwrap(), group);
    assert_eq!(lacking(96, "27", ORDINARY, "25"), None);
}

#[test]
fn the_process_limit_is_ignored_for_users_who_may_exceed_it() {
    assert_eq!(lacking(96, "8", "Uid:\t0\t0\t0\t0\n", "max"), None);
    assert_eq!(lacking(96, "8", "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000001000000\n", "max"), None);
}

#[test]
fn a_process_that_a_limit_forbids_says_so() {
    let said = not_started(&io::Error::from_raw_os_error(11));
    assert!(said.contains("os error 11") && said.contains("`ulimit -u`") && said.contains("`pids.max`"), "{said}");
    assert!(!not_started(&io::Error::from_raw_os_error(2)).contains("ulimit"));
}
