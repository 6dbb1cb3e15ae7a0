//! A folder of a run. Only this module opens its contents.
//!
//! A stranger may have made the folder. So every name is resolved below a handle of the folder. Symbolic links are not followed,
//! and `..` is refused. Only regular files are opened and read, up to their bound in [`limits`]. Existing files are never
//! overwritten in place. A replacement is written under an unguessable name and renamed when it is whole. Other new files are
//! created after removing the old one.
//!
//! `openat2` does this in the kernel. If it is unavailable (Linux before 5.6, some sandboxes), each folder of a name is opened
//! separately, and none may be a link.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use tolok_model::limits::{self, Bound};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Opening a FIFO or a device must not block.
const CAREFUL: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// The most levels of folders that are searched and removed. tolok makes three.
const DEEPEST: u32 = 16;
/// The most attempts to find an unused name.
const NAMES_TRIED: u32 = 16;
const CHUNK_BYTES: u64 = 64 << 10;

/// Whether a file must survive if the machine stops right afterwards, which costs a wait for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// It need not survive, because it can be made again from others.
    Whole,
    /// It must survive.
    WholeAndOnDisk,
}

/// A folder, by its handle. Names are relative to it.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    /// An error is reported when something in the folder is opened.
    handle: Result<Arc<OwnedFd>, Errno>,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) kind: FileType,
}

impl Folder {
    /// The folder with this path. The user chose the path, so links in it are followed.
    pub fn at(path: &Path) -> Self {
        let handle = rustix::fs::open(path, FOLDER, Mode::empty()).map(Arc::new);
        Self { path: path.to_owned(), handle }
    }

    /// Creates a folder that must not exist yet.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        std::fs::create_dir(path)?;
        Ok(Self::at(path))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder below it.
    pub fn folder(&self, name: &str) -> Self {
        let handle = self.beneath(name, FOLDER, Mode::empty()).map(Arc::new);
        Self { path: self.path.join(name), handle }
    }

    /// Opens a regular file for reading.
    pub fn open(&self, name: &str) -> io::Result<File> {
        let file = File::from(self.resolve(name, OFlags::RDONLY | CAREFUL, Mode::empty())?);
        regular(&file.metadata()?)?;
        Ok(file)
    }

    /// Reads a whole file, up to the bound for its name.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        self.read_up_to(name, limits::of_file(name))
    }

    /// The same with another bound.
    pub fn read_up_to(&self, name: &str, bound: &Bound) -> io::Result<Vec<u8>> {
        let file = self.open(name)?;
        let length = file.metadata()?.len();
        bound.holds(length).map_err(refused)?;
        let mut content = Vec::with_capacity(length as usize);
        // The file may grow during the read.
        file.take(bound.most + 1).read_to_end(&mut content)?;
        bound.holds(content.len() as u64).map_err(refused)?;
        Ok(content)
    }

    /// The text of a file.
    pub fn text(&self, name: &str) -> io::Result<String> {
        let words = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        String::from_utf8(self.read(name)?).map_err(words)
    }

    /// The text of a file that a program wrote. Invalid UTF-8 becomes `�`.
    pub fn lossy(&self, name: &str) -> io::Result<String> {
        self.read(name).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether an entry of any kind has this name.
    pub fn has(&self, name: &str) -> bool {
        self.stat(name).is_ok()
    }

    pub fn is_file(&self, name: &str) -> bool {
        self.stat(name).is_ok_and(|found| found.is_file())
    }

    /// The time of the last change of a file or folder, and its length.
    pub fn changed(&self, name: &str) -> Option<(SystemTime, u64)> {
        let found = self.stat(name).ok()?;
        Some((found.modified().ok()?, found.len()))
    }

    fn stat(&self, name: &str) -> io::Result<Metadata> {
        File::from(self.resolve(name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?).metadata()
    }

    /// Its entries, in no particular order.
    pub(super) fn entries(&self) -> io::Result<Vec<Entry>> {
        entries(self.handle()?)
    }

    /// Creates a folder and its parents.
    pub(super) fn make(&self, name: &str) -> io::Result<()> {
        plain(name)?;
        let ends = name.match_indices('/').map(|(at, _)| at).chain([name.len()]);
        for part in ends.map(|end| &name[..end]) {
            let (above, last) = self.above(part)?;
            match rustix::fs::mkdirat(&above, last, Mode::from_raw_mode(0o777)) {
                Err(Errno::EXIST) | Ok(()) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.resolve(name, FOLDER, Mode::empty()).map(drop)
    }

    /// Creates an empty file, which replaces any file of that name.
    pub fn create_file(&self, name: &str) -> io::Result<File> {
        let (above, last) = self.above(name)?;
        match rustix::fs::unlinkat(&above, last, AtFlags::empty()) {
            Err(Errno::NOENT) | Ok(()) => Ok(new_file(above.as_fd(), last)?.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a file for appending and reading, and creates it if necessary.
    pub(super) fn append(&self, name: &str) -> io::Result<File> {
        let file = self.resolve(name, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | CAREFUL, WRITTEN)?;
        let file = File::from(file);
        let found = file.metadata()?;
        regular(&found)?;
        if found.nlink() > 1 {
            return Err(refused("it has a second name elsewhere, which a change would reach; copy the run's folder"));
        }
        Ok(file)
    }

    /// The file of a lock, which is never written to.
    pub(super) fn lock_file(&self, name: &str) -> io::Result<File> {
        let file = File::from(self.resolve(name, OFlags::RDWR | OFlags::CREATE | CAREFUL, WRITTEN)?);
        regular(&file.metadata()?)?;
        Ok(file)
    }

    /// Writes a file under an unguessable name and renames it, so readers never see half of it.
    pub(super) fn replace(&self, name: &str, content: &[u8], durability: Durability) -> io::Result<()> {
        let (above, last) = self.above(name)?;
        let (unfinished, mut file) = unguessable(above.as_fd(), last)?;
        let written = file.write_all(content).and_then(|()| match durability {
            Durability::WholeAndOnDisk => file.sync_all(),
            Durability::Whole => Ok(()),
        });
        let renamed = written.and_then(|()| Ok(rustix::fs::renameat(&above, unfinished.as_str(), &above, last)?));
        if renamed.is_err() {
            let _ = rustix::fs::unlinkat(&above, unfinished.as_str(), AtFlags::empty());
        }
        renamed?;
        match durability {
            // The rename changes the folder, which must reach the disk as well.
            Durability::WholeAndOnDisk => Ok(rustix::fs::fsync(&above)?),
            Durability::Whole => Ok(()),
        }
    }

    /// Writes a file that can be made again, whole or not at all.
    pub fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        self.replace(name, content, Durability::Whole)
    }

    /// Renames a file.
    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let ((above, last), (below, name)) = (self.above(from)?, self.above(to)?);
        Ok(rustix::fs::renameat(&above, last, &below, name)?)
    }

    /// Removes a folder with all its contents, if it exists. Links are removed, but their targets are not.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        match self.above(name) {
            Ok((above, last)) => remove(above.as_fd(), last, DEEPEST),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Waits until the folder, including its names, is on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(self.handle()?)?)
    }

    /// Whether the file system is full.
    pub(super) fn disk_is_full(&self) -> bool {
        self.handle().is_ok_and(|handle| rustix::fs::fstatvfs(handle).is_ok_and(|system| system.f_bavail == 0))
    }

    /// Calls `found` with the name of every file in it and in folders below, relative to it.
    pub(super) fn each_file(&self, found: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        self.each_below("", DEEPEST, found)
    }

    fn each_below(&self, before: &str, levels: u32, found: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        for entry in if before.is_empty() { self.entries()? } else { self.folder(before).entries()? } {
            let name = if before.is_empty() { entry.name } else { format!("{before}/{}", entry.name) };
            match entry.kind {
                FileType::Directory if levels == 0 => return Err(refused("its folders are nested too deeply")),
                FileType::Directory => self.each_below(&name, levels - 1, found)?,
                _ => found(&name)?,
            }
        }
        Ok(())
    }

    fn handle(&self) -> io::Result<BorrowedFd<'_>> {
        self.handle.as_ref().map(|handle| handle.as_fd()).map_err(|error| said(*error))
    }

    /// The folder that contains a name, and the name's last part.
    fn above<'n>(&self, name: &'n str) -> io::Result<(OwnedFd, &'n str)> {
        plain(name)?;
        match name.rsplit_once('/') {
            None => Ok((self.handle()?.try_clone_to_owned()?, name)),
            Some((above, last)) => Ok((self.resolve(above, FOLDER, Mode::empty())?, last)),
        }
    }

    fn resolve(&self, name: &str, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        self.beneath(name, flags, mode).map_err(said)
    }

    fn beneath(&self, name: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let handle = self.handle.as_ref().map_err(|error| *error)?.as_fd();
        if !is_plain(name) {
            return Err(Errno::XDEV);
        }
        match rustix::fs::openat2(handle, name, flags, mode, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS) {
            Err(Errno::NOSYS | Errno::PERM) => part_by_part(handle, name, flags, mode),
            opened => opened,
        }
    }
}

/// The mode of a new file, before the user's umask.
const WRITTEN: Mode = Mode::from_raw_mode(0o666);

/// The length of a file up to its last newline, in bytes. An incomplete line follows if its writer was killed.
pub(super) fn whole_lines_bytes(file: &mut File) -> io::Result<u64> {
    let mut end = file.seek(SeekFrom::End(0))?;
    while end > 0 {
        let start = end.saturating_sub(CHUNK_BYTES);
        let mut chunk = vec![0; (end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut chunk)?;
        if let Some(at) = chunk.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// Resolves a name without support from the kernel. No part of it may be a link.
fn part_by_part(folder: BorrowedFd<'_>, name: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let through = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let (folders, last) = name.rsplit_once('/').unwrap_or(("", name));
    let mut above: Option<OwnedFd> = None;
    for part in folders.split('/').filter(|part| !part.is_empty()) {
        above = Some(rustix::fs::openat(above.as_ref().map_or(folder, AsFd::as_fd), part, through, Mode::empty())?);
    }
    rustix::fs::openat(above.as_ref().map_or(folder, AsFd::as_fd), last, flags | OFlags::NOFOLLOW, mode)
}

/// Whether a name cannot lead out of its folder.
fn is_plain(name: &str) -> bool {
    name.split('/').all(|part| !part.is_empty() && part != "." && part != ".." && !part.contains('\0'))
}

fn plain(name: &str) -> io::Result<()> {
    if is_plain(name) { Ok(()) } else { Err(said(Errno::XDEV)) }
}

fn regular(found: &Metadata) -> io::Result<()> {
    if found.is_file() { Ok(()) } else { Err(refused("it is no regular file, and tolok opens no other there")) }
}

fn refused(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}

/// Explains a refusal by the kernel.
fn said(error: Errno) -> io::Error {
    match error {
        Errno::LOOP => refused("it is or lies behind a symbolic link, and tolok follows none there"),
        Errno::XDEV => refused("its name leads out of its folder"),
        // A FIFO without a reader, or a socket.
        Errno::NXIO => refused("it is no regular file, and tolok opens no other there"),
        error => error.into(),
    }
}

fn new_file(above: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | CAREFUL;
    rustix::fs::openat(above, name, flags, WRITTEN)
}

/// Creates a file beside another, under a name that nobody can guess in order to put a link there.
fn unguessable(above: BorrowedFd<'_>, name: &str) -> io::Result<(String, File)> {
    for _ in 0..NAMES_TRIED {
        let mut random = [0_u8; 8];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        let unfinished = format!(".{name}.{:016x}", u64::from_ne_bytes(random));
        match new_file(above, &unfinished) {
            Err(Errno::EXIST) => {}
            made => return Ok((unfinished, made?.into())),
        }
    }
    Err(Errno::EXIST.into())
}

fn entries(folder: BorrowedFd<'_>) -> io::Result<Vec<Entry>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not report the kind.
            FileType::Unknown => {
                let status = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(status.st_mode)
            }
            told => told,
        };
        found.push(Entry { name: name.to_string_lossy().into_owned(), kind });
        limits::FOLDER.holds(found.len() as u64).map_err(refused)?;
    }
    Ok(found)
}

fn remove(above: BorrowedFd<'_>, name: &str, levels: u32) -> io::Result<()> {
    match rustix::fs::unlinkat(above, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        // The kernel reports a folder as either, depending on the system.
        Err(Errno::ISDIR | Errno::PERM) if levels > 0 => {}
        Err(error) => return Err(error.into()),
    }
    let folder = rustix::fs::openat(above, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
    entries(folder.as_fd())?.iter().try_for_each(|entry| remove(folder.as_fd(), &entry.name, levels - 1))?;
    Ok(rustix::fs::unlinkat(above, name, AtFlags::REMOVEDIR)?)
}

#[cfg(test)]
mod tests;
