//! Invented machines, and text as real kernels print it.

use std::path::Path;

use super::*;

/// A topology of `cores` cores with `threads` siblings each, numbered as Linux does on x86: siblings come in a second round.
fn machine_of(cores: u32, threads: u32) -> Topology {
    let cpu = |id: u32| Cpu { id, core: id % cores, package: 0, node: 0 };
    Topology { cpus: (0..cores * threads).map(cpu).collect() }
}

#[test]
fn subject_and_generator_get_cpus_apart() {
    let two_sockets = Topology { cpus: (0..8).map(|id| Cpu { id, core: id, package: id % 2, node: id % 2 }).collect() };
    // (topology, allowed, asked, subject, generator, what the note says)
    type Row = (&'static str, Topology, &'static str, (usize, usize), &'static str, &'static str, &'static str);
    let table: [Row; 14] = [
        ("two cores", machine_of(2, 1), "0-1", (1, 1), "0", "1", ""),
        ("one core", machine_of(1, 1), "0", (1, 1), "0", "0", "one CPU only"),
        ("one core with two siblings", machine_of(1, 2), "0-1", (1, 1), "0", "1", "siblings of one core"),
        ("siblings are left idle where cores suffice", machine_of(4, 2), "0-7", (2, 2), "0-1", "2-3", ""),
        ("two cores with siblings, one each", machine_of(2, 2), "0-3", (1, 1), "0", "1", ""),
        ("whole cores where single ones do not suffice", machine_of(4, 2), "0-7", (4, 4), "0-1,4-5", "2-3,6-7", ""),
        ("a core is split as the last resort", machine_of(2, 2), "0-3", (3, 1), "0-2", "3", "siblings of one core"),
        ("an odd subject keeps the rest of its core idle", machine_of(3, 2), "0-5", (3, 2), "0-1,3", "2,5", ""),
        ("only allowed CPUs", machine_of(8, 1), "5,7", (1, 1), "5", "7", ""),
        ("one allowed CPU of many", machine_of(8, 1), "3", (2, 1), "3", "3", "one CPU only"),
        (
            "the generator shrinks first",
            machine_of(4, 1),
            "0-3",
            (3, 2),
            "0-2",
            "3",
            "asked for 3 + 2 CPUs, 4 may be used",
        ),
        ("then the subject", machine_of(2, 1), "0-1", (4, 2), "0", "1", "1 for the subject, 1 for the generator"),
        ("neighbours of one memory node", two_sockets, "0-7", (4, 2), "0,2,4,6", "1,3", ""),
        ("zero means one", machine_of(2, 1), "0-1", (0, 0), "0", "1", ""),
    ];
    for (name, topology, allowed, (subject_cpus, generator_cpus), subject, generator, note) in table {
        let map = assign_cpus(&topology, &parse_cpu_list(allowed).unwrap(), subject_cpus, generator_cpus);
        assert_eq!(format_cpu_list(&map.subject), subject, "subject: {name}: {map:?}");
        assert_eq!(format_cpu_list(&map.generator), generator, "generator: {name}: {map:?}");
        assert_eq!(map.shared, subject == generator, "shared: {name}");
        assert_eq!(map.note.is_some(), !note.is_empty(), "{name}: {map:?}");
        assert!(map.note.unwrap_or_default().contains(note), "note: {name}");
    }
}

#[test]
fn cpus_without_a_known_place_are_still_dealt_out() {
    let map = assign_cpus(&Topology::default(), &[4, 6], 1, 1);
    assert_eq!((map.subject, map.generator, map.shared), (vec![4], vec![6], false));
    assert!(assign_cpus(&Topology::default(), &[], 1, 1).shared);
}

#[test]
fn cpu_lists_are_read_and_written_as_the_kernel_does() {
    for (list, ids) in [("0-3,8", vec![0, 1, 2, 3, 8]), ("5\n", vec![5]), ("", vec![]), ("0,2,4", vec![0, 2, 4])] {
        assert_eq!(parse_cpu_list(list), Some(ids.clone()), "{list:?}");
        assert_eq!(format_cpu_list(&ids), list.trim());
    }
    for wrong in ["a", "3-1", "1-", "0-99999999", "-1"] {
        assert_eq!(parse_cpu_list(wrong), None, "{wrong:?}");
    }
}

const CPUINFO: &str = "\
processor\t: 0
vendor_id\t: AuthenticAMD
model\t\t: 2
model name\t: AMD EPYC
flags\t\t: fpu vme tsc rdrand hypervisor lahf_lm
bogomips\t: 5200.00
";
const LIMITS: &str = "\
Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max processes             96365                96365                processes 
Max open files            20000                unlimited            files     
";
const PRESSURE: &str = "\
some avg10=39.90 avg60=29.34 avg300=10.61 total=42900198
full avg10=0.00 avg60=0.00 avg300=0.00 total=0
";

#[test]
fn kernel_files_are_read() {
    assert_eq!(parse::cpu_model(CPUINFO).as_deref(), Some("AMD EPYC"));
    assert!(parse::has_hypervisor_flag(CPUINFO));
    assert!(!parse::has_hypervisor_flag("flags\t: fpu nohypervisor\n"), "a flag is a whole word");
    let limit = |soft, hard| Some(Limit { soft, hard });
    assert_eq!(parse::limit(LIMITS, "Max open files"), limit(Some(20000), None));
    assert_eq!(parse::limit(LIMITS, "Max cpu time"), limit(None, None));
    assert_eq!(parse::limit(LIMITS, "Max realtime priority"), None);
    assert_eq!(parse::meminfo_bytes("MemTotal:       24684096 kB\nMemFree: 1 kB\n", "MemTotal"), Some(24684096 * 1024));
    assert_eq!(parse::pressure_some_avg10(PRESSURE), Some(39.90));
    assert_eq!(parse::chosen("always [madvise] never\n").as_deref(), Some("madvise"));
    assert_eq!(parse::port_range("32768\t60999\n"), Some((32768, 60999)));
    assert_eq!(parse::load_average("2.19 0.96 0.43 4/117 29928\n"), Some([2.19, 0.96, 0.43]));
    assert_eq!(parse::steal_fraction("cpu  60 0 20 10 0 0 0 10 5 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n"), Some(0.1));
    assert_eq!(parse::allowed_cpus("Cpus_allowed:\t3\nCpus_allowed_list:\t0-1\n"), Some(vec![0, 1]));
    let os_release = "NAME=Ubuntu\nPRETTY_NAME=\"Ubuntu 24.04.3 LTS\"\nID=ubuntu\n";
    assert_eq!(parse::os_release(os_release, "PRETTY_NAME").as_deref(), Some("Ubuntu 24.04.3 LTS"));
    assert_eq!(parse::os_release(os_release, "NAME").as_deref(), Some("Ubuntu"));
    assert_eq!(parse::dmi_product(Some("QEMU"), Some("Standard PC")).as_deref(), Some("QEMU Standard PC"));
    assert_eq!(parse::dmi_product(Some("System manufacturer"), None), None);
}

#[test]
fn broken_kernel_files_are_unknown_not_wrong() {
    for text in ["", "\n", "garbage", "some avg10=", "cpu  a b", "[", "1", "cpu  0 0 0 0 0 0 0 0"] {
        assert_eq!(parse::pressure_some_avg10(text), None, "{text:?}");
        assert_eq!(parse::steal_fraction(text), None, "{text:?}");
        assert_eq!(parse::chosen(text), None, "{text:?}");
        assert_eq!(parse::port_range(text), None, "{text:?}");
        assert_eq!(parse::load_average(text), None, "{text:?}");
        assert_eq!(parse::limit(text, "Max open files"), None, "{text:?}");
        assert_eq!(parse::meminfo_bytes(text, "MemTotal"), None, "{text:?}");
        assert_eq!(parse::cpu_model(text), None, "{text:?}");
    }
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Two cores with two siblings each, a version 2 control group of its own, a quiet system.
fn good_machine() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            ("proc/cpuinfo", "model name\t: Some CPU\nflags\t\t: fpu\n"),
            ("proc/meminfo", "MemTotal: 1024 kB\nSwapTotal: 0 kB\n"),
            ("proc/self/status", "Cpus_allowed_list:\t0-3\n"),
            ("proc/self/limits", "Max open files            1024                 1048576              files\n"),
            ("proc/self/mountinfo", "28 24 0:24 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"),
            ("proc/self/cgroup", "0::/tolok.scope\n"),
            ("sys/fs/cgroup/tolok.scope/cgroup.controllers", "cpuset cpu io memory pids\n"),
            ("proc/sys/kernel/osrelease", "6.12.1\n"),
            ("proc/sys/kernel/sched_autogroup_enabled", "0\n"),
            ("proc/sys/net/ipv4/tcp_congestion_control", "cubic\n"),
            ("proc/sys/net/ipv4/tcp_tw_reuse", "2\n"),
            ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
            ("proc/sys/net/core/somaxconn", "4096\n"),
            ("proc/loadavg", "3.90 0.10 0.10 1/100 1\n"),
            ("proc/pressure/cpu", "some avg10=0.20 avg60=0.00 avg300=0.00 total=1\n"),
            ("proc/stat", "cpu  50 0 20 30 0 0 0 0 0 0\n"),
            ("etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n"),
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2\n"),
            ("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,3\n"),
            ("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2\n"),
            ("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "1,3\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
            ("sys/devices/system/node/node0/cpulist", "0-3\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n"),
        ],
    );
    root
}

#[test]
fn a_machine_is_read_from_its_files() {
    let root = good_machine();
    let machine = Machine::read_from(root.path());
    assert_eq!(machine.topology, machine_of(2, 2));
    assert_eq!(machine.logical_cpus, 4);
    assert_eq!(machine.allowed_cpus, [0, 1, 2, 3]);
    assert_eq!((machine.memory_bytes, machine.swap_bytes), (Some(1024 * 1024), Some(0)));
    assert_eq!(machine.cgroup.mode, CgroupMode::V2);
    assert_eq!(machine.cgroup.controllers, ["cpu", "cpuset", "io", "memory", "pids"]);
    assert!(machine.cgroup.writable);
    assert_eq!(machine.autogroup, Some(false));
    assert_eq!(machine.governor.as_deref(), Some("performance"));
    assert_eq!(machine.boost, Some(false), "no_turbo says the opposite of boost");
    assert_eq!(machine.clocksource.as_deref(), Some("tsc"));
    assert_eq!(machine.transparent_hugepages.as_deref(), Some("always"));
    assert_eq!(machine.steal_fraction, Some(0.0));
    assert_eq!(machine.distribution.as_deref(), Some("Debian GNU/Linux 13 (trixie)"));
    let again: Machine = serde_json::from_str(&serde_json::to_string(&machine).unwrap()).unwrap();
    assert_eq!(again, machine);
}

#[test]
fn a_good_machine_needs_no_advice() {
    assert_eq!(Machine::read_from(good_machine().path()).advice(), []);
}

#[test]
fn an_empty_root_is_a_machine_of_which_nothing_is_known() {
    let root = tempfile::tempdir().unwrap();
    let machine = Machine::read_from(root.path());
    assert_eq!((machine.cpu_model, machine.kernel, machine.governor), (None, None, None));
    assert_eq!(machine.cgroup.mode, CgroupMode::None);
}

#[test]
fn each_shortcoming_is_told() {
    // (what is changed, severity, what is said)
    let table: [(&str, &str, Severity, &str); 13] = [
        ("proc/sys/kernel/sched_autogroup_enabled", "1\n", Severity::Warning, "autogroup"),
        ("proc/self/status", "Cpus_allowed_list:\t2\n", Severity::Problem, "1 CPU of 4"),
        ("proc/self/limits", "Max open files  1024  4096  files\n", Severity::Warning, "1024 open files"),
        (
            "proc/pressure/cpu",
            "some avg10=75.00 avg60=0 avg300=0 total=1\n",
            Severity::Warning,
            "75 % of the last 10 s",
        ),
        ("proc/pressure/cpu", "", Severity::Warning, "load average 3.9 on 4 CPUs"),
        ("proc/stat", "cpu  50 0 20 20 0 0 0 10 0 0\n", Severity::Warning, "took 10.0 %"),
        ("proc/cpuinfo", CPUINFO, Severity::Note, "virtual machine (make unknown)"),
        ("proc/sys/net/ipv4/tcp_congestion_control", "bbr\n", Severity::Note, "congestion control is bbr"),
        (
            "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
            "powersave\n",
            Severity::Warning,
            "governor is powersave",
        ),
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n", Severity::Note, "boost"),
        ("proc/sys/net/ipv4/ip_local_port_range", "50000 60999\n", Severity::Warning, "11000 local ports"),
        ("proc/sys/net/core/somaxconn", "128\n", Severity::Warning, "queues of 128"),
        ("proc/self/status", "Cpus_allowed_list:\t1,3\n", Severity::Warning, "siblings of one core"),
    ];
    for (file, text, severity, what) in table {
        let root = good_machine();
        write(root.path(), &[(file, text)]);
        let advice = Machine::read_from(root.path()).advice();
        let told = advice.iter().find(|advice| advice.what.contains(what));
        assert_eq!(told.map(|advice| advice.severity), Some(severity), "{file}: {advice:?}");
    }
}

#[test]
fn the_gravest_comes_first() {
    let root = good_machine();
    let autogroup = ("proc/sys/kernel/sched_autogroup_enabled", "1\n");
    write(root.path(), &[("proc/cpuinfo", CPUINFO), autogroup, ("proc/self/status", "Cpus_allowed_list:\t2\n")]);
    let advice = Machine::read_from(root.path()).advice();
    let severities: Vec<Severity> = advice.iter().map(|advice| advice.severity).collect();
    assert_eq!(severities, [Severity::Problem, Severity::Warning, Severity::Note], "{advice:?}");
}

#[test]
fn this_machine_can_be_read() {
    let machine = Machine::read();
    assert!(machine.logical_cpus >= 1 && !machine.allowed_cpus.is_empty(), "{machine:?}");
    assert!(machine.kernel.is_some() && machine.memory_bytes.is_some());
}
