//! What the kernel's text files say: pure functions over their contents.

use super::Limit;
use super::cpus::parse_cpu_list;

/// `model name` on x86; Arm kernels give part numbers only, so there it is unknown.
pub(super) fn cpu_model(cpuinfo: &str) -> Option<String> {
    let value = |name: &str| field(cpuinfo, name).filter(|value| !value.is_empty()).map(str::to_owned);
    value("model name").or_else(|| value("Model")).or_else(|| value("cpu model"))
}

pub(super) fn has_hypervisor_flag(cpuinfo: &str) -> bool {
    field(cpuinfo, "flags").is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// Maker and product in one; firmware that was never filled in says nothing.
pub(super) fn dmi_product(vendor: Option<&str>, product: Option<&str>) -> Option<String> {
    const UNFILLED: [&str; 3] = ["To Be Filled By O.E.M.", "System manufacturer", "System Product Name"];
    let words: Vec<&str> = [vendor, product].into_iter().flatten().filter(|word| !UNFILLED.contains(word)).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

pub(super) fn meminfo_bytes(meminfo: &str, name: &str) -> Option<u64> {
    let kib: u64 = field(meminfo, name)?.strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

pub(super) fn allowed_cpus(status: &str) -> Option<Vec<u32>> {
    parse_cpu_list(field(status, "Cpus_allowed_list")?)
}

/// One value of `/etc/os-release`, which may be quoted.
pub(super) fn os_release(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix('='))?;
    Some(value.trim_matches(['"', '\'']).to_owned())
}

pub(super) fn port_range(text: &str) -> Option<(u16, u16)> {
    let mut ports = text.split_whitespace().map(str::parse);
    Some((ports.next()?.ok()?, ports.next()?.ok()?))
}

/// One line of `/proc/self/limits`; the columns are padded with blanks, and the names have blanks in them too.
pub(super) fn limit(limits: &str, name: &str) -> Option<Limit> {
    let values = limits.lines().find_map(|line| line.strip_prefix(name))?;
    let mut values = values.split_whitespace();
    let mut next = || match values.next()? {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    };
    Some(Limit { soft: next()?, hard: next()? })
}

/// The word in brackets of a file such as `always [madvise] never`.
pub(super) fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

pub(super) fn load_average(text: &str) -> Option<[f64; 3]> {
    let mut values = text.split_whitespace().map(str::parse);
    Some([values.next()?.ok()?, values.next()?.ok()?, values.next()?.ok()?])
}

pub(super) fn pressure_some_avg10(text: &str) -> Option<f64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_whitespace().find_map(|word| word.strip_prefix("avg10="))?.parse().ok()
}

/// Stolen time over all time since boot, all CPUs together.
pub(super) fn steal_fraction(stat: &str) -> Option<f64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    // user nice system idle iowait irq softirq steal guest guest_nice; guest time is in user time already.
    let steal = *ticks.get(7)?;
    let total: u64 = ticks.iter().take(8).sum();
    (total > 0).then(|| steal as f64 / total as f64)
}

/// The value of the first `name : value` line.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}
