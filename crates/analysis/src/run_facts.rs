//! The facts about a run and its machine.

use tolok_model::{MachineSummary, Plan, RunRecord};

use crate::figures::{Quantity, amount, counted};
use crate::findings::RunFacts;

pub(crate) fn run_facts(run: &RunRecord, plan: &Plan, records_sha256: Option<&str>) -> RunFacts {
    RunFacts {
        id: run.id.clone(),
        title: plan.title.clone(),
        question: plan.question.clone(),
        started_at: run.started_at.clone(),
        tolok_version: run.tolok_version.clone(),
        seed: run.seed,
        plan_sha256: run.plan_sha256.clone(),
        records_sha256: records_sha256.map(str::to_owned),
        blocks: plan.blocks,
        stopping: None,
        smallest_effect: plan.smallest_effect,
        scale: plan.scale,
        machine: machine_line(&run.machine),
        machine_remarks: run.machine.remarks.clone(),
        programs: run.programs.iter().map(|program| (program.name.clone(), program.version.clone())).collect(),
        command: run.command.clone(),
    }
}

pub fn machine_line(machine: &MachineSummary) -> String {
    let cpus = counted(u64::from(machine.cpus), "CPU");
    let memory = format!("{} memory", amount(Quantity::Bytes, machine.memory_bytes as f64));
    let kernel = if machine.kernel.is_empty() { String::new() } else { format!("Linux {}", machine.kernel) };
    let virtualisation = machine.virtualisation.clone().unwrap_or_default();
    let parts = [machine.cpu.clone(), cpus, memory, machine.distribution.clone(), kernel, virtualisation];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}
