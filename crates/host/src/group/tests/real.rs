//! Tests of groups on the real kernel: does it do what was written?

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tolok_testkit::{is_own_process, require, run_in_own_process, test_name};

use super::super::*;
use super::{limits_of_cpus, wanted};

/// A group of this test, removed at its end, even after a panic.
struct Own {
    group: Group,
}

impl Own {
    fn make(controllers: &[Controller]) -> Self {
        Self::called(&fresh_name(), controllers)
    }

    fn called(name: &str, controllers: &[Controller]) -> Self {
        Self { group: Hierarchies::find().create(name, &wanted(controllers)).unwrap() }
    }

    /// Starts a shell in the group that runs `script`.
    fn start(&self, script: &str) -> Child {
        start_in(&self.group, script)
    }
}

impl std::ops::Deref for Own {
    type Target = Group;

    fn deref(&self) -> &Group {
        &self.group
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = self.group.kill().and_then(|()| self.group.remove());
    }
}

fn fresh_name() -> String {
    static GROUPS: AtomicU32 = AtomicU32::new(0);
    format!("tolok-test-{}-{}", std::process::id(), GROUPS.fetch_add(1, Ordering::Relaxed))
}

fn start_in(group: &Group, script: &str) -> Child {
    let mut child = Command::new("sh")
        .args(["-c", &format!("read go; {script}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for entrance in group.entrances() {
        fs::write(entrance, child.id().to_string()).unwrap();
    }
    child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    child
}

fn output_of(mut child: Child) -> (String, ExitStatus) {
    let mut output = String::new();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    (output, child.wait().unwrap())
}

/// Waits for the first line. The reader may consume more of the output.
fn first_line_of(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line
}

/// Whether this process can have groups with these controllers.
fn can_have(controllers: &[Controller]) -> bool {
    Hierarchies::find().usable().is_superset(&wanted(controllers))
}

#[test]
fn the_tries_of_what_is_usable_leave_nothing() {
    let found = Hierarchies::find();
    require!(!found.usable().is_empty(), "no control group can be made here");
    for level in found.levels() {
        for folder in level.values().map(|place| &place.folder) {
            let probes = format!("tolok-probe-{}-", std::process::id());
            // Other tests create groups meanwhile, and may also be probing.
            let here = folder::children(folder).unwrap();
            let tries = here.iter().filter(|child| child.file_name().unwrap().to_str().unwrap().starts_with(&probes));
            for left in tries {
                wait_until(|| !left.exists());
            }
        }
    }
}

/// Longer than anything that the tests wait for.
const NEVER: Duration = Duration::from_secs(120);

fn wait_until(mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < NEVER, "what the test waits for has not come");
        thread::yield_now();
    }
}

#[test]
fn pinned_processes_see_their_cpus_only() {
    require!(can_have(&[Controller::CpuSet]), "no cpuset controller can be used here");
    let allowed = crate::machine::Machine::read().allowed_cpus;
    let last = *allowed.last().unwrap();
    let own = Own::make(&[Controller::CpuSet]);
    let list = "grep Cpus_allowed_list /proc/self/status";
    let (before, _) = output_of(own.start(list));
    let all = crate::machine::format_cpu_list(&allowed);
    assert_eq!(before, format!("Cpus_allowed_list:\t{all}\n"), "a group without limits has all CPUs of its parent");
    own.limit(&limits_of_cpus(&[last])).unwrap();
    let (pinned, _) = output_of(own.start(list));
    assert_eq!(pinned, format!("Cpus_allowed_list:\t{last}\n"));
}

#[test]
fn cpus_that_the_machine_lacks_are_refused() {
    require!(can_have(&[Controller::CpuSet]), "no cpuset controller can be used here");
    let own = Own::make(&[Controller::CpuSet]);
    let refused = own.limit(&limits_of_cpus(&[1000])).unwrap_err().to_string();
    assert!(refused.contains("cpuset.cpus") && refused.contains("1000"), "{refused}");
}

#[test]
fn a_quota_throttles_and_cpu_time_is_counted() {
    const NEEDED: [Controller; 2] = [Controller::Cpu, Controller::CpuAccounting];
    require!(can_have(&NEEDED), "no cpu controller can be used here");
    let own = Own::make(&NEEDED);
    own.limit(&Limits { quota_cpus: Some(0.05), weight: Some(300), ..Limits::default() }).unwrap();
    let reader = own.reader();
    let mut busy = own.start("while :; do :; done");
    // The kernel counts a period when it starts to throttle, and the time when it stops.
    wait_until(|| reader.read().throttling.unwrap().throttled_ns > 0);
    let seen = reader.read();
    let throttling = seen.throttling.unwrap();
    assert!(throttling.throttled_periods > 0 && throttling.periods >= throttling.throttled_periods, "{throttling:?}");
    wait_until(|| reader.read().cpu_ns.unwrap() > seen.cpu_ns.unwrap());
    assert!(reader.read().user_ns.unwrap() > 0);
    own.kill().unwrap();
    busy.wait().unwrap();
}

#[test]
fn the_kernel_kills_what_allocates_more_than_the_limit() {
    require!(can_have(&[Controller::Memory]), "no memory controller can be used here");
    const LIMIT: u64 = 32 << 20;
    let own = Own::make(&[Controller::Memory]);
    own.limit(&Limits { memory_bytes: Some(LIMIT), ..Limits::default() }).unwrap();
    // `tail` keeps the last line in memory, and this line has no end.
    let (_, status) = output_of(own.start("exec tail /dev/zero"));
    assert_eq!(status.signal(), Some(9), "{status}");
    let memory = own.reader().read().memory.unwrap();
    assert!(memory.oom_kills >= 1, "{memory:?}");
    let peak = memory.peak_bytes.unwrap_or(LIMIT);
    assert!((LIMIT / 2..=LIMIT).contains(&peak), "{memory:?}");
}

#[test]
fn memory_is_told_by_kind() {
    require!(can_have(&[Controller::Memory]), "no memory controller can be used here");
    let own = Own::make(&[Controller::Memory]);
    // A line of 20 MB is anonymous memory of the shell that keeps it.
    let mut holder = own.start("x=$(head -c 20000000 /dev/zero | tr '\\0' a); echo held; read end");
    assert_eq!(first_line_of(&mut holder), "held\n");
    let memory = own.reader().read().memory.unwrap();
    assert!(memory.anonymous_bytes >= 20_000_000, "{memory:?}");
    assert!(memory.kernel_bytes > 0 && memory.usage_bytes >= memory.anonymous_bytes, "{memory:?}");
    assert_eq!(memory.oom_kills, 0);
    drop(holder.stdin.take());
    holder.wait().unwrap();
}

#[test]
fn a_limit_of_tasks_refuses_forks() {
    require!(can_have(&[Controller::Pids]), "no pids controller can be used here");
    let own = Own::make(&[Controller::Pids]);
    own.limit(&Limits { pids: Some(1), ..Limits::default() }).unwrap();
    let mut waiting = own.start("echo there; read go; sh -c 'echo forked'; exit 0");
    assert_eq!(first_line_of(&mut waiting), "there\n");
    assert_eq!(own.reader().read().tasks, Some(1));
    waiting.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    let (output, status) = output_of(waiting);
    assert_eq!(output, "");
    assert!(!status.success(), "the shell says that it cannot fork");
}

/// 50 shells that ignore TERM, and a parent that ignores it too.
const FORKING_TREE: &str = "trap '' TERM; i=0; while [ $i -lt 50 ]; do \
                            sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' & i=$((i+1)); done; echo forked; wait";

#[test]
fn whole_trees_are_killed_however_the_kernel_lets_it() {
    let ways = [
        &[Controller::Core, Controller::Memory][..],
        &[Controller::Freezer, Controller::Memory],
        &[Controller::Freezer],
        &[Controller::Pids],
        &[Controller::Core],
    ];
    for way in ways {
        require!(can_have(way), "{way:?} cannot be used here");
        let own = Own::make(way);
        let mut tree = own.start(FORKING_TREE);
        assert_eq!(first_line_of(&mut tree), "forked\n");
        let members = own.members().unwrap();
        assert!(members.len() >= 51 && members.contains(&tree.id()), "{way:?}: {members:?}");
        assert!(own.threads().unwrap().len() >= 51);
        own.kill().unwrap();
        assert_eq!(own.members().unwrap(), [0; 0], "{way:?}");
        own.remove().unwrap();
        assert!(own.folders().iter().all(|folder| !folder.exists()), "{way:?}");
        assert_eq!(tree.wait().unwrap().signal(), Some(9));
    }
}

#[test]
fn version_2_without_its_way_to_kill_freezes() {
    require!(can_have(&[Controller::Core]), "no version 2 group can be made here");
    let own = Own::make(&[Controller::Core]);
    let mut tree = own.start(FORKING_TREE);
    assert_eq!(first_line_of(&mut tree), "forked\n");
    ending::kill_by(&own, None).unwrap();
    assert_eq!(own.members().unwrap(), [0; 0]);
    assert_eq!(tree.wait().unwrap().signal(), Some(9));
}

#[test]
fn what_never_stops_forking_is_killed() {
    require!(can_have(&[Controller::Pids, Controller::Freezer]), "no pids controller can be used here");
    // Without the version 2 tree: with the freezer, and with signals only.
    for way in [&[Controller::Pids, Controller::Freezer][..], &[Controller::Pids]] {
        let own = Own::make(way);
        own.limit(&Limits { pids: Some(30), ..Limits::default() }).unwrap();
        let mut tree = own.start("echo go; while :; do (sleep 1000 & sleep 0.001) & done");
        assert_eq!(first_line_of(&mut tree), "go\n");
        wait_until(|| own.members().unwrap().len() > 10 || tree.try_wait().unwrap().is_some());
        own.kill().unwrap();
        assert_eq!(own.everyone().unwrap(), BTreeSet::new());
        tree.wait().unwrap();
    }
}

#[test]
fn groups_in_a_group_are_counted_killed_and_removed_with_it() {
    const NEEDED: [Controller; 3] = [Controller::Pids, Controller::Memory, Controller::Core];
    require!(can_have(&NEEDED), "no nested control groups can be used here");
    let own = Own::make(&NEEDED);
    let (subject, generator) = (own.child("subject").unwrap(), own.child("generator").unwrap());
    let mut children = [start_in(&subject, "read end"), start_in(&generator, "read end")];
    let members: BTreeSet<u32> = own.members().unwrap().into_iter().collect();
    assert_eq!(members, children.iter().map(Child::id).collect());
    assert_eq!(own.reader().read().tasks, Some(2));
    generator.kill().unwrap();
    assert_eq!(own.members().unwrap(), [children[0].id()], "the other part is not killed");
    own.kill().unwrap();
    own.remove().unwrap();
    assert!(own.folders().iter().all(|folder| !folder.exists()));
    assert!(children.iter_mut().all(|child| child.wait().unwrap().signal() == Some(9)));
    own.remove().unwrap();
}

#[test]
fn a_group_in_which_somebody_lives_is_not_removed_and_nobody_is_killed() {
    require!(can_have(&[Controller::Pids]), "no pids controller can be used here");
    let own = Own::make(&[Controller::Pids]);
    let mut child = own.start("read end; exit 7");
    let refused = ending::remove_within(&own, Duration::ZERO);
    assert!(matches!(refused, Err(GroupError::Remove { .. })), "{refused:?}");
    child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(7));
    own.remove().unwrap();
}

#[test]
fn a_reader_reads_while_processes_end_and_the_group_goes() {
    const NEEDED: [Controller; 4] = [Controller::CpuAccounting, Controller::Memory, Controller::Pids, Controller::Core];
    require!(can_have(&NEEDED), "no control groups can be used here");
    let own = Own::make(&NEEDED);
    let reader = own.reader();
    let mut children: Vec<Child> = (0..20).map(|_| own.start("sh -c :; sh -c :")).collect();
    let mut readings = vec![reader.read()];
    while readings.last().unwrap().tasks != Some(0) {
        // Without a parent that waits, the last task is a zombie that still counts.
        children.retain_mut(|child| child.try_wait().unwrap().is_none());
        readings.push(reader.read());
    }
    assert!(readings.iter().all(|reading| reading.cpu_ns.is_some() && reading.memory.is_some()));
    assert!(
        readings.windows(2).all(|pair| pair[0].cpu_ns <= pair[1].cpu_ns),
        "the CPU time of ended processes stays counted"
    );
    assert!(readings.last().unwrap().cpu_ns > Some(0));
    own.remove().unwrap();
    assert_eq!(reader.read(), GroupReading::default());
}

#[test]
fn a_sweep_ends_what_a_dead_owner_has_left_and_spares_the_living() {
    const NEEDED: [Controller; 3] = [Controller::Memory, Controller::Freezer, Controller::Core];
    require!(can_have(&NEEDED), "no control groups can be used here");
    let first = fs::read_link("/proc/self/ns/pid").is_ok_and(|own| own == Path::new("pid:[4026531836]"));
    require!(first, "inside a pid namespace, it is unknown which owners live");
    let mut owner = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let name = GroupName::of(Path::new("/proc"), owner.id()).unwrap();
    let left = Own::called(&name.to_string(), &NEEDED);
    let mut server = start_in(&left.child("subject").unwrap(), "trap '' TERM; echo up; sleep 1000");
    assert_eq!(first_line_of(&mut server), "up\n");
    let mut guest = start_in(&left.child(GUESTS).unwrap(), "echo up; read stop");
    assert_eq!(first_line_of(&mut guest), "up\n");

    let ours = |complaints: Vec<String>| complaints.into_iter().filter(|one| one.contains(&name.to_string())).count();
    assert_eq!(ours(sweep(&Hierarchies::find())), 0);
    assert!(left.members().unwrap().contains(&server.id()), "the owner lives");

    drop(owner.stdin.take());
    owner.wait().unwrap();
    assert_eq!(ours(sweep(&Hierarchies::find())), 0);
    assert_eq!(server.wait().unwrap().signal(), Some(9));
    // The guest represents a lab whose keeper was killed during a measurement.
    assert!(guest.try_wait().unwrap().is_none(), "a guest lives on");
    drop(guest.stdin.take());
    assert_eq!(guest.wait().unwrap().signal(), None);
    assert!(left.folders().iter().all(|folder| !folder.exists()));
}

#[test]
fn a_process_joins_and_goes_back_and_does_not_kill_itself() {
    const NEEDED: [Controller; 2] = [Controller::Freezer, Controller::Core];
    require!(can_have(&NEEDED), "no control groups can be used here");
    if !is_own_process() {
        return run_in_own_process(test_name!(), &[]);
    }
    let found = Hierarchies::find();
    let own = Own::make(&NEEDED);
    let before = fs::read_to_string("/proc/self/cgroup").unwrap();
    own.join().unwrap();
    assert_ne!(fs::read_to_string("/proc/self/cgroup").unwrap(), before);
    assert_eq!(own.members().unwrap(), [std::process::id()]);
    assert!(matches!(own.kill(), Err(GroupError::OwnProcess { .. })));
    found.leave(&own).unwrap();
    assert_eq!(fs::read_to_string("/proc/self/cgroup").unwrap(), before);
    own.remove().unwrap();
}

#[test]
fn on_version_2_a_process_makes_room_and_goes_back() {
    require!(can_have(&[Controller::Core]), "no version 2 group can be made here");
    if !is_own_process() {
        return run_in_own_process(test_name!(), &[]);
    }
    let found = Hierarchies::find();
    let own = Own::make(&[Controller::Core]);
    let base = own.folder(Controller::Core, Version::V2).unwrap();
    let there = |folder: &Path| fs::read_to_string(folder.join("cgroup.procs")).unwrap();
    let me = format!("{}\n", std::process::id());
    own.join().unwrap();
    let leaf_cgroup = LeafCgroup::settle_in(base).unwrap();
    assert!(leaf_cgroup.has_moved());
    assert_eq!((there(base), there(&base.join("tolok-self"))), (String::new(), me.clone()));
    // From the leaf, the folder above it is found, and a process that is already in the leaf stays.
    let group = Hierarchies::find().create("below", &wanted(&[Controller::Core])).unwrap();
    assert_eq!(group.folder(Controller::Core, Version::V2), Some(base.join("below").as_path()));
    assert!(!LeafCgroup::settle_in(base).unwrap().has_moved());
    group.remove().unwrap();
    drop(leaf_cgroup);
    assert_eq!(there(base), me);
    assert!(!base.join("tolok-self").exists());

    let mut other = own.start("read end");
    assert!(matches!(LeafCgroup::settle_in(base), Err(GroupError::Crowded { processes: 1, .. })));
    drop(other.stdin.take());
    other.wait().unwrap();
    found.leave(&own).unwrap();
    own.remove().unwrap();
}

/// In version 1 a frozen process cannot end, and a group below another is frozen separately.
#[test]
fn what_is_frozen_below_a_group_is_killed_with_it() {
    let ways = [&[Controller::Freezer, Controller::CpuAccounting][..], &[Controller::Core]];
    for way in ways {
        require!(can_have(way), "{way:?} cannot be used here");
        let own = Own::make(way);
        let below = own.child("one").unwrap();
        let Some(freezer) = below.freezer() else { continue };
        let mut tree = start_in(&below, "echo there; sleep 1000");
        assert_eq!(first_line_of(&mut tree), "there\n");
        wait_until(|| match &freezer {
            Freezer::V1 { state } => {
                // A process that forks at this moment is missed, so the kernel must be told again.
                ["THAWED", "FROZEN"].iter().for_each(|word| fs::write(state, word).unwrap());
                thread::sleep(Duration::from_millis(1));
                fs::read_to_string(state).unwrap().trim() == "FROZEN"
            }
            Freezer::V2 { freeze, events } => {
                fs::write(freeze, "1").unwrap();
                fs::read_to_string(events).unwrap().contains("frozen 1")
            }
        });
        own.kill().unwrap();
        assert_eq!(tree.wait().unwrap().signal(), Some(9));
        own.remove().unwrap();
    }
}
