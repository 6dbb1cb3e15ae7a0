//! The control groups of a box, with a group below it for each part. Ending the box kills every process in them except
//! the lab itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use tolok_model::GroupWeights;

use super::protocol::Fault;
use super::spec::{GroupsSpec, Isolation};
use crate::group::{Controller, GUESTS, Group, GroupError, GroupName, Hierarchies, Limits};

/// The part that emulates a link. It must run before everything else to be on time.
const LINK: &str = "link";
/// The box as a whole takes precedence over other work on the machine. In a group of ordinary weight, a server with all
/// its processes would get no more CPU time than a single process of another program.
const WEIGHT: u32 = 10_000;
/// Microseconds of each second that a link may run before everything else. The first that the machine grants applies.
const REALTIME_US: [u32; 3] = [900_000, 400_000, 100_000];

/// The groups of a box. Dropping them kills their processes, except the lab, and removes them.
#[derive(Debug)]
pub(super) struct BoxGroups {
    whole: Group,
    pub(super) parts: BTreeMap<String, Group>,
}

impl BoxGroups {
    /// Creates the groups and sets the limits. `isolation` lists what the machine lacks, except limits: lacking those
    /// is an error.
    pub(super) fn make(spec: &GroupsSpec, isolation: &mut Isolation) -> Result<Option<Self>, Fault> {
        let hierarchies = Hierarchies::find();
        let usable = hierarchies.usable();
        let mut wanted: BTreeSet<Controller> = spec.controllers.intersection(&usable).copied().collect();
        if wanted.is_empty() {
            // Creating the group then fails and gives the reason.
            wanted.clone_from(&spec.controllers);
        }
        let name = GroupName::own()?.to_string();
        let whole = match hierarchies.create(&name, &wanted) {
            Ok(whole) => whole,
            Err(error) => return do_without(spec, &name, &error, isolation).map(|()| None),
        };
        isolation.groups = Some(hierarchies.layout().to_string());
        isolation.fallbacks.extend(lacks(spec, &usable));
        isolation.controllers = whole.controllers().iter().map(ToString::to_string).collect();
        let mut groups = Self { whole, parts: BTreeMap::new() };
        let mut weights = GroupWeights { own_group: groups.whole.weight_above(), ..GroupWeights::default() };
        // If the controller is missing, `lacks` has already reported it once for all parts.
        let mut weigh = |group: &Group, weight: Option<u32>, whose: &str| {
            let weight = weight.filter(|_| usable.contains(&Controller::Cpu))?;
            let Err(error) = group.limit(&Limits { weight: Some(weight), ..Limits::default() }) else {
                return Some(weight);
            };
            let said = format!("The weight of {whose} is not set, so others on the machine take more from it");
            isolation.fallbacks.push(format!("{said} ({})", nameless(&name, format!("cannot {error}"))));
            None
        };
        weights.trial = weigh(&groups.whole, Some(WEIGHT), "the box");
        for (part, limits) in &spec.parts {
            let (above, name) = match part.split_once('/') {
                // Names are sorted, so the part above comes first.
                Some((above, name)) => (groups.parts.get(above).unwrap_or(&groups.whole), name),
                None => (&groups.whole, part.as_str()),
            };
            let group = above.child(name).map_err(|error| Fault::Limit(format!("cannot {error}")))?;
            groups.parts.insert(part.clone(), group.clone());
            let mut strict = Limits { weight: None, ..limits.clone() };
            if !usable.contains(&Controller::CpuSet) {
                strict.cpus.clear();
            }
            group.limit(&strict).map_err(|error| Fault::Limit(format!("cannot {error}")))?;
            weights.parts.extend(weigh(&group, limits.weight, part).map(|weight| (part.clone(), weight)));
        }
        isolation.weights = weights.trial.is_some().then_some(weights);
        groups.parts.get(LINK).map(allow_realtime);
        Ok(Some(groups))
    }

    /// The files into which a process of each part writes `0` to join.
    pub(super) fn entrances(&self) -> BTreeMap<String, Vec<PathBuf>> {
        self.parts.iter().map(|(part, group)| (part.clone(), group.entrances())).collect()
    }

    /// The group that all others are in.
    pub(super) fn whole(&self) -> Group {
        self.whole.clone()
    }

    /// Ends all processes in them, except the lab.
    pub(super) fn kill(&self) {
        for (_, group) in self.parts.iter().filter(|(part, _)| *part != GUESTS) {
            // A process that survives prevents the removal of the group. The next start of tolok tries again.
            let _ = group.kill();
        }
    }
}

impl Drop for BoxGroups {
    fn drop(&mut self) {
        self.kill();
        self.parts.get(GUESTS).map(Group::evict);
        self.parts.get(LINK).map(give_back_realtime);
        // As above.
        let _ = self.whole.remove();
    }
}

/// Reports that a box has no groups, or fails if they were to limit something.
fn do_without(spec: &GroupsSpec, name: &str, error: &GroupError, isolation: &mut Isolation) -> Result<(), Fault> {
    let reason = nameless(name, format!("cannot {error}"));
    if spec.parts.values().any(limits_something) {
        return Err(Fault::Limit(format!("limits need control groups: run tolok as root ({reason})")));
    }
    isolation.fallbacks.push(format!("No control groups, so resources are counted less exactly ({reason})"));
    Ok(())
}

/// Removes the group's name. A report merges equal sentences, so a hundred boxes that lack the same must report it in
/// the same words.
fn nameless(name: &str, sentence: String) -> String {
    sentence.replace(name, "tolok-…")
}

/// Whether a limit needs groups. CPUs do not, because every process also gets them as its affinity.
fn limits_something(limits: &Limits) -> bool {
    *limits != Limits { weight: limits.weight, cpus: limits.cpus.clone(), ..Limits::default() }
}

/// What the groups of this machine lack of what is wanted, and what that means.
fn lacks(spec: &GroupsSpec, usable: &BTreeSet<Controller>) -> Vec<String> {
    // The version 2 tree counts nothing that is not available otherwise.
    let missing: Vec<&Controller> =
        spec.controllers.difference(usable).filter(|missing| **missing != Controller::Core).collect();
    let mut said = Vec::new();
    if !missing.is_empty() {
        let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let missing = missing.join(", ");
        said.push(format!("Control groups here have no {missing}, so nothing is counted or limited by it"));
    }
    let lacks =
        |controller, asked: fn(&Limits) -> bool| !usable.contains(&controller) && spec.parts.values().any(asked);
    if lacks(Controller::CpuSet, |limits| !limits.cpus.is_empty()) {
        said.push("CPUs are given by affinity alone, which a program may change for itself".to_owned());
    }
    let has_several = spec.parts.keys().any(|part| part.contains('/'));
    if has_several && !usable.contains(&Controller::Freezer) {
        said.push("Nothing can be frozen here, so a subject works on while another is asked".to_owned());
    }
    if lacks(Controller::Cpu, |limits| limits.weight.is_some()) {
        said.push("Nothing is weighed, so others on the machine take more from the trial".to_owned());
    }
    said
}

/// Version 1 gives a new group no realtime quota, and refuses realtime priority to its processes without one. If the
/// quota is refused here, the link runs at ordinary priority and reports it.
fn allow_realtime(group: &Group) {
    let granted = |us: &u32| realtime_files(group).into_iter().rev().all(|file| write_existing(&file, &us.to_string()));
    let _ = REALTIME_US.iter().any(granted);
}

/// Returns that time at once. After a group is removed the kernel still counts it for a while, and the next box would
/// get none.
fn give_back_realtime(group: &Group) {
    for file in realtime_files(group) {
        write_existing(&file, "0");
    }
}

/// The files with the realtime quota of a part and of the whole box, if the machine has such quotas by group.
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
        assert!(!limits_something(&Limits { cpus: vec![0], ..Limits::default() }), "affinity can bind to CPUs as well");
    }

    #[test]
    fn two_boxes_without_groups_say_the_same_sentence() {
        // A machine where groups cannot be created: here, the folders do not exist.
        let machine = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(machine.path().join("proc/self")).unwrap();
        std::fs::write(machine.path().join("proc/self/cgroup"), "0::/user\n").unwrap();
        let mounted = "30 23 0:26 / /groups rw - cgroup2 cgroup2 rw\n";
        std::fs::write(machine.path().join("proc/self/mountinfo"), mounted).unwrap();
        let hierarchies = Hierarchies::find_in(machine.path());
        let spec = GroupsSpec { parts: BTreeMap::new(), controllers: Controller::ALL.into() };
        let said = |name: &str| {
            let (error, mut isolation) =
                (hierarchies.create(name, &spec.controllers).unwrap_err(), Isolation::default());
            do_without(&spec, name, &error, &mut isolation).unwrap();
            isolation.fallbacks.concat()
        };
        let sentence = said("tolok-752d3df0-42-777");
        assert_eq!(sentence, said("tolok-752d3df0-43-999"));
        let words = format!(
            "No control groups, so resources are counted less exactly (cannot make a control group in {}: ",
            machine.path().join("groups/user").display()
        );
        assert!(sentence.starts_with(&words), "{sentence}");
        // Any other failure of a group.
        let write = |name: &str| nameless(name, format!("cannot write \"1\" to /groups/{name}/cpu.shares"));
        assert_eq!(write("tolok-752d3df0-42-777"), "cannot write \"1\" to /groups/tolok-…/cpu.shares");
    }

    #[test]
    fn what_groups_lack_is_said_with_what_it_means() {
        let pinned = Limits { cpus: vec![0], weight: Some(100), ..Limits::default() };
        let controllers = BTreeSet::from([Controller::Cpu, Controller::CpuSet, Controller::Memory]);
        let said = |parts: &[&Limits], usable: &[Controller]| {
            let parts = parts.iter().enumerate().map(|(number, limits)| (number.to_string(), (*limits).clone()));
            let spec = GroupsSpec { parts: parts.collect(), controllers: controllers.clone() };
            lacks(&spec, &usable.iter().copied().collect()).join("; ")
        };
        assert_eq!(said(&[&pinned], &[Controller::Cpu, Controller::CpuSet, Controller::Memory]), "");
        // As for users under systemd.
        let without_sets = said(&[&pinned], &[Controller::Cpu, Controller::Memory]);
        assert!(
            without_sets.contains("have no cpuset, so") && without_sets.contains("by affinity alone"),
            "{without_sets}"
        );
        let nothing_asked = said(&[&Limits::default()], &[Controller::Memory]);
        assert_eq!(nothing_asked, "Control groups here have no cpu, cpuset, so nothing is counted or limited by it");
        assert!(said(&[&pinned], &[Controller::CpuSet]).contains("Nothing is weighed"));
        let several = |usable: &[Controller]| {
            let parts = ["subject", "subject/1"].map(|part| (part.to_owned(), Limits::default())).into();
            let spec = GroupsSpec { parts, controllers: [Controller::Freezer].into() };
            lacks(&spec, &usable.iter().copied().collect()).join("; ")
        };
        assert_eq!(several(&[Controller::Freezer]), "");
        assert!(several(&[]).contains("Nothing can be frozen here"));
    }
}
