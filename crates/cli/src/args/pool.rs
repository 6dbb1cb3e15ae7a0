//! Options that let other machines measure.

use clap::{Args as ClapArgs, ValueEnum};

use tolok_model::PoolRequest;

use super::values::positive;

/// Options of `tolok run` for a pool of machines.
#[derive(Debug, ClapArgs)]
pub struct PoolArgs {
    /// Where rounds run. On Slurm, each runs on a node of its own, several at once.
    #[arg(long, value_name = "POOL", default_value = "local", conflicts_with_all = ["url", "diagnose", "rebuild"])]
    pub on: Pool,
    /// Nodes of this partition.
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// Nodes with these features, as Slurm writes them.
    #[arg(long, value_name = "FEATURES")]
    pub constraint: Option<String>,
    /// Charge this account.
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// Run at most so many rounds at once.
    #[arg(long, value_name = "N", default_value = "4", value_parser = positive)]
    pub max_jobs: u32,
    /// Allow nodes whose CPUs or memory differ.
    #[arg(long)]
    pub mixed_hardware: bool,
}

/// Where rounds run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Pool {
    /// On this machine, one after the other.
    Local,
    /// On nodes of Slurm.
    Slurm,
}

impl PoolArgs {
    /// What is asked of Slurm, if rounds run there.
    pub fn request(&self) -> Option<PoolRequest> {
        let Self { partition, constraint, account, max_jobs, mixed_hardware, .. } = self;
        (self.on == Pool::Slurm).then(|| PoolRequest {
            partition: partition.clone(),
            constraint: constraint.clone(),
            account: account.clone(),
            max_jobs: *max_jobs,
            mixed_hardware: *mixed_hardware,
        })
    }
}
