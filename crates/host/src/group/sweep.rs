//! Removes groups whose owner was killed.

use std::collections::{BTreeMap, BTreeSet};

use super::folder::{Place, children};
use super::{Controller, Group, GroupError, GroupName, Hierarchies};

/// The subgroup of an owner's group for guest processes that outlive it: the lab, while it measures.
pub const GUESTS: &str = "lab";

/// Ends and removes the groups of dead owners, below this process's group and beside it. Returns messages about what
/// could not be removed; the next sweep tries again.
pub fn sweep(hierarchies: &Hierarchies) -> Vec<String> {
    let proc = hierarchies.root().join("proc");
    let mut complaints = Vec::new();
    for level in hierarchies.levels() {
        for name in dead(&level, &proc) {
            if let Err(error) = end(&below(&level, &name), &below(&level, &format!("{name}/{GUESTS}"))) {
                complaints.push(error.to_string());
            }
        }
    }
    complaints
}

/// Ends a group. Kills none of its guests: a lab may live on after its keeper was killed.
fn end(group: &Group, guests: &Group) -> Result<(), GroupError> {
    guests.evict();
    let left = guests.everyone().unwrap_or_default();
    if let Some(folder) = guests.folders().first().filter(|_| !left.is_empty()) {
        return Err(GroupError::StillThere { folder: folder.to_path_buf(), pids: left.into_iter().collect() });
    }
    group.kill().and_then(|()| group.remove())
}

/// The folders of a group that exist at one level.
fn below(level: &BTreeMap<Controller, Place>, name: &str) -> Group {
    let folder = |place: &Place| Place { folder: place.folder.join(name), ..*place };
    let places = level.iter().map(|(controller, place)| (*controller, folder(place)));
    Group::at(places.filter(|(_, place)| place.folder.is_dir()).collect())
}

/// The names of groups whose owner is dead, in the folders of one level.
fn dead(level: &BTreeMap<Controller, Place>, proc: &std::path::Path) -> BTreeSet<String> {
    let folders: BTreeSet<_> = level.values().map(|place| &place.folder).collect();
    let names = folders.into_iter().filter_map(|folder| children(folder).ok()).flatten();
    let names = names.filter_map(|child| child.file_name()?.to_str().map(str::to_owned));
    names.filter(|name| GroupName::parse(name).is_some_and(|name| !name.is_alive(proc))).collect()
}
