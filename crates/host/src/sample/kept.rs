//! Files of `/proc` and `/sys` that are kept open and reread from their start.
//!
//! Opening such a file costs several times as much as reading it. An open file of `/proc` also belongs to the process
//! it was opened for. When that process has ended, reading fails, even if the pid was reused.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rustix::process::{Resource, getrlimit};

/// The size of the first read. Nearly all files fit; longer ones make the buffer grow permanently.
const FIRST_BYTES: usize = 4096;

/// A file that is kept open if there is room for it, otherwise opened for each reading.
#[derive(Debug, Default)]
pub struct Kept {
    file: Option<File>,
}

/// How many more files may be kept open.
///
/// At most half of the files that this process may have open. The limit is not raised: the servers would inherit the
/// new limit, and some size their tables by it.
#[derive(Debug, Clone, Copy)]
pub struct Room(pub usize);

impl Room {
    /// The room of a process that keeps no files open yet.
    pub fn of_this_process() -> Self {
        let limit = getrlimit(Resource::Nofile).current;
        Self(limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)) / 2)
    }
}

impl Kept {
    /// Whether it takes up room.
    pub fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Reads the whole file into `buffer`. Calls `path` only if the file must be opened. Returns `None` if it cannot be
    /// read; the next call opens the file again.
    pub fn read<'a>(
        &mut self,
        path: impl FnOnce() -> PathBuf,
        room: &mut Room,
        buffer: &'a mut Vec<u8>,
    ) -> Option<&'a str> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let file = File::open(path()).ok()?;
                // `keep` counts it only after it proved readable.
                return read_whole(&file, buffer).inspect(|_| self.keep(file, room));
            }
        };
        let text = read_whole(&file, buffer);
        self.file = text.is_some().then_some(file);
        text
    }

    fn keep(&mut self, file: File, room: &mut Room) {
        if room.0 > 0 {
            room.0 -= 1;
            self.file = Some(file);
        }
    }
}

/// The text of a file. `None` if it is empty, because the files read here are never empty while their owner lives.
fn read_whole<'a>(file: &File, buffer: &'a mut Vec<u8>) -> Option<&'a str> {
    buffer.resize(buffer.len().max(FIRST_BYTES), 0);
    let mut length = 0;
    loop {
        match file.read_at(&mut buffer[length..], length as u64).ok()? {
            0 => break,
            read => length += read,
        }
        // A read that leaves room was the last: `/proc` returns everything if it fits.
        if length < buffer.len() {
            break;
        }
        buffer.resize(buffer.len() * 2, 0);
    }
    std::str::from_utf8(&buffer[..length]).ok().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_kept_as_long_as_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["one", "two"] {
            std::fs::write(path(name), name).unwrap();
        }
        let (mut one, mut two, mut room, mut buffer) = (Kept::default(), Kept::default(), Room(1), Vec::new());
        assert_eq!(one.read(|| path("one"), &mut room, &mut buffer), Some("one"));
        assert_eq!(two.read(|| path("two"), &mut room, &mut buffer), Some("two"));
        assert_eq!((one.is_open(), two.is_open(), room.0), (true, false, 0));
        // The open one needs no path; the other is looked up again.
        assert_eq!(one.read(|| panic!("it is open"), &mut room, &mut buffer), Some("one"));
        std::fs::remove_file(path("two")).unwrap();
        assert_eq!(two.read(|| path("two"), &mut room, &mut buffer), None);
    }

    #[test]
    fn what_changes_is_read_anew_and_what_is_long_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let (mut kept, mut room, mut buffer) = (Kept::default(), Room(9), Vec::new());
        for text in ["short".to_owned(), "x".repeat(FIRST_BYTES * 3 + 1), "y".repeat(FIRST_BYTES), "z".to_owned()] {
            std::fs::write(&path, &text).unwrap();
            assert_eq!(kept.read(|| path.clone(), &mut room, &mut buffer), Some(text.as_str()));
        }
        // Empty, like a file of a process that has ended: it is closed, and reopened later.
        std::fs::write(&path, "").unwrap();
        assert_eq!(kept.read(|| path.clone(), &mut room, &mut buffer), None);
        assert!(!kept.is_open());
        std::fs::write(&path, "again").unwrap();
        assert_eq!(kept.read(|| path.clone(), &mut room, &mut buffer), Some("again"));
    }

    #[test]
    fn half_of_what_may_be_open_is_left_to_others() {
        let limit = getrlimit(Resource::Nofile).current.unwrap();
        assert_eq!(Room::of_this_process().0 as u64, limit / 2);
    }
}
