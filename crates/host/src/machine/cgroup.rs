//! The part of the fingerprint about control groups. [`crate::group`] finds and uses them.

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use crate::group::CgroupMode;
use crate::group::Hierarchies;

/// The control groups of this process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cgroup {
    /// The system's layout.
    pub mode: CgroupMode,
    /// The controllers that this process could use if it has the right.
    pub controllers: Vec<String>,
    /// Whether permissions let it make a group below its own, in the hierarchy of the cpu controller (or of version 2,
    /// if there is no other).
    pub writable: bool,
}

pub(super) fn read(root: &Path) -> Cgroup {
    let found = Hierarchies::find_in(root);
    Cgroup {
        mode: found.layout(),
        controllers: found.names().map(str::to_owned).collect(),
        writable: found.permitted(),
    }
}
