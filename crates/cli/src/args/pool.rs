//! Options for measuring on other machines.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueHint};
use tolok_lab::pool::Ssh;

use tolok_model::PoolRequest;

use super::values::{port, positive};
use super::{BringArgs, MeasureArgs, TextOrJson};

/// Default limit of rounds that run at once.
const MOST_JOBS: u32 = 4;

/// Options of `tolok run` for a pool of machines.
#[derive(Debug, ClapArgs)]
pub struct PoolArgs {
    /// Where rounds run: `local`, on nodes of `slurm`, or on those of a file that `tolok pool init` wrote.
    #[arg(long, value_name = "POOL", default_value = "local", value_parser = pool)]
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
    /// Run at most this many rounds at once [default: 4].
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pool {
    /// On this machine, one after the other.
    Local,
    /// On nodes of Slurm.
    Slurm,
    /// On the nodes of this file.
    Hosts(PathBuf),
}

fn pool(text: &str) -> Result<Pool, String> {
    match text {
        "local" => Ok(Pool::Local),
        "slurm" => Ok(Pool::Slurm),
        file if file.contains(['.', '/']) => {
            std::path::absolute(file).map(Pool::Hosts).map_err(|error| error.to_string())
        }
        _ => Err("it is local, slurm, or a file that `tolok pool init` wrote, such as hosts.toml".to_owned()),
    }
}

impl PoolArgs {
    /// Returns an error for options that exclude each other.
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
        match &self.on {
            Pool::Local => first(&of_slurm)
                .map_or(Ok(()), |name| Err(format!("{name} needs --on slurm, or --on with a hosts file"))),
            Pool::Slurm | Pool::Hosts(_) => {
                first(&of_this_machine).map_or(Ok(()), |name| Err(format!("--on excludes {name}")))
            }
        }
    }

    /// What tolok requests of Slurm, if rounds run there.
    pub fn request(&self) -> Option<PoolRequest> {
        let Self { on, partition, constraint, account, max_jobs, generators, mixed_hardware } = self;
        let hosts = match on {
            Pool::Hosts(file) => Some(file.clone()),
            Pool::Local | Pool::Slurm => None,
        };
        (*on != Pool::Local).then(|| PoolRequest {
            hosts,
            partition: partition.clone(),
            constraint: constraint.clone(),
            account: account.clone(),
            max_jobs: max_jobs.unwrap_or(MOST_JOBS),
            generators: generators.unwrap_or(0),
            mixed_hardware: *mixed_hardware,
        })
    }
}

/// Options of `tolok pool`.
#[derive(Debug, ClapArgs)]
pub struct MachinesArgs {
    #[command(subcommand)]
    pub verb: MachinesVerb,
}

/// What can be done with a pool.
#[derive(Debug, Subcommand)]
pub enum MachinesVerb {
    /// Bring up a Slurm on machines that ssh reaches, with the controller here.
    Init(InitArgs),
    /// Show the state of each node, and what to do about one that is down.
    Status(StatusArgs),
    /// End the daemons of a pool and remove everything that init wrote.
    Down(DownArgs),
}

/// Options of `tolok pool init`.
#[derive(Debug, ClapArgs)]
pub struct InitArgs {
    /// Machines, as ssh names them.
    #[arg(value_name = "HOST", required = true)]
    pub hosts: Vec<String>,
    /// Write what was made to this file.
    #[arg(short, long, value_name = "FILE", default_value = "hosts.toml", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Port of the controller. Nodes use the next one.
    #[arg(long, value_name = "N", default_value = "16817", value_parser = port)]
    pub port: u16,
    /// Allow nodes whose CPUs or memory differ.
    #[arg(long)]
    pub mixed_hardware: bool,
    /// Folder for runs, which all machines must share [default: as for `run`].
    #[arg(long, value_name = "DIR", env = "TOLOK_RUNS")]
    pub runs: Option<PathBuf>,
    #[command(flatten)]
    pub ssh: SshArgs,
}

/// How machines are reached.
#[derive(Debug, ClapArgs)]
pub struct SshArgs {
    /// Command that reaches a host [default: ssh, without questions].
    #[arg(long, value_name = "CMD", default_value = Ssh::USUAL, hide_default_value = true, value_parser = ssh)]
    pub ssh: Ssh,
}

fn ssh(text: &str) -> Result<Ssh, String> {
    Ssh::of(text).ok_or_else(|| "it names no program".to_owned())
}

/// Options of `tolok pool status`.
#[derive(Debug, ClapArgs)]
pub struct StatusArgs {
    #[command(flatten)]
    pub file: HostsArgs,
    /// How to print it.
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: TextOrJson,
    #[command(flatten)]
    pub ssh: SshArgs,
}

/// The file of a pool.
#[derive(Debug, ClapArgs)]
pub struct HostsArgs {
    /// What `tolok pool init` wrote.
    #[arg(value_name = "FILE", default_value = "hosts.toml", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
}

/// Options of `tolok pool down`.
#[derive(Debug, ClapArgs)]
pub struct DownArgs {
    #[command(flatten)]
    pub file: HostsArgs,
    /// End it even if jobs wait or run.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub ssh: SshArgs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_rounds_run_is_a_word_or_a_file() {
        assert_eq!(pool("local"), Ok(Pool::Local));
        assert_eq!(pool("slurm"), Ok(Pool::Slurm));
        assert_eq!(pool("/lab/hosts.toml"), Ok(Pool::Hosts("/lab/hosts.toml".into())));
        assert!(matches!(pool("hosts.toml"), Ok(Pool::Hosts(file)) if file.is_absolute()));
        assert!(pool("kubernetes").unwrap_err().contains("local, slurm, or a file"));
    }
}
