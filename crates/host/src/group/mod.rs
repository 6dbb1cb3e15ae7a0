//! Control groups: kernel folders that count, limit and end processes together.
//!
//! One module covers three layouts: version 1 (one hierarchy of folders for each controller), version 2 (one hierarchy
//! for all), and hybrid. Hybrid is version 1 with a version 2 tree beside it, which has few controllers but can kill.
//! The rest of the lab uses a [`Group`], which knows the folder and the version for each controller. It reads and
//! writes files directly, without a daemon.
//!
//! Groups are created **below** this process's own group. A limit on tolok itself therefore holds for all that it
//! starts, and a user who owns a group needs no other right. [`Hierarchies`] finds that place, and [`LeafCgroup`] makes
//! room there in version 2. [`delegation`] finds a way to get such a place where there is none.

mod delegation;
mod ending;
mod error;
mod folder;
mod hierarchies;
mod leaf_cgroup;
mod limits;
pub(crate) mod mounts;
mod name;
mod reading;
mod sweep;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use delegation::{DELEGATED, Delegation, Surroundings, delegation};
pub use error::GroupError;
pub use folder::{CpuFile, Freezer, Group};
pub use hierarchies::Hierarchies;
pub use leaf_cgroup::LeafCgroup;
pub use limits::Limits;
pub use name::GroupName;
pub use reading::{DiskBytes, GroupMemory, GroupReader, GroupReading, Throttling};
pub use sweep::{GUESTS, sweep};

/// What a group can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Controller {
    /// Weigh CPU time, and limit it by a quota.
    Cpu,
    /// Count CPU time. Version 2 does so in every group, whatever its controllers.
    CpuAccounting,
    /// Pin to CPUs.
    CpuSet,
    /// Count and limit memory.
    Memory,
    /// Count and limit tasks.
    Pids,
    /// Freeze processes. Version 2 does so in every group.
    Freezer,
    /// Count bytes to and from disks.
    Io,
    /// The version 2 tree itself, with or without controllers. It can kill a whole group at once.
    Core,
}

impl Controller {
    pub const ALL: [Self; 8] =
        [Self::Cpu, Self::CpuAccounting, Self::CpuSet, Self::Memory, Self::Pids, Self::Freezer, Self::Io, Self::Core];

    /// The name in version 1's mount options.
    fn v1_name(self) -> Option<&'static str> {
        match self {
            Self::Cpu => Some("cpu"),
            Self::CpuAccounting => Some("cpuacct"),
            Self::CpuSet => Some("cpuset"),
            Self::Memory => Some("memory"),
            Self::Pids => Some("pids"),
            Self::Freezer => Some("freezer"),
            Self::Io => Some("blkio"),
            Self::Core => None,
        }
    }

    /// The word for `cgroup.subtree_control`, or `None` for what every version 2 group can do.
    fn v2_switch(self) -> Option<&'static str> {
        match self {
            Self::Cpu => Some("cpu"),
            Self::CpuSet => Some("cpuset"),
            Self::Memory => Some("memory"),
            Self::Pids => Some("pids"),
            Self::Io => Some("io"),
            Self::CpuAccounting | Self::Freezer | Self::Core => None,
        }
    }
}

impl std::fmt::Display for Controller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.v1_name().unwrap_or("cgroup2"))
    }
}

/// The layouts of control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CgroupMode {
    /// No control groups are mounted.
    None,
    /// One hierarchy for each controller.
    V1,
    /// Version 1, and a version 2 tree beside it.
    Hybrid,
    /// One hierarchy for all controllers.
    V2,
}

impl std::fmt::Display for CgroupMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::V1 => "v1",
            Self::Hybrid => "hybrid",
            Self::V2 => "v2",
        })
    }
}

/// The version of the files in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Version {
    V1,
    V2,
}
