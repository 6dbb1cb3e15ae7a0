//! What a group may use, and the files and values that set it.

use serde::{Deserialize, Serialize};

use super::{Controller, GroupError, Version};
use crate::machine::format_cpu_list;

/// What a group may use. `None` is no limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Limits {
    /// The CPUs it is pinned to. Empty means all of its parent's.
    pub cpus: Vec<u32>,
    /// How many CPUs' time it may use in each tenth of a second, like `docker --cpus`.
    pub quota_cpus: Option<f64>,
    /// Its share when CPU time is short, 1 to 10000. The default is 100.
    pub weight: Option<u32>,
    /// Memory, including file pages. It gets no swap beyond that.
    pub memory_bytes: Option<u64>,
    /// How many tasks (threads and processes).
    pub pids: Option<u32>,
}

/// A value for a file of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    pub controller: Controller,
    pub file: &'static str,
    pub value: String,
    /// Whether the file may be missing: without swap accounting there is nothing to limit.
    pub optional: bool,
}

/// The files that are missing without swap accounting.
const SWAP_FILES: [&str; 2] = ["memory.memsw.limit_in_bytes", "memory.swap.max"];

/// The period of a quota, which is also the kernel's own default.
const PERIOD_US: u64 = 100_000;

impl Limits {
    /// The settings in the order to write them, given the version of each controller in the group.
    pub(super) fn settings(
        &self,
        version_of: impl Fn(Controller) -> Option<Version>,
    ) -> Result<Vec<Setting>, GroupError> {
        let version = |what, value: &dyn std::fmt::Display, controller| {
            version_of(controller).ok_or_else(|| GroupError::no_controller(what, value.to_string(), controller))
        };
        let mut settings = Vec::new();
        let mut set = |controller, file, value: String| {
            settings.push(Setting { controller, file, value, optional: SWAP_FILES.contains(&file) });
        };
        if !self.cpus.is_empty() {
            let list = format_cpu_list(&self.cpus);
            version("the CPUs", &list, Controller::CpuSet)?;
            set(Controller::CpuSet, "cpuset.cpus", list);
        }
        if let Some(cpus) = self.quota_cpus {
            let quota_us = quota_us(cpus)?;
            match version("CPU time", &cpus, Controller::Cpu)? {
                Version::V1 => {
                    set(Controller::Cpu, "cpu.cfs_period_us", PERIOD_US.to_string());
                    set(Controller::Cpu, "cpu.cfs_quota_us", quota_us.to_string());
                }
                Version::V2 => set(Controller::Cpu, "cpu.max", format!("{quota_us} {PERIOD_US}")),
            }
        }
        if let Some(weight) = self.weight {
            check_weight(weight)?;
            match version("the weight", &weight, Controller::Cpu)? {
                Version::V1 => set(Controller::Cpu, "cpu.shares", shares(weight).to_string()),
                Version::V2 => set(Controller::Cpu, "cpu.weight", weight.to_string()),
            }
        }
        if let Some(bytes) = self.memory_bytes {
            match version("memory", &format_args!("{bytes} bytes"), Controller::Memory)? {
                Version::V1 => {
                    // The limit of memory with swap must not be below that of memory alone, so the latter comes first.
                    set(Controller::Memory, "memory.limit_in_bytes", bytes.to_string());
                    set(Controller::Memory, "memory.memsw.limit_in_bytes", bytes.to_string());
                }
                Version::V2 => {
                    set(Controller::Memory, "memory.max", bytes.to_string());
                    set(Controller::Memory, "memory.swap.max", "0".to_owned());
                }
            }
        }
        if let Some(pids) = self.pids {
            version("the number of tasks", &pids, Controller::Pids)?;
            set(Controller::Pids, "pids.max", pids.to_string());
        }
        Ok(settings)
    }
}

/// The kernel accepts no quota below a millisecond.
fn quota_us(cpus: f64) -> Result<u64, GroupError> {
    let quota_us = (cpus * PERIOD_US as f64).round();
    if (1000.0..=1e15).contains(&quota_us) {
        return Ok(quota_us as u64);
    }
    Err(GroupError::Limit { what: "CPU time", value: format!("{cpus} CPUs"), reason: "0.01 CPUs is the least" })
}

fn check_weight(weight: u32) -> Result<(), GroupError> {
    if (1..=10_000).contains(&weight) {
        return Ok(());
    }
    Err(GroupError::Limit { what: "the weight", value: weight.to_string(), reason: "it is 1 to 10000, 100 by default" })
}

/// Version 1's unit: 1024 where version 2 has 100.
fn shares(weight: u32) -> u64 {
    (u64::from(weight) * 1024 / 100).clamp(2, 262_144)
}

/// A weight from a file of that version, in version 2's unit.
pub(super) fn weight_of(version: Version, text: &str) -> Option<u32> {
    let number: u64 = text.trim().parse().ok()?;
    match version {
        Version::V1 => u32::try_from((number * 100 + 512) / 1024).ok(),
        Version::V2 => u32::try_from(number).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(limits: &Limits, version: Version) -> Vec<String> {
        let settings = limits.settings(|_| Some(version)).unwrap();
        settings.iter().map(|setting| format!("{}={}", setting.file, setting.value)).collect()
    }

    fn all() -> Limits {
        Limits {
            cpus: vec![0, 2, 3],
            quota_cpus: Some(1.5),
            weight: Some(200),
            memory_bytes: Some(512 << 20),
            pids: Some(100),
        }
    }

    #[test]
    fn version_1_limits_memory_before_memory_with_swap() {
        let expected = [
            "cpuset.cpus=0,2-3",
            "cpu.cfs_period_us=100000",
            "cpu.cfs_quota_us=150000",
            "cpu.shares=2048",
            "memory.limit_in_bytes=536870912",
            "memory.memsw.limit_in_bytes=536870912",
            "pids.max=100",
        ];
        assert_eq!(written(&all(), Version::V1), expected);
    }

    #[test]
    fn version_2_has_one_file_for_a_quota_and_forbids_swap() {
        let expected = [
            "cpuset.cpus=0,2-3",
            "cpu.max=150000 100000",
            "cpu.weight=200",
            "memory.max=536870912",
            "memory.swap.max=0",
            "pids.max=100",
        ];
        assert_eq!(written(&all(), Version::V2), expected);
    }

    #[test]
    fn only_the_limit_of_swap_may_be_missing() {
        for version in [Version::V1, Version::V2] {
            let settings = all().settings(|_| Some(version)).unwrap();
            let optional: Vec<_> = settings.iter().filter(|setting| setting.optional).collect();
            assert!(matches!(&optional[..], [swap] if swap.file.starts_with("memory.")), "{optional:?}");
        }
    }

    #[test]
    fn no_limit_writes_nothing() {
        assert_eq!(written(&Limits::default(), Version::V1), [""; 0]);
    }

    #[test]
    fn weights_become_shares_within_the_kernels_bounds() {
        for (weight, expected) in [(1, 10), (100, 1024), (10_000, 102_400)] {
            assert_eq!(shares(weight), expected, "{weight}");
        }
    }

    #[test]
    fn limits_that_mean_nothing_are_refused() {
        let quota = |cpus| Limits { quota_cpus: Some(cpus), ..Limits::default() };
        let weight = |weight| Limits { weight: Some(weight), ..Limits::default() };
        for limits in
            [quota(0.0), quota(-1.0), quota(0.009), quota(f64::NAN), quota(f64::INFINITY), weight(0), weight(10_001)]
        {
            let refused = limits.settings(|_| Some(Version::V2));
            assert!(matches!(refused, Err(GroupError::Limit { .. })), "{limits:?}: {refused:?}");
        }
        assert_eq!(written(&quota(0.01), Version::V2), ["cpu.max=1000 100000"]);
    }

    #[test]
    fn a_limit_without_its_controller_names_both_and_what_to_do() {
        let limits = Limits { memory_bytes: Some(64 << 20), ..Limits::default() };
        let refused = limits.settings(|controller| (controller != Controller::Memory).then_some(Version::V2));
        let said = refused.unwrap_err().to_string();
        assert!(said.starts_with("limit memory to 67108864 bytes: there is no memory controller here; "), "{said}");
        assert!(said.contains("systemd-run"), "{said}");
    }
}
