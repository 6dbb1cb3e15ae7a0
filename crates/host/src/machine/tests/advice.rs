//! Advice for machines that lack something.

use super::*;

const V1_ROOT: &str = "\
32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
34 31 0:31 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
";
const PLAIN: &str = "Seccomp:\t0\nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-3\n";

fn changed(files: &[(&str, &str)]) -> Machine {
    let root = good_machine();
    write(root.path(), files);
    Machine::read_from(root.path())
}

/// A machine without some of the files.
fn without(paths: &[&str], files: &[(&str, &str)]) -> Machine {
    let root = good_machine();
    for path in paths {
        let path = root.path().join(path);
        if path.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
    }
    write(root.path(), files);
    Machine::read_from(root.path())
}

fn told(machine: &Machine, what: &str) -> Advice {
    let advice = machine.advice();
    let found = advice.iter().find(|advice| advice.what.contains(what));
    found.unwrap_or_else(|| panic!("nothing is said of {what:?}: {advice:#?}")).clone()
}

fn state(machine: &Machine, name: &str) -> (AbilityState, String) {
    let ability = machine.abilities().into_iter().find(|ability| ability.name == name).unwrap();
    (ability.state, ability.how)
}

#[test]
fn a_good_machine_needs_no_advice_and_can_do_everything() {
    let machine = Machine::read_from(good_machine().path());
    assert_eq!(machine.advice(), []);
    let lacking: Vec<Ability> = machine.abilities().into_iter().filter(|one| one.state != AbilityState::Yes).collect();
    assert_eq!(lacking, []);
}

#[test]
fn each_shortcoming_of_figures_is_told() {
    let governor = "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor";
    let one_and_a_half = ("sys/fs/cgroup/tolok.scope/cpu.max", "150000 100000\n");
    // (change, severity, message)
    let table: [(&str, &str, Severity, &str); 14] = [
        ("proc/sys/kernel/sched_autogroup_enabled", "1\n", Severity::Note, "autogroup"),
        ("proc/self/status", "Cpus_allowed_list:\t2\n", Severity::Problem, "1 CPU of 4"),
        ("proc/self/status", "Cpus_allowed_list:\t0-1\n", Severity::Note, "2 CPUs may be used"),
        (one_and_a_half.0, one_and_a_half.1, Severity::Warning, "allows 1.5 CPUs"),
        ("proc/pressure/cpu", "some avg10=75.00 avg60=0 total=1\n", Severity::Warning, "75% of the 10 s before"),
        ("proc/pressure/cpu", "", Severity::Warning, "load average 3.9 on 4 CPUs"),
        ("proc/stat", "cpu  50 0 20 20 0 0 0 10 0 0\n", Severity::Warning, "took 10.0%"),
        ("proc/cpuinfo", CPUINFO, Severity::Note, "virtual machine (unknown hypervisor)"),
        (governor, "powersave\n", Severity::Warning, "governor is powersave"),
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n", Severity::Note, "boost"),
        ("proc/sys/net/ipv4/ip_local_port_range", "50000 60999\n", Severity::Warning, "11000 local ports"),
        ("proc/sys/net/core/somaxconn", "128\n", Severity::Warning, "queues of 128"),
        ("proc/self/status", "Cpus_allowed_list:\t1,3\n", Severity::Warning, "siblings of one core"),
        ("proc/pressure/cpu", "some avg10=11.00 avg60=0 total=1\n", Severity::Warning, "busy when looked at"),
    ];
    for (file, text, severity, what) in table {
        assert_eq!(told(&changed(&[(file, text)]), what).severity, severity, "{file}");
    }
    let unseen = without(&["sys/devices/system/cpu/cpu1/cpufreq"], &[]);
    assert_eq!(told(&unseen, "no cpufreq").bears_on, BearsOn::Figures);
    assert!(told(&unseen, "no cpufreq").fix.contains("driver"));
}

#[test]
fn programs_that_have_a_cpu_each_wait_for_none_and_are_told_of_all_the_same() {
    let mut machine = changed(&[("proc/pressure/cpu", "some avg10=0.00 avg60=0 total=1\n")]);
    let by = "most of it by rustc (pid 7, 0.98 CPUs)";
    machine.moment.others = Some(Others { share: 0.05, busiest: Some(by.to_owned()) });
    assert_eq!(machine.advice(), []);
    machine.moment.others = Some(Others { share: 0.95, busiest: Some(by.to_owned()) });
    let advice = told(&machine, "busy when looked at");
    assert_eq!(advice.what, format!("busy when looked at: other programs used 95% of the CPUs, {by}"));
    assert_eq!((advice.severity, advice.bears_on), (Severity::Warning, BearsOn::Figures));
}

#[test]
fn each_lack_of_an_ability_is_told() {
    let swap = ("proc/meminfo", "MemTotal: 1024 kB\nSwapTotal: 1024 kB\n");
    let unprivileged = ("proc/self/status", PLAIN);
    let hypervisor = ("proc/cpuinfo", CPUINFO);
    let no_namespaces = ("proc/sys/user/max_user_namespaces", "0\n");
    let swap_file = "sys/fs/cgroup/tolok.scope/memory.swap.max";
    // (what is missing, change, severity, message, what to do)
    type Row<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], Severity, &'a str, &'a str);
    let table: [Row; 15] = [
        (
            &[],
            &[("proc/self/limits", "Max open files  1024  4096  files\n")],
            Severity::Warning,
            "4096 at most",
            "ulimit",
        ),
        (
            &[],
            &[("proc/self/limits", "Max open files  512  1024  files\n")],
            Severity::Problem,
            "1024 at most",
            "ulimit",
        ),
        (&[], &[("proc/self/mountinfo", "")], Severity::Problem, "has no control groups", "mount"),
        (
            &["sys/fs/cgroup"],
            &[unprivileged],
            Severity::Problem,
            "no control groups here",
            "systemd-run --user --scope",
        ),
        (&["sys/fs/cgroup"], &[], Severity::Problem, "no control groups here", "systemd-run --scope"),
        (&["sys/fs/cgroup"], &[(".dockerenv", "")], Severity::Problem, "no control groups here", "container"),
        (
            &["sys/fs/cgroup"],
            &[("proc/self/mountinfo", V1_ROOT)],
            Severity::Problem,
            "no control groups here",
            "as root",
        ),
        (&[swap_file], &[swap], Severity::Warning, "do not count it", "swapoff"),
        (&[], &[unprivileged, no_namespaces], Severity::Warning, "no network namespaces", "max_user_namespaces"),
        (&["dev/net/tun"], &[], Severity::Warning, "/dev/net/tun", "modprobe tun"),
        (&["dev/net/tun"], &[("run/.containerenv", "")], Severity::Warning, "/dev/net/tun", "--device"),
        (&[], &[unprivileged], Severity::Note, "real-time priority is refused to this user", "rtprio"),
        (&["sys/bus"], &[], Severity::Note, "no hardware counters", "driver"),
        (&["sys/bus"], &[hypervisor], Severity::Note, "no hardware counters", "host"),
        (&["proc/pressure/cpu"], &[], Severity::Note, "PSI", "psi=1"),
    ];
    for (missing, files, severity, what, fix) in table {
        let found = told(&without(missing, files), what);
        assert_eq!((found.severity, found.bears_on), (severity, BearsOn::Abilities), "{what}");
        assert!(found.fix.contains(fix), "{what}: {}", found.fix);
    }
    let hidden = changed(&[("lib/modules/6.12.1/modules.dep", "kernel/net/sched/sch_fq.ko:\n")]);
    assert_eq!(told(&hidden, "netem").severity, Severity::Note);
}

#[test]
fn missing_controllers_are_named_with_what_is_lost() {
    let controllers = "sys/fs/cgroup/tolok.scope/cgroup.controllers";
    let service = told(&changed(&[(controllers, "memory pids\n")]), "control groups without");
    assert_eq!((service.what.as_str(), service.severity), ("control groups without cpu, cpuset", Severity::Warning));
    assert!(service.why.contains("no CPU quota") && service.why.contains("by affinity"), "{service:?}");
    assert_eq!(service.fix, "systemd-run --scope -p Delegate=yes tolok …");
    let user = changed(&[(controllers, "cpu memory pids\n"), ("proc/self/status", PLAIN)]);
    let user = told(&user, "control groups without cpuset");
    assert_eq!(user.severity, Severity::Note);
    assert!(user.fix.starts_with("systemd-run --user --scope") && user.fix.contains("user@.service"), "{user:?}");
    let folder = ("sys/fs/cgroup/cpu/tasks", "");
    let mounts: String =
        V1_ROOT.lines().filter(|line| !line.ends_with("memory")).map(|line| format!("{line}\n")).collect();
    let old =
        [("proc/self/mountinfo", mounts.as_str()), ("proc/self/cgroup", "1:cpu:/\n2:cpuset:/\n3:pids:/\n"), folder];
    let old = told(&changed(&old), "control groups without memory");
    assert!(old.fix.contains("cgroup_enable=memory"), "{old:?}");
}

#[test]
fn perf_events_are_refused_by_a_number() {
    let paranoid =
        |number, status| changed(&[("proc/sys/kernel/perf_event_paranoid", number), ("proc/self/status", status)]);
    // (paranoid, status, software events, hardware counters)
    use AbilityState::{No, Partly, Yes};
    for (number, status, software, hardware) in [
        ("-1", PLAIN, Yes, Yes),
        ("1", PLAIN, Yes, Yes),
        // A switch happens in the kernel, so none of them is counted.
        ("2", PLAIN, No, Partly),
        ("3", PLAIN, No, No),
        ("4", STATUS, Yes, Yes),
    ] {
        let machine = paranoid(number, status);
        let found = (state(&machine, "software events").0, state(&machine, "hardware counters").0);
        assert_eq!(found, (software, hardware), "{number} {status}");
    }
    assert_eq!(told(&paranoid("2", PLAIN), "perf events of programs only").severity, Severity::Note);
    assert!(told(&paranoid("3", PLAIN), "perf_event_paranoid is 3").fix.contains("sysctl"));
    let absent = without(&["proc/sys/kernel/perf_event_paranoid"], &[]);
    assert!(told(&absent, "the kernel has no perf events").fix.contains("PERF_EVENTS"));
    let guest = changed(&[("proc/cpuinfo", CPUINFO), ("proc/sys/kernel/perf_event_paranoid", "1\n")]);
    assert_eq!(state(&guest, "hardware counters").0, Partly);
    assert!(told(&guest, "through a hypervisor").fix.contains("diagnostic pass only"));
}

#[test]
fn autogroup_matters_where_groups_cannot_help() {
    let on = ("proc/sys/kernel/sched_autogroup_enabled", "1\n");
    assert!(told(&changed(&[on]), "autogroup").why.contains("control groups with weights"));
    // A service whose group may not be divided is still outside autogroup.
    let service = without(&["sys/fs/cgroup/tolok.scope/cgroup.controllers"], &[on]);
    assert_eq!(told(&service, "autogroup").severity, Severity::Note);
    assert!(told(&service, "autogroup").why.contains("was started in"));
    let bare = without(&["sys/fs/cgroup"], &[on]);
    assert_eq!(told(&bare, "autogroup").severity, Severity::Warning);
    assert!(told(&bare, "autogroup").fix.contains("sysctl"));
}

#[test]
fn real_time_priority_is_refused_in_groups_with_budgets() {
    let config = "CONFIG_HZ=250\nCONFIG_NET_SCH_NETEM=m\nCONFIG_RT_GROUP_SCHED=y\n";
    let machine = changed(&[("boot/config-6.12.1", config)]);
    assert_eq!(told(&machine, "RT_GROUP_SCHED").severity, Severity::Note);
    let with_budget = |us| {
        let mut machine = machine.clone();
        machine.scheduler.own_rt_runtime_us = Some(us);
        machine.advice().iter().filter(|advice| advice.what.contains("RT_GROUP_SCHED")).count()
    };
    assert_eq!((with_budget(0), with_budget(950_000)), (1, 0), "tolok passes on its own group's budget");
}

#[test]
fn another_congestion_control_than_cubic_matters_only_where_tolok_cannot_set_it() {
    let bbr = ("proc/sys/net/ipv4/tcp_congestion_control", "bbr\n");
    let fix = |machine: Machine| told(&machine, "congestion control is bbr").fix;
    assert!(changed(&[bbr]).advice().iter().all(|advice| !advice.what.contains("congestion")));
    let no_cubic = ("proc/sys/net/ipv4/tcp_available_congestion_control", "reno bbr\n");
    assert!(fix(changed(&[bbr, no_cubic])).contains("modprobe tcp_cubic"));
    let bound = [bbr, ("proc/self/status", PLAIN), ("proc/sys/user/max_user_namespaces", "0\n")];
    assert!(fix(changed(&bound)).contains("sysctl"));
}

#[test]
fn abilities_say_why_they_are_lacking() {
    use AbilityState::{No, Partly, Unknown, Yes};
    let no_groups = changed(&[("proc/self/mountinfo", "")]);
    let bound = without(&["sys/fs/cgroup"], &[]);
    let filtered = changed(&[("proc/self/status", "Seccomp:\t2\nCapEff:\t0\nCpus_allowed_list:\t0-3\n")]);
    let no_memory = changed(&[("sys/fs/cgroup/tolok.scope/cgroup.controllers", "cpuset cpu pids\n")]);
    let swap = ("proc/meminfo", "MemTotal: 1024 kB\nSwapTotal: 1024 kB\n");
    let swapping = without(&["sys/fs/cgroup/tolok.scope/memory.swap.max"], &[swap]);
    let one_cpu = changed(&[("proc/self/status", "CapEff:\t0\nCpus_allowed_list:\t2\n")]);
    let plain = changed(&[("proc/self/status", PLAIN)]);
    let empty = Machine::read_from(tempfile::tempdir().unwrap().path());
    let no_tun = without(&["dev/net/tun"], &[]);
    let guest = changed(&[("proc/cpuinfo", CPUINFO)]);
    let no_tasks = without(&["proc/self/schedstat", "sys/fs/cgroup"], &[]);
    // (machine, ability, state, how)
    let table = [
        (&no_groups, "CPU quota", No, "has no control groups"),
        (&no_groups, "dedicated CPUs", Partly, "by affinity only"),
        (&no_groups, "exact CPU time", Partly, "have ended is lost"),
        (&no_tasks, "exact CPU time", Partly, "steps of 10 ms"),
        (&bound, "throttle counts", No, "may make no control groups"),
        (&no_memory, "memory limit", No, "lack the memory controller"),
        (&no_memory, "out-of-memory detection", No, "lack the memory controller"),
        (&no_memory, "CPU quota", Yes, "by control group"),
        (&swapping, "memory limit", Partly, "swap"),
        (&one_cpu, "dedicated CPUs", No, "only CPU 2"),
        (&plain, "own network namespaces", Yes, "user namespace"),
        (&filtered, "own network namespaces", Unknown, "only a try shows"),
        (&filtered, "emulated links", Unknown, "only a try shows"),
        (&no_tun, "emulated links", No, "/dev/net/tun"),
        (&guest, "steal", Yes, "hypervisor tells"),
        (&empty, "steal", No, "/proc/stat"),
        (&empty, "pressure", No, "PSI is off"),
        (&empty, "PSS", No, "smaps_rollup"),
        (&empty, "software events", No, "no perf events"),
    ];
    for (machine, name, expected, how) in table {
        let (found, words) = state(machine, name);
        assert_eq!(found, expected, "{name}: {words}");
        assert!(words.contains(how), "{name}: {words}");
    }
}

#[test]
fn the_gravest_comes_first() {
    let root = good_machine();
    let somaxconn = ("proc/sys/net/core/somaxconn", "128\n");
    write(root.path(), &[("proc/cpuinfo", CPUINFO), somaxconn, ("proc/self/status", "Cpus_allowed_list:\t2\n")]);
    let advice = Machine::read_from(root.path()).advice();
    let severities: Vec<Severity> = advice.iter().map(|advice| advice.severity).collect();
    assert!(severities.is_sorted(), "{advice:?}");
    assert_eq!(severities.first(), Some(&Severity::Problem));
    assert!(severities.contains(&Severity::Warning) && severities.contains(&Severity::Note), "{advice:?}");
}
