//! The view of the files for third-party programs. Everything is read-only except their own folders. Homes, other runs
//! and this run's results are empty.
#![allow(unsafe_code, reason = "mount_setattr has no safe wrapper")]

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount, mount_bind_recursive};
use rustix::process::umask;

use super::reach::{closed_above, may};

/// `MOUNT_ATTR_RDONLY`
const READ_ONLY: u64 = 1;
/// `AT_RECURSIVE`
const BELOW_AS_WELL: libc::c_int = 0x8000;

/// What is visible and what is not.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    /// What the programs need. It stays visible, wherever it is.
    pub(crate) shown: Vec<PathBuf>,
    /// Folders in which programs see nothing else.
    pub(crate) hidden: Vec<PathBuf>,
    /// Mounts of the box where programs may write.
    pub(crate) writable: Vec<PathBuf>,
    /// Whether programs run under another account, which cannot enter every folder.
    pub(crate) other_account: bool,
}

/// A replaced folder, and what stays visible in it.
type Veils = BTreeMap<PathBuf, Vec<PathBuf>>;

impl View {
    /// Applies the view in this mount namespace, which must not be shared.
    pub(crate) fn make(&self) -> io::Result<()> {
        set_attributes(Path::new("/"), READ_ONLY, 0, BELOW_AS_WELL)?;
        for folder in &self.writable {
            match set_attributes(folder, 0, READ_ONLY, 0) {
                // This is not a mount of the box, so it stays read-only like its surroundings.
                Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {}
                made => made?,
            }
        }
        let veils = self.veils();
        // Opened before any mount covers them.
        let shown: Vec<(PathBuf, OwnedFd)> = veils.values().flatten().filter_map(opened).collect();
        let mask = umask(Mode::from_raw_mode(0o022));
        // From the outermost inwards: what one shows, another may hide in part.
        let veiled = veils.iter().try_for_each(|(folder, inside)| veil(folder, inside, &shown));
        umask(mask);
        veiled
    }

    /// The folders to replace, in the order of their paths.
    fn veils(&self) -> Veils {
        let real = |paths: &[PathBuf]| paths.iter().filter_map(|path| fs::canonicalize(path).ok()).collect::<Vec<_>>();
        let (writable, mut hidden) = (real(&self.writable), real(&self.hidden));
        hidden.retain(|folder| folder.is_dir() && !writable.contains(folder));
        let mut shown: Vec<PathBuf> = real(&self.shown).iter().flat_map(|path| self.reachable_parts(path)).collect();
        shown.retain(|path| !hidden.contains(path));
        shown.extend(writable);
        if self.other_account {
            hidden.extend(shown.iter().filter_map(|path| closed_above(path)));
        }
        let inside = |folder: &PathBuf| {
            let wanted = shown.iter().filter(|path| path.starts_with(folder) && *path != folder);
            wanted.cloned().collect::<Vec<_>>()
        };
        hidden.iter().map(|folder| (folder.clone(), inside(folder))).collect()
    }

    /// Replaces a folder that others may not list by its entries.
    fn reachable_parts(&self, path: &Path) -> Vec<PathBuf> {
        if !self.other_account || !path.is_dir() || may(path, 0o005) {
            return vec![path.to_owned()];
        }
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }
}

fn opened(path: &PathBuf) -> Option<(PathBuf, OwnedFd)> {
    let file = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    Some((path.clone(), file))
}

/// Mounts an empty folder over another one, and mounts into it what stays visible.
fn veil(folder: &Path, inside: &[PathBuf], shown: &[(PathBuf, OwnedFd)]) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    match mount(c"tolok", folder, c"tmpfs", flags, Some(c"mode=0755,size=1M")) {
        // An outer folder hides it already, or the other run that it belonged to has ended.
        Err(Errno::NOENT) => return Ok(()),
        mounted => mounted?,
    }
    for path in inside {
        let Some((_, file)) = shown.iter().find(|(known, _)| known == path) else { continue };
        make_place(path, file)?;
        mount_bind_recursive(format!("/proc/self/fd/{}", file.as_raw_fd()), path)?;
    }
    set_attributes(folder, READ_ONLY, 0, 0)
}

/// Creates a file or folder as a mount point, of the same type as what is mounted there.
fn make_place(path: &Path, file: &OwnedFd) -> io::Result<()> {
    if path.exists() {
        // It is visible already, within something that contains it.
        return Ok(());
    }
    if FileType::from_raw_mode(fstat(file)?.st_mode) == FileType::Directory {
        return fs::create_dir_all(path);
    }
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    File::create(path).map(drop)
}

/// Sets and clears attributes of a mount.
fn set_attributes(path: &Path, set: u64, clear: u64, flags: libc::c_int) -> io::Result<()> {
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let attributes = Attributes { set, clear, propagation: 0, user_namespace: 0 };
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: path and attributes live until the call returns, and the size is that of the attributes.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
