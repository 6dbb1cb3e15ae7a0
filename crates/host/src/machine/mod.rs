//! What machine this is, and what it can and cannot measure.
//!
//! [`Machine`] is the fingerprint that every run records. It contains no host name, user or address. It is read from
//! files below a root folder, so tests invent machines by writing files. What is missing there is `None`, never a
//! guess.
//!
//! [`Machine::advice`] and [`Machine::abilities`] judge a fingerprint, and [`assign_cpus`] assigns the CPUs. [`judge`]
//! and [`disturbances`] judge readings of how busy the machine is. None of them reads the machine.

mod abilities;
mod advice;
mod assign;
mod autogroup;
mod cgroup;
mod cpus;
mod files;
mod group_folders;
mod instruments;
mod kernel;
mod limits;
mod memory;
mod network;
mod others;
mod parse;
mod processor;
mod programs;
mod quiet;
mod rights;
mod room;
mod scheduler;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use abilities::{Ability, AbilityState};
pub use advice::{Advice, BearsOn, Severity};
pub use assign::{BesideSubject, CpuMap, CpuRefusal, CpuWish, DatabaseCpus, SubjectCpus, assign_cpus};
pub use autogroup::Autogroup;
pub use cgroup::{Cgroup, CgroupMode};
pub use cpus::{Cpu, Topology, format_cpu_list, parse_cpu_list};
pub use instruments::{Instruments, Moment};
pub use kernel::Kernel;
pub use limits::{GroupLimits, Limit, Limits};
pub use memory::Memory;
pub use network::Network;
pub use others::Others;
pub use processor::{Cache, Processor};
pub use programs::{BusyProgram, CpuTimes, OtherRun, Processes, busiest, busy_words};
pub use quiet::{
    CpuReading, Disturbance, DisturbanceKind, FOREIGN_TOLERATED, JUDGED_OVER, PRESSURE_TOLERATED, STEAL_TOLERATED,
    Stillness, TAKEN_TOLERATED, ThisHost, WaitEnd, Waited, WatchedHost, WindowFacts, disturbances, judge,
    wait_until_quiet,
};
pub use rights::Rights;
pub use room::{not_started, too_little_room};
pub use scheduler::Scheduler;

use files::Files;
use group_folders::GroupFolders;
use kernel::KernelConfig;

use crate::procfs;

/// The fingerprint of a machine, as far as it affects a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub processor: Processor,
    /// The online CPUs: which are siblings on a core, in a package, on a memory node.
    pub topology: Topology,
    /// The CPUs that this process may use.
    pub allowed_cpus: Vec<u32>,
    pub memory: Memory,
    /// The kernel and the system around it.
    pub kernel: Kernel,
    /// How the kernel distributes CPU time.
    pub scheduler: Scheduler,
    pub network: Network,
    pub limits: Limits,
    /// Whether this is a virtual machine or a container, and of which kind.
    pub virtualisation: Virtualisation,
    /// Which control groups there are, and whether they may be used.
    pub cgroup: Cgroup,
    /// What this process may do.
    pub rights: Rights,
    /// What the kernel offers for measuring.
    pub instruments: Instruments,
    /// How busy it was when this was read.
    pub moment: Moment,
}

/// Whether this is a machine within another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Virtualisation {
    /// Whether the CPU reports a hypervisor.
    pub hypervisor: bool,
    /// Vendor and product, according to the firmware.
    pub product: Option<String>,
    /// The kind of container, if it leaves a trace.
    pub container: Option<String>,
}

impl Machine {
    pub fn read() -> Self {
        Self::read_from(Path::new("/"))
    }

    /// The machine whose `proc`, `sys`, `dev`, `etc` and `lib` are below that folder.
    pub fn read_from(root: &Path) -> Self {
        let files = Files::below(root);
        let config = KernelConfig::read(files);
        let folders = GroupFolders::read(files);
        let topology = cpus::read_topology(root);
        let status = files.text("proc/self/status").unwrap_or_default();
        let allowed_cpus = parse::allowed_cpus(&status).unwrap_or_else(|| topology.ids());
        Self {
            processor: processor::read(files),
            topology,
            allowed_cpus,
            memory: memory::read(files),
            kernel: kernel::read(files, config.as_ref()),
            scheduler: scheduler::read(files, &folders, config.as_ref()),
            network: network::read(files),
            limits: limits::read(files, &folders),
            virtualisation: virtualisation(files),
            cgroup: cgroup::read(root),
            rights: rights::read(files),
            instruments: instruments::read(files),
            moment: instruments::moment(files),
        }
    }

    /// What this process may do.
    pub fn read_rights() -> Rights {
        rights::read(Files::below(Path::new("/")))
    }

    /// What users should know about measuring on this machine, most serious first.
    pub fn advice(&self) -> Vec<Advice> {
        advice::advice(self)
    }

    /// What this machine can do, and how.
    pub fn abilities(&self) -> Vec<Ability> {
        abilities::abilities(self)
    }

    /// Calls [`assign_cpus`] with the CPUs that this process may use.
    pub fn assign_cpus(&self, wish: CpuWish) -> Result<CpuMap, CpuRefusal> {
        assign_cpus(&self.topology, &self.allowed_cpus, wish)
    }

    /// Whether groups with that controller may be made below this process's own.
    fn may_group(&self, controller: &str) -> bool {
        self.cgroup.writable && self.cgroup.controllers.iter().any(|name| name == controller)
    }
}

/// A virtual machine made from a container image has the image's traces, but runs in the first pid namespace.
fn container(files: Files) -> Option<String> {
    if procfs::pid_namespace(&files.path("proc")) == Some(procfs::FIRST_PID_NAMESPACE) {
        return None;
    }
    files
        .word("run/systemd/container")
        .or_else(|| files.exists(".dockerenv").then(|| "docker".to_owned()))
        .or_else(|| files.exists("run/.containerenv").then(|| "podman".to_owned()))
}

fn virtualisation(files: Files) -> Virtualisation {
    Virtualisation {
        hypervisor: parse::has_hypervisor_flag(&files.text("proc/cpuinfo").unwrap_or_default()),
        product: parse::dmi_product(
            files.word("sys/class/dmi/id/sys_vendor").as_deref(),
            files.word("sys/class/dmi/id/product_name").as_deref(),
        ),
        container: container(files),
    }
}

#[cfg(test)]
mod tests;
