//! The removal of groups whose owner was killed.

use std::collections::{BTreeMap, BTreeSet};

use super::folder::{Place, children};
use super::{Controller, Group, GroupName, Hierarchies};

/// Ends and removes the groups of dead owners below the own group and beside it. Returns in words what could not be
/// removed; the next sweep tries again.
pub fn sweep(hierarchies: &Hierarchies) -> Vec<String> {
    let proc = hierarchies.root().join("proc");
    let mut complaints = Vec::new();
    for level in hierarchies.levels() {
        for name in dead(&level, &proc) {
            let folder = |place: &Place| Place { folder: place.folder.join(&name), ..*place };
            let places = level.iter().map(|(controller, place)| (*controller, folder(place)));
            let group = Group::at(places.filter(|(_, place)| place.folder.is_dir()).collect());
            if let Err(error) = group.kill().and_then(|()| group.remove()) {
                complaints.push(error.to_string());
            }
        }
    }
    complaints
}

/// The names of groups whose owner is dead, in the folders of one level.
fn dead(level: &BTreeMap<Controller, Place>, proc: &std::path::Path) -> BTreeSet<String> {
    let folders: BTreeSet<_> = level.values().map(|place| &place.folder).collect();
    let names = folders.into_iter().filter_map(|folder| children(folder).ok()).flatten();
    let names = names.filter_map(|child| child.file_name()?.to_str().map(str::to_owned));
    names.filter(|name| GroupName::parse(name).is_some_and(|name| !name.is_alive(proc))).collect()
}
