//! Options that let other machines measure.

use clap::{Args as ClapArgs, ValueEnum};

use tolok_model::PoolRequest;

use super::values::positive;
use super::{BringArgs, MeasureArgs};

/// So many rounds run at once, unless the user says otherwise.
const MOST_JOBS: u32 = 4;

/// Options of `tolok run` for a pool of machines.
#[derive(Debug, ClapArgs)]
pub struct PoolArgs {
    /// Where rounds run. On Slurm, each runs on a node of its own, several at once.
    #[arg(long, value_name = "POOL", default_value = "local")]
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
    /// Run at most so many rounds at once [default: 4].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub max_jobs: Option<u32>,
    /// Generate the load of each round on this many other nodes, together [default: on the node of the server].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub generators: Option<u32>,
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
    /// Refuses options that do not go together, in a sentence.
    pub fn refuse_what_does_not_fit(&self, bring: &BringArgs, measure: &MeasureArgs) -> Result<(), String> {
        let of_slurm = [
            ("--partition", self.partition.is_some()),
            ("--constraint", self.constraint.is_some()),
            ("--account", self.account.is_some()),
            ("--max-jobs", self.max_jobs.is_some()),
            ("--generators", self.generators.is_some()),
            ("--mixed-hardware", self.mixed_hardware),
        ];
        let of_this_machine =
            [("--url", !bring.url.is_empty()), ("--diagnose", measure.diagnose), ("--rebuild", measure.rebuild)];
        let first = |options: &[(&'static str, bool)]| options.iter().find(|(_, given)| *given).map(|(name, _)| *name);
        match self.on {
            Pool::Local => first(&of_slurm).map_or(Ok(()), |name| Err(format!("{name} needs --on slurm"))),
            Pool::Slurm => first(&of_this_machine).map_or(Ok(()), |name| Err(format!("--on slurm excludes {name}"))),
        }
    }

    /// What is asked of Slurm, if rounds run there.
    pub fn request(&self) -> Option<PoolRequest> {
        let Self { partition, constraint, account, max_jobs, generators, mixed_hardware, .. } = self;
        (self.on == Pool::Slurm).then(|| PoolRequest {
            partition: partition.clone(),
            constraint: constraint.clone(),
            account: account.clone(),
            max_jobs: max_jobs.unwrap_or(MOST_JOBS),
            generators: generators.unwrap_or(0),
            mixed_hardware: *mixed_hardware,
        })
    }
}
