//! Tests of groups on trees in a temporary folder, where every written value is visible.

mod real;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tolok_testkit::{FakeGroups, FakeUsage};

use super::*;

const FOR_LIMITS: [Controller; 4] = [Controller::Cpu, Controller::CpuSet, Controller::Memory, Controller::Pids];

fn wanted(controllers: &[Controller]) -> BTreeSet<Controller> {
    controllers.iter().copied().collect()
}

/// Version 2, after tolok has moved out of its group, so there is room for groups below.
fn v2(own: &str) -> FakeGroups {
    let tree = FakeGroups::v2(own);
    tree.file("core", "", "cgroup.procs", "");
    tree
}

fn limits() -> Limits {
    Limits { cpus: vec![1], quota_cpus: Some(0.5), weight: Some(1000), memory_bytes: Some(1 << 20), pids: Some(9) }
}

fn entrances_from(groups: &FakeGroups, group: &Group) -> Vec<String> {
    let short = |path: PathBuf| path.strip_prefix(groups.path().join("sys/fs/cgroup")).unwrap().display().to_string();
    group.entrances().into_iter().map(short).collect()
}

#[test]
fn version_1_has_a_folder_for_each_hierarchy_that_is_wanted() {
    let tree = FakeGroups::v1("/user/me");
    let found = Hierarchies::find_in(tree.path());
    assert_eq!(found.layout(), CgroupMode::V1);
    let group = found.create("x", &wanted(&[Controller::Cpu, Controller::CpuAccounting, Controller::Memory])).unwrap();
    // Two controllers share a hierarchy, which a process must enter only once.
    assert_eq!(entrances_from(&tree, &group), ["cpu,cpuacct/user/me/x/cgroup.procs", "memory/user/me/x/cgroup.procs"]);
    assert!(!tree.folder("pids", "x").exists());
    group.join().unwrap();
    assert_eq!(tree.text("memory", "x", "cgroup.procs"), "0\n");
}

#[test]
fn version_1_copies_cpus_and_memory_nodes_before_anybody_can_join() {
    let tree = FakeGroups::v1("/");
    let group = Hierarchies::find_in(tree.path()).create("x", &wanted(&[Controller::CpuSet])).unwrap();
    assert_eq!(
        (tree.text("cpuset", "x", "cpuset.mems"), tree.text("cpuset", "x", "cpuset.cpus")),
        ("0\n".into(), "0-3\n".into())
    );
    group.child("y").unwrap();
    assert_eq!(tree.text("cpuset", "x/y", "cpuset.cpus"), "0-3\n");
    group.limit(&Limits { cpus: vec![1, 2], ..Limits::default() }).unwrap();
    // Both values are there because writing appends: the copy from above came first.
    assert_eq!(tree.text("cpuset", "x", "cpuset.cpus"), "0-3\n1-2\n");
}

#[test]
fn version_1_limits() {
    let tree = FakeGroups::v1("/");
    let group = Hierarchies::find_in(tree.path()).create("x", &wanted(&FOR_LIMITS)).unwrap();
    group.limit(&limits()).unwrap();
    for (controller, file, expected) in [
        ("cpu", "cpu.cfs_period_us", "100000\n"),
        ("cpu", "cpu.cfs_quota_us", "50000\n"),
        ("cpu", "cpu.shares", "10240\n"),
        ("memory", "memory.limit_in_bytes", "1048576\n"),
        ("pids", "pids.max", "9\n"),
    ] {
        assert_eq!(tree.text(controller, "x", file), expected, "{file}");
    }
    let with_swap = tree.folder("memory", "x").join("memory.memsw.limit_in_bytes");
    assert!(!with_swap.exists(), "without swap accounting there is no such file, and none may be created");
    tree.file("memory", "x", "memory.memsw.limit_in_bytes", "");
    group.limit(&limits()).unwrap();
    assert_eq!(fs::read_to_string(with_swap).unwrap(), "1048576\n");
}

#[test]
fn the_weight_of_the_group_above_is_in_one_unit_and_the_root_of_everything_has_none() {
    let above = |tree: &FakeGroups| {
        let group = Hierarchies::find_in(tree.path()).create("x", &wanted(&[Controller::Cpu])).unwrap();
        let weight = group.weight_above();
        group.remove().unwrap();
        weight
    };
    let tree = FakeGroups::v1("/user/me");
    tree.file("cpu", "", "cpu.shares", "2048\n");
    assert_eq!(above(&tree), Some(200));
    let root = FakeGroups::v1("/");
    root.file("cpu", "", "cpu.shares", "1024\n");
    root.file("cpu", "", "release_agent", "\n");
    assert_eq!(above(&root), None);
    let tree = v2("/user");
    tree.file("core", "", "cpu.weight", "300\n");
    assert_eq!(above(&tree), Some(300));
}

#[test]
fn a_group_whose_memory_does_not_count_for_the_group_above_is_made_to() {
    let tree = FakeGroups::v1("/");
    let group = Hierarchies::find_in(tree.path()).create("x", &wanted(&[Controller::Memory])).unwrap();
    tree.file("memory", "x/y", "memory.use_hierarchy", "0\n");
    // The kernel creates this file with the folder. Here the folder must exist first.
    folder::prepare_v1(&Group::at([(Controller::Memory, below(&group, "y"))].into())).unwrap();
    assert_eq!(tree.text("memory", "x/y", "memory.use_hierarchy"), "0\n1\n");
}

fn below(group: &Group, name: &str) -> folder::Place {
    let folder = group.folder(Controller::Memory, Version::V1).unwrap().join(name);
    folder::Place { version: Version::V1, folder }
}

#[test]
fn a_hybrid_system_limits_by_version_1_and_kills_by_version_2() {
    let tree = FakeGroups::hybrid("/user");
    let found = Hierarchies::find_in(tree.path());
    assert_eq!(found.layout(), CgroupMode::Hybrid);
    let group = found.create("x", &wanted(&[Controller::Memory, Controller::Core])).unwrap();
    assert_eq!(entrances_from(&tree, &group), ["memory/user/x/cgroup.procs", "unified/user/x/cgroup.procs"]);
    assert_eq!(tree.text("core", "", "cgroup.subtree_control"), "\n", "version 2 has no controller to delegate");
}

#[test]
fn version_2_hands_on_step_by_step_what_is_wanted_and_offered() {
    let tree = v2("/tolok.scope");
    tree.file("core", "", "cgroup.controllers", "cpu io memory pids\n");
    let found = Hierarchies::find_in(tree.path());
    let group = found.create("x", &wanted(&[Controller::Cpu, Controller::CpuSet, Controller::Memory])).unwrap();
    assert_eq!(tree.text("core", "", "cgroup.subtree_control"), "\n+cpu\n+memory\n");
    assert_eq!(entrances_from(&tree, &group), ["tolok.scope/x/cgroup.procs"]);
    assert_eq!(group.controllers(), wanted(&[Controller::Cpu, Controller::Memory, Controller::Core]));
    assert!(
        !tree.folder("core", "x").join("cgroup.subtree_control").exists(),
        "a group for processes delegates nothing"
    );
    let part = group.child("subject").unwrap();
    assert_eq!(tree.text("core", "x", "cgroup.subtree_control"), "+cpu\n+memory\n");
    assert_eq!(entrances_from(&tree, &part), ["tolok.scope/x/subject/cgroup.procs"]);
}

#[test]
fn version_2_hands_nothing_on_where_processes_are_even_if_the_kernel_would() {
    let tree = FakeGroups::v2("/tolok.scope");
    let found = Hierarchies::find_in(tree.path());
    let refused = found.create("x", &wanted(&[Controller::Cpu])).unwrap_err();
    assert!(matches!(refused, GroupError::Crowded { processes: 1, .. }), "{refused}");
    assert_eq!(found.usable(), wanted(&[Controller::Core, Controller::CpuAccounting, Controller::Freezer]));
    assert_eq!(tree.text("core", "", "cgroup.subtree_control"), "\n");
    // The root may have both groups and processes, and has no type.
    fs::remove_file(tree.folder("core", "").join("cgroup.type")).unwrap();
    assert!(found.usable().contains(&Controller::Cpu));
    found.create("x", &wanted(&[Controller::Cpu])).unwrap();
}

#[test]
fn version_2_does_not_switch_on_what_is_on() {
    let tree = v2("/");
    tree.file("core", "", "cgroup.subtree_control", "cpuset memory\n");
    Hierarchies::find_in(tree.path()).create("x", &wanted(&[Controller::Memory, Controller::CpuSet])).unwrap();
    assert_eq!(tree.text("core", "", "cgroup.subtree_control"), "cpuset memory\n");
}

#[test]
fn version_2_limits() {
    let tree = v2("/");
    let group = Hierarchies::find_in(tree.path()).create("x", &wanted(&FOR_LIMITS)).unwrap();
    tree.file("core", "x", "memory.swap.max", "").file("core", "x", "cpuset.cpus.effective", "1\n");
    group.limit(&limits()).unwrap();
    for (file, expected) in [
        ("cpuset.cpus", "1\n"),
        ("cpu.max", "50000 100000\n"),
        ("cpu.weight", "1000\n"),
        ("memory.max", "1048576\n"),
        ("memory.swap.max", "0\n"),
        ("pids.max", "9\n"),
    ] {
        assert_eq!(tree.text("core", "x", file), expected, "{file}");
    }
}

#[test]
fn cpus_that_version_2_takes_but_does_not_grant_are_an_error() {
    let tree = v2("/");
    let group = Hierarchies::find_in(tree.path()).create("x", &wanted(&[Controller::CpuSet])).unwrap();
    tree.file("core", "x", "cpuset.cpus.effective", "0\n");
    let refused = group.limit(&limits_of_cpus(&[1])).unwrap_err();
    let said = refused.to_string();
    assert!(said.starts_with("have \"1\" in force: ") && said.contains("cpuset.cpus.effective says \"0\""), "{said}");
    group.limit(&limits_of_cpus(&[0, 0])).unwrap();
}

fn limits_of_cpus(cpus: &[u32]) -> Limits {
    Limits { cpus: cpus.to_vec(), ..Limits::default() }
}

#[test]
fn a_refusal_names_file_value_and_reason_and_leaves_nothing() {
    let tree = v2("/");
    tree.refuse("core", "", "cgroup.subtree_control");
    let refused = Hierarchies::find_in(tree.path()).create("x", &wanted(&[Controller::Memory])).unwrap_err();
    assert!(matches!(&refused, GroupError::Write { value, .. } if value == "+memory"), "{refused:?}");
    let said = refused.to_string();
    assert!(said.contains("sys/fs/cgroup/cgroup.subtree_control: ") && said.contains("Is a directory"), "{said}");
    assert!(!tree.folder("core", "x").exists());

    let tree = FakeGroups::v1("/");
    fs::remove_file(tree.folder("cpuset", "").join("cpuset.mems")).unwrap();
    let refused = Hierarchies::find_in(tree.path()).create("x", &wanted(&[Controller::Memory, Controller::CpuSet]));
    assert!(matches!(refused, Err(GroupError::Read { .. })), "{refused:?}");
    assert!(!tree.folder("memory", "x").exists());
}

#[test]
fn what_is_wrong_is_told_with_what_to_do() {
    use std::io::{Error, ErrorKind};
    let write = |error| GroupError::write("/sys/fs/cgroup/x/memory.max".into(), "1048576", error).to_string();
    insta::assert_snapshot!(write(Error::from_raw_os_error(13)), @r#"write "1048576" to /sys/fs/cgroup/x/memory.max: Permission denied (os error 13); start tolok as root, or on a system with version 2 under `systemd-run --user --scope -p Delegate=yes`"#);
    insta::assert_snapshot!(write(Error::from_raw_os_error(16)), @r#"write "1048576" to /sys/fs/cgroup/x/memory.max: Device or resource busy (os error 16); start tolok under `systemd-run --scope -p Delegate=yes` (with `--user` if not as root)"#);
    insta::assert_snapshot!(write(ErrorKind::InvalidInput.into()), @r#"write "1048576" to /sys/fs/cgroup/x/memory.max: invalid input parameter; the value must be one that the groups above allow"#);
}

#[test]
fn without_groups_nothing_is_usable_and_the_reason_is_said() {
    let root = tempfile::tempdir().unwrap();
    let found = Hierarchies::find_in(root.path());
    assert_eq!((found.layout(), found.usable()), (CgroupMode::None, BTreeSet::new()));
    let said = found.create("x", &wanted(&FOR_LIMITS)).unwrap_err().to_string();
    assert!(said.contains("none of the wanted controllers (cpu, cpuset, memory, pids) is available here; "), "{said}");
    assert_eq!(sweep(&found), [""; 0]);
}

#[test]
fn no_group_is_made_outside_of_its_parent_or_twice() {
    let tree = v2("/");
    let found = Hierarchies::find_in(tree.path());
    for name in ["..", "a/b", ""] {
        assert!(matches!(found.create(name, &wanted(&FOR_LIMITS)), Err(GroupError::Name { .. })), "{name}");
    }
    let group = found.create("x", &wanted(&FOR_LIMITS)).unwrap();
    assert!(matches!(group.child("../y"), Err(GroupError::Name { .. })));
    let twice = found.create("x", &wanted(&FOR_LIMITS)).unwrap_err();
    assert!(twice.to_string().ends_with("a group called x is left over there; remove its folder"), "{twice}");
}

#[test]
fn usable_is_what_was_tried_and_leaves_no_group() {
    for tree in [FakeGroups::v1("/a"), FakeGroups::hybrid("/a"), v2("/a")] {
        let found = Hierarchies::find_in(tree.path());
        assert_eq!(found.usable(), found.offered());
        assert!(!found.usable().is_empty());
        let here = folder::children(&tree.folder("memory", "")).unwrap();
        assert!(here.is_empty(), "{here:?}");
    }
    let crowded = v2("/a");
    crowded.refuse("core", "", "cgroup.subtree_control");
    let core = wanted(&[Controller::Core, Controller::CpuAccounting, Controller::Freezer]);
    assert_eq!(Hierarchies::find_in(crowded.path()).usable(), core);
}

#[test]
fn in_a_container_groups_are_made_in_the_part_that_is_mounted() {
    let tree = v2("/");
    tree.root_file("proc/self/cgroup", "0::/docker/1\n");
    tree.root_file("proc/self/mountinfo", "60 31 0:60 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    let group = Hierarchies::find_in(tree.path()).create("x", &wanted(&[Controller::Core])).unwrap();
    assert_eq!(entrances_from(&tree, &group), ["x/cgroup.procs"]);
}

#[test]
fn a_group_goes_to_another_process_as_text() {
    let tree = FakeGroups::hybrid("/");
    let group = Hierarchies::find_in(tree.path()).create("x", &wanted(&FOR_LIMITS)).unwrap();
    let text = serde_json::to_string(&group).unwrap();
    assert_eq!(serde_json::from_str::<Group>(&text).unwrap(), group);
    let limits = serde_json::to_string(&limits()).unwrap();
    assert_eq!(serde_json::from_str::<Limits>(&limits).unwrap(), super::tests::limits());
    assert!(serde_json::from_str::<Limits>(r#"{"memory": 1}"#).is_err());
}

fn usage() -> FakeUsage {
    FakeUsage {
        user_us: 3_000_000,
        system_us: 1_500_000,
        throttling: (40, 38, 1_900_000),
        memory_bytes: (130 << 20, 140 << 20),
        anonymous_bytes: 66 << 20,
        kernel_bytes: 55 << 20,
        oom_kills: 2,
        tasks: 206,
        refused_tasks: 3,
        disks: vec![(4096, 8192), (1, 2)],
    }
}

fn reading() -> GroupReading {
    GroupReading {
        cpu_ns: Some(4_500_000_000),
        user_ns: Some(3_000_000_000),
        system_ns: Some(1_500_000_000),
        throttling: Some(Throttling { periods: 40, throttled_periods: 38, throttled_ns: 1_900_000_000 }),
        memory: Some(GroupMemory {
            usage_bytes: 130 << 20,
            anonymous_bytes: 66 << 20,
            kernel_bytes: 55 << 20,
            peak_bytes: Some(140 << 20),
            oom_kills: 2,
        }),
        tasks: Some(206),
        refused_tasks: Some(3),
        disk: Some(DiskBytes { read_bytes: 4097, written_bytes: 8194 }),
    }
}

/// A group whose files in this tree contain [`usage`].
fn used(tree: &FakeGroups, controllers: &[Controller]) -> Group {
    let group = Hierarchies::find_in(tree.path()).create("x", &wanted(controllers)).unwrap();
    tree.usage("x", &usage());
    group
}

#[test]
fn each_layout_tells_the_same() {
    for tree in [FakeGroups::v1("/a"), FakeGroups::hybrid("/a"), v2("/a")] {
        assert_eq!(used(&tree, &Controller::ALL).reader().read(), reading(), "{tree:?}");
    }
}

#[test]
fn a_reader_sees_what_changes() {
    let tree = v2("/");
    let reader = used(&tree, &Controller::ALL).reader();
    tree.usage("x", &FakeUsage { tasks: 1, ..usage() });
    assert_eq!(reader.read(), GroupReading { tasks: Some(1), ..reading() });
}

#[test]
fn what_cannot_be_had_is_nothing_and_not_0() {
    let tree = FakeGroups::hybrid("/");
    let only_core = used(&tree, &[Controller::Core]).reader().read();
    let cpu =
        GroupReading { throttling: None, memory: None, refused_tasks: None, tasks: None, disk: None, ..reading() };
    assert_eq!(only_core, cpu, "version 2 counts CPU time without any controller");

    let tree = v2("/");
    let group = used(&tree, &Controller::ALL);
    fs::remove_file(tree.folder("core", "x").join("memory.peak")).unwrap();
    let memory = GroupMemory { peak_bytes: None, ..reading().memory.unwrap() };
    assert_eq!(group.reader().read(), GroupReading { memory: Some(memory), ..reading() }, "before Linux 5.19");

    tree.file("core", "x", "memory.events", "oom 3\n");
    assert_eq!(group.reader().read(), GroupReading { memory: None, ..reading() });
    assert_eq!(Group::at([].into()).reader().read(), GroupReading::default());
}

#[test]
fn before_linux_5_18_kernel_memory_is_a_sum() {
    let tree = v2("/");
    let group = used(&tree, &[Controller::Memory]);
    let stat =
        "anon 5\nfile 4096\nkernel_stack 100\npagetables 20\npercpu 3\nsock 9999\nslab_reclaimable 7\nslab 4000\n";
    tree.file("core", "x", "memory.stat", stat);
    let memory = group.reader().read().memory.unwrap();
    assert_eq!((memory.anonymous_bytes, memory.kernel_bytes), (5, 4123));
}

#[test]
fn a_list_longer_than_the_buffer_is_no_reading_rather_than_a_wrong_one() {
    let tree = v2("/");
    let reader = used(&tree, &[Controller::Io]).reader();
    tree.usage("x", &FakeUsage { disks: vec![(1, 1); 1000], ..usage() });
    assert_eq!(reader.read().disk, None);
}

#[test]
fn a_sweep_takes_the_groups_of_the_dead_below_and_beside_and_no_other() {
    const DEAD: &str = "tolok-752d3df0-4000000-5";
    const ALIVE: &str = "tolok-752d3df0-77-1000";
    const EARLIER: &str = "tolok-00000000-77-1000";
    for tree in [FakeGroups::v1("/a/b"), FakeGroups::hybrid("/a/b"), v2("/a/b")] {
        tree.root_file("proc/sys/kernel/random/boot_id", "752d3df0-07ff-4c65-a060-0c79137cf4a5\n");
        tree.root_file("proc/77/stat", &format!("77 (tolok) S {} 1000 0\n", "0 ".repeat(18)));
        let others = ["tolok-self", "tolok-752d3df0-4000000", "elsewhere"];
        for name in [&[DEAD, ALIVE, EARLIER], &others[..]].concat() {
            for place in ["", "../"] {
                fs::create_dir_all(tree.folder("memory", "").join(format!("{place}{name}/subject"))).unwrap();
            }
        }
        let found = Hierarchies::find_in(tree.path());
        assert_eq!(sweep(&found), [""; 0]);
        for place in [tree.folder("memory", ""), tree.folder("memory", "").parent().unwrap().to_owned()] {
            assert_eq!(
                names_in(&place),
                BTreeSet::from([ALIVE, others[0], others[1], others[2]].map(str::to_owned)),
                "{place:?}"
            );
        }
    }
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let children = folder::children(folder).unwrap().into_iter();
    let names = children.map(|child| child.file_name().unwrap().to_str().unwrap().to_owned());
    names.filter(|name| name != "b").collect()
}

#[test]
fn a_sweep_tells_what_it_could_not_remove() {
    let tree = v2("/");
    tree.root_file("proc/sys/kernel/random/boot_id", "752d3df0-07ff-4c65-a060-0c79137cf4a5\n");
    // A plain file in a plain folder prevents its removal.
    tree.file("core", "tolok-00000000-1-1", "memory.max", "max\n");
    let complaints = sweep(&Hierarchies::find_in(tree.path()));
    assert!(matches!(&complaints[..], [one] if one.contains("tolok-00000000-1-1: ")), "{complaints:?}");
}

#[test]
fn on_version_2_tolok_makes_room_and_goes_back() {
    let tree = FakeGroups::v2("/tolok.scope");
    let found = Hierarchies::find_in(tree.path());
    let leaf_cgroup = LeafCgroup::settle(&found).unwrap();
    assert!(leaf_cgroup.has_moved());
    assert_eq!(tree.text("core", "tolok-self", "cgroup.procs"), "0\n");
    // What the kernel shows after some controllers were handed on.
    tree.file("core", "", "cgroup.subtree_control", "cpu memory\n");
    drop(leaf_cgroup);
    assert_eq!(tree.text("core", "", "cgroup.subtree_control"), "cpu memory\n-cpu\n-memory\n");
    assert_eq!(tree.text("core", "", "cgroup.procs"), format!("{}\n0\n", std::process::id()));
}

#[test]
fn a_process_in_the_leaf_makes_groups_beside_it() {
    let tree = v2("/tolok.scope/tolok-self");
    fs::create_dir_all(tree.path().join("sys/fs/cgroup/tolok.scope/x")).unwrap();
    fs::remove_dir(tree.path().join("sys/fs/cgroup/tolok.scope/x")).unwrap();
    let group = Hierarchies::find_in(tree.path()).create("x", &wanted(&[Controller::Core])).unwrap();
    assert_eq!(entrances_from(&tree, &group), ["tolok.scope/x/cgroup.procs"]);
}

#[test]
fn no_process_but_tolok_is_moved() {
    let tree = FakeGroups::v2("/user.slice");
    tree.file("core", "", "cgroup.procs", &format!("1\n{}\n2\n", std::process::id()));
    let refused = LeafCgroup::settle(&Hierarchies::find_in(tree.path())).unwrap_err();
    assert!(matches!(refused, GroupError::Crowded { processes: 2, .. }), "{refused}");
    assert!(!tree.folder("core", "tolok-self").exists());
}

#[test]
fn no_room_is_needed_in_the_root_of_everything_or_without_version_2_controllers() {
    let root = FakeGroups::v2("/");
    fs::remove_file(root.folder("core", "").join("cgroup.type")).unwrap();
    for tree in [root, FakeGroups::hybrid("/a"), FakeGroups::v1("/a")] {
        assert!(!LeafCgroup::settle(&Hierarchies::find_in(tree.path())).unwrap().has_moved());
    }
}

#[test]
fn controllers_are_taken_back_at_the_end_unless_somebody_else_has_groups_by_then() {
    for (neighbour, expected) in [(false, "memory cpu\n-cpu\n"), (true, "memory cpu\n")] {
        let tree = v2("/");
        tree.file("core", "", "cgroup.subtree_control", "memory\n");
        let leaf_cgroup = LeafCgroup::settle(&Hierarchies::find_in(tree.path())).unwrap();
        // What the kernel shows after one more was handed on.
        tree.file("core", "", "cgroup.subtree_control", "memory cpu\n");
        if neighbour {
            fs::create_dir(tree.folder("core", "other")).unwrap();
        }
        drop(leaf_cgroup);
        assert_eq!(tree.text("core", "", "cgroup.subtree_control"), expected);
    }
}
