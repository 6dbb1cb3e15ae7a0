//! A leaf group for tolok's own process in version 2, where a group with processes cannot give controllers to groups
//! below it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::folder::{children, write};
use super::hierarchies::read;
use super::{Group, GroupError, Hierarchies};

/// The group into which tolok itself moves.
const LEAF: &str = "tolok-self";

/// Keeps this process in a leaf, out of the group below which it creates others. Only version 2 needs this, and not at
/// the root. Child processes start in the leaf too.
///
/// Dropping it moves the process back, and takes back the controllers that the groups below did not have before.
#[derive(Debug)]
#[must_use = "the process goes back when this is dropped"]
pub struct LeafCgroup {
    before: Option<Before>,
}

/// The state of a version 2 group before.
#[derive(Debug)]
struct Before {
    base: PathBuf,
    /// The controllers that the groups below had.
    handed_on: BTreeSet<String>,
    /// Whether this process moved out of it.
    lived_in: bool,
}

impl LeafCgroup {
    /// Makes room if needed. Fails if other processes are in the group, since tolok must not move them.
    pub fn settle(hierarchies: &Hierarchies) -> Result<Self, GroupError> {
        match hierarchies.v2_base() {
            Some((base, true)) => Self::settle_in(base),
            _ => Ok(Self { before: None }),
        }
    }

    /// The same, for the group that contains this process.
    pub(super) fn settle_in(base: &Path) -> Result<Self, GroupError> {
        let mut before = Before { base: base.to_owned(), handed_on: handed_on(base), lived_in: false };
        let there = if is_root(base) { Vec::new() } else { processes_in(base)? };
        if there.is_empty() {
            return Ok(Self { before: Some(before) });
        }
        let own = std::process::id();
        let others = there.into_iter().filter(|pid| *pid != own).count();
        if others > 0 {
            return Err(GroupError::Crowded { folder: base.to_owned(), processes: others });
        }
        let leaf = base.join(LEAF);
        match fs::create_dir(&leaf) {
            // A leftover one, or one with another tolok in it, will do.
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(GroupError::make(&leaf, error));
            }
            _ => {}
        }
        write(&leaf.join("cgroup.procs"), "0")?;
        before.lived_in = true;
        Ok(Self { before: Some(before) })
    }

    /// Whether the process has moved.
    pub fn has_moved(&self) -> bool {
        self.before.as_ref().is_some_and(|before| before.lived_in)
    }
}

impl Drop for LeafCgroup {
    fn drop(&mut self) {
        let Some(Before { base, handed_on: before, lived_in }) = self.before.take() else { return };
        // Another group may rely on a controller by now, and would silently lose its limits.
        let alone = children(&base).is_ok_and(|groups| groups.iter().all(|group| group.ends_with(LEAF)));
        if alone {
            for switch in handed_on(&base).difference(&before) {
                let _ = write(&base.join("cgroup.subtree_control"), &format!("-{switch}"));
            }
        }
        if lived_in {
            // The kernel refuses while groups below have controllers. Then this process ends in the leaf.
            let _ = write(&base.join("cgroup.procs"), "0");
            let _ = fs::remove_dir(base.join(LEAF));
        }
    }
}

/// The root has no type, and may have both processes and groups.
fn is_root(base: &Path) -> bool {
    !base.join("cgroup.type").exists()
}

fn processes_in(base: &Path) -> Result<Vec<u32>, GroupError> {
    Ok(read(&base.join("cgroup.procs"))?.lines().filter_map(|line| line.parse().ok()).collect())
}

/// Fails if the group has processes, because then it cannot hand controllers on. The kernel itself refuses only some
/// controllers in that case. With the others, it creates groups that no process can join.
pub(super) fn check_room(base: &Path) -> Result<(), GroupError> {
    if is_root(base) {
        return Ok(());
    }
    match processes_in(base)?.len() {
        0 => Ok(()),
        processes => Err(GroupError::Crowded { folder: base.to_owned(), processes }),
    }
}

fn handed_on(base: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(base.join("cgroup.subtree_control")).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// The folder for new groups, given the folder of this process: the leaf is for processes only.
pub(super) fn base_of(own: &Path) -> PathBuf {
    match own.parent() {
        Some(parent) if own.ends_with(LEAF) => parent.to_owned(),
        _ => own.to_owned(),
    }
}

/// Moves all processes out of a nested group, to the parent of its outer group.
pub(super) fn evict(group: &Group) {
    for entrance in group.entrances() {
        let Some(outside) = entrance.ancestors().nth(3) else { continue };
        let members = fs::read_to_string(&entrance).unwrap_or_default();
        for member in members.lines() {
            let doors = [outside.join(LEAF), outside.to_owned()].map(|folder| folder.join("cgroup.procs"));
            let _ = doors.iter().any(|door| door.exists() && fs::write(door, member).is_ok());
        }
    }
}

/// Where tolok's own process belongs, given the folder for new groups.
pub(super) fn home_in(base: &Path) -> PathBuf {
    let leaf = base.join(LEAF);
    if leaf.is_dir() { leaf } else { base.to_owned() }
}
