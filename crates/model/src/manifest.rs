//! `manifest.jsonl`: the contents of a run's folder, in order of entry. Each line is chained to the one before it.
//!
//! A line holds the SHA-256 of every file of a trial, and the hash of the previous line. Changing, removing or adding a
//! file therefore changes every later hash, and the last line's hash covers everything before it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Version of the format of the manifest.
pub const MANIFEST_FORMAT: u32 = 1;

/// The folder of the first line: the run's own.
pub const RUN_ITSELF: &str = ".";

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestLine {
    /// Version of this format; on the first line only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<u32>,
    pub entry: ManifestEntry,
    /// The folder that this line describes, relative to the run's folder; `.` is the run's folder.
    pub folder: String,
    /// The result of a trial, in a word: `completed`, `timed`, or the reason for its failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The files in it, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileSum>,
    /// Number, from 1, of the line that this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<u64>,
    /// It was entered when the run was resumed, not when its files were written, so they may have changed in between.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub entered_late: bool,
    /// SHA-256 of the previous line, without its newline, or `None` on the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ManifestEntry {
    /// What was fixed before the first trial.
    #[default]
    Run,
    Trial,
    Diagnosis,
    /// One session of a block: where and when a process ran its trials.
    Block,
    /// A trial was entered but will be measured again: its files are removed.
    Withdrawn,
}

/// A file when it was entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSum {
    /// Its path, relative to the line's folder.
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Its lines, each with its hash.
    pub lines: Vec<(ManifestLine, String)>,
    /// Its problems, in line order.
    pub faults: Vec<ManifestFault>,
    /// Bytes of an unfinished last line, which a killed process may leave.
    pub torn_bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestFault {
    /// Its number, from 1.
    pub line: u64,
    pub what: String,
}

impl Manifest {
    /// Reads the text of a manifest. An unreadable line becomes a fault, and reading continues.
    pub fn read(text: &str) -> Self {
        let mut manifest = Self::default();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        manifest.torn_bytes = text.len() - whole;
        let mut before = None;
        for (place, line) in text[..whole].lines().enumerate() {
            let (number, hash) = (place as u64 + 1, sha256(line.as_bytes()));
            match serde_json::from_str::<ManifestLine>(line) {
                Ok(read) => {
                    manifest.faults.extend(fault(number, &read, before.as_deref()));
                    manifest.lines.push((read, hash.clone()));
                }
                Err(error) => {
                    manifest.fault(number, format!("it is not a line of a manifest: {error}"));
                    manifest.lines.push((ManifestLine::default(), hash.clone()));
                }
            }
            before = Some(hash);
        }
        manifest
    }

    fn fault(&mut self, line: u64, what: String) {
        self.faults.push(ManifestFault { line, what });
    }

    /// The fingerprint of everything entered: the hash of the last line.
    pub fn fingerprint(&self) -> Option<&str> {
        self.lines.last().map(|(_, hash)| hash.as_str())
    }

    /// The current line of each folder, with its number. Withdrawn and replaced lines are not current.
    pub fn standing(&self) -> BTreeMap<&str, (u64, &ManifestLine)> {
        let mut standing = BTreeMap::new();
        for (place, (line, _)) in self.lines.iter().enumerate() {
            match line.entry {
                ManifestEntry::Withdrawn => drop(standing.remove(line.folder.as_str())),
                // An unreadable line has no folder.
                _ if line.folder.is_empty() => {}
                _ => drop(standing.insert(line.folder.as_str(), (place as u64 + 1, line))),
            }
        }
        standing
    }

    pub fn line(&self, number: u64) -> Option<&ManifestLine> {
        let place = usize::try_from(number.checked_sub(1)?).ok()?;
        self.lines.get(place).map(|(line, _)| line)
    }
}

/// The problem of a readable line, if any.
fn fault(number: u64, line: &ManifestLine, before: Option<&str>) -> Option<ManifestFault> {
    let wrong = |what: String| Some(ManifestFault { line: number, what });
    if line.previous.as_deref() != before {
        let what = match (&line.previous, before) {
            (Some(_), Some(_)) => {
                "its hash of the line before does not match: that line was changed, or a line between them was removed"
            }
            (None, Some(_)) => "it holds no hash of the line before",
            _ => "it is the first line, but holds the hash of a line before it: the first was removed",
        };
        return wrong(what.to_owned());
    }
    match line.format {
        Some(MANIFEST_FORMAT) => None,
        Some(other) => wrong(format!("its format is {other}, and {MANIFEST_FORMAT} is known")),
        None if number > 1 => None,
        None => wrong("the first line has no `format`".to_owned()),
    }
}

/// SHA-256 in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(entry: ManifestEntry, folder: &str) -> ManifestLine {
        ManifestLine { entry, folder: folder.to_owned(), ..ManifestLine::default() }
    }

    /// The text of these lines, chained.
    fn chained(lines: &[ManifestLine]) -> String {
        let (mut text, mut previous) = (String::new(), None);
        for (place, line) in lines.iter().enumerate() {
            let format = (place == 0).then_some(MANIFEST_FORMAT);
            let line = serde_json::to_string(&ManifestLine { format, previous, ..line.clone() }).unwrap();
            previous = Some(sha256(line.as_bytes()));
            text += &(line + "\n");
        }
        text
    }

    fn three() -> String {
        chained(&[
            line(ManifestEntry::Run, RUN_ITSELF),
            line(ManifestEntry::Trial, "trials/0001-a-b1"),
            line(ManifestEntry::Trial, "trials/0002-b-b1"),
        ])
    }

    fn faults(text: &str) -> Vec<u64> {
        Manifest::read(text).faults.iter().map(|fault| fault.line).collect()
    }

    #[test]
    fn a_whole_chain_has_no_fault_and_its_last_hash_stands_for_all() {
        let text = three();
        let manifest = Manifest::read(&text);
        assert_eq!((manifest.lines.len(), manifest.torn_bytes, manifest.faults.len()), (3, 0, 0));
        assert_eq!(manifest.fingerprint(), Some(sha256(text.lines().last().unwrap().as_bytes()).as_str()));
        assert_eq!(Manifest::read("").fingerprint(), None);
    }

    #[test]
    fn a_changed_a_missing_and_an_unreadable_line_break_the_chain() {
        let text = three();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(faults(&text.replace("0001-a", "0001-z")), [3], "the next line's hash reveals it");
        assert_eq!(faults(&format!("{}\n{}\n", lines[0], lines[2])), [2]);
        assert_eq!(faults(&format!("{}\n{}\n", lines[1], lines[2])), [1]);
        assert_eq!(faults(&text.replace("\"format\":1,", "")), [1, 2]);
        assert_eq!(faults(&text.replacen('{', "", 1)), [1, 2]);
        assert_eq!(faults(&text.replace("\"format\":1", "\"format\":9")), [1, 2]);
    }

    #[test]
    fn a_torn_last_line_is_told_apart_from_a_wrong_one() {
        let text = three();
        let torn = &text[..text.len() - 20];
        let manifest = Manifest::read(torn);
        assert_eq!((manifest.lines.len(), manifest.faults.len()), (2, 0));
        assert!(manifest.torn_bytes > 0);
    }

    #[test]
    fn withdrawn_and_replaced_entries_no_longer_count() {
        let again = ManifestLine { replaces: Some(2), ..line(ManifestEntry::Trial, "trials/0001-a-b1") };
        let withdrawn = line(ManifestEntry::Withdrawn, "trials/0001-a-b1");
        let first = [line(ManifestEntry::Run, RUN_ITSELF), line(ManifestEntry::Trial, "trials/0001-a-b1")];
        let standing = |more: &[ManifestLine]| {
            let manifest = Manifest::read(&chained(&[&first[..], more].concat()));
            let numbers: Vec<u64> = manifest.standing().values().map(|(number, _)| *number).collect();
            numbers
        };
        assert_eq!(standing(&[]), [1, 2]);
        assert_eq!(standing(std::slice::from_ref(&withdrawn)), [1]);
        assert_eq!(standing(&[withdrawn, again]), [1, 4]);
    }
}
