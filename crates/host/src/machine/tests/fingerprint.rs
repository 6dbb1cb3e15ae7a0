//! Complete machines, read from files.

use std::io::Write;

use super::*;

#[test]
fn a_machine_is_read_from_its_files() {
    let root = good_machine();
    let machine = Machine::read_from(root.path());
    assert_eq!(machine.topology, machine_of(2, 2));
    assert_eq!(machine.allowed_cpus, [0, 1, 2, 3]);
    assert_eq!((machine.memory.total_bytes, machine.memory.swap_bytes), (Some(1024 * 1024), Some(0)));
    assert_eq!(machine.memory.transparent_hugepages.as_deref(), Some("always"));
    assert_eq!(machine.cgroup.mode, CgroupMode::V2);
    assert_eq!(machine.cgroup.controllers, ["cpu", "cpuset", "io", "memory", "pids"]);
    assert!(machine.cgroup.writable);
    assert_eq!(machine.scheduler.autogroup.enabled, Some(false));
    assert_eq!(machine.scheduler.preemption.as_deref(), Some("voluntary"));
    assert_eq!((machine.scheduler.own_weight, machine.scheduler.rt_group_scheduling), (Some(100), Some(false)));
    assert_eq!(machine.scheduler.rt_runtime_us, Some(950_000));
    assert_eq!(machine.kernel.options, ["mitigations=auto", "psi=1"]);
    assert_eq!((machine.kernel.tick_hz, machine.kernel.netem), (Some(250), Some(true)));
    assert_eq!(machine.kernel.clocksource.as_deref(), Some("tsc"));
    assert_eq!(machine.kernel.randomised_addresses, Some(2));
    assert_eq!(machine.kernel.libc.as_deref(), Some("Debian GLIBC 2.41-12"));
    assert_eq!(machine.kernel.distribution.as_deref(), Some("Debian GNU/Linux 13 (trixie)"));
    assert_eq!(machine.limits.nofile, Some(Limit { soft: Some(1024), hard: Some(1_048_576) }));
    assert_eq!(machine.limits.file_max, Some(9_223_372_036_854_775_807));
    let group = GroupLimits { quota_cpus: None, memory_bytes: None, tasks: Some(18_000), swap_accounting: Some(true) };
    assert_eq!(machine.limits.group, group);
    assert_eq!(machine.moment.steal_fraction, Some(0.0));
    let again: Machine = serde_json::from_str(&serde_json::to_string(&machine).unwrap()).unwrap();
    assert_eq!(again, machine);
}

#[test]
fn the_processor_is_described_by_its_files() {
    let root = good_machine();
    write(root.path(), &[("proc/cpuinfo", CPUINFO)]);
    let found = Machine::read_from(root.path()).processor;
    let features_sha256 = found.features_sha256.clone().filter(|hash| hash.len() == 64);
    assert!(features_sha256.is_some(), "{found:?}");
    let cache = Cache { level: 1, holds: "Data".into(), size_bytes: 48 << 10, shared_by: Some("0,2".into()) };
    let expected = Processor {
        model: Some("AMD EPYC".into()),
        vendor: Some("AuthenticAMD".into()),
        family: Some(26),
        model_number: Some(2),
        stepping: Some(1),
        microcode: Some("0x1000065".into()),
        features_sha256,
        frequency_mhz: Some(2600.0),
        smt: Some("on".into()),
        caches: vec![cache],
        memory_nodes: Some(1),
        governor: Some("performance".into()),
        frequency_driver: Some("intel_pstate".into()),
        // `no_turbo` is the opposite of boost.
        boost: Some(false),
        vulnerabilities: [("meltdown".to_owned(), "Not affected".to_owned())].into(),
    };
    assert_eq!(found, expected);
}

#[test]
fn the_network_is_described_by_its_settings() {
    let expected = Network {
        congestion_control: Some("cubic".into()),
        congestion_controls: vec!["reno".into(), "cubic".into()],
        default_qdisc: Some("fq_codel".into()),
        loopback_mtu_bytes: Some(65_536),
        somaxconn: Some(4096),
        local_ports: Some((32_768, 60_999)),
        tcp_tw_reuse: Some(2),
        tcp_rfc1337: Some(false),
        tcp_synack_retries: Some(5),
        tcp_syncookies: Some(1),
        tcp_fin_timeout_s: Some(60),
        tcp_slow_start_after_idle: Some(true),
        tcp_timestamps: Some(1),
        netdev_max_backlog: Some(1000),
    };
    assert_eq!(Machine::read_from(good_machine().path()).network, expected);
}

#[test]
fn an_empty_root_is_a_machine_of_which_nothing_is_known() {
    let root = tempfile::tempdir().unwrap();
    let machine = Machine::read_from(root.path());
    assert_eq!(machine.processor, Processor::default());
    assert_eq!(machine.memory, Memory::default());
    assert_eq!(machine.kernel, Kernel::default());
    assert_eq!(machine.scheduler, Scheduler::default());
    assert_eq!(machine.network, Network::default());
    assert_eq!(machine.limits, Limits::default());
    assert_eq!(machine.rights, Rights::default());
    assert_eq!(machine.instruments, Instruments::default());
    assert_eq!(machine.moment, Moment::default());
    assert_eq!(machine.virtualisation, Virtualisation::default());
    assert_eq!(machine.cgroup.mode, CgroupMode::None);
}

#[test]
fn a_kernel_may_carry_its_configuration_in_itself() {
    let root = good_machine();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"CONFIG_HZ=1000\nCONFIG_RT_GROUP_SCHED=y\n# CONFIG_NET_SCH_NETEM is not set\n").unwrap();
    std::fs::write(root.path().join("proc/config.gz"), packed.finish().unwrap()).unwrap();
    let machine = Machine::read_from(root.path());
    assert_eq!((machine.kernel.tick_hz, machine.kernel.netem), (Some(1000), Some(false)));
    assert_eq!(machine.scheduler.rt_group_scheduling, Some(true));
}

#[test]
fn netem_is_looked_for_without_loading_it() {
    let builtin = "lib/modules/6.12.1/modules.builtin";
    let dependencies = "lib/modules/6.12.1/modules.dep";
    // (loaded, built in, loadable, in the configuration, found)
    let table = [
        ("sch_netem 24576 0 - Live 0x0\n", "", "", "", Some(true)),
        ("sch_netem_other 1 0\n", "", "", "", Some(false)),
        ("", "kernel/net/sched/sch_netem.ko\n", "", "", Some(true)),
        ("", "", "kernel/net/sched/sch_netem.ko.zst:\n", "CONFIG_NET_SCH_NETEM=m\n", Some(true)),
        ("", "", "kernel/net/sched/sch_fq.ko:\n", "CONFIG_NET_SCH_NETEM=m\n", Some(false)),
        ("", "", "", "CONFIG_NET_SCH_NETEM=y\n", Some(true)),
        ("", "", "", "CONFIG_HZ=250\n", Some(false)),
    ];
    for (loaded, built_in, loadable, config, expected) in table {
        let root = good_machine();
        let files =
            [("proc/modules", loaded), (builtin, built_in), (dependencies, loadable), ("boot/config-6.12.1", config)];
        write(root.path(), &files);
        assert_eq!(Machine::read_from(root.path()).kernel.netem, expected, "{loaded} {built_in} {loadable} {config}");
    }
    let root = good_machine();
    std::fs::remove_dir_all(root.path().join("lib")).unwrap();
    std::fs::remove_dir_all(root.path().join("boot")).unwrap();
    assert_eq!(Machine::read_from(root.path()).kernel.netem, None, "a container may not show the kernel's modules");
}

const V1_MOUNTS: &str = "\
31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
";

#[test]
fn the_tightest_limit_of_all_groups_around_counts() {
    let root = good_machine();
    write(
        root.path(),
        &[
            ("proc/self/cgroup", "0::/outer/inner\n"),
            ("sys/fs/cgroup/outer/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/outer/memory.max", "1073741824\n"),
            ("sys/fs/cgroup/outer/inner/cpu.max", "300000 100000\n"),
            ("sys/fs/cgroup/outer/inner/memory.max", "2147483648\n"),
        ],
    );
    let group = Machine::read_from(root.path()).limits.group;
    let expected =
        GroupLimits { quota_cpus: Some(1.5), memory_bytes: Some(1 << 30), tasks: None, swap_accounting: Some(false) };
    assert_eq!(group, expected);

    let root = good_machine();
    write(
        root.path(),
        &[
            ("proc/self/mountinfo", V1_MOUNTS),
            ("proc/self/cgroup", "4:memory:/job\n1:cpu,cpuacct:/job\n0::/\n"),
            ("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/job/cpu.shares", "2048\n"),
            ("sys/fs/cgroup/cpu,cpuacct/job/cpu.rt_runtime_us", "0\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/job/memory.memsw.limit_in_bytes", "9223372036854771712\n"),
        ],
    );
    let machine = Machine::read_from(root.path());
    let expected = GroupLimits { quota_cpus: Some(0.5), memory_bytes: None, tasks: None, swap_accounting: Some(true) };
    assert_eq!(machine.limits.group, expected);
    assert_eq!((machine.scheduler.own_weight, machine.scheduler.rt_group_scheduling), (Some(2048), Some(true)));
    assert_eq!(machine.scheduler.own_rt_runtime_us, Some(0));
}

#[test]
fn a_group_of_the_cpu_controller_escapes_autogroup() {
    let weight = ("sys/fs/cgroup/a.slice/cpu.weight", "100\n");
    let v2 = "28 24 0:24 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    // (mounts, own groups, a file, on, escapes)
    let table = [
        (v2, "0::/a.slice/b.scope\n", weight, "1", Some(true)),
        (v2, "0::/c.slice\n", weight, "1", Some(false)),
        (V1_MOUNTS, "1:cpu,cpuacct:/job\n0::/\n", weight, "1", Some(true)),
        (V1_MOUNTS, "1:cpu,cpuacct:/\n0::/a.slice\n", weight, "1", Some(false)),
        (V1_MOUNTS, "1:cpu,cpuacct:/\n0::/\n", weight, "0", Some(false)),
        ("", "0::/\n", weight, "1", Some(false)),
    ];
    for (mounts, own, file, enabled, escapes) in table {
        let root = tempfile::tempdir().unwrap();
        let switch = ("proc/sys/kernel/sched_autogroup_enabled", enabled);
        write(root.path(), &[("proc/self/mountinfo", mounts), ("proc/self/cgroup", own), file, switch]);
        let autogroup = Machine::read_from(root.path()).scheduler.autogroup;
        assert_eq!(autogroup.own_group_escapes, escapes, "{own}");
        assert_eq!(autogroup.applies(), Some(enabled == "1" && escapes == Some(false)), "{own}");
    }
    assert_eq!(Autogroup::default().applies(), None);
}

#[test]
fn a_kernel_without_the_switch_has_no_autogroup() {
    let root = good_machine();
    std::fs::remove_file(root.path().join("proc/sys/kernel/sched_autogroup_enabled")).unwrap();
    assert_eq!(Machine::read_from(root.path()).scheduler.autogroup.enabled, Some(false));
}

#[test]
fn rights_are_read_from_the_status_and_the_switches() {
    const PLAIN: &str = "Seccomp:\t0\nCapEff:\t0000000000000000\n";
    const FILTERED: &str = "Seccomp:\t2\nCapEff:\t0000000000000000\n";
    let debian = ("proc/sys/kernel/unprivileged_userns_clone", "0\n");
    let ubuntu = ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
    let none = ("proc/sys/user/max_user_namespaces", "0\n");
    // (status, a switch, user namespaces, network namespaces)
    let table = [
        (STATUS, None, Some(true), Some(true)),
        (STATUS, Some(debian), Some(true), Some(true)),
        (STATUS, Some(none), Some(false), Some(true)),
        (PLAIN, None, Some(true), Some(true)),
        (PLAIN, Some(debian), Some(false), Some(false)),
        (PLAIN, Some(ubuntu), Some(false), Some(false)),
        (PLAIN, Some(none), Some(false), Some(false)),
        (FILTERED, None, None, None),
    ];
    for (status, switch, user, network) in table {
        let root = good_machine();
        write(root.path(), &[("proc/self/status", status)]);
        write(root.path(), &switch.into_iter().collect::<Vec<_>>());
        let rights = Machine::read_from(root.path()).rights;
        assert_eq!((rights.user_namespaces, rights.network_namespaces), (user, network), "{status} {switch:?}");
        assert_eq!(rights.tun, Some(true));
    }
}

#[test]
fn the_rights_of_root_in_a_user_namespace_end_at_its_border() {
    let root = good_machine();
    write(root.path(), &[("proc/self/uid_map", "0 1000 1\n")]);
    let rights = Machine::read_from(root.path()).rights;
    assert_eq!((rights.administrator, rights.network_namespaces), (Some(true), Some(true)));
    assert_eq!((rights.priorities, rights.perf_events), (Some(false), Some(false)));
}

#[test]
fn containers_leave_traces() {
    for (file, text, kind) in
        [(".dockerenv", "", "docker"), ("run/.containerenv", "", "podman"), ("run/systemd/container", "lxc\n", "lxc")]
    {
        let root = good_machine();
        write(root.path(), &[(file, text)]);
        assert_eq!(Machine::read_from(root.path()).virtualisation.container.as_deref(), Some(kind));
    }
}

#[test]
fn a_machine_made_from_a_containers_image_is_none() {
    for (namespace, kind) in [("pid:[4026531836]", None), ("pid:[4026532222]", Some("docker"))] {
        let root = good_machine();
        write(root.path(), &[(".dockerenv", "")]);
        std::os::unix::fs::symlink(namespace, root.path().join("proc/self/ns/pid")).unwrap();
        assert_eq!(Machine::read_from(root.path()).virtualisation.container.as_deref(), kind);
    }
}

#[test]
fn this_machine_can_be_read() {
    let machine = Machine::read();
    assert!(!machine.topology.cpus.is_empty() && !machine.allowed_cpus.is_empty(), "{machine:?}");
    assert!(machine.kernel.release.is_some() && machine.kernel.build.is_some(), "{machine:?}");
    assert!(machine.memory.total_bytes.is_some() && machine.limits.nofile.is_some(), "{machine:?}");
    assert!(machine.rights.administrator.is_some() && machine.processor.features_sha256.is_some(), "{machine:?}");
}
