//! Invented machines, and text as real kernels print it.

mod advice;
mod assign;
mod fingerprint;
mod parse;
mod quiet;
mod room;

use std::path::Path;

use super::*;

/// A topology of `cores` cores with `threads` siblings each, numbered as on x86 Linux: siblings come in a second round.
fn machine_of(cores: u32, threads: u32) -> Topology {
    let cpu = |id: u32| Cpu { id, core: id % cores, package: 0, node: 0 };
    Topology { cpus: (0..cores * threads).map(cpu).collect() }
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Two cores with two siblings each, an administrator in a version 2 control group of its own, a quiet system.
fn good_machine() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), GOOD_PROC);
    write(root.path(), GOOD_SYS);
    root
}

const STATUS: &str = "Seccomp:\t0\nCapEff:\t000001ffffffffff\nCpus_allowed:\tf\nCpus_allowed_list:\t0-3\n";
const CPUINFO: &str = "\
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 26
model\t\t: 2
model name\t: AMD EPYC
stepping\t: 1
microcode\t: 0x1000065
cpu MHz\t\t: 2600.000
flags\t\t: fpu vme tsc rdrand hypervisor lahf_lm
bogomips\t: 5200.00
";

const GOOD_PROC: &[(&str, &str)] = &[
    ("proc/cpuinfo", "model name\t: Some CPU\nflags\t\t: fpu\n"),
    ("proc/meminfo", "MemTotal: 1024 kB\nSwapTotal: 0 kB\n"),
    (
        "proc/cmdline",
        "BOOT_IMAGE=/vmlinuz root=UUID=0ffe mitigations=auto psi=1 quiet -- --addr 10.0.0.1 preempt=full\n",
    ),
    ("proc/self/status", STATUS),
    ("proc/self/uid_map", "         0          0 4294967295\n"),
    (
        "proc/self/limits",
        "Max open files            1024                 1048576              files\nMax realtime priority     0                    0                    \n",
    ),
    ("proc/self/mountinfo", "28 24 0:24 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"),
    ("proc/self/cgroup", "0::/tolok.scope\n"),
    ("proc/self/schedstat", "1 2 3\n"),
    ("proc/self/smaps_rollup", "Pss: 1 kB\n"),
    ("proc/self/ns/net", ""),
    ("proc/self/ns/user", ""),
    ("proc/sys/kernel/osrelease", "6.12.1\n"),
    ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.12.1-1 (2026-01-01)\n"),
    ("proc/sys/kernel/sched_autogroup_enabled", "0\n"),
    ("proc/sys/kernel/perf_event_paranoid", "2\n"),
    ("proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
    ("proc/sys/user/max_user_namespaces", "96364\n"),
    ("proc/sys/fs/file-max", "9223372036854775807\n"),
    ("proc/sys/vm/swappiness", "60\n"),
    ("proc/sys/vm/overcommit_memory", "0\n"),
    ("proc/sys/net/ipv4/tcp_congestion_control", "cubic\n"),
    ("proc/sys/net/ipv4/tcp_available_congestion_control", "reno cubic\n"),
    ("proc/sys/net/ipv4/tcp_tw_reuse", "2\n"),
    ("proc/sys/net/ipv4/tcp_rfc1337", "0\n"),
    ("proc/sys/net/ipv4/tcp_synack_retries", "5\n"),
    ("proc/sys/net/ipv4/tcp_syncookies", "1\n"),
    ("proc/sys/net/ipv4/tcp_fin_timeout", "60\n"),
    ("proc/sys/net/ipv4/tcp_slow_start_after_idle", "1\n"),
    ("proc/sys/net/ipv4/tcp_timestamps", "1\n"),
    ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
    ("proc/sys/net/core/somaxconn", "4096\n"),
    ("proc/sys/net/core/netdev_max_backlog", "1000\n"),
    ("proc/sys/net/core/default_qdisc", "fq_codel\n"),
    ("proc/loadavg", "3.90 0.10 0.10 1/100 1\n"),
    ("proc/pressure/cpu", "some avg10=0.20 avg60=0.00 avg300=0.00 total=1\n"),
    ("proc/stat", "cpu  50 0 20 30 0 0 0 0 0 0\n"),
];

const GOOD_SYS: &[(&str, &str)] = &[
    ("dev/net/tun", ""),
    ("etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n"),
    (
        "lib/x86_64-linux-gnu/libc.so.6",
        "\0ELF\0GNU C Library (Debian GLIBC 2.41-12) stable release version 2.41.\nCopyright\0",
    ),
    ("lib/modules/6.12.1/modules.builtin", "kernel/net/sched/sch_generic.ko\n"),
    ("lib/modules/6.12.1/modules.dep", "kernel/net/sched/sch_netem.ko.xz: kernel/net/sched/other.ko.xz\n"),
    (
        "boot/config-6.12.1",
        "CONFIG_HZ=250\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_NET_SCH_NETEM=m\n# CONFIG_RT_GROUP_SCHED is not set\n",
    ),
    ("sys/fs/cgroup/tolok.scope/cgroup.controllers", "cpuset cpu io memory pids\n"),
    ("sys/fs/cgroup/tolok.scope/cpu.weight", "100\n"),
    ("sys/fs/cgroup/tolok.scope/cpu.max", "max 100000\n"),
    ("sys/fs/cgroup/tolok.scope/memory.max", "max\n"),
    ("sys/fs/cgroup/tolok.scope/memory.swap.max", "max\n"),
    ("sys/fs/cgroup/tolok.scope/pids.max", "18000\n"),
    ("sys/bus/event_source/devices/cpu/type", "4\n"),
    ("sys/class/net/lo/mtu", "65536\n"),
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("sys/devices/system/cpu/smt/control", "on\n"),
    ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2\n"),
    ("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,3\n"),
    ("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2\n"),
    ("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "1,3\n"),
    ("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
    ("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n"),
    ("sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n"),
    ("sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0,2\n"),
    ("sys/devices/system/cpu/cpu0/cache/uevent", "\n"),
    ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"),
    ("sys/devices/system/cpu/cpu1/cpufreq/scaling_driver", "intel_pstate\n"),
    ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
    ("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
    ("sys/devices/system/node/node0/cpulist", "0-3\n"),
    ("sys/devices/system/node/possible", "0\n"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
    ("proc/sys/kernel/randomize_va_space", "2\n"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n"),
];
