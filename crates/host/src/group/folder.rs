//! A group: a folder for each controller, and the operations on them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::hierarchies::read;
use super::{Controller, GroupError, GroupReader, Limits, Version, ending, leaf_cgroup, limits, name};

/// A group. It can be sent to another process, which can then use it in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    places: BTreeMap<Controller, Place>,
}

/// The files that freeze a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freezer {
    /// One file: writing sets the state, and reading shows whether all processes are frozen.
    V1 { state: PathBuf },
    /// Writing to one file sets the state; another shows whether all processes are frozen.
    V2 { freeze: PathBuf, events: PathBuf },
}

/// A file with the CPU time of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CpuFile {
    /// A number of nanoseconds.
    Cpuacct(PathBuf),
    /// A line `usage_usec`.
    CpuStat(PathBuf),
}

/// The folder of a group in the hierarchy of one controller.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Place {
    pub version: Version,
    pub folder: PathBuf,
}

impl Group {
    pub(super) fn at(places: BTreeMap<Controller, Place>) -> Self {
        Self { places }
    }

    pub fn controllers(&self) -> BTreeSet<Controller> {
        self.places.keys().copied().collect()
    }

    /// Creates a group below this one, with the same controllers. In version 2 a group must not have both groups and
    /// processes.
    pub fn child(&self, name: &str) -> Result<Self, GroupError> {
        name::check(name)?;
        let v2 = self.places.iter().filter(|(_, place)| place.version == Version::V2);
        let switches: Vec<_> =
            v2.filter_map(|(controller, place)| Some((place.folder.as_path(), controller.v2_switch()?))).collect();
        let below = |place: &Place| Place { folder: place.folder.join(name), ..*place };
        let group = Self::at(self.places.iter().map(|(controller, place)| (*controller, below(place))).collect());
        make_all(group, &switches)
    }

    /// Sets limits and checks the CPUs that are in force. Call it before a process joins.
    pub fn limit(&self, limits: &Limits) -> Result<(), GroupError> {
        let settings = limits.settings(|controller| self.places.get(&controller).map(|place| place.version))?;
        for setting in settings {
            let file = self.places[&setting.controller].folder.join(setting.file);
            if !setting.optional || file.exists() {
                write(&file, &setting.value)?;
            }
            if setting.file == "cpuset.cpus" {
                check_cpus(&file, &limits.cpus)?;
            }
        }
        Ok(())
    }

    /// The weight of the parent group. `None` if the parent is the root of everything, or the group has no cpu
    /// controller.
    pub fn weight_above(&self) -> Option<u32> {
        let place = self.places.get(&Controller::Cpu)?;
        let (above, is_v1) = (place.folder.parent()?, place.version == Version::V1);
        // Version 1's root has a weight, which has no effect. Only the root has the file `release_agent`.
        if is_v1 && above.join("release_agent").exists() {
            return None;
        }
        let file = if is_v1 { "cpu.shares" } else { "cpu.weight" };
        let text = fs::read_to_string(above.join(file)).ok()?;
        limits::weight_of(place.version, &text)
    }

    /// The files into which a process writes `0` to join, one for each hierarchy.
    pub fn entrances(&self) -> Vec<PathBuf> {
        self.folders().into_iter().map(|folder| folder.join("cgroup.procs")).collect()
    }

    /// Moves this process into the group with all its threads.
    pub fn join(&self) -> Result<(), GroupError> {
        self.entrances().iter().try_for_each(|entrance| write(entrance, "0"))
    }

    /// The processes in the group and in the groups below it.
    pub fn members(&self) -> io::Result<Vec<u32>> {
        let mut members = Vec::new();
        self.note_listed("cgroup.procs", "cgroup.procs", &mut members)?;
        Ok(members)
    }

    /// The threads in the group and in the groups below it.
    pub fn threads(&self) -> io::Result<Vec<u32>> {
        let mut threads = Vec::new();
        self.note_listed("tasks", "cgroup.threads", &mut threads)?;
        Ok(threads)
    }

    /// A reader of what the group has used. It keeps the files open.
    pub fn reader(&self) -> GroupReader {
        let folder = |controller| self.places.get(&controller).map(|place| (place.version, place.folder.as_path()));
        GroupReader::open(folder)
    }

    /// The files that freeze the group, or `None` where it cannot be frozen.
    pub fn freezer(&self) -> Option<Freezer> {
        if let Some(folder) = self.folder(Controller::Freezer, Version::V1) {
            return Some(Freezer::V1 { state: folder.join("freezer.state") });
        }
        let folder = self.folder(Controller::Freezer, Version::V2)?;
        let (freeze, events) = (folder.join("cgroup.freeze"), folder.join("cgroup.events"));
        // Exists since Linux 5.2.
        freeze.exists().then_some(Freezer::V2 { freeze, events })
    }

    /// The file with its CPU time, or `None` where it is not counted.
    pub fn cpu_file(&self) -> Option<CpuFile> {
        let place = self.places.get(&Controller::CpuAccounting)?;
        Some(match place.version {
            Version::V1 => CpuFile::Cpuacct(place.folder.join("cpuacct.usage")),
            Version::V2 => CpuFile::CpuStat(place.folder.join("cpu.stat")),
        })
    }

    /// Thaws the group and all groups below it. Does nothing to those that are not frozen or no longer exist.
    pub fn thaw(&self) {
        ending::thaw(self);
    }

    /// Kills every process in the group and in those below it, and waits until they are gone.
    pub fn kill(&self) -> Result<(), GroupError> {
        ending::kill(self)
    }

    /// Moves all members out of this nested group, to the parent of its outer group. Leaves processes that it cannot
    /// move.
    pub fn evict(&self) {
        leaf_cgroup::evict(self);
    }

    /// Removes the group and those below it once their processes have ended or left. It ends no process.
    pub fn remove(&self) -> Result<(), GroupError> {
        ending::remove(self)
    }

    /// The folder in a controller's hierarchy, if that hierarchy has this version.
    pub(super) fn folder(&self, controller: Controller, version: Version) -> Option<&Path> {
        self.places.get(&controller).filter(|place| place.version == version).map(|place| place.folder.as_path())
    }

    /// All its folders, each once: controllers that are mounted together share a folder.
    pub(super) fn folders(&self) -> BTreeSet<&Path> {
        self.places.values().map(|place| place.folder.as_path()).collect()
    }

    /// Every process that is in the group in at least one hierarchy.
    pub(super) fn everyone(&self) -> io::Result<BTreeSet<u32>> {
        let mut everyone = Vec::new();
        for folder in self.folders() {
            note_listed_below(folder, "cgroup.procs", &mut everyone)?;
        }
        Ok(everyone.into_iter().collect())
    }

    fn note_listed(&self, v1: &str, v2: &str, numbers: &mut Vec<u32>) -> io::Result<()> {
        // Members are in every hierarchy, so any list will do.
        let Some(place) = self.places.get(&Controller::Core).or_else(|| self.places.values().next()) else {
            return Ok(());
        };
        let file = if place.version == Version::V1 { v1 } else { v2 };
        note_listed_below(&place.folder, file, numbers)
    }
}

/// Creates the folders of a group, or none. In version 2 it then makes each parent hand on these controllers. The
/// folder must exist first, because a leaf that takes controllers back checks for groups that may rely on them.
pub(super) fn make_all(group: Group, switches: &[(&Path, &str)]) -> Result<Group, GroupError> {
    let mut made: Vec<&Path> = Vec::new();
    let mut make = || {
        for folder in group.folders() {
            fs::create_dir(folder).map_err(|source| GroupError::make(folder, source))?;
            made.push(folder);
        }
        prepare_v1(&group)?;
        check_v2(&group)?;
        switches.iter().try_for_each(|(above, switch)| enable(above, switch))
    };
    if let Err(error) = make() {
        made.iter().for_each(|folder| drop(fs::remove_dir(folder)));
        return Err(error);
    }
    Ok(group)
}

/// Sets what version 1 does not inherit.
pub(super) fn prepare_v1(group: &Group) -> Result<(), GroupError> {
    if let Some(folder) = group.folder(Controller::CpuSet, Version::V1) {
        // A new group has no CPU and no memory node, and no process can join it like that.
        for file in ["cpuset.mems", "cpuset.cpus"] {
            let above = folder.with_file_name(file);
            write(&folder.join(file), read(&above)?.trim())?;
        }
    }
    if let Some(folder) = group.folder(Controller::Memory, Version::V1) {
        // Before Linux 5.11 a group's memory does not always count for its parent.
        let file = folder.join("memory.use_hierarchy");
        if fs::read_to_string(&file).is_ok_and(|text| text.trim() == "0") {
            write(&file, "1")?;
        }
    }
    Ok(())
}

/// Below a group with threaded children, version 2 creates groups that are unusable until they become threaded too.
fn check_v2(group: &Group) -> Result<(), GroupError> {
    let Some(folder) = group.folder(Controller::Core, Version::V2) else { return Ok(()) };
    if joinable(folder) { Ok(()) } else { Err(GroupError::Threaded { folder: folder.to_owned() }) }
}

/// Whether a process could join the group. Version 1 and the root have no types, so any process can.
pub(super) fn joinable(folder: &Path) -> bool {
    !fs::read_to_string(folder.join("cgroup.type")).is_ok_and(|kind| kind.contains("invalid"))
}

/// Version 2: hands a controller on to the groups below a folder.
pub(super) fn enable(folder: &Path, switch: &str) -> Result<(), GroupError> {
    let file = folder.join("cgroup.subtree_control");
    let enabled = fs::read_to_string(&file).unwrap_or_default();
    if enabled.split_whitespace().any(|name| name == switch) {
        return Ok(());
    }
    leaf_cgroup::check_room(folder)?;
    write(&file, &format!("+{switch}"))
}

/// Version 2 accepts any list of CPUs, but applies only what the groups above allow.
fn check_cpus(file: &Path, wanted: &[u32]) -> Result<(), GroupError> {
    let file = file.with_file_name("cpuset.cpus.effective");
    let Ok(found) = fs::read_to_string(&file) else { return Ok(()) };
    let mut wanted: Vec<u32> = wanted.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    if crate::machine::parse_cpu_list(&found).is_some_and(|found| found == wanted) {
        return Ok(());
    }
    let wanted = crate::machine::format_cpu_list(&wanted);
    Err(GroupError::NotInForce { file, wanted, found: found.trim().to_owned() })
}

/// Writes a value in one call, as the kernel requires.
pub(super) fn write(file: &Path, value: &str) -> Result<(), GroupError> {
    // Nothing can be created in these folders, only written. Appends, because each write is a command of its own.
    let opened = OpenOptions::new().append(true).create(true).open(file);
    opened.and_then(|mut opened| opened.write_all(format!("{value}\n").as_bytes())).map_err(|source| {
        // The kernel reports creating an unknown file as forbidden.
        let source = if file.exists() { source } else { io::ErrorKind::NotFound.into() };
        GroupError::write(file.to_owned(), value, source)
    })
}

/// The groups directly below this one.
pub(super) fn children(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut children = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            children.push(entry.path());
        }
    }
    Ok(children)
}

/// Adds the numbers in a file of a group and of all groups below it. A group that no longer exists has no members.
/// Opens the file each time, because an open one in version 1 returns a list that is up to a second old.
fn note_listed_below(folder: &Path, file: &str, numbers: &mut Vec<u32>) -> io::Result<()> {
    match fs::read_to_string(folder.join(file)) {
        Ok(text) => numbers.extend(text.lines().filter_map(|line| line.trim().parse::<u32>().ok())),
        Err(error) if is_gone(&error) => return Ok(()),
        Err(error) => return Err(error),
    }
    // The kernel counts subfolders as links, so the usual case of none costs one call.
    if fs::symlink_metadata(folder).is_ok_and(|found| found.nlink() == 2) {
        return Ok(());
    }
    match children(folder) {
        Ok(children) => children.iter().try_for_each(|child| note_listed_below(child, file, numbers)),
        Err(error) if is_gone(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether a folder was removed during the operation, or before the file that is still open.
pub(super) fn is_gone(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::NOENT | Errno::NODEV))
}
