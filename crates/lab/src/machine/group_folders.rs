//! Where this process stands in the trees of control groups: the folder of each controller, and the folders above.

use std::path::{Path, PathBuf};

use super::files::Files;

/// The groups of this process.
#[derive(Debug, Default)]
pub(super) struct GroupFolders {
    trees: Vec<GroupFolder>,
    /// Whether the kernel told where this process stands, be it that there are no trees.
    pub(super) known: bool,
}

/// The group of this process in one tree.
#[derive(Debug)]
pub(super) struct GroupFolder {
    mount: PathBuf,
    controllers: Vec<String>,
    /// Its folder.
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
        let mounts = files.text("proc/self/mountinfo");
        let own = files.text("proc/self/cgroup");
        let known = mounts.is_some() && own.is_some();
        Self { trees: trees(&mounts.unwrap_or_default(), &own.unwrap_or_default()), known }
    }

    /// The tree in which that controller rules this process.
    pub(super) fn of(&self, controller: &str) -> Option<&GroupFolder> {
        let v1 = self.trees.iter().find(|tree| tree.controllers.iter().any(|name| name == controller));
        v1.or_else(|| self.trees.iter().find(|tree| tree.v2))
    }
}

/// From the lines `id parent dev root mount-point options … - type source super-options` of mountinfo.
fn trees(mountinfo: &str, own: &str) -> Vec<GroupFolder> {
    let tree = |line: &str| {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut mount = mount.split_whitespace().skip(3);
        let (mounted_part, mount) = (mount.next()?, PathBuf::from(mount.next()?));
        let mut filesystem = filesystem.split_whitespace();
        let v2 = match filesystem.next()? {
            "cgroup" => false,
            "cgroup2" => true,
            _ => return None,
        };
        let options = if v2 { "" } else { filesystem.nth(1)? };
        let controllers: Vec<String> = options.split(',').map(str::to_owned).collect();
        let path = own_path(own, &controllers, v2)?;
        // In a container the mount shows a part of the tree only, and the path starts above it.
        let below = Path::new(path).strip_prefix(mounted_part).unwrap_or(Path::new(""));
        Some(GroupFolder {
            own: mount.join(below),
            mount,
            controllers,
            v2,
            is_root: path == "/" && mounted_part == "/",
        })
    };
    mountinfo.lines().filter_map(tree).collect()
}

/// The path in the line `id:controllers:path` of `/proc/self/cgroup` that belongs to a tree.
fn own_path<'a>(own: &'a str, controllers: &[String], v2: bool) -> Option<&'a str> {
    own.lines().find_map(|line| {
        let (names, path) = line.split_once(':')?.1.split_once(':')?;
        let ours =
            if v2 { names.is_empty() } else { names.split(',').any(|name| controllers.iter().any(|one| one == name)) };
        ours.then_some(path)
    })
}
