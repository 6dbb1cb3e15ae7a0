//! The record of a run before its first trial, and the checks before a run is resumed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use tolok_model::{BlockRecord, CpuMap, MachineSummary, Plan, PoolRequest, ProgramUsed, RECORD_FORMAT, RunRecord};

use crate::run::session::Laboratory;
use crate::toolbox::{Program, Source};
use tolok_host::machine::{BearsOn, Machine};
use tolok_store::sha256_of;

/// A run that is about to begin.
#[derive(Debug, Clone)]
pub struct NewRun<'a> {
    /// Name of the study, without its file extension.
    pub study: &'a str,
    pub plan: &'a Plan,
    /// CPUs of the parts, by the id of the environment.
    pub cpus: &'a BTreeMap<String, CpuMap>,
    /// The machine that planned it.
    pub machine: &'a Machine,
    /// Command that repeats the run.
    pub command: &'a str,
    /// The pool that runs its blocks, if this machine does not.
    pub pool: Option<PoolRequest>,
}

impl NewRun<'_> {
    /// What is recorded of it before its first trial.
    pub fn record(&self, laboratory: &Laboratory) -> RunRecord {
        let (now, plan) = (jiff::Zoned::now(), self.plan);
        RunRecord {
            format: RECORD_FORMAT,
            id: format!("{}-{}-{:06x}", now.strftime("%Y-%m-%d-%H%M%S"), self.study, plan.seed & 0xff_ffff),
            study: self.study.to_owned(),
            started_at: now.timestamp().to_string(),
            tolok_version: env!("CARGO_PKG_VERSION").to_owned(),
            git: laboratory.home.git_state(),
            seed: plan.seed,
            plan_sha256: plan.hash(),
            machine: machine_summary(self.machine),
            fingerprint: serde_json::to_value(self.machine).unwrap_or_default(),
            programs: laboratory.programs_of(plan).into_iter().map(used).collect(),
            cpus: self.cpus.clone(),
            command: self.command.to_owned(),
            pool: self.pool.clone(),
            nodes: BTreeMap::new(),
        }
    }
}

fn used(program: &Program) -> ProgramUsed {
    let source = match program.source {
        Source::System => "system",
        Source::Toolbox => "toolbox",
    };
    ProgramUsed {
        name: program.title.clone(),
        version: program.version.clone(),
        path: program.path.display().to_string(),
        source: source.to_owned(),
        sha256: hash_of(&program.path),
    }
}

fn hash_of(program: &Path) -> Option<String> {
    File::open(program).and_then(sha256_of).ok()
}

/// The machine in words for the report.
pub fn machine_summary(machine: &Machine) -> MachineSummary {
    let hypervisor = machine.virtualisation.hypervisor;
    let product = machine.virtualisation.product.clone();
    MachineSummary {
        cpu: machine.processor.model.clone().unwrap_or_else(|| "unknown CPU".to_owned()),
        cpus: machine.topology.cpus.len() as u32,
        memory_bytes: machine.memory.total_bytes.unwrap_or_default(),
        kernel: machine.kernel.release.clone().unwrap_or_default(),
        distribution: machine.kernel.distribution.clone().unwrap_or_default(),
        virtualisation: product.or_else(|| hypervisor.then(|| "virtual machine".to_owned())),
        remarks: remarks(machine),
    }
}

/// What a reader must know to judge the figures. Missing capabilities are reported where the study needs them.
fn remarks(machine: &Machine) -> Vec<String> {
    let advice = machine.advice().into_iter().filter(|advice| advice.bears_on == BearsOn::Figures);
    advice.map(|advice| format!("{}: {}", advice.what, advice.why)).collect()
}

/// Why a run cannot be resumed here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotResume {
    #[error(
        "cannot resume here: the run uses CPU {cpus}, which this process may not use. Start tolok where it may (taskset, the \
         container's CPU set), or run the study again: tolok run STUDY"
    )]
    Cpus { cpus: String },
    #[error(
        "cannot resume here: the run was measured on {there}, and this is {here}. Resume it there, or run the study again \
         here. What is finished can be reported anywhere: tolok report"
    )]
    Machine { there: String, here: String },
    #[error(
        "cannot resume: the run's plan.json was changed after the run began. Put the file back, or run the study again: \
         tolok run STUDY"
    )]
    Plan,
}

/// Whether a run can be resumed here: on the machine of its last block, and with its original plan.
pub fn check_resumable(run: &RunRecord, blocks: &[BlockRecord], plan: &Plan) -> Result<(), CannotResume> {
    // Each block on a pool machine checks its own machine.
    if run.pool.is_none() {
        check_machine(run, blocks)?;
    }
    if plan.hash() != run.plan_sha256 {
        return Err(CannotResume::Plan);
    }
    Ok(())
}

fn check_machine(run: &RunRecord, blocks: &[BlockRecord]) -> Result<(), CannotResume> {
    let here = Machine::read();
    let parts = |cpus: &CpuMap| [&cpus.subject, cpus.of_lab(), &cpus.link, &cpus.database].concat();
    let used: BTreeSet<u32> = run.cpus.values().flat_map(parts).collect();
    let gone: Vec<String> =
        used.iter().filter(|cpu| !here.allowed_cpus.contains(cpu)).map(ToString::to_string).collect();
    if !gone.is_empty() {
        return Err(CannotResume::Cpus { cpus: gone.join(", ") });
    }
    let there = blocks.last().map_or(&run.machine, |block| &block.machine);
    let here = machine_summary(&here).cpu;
    if here != there.cpu {
        return Err(CannotResume::Machine { there: there.cpu.clone(), here });
    }
    Ok(())
}

/// What has changed since a run began, a sentence each. It is still one run, but its readers must know.
pub fn changes_since(laboratory: &Laboratory, run: &RunRecord) -> Vec<String> {
    let mut changes = Vec::new();
    let git = laboratory.home.git_state();
    if git != run.git {
        let words = |git: &Option<String>| git.clone().unwrap_or_else(|| "no commit".to_owned());
        let (before, now) = (words(&run.git), words(&git));
        changes.push(format!("the run began with the checkout at {before}, which is at {now} now"));
    }
    for before in &run.programs {
        let Some(now) = laboratory.programs.values().find(|program| program.title == before.name) else { continue };
        let (name, version) = (&before.name, &before.version);
        if now.version != before.version {
            let now = &now.version;
            changes.push(format!(
                "{name} was {version} when the run began and is {now} now; its trials cannot be compared"
            ));
        } else if before.sha256.is_some() && hash_of(&now.path) != before.sha256 {
            changes.push(format!(
                "{name} {version} is not the same file as when the run began; its trials cannot be compared"
            ));
        }
    }
    changes
}
