//! Writes `manifest.jsonl`: a line for each finished trial, on the disk right after its record.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};
use tolok_model::Outcome;
use tolok_model::limits::HASHED_FILE;
use tolok_model::manifest::{
    FileSum, MANIFEST_FORMAT, Manifest, ManifestEntry, ManifestLine, RUN_ITSELF, hexadecimal, sha256,
};

use super::error::StoreError;
use super::file;
use super::folder::{Folder, whole_lines_bytes};

/// The file of the run's folder that has the hashes of all others.
pub const MANIFEST: &str = "manifest.jsonl";

/// Bytes to hash at once.
const CHUNK_BYTES: usize = 64 << 10;

/// The manifest of an active run. Only the process that holds the run's lock writes it.
#[derive(Debug)]
pub(super) struct ManifestFile {
    run: Folder,
    lines: u64,
    /// The hash of the last line.
    last: Option<String>,
    /// Folders with a valid entry, and the number of its line.
    standing: BTreeMap<String, u64>,
    /// Folders whose entry was withdrawn.
    withdrawn: BTreeMap<String, u64>,
}

/// The subject of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) entry: ManifestEntry,
    /// The folder, relative to the run's folder.
    pub(super) folder: &'a str,
    /// The outcome, for a trial.
    pub(super) outcome: Option<&'a Outcome>,
    /// Whether the line should have been written earlier.
    pub(super) late: bool,
}

impl ManifestFile {
    /// Begins the manifest of a run with these files of its own folder, which need not exist yet.
    pub(super) fn begin(run: &Folder, files: &[(&str, &[u8])]) -> Result<Self, StoreError> {
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

    /// Continues the manifest of a run. A line that was incomplete when tolok was killed is cut off. A run without a manifest,
    /// from an older tolok, gets one, whose first line is marked as late; `own` are the run's own files.
    pub(super) fn open(run: &Folder, own: &[&str]) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Write { path: run.path().join(MANIFEST), source };
        let text = match run.lossy(MANIFEST) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.map_err(|source| StoreError::Read { path: run.path().join(MANIFEST), source })?,
        };
        let read = Manifest::read(&text);
        if read.torn_bytes > 0 {
            let cut = run.append(MANIFEST).and_then(|mut file| {
                let whole = whole_lines_bytes(&mut file)?;
                file.set_len(whole)
            });
            cut.map_err(failed)?;
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

    fn empty(run: &Folder) -> Self {
        let (lines, last, standing, withdrawn) = Default::default();
        Self { run: run.clone(), lines, last, standing, withdrawn }
    }

    /// Writes the first line for a run without a manifest.
    fn enter_late(&mut self, own: &[&str]) -> Result<(), StoreError> {
        let sums = own.iter().map(|name| sum_of(&self.run, name));
        let mut files = sums.collect::<Result<Vec<_>, _>>()?;
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let folder = RUN_ITSELF.to_owned();
        self.append(ManifestLine { folder, files, entered_late: true, ..ManifestLine::default() })
    }

    /// Whether a folder has a valid entry.
    pub(super) fn has(&self, folder: &str) -> bool {
        self.standing.contains_key(folder)
    }

    /// Enters a folder with all its files in their current state.
    pub(super) fn enter(&mut self, about: About<'_>) -> Result<(), StoreError> {
        let mut files = sums_in(&self.run.folder(about.folder))?;
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

    /// Records that a folder is about to be removed, so its trial can be measured again.
    pub(super) fn withdraw(&mut self, folder: &str) -> Result<(), StoreError> {
        let Some(line) = self.standing.get(folder).copied() else { return Ok(()) };
        let entry = ManifestEntry::Withdrawn;
        self.append(ManifestLine { entry, folder: folder.to_owned(), replaces: Some(line), ..ManifestLine::default() })
    }

    /// Appends a line and waits until it is on the disk.
    fn append(&mut self, line: ManifestLine) -> Result<(), StoreError> {
        let path = self.run.path().join(MANIFEST);
        let format = (self.lines == 0).then_some(MANIFEST_FORMAT);
        let line = ManifestLine { format, previous: self.last.clone(), ..line };
        let mut text = file::lines(&path, std::slice::from_ref(&line))?;
        let written = self.run.append(MANIFEST).and_then(|mut file| {
            file.write_all(&text)?;
            file.sync_all()?;
            // A new file also changes its folder.
            if self.lines == 0 { self.run.sync() } else { Ok(()) }
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

/// The outcome of a trial, in a word.
fn outcome_word(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed(_) => "completed".to_owned(),
        Outcome::Timed(_) => "timed".to_owned(),
        Outcome::Failed(failure) => failure.reason.word().replace(' ', "-"),
    }
}

/// The sums of all files in a folder and below, with relative names.
pub(super) fn sums_in(folder: &Folder) -> Result<Vec<FileSum>, StoreError> {
    let mut names = Vec::new();
    let listed = folder.each_file(&mut |name| {
        names.push(name.to_owned());
        Ok(())
    });
    listed.map_err(|source| StoreError::Read { path: folder.path().to_owned(), source })?;
    names.iter().map(|name| sum_of(folder, name)).collect()
}

/// The sum of a file, with its name relative to `folder`.
pub(super) fn sum_of(folder: &Folder, name: &str) -> Result<FileSum, StoreError> {
    let bounded = |file: std::fs::File| match HASHED_FILE.holds(file.metadata()?.len()) {
        Ok(()) => hash(file),
        Err(why) => Err(io::Error::new(io::ErrorKind::InvalidData, why)),
    };
    let summed = folder.open(name).and_then(bounded);
    let (bytes, sha256) = summed.map_err(|source| StoreError::Read { path: folder.path().join(name), source })?;
    Ok(FileSum { name: name.to_owned(), bytes, sha256 })
}

/// SHA-256 of a text, in hex.
pub fn sha256_of(text: impl Read) -> io::Result<String> {
    hash(text).map(|(_, sha256)| sha256)
}

fn hash(mut text: impl Read) -> io::Result<(u64, String)> {
    let (mut digest, mut bytes) = (Sha256::new(), 0);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = match text.read(&mut chunk) {
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
