//! The real kernel: a group with a process in it, and what it counts.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use tolok_load::clock::SystemClock;
use tolok_testkit::require;

use super::super::super::counters::{Scope, SoftwareCounters};
use super::*;
use crate::group::Group;

const WANTED: [Controller; 4] = [Controller::CpuAccounting, Controller::Memory, Controller::Pids, Controller::Core];

/// A shell that runs one line after another, in a group of its own if `group` is set. It ends with the test.
struct Worker {
    shell: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    group: Option<Group>,
}

impl Worker {
    fn start(group: Option<Group>) -> Self {
        let mut command = Command::new("sh");
        let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        for entrance in group.iter().flat_map(Group::entrances) {
            fs::write(entrance, shell.id().to_string()).unwrap();
        }
        let (orders, answers) = (shell.stdin.take().unwrap(), BufReader::new(shell.stdout.take().unwrap()));
        Self { shell, orders, answers, group }
    }

    /// Runs a line, and returns when it is done.
    fn work(&mut self, line: &str) {
        writeln!(self.orders, "{line}; echo done").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        assert_eq!(answer, "done\n");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.shell.kill().and_then(|()| self.shell.wait());
        if let Some(group) = &self.group {
            let _ = group.kill().and_then(|()| group.remove());
        }
    }
}

fn own_group() -> Option<Group> {
    static GROUPS: AtomicU32 = AtomicU32::new(0);
    let name = format!("tolok-test-sample-{}-{}", std::process::id(), GROUPS.fetch_add(1, Ordering::Relaxed));
    Hierarchies::find().create(&name, &BTreeSet::from(WANTED)).ok()
}

const BUSY: &str = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
/// A process that ends before the next reading.
const BUSY_AND_GONE: &str = "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'";

/// What a subject uses while it works. On the clock used here that takes a second, however busy this machine is.
fn used_while(worker: &mut Worker, members: Members, scopes: &[Scope], line: &str) -> Resources {
    let clock = ManualClock::at(START);
    let subject = Followed { part: Part::Subject, members, net_of: Some(NetOf::Process(worker.shell.id())) };
    let mut sampler = Sampler::new(&clock, Folders::default(), vec![subject]);
    sampler.count_events(Part::Subject, SoftwareCounters::attach(scopes));
    sampler.window_starts(0.0, START);
    worker.work(line);
    clock.advance(ms(1000));
    let usage = sampler.window_ends(1.0, START + ms(1000)).unwrap();
    assert!(usage.host.runnable_max > Some(0), "{usage:?}");
    usage.part(Part::Subject)
}

#[test]
fn a_real_group_counts_those_who_ended_before_anybody_looked() {
    let group = own_group();
    require!(group.is_some(), "control groups cannot be made here");
    let scope = Scope::of(group.as_ref().unwrap());
    require!(scope.is_some(), "there is no version 2 tree to count events in");
    let mut worker = Worker::start(group.clone());
    let used = used_while(&mut worker, Members::Group(group.unwrap()), &[scope.unwrap()], BUSY_AND_GONE);
    assert_eq!(used.cpu_source, tolok_model::CpuSource::Group);
    // A hundred thousand iterations take a shell tens of milliseconds, and on no machine less than one.
    assert!(used.cpu_s > 0.001 && used.user_s.unwrap() > 0.0, "{used:?}");
    assert_eq!((used.processes_max, used.threads_max), (1, 1), "{used:?}");
    let memory = used.memory.unwrap();
    assert!(
        memory.anonymous_and_kernel_bytes_max > 0 && memory.usage_bytes_max > 0 && memory.oom_kills == 0,
        "{used:?}"
    );
    let scheduler = used.scheduler.unwrap();
    assert!(scheduler.timeslices > 0 && used.network.is_some(), "{used:?}");
    require!(scheduler.context_switches.is_some(), "software events may not be counted here");
    // The child's exec alone causes many faults, and the shell gave up its CPU to wait for it.
    assert!(scheduler.context_switches > Some(0) && scheduler.page_faults > Some(20), "{used:?}");
}

#[test]
fn processes_without_a_group_are_followed_and_counted_as_well() {
    let mut worker = Worker::start(None);
    let pid = worker.shell.id();
    let used = used_while(&mut worker, Members::Process(pid), &[Scope::Below(pid)], BUSY);
    assert_eq!(used.cpu_source, tolok_model::CpuSource::Threads);
    assert!(used.cpu_s > 0.001 && used.rss_sum_bytes_max > 0, "{used:?}");
    assert_eq!((used.memory, used.throttling, used.disk_read_bytes), (None, None, None));
    let Some(switches) = used.scheduler.and_then(|counts| counts.context_switches) else {
        require!(false, "software events may not be counted here");
        return;
    };
    assert!(switches > 0, "it waited for its input: {used:?}");
}

#[test]
fn proportional_sizes_of_a_real_group_are_less_than_resident_ones() {
    let group = own_group();
    require!(group.is_some(), "control groups cannot be made here");
    let worker = Worker::start(group.clone());
    let subject = Followed { part: Part::Subject, members: Members::Group(group.unwrap()), net_of: None };
    let sampler = Sampler::new(SystemClock, Folders::default(), vec![subject]);
    let rss_bytes = last(&sampler, Part::Subject, "processes", "rss_sum_bytes").unwrap();
    let pss_bytes = sampler.after_load()[&Part::Subject] as f64;
    assert!(0.0 < pss_bytes && pss_bytes <= rss_bytes, "{pss_bytes} of {rss_bytes}");
    drop(worker);
    assert_eq!(sampler.after_load(), BTreeMap::new(), "no process is left");
}
