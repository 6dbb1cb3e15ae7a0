//! What a machine cannot do, why, and what would change that.

use super::super::Machine;
use super::super::abilities::{PerfEvents, perf_events, swap_escapes};
use super::super::cgroup::CgroupMode;
use super::{Advice, BearsOn, Check, Severity};

pub(super) const CHECKS: &[Check] = &[
    open_files,
    no_groups,
    groups_not_writable,
    controllers_missing,
    swap_not_counted,
    no_network_namespaces,
    no_tun,
    no_real_time,
    no_perf_events,
    no_hardware_counters,
    slow_hardware_counters,
    no_pressure,
    no_netem,
];

/// Fewer open files do not suffice for 10,000 connections and the subject's own files.
const NOFILE_WANTED: u64 = 16_384;
/// Fewer do not even suffice for 1,000 connections.
const NOFILE_NEEDED: u64 = 2_048;

fn say(severity: Severity, what: impl Into<String>, why: impl Into<String>, fix: impl Into<String>) -> Option<Advice> {
    Some(Advice { what: what.into(), why: why.into(), fix: fix.into(), severity, bears_on: BearsOn::Abilities })
}

fn say_if(is_so: bool, severity: Severity, what: &str, why: &str, fix: &str) -> Option<Advice> {
    if is_so { say(severity, what, why, fix) } else { None }
}

fn open_files(machine: &Machine) -> Option<Advice> {
    let limit = machine.limits.nofile?;
    let soft = limit.soft.filter(|&soft| soft < NOFILE_WANTED)?;
    // If the hard limit suffices, tolok raises its own soft limit.
    let hard = limit.hard.filter(|&hard| hard < NOFILE_WANTED)?;
    let (severity, connections) =
        if hard < NOFILE_NEEDED { (Severity::Problem, "1,000") } else { (Severity::Warning, "10,000") };
    say(
        severity,
        format!("{soft} open files at a time, {hard} at most"),
        format!("a connection is an open file on both sides: studies with {connections} connections fail"),
        "raise it for this shell: ulimit -n 65536 (as root), or nofile in /etc/security/limits.conf",
    )
}

fn no_groups(machine: &Machine) -> Option<Advice> {
    say_if(
        machine.cgroup.mode == CgroupMode::None,
        Severity::Problem,
        "the system has no control groups",
        "limits of memory and CPU are refused, subjects are pinned by affinity, and CPU time comes from /proc",
        "use a system that mounts them, as systemd does, or: sudo mount -t cgroup2 none /sys/fs/cgroup",
    )
}

fn groups_not_writable(machine: &Machine) -> Option<Advice> {
    if machine.cgroup.mode == CgroupMode::None || machine.cgroup.writable {
        return None;
    }
    let root = machine.rights.administrator == Some(true);
    let fix = match (machine.virtualisation.container.is_some(), machine.cgroup.mode) {
        (true, _) => "start the container with its own control groups writable, or tolok outside of it",
        (false, CgroupMode::V2) if root => "systemd-run --scope -p Delegate=yes tolok …",
        (false, CgroupMode::V2) => "systemd-run --user --scope -p Delegate=yes tolok …",
        (false, _) => "run tolok as root: version 1 of control groups is root's alone",
    };
    say(
        Severity::Problem,
        "tolok may make no control groups here",
        "limits of memory and CPU are refused, subjects are pinned by affinity, and CPU time comes from /proc",
        fix,
    )
}

/// The controllers that tolok uses, and what is missing without each.
const CONTROLLERS: [(&str, &str); 4] = [
    ("cpu", "no CPU quota and no weights"),
    ("memory", "no memory limit and no word of running out of memory"),
    ("cpuset", "CPUs are dedicated by affinity, which a server can widen"),
    ("pids", "no limit of processes"),
];

fn controllers_missing(machine: &Machine) -> Option<Advice> {
    if !machine.cgroup.writable {
        return None;
    }
    let missing: Vec<&(&str, &str)> = CONTROLLERS.iter().filter(|(name, _)| !machine.may_group(name)).collect();
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    let losses: Vec<&str> = missing.iter().map(|(_, loss)| *loss).collect();
    if missing.is_empty() {
        return None;
    }
    let grave = names.contains(&"cpu") || names.contains(&"memory");
    let fix = if machine.cgroup.mode != CgroupMode::V2 {
        "boot with the controllers on (cgroup_enable=memory, no cgroup_disable), or use a kernel that has them"
    } else if machine.rights.administrator == Some(true) {
        "systemd-run --scope -p Delegate=yes tolok …"
    } else {
        "systemd-run --user --scope -p Delegate=yes tolok …; for cpuset too, Delegate=cpu cpuset io memory pids in a drop-in \
         of user@.service, and log in again"
    };
    let severity = if grave { Severity::Warning } else { Severity::Note };
    say(severity, format!("control groups without {}", names.join(", ")), losses.join("; "), fix)
}

fn swap_not_counted(machine: &Machine) -> Option<Advice> {
    say_if(
        machine.may_group("memory") && swap_escapes(machine),
        Severity::Warning,
        "there is swap, and control groups do not count it",
        "a subject at its limit of memory is swapped out instead of being stopped",
        "sudo swapoff -a while measuring, or boot with swapaccount=1",
    )
}

fn no_network_namespaces(machine: &Machine) -> Option<Advice> {
    if machine.rights.network_namespaces != Some(false) {
        return None;
    }
    let fix = if machine.virtualisation.container.is_some() {
        "run tolok outside of the container, or give the container the right (--cap-add SYS_ADMIN)"
    } else {
        "run tolok as root, or allow user namespaces: user.max_user_namespaces=10000, \
         kernel.unprivileged_userns_clone=1 (Debian), kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu)"
    };
    say(
        Severity::Warning,
        "this user may make no network namespaces",
        "no links between the parts of a trial, and TCP is as the machine has set it",
        fix,
    )
}

fn no_tun(machine: &Machine) -> Option<Advice> {
    if machine.rights.tun != Some(false) {
        return None;
    }
    let fix = if machine.virtualisation.container.is_some() {
        "start the container with --device /dev/net/tun"
    } else {
        "sudo modprobe tun, and let everybody open it, as udev does: sudo chmod 666 /dev/net/tun"
    };
    say(
        Severity::Warning,
        "/dev/net/tun cannot be opened",
        "no links with delay, jitter, rate or loss: the emulator is made of it",
        fix,
    )
}

/// Only the link emulator needs it. Everything else runs with the priority that servers have.
fn no_real_time(machine: &Machine) -> Option<Advice> {
    let why = "the link emulator cannot go before others, so its delays get longer when they are at work; it reports by how much";
    let limit = machine.limits.rtprio.and_then(|limit| limit.hard);
    if machine.rights.priorities == Some(false) && limit == Some(0) {
        return say(
            Severity::Note,
            "real-time priority is refused to this user",
            why,
            "run tolok as root, allow rtprio 50 in /etc/security/limits.conf, or leave the emulator a CPU of its own",
        );
    }
    // A group can only grant what its parent group granted to it, and tolok grants that to the emulator.
    let is_granted = machine.scheduler.own_rt_runtime_us.is_some_and(|us| us > 0);
    if machine.scheduler.rt_group_scheduling != Some(true) || !machine.may_group("cpu") || is_granted {
        return None;
    }
    say(
        Severity::Note,
        "real-time priority is refused in control groups: the one that tolok was started in has none to give (RT_GROUP_SCHED)",
        why,
        "nothing on a quiet machine; with a CPU left over, the emulator has it to itself; start tolok in the root group of the \
         cpu controller (version 1)",
    )
}

fn no_perf_events(machine: &Machine) -> Option<Advice> {
    let paranoid = machine.instruments.perf_event_paranoid.unwrap_or_default();
    let fix = "sudo sysctl kernel.perf_event_paranoid=1, or run tolok as root";
    match perf_events(machine) {
        PerfEvents::All => None,
        PerfEvents::ProgramsOnly => say(
            Severity::Note,
            "perf events of programs only (perf_event_paranoid is 2)",
            "no counts of switches, migrations and page faults; the diagnostic pass does not count the kernel's work for a subject, which is most of a small request",
            fix,
        ),
        PerfEvents::Refused => say(
            Severity::Note,
            format!("perf events are refused (perf_event_paranoid is {paranoid})"),
            "no counts of switches, migrations and page faults, and no diagnostic pass",
            fix,
        ),
        PerfEvents::Absent => say(
            Severity::Note,
            "the kernel has no perf events",
            "no counts of switches, migrations and page faults, and no diagnostic pass",
            "use a kernel built with PERF_EVENTS",
        ),
    }
}

fn countable(machine: &Machine) -> bool {
    matches!(perf_events(machine), PerfEvents::All | PerfEvents::ProgramsOnly)
}

fn no_hardware_counters(machine: &Machine) -> Option<Advice> {
    if !countable(machine) || machine.instruments.hardware_counters {
        return None;
    }
    let fix = if machine.virtualisation.hypervisor {
        "use a host that hands them to its guests, or a machine without a hypervisor"
    } else {
        "use a kernel with the driver for this processor's counters"
    };
    say(Severity::Note, "no hardware counters", "no cycles and instructions a request", fix)
}

fn slow_hardware_counters(machine: &Machine) -> Option<Advice> {
    say_if(
        countable(machine) && machine.instruments.hardware_counters && machine.virtualisation.hypervisor,
        Severity::Note,
        "hardware counters through a hypervisor",
        "each reading goes to the host: a third of the throughput and more was lost to it",
        "nothing: tolok reads them in the diagnostic pass only, which is not scored",
    )
}

fn no_pressure(machine: &Machine) -> Option<Advice> {
    say_if(
        !machine.instruments.pressure,
        Severity::Note,
        "the kernel does not count how long tasks wait for CPUs (PSI)",
        "whether others are at work is judged by CPU time alone, which does not show who waited",
        "boot with psi=1",
    )
}

/// If unknown, gives no advice: tolok's own emulator is the default anyway.
fn no_netem(machine: &Machine) -> Option<Advice> {
    say_if(
        machine.kernel.netem == Some(false),
        Severity::Note,
        "the kernel has no netem",
        "links with rate or loss beyond some Gbit/s, with which the emulator cannot keep up, have nothing else to carry them",
        "nothing for other links: tolok emulates them itself; else a kernel with sch_netem (linux-modules-extra on Ubuntu)",
    )
}
