//! `manifest.jsonl` as it is written: a line for each finished trial, on the disk right after its record.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tolok_model::Outcome;
use tolok_model::manifest::{
    FileSum, MANIFEST_FORMAT, Manifest, ManifestEntry, ManifestLine, RUN_ITSELF, hexadecimal, sha256,
};

use super::error::StoreError;
use super::file;

/// The file of the run's folder that has the hashes of all others.
pub const MANIFEST: &str = "manifest.jsonl";

/// What is hashed at once.
const CHUNK_BYTES: usize = 64 << 10;

/// The manifest of a run at work. One process writes it: the one that holds the run's lock.
#[derive(Debug)]
pub(super) struct ManifestFile {
    run: PathBuf,
    lines: u64,
    /// The hash of the last of them.
    last: Option<String>,
    /// The folders that are entered, with the number of the line of each.
    standing: BTreeMap<String, u64>,
    /// Those that were.
    withdrawn: BTreeMap<String, u64>,
}

/// What a line is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) entry: ManifestEntry,
    /// The folder, from the run's.
    pub(super) folder: &'a str,
    /// What came of it, if it is a trial's.
    pub(super) outcome: Option<&'a Outcome>,
    /// Whether the line should have been written earlier.
    pub(super) late: bool,
}

impl ManifestFile {
    /// Begins the manifest of a run with these files of its own folder, which need not be there yet.
    pub(super) fn begin(run: &Path, files: &[(&str, &[u8])]) -> Result<Self, StoreError> {
        let sum = |(name, content): &(&str, &[u8])| FileSum {
            name: (*name).to_owned(),
            bytes: content.len() as u64,
            sha256: sha256(content),
        };
        let mut files: Vec<FileSum> = files.iter().map(sum).collect();
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let mut manifest = Self::empty(run);
        manifest.append(ManifestLine { folder: RUN_ITSELF.to_owned(), files, ..ManifestLine::default() })?;
        Ok(manifest)
    }

    /// Goes on with the manifest of a run: a line that was being written when tolok was killed is cut off. A run without a
    /// manifest, of an older tolok, is given one, whose first line says that it came late; `own` are its files.
    pub(super) fn open(run: &Path, own: &[&str]) -> Result<Self, StoreError> {
        let path = run.join(MANIFEST);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => String::from_utf8_lossy(&read.map_err(|source| StoreError::Read { path: path.clone(), source })?)
                .into_owned(),
        };
        let read = Manifest::read(&text);
        if read.torn_bytes > 0 {
            let whole = (text.len() - read.torn_bytes) as u64;
            let cut = OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(whole));
            cut.map_err(|source| StoreError::Write { path, source })?;
        }
        let mut manifest = Self::empty(run);
        manifest.lines = read.lines.len() as u64;
        manifest.last = read.fingerprint().map(str::to_owned);
        manifest.standing = read.standing().into_iter().map(|(folder, (line, _))| (folder.to_owned(), line)).collect();
        for (place, (line, _)) in read.lines.iter().enumerate() {
            if !manifest.standing.contains_key(&line.folder) && line.entry != ManifestEntry::Withdrawn {
                manifest.withdrawn.insert(line.folder.clone(), place as u64 + 1);
            }
        }
        if manifest.lines == 0 {
            manifest.enter_late(own)?;
        }
        Ok(manifest)
    }

    fn empty(run: &Path) -> Self {
        let (lines, last, standing, withdrawn) = Default::default();
        Self { run: run.to_owned(), lines, last, standing, withdrawn }
    }

    /// The first line of a run that has none.
    fn enter_late(&mut self, own: &[&str]) -> Result<(), StoreError> {
        let sums = own.iter().map(|name| sum_of(&self.run, &self.run.join(name)));
        let mut files = sums.collect::<Result<Vec<_>, _>>()?;
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let folder = RUN_ITSELF.to_owned();
        self.append(ManifestLine { folder, files, entered_late: true, ..ManifestLine::default() })
    }

    /// Whether a folder is entered.
    pub(super) fn has(&self, folder: &str) -> bool {
        self.standing.contains_key(folder)
    }

    /// Enters a folder with all its files as they are now.
    pub(super) fn enter(&mut self, about: About<'_>) -> Result<(), StoreError> {
        let folder = self.run.join(about.folder);
        let mut files = Vec::new();
        sums_in(&folder, &folder, &mut files)?;
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let before = self.standing.get(about.folder).or_else(|| self.withdrawn.get(about.folder));
        self.append(ManifestLine {
            entry: about.entry,
            folder: about.folder.to_owned(),
            outcome: about.outcome.map(outcome_word),
            files,
            replaces: before.copied(),
            entered_late: about.late,
            ..ManifestLine::default()
        })
    }

    /// Says that what was entered of a folder is about to be taken away, to be measured again.
    pub(super) fn withdraw(&mut self, folder: &str) -> Result<(), StoreError> {
        let Some(line) = self.standing.get(folder).copied() else { return Ok(()) };
        let entry = ManifestEntry::Withdrawn;
        self.append(ManifestLine { entry, folder: folder.to_owned(), replaces: Some(line), ..ManifestLine::default() })
    }

    /// Adds a line and waits until it is on the disk.
    fn append(&mut self, line: ManifestLine) -> Result<(), StoreError> {
        let path = self.run.join(MANIFEST);
        let format = (self.lines == 0).then_some(MANIFEST_FORMAT);
        let line = ManifestLine { format, previous: self.last.clone(), ..line };
        let mut text = file::lines(&path, std::slice::from_ref(&line))?;
        let written = OpenOptions::new().create(true).append(true).open(&path).and_then(|mut file| {
            file.write_all(&text)?;
            file.sync_all()?;
            // A file that is new is a change of its folder, too.
            if self.lines == 0 { file::sync(&self.run) } else { Ok(()) }
        });
        written.map_err(|source| StoreError::Write { path, source })?;
        text.pop();
        self.last = Some(sha256(&text));
        self.lines += 1;
        if line.entry == ManifestEntry::Withdrawn {
            self.withdrawn.extend(self.standing.remove_entry(&line.folder));
        } else {
            self.standing.insert(line.folder, self.lines);
        }
        Ok(())
    }
}

/// What came of a trial, in a word.
fn outcome_word(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed(_) => "completed".to_owned(),
        Outcome::Timed(_) => "timed".to_owned(),
        Outcome::Failed(failure) => failure.reason.word().replace(' ', "-"),
    }
}

/// The sums of all files below a folder, named from `top` on.
pub(super) fn sums_in(top: &Path, folder: &Path, sums: &mut Vec<FileSum>) -> Result<(), StoreError> {
    let unreadable = |source| StoreError::Read { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            sums_in(top, &path, sums)?;
        } else {
            sums.push(sum_of(top, &path)?);
        }
    }
    Ok(())
}

/// The sum of a file, named from `top` on.
pub(super) fn sum_of(top: &Path, path: &Path) -> Result<FileSum, StoreError> {
    let name = path.strip_prefix(top).unwrap_or(path).to_string_lossy().into_owned();
    let (bytes, sha256) = hash(path).map_err(|source| StoreError::Read { path: path.to_owned(), source })?;
    Ok(FileSum { name, bytes, sha256 })
}

/// SHA-256 of a file, in hex.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    hash(path).map(|(_, sha256)| sha256)
}

fn hash(path: &Path) -> io::Result<(u64, String)> {
    let (mut file, mut digest, mut bytes) = (File::open(path)?, Sha256::new(), 0);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = match file.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return Ok((bytes, hexadecimal(&digest.finalize())));
        }
        digest.update(&chunk[..read]);
        bytes += read as u64;
    }
}
