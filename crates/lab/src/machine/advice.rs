//! What a fingerprint means for measuring: the lines of `tolok doctor`.

use serde::{Deserialize, Serialize};

use super::Machine;

/// One thing to know about measuring on a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// What was found, with the figure.
    pub what: String,
    /// What it does to a measurement.
    pub why: String,
    /// What to do about it.
    pub fix: String,
    /// How much it matters.
    pub severity: Severity,
}

/// How much a finding matters; the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Something cannot be measured here.
    Problem,
    /// Figures taken here are worse than they need be.
    Warning,
    /// Good to know when reading the figures.
    Note,
}

/// Below this many open files, 10,000 connections and the subject's own files do not fit.
const NOFILE_WANTED: u64 = 16_384;
/// Above this share of time with tasks waiting for a CPU, others disturb the measurement.
const PRESSURE_QUIET_PERCENT: f64 = 10.0;
/// Above this, the hypervisor gives away time that shows as latency.
const STEAL_QUIET: f64 = 0.005;
/// A connection per request at 10,000 a second holds a port for 60 s, so this many last about 2.5 s from one address.
const PORTS_WANTED: u16 = 25_000;
/// nginx, PHP-FPM and Node ask for 511 at least.
const SOMAXCONN_WANTED: u32 = 1024;

pub(super) fn advice(machine: &Machine) -> Vec<Advice> {
    let mut advice: Vec<Advice> = [single_core, open_files, busy, stolen, virtual_machine]
        .into_iter()
        .chain([autogroup, congestion_control, governor, boost, ports, backlog, siblings])
        .filter_map(|check| check(machine))
        .collect();
    advice.sort_by_key(|advice| advice.severity);
    advice
}

fn say(severity: Severity, what: impl Into<String>, why: &str, fix: &str) -> Option<Advice> {
    Some(Advice { what: what.into(), why: why.to_owned(), fix: fix.to_owned(), severity })
}

fn single_core(machine: &Machine) -> Option<Advice> {
    let allowed = machine.allowed_cpus.len();
    if allowed >= 2 {
        return None;
    }
    say(
        Severity::Problem,
        format!("this process may use {allowed} CPU of {}", machine.logical_cpus),
        "subject and generator share it, so throughput and latency are those of both together",
        "use a machine with 2 CPUs or more, or allow more with taskset or the container's CPU set",
    )
}

fn open_files(machine: &Machine) -> Option<Advice> {
    let limit = machine.nofile?;
    let soft = limit.soft.filter(|&soft| soft < NOFILE_WANTED)?;
    // Where the hard limit suffices, tolok raises its own.
    let hard = limit.hard.filter(|&hard| hard < NOFILE_WANTED)?;
    say(
        Severity::Warning,
        format!("{soft} open files at a time, {hard} at most"),
        "a connection is an open file on both sides: studies with thousands of connections fail",
        "raise it for this shell: ulimit -n 65536 (as root), or nofile in /etc/security/limits.conf",
    )
}

fn busy(machine: &Machine) -> Option<Advice> {
    let why = "others take the CPU in the middle of a measurement, and it shows as latency";
    let fix = "stop other work, or wait; reports say which trials were disturbed";
    // Pressure looks at the last seconds and at waiting; the load average is for kernels without it.
    if let Some(percent) = machine.cpu_pressure_avg10_percent {
        let what = format!("tasks waited for a CPU in {percent:.0} % of the last 10 s");
        return if percent > PRESSURE_QUIET_PERCENT { say(Severity::Warning, what, why, fix) } else { None };
    }
    let load = machine.load_average?[0];
    let what = format!("load average {load:.1} on {} CPUs", machine.logical_cpus);
    if load > 0.5 * machine.logical_cpus.max(1) as f64 { say(Severity::Warning, what, why, fix) } else { None }
}

fn stolen(machine: &Machine) -> Option<Advice> {
    let fraction = machine.steal_fraction.filter(|&fraction| fraction > STEAL_QUIET)?;
    say(
        Severity::Warning,
        format!("the host took {:.1} % of the CPU time since boot", fraction * 100.0),
        "time that other guests get is latency that no process here explains",
        "use a machine with dedicated CPUs",
    )
}

fn virtual_machine(machine: &Machine) -> Option<Advice> {
    if !machine.virtualisation.hypervisor {
        return None;
    }
    let product = machine.virtualisation.product.as_deref().unwrap_or("make unknown");
    say(
        Severity::Note,
        format!("virtual machine ({product})"),
        "neighbours and the host's scheduler add noise; hardware counters are slow or absent",
        "compare subjects within one run only, and say so beside the figures",
    )
}

fn autogroup(machine: &Machine) -> Option<Advice> {
    if machine.autogroup != Some(true) {
        return None;
    }
    say(
        Severity::Warning,
        "the scheduler groups tasks by session (autogroup)",
        "nice does nothing between sessions: one busy shell takes as much CPU as the whole subject",
        "leave the machine alone while it measures, or: sudo sysctl kernel.sched_autogroup_enabled=0",
    )
}

fn congestion_control(machine: &Machine) -> Option<Advice> {
    let name = machine.tcp_congestion_control.as_deref().filter(|&name| name != "cubic")?;
    say(
        Severity::Note,
        format!("TCP congestion control is {name}"),
        "most systems have cubic; over slow or lossy links the choice changes the figures",
        "say it beside the figures, or: sudo sysctl net.ipv4.tcp_congestion_control=cubic",
    )
}

fn governor(machine: &Machine) -> Option<Advice> {
    let name = machine.governor.as_deref().filter(|&name| name != "performance")?;
    say(
        Severity::Warning,
        format!("CPU frequency governor is {name}"),
        "a CPU that first has to speed up makes light load look slow",
        "sudo cpupower frequency-set --governor performance",
    )
}

fn boost(machine: &Machine) -> Option<Advice> {
    if machine.boost != Some(true) {
        return None;
    }
    say(
        Severity::Note,
        "the CPU may boost its frequency",
        "the frequency falls as cores get busy or warm, so early trials can be faster than late ones",
        "blocks are shuffled against it; to be rid of it, turn boost off in the firmware or under /sys/devices/system/cpu",
    )
}

fn ports(machine: &Machine) -> Option<Advice> {
    let (first, last) = machine.local_ports?;
    let count = last.saturating_sub(first).saturating_add(1);
    if count >= PORTS_WANTED {
        return None;
    }
    say(
        Severity::Warning,
        format!("{count} local ports ({first}-{last})"),
        "a connection per request holds a port for a minute after its end; tools other than tolok run out of them",
        "sudo sysctl net.ipv4.ip_local_port_range='10000 65000'",
    )
}

fn backlog(machine: &Machine) -> Option<Advice> {
    let somaxconn = machine.somaxconn.filter(|&somaxconn| somaxconn < SOMAXCONN_WANTED)?;
    say(
        Severity::Warning,
        format!("accept queues of {somaxconn} connections at most"),
        "a burst of connections overflows the queue, and each lost one costs its client a second",
        "sudo sysctl net.core.somaxconn=4096",
    )
}

fn siblings(machine: &Machine) -> Option<Advice> {
    let map = machine.assign_cpus(1, 1);
    let note = map.note.filter(|_| !map.shared)?;
    say(
        Severity::Warning,
        note,
        "a sibling shares the core's units and caches, so the generator's load is measured as the subject's slowness",
        "use a machine with 2 cores or more",
    )
}
