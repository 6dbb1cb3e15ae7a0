//! The control groups of a box: one below it for each part. They end with the box, and nobody in them survives, except
//! the lab itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::protocol::Fault;
use super::spec::{GroupsSpec, Isolation};
use crate::group::{Group, GroupName, Hierarchies, Limits};

/// The part whose processes outlive the box.
const LAB: &str = "lab";
/// The part that emulates a link, and must come before everything else to be on time.
const LINK: &str = "link";
/// The box as a whole goes before what else runs on the machine: alone in a group of ordinary weight, a server with all
/// its processes would get no more than one process of somebody else's.
const WEIGHT: u32 = 10_000;
/// Microseconds of each second that a link may run before everything else, the first that the machine grants.
const REALTIME_US: [u32; 3] = [900_000, 400_000, 100_000];

/// The groups of a box. Dropped, they are gone, with everybody in them.
#[derive(Debug)]
pub(super) struct BoxGroups {
    whole: Group,
    pub(super) parts: BTreeMap<String, Group>,
}

impl BoxGroups {
    /// Makes the groups and sets the limits. What the machine does not offer is said in `isolation`, unless it is a limit.
    pub(super) fn make(spec: &GroupsSpec, isolation: &mut Isolation) -> Result<Option<Self>, Fault> {
        let hierarchies = Hierarchies::find();
        let usable = hierarchies.usable();
        let missing: Vec<String> = spec.controllers.difference(&usable).map(ToString::to_string).collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            isolation
                .fallbacks
                .push(format!("Control groups here have no {missing}, so nothing is counted or limited by it"));
        }
        let wanted = spec.controllers.intersection(&usable).copied().collect();
        let name = GroupName::own()?.to_string();
        let whole = match hierarchies.create(&name, &wanted) {
            Ok(whole) => whole,
            Err(error) => {
                let reason = format!("cannot {error}");
                return if spec.parts.values().any(limits_something) {
                    Err(Fault::Limit(format!("{reason}, and without control groups nothing can be limited")))
                } else {
                    isolation
                        .fallbacks
                        .push(format!("No control groups, so resources are counted less exactly ({reason})"));
                    Ok(None)
                };
            }
        };
        isolation.groups = Some(hierarchies.layout().to_string());
        isolation.controllers = whole.controllers().iter().map(ToString::to_string).collect();
        let mut groups = Self { whole, parts: BTreeMap::new() };
        weigh(&groups.whole, WEIGHT, "the box", isolation);
        for (part, limits) in &spec.parts {
            let group = groups.whole.child(part).map_err(|error| Fault::Limit(format!("cannot {error}")))?;
            groups.parts.insert(part.clone(), group.clone());
            let strict = Limits { weight: None, ..limits.clone() };
            group.limit(&strict).map_err(|error| Fault::Limit(format!("cannot {error}")))?;
            if let Some(weight) = limits.weight {
                weigh(&group, weight, part, isolation);
            }
        }
        groups.parts.get(LINK).map(allow_realtime);
        Ok(Some(groups))
    }

    /// What a process of each part writes `0` into to join.
    pub(super) fn entrances(&self) -> BTreeMap<String, Vec<PathBuf>> {
        self.parts.iter().map(|(part, group)| (part.clone(), group.entrances())).collect()
    }

    /// Ends everybody in them, except the lab.
    pub(super) fn kill(&self) {
        for (_, group) in self.parts.iter().filter(|(part, _)| *part != LAB) {
            // Who cannot be killed keeps the group from being removed, and the next start of tolok tries again.
            let _ = group.kill();
        }
    }
}

impl Drop for BoxGroups {
    fn drop(&mut self) {
        self.kill();
        self.parts.get(LAB).map(let_go);
        self.parts.get(LINK).map(give_back_realtime);
        // As above.
        let _ = self.whole.remove();
    }
}

fn limits_something(limits: &Limits) -> bool {
    *limits != Limits { weight: limits.weight, ..Limits::default() }
}

fn weigh(group: &Group, weight: u32, whose: &str, isolation: &mut Isolation) {
    let limits = Limits { weight: Some(weight), ..Limits::default() };
    if let Err(error) = group.limit(&limits) {
        isolation.fallbacks.push(format!(
            "The weight of {whose} is not set, so others on the machine take more from it (cannot {error})"
        ));
    }
}

/// Moves everybody out of a group to where they came from: the group in which the box's group was made.
fn let_go(group: &Group) {
    for entrance in group.entrances() {
        let Some(outside) = entrance.ancestors().nth(3) else { continue };
        let members = fs::read_to_string(&entrance).unwrap_or_default();
        for member in members.lines() {
            // On version 2, processes are in a leaf beside the box, see `Residence`.
            let doors = [outside.join("tolok-self/cgroup.procs"), outside.join("cgroup.procs")];
            let _ = doors.iter().any(|door| write_existing(door, member));
        }
    }
}

/// Version 1 gives a new group no time at all for realtime priority, and then refuses it to the group's processes. Where
/// it is refused here, the link runs at ordinary priority, and says so in its report.
fn allow_realtime(group: &Group) {
    let granted = |us: &u32| realtime_files(group).into_iter().rev().all(|file| write_existing(&file, &us.to_string()));
    let _ = REALTIME_US.iter().any(granted);
}

/// Gives that time back at once: of a group that was removed, the kernel counts it for some time yet, and the next box
/// would get none.
fn give_back_realtime(group: &Group) {
    for file in realtime_files(group) {
        write_existing(&file, "0");
    }
}

/// Where the time of a part and that of the whole box stand, if the machine gives out such time by groups.
fn realtime_files(group: &Group) -> Vec<PathBuf> {
    let levels = |entrance: PathBuf| {
        let folders: Vec<PathBuf> = entrance.ancestors().skip(1).take(2).map(Path::to_owned).collect();
        folders.into_iter().map(|folder| folder.join("cpu.rt_runtime_us"))
    };
    group.entrances().into_iter().flat_map(levels).filter(|file| file.exists()).collect()
}

fn write_existing(file: &Path, value: &str) -> bool {
    file.exists() && fs::write(file, value).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_a_wish_and_everything_else_a_limit() {
        assert!(!limits_something(&Limits { weight: Some(100), ..Limits::default() }));
        assert!(limits_something(&Limits { pids: Some(20), ..Limits::default() }));
        assert!(limits_something(&Limits { cpus: vec![0], ..Limits::default() }));
    }
}
