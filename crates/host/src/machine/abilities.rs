//! What a machine can do: the list "this machine can" of `tolok doctor`.

use serde::{Deserialize, Serialize};

use super::cgroup::CgroupMode;
use super::{Machine, format_cpu_list};

/// One thing that tolok can do on machines that allow it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ability {
    pub name: String,
    /// Whether the machine has it.
    pub state: AbilityState,
    /// By what means, or why not.
    pub how: String,
}

/// Whether a machine has an ability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AbilityState {
    Yes,
    /// In part; `how` states which.
    Partly,
    No,
    /// Only trying can tell.
    Unknown,
}

/// Which perf events this process may count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PerfEvents {
    /// Those of programs and of the kernel's work for them.
    All,
    ProgramsOnly,
    /// The kernel has them but refuses them.
    Refused,
    /// The kernel has none.
    Absent,
}

pub(super) fn perf_events(machine: &Machine) -> PerfEvents {
    match machine.instruments.perf_event_paranoid {
        None => PerfEvents::Absent,
        Some(_) if machine.rights.perf_events == Some(true) => PerfEvents::All,
        Some(..=1) => PerfEvents::All,
        Some(2) => PerfEvents::ProgramsOnly,
        Some(_) => PerfEvents::Refused,
    }
}

/// Swap that is not charged to a group lets a subject outgrow its memory limit.
pub(super) fn swap_escapes(machine: &Machine) -> bool {
    let swap = machine.memory.swap_bytes.is_some_and(|bytes| bytes > 0);
    swap && machine.limits.group.swap_accounting == Some(false)
}

pub(super) fn abilities(machine: &Machine) -> Vec<Ability> {
    let rows = [
        ("dedicated CPUs", dedicated_cpus(machine)),
        ("CPU quota", by_group(machine, "cpu", "by control group, as docker --cpus does")),
        ("throttle counts", by_group(machine, "cpu", "by control group")),
        ("exact CPU time", exact_cpu_time(machine)),
        ("memory limit", memory_limit(machine)),
        ("out-of-memory detection", by_group(machine, "memory", "by control group")),
        ("PSS", proportional_memory(machine)),
        ("own network namespaces", network_namespaces(machine)),
        ("emulated links", emulated_links(machine)),
        ("software events", software_events(machine)),
        ("hardware counters", hardware_counters(machine)),
        ("steal", steal(machine)),
        ("pressure", pressure(machine)),
    ];
    rows.into_iter().map(|(name, (state, how))| Ability { name: name.to_owned(), state, how }).collect()
}

type Verdict = (AbilityState, String);

fn yes(how: impl Into<String>) -> Verdict {
    (AbilityState::Yes, how.into())
}

fn partly(how: impl Into<String>) -> Verdict {
    (AbilityState::Partly, how.into())
}

fn no(why: impl Into<String>) -> Verdict {
    (AbilityState::No, why.into())
}

fn dedicated_cpus(machine: &Machine) -> Verdict {
    let cpus = format_cpu_list(&machine.allowed_cpus);
    match machine.allowed_cpus.len() {
        0 | 1 => no(format!("only CPU {cpus} may be used, which subject and generator would share")),
        _ if machine.may_group("cpuset") => yes(format!("by control group, out of CPUs {cpus}")),
        _ => partly(format!("out of CPUs {cpus}, by affinity only: a server can widen its own again")),
    }
}

fn by_group(machine: &Machine, controller: &str, how: &str) -> Verdict {
    match why_no_group(machine, controller) {
        None => yes(how),
        Some(why) => no(why),
    }
}

/// Why no group with that controller can be made, or `None` if one can.
fn why_no_group(machine: &Machine, controller: &str) -> Option<String> {
    if machine.cgroup.mode == CgroupMode::None {
        return Some("the system has no control groups".to_owned());
    }
    if !machine.cgroup.writable {
        return Some("tolok may make no control groups here".to_owned());
    }
    (!machine.may_group(controller)).then(|| format!("the control groups here lack the {controller} controller"))
}

/// Version 2 counts CPU time in every group, even without its cpu controller.
fn exact_cpu_time(machine: &Machine) -> Verdict {
    let v2 = matches!(machine.cgroup.mode, CgroupMode::V2 | CgroupMode::Hybrid);
    if machine.cgroup.writable && (v2 || machine.may_group("cpuacct")) {
        return yes("to the nanosecond, by control group");
    }
    if machine.instruments.schedstat {
        return partly("from /proc: what processes used that have ended is lost");
    }
    partly("from /proc, in steps of 10 ms a process: servers with many processes seem to use less than they do")
}

fn memory_limit(machine: &Machine) -> Verdict {
    match why_no_group(machine, "memory") {
        Some(why) => no(why),
        None if swap_escapes(machine) => partly("swap is not counted, so a subject can outgrow its limit into swap"),
        None => yes("by control group"),
    }
}

fn proportional_memory(machine: &Machine) -> Verdict {
    if machine.instruments.proportional_memory {
        return yes("read once, after the load");
    }
    no("the kernel has no smaps_rollup")
}

fn network_namespaces(machine: &Machine) -> Verdict {
    match (machine.rights.network_namespaces, machine.rights.administrator) {
        (Some(true), Some(true)) => yes("as administrator"),
        (Some(true), _) => yes("within a user namespace"),
        (Some(false), _) => no("the system does not allow them to this user"),
        (None, _) => (AbilityState::Unknown, "only a try shows: a filter of system calls is in force".to_owned()),
    }
}

fn emulated_links(machine: &Machine) -> Verdict {
    match (machine.rights.network_namespaces, machine.rights.tun) {
        (Some(false), _) => no("no network namespaces to put between"),
        (_, Some(false)) => no("/dev/net/tun cannot be opened"),
        (Some(true), Some(true)) => yes("delay, jitter, rate and loss, packet by packet"),
        (None, _) | (_, None) => (AbilityState::Unknown, "only a try shows".to_owned()),
    }
}

fn software_events(machine: &Machine) -> Verdict {
    match perf_events(machine) {
        PerfEvents::All => yes("switches, migrations, page faults"),
        // A switch happens in the kernel, and half of the page faults would be a different figure. So none are counted.
        PerfEvents::ProgramsOnly => no("the kernel refuses those of its own work (perf_event_paranoid is 2)"),
        PerfEvents::Refused => no(refused(machine)),
        PerfEvents::Absent => no("the kernel has no perf events"),
    }
}

fn hardware_counters(machine: &Machine) -> Verdict {
    let events = perf_events(machine);
    match events {
        PerfEvents::Refused => return no(refused(machine)),
        PerfEvents::Absent => return no("the kernel has no perf events"),
        PerfEvents::All | PerfEvents::ProgramsOnly => {}
    }
    if !machine.instruments.hardware_counters {
        return no("the processor's counters cannot be reached");
    }
    if machine.virtualisation.hypervisor {
        return partly("only in the diagnostic pass: under a hypervisor, reading them costs throughput");
    }
    if events == PerfEvents::ProgramsOnly {
        return partly("in the diagnostic pass, without the kernel's work (perf_event_paranoid is 2)");
    }
    yes("in the diagnostic pass, which is not scored")
}

fn refused(machine: &Machine) -> String {
    let paranoid = machine.instruments.perf_event_paranoid.unwrap_or_default();
    format!("the kernel refuses them (perf_event_paranoid is {paranoid})")
}

fn steal(machine: &Machine) -> Verdict {
    match (machine.moment.steal_fraction, machine.virtualisation.hypervisor) {
        (None, _) => no("/proc/stat does not tell it"),
        (Some(_), true) => yes("as far as the hypervisor tells"),
        (Some(_), false) => yes("no hypervisor is seen that could take time"),
    }
}

fn pressure(machine: &Machine) -> Verdict {
    if machine.instruments.pressure {
        return yes("how long tasks wait for a CPU (PSI)");
    }
    no("the kernel does not count it (PSI is off)")
}
