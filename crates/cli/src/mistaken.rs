//! Recognises a file or folder that was given in place of something else, and names the verb that takes it.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use tolok_host::shell::quoted;

/// The number of bytes at the start of a file that are read to find its kind.
const LOOKED_AT: u64 = 64 * 1024;

/// A kind of file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Run,
    Subject,
    Folder,
    Empty,
    Binary,
    Study,
    Transcription,
    Table,
}

impl Found {
    /// The kind of the file or folder at this path, or `None` if it is absent or of another kind.
    pub fn at(path: &Path) -> Option<Self> {
        let there = fs::metadata(path).ok()?;
        if there.is_dir() {
            let has = |name: &str| path.join(name).is_file();
            let is_run = has("run.json") || has("plan.json");
            return Some(if is_run {
                Self::Run
            } else if has("subject.toml") {
                Self::Subject
            } else {
                Self::Folder
            });
        }
        let mut begin = Vec::new();
        File::open(path).ok().filter(|_| there.is_file())?.take(LOOKED_AT).read_to_end(&mut begin).ok()?;
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        Self::of_file(&begin, ending.as_deref().unwrap_or_default())
    }

    fn of_file(begin: &[u8], ending: &str) -> Option<Self> {
        let text = match std::str::from_utf8(begin) {
            Ok(text) => text,
            // The limit may cut off the last character.
            Err(error) if error.error_len().is_none() => std::str::from_utf8(&begin[..error.valid_up_to()]).ok()?,
            Err(_) => return Some(Self::Binary),
        };
        let begins = |word: &str| text.lines().any(|line| line.trim_start().starts_with(word));
        match ending {
            _ if text.trim().is_empty() => Some(Self::Empty),
            _ if text.contains('\0') => Some(Self::Binary),
            "csv" | "tsv" => Some(Self::Table),
            "toml" if begins("[[row]]") || begins("[[claim]]") => Some(Self::Transcription),
            "toml" if begins("subjects") && (begins("[[scenario]]") || begins("[[program]]")) => Some(Self::Study),
            _ => None,
        }
    }

    /// `a table; to check its figures: tolok audit t.csv`
    pub fn words(self, name: &str) -> String {
        let name = quoted(name);
        match self {
            Self::Run => format!("the folder of a run; to read it: tolok report {name}"),
            Self::Subject => format!("the folder of a subject; to measure it: tolok run --subject {name}"),
            Self::Folder => "a folder; name a file in it".to_owned(),
            Self::Empty => "an empty file".to_owned(),
            Self::Binary => "a binary file".to_owned(),
            Self::Study => format!("a study; to see what it would do: tolok plan {name}"),
            Self::Transcription => format!("a transcription; to check its figures: tolok audit {name}"),
            Self::Table => format!("a table; to check its figures: tolok audit {name}"),
        }
    }
}

/// `` `t.csv` is not a run but a table; to check its figures: tolok audit t.csv``. `None` if the file is absent or
/// its kind is unknown.
pub fn instead_of(wanted: &str, name: &str) -> Option<String> {
    Found::at(Path::new(name)).map(|found| format!("`{name}` is not a {wanted} but {}", found.words(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_text_and_their_ending() {
        let of = |text: &[u8], ending| Found::of_file(text, ending);
        assert_eq!(of(b"\x7fELF\xff\xfe\x00", ""), Some(Found::Binary));
        assert_eq!(of(b"a\0b", "csv"), Some(Found::Binary));
        assert_eq!(of(b" \n", "toml"), Some(Found::Empty));
        assert_eq!(of(b"a,b\n1,2\n", "csv"), Some(Found::Table));
        assert_eq!(of(b"title = \"x\"\n[[row]]\n", "toml"), Some(Found::Transcription));
        assert_eq!(of(b"subjects = [\"a\"]\n[[scenario]]\n", "toml"), Some(Found::Study));
        assert_eq!(of(b"Requests/sec: 5\n", "txt"), None);
    }

    #[test]
    fn folders_are_known_by_what_they_contain() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let path = folder.path().join(name.split('/').next().unwrap_or_default());
            std::fs::create_dir_all(&path).unwrap();
            std::fs::write(folder.path().join(name), "{}").unwrap();
            Found::at(&path)
        };
        assert_eq!(at("run/run.json"), Some(Found::Run));
        assert_eq!(at("mine/subject.toml"), Some(Found::Subject));
        assert_eq!(at("other/file"), Some(Found::Folder));
        assert_eq!(Found::at(&folder.path().join("nothing")), None);
    }

    #[test]
    fn it_says_what_it_is_and_which_verb_takes_it() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("t.csv");
        std::fs::write(&table, "a,b\n1,2\n").unwrap();
        let name = table.display().to_string();
        let said = instead_of("run", &name);
        assert_eq!(said, Some(format!("`{name}` is not a run but a table; to check its figures: tolok audit {name}")));
        assert_eq!(instead_of("run", "/nonexistent"), None);
    }
}
