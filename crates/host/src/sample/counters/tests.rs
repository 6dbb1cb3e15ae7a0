//! The processing of the counters' figures, and this machine's counters if it has them.

use std::io::Write;
use std::process::{Command, Stdio};

use tolok_testkit::require;

use super::*;

fn raw(value: u64, enabled_ns: u64, running_ns: u64) -> Raw {
    Raw { value, enabled_ns, running_ns }
}

fn reading(cycles: &[Raw]) -> DiagnosticReading {
    DiagnosticReading { counters: vec![(CYCLES.0, cycles.to_vec())], user_mode_only: false }
}

#[test]
fn a_count_of_some_turns_is_extrapolated_and_says_so() {
    assert_eq!(scaled(raw(100, 50, 50)), Some((100, false)));
    assert_eq!(scaled(raw(100, 50, 25)), Some((200, true)));
    // Enabled but never run: nothing is known. Never enabled: there was nothing to count.
    assert_eq!((scaled(raw(0, 50, 0)), scaled(raw(0, 0, 0))), (None, Some((0, false))));
}

#[test]
fn counts_are_those_between_two_readings_summed_over_cpus() {
    let cycles = |later: &[Raw], earlier: &[Raw]| reading(later).since(&reading(earlier)).cycles;
    let count = |value, scaled| Some(DiagnosticCount { value, scaled, user_mode_only: false });
    let earlier = [raw(10, 100, 100), raw(0, 0, 0)];
    assert_eq!(cycles(&[raw(30, 300, 300), raw(7, 9, 9)], &earlier), count(27, false));
    // Extrapolated by the running time in between, not by that since the beginning.
    assert_eq!(cycles(&[raw(30, 300, 200), raw(0, 0, 0)], &earlier), count(40, true));
    // If nothing is known of one CPU, the sum is unknown.
    assert_eq!(cycles(&[raw(30, 300, 300), raw(0, 9, 0)], &earlier), None);
    assert_eq!(reading(&earlier).since(&reading(&earlier)).instructions, None);
}

#[test]
fn what_is_refused_is_named_with_the_reason() {
    let nobody = SoftwareCounters::attach(&[Scope::Group(PathBuf::from("/nonexistent"))]);
    assert_eq!(nobody.read(), SoftwareEvents::default());
    assert_eq!(nobody.unavailable().len(), 5);
    let said = &nobody.unavailable()[0];
    assert!(
        said.starts_with("context switches are not counted: cannot open the group /nonexistent: No such"),
        "{said}"
    );
    let refused = explain(&io::Error::from_raw_os_error(libc::EACCES), &Scope::Below(1));
    assert!(refused.starts_with("not allowed (Permission denied"), "{refused}");
    assert!(refused.ends_with(", 1 or CAP_PERFMON would do"), "{refused}");
    let without_scope = DiagnosticCounters::attach(&[]);
    assert_eq!(without_scope.unavailable(), ["events are not counted: no scope is known"]);
}

/// Makes a waiting shell start another one that does a thousand iterations, and counts from before that to after it.
fn while_shell_works<T, R>(attach: impl FnOnce(Scope) -> T, read: impl Fn(&T) -> R) -> (T, R, R) {
    let script = "read go; sh -c 'i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done'; exit 0";
    let mut shell = Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap();
    let counters = attach(Scope::Below(shell.id()));
    let before = read(&counters);
    shell.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(shell.wait().unwrap().success());
    let after = read(&counters);
    (counters, before, after)
}

#[test]
fn the_first_scope_that_allows_it_is_taken_and_counts_for_descendants() {
    let attach = |scope| SoftwareCounters::attach(&[Scope::Group("/nonexistent".into()), scope]);
    let (counters, before, after) = while_shell_works(attach, SoftwareCounters::read);
    require!(counters.unavailable().is_empty(), "software events may not be counted here: {counters:?}");
    // The counted process has ended, and its counts were added to those of its parent.
    assert!(after.minor_faults > before.minor_faults && after.task_clock_ns > before.task_clock_ns, "{after:?}");
    assert!(after.context_switches > Some(0), "it waited for its input: {after:?}");
}

#[test]
fn instructions_and_system_calls_are_counted_where_the_machine_can() {
    let attach = |scope| DiagnosticCounters::attach(&[scope]);
    let (counters, before, after) = while_shell_works(attach, DiagnosticCounters::read);
    let unavailable = counters.unavailable();
    require!(unavailable.is_empty(), "some are not counted here: {unavailable:?}");
    let counts = after.since(&before);
    // An iteration takes a shell at least a hundred instructions, and its start alone makes tens of system calls.
    assert!(counts.instructions.unwrap().value > 100_000 && counts.cycles.unwrap().value > 0, "{counts:?}");
    assert!(counts.syscalls.unwrap().value > 20 && counts.branch_misses.is_some(), "{counts:?}");
    assert!(counts.cache_misses.is_some(), "{counts:?}");
}
