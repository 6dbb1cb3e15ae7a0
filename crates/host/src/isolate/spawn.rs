//! What a child process does between fork and exec: join groups, enter namespaces, set CPUs and session, and choose
//! whether to outlive its parent.
//!
//! Between the two only system calls are safe. So all files are opened and all sets made before the fork.
#![allow(unsafe_code, reason = "Command::pre_exec is unsafe; the closures make only async-signal-safe system calls")]

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{Signal, chdir, getppid, set_parent_process_death_signal, setsid};
use rustix::thread::{CpuSet, move_into_link_name_space, sched_setaffinity};

use super::namespace::hand_rights_to_next_program;
use crate::guard::Guard;

/// Where a child runs and how it ends.
#[derive(Debug, Clone, Default)]
pub struct Placement {
    /// The CPUs it may use. Empty means those of its parent.
    pub cpus: Vec<u32>,
    /// Whether the kernel kills it when the thread that started it ends, for any reason.
    pub dies_with_parent: bool,
    /// Files that it writes `0` into to join control groups.
    pub groups: Vec<PathBuf>,
    /// Files of the namespaces to enter, in this order: the user namespace comes first, since it gives the right to
    /// enter others.
    pub namespaces: Vec<PathBuf>,
    /// Whether it leads a session of its own, and not only a process group.
    pub own_session: bool,
    /// Its working folder if it enters a mount namespace: the path inside.
    pub folder: Option<PathBuf>,
    /// The private working folder of a tool, as a path outside.
    pub seen_folder: Option<PathBuf>,
    /// What it gives up.
    pub guard: Option<Guard>,
    /// Whether it keeps the init's capabilities in a user namespace.
    pub keeps_rights: bool,
}

/// Makes `command` start its program as `placement` describes, in a process group of its own, so Ctrl-C at the terminal
/// reaches only tolok. Fails if a group or a namespace no longer exists.
pub fn place(command: &mut Command, placement: &Placement) -> io::Result<()> {
    let groups = opened(&placement.groups, |path| OpenOptions::new().write(true).open(path))?;
    let namespaces = opened(&placement.namespaces, |path| File::open(path))?;
    let mut cpus = CpuSet::new();
    placement.cpus.iter().for_each(|cpu| cpus.set(*cpu as usize));
    let Placement { dies_with_parent, own_session, .. } = *placement;
    let pinned = !placement.cpus.is_empty();
    let folder = placement.folder.as_ref().map(|path| CString::new(path.as_os_str().as_bytes())).transpose()?;
    let (guard, keeps_rights) = (placement.guard.clone(), placement.keeps_rights);
    if !own_session {
        command.process_group(0);
    }
    let parent = rustix::process::getpid();
    let before_exec = move || {
        if own_session {
            setsid()?;
        }
        for group in &groups {
            rustix::io::write(group, b"0")?;
        }
        for namespace in &namespaces {
            move_into_link_name_space(namespace.as_fd(), None)?;
        }
        if let Some(folder) = &folder {
            chdir(folder.as_c_str())?;
        }
        if pinned {
            sched_setaffinity(None, &cpus)?;
        }
        if keeps_rights {
            hand_rights_to_next_program()?;
        }
        if let Some(guard) = &guard {
            guard.apply()?;
        }
        // Last, because the kernel clears it when the process gains capabilities, as it does in a user namespace.
        if dies_with_parent {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died before the line above. A parent outside this pid namespace is invisible.
            if getppid().is_some_and(|now| now != parent) {
                return Err(Errno::SRCH.into());
            }
        }
        Ok(())
    };
    // SAFETY: the closure allocates nothing and makes only direct system calls (rustix), which are safe between fork
    // and exec. Everything that it uses was made before the fork.
    unsafe { command.pre_exec(before_exec) };
    Ok(())
}

/// Lets only the program that `command` starts inherit these files, under their numbers.
pub(super) fn hand_over(command: &mut Command, files: Vec<OwnedFd>) {
    let before_exec = move || {
        for file in &files {
            fcntl_setfd(file, FdFlags::empty())?;
        }
        Ok(())
    };
    // SAFETY: as above.
    unsafe { command.pre_exec(before_exec) };
}

fn opened(paths: &[PathBuf], open: impl Fn(&Path) -> io::Result<File>) -> io::Result<Vec<File>> {
    let named = |path: &PathBuf| {
        let failed =
            |error: io::Error| io::Error::new(error.kind(), format!("cannot open {}: {error}", path.display()));
        open(path).map_err(failed)
    };
    paths.iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::Stdio;

    use super::*;

    fn output_of(mut command: Command, placement: &Placement) -> String {
        place(&mut command, placement).unwrap();
        String::from_utf8(command.stdin(Stdio::null()).output().unwrap().stdout).unwrap()
    }

    /// Fields of `/proc/self/stat` of a child: its pid, process group and session.
    fn ids_of(placement: &Placement) -> [i32; 3] {
        let mut command = Command::new("cat");
        command.arg("/proc/self/stat");
        let said = output_of(command, placement);
        let fields: Vec<&str> = said.split_whitespace().collect();
        [0, 4, 5].map(|place| fields[place].parse().unwrap())
    }

    #[test]
    fn a_child_leads_a_group_or_a_session_of_its_own() {
        let [pid, group, session] = ids_of(&Placement::default());
        assert!(pid == group && pid != session);
        let [pid, group, session] = ids_of(&Placement { own_session: true, ..Placement::default() });
        assert!(pid == group && pid == session);
    }

    #[test]
    fn a_child_writes_itself_into_every_group_and_enters_every_namespace() {
        let folder = tempfile::tempdir().unwrap();
        let groups = ["cpu", "memory"].map(|name| folder.path().join(name));
        groups.iter().for_each(|group| drop(File::create(group).unwrap()));
        let placement = Placement { groups: groups.to_vec(), ..Placement::default() };
        output_of(Command::new("true"), &placement);
        assert!(groups.iter().all(|group| std::fs::read(group).unwrap() == b"0"));
    }

    #[test]
    fn a_group_that_is_gone_is_named_before_anything_is_started() {
        let placement = Placement { groups: vec![PathBuf::from("/nonexistent/cgroup.procs")], ..Placement::default() };
        let error = place(&mut Command::new("true"), &placement).unwrap_err();
        assert!(error.to_string().contains("cannot open /nonexistent/cgroup.procs"), "{error}");
    }

    #[test]
    fn a_file_is_inherited_by_the_one_program_that_it_is_handed_to() {
        let (mut read, write) = io::pipe().unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&write);
        let say = format!("echo here > /proc/self/fd/{number}");
        let mut stranger = Command::new("sh");
        stranger.args(["-c", &say]).stderr(Stdio::null());
        assert!(!stranger.status().unwrap().success());
        let mut heir = Command::new("sh");
        heir.args(["-c", &say]);
        hand_over(&mut heir, vec![write.into()]);
        assert!(heir.status().unwrap().success());
        drop(heir);
        let mut said = String::new();
        read.read_to_string(&mut said).unwrap();
        assert_eq!(said, "here\n");
    }
}
