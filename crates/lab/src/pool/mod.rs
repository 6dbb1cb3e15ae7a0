//! A pool of machines without a Slurm of their own: tolok starts one on them over ssh, and removes it again.
//!
//! ```text
//! this machine: munged, slurmctld      each host: munged, slurmd
//!             └──────── ssh: folder, key, slurm.conf ────────┘
//! ```
//!
//! Every machine has a folder that contains all files of the pool. [`hosts_file`] is what a person keeps of a pool; [`probe`] judges
//! the machines and [`conf`] writes Slurm's configuration, both without side effects; [`making`] and [`status`] act.

mod client;
mod conf;
mod hosts_file;
mod making;
mod probe;
mod remote;
mod status;

use std::path::PathBuf;

pub(crate) use client::{client, remove_variables};
pub use hosts_file::HostsFile;
pub use making::{NewPool, end};
pub use remote::Ssh;
pub(crate) use remote::printed;
pub use status::{NodeStatus, status};

/// Why a pool cannot be made, used or ended.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    #[error("cannot use {}: {why}", path.display())]
    WrongFile { path: PathBuf, why: String },
    #[error("cannot write {}: {why}; choose another file with -o FILE", path.display())]
    NotWritten { path: PathBuf, why: String },
    #[error("{file} is there already; end that pool with `tolok pool down {file}`, or choose another file with -o FILE", file = .0.display())]
    IsThere(PathBuf),
    /// Sentences, each about a machine.
    #[error("cannot make the pool:\n  {}", .0.join("\n  "))]
    Hosts(Vec<String>),
    #[error("stopped")]
    Stopped,
    #[error("{0}\nNot all that was begun could be undone. Finish it with: tolok pool down {path}", path = .1.display())]
    HalfUndone(Box<PoolError>, PathBuf),
    #[error("{0} of its jobs wait or run; end their runs, or use --force")]
    Busy(usize),
    #[error("these machines could not be cleaned; run it again when they can be reached:\n  {}", .0.join("\n  "))]
    NotEnded(Vec<String>),
    #[error("{0}")]
    Silent(String),
}
