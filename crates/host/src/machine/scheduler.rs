//! How the kernel distributes CPU time.

use serde::{Deserialize, Serialize};

use super::autogroup::{self, Autogroup};
use super::files::Files;
use super::group_folders::GroupFolders;
use super::kernel::{KernelConfig, kernels_own};
use super::parse;

/// The scheduler's settings, and this process's place in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scheduler {
    /// When a task in the kernel is preempted: `none`, `voluntary`, `full`, `lazy`, `rt`; `dynamic` if it was chosen at
    /// boot and cannot be read.
    pub preemption: Option<String>,
    /// Whether tasks are grouped by session, and whether that applies to this process.
    pub autogroup: Autogroup,
    /// The weight of this process's own control group: version 1 shares or version 2 weight.
    pub own_weight: Option<u64>,
    /// Whether control groups have real-time budgets of their own, which start at zero.
    pub rt_group_scheduling: Option<bool>,
    /// How many microseconds per second this process's control group may pass on to real-time tasks, if groups have
    /// budgets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_rt_runtime_us: Option<i64>,
    /// How many microseconds per second real-time tasks may take; -1 is all of it.
    pub rt_runtime_us: Option<i64>,
}

pub(super) fn read(files: Files, folders: &GroupFolders, config: Option<&KernelConfig>) -> Scheduler {
    let build = files.word("proc/sys/kernel/version").unwrap_or_default();
    let command_line = files.text("proc/cmdline").unwrap_or_default();
    let debug = files.text("sys/kernel/debug/sched/preempt");
    let cpu = folders.of("cpu");
    // Version 1 has the file in every group if the kernel has budgets by group. Version 2 never has it.
    let rt_file = cpu.as_ref().filter(|folder| !folder.v2).map(|folder| folder.own.join("cpu.rt_runtime_us"));
    let weight_file = cpu.map(|folder| folder.own.join(if folder.v2 { "cpu.weight" } else { "cpu.shares" }));
    Scheduler {
        preemption: preemption(&build, debug.as_deref(), &command_line, config),
        autogroup: autogroup::read(files, folders),
        own_weight: weight_file.and_then(|file| files.number(file)),
        rt_group_scheduling: rt_file
            .as_ref()
            .map(|file| files.exists(file))
            .or_else(|| config.map(|config| config.built_in("RT_GROUP_SCHED"))),
        own_rt_runtime_us: rt_file.and_then(|file| files.number(file)),
        rt_runtime_us: files.number("proc/sys/kernel/sched_rt_runtime_us"),
    }
}

/// The model in force, from the most to the least direct source: the scheduler itself, the command line, the build.
pub(super) fn preemption(
    build: &str,
    debug: Option<&str>,
    command_line: &str,
    config: Option<&KernelConfig>,
) -> Option<String> {
    let words = || build.split_whitespace();
    if words().any(|word| word == "PREEMPT_RT") {
        return Some("rt".to_owned());
    }
    if let Some(chosen) = debug.and_then(parse::chosen_in_brackets) {
        return Some(chosen);
    }
    let built = || {
        let config = config?;
        let models = [
            ("PREEMPT_NONE", "none"),
            ("PREEMPT_VOLUNTARY", "voluntary"),
            ("PREEMPT_LAZY", "lazy"),
            ("PREEMPT", "full"),
        ];
        models.iter().find(|(option, _)| config.built_in(option)).map(|(_, model)| (*model).to_owned())
    };
    if words().any(|word| word == "PREEMPT_DYNAMIC") {
        let asked = kernels_own(command_line).find_map(|word| word.strip_prefix("preempt="));
        return asked.map(str::to_owned).or_else(built).or_else(|| Some("dynamic".to_owned()));
    }
    if words().any(|word| word == "PREEMPT") {
        return Some("full".to_owned());
    }
    built()
}
