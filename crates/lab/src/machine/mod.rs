//! What machine this is, and what it can and cannot measure.
//!
//! [`Machine`] is the fingerprint that every run records: it has no host name, no user and no address in it. It is read
//! from files below a root folder, so tests invent machines by writing files; what is absent there is `None`, never a
//! guess. [`Machine::advice`] judges a fingerprint, and [`assign_cpus`] deals out the CPUs; neither looks at the machine.

mod advice;
mod cgroup;
mod cpus;
mod parse;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use advice::{Advice, Severity};
pub use cgroup::{Cgroup, CgroupMode};
pub use cpus::{Cpu, CpuMap, Topology, assign_cpus, format_cpu_list, parse_cpu_list};

/// The fingerprint of a machine, as far as it bears on a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The name of the CPU as it gives it.
    pub cpu_model: Option<String>,
    /// How many CPUs the kernel runs on.
    pub logical_cpus: usize,
    /// Which of them are siblings on a core, in a package, on a memory node.
    pub topology: Topology,
    /// Those that this process may use.
    pub allowed_cpus: Vec<u32>,
    /// Main memory.
    pub memory_bytes: Option<u64>,
    /// Swap space, used or not.
    pub swap_bytes: Option<u64>,
    /// The release of the kernel.
    pub kernel: Option<String>,
    /// The distribution, as it names itself.
    pub distribution: Option<String>,
    /// Whether this is a virtual machine, and of which make.
    pub virtualisation: Virtualisation,
    /// Which control groups there are, and whether they may be used.
    pub cgroup: Cgroup,
    /// Whether the scheduler groups tasks by session, which makes `nice` mean little.
    pub autogroup: Option<bool>,
    /// The congestion control of new connections.
    pub tcp_congestion_control: Option<String>,
    /// The longest queue of connections that a server can ask for.
    pub somaxconn: Option<u32>,
    /// The first and the last port that outgoing connections are given.
    pub local_ports: Option<(u16, u16)>,
    /// 0 never, 1 always, 2 on loopback only: whether a port in TIME_WAIT is used again.
    pub tcp_tw_reuse: Option<u32>,
    /// How many files this process may have open.
    pub nofile: Option<Limit>,
    /// The frequency governor of the first CPU that has one.
    pub governor: Option<String>,
    /// Whether the CPU may run above its nominal frequency.
    pub boost: Option<bool>,
    /// What the kernel reads time from.
    pub clocksource: Option<String>,
    /// When the kernel backs memory with huge pages: always, madvise or never.
    pub transparent_hugepages: Option<String>,
    /// Runnable tasks, averaged over 1, 5 and 15 minutes.
    pub load_average: Option<[f64; 3]>,
    /// The share of the last 10 s in which some task waited for a CPU, in percent.
    pub cpu_pressure_avg10_percent: Option<f64>,
    /// The fraction of all CPU time since boot that the hypervisor gave to others.
    pub steal_fraction: Option<f64>,
}

/// Whether this is a virtual machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Virtualisation {
    /// The CPU says that it runs under a hypervisor.
    pub hypervisor: bool,
    /// Maker and product, as the firmware names them.
    pub product: Option<String>,
}

/// A resource limit; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// The one in force.
    pub soft: Option<u64>,
    /// The one up to which a process may raise its own.
    pub hard: Option<u64>,
}

impl Machine {
    /// This machine, now.
    pub fn read() -> Self {
        Self::read_from(Path::new("/"))
    }

    /// The machine whose `proc`, `sys` and `etc` stand below that folder.
    pub fn read_from(root: &Path) -> Self {
        let text = |path: &str| std::fs::read_to_string(root.join(path)).ok();
        let word = |path: &str| text(path).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let number = |path: &str| word(path).and_then(|word| word.parse::<u32>().ok());
        let cpuinfo = text("proc/cpuinfo").unwrap_or_default();
        let meminfo = text("proc/meminfo").unwrap_or_default();
        let status = text("proc/self/status").unwrap_or_default();
        let topology = cpus::read_topology(root);
        let allowed_cpus = parse::allowed_cpus(&status).unwrap_or_else(|| topology.ids());
        Self {
            cpu_model: parse::cpu_model(&cpuinfo),
            logical_cpus: topology.cpus.len(),
            topology,
            allowed_cpus,
            memory_bytes: parse::meminfo_bytes(&meminfo, "MemTotal"),
            swap_bytes: parse::meminfo_bytes(&meminfo, "SwapTotal"),
            kernel: word("proc/sys/kernel/osrelease"),
            distribution: text("etc/os-release").and_then(|text| parse::os_release(&text, "PRETTY_NAME")),
            virtualisation: Virtualisation {
                hypervisor: parse::has_hypervisor_flag(&cpuinfo),
                product: parse::dmi_product(
                    word("sys/class/dmi/id/sys_vendor").as_deref(),
                    word("sys/class/dmi/id/product_name").as_deref(),
                ),
            },
            cgroup: cgroup::read(root),
            autogroup: number("proc/sys/kernel/sched_autogroup_enabled").map(|value| value != 0),
            tcp_congestion_control: word("proc/sys/net/ipv4/tcp_congestion_control"),
            somaxconn: number("proc/sys/net/core/somaxconn"),
            local_ports: text("proc/sys/net/ipv4/ip_local_port_range").and_then(|text| parse::port_range(&text)),
            tcp_tw_reuse: number("proc/sys/net/ipv4/tcp_tw_reuse"),
            nofile: text("proc/self/limits").and_then(|text| parse::limit(&text, "Max open files")),
            governor: cpus::first_governor(root),
            boost: boost(
                number("sys/devices/system/cpu/cpufreq/boost"),
                number("sys/devices/system/cpu/intel_pstate/no_turbo"),
            ),
            clocksource: word("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            transparent_hugepages: text("sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|text| parse::chosen(&text)),
            load_average: text("proc/loadavg").and_then(|text| parse::load_average(&text)),
            cpu_pressure_avg10_percent: text("proc/pressure/cpu").and_then(|text| parse::pressure_some_avg10(&text)),
            steal_fraction: text("proc/stat").and_then(|text| parse::steal_fraction(&text)),
        }
    }

    /// What a person should know about measuring on this machine, the gravest first.
    pub fn advice(&self) -> Vec<Advice> {
        advice::advice(self)
    }

    /// [`assign_cpus`] on the CPUs that this process may use.
    pub fn assign_cpus(&self, subject_cpus: usize, generator_cpus: usize) -> CpuMap {
        assign_cpus(&self.topology, &self.allowed_cpus, subject_cpus, generator_cpus)
    }
}

/// Two drivers say the same thing in opposite ways.
fn boost(boost: Option<u32>, no_turbo: Option<u32>) -> Option<bool> {
    boost.map(|value| value != 0).or(no_turbo.map(|value| value == 0))
}

#[cfg(test)]
mod tests;
