//! What makes the figures of a machine worse, or hard to compare with another machine's.

use tolok_model::figures::small_share;

use super::super::{BesideSubject, CpuWish, FOREIGN_TOLERATED, Machine, SubjectCpus};
use super::{Advice, BearsOn, Check, Severity};

pub(super) const CHECKS: &[Check] = &[
    single_cpu,
    given_quota,
    busy,
    stolen,
    autogroup,
    governor,
    siblings,
    ports,
    backlog,
    few_cpus,
    virtual_machine,
    frequency_unseen,
    boost,
    congestion_control,
];

/// Above this percentage of time with tasks waiting for a CPU, other programs disturb the measurement.
const PRESSURE_QUIET_PERCENT: f64 = super::super::PRESSURE_TOLERATED * 100.0;
/// Above this fraction, time that the hypervisor gave away shows as latency.
const STEAL_QUIET: f64 = 0.005;
/// With a connection per request, each holds a port for 60 s. At 10,000 requests a second, this many ports last 2.5 s
/// from one address.
const PORTS_WANTED: u16 = 25_000;
/// nginx, PHP-FPM and Node request at least 511.
const SOMAXCONN_WANTED: u32 = 1024;
/// Subject, generator, database and link emulator.
const PARTS: usize = 4;

fn say(severity: Severity, what: impl Into<String>, why: &str, fix: &str) -> Option<Advice> {
    let (why, fix) = (why.to_owned(), fix.to_owned());
    Some(Advice { what: what.into(), why, fix, severity, bears_on: BearsOn::Figures })
}

fn say_if(is_so: bool, severity: Severity, what: impl Into<String>, why: &str, fix: &str) -> Option<Advice> {
    if is_so { say(severity, what, why, fix) } else { None }
}

fn single_cpu(machine: &Machine) -> Option<Advice> {
    let allowed = machine.allowed_cpus.len();
    say_if(
        allowed < 2,
        Severity::Problem,
        format!("this process may use {allowed} CPU of {}", machine.topology.cpus.len()),
        "subject and generator share it, so throughput and latency are those of both together",
        "use a machine with 2 CPUs or more, or allow more with taskset or the container's CPU set",
    )
}

fn few_cpus(machine: &Machine) -> Option<Advice> {
    let allowed = machine.allowed_cpus.len();
    say_if(
        (2..PARTS).contains(&allowed),
        Severity::Note,
        format!("{allowed} CPUs may be used"),
        "enough for one subject and the generator; a database or a link emulator shares the generator's CPU",
        "use 4 CPUs or more for studies with a database, a link, or a subject on several CPUs",
    )
}

fn given_quota(machine: &Machine) -> Option<Advice> {
    let quota = machine.limits.group.quota_cpus?;
    say_if(
        quota < machine.allowed_cpus.len() as f64,
        Severity::Warning,
        format!("a control group around tolok allows {quota:.1} CPUs"),
        "all parts of a trial are stopped together when it is used up, and the pauses show as latency",
        "start the container or the service without a CPU limit; give it a CPU set instead",
    )
}

fn busy(machine: &Machine) -> Option<Advice> {
    let why = "other programs take the CPU in the middle of a measurement, which shows as latency";
    let fix = "stop other work, or wait; reports say which trials were disturbed";
    // Programs that each have a CPU to themselves wait for none, so pressure does not show them.
    if let Some(others) = machine.moment.others.as_ref().filter(|others| others.share > FOREIGN_TOLERATED) {
        let by = others.busiest.as_ref().map(|words| format!(", {words}")).unwrap_or_default();
        let what = format!("busy when looked at: other programs used {} of the CPUs{by}", small_share(others.share));
        return say(Severity::Warning, what, why, fix);
    }
    // Pressure measures waiting in the last seconds. The load average is for kernels without it.
    if let Some(percent) = machine.moment.cpu_pressure_avg10_percent {
        let what = format!("busy when looked at: tasks waited for a CPU in {percent:.0}% of the 10 s before");
        return if percent > PRESSURE_QUIET_PERCENT { say(Severity::Warning, what, why, fix) } else { None };
    }
    let load = machine.moment.load_average?[0];
    let cpus = machine.topology.cpus.len();
    let what = format!("busy when looked at: load average {load:.1} on {cpus} CPUs");
    if load > 0.5 * cpus.max(1) as f64 { say(Severity::Warning, what, why, fix) } else { None }
}

fn stolen(machine: &Machine) -> Option<Advice> {
    let fraction = machine.moment.steal_fraction.filter(|&fraction| fraction > STEAL_QUIET)?;
    say(
        Severity::Warning,
        format!("the host took {:.1}% of the CPU time since boot", fraction * 100.0),
        "time for other guests is latency that no process here explains",
        "use a machine with dedicated CPUs",
    )
}

fn virtual_machine(machine: &Machine) -> Option<Advice> {
    if !machine.virtualisation.hypervisor {
        return None;
    }
    let product = machine.virtualisation.product.as_deref().unwrap_or("unknown hypervisor");
    say(
        Severity::Note,
        format!("virtual machine ({product})"),
        "neighbours and the host's scheduler add noise",
        "compare subjects within one run only, and say so beside the figures",
    )
}

/// Autogroup does not apply to groups of the cpu controller, and tolok gives every part of a trial one if possible.
fn autogroup(machine: &Machine) -> Option<Advice> {
    if machine.scheduler.autogroup.enabled != Some(true) {
        return None;
    }
    let what = "the scheduler groups tasks by session (autogroup)";
    if machine.may_group("cpu") {
        return say(
            Severity::Note,
            what,
            "nice means little between sessions; the parts of a trial have control groups with weights, which it leaves alone",
            "nothing: tolok sets the weights, and the record has them",
        );
    }
    if machine.scheduler.autogroup.applies() == Some(false) {
        return say(
            Severity::Note,
            what,
            "nice means little between sessions; the control group that tolok was started in keeps it out",
            "nothing, as long as tolok is started in that group",
        );
    }
    say(
        Severity::Warning,
        what,
        "nice does nothing between sessions: one busy shell takes as much CPU as the whole subject",
        "leave the machine alone while it measures, or: sudo sysctl kernel.sched_autogroup_enabled=0",
    )
}

fn congestion_control(machine: &Machine) -> Option<Advice> {
    let name = machine.network.congestion_control.as_deref().filter(|&name| name != "cubic")?;
    let why = "most systems have cubic; over slow or lossy links the choice changes the figures several times over";
    let available = &machine.network.congestion_controls;
    let is_lacking = !available.is_empty() && available.iter().all(|name| name != "cubic");
    // The network namespaces of a trial use cubic anyway.
    if !is_lacking && machine.rights.network_namespaces == Some(true) {
        return None;
    }
    let fix = if is_lacking {
        "sudo modprobe tcp_cubic, so that tolok can set it for a trial"
    } else {
        "say it beside the figures, or: sudo sysctl net.ipv4.tcp_congestion_control=cubic"
    };
    say(Severity::Note, format!("TCP congestion control is {name}"), why, fix)
}

fn governor(machine: &Machine) -> Option<Advice> {
    let name = machine.processor.governor.as_deref().filter(|&name| name != "performance")?;
    say(
        Severity::Warning,
        format!("CPU frequency governor is {name}"),
        "a CPU that must speed up first makes light load look slow",
        "sudo cpupower frequency-set --governor performance",
    )
}

fn frequency_unseen(machine: &Machine) -> Option<Advice> {
    if machine.processor.governor.is_some() || machine.processor.frequency_driver.is_some() {
        return None;
    }
    let fix = if machine.virtualisation.hypervisor {
        "nothing from within a virtual machine; blocks are shuffled against slow changes"
    } else {
        "load the processor's cpufreq driver, or turn frequency scaling off in the firmware"
    };
    say(
        Severity::Note,
        "the CPUs' frequency can neither be seen nor set (no cpufreq)",
        "if it changes in the middle of a run, nothing here shows it",
        fix,
    )
}

fn boost(machine: &Machine) -> Option<Advice> {
    say_if(
        machine.processor.boost == Some(true),
        Severity::Note,
        "the CPU may boost its frequency",
        "the frequency falls as cores get busy or warm, so early trials can be faster than late ones",
        "blocks are shuffled against it; to be rid of it, turn boost off in the firmware or under /sys/devices/system/cpu",
    )
}

fn ports(machine: &Machine) -> Option<Advice> {
    let (first, last) = machine.network.local_ports?;
    let count = last.saturating_sub(first).saturating_add(1);
    say_if(
        count < PORTS_WANTED,
        Severity::Warning,
        format!("{count} local ports ({first}-{last})"),
        "a connection per request holds a port for a minute after its end; tools other than tolok run out of them",
        "sudo sysctl net.ipv4.ip_local_port_range='10000 65000'",
    )
}

fn backlog(machine: &Machine) -> Option<Advice> {
    let somaxconn = machine.network.somaxconn.filter(|&somaxconn| somaxconn < SOMAXCONN_WANTED)?;
    say(
        Severity::Warning,
        format!("accept queues of {somaxconn} connections at most"),
        "a burst of connections overflows the queue, and each lost one costs its client a second",
        "sudo sysctl net.core.somaxconn=4096",
    )
}

fn siblings(machine: &Machine) -> Option<Advice> {
    let beside = BesideSubject::Generator;
    let one_each =
        CpuWish { subject: SubjectCpus::Dedicated(1), generator: 1, database: None, shared_allowed: false, beside };
    let note = machine.assign_cpus(one_each).ok()?.note?;
    say(
        Severity::Warning,
        note,
        "a sibling shares the core's units and caches, so the generator's load is measured as the subject's slowness",
        "use a machine with 2 cores or more",
    )
}
