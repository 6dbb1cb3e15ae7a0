//! Where this process is in the trees of control groups: the folder of each controller, and those above.
//! [`crate::group`] parses what the kernel reports about it.

use std::path::{Path, PathBuf};

use super::files::Files;
use crate::group::mounts::{self, Mounted};

/// The groups of this process.
#[derive(Debug, Default)]
pub(super) struct GroupFolders {
    trees: Vec<Mounted>,
    /// The text of `/proc/self/cgroup`.
    own: String,
    /// Whether the kernel reported where this process is. True also if there are no trees.
    pub(super) known: bool,
}

/// The group of this process in one tree.
#[derive(Debug)]
pub(super) struct GroupFolder {
    mount: PathBuf,
    pub(super) own: PathBuf,
    /// A version 2 tree, which has every controller that version 1 does not use.
    pub(super) v2: bool,
    /// Whether the group is the root of its tree, as far as visible from within a container.
    pub(super) is_root: bool,
}

impl GroupFolder {
    /// The group's folder and those above it, up to the mount point.
    pub(super) fn upwards(&self) -> impl Iterator<Item = &Path> {
        self.own.ancestors().take_while(|folder| folder.starts_with(&self.mount))
    }
}

impl GroupFolders {
    pub(super) fn read(files: Files) -> Self {
        let (mountinfo, own) = (files.text("proc/self/mountinfo"), files.text("proc/self/cgroup"));
        let known = mountinfo.is_some() && own.is_some();
        let trees = mounts::mounted(&mountinfo.unwrap_or_default());
        Self { trees, own: own.unwrap_or_default(), known }
    }

    /// The group of this process in the tree of that controller.
    pub(super) fn of(&self, controller: &str) -> Option<GroupFolder> {
        let has = |tree: &&Mounted| tree.controllers.iter().flatten().any(|name| name == controller);
        let v1 = mounts::best(self.trees.iter().filter(has), &self.own);
        let v2 = || mounts::best(self.trees.iter().filter(|tree| tree.controllers.is_none()), &self.own);
        let tree = v1.or_else(v2)?;
        Some(GroupFolder {
            own: mounts::own_folder(tree, &self.own),
            mount: tree.mount.clone(),
            v2: tree.controllers.is_none(),
            is_root: mounts::is_root(tree, &self.own),
        })
    }
}
