//! Where this process stands in the trees of control groups: the folder of each controller, and the folders above. What
//! the kernel says of it is read by [`crate::group`].

use std::path::{Path, PathBuf};

use super::files::Files;
use crate::group::mounts::{self, Mounted};

/// The groups of this process.
#[derive(Debug, Default)]
pub(super) struct GroupFolders {
    trees: Vec<Mounted>,
    /// The text of `/proc/self/cgroup`.
    own: String,
    /// Whether the kernel told where this process stands, be it that there are no trees.
    pub(super) known: bool,
}

/// The group of this process in one tree.
#[derive(Debug)]
pub(super) struct GroupFolder {
    mount: PathBuf,
    pub(super) own: PathBuf,
    /// A tree of version 2, which has every controller that version 1 does not hold.
    pub(super) v2: bool,
    /// The group is the root of its tree, as far as can be seen from within a container.
    pub(super) is_root: bool,
}

impl GroupFolder {
    /// The group's folder and those above it, up to what is mounted.
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

    /// The group in the tree in which that controller rules this process.
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
