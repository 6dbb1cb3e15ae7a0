//! Finds the place below which this process may create groups, in each mounted hierarchy.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::folder::{Place, enable, joinable, make_all, write};
use super::{CgroupMode, Controller, Group, GroupError, Version, leaf_cgroup, mounts, name};

/// Where this process was in each hierarchy when this was created.
#[derive(Debug, Clone)]
pub struct Hierarchies {
    /// What is treated as `/`: the folder that contains `proc`.
    root: PathBuf,
    layout: CgroupMode,
    /// The names of all controllers, including those that tolok does not use.
    names: BTreeSet<String>,
    seats: BTreeMap<Controller, Seat>,
}

/// The place of this process in a controller's hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seat {
    version: Version,
    /// The folder below which groups are created.
    base: PathBuf,
    /// The topmost folder visible from here.
    mount: PathBuf,
    /// The word that makes version 2 hand the controller on to the groups below, if it needs one.
    switch: Option<&'static str>,
}

impl Hierarchies {
    /// What this process finds.
    pub fn find() -> Self {
        Self::find_in(Path::new("/"))
    }

    /// What a process finds if `root` is its `/`.
    pub fn find_in(root: &Path) -> Self {
        let text = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
        let (mounted, own) = (mounts::mounted(&text("proc/self/mountinfo")), text("proc/self/cgroup"));
        let mut found = Self {
            root: root.to_owned(),
            layout: mounts::layout(&mounted),
            names: BTreeSet::new(),
            seats: BTreeMap::new(),
        };
        let inside = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
        found.names.extend(mounted.iter().filter_map(|mounted| mounted.controllers.as_ref()).flatten().cloned());
        for controller in Controller::ALL {
            let has = |mounted: &&mounts::Mounted| {
                let names = mounted.controllers.iter().flatten();
                controller.v1_name().is_some_and(|wanted| names.into_iter().any(|name| name == wanted))
            };
            if let Some(best) = mounts::best(mounted.iter().filter(has), &own) {
                let (base, mount) = (inside(&mounts::own_folder(best, &own)), inside(&best.mount));
                found.seats.insert(controller, Seat { version: Version::V1, base, mount, switch: None });
            }
        }
        if let Some(best) = mounts::best(mounted.iter().filter(|mounted| mounted.controllers.is_none()), &own) {
            let base = leaf_cgroup::base_of(&inside(&mounts::own_folder(best, &own)));
            found.take_v2(base, inside(&best.mount));
        }
        found
    }

    /// Adds what the version 2 tree has and version 1 lacks.
    fn take_v2(&mut self, base: PathBuf, mount: PathBuf) {
        let offered = fs::read_to_string(base.join("cgroup.controllers")).unwrap_or_default();
        for controller in Controller::ALL {
            let switch = controller.v2_switch();
            if switch.is_none_or(|name| offered.split_whitespace().any(|offered| offered == name)) {
                let seat = Seat { version: Version::V2, base: base.clone(), mount: mount.clone(), switch };
                self.seats.entry(controller).or_insert(seat);
            }
        }
        self.names.extend(offered.split_whitespace().map(str::to_owned));
    }

    /// The system's layout.
    pub fn layout(&self) -> CgroupMode {
        self.layout
    }

    /// The kernel's names of the controllers that exist for this process, whether it may use them or not.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The controllers that exist for this process, whether it may use them or not.
    pub fn offered(&self) -> BTreeSet<Controller> {
        self.seats.keys().copied().collect()
    }

    /// Whether the permissions of the folder for new groups allow creating some: in the hierarchy of the cpu
    /// controller, or else in the version 2 tree. Permissions can be wrong; [`Self::usable`] tries.
    pub fn permitted(&self) -> bool {
        let seat = self.seats.get(&Controller::Cpu).or_else(|| self.seats.get(&Controller::Core));
        seat.is_some_and(|seat| rustix::fs::access(&seat.base, rustix::fs::Access::WRITE_OK).is_ok())
    }

    /// The controllers with which this process can really create groups. It creates one in each hierarchy and removes
    /// it. In version 2 it also hands the controllers on, as [`Self::create`] does; a [`super::LeafCgroup`] undoes
    /// that.
    pub fn usable(&self) -> BTreeSet<Controller> {
        let bases: BTreeSet<&Path> = self.seats.values().map(|seat| seat.base.as_path()).collect();
        let open: BTreeSet<&Path> = bases.into_iter().filter(|base| a_group_can_be_made(base)).collect();
        let usable = |seat: &Seat| {
            open.contains(seat.base.as_path()) && seat.switch.is_none_or(|switch| enable(&seat.base, switch).is_ok())
        };
        self.seats.iter().filter(|(_, seat)| usable(seat)).map(|(controller, _)| *controller).collect()
    }

    /// Creates a group below this process's own, with those of the wanted controllers that exist.
    pub fn create(&self, name: &str, wanted: &BTreeSet<Controller>) -> Result<Group, GroupError> {
        name::check(name)?;
        let mut seats: BTreeMap<Controller, &Seat> = self
            .seats
            .iter()
            .filter(|(controller, _)| wanted.contains(controller))
            .map(|(c, seat)| (*c, seat))
            .collect();
        // A folder in the version 2 tree lets the group be killed through it.
        if seats.values().any(|seat| seat.version == Version::V2) {
            seats.extend(self.seats.get(&Controller::Core).map(|core| (Controller::Core, core)));
        }
        if seats.is_empty() {
            let wanted: Vec<String> = wanted.iter().map(Controller::to_string).collect();
            return Err(GroupError::no_groups(format!(
                "none of the wanted controllers ({}) is available here",
                wanted.join(", ")
            )));
        }
        let switches: Vec<_> = seats.values().filter_map(|seat| Some((seat.base.as_path(), seat.switch?))).collect();
        let place = |seat: &Seat| Place { version: seat.version, folder: seat.base.join(name) };
        let group = Group::at(seats.iter().map(|(controller, seat)| (*controller, place(seat))).collect());
        make_all(group, &switches)
    }

    /// Moves this process out of a group, back to where it was, so that the group can be removed.
    pub fn leave(&self, group: &Group) -> Result<(), GroupError> {
        let controllers = group.controllers();
        let seats = self.seats.iter().filter(|(controller, _)| controllers.contains(controller));
        let homes: BTreeSet<PathBuf> = seats.map(|(_, seat)| leaf_cgroup::home_in(&seat.base)).collect();
        // Leaves every hierarchy that allows it, even if one does not.
        homes.iter().map(|home| write(&home.join("cgroup.procs"), "0")).fold(Ok(()), Result::and)
    }

    /// What is treated as `/`.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder for new groups of the version 2 tree, and whether that tree has controllers that must be handed on.
    pub(super) fn v2_base(&self) -> Option<(&Path, bool)> {
        let core = self.seats.get(&Controller::Core)?;
        Some((&core.base, self.seats.values().any(|seat| seat.switch.is_some())))
    }

    /// The folders for new groups, then their parents as far as they are visible; each level with its controllers.
    pub(super) fn levels(&self) -> [BTreeMap<Controller, Place>; 2] {
        let place = |seat: &Seat, folder: &Path| Place { version: seat.version, folder: folder.to_owned() };
        let own = self.seats.iter().map(|(controller, seat)| (*controller, place(seat, &seat.base)));
        let above = self.seats.iter().filter(|(_, seat)| seat.base != seat.mount);
        let above = above.filter_map(|(controller, seat)| Some((*controller, place(seat, seat.base.parent()?))));
        [own.collect(), above.collect()]
    }
}

fn a_group_can_be_made(base: &Path) -> bool {
    static TRIES: AtomicU32 = AtomicU32::new(0);
    let number = TRIES.fetch_add(1, Ordering::Relaxed);
    let probe = base.join(format!("tolok-probe-{}-{number}", std::process::id()));
    let made = fs::create_dir(&probe).is_ok();
    let joinable = made && joinable(&probe);
    made && fs::remove_dir(&probe).is_ok() && joinable
}

/// Reads a file, or returns an error that names it.
pub(super) fn read(file: &Path) -> Result<String, GroupError> {
    fs::read_to_string(file).map_err(|source: io::Error| GroupError::Read { file: file.to_owned(), source })
}
