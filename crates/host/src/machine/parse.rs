//! Parses the kernel's text files: pure functions of their contents.

use sha2::{Digest, Sha256};

use super::cpus::parse_cpu_list;
use super::limits::Limit;

/// `model name` on x86. Most Arm kernels give only part numbers, so there it is unknown.
pub(super) fn cpu_model(cpuinfo: &str) -> Option<String> {
    let value = |name: &str| field(cpuinfo, name).filter(|value| !value.is_empty()).map(str::to_owned);
    value("model name").or_else(|| value("Model")).or_else(|| value("cpu model"))
}

pub(super) fn has_hypervisor_flag(cpuinfo: &str) -> bool {
    field(cpuinfo, "flags").is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// SHA-256 of the features in alphabetical order, since kernels order them differently. Arm calls them `Features`.
pub(super) fn cpu_features_sha256(cpuinfo: &str) -> Option<String> {
    let mut features: Vec<&str> =
        field(cpuinfo, "flags").or_else(|| field(cpuinfo, "Features"))?.split_whitespace().collect();
    features.sort_unstable();
    let digest = Sha256::digest(features.join(" "));
    (!features.is_empty()).then(|| digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Sizes of caches: `48K`, `1024K`, `32M`.
pub(super) fn cache_size_bytes(size: &str) -> Option<u64> {
    let (number, unit) = size.split_at(size.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(size.len()));
    let unit = match unit {
        "" => 1,
        "K" => 1024,
        "M" => 1024 * 1024,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

/// The effective capabilities, one bit each.
pub(super) fn capabilities(status: &str) -> Option<u64> {
    u64::from_str_radix(field(status, "CapEff")?, 16).ok()
}

/// Whether a user namespace maps all user ids, as the first one does: `0 0 4294967295`.
pub(super) fn is_whole_uid_map(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Vendor and product combined. Ignores placeholders of firmware that was never filled in.
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

/// One line of `/proc/self/limits`. Its columns are padded with blanks, and the names contain blanks too.
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

/// The word in round brackets, which marks the scheduler's preemption model: `none voluntary (full)`.
pub(super) fn chosen_in_brackets(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('(')?;
    Some(rest.split_once(')')?.0.to_owned())
}

pub(super) fn load_average(text: &str) -> Option<[f64; 3]> {
    let mut values = text.split_whitespace().map(str::parse);
    Some([values.next()?.ok()?, values.next()?.ok()?, values.next()?.ok()?])
}

pub(super) fn pressure_some_avg10(text: &str) -> Option<f64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_whitespace().find_map(|word| word.strip_prefix("avg10="))?.parse().ok()
}

/// From `/proc/loadavg`: `2.19 0.96 0.43 4/117 29928` means that 4 of 117 tasks are runnable.
pub(super) fn running_tasks(text: &str) -> Option<u32> {
    text.split_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
}

/// The first eight CPU times since boot, summed over CPUs: user nice system idle iowait irq softirq steal. The guest
/// times behind them are already part of user time.
pub(super) fn cpu_ticks(stat: &str) -> Option<[u64; 8]> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let mut ticks = [0; 8];
    let mut words = line.split_whitespace();
    for tick in &mut ticks {
        *tick = words.next()?.parse().ok()?;
    }
    Some(ticks)
}

/// Stolen time as a fraction of all time since boot, over all CPUs.
pub(super) fn steal_fraction(stat: &str) -> Option<f64> {
    let ticks = cpu_ticks(stat)?;
    let total: u64 = ticks.iter().sum();
    (total > 0).then(|| ticks[7] as f64 / total as f64)
}

/// The value of the first `name : value` line.
pub(super) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}
